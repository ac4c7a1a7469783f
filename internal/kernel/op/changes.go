package op

import (
	"reflect"
	"slices"
	"strings"
)

// Changes is the input of a PATCH: those of the fields F that the caller sent. The row and the input of create embed F
// too, so that a field is declared once for all three.
type Changes[F any] struct {
	To   F        // the values that were sent; other fields are zero
	Sent []string // the JSON names of the fields that were sent
}

// Has reports whether the caller sent any of these fields. It panics on a name that F does not have.
func (c *Changes[F]) Has(names ...string) bool {
	for _, name := range names {
		if !fieldNamed(reflect.ValueOf(&c.To).Elem(), name).IsValid() {
			panic("op: " + reflect.TypeFor[F]().String() + " has no field " + name)
		}
	}
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(c.Sent, name) })
}

// Whole is the input to create a row from the values that were sent: the other fields have their defaults.
func (c *Changes[F]) Whole() F {
	whole := c.To
	v := reflect.ValueOf(&whole).Elem()
	for _, p := range compile(v.Type(), map[reflect.Type]*node{}).order {
		if p.def != nil && !slices.Contains(c.Sent, p.name) {
			// The default is valid: it was checked when the operation that creates was declared.
			p.node.fromText(*p.def, field(v, p.index))
		}
	}
	return whole
}

// isChanges reports whether a type is Changes of some F. It goes by the name, because reflect does not tell which
// generic type an instance is of.
func isChanges(t reflect.Type) bool {
	return t.PkgPath() == reflect.TypeFor[Record]().PkgPath() && strings.HasPrefix(t.Name(), "Changes[")
}

// Apply copies the fields that the caller sent, from the input of a PATCH into the resource's fields of the same JSON
// name, and reports whether any of them changed. Both arguments are pointers to structs.
func Apply(resource, input any) (changed bool) {
	dst, src := reflect.ValueOf(resource).Elem(), reflect.ValueOf(input).Elem()
	apply(src, func(name string, value reflect.Value, null bool) {
		f := fieldNamed(dst, name)
		if !f.IsValid() {
			panic("op: " + dst.Type().String() + " has no field " + name + " for " + src.Type().String())
		}
		if f.Kind() == reflect.Pointer && value.Kind() != reflect.Pointer { // a Nullable or Optional for a *T
			if null {
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

// apply calls each with every field that was sent, whether it comes from Changes, Nullable or Optional.
func apply(src reflect.Value, each func(name string, value reflect.Value, null bool)) {
	if isChanges(src.Type()) {
		for _, name := range src.Field(1).Interface().([]string) {
			each(name, fieldNamed(src.Field(0), name), false)
		}
		return
	}
	for i := range src.NumField() {
		sf := src.Type().Field(i)
		switch v := src.Field(i); {
		case sf.Anonymous:
			apply(v, each)
		case sf.IsExported() && sf.Type.Implements(reflect.TypeFor[optional]()) && v.FieldByName("Set").Bool():
			null := v.FieldByName("Null")
			each(jsonName(sf), v.FieldByName("Value"), null.IsValid() && null.Bool())
		}
	}
}

// FieldOf describes a field of an input.
type FieldOf struct {
	Name string // in JSON
	Type reflect.Type
	Enum bool // it takes one of a few words
}

// FieldsOf describes the fields of F that JSON has, in their order.
func FieldsOf[F any]() (out []FieldOf) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[F]()) {
		if name := jsonName(f); name != "" && name != "-" {
			out = append(out, FieldOf{name, f.Type, f.Tag.Get("enum") != ""})
		}
	}
	return out
}

// TakeOver merges one set of fields into another: it copies the fields that are nil in into, and those that are
// named, where from has a value. It returns the names of what changed. Fields that cannot be nil stay.
func TakeOver[F any](into, from *F, named []string) []string {
	changed := []string{}
	to, other := reflect.ValueOf(into).Elem(), reflect.ValueOf(from).Elem()
	for _, field := range FieldsOf[F]() {
		f, o := fieldNamed(to, field.Name), fieldNamed(other, field.Name)
		if f.Kind() != reflect.Pointer || o.IsNil() || !f.IsNil() &&
			(!slices.Contains(named, field.Name) || reflect.DeepEqual(f.Interface(), o.Interface())) {
			continue
		}
		f.Set(o)
		changed = append(changed, field.Name)
	}
	return changed
}

// PutBack undoes a change: it gives the named fields the values that they had before it, where they still have
// the values that it left. Fields that somebody has changed since are kept. It returns the names of both.
func PutBack[F any](now, left, before *F, names []string) (back, kept []string) {
	for _, name := range names {
		f := fieldNamed(reflect.ValueOf(now).Elem(), name)
		if !reflect.DeepEqual(f.Interface(), fieldNamed(reflect.ValueOf(left).Elem(), name).Interface()) {
			kept = append(kept, name)
			continue
		}
		f.Set(fieldNamed(reflect.ValueOf(before).Elem(), name))
		back = append(back, name)
	}
	return back, kept
}

// fieldNamed finds a struct's field by its JSON name, also in embedded structs; the zero Value for none.
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
