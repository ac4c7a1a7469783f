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
	OrganizationID id.ID       `json:"organizationId"`

	// External says that somebody outside the house wrote some of the row. The table
	// sets it (db.Life.Strangers), and it is never taken back.
	External bool `json:"-" db:"external"`
}

// RowID is the row's id, whatever else the row is.
func (r Record) RowID() id.ID { return r.ID }

// Opt is a field of a PATCH that may be absent (keeps), null (clears) or a value.
type Opt[T any] struct {
	Set   bool // the caller sent the field
	Null  bool // and it was null
	Value T
}

// Ptr is the value to store: nil for null.
func (o Opt[T]) Ptr() *T {
	if !o.Set || o.Null {
		return nil
	}
	return &o.Value
}

// Maybe is a field of a PATCH that may be absent (keeps) or a value; null is refused.
type Maybe[T any] struct {
	Set   bool
	Value T
}

// MarshalJSONTo writes an optional field of an answer. With omitzero, a field
// that is not set is left out.
func (o Opt[T]) MarshalJSONTo(e *jsontext.Encoder) error {
	if o.Null || !o.Set {
		return e.WriteToken(jsontext.Null)
	}
	return json.MarshalEncode(e, o.Value)
}

// MarshalJSONTo is like Opt's.
func (o Maybe[T]) MarshalJSONTo(e *jsontext.Encoder) error { return json.MarshalEncode(e, o.Value) }

// UnmarshalJSONFrom reads an optional field of an answer, for the console.
func (o *Opt[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	o.Set = true
	if o.Null = d.PeekKind() == 'n'; o.Null {
		return d.SkipValue()
	}
	return json.UnmarshalDecode(d, &o.Value)
}

// UnmarshalJSONFrom reads an optional field of an answer, for the console.
func (o *Maybe[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	o.Set = true
	return json.UnmarshalDecode(d, &o.Value)
}

// optional tells the schema compiler that a type is Opt or Maybe.
type optional interface {
	optional() (elem reflect.Type, nullable bool)
}

func (Opt[T]) optional() (reflect.Type, bool)   { return reflect.TypeFor[T](), true }
func (Maybe[T]) optional() (reflect.Type, bool) { return reflect.TypeFor[T](), false }

// Apply copies the fields that the caller sent from a PATCH input into the
// resource's fields of the same JSON name, and reports whether any of them
// changed.
func Apply(resource, input any) (changed bool) {
	dst, src := reflect.ValueOf(resource).Elem(), reflect.ValueOf(input).Elem()
	apply(src, func(name string, o reflect.Value, nullable bool) {
		f := fieldNamed(dst, name)
		if !f.IsValid() {
			panic("op: " + dst.Type().String() + " has no field " + name + " for " + src.Type().String())
		}
		value := o.FieldByName("Value")
		if f.Kind() == reflect.Pointer && value.Kind() != reflect.Pointer {
			if nullable && o.FieldByName("Null").Bool() {
				value = reflect.Zero(f.Type())
			} else {
				p := reflect.New(f.Type().Elem())
				p.Elem().Set(value.Convert(f.Type().Elem()))
				value = p
			}
		}
		if !reflect.DeepEqual(f.Interface(), value.Interface()) {
			f.Set(value)
			changed = true
		}
	})
	return changed
}

func apply(src reflect.Value, each func(name string, o reflect.Value, nullable bool)) {
	for i := range src.NumField() {
		sf := src.Type().Field(i)
		if sf.Anonymous {
			apply(src.Field(i), each)
			continue
		}
		if o, ok := src.Field(i).Interface().(optional); ok && sf.IsExported() &&
			src.Field(i).FieldByName("Set").Bool() {
			_, nullable := o.optional()
			each(jsonName(sf), src.Field(i), nullable)
		}
	}
}

func fieldNamed(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		sf := v.Type().Field(i)
		if sf.Anonymous && sf.Type.Kind() == reflect.Struct {
			if f := fieldNamed(v.Field(i), name); f.IsValid() {
				return f
			}
		} else if jsonName(sf) == name {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}
