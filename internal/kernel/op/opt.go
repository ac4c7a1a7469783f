package op

import (
	"reflect"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Record holds the fields that every resource has.
type Record struct {
	ID             id.ID       `json:"id"`
	CreatedAt      clock.Time  `json:"createdAt"`
	UpdatedAt      clock.Time  `json:"updatedAt"`
	DeletedAt      *clock.Time `json:"deletedAt"`
	OrganizationID id.ID       `json:"organizationId" view:"full"`

	// External says that somebody outside the organization wrote some of the row. The table sets it, from the columns
	// that its db.Life names, and it is never reset.
	External bool `json:"-" db:"external"`
}

// RowID is the id of any row that embeds Record.
func (r Record) RowID() id.ID { return r.ID }

// Nullable is a field of a PATCH that may be absent (keeps the value), null (clears it) or a value (sets it).
type Nullable[T any] struct {
	Set   bool // the caller sent the field
	Null  bool // and it was null
	Value T
}

// PtrOrNil is the value as a nullable column stores it: nil when it is null or absent.
func (o Nullable[T]) PtrOrNil() *T {
	if !o.Set || o.Null {
		return nil
	}
	return &o.Value
}

// Optional is a field of a PATCH that may be absent (keeps the value) or a value (sets it); null is refused.
type Optional[T any] struct {
	Set   bool
	Value T
}

// MarshalJSONTo writes an optional field of an answer. With omitzero, a field
// that is not set is left out.
func (o Nullable[T]) MarshalJSONTo(e *jsontext.Encoder) error {
	if o.Null || !o.Set {
		return e.WriteToken(jsontext.Null)
	}
	return json.MarshalEncode(e, o.Value)
}

// MarshalJSONTo writes the value. With omitzero, a field that is not set is left out.
func (o Optional[T]) MarshalJSONTo(e *jsontext.Encoder) error { return json.MarshalEncode(e, o.Value) }

// UnmarshalJSONFrom reads an optional field of an answer, for the console.
func (o *Nullable[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	o.Set = true
	if o.Null = d.PeekKind() == 'n'; o.Null {
		return d.SkipValue()
	}
	return json.UnmarshalDecode(d, &o.Value)
}

// UnmarshalJSONFrom reads an optional field of an answer, for the console.
func (o *Optional[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	o.Set = true
	return json.UnmarshalDecode(d, &o.Value)
}

// optionalField tells compileSchema that a type is Nullable or Optional, and of what.
type optionalField interface {
	optional() (elem reflect.Type, nullable bool)
}

func (Nullable[T]) optional() (reflect.Type, bool) { return reflect.TypeFor[T](), true }
func (Optional[T]) optional() (reflect.Type, bool) { return reflect.TypeFor[T](), false }
