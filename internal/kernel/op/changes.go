package op

import (
	"reflect"
	"slices"
	"strings"
)

// Changes is the input of a PATCH: those of the fields F that the caller sent. The row
// and the input that creates one have F too, so that a field is declared once.
type Changes[F any] struct {
	To   F        // the values
	Sent []string // the names of the fields that have one
}

// Has reports whether the caller sent any of these fields.
func (c *Changes[F]) Has(names ...string) bool {
	for _, name := range names {
		if !fieldNamed(reflect.ValueOf(&c.To).Elem(), name).IsValid() {
			panic("op: " + reflect.TypeFor[F]().String() + " has no field " + name)
		}
	}
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(c.Sent, name) })
}

// Whole is what creates a row with the values that were sent: the other fields have their
// defaults.
func (c *Changes[F]) Whole() F {
	whole := c.To
	v := reflect.ValueOf(&whole).Elem()
	for _, p := range compile(v.Type(), map[reflect.Type]*node{}).order {
		if p.def != nil && !slices.Contains(c.Sent, p.name) {
			// It fits: the operation that creates read it when it was declared.
			p.node.fromText(*p.def, field(v, p.index))
		}
	}
	return whole
}

// isChanges reports whether a type is Changes; those that embed it are not.
func isChanges(t reflect.Type) bool {
	return t.PkgPath() == reflect.TypeFor[Record]().PkgPath() && strings.HasPrefix(t.Name(), "Changes[")
}

// Apply copies the fields that the caller sent from a PATCH input into the
// resource's fields of the same JSON name, and reports whether any of them
// changed.
func Apply(resource, input any) (changed bool) {
	dst, src := reflect.ValueOf(resource).Elem(), reflect.ValueOf(input).Elem()
	apply(src, func(name string, value reflect.Value, null bool) {
		f := fieldNamed(dst, name)
		if !f.IsValid() {
			panic("op: " + dst.Type().String() + " has no field " + name + " for " + src.Type().String())
		}
		if f.Kind() == reflect.Pointer && value.Kind() != reflect.Pointer {
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

// apply calls each with the fields that were sent.
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

// FieldOf is a field of an input.
type FieldOf struct {
	Name string // in JSON
	Type reflect.Type
	Enum bool // it takes one of a few words
}

// FieldsOf are the fields F, in their order.
func FieldsOf[F any]() (out []FieldOf) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[F]()) {
		if name := jsonName(f); name != "" && name != "-" {
			out = append(out, FieldOf{name, f.Type, f.Tag.Get("enum") != ""})
		}
	}
	return out
}

// TakeOver copies the fields that are nil in one and not in the other, and those that are
// named, and returns what changed. Fields that cannot be nil stay.
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

// PutBack gives the named fields the values that they had before, where they are still as
// they were left. The others are kept.
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
