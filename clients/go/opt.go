package frontdesk

import "encoding/json"

// Opt is a field that may be left out. The zero value is left out: in an update
// that keeps what there is.
type Opt[T any] struct {
	value T
	set   bool
	null  bool
}

// Set is a field with a value.
func Set[T any](v T) Opt[T] { return Opt[T]{value: v, set: true} }

// Null clears a field.
func Null[T any]() Opt[T] { return Opt[T]{set: true, null: true} }

// Get is the value, if there is one.
func (o Opt[T]) Get() (v T, ok bool) { return o.value, o.set && !o.null }

// IsZero reports whether the field is left out.
func (o Opt[T]) IsZero() bool { return !o.set }

// MarshalJSON writes the value, or null.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.set || o.null {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON reads a value, or null.
func (o *Opt[T]) UnmarshalJSON(text []byte) error {
	*o = Opt[T]{set: true, null: string(text) == "null"}
	if o.null {
		return nil
	}
	return json.Unmarshal(text, &o.value)
}
