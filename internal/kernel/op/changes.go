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
		if !fieldByJSONName(reflect.ValueOf(&c.To).Elem(), name).IsValid() {
			panic("op: " + reflect.TypeFor[F]().String() + " has no field " + name)
		}
	}
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(c.Sent, name) })
}

// WithDefaults is the input to create a row from the values that were sent: the other fields have their defaults.
func (c *Changes[F]) WithDefaults() F {
	whole := c.To
	v := reflect.ValueOf(&whole).Elem()
	for _, p := range compileSchema(v.Type(), map[reflect.Type]*schemaNode{}).order {
		if p.defaultText != nil && !slices.Contains(c.Sent, p.name) {
			// The default is valid: it was checked when the operation that creates was declared.
			p.node.storeFromText(*p.defaultText, fieldByIndex(v, p.index))
		}
	}
	return whole
}

// isChangesType reports whether a type is Changes of some F. It goes by the name, because reflect does not tell which
// generic type an instance is of.
func isChangesType(t reflect.Type) bool {
	return t.PkgPath() == reflect.TypeFor[Record]().PkgPath() && strings.HasPrefix(t.Name(), "Changes[")
}

// Apply copies the fields that the caller sent, from the input of a PATCH into the resource's fields of the same JSON
// name, and reports whether any of them changed. Both arguments are pointers to structs.
func Apply(resource, input any) (changed bool) {
	dst, src := reflect.ValueOf(resource).Elem(), reflect.ValueOf(input).Elem()
	eachSentField(src, func(name string, value reflect.Value, null bool) {
		f := fieldByJSONName(dst, name)
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

// eachSentField calls each with every field that was sent, whether it comes from Changes, Nullable or Optional.
func eachSentField(src reflect.Value, each func(name string, value reflect.Value, null bool)) {
	if isChangesType(src.Type()) {
		for _, name := range src.Field(1).Interface().([]string) {
			each(name, fieldByJSONName(src.Field(0), name), false)
		}
		return
	}
	for i := range src.NumField() {
		sf := src.Type().Field(i)
		switch v := src.Field(i); {
		case sf.Anonymous:
			eachSentField(v, each)
		case sf.IsExported() && sf.Type.Implements(reflect.TypeFor[optionalField]()) && v.FieldByName("Set").Bool():
			null := v.FieldByName("Null")
			each(jsonFieldName(sf), v.FieldByName("Value"), null.IsValid() && null.Bool())
		}
	}
}

// FieldInfo describes a field of an input.
type FieldInfo struct {
	Name string // in JSON
	Type reflect.Type
	Enum bool // it takes one of a few words
}

// FieldsOf describes the fields of F that JSON has, in their order.
func FieldsOf[F any]() (out []FieldInfo) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[F]()) {
		if name := jsonFieldName(f); name != "" && name != "-" {
			out = append(out, FieldInfo{name, f.Type, f.Tag.Get("enum") != ""})
		}
	}
	return out
}

// MergeFields merges one set of fields into another: it copies the fields that are nil in into, and those that are
// named, where from has a value. It returns the names of what changed. Fields that cannot be nil stay.
func MergeFields[F any](into, from *F, named []string) []string {
	changed := []string{}
	to, other := reflect.ValueOf(into).Elem(), reflect.ValueOf(from).Elem()
	for _, field := range FieldsOf[F]() {
		f, o := fieldByJSONName(to, field.Name), fieldByJSONName(other, field.Name)
		if f.Kind() != reflect.Pointer || o.IsNil() || !f.IsNil() &&
			(!slices.Contains(named, field.Name) || reflect.DeepEqual(f.Interface(), o.Interface())) {
			continue
		}
		f.Set(o)
		changed = append(changed, field.Name)
	}
	return changed
}

// RestoreFields undoes a change: it gives the named fields the values that they had before it, where they still have
// the values that it left. Fields that somebody has changed since are kept. It returns the names of both.
func RestoreFields[F any](now, left, before *F, names []string) (back, kept []string) {
	for _, name := range names {
		f := fieldByJSONName(reflect.ValueOf(now).Elem(), name)
		if !reflect.DeepEqual(f.Interface(), fieldByJSONName(reflect.ValueOf(left).Elem(), name).Interface()) {
			kept = append(kept, name)
			continue
		}
		f.Set(fieldByJSONName(reflect.ValueOf(before).Elem(), name))
		back = append(back, name)
	}
	return back, kept
}

// fieldByJSONName finds a struct's field by its JSON name, also in embedded structs; the zero Value for none.
func fieldByJSONName(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		sf := v.Type().Field(i)
		if sf.Anonymous && sf.Type.Kind() == reflect.Struct {
			if f := fieldByJSONName(v.Field(i), name); f.IsValid() {
				return f
			}
		} else if jsonFieldName(sf) == name {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}
