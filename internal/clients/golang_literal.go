package clients

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// goFieldValue is a field's value in a composite literal. An optional one is wrapped in Set, or is
// Null.
func goFieldValue(t *Type, f *Field, v any) string {
	if f.Kind == Bytes {
		return `frontdesk.Upload{Name: "letter.txt", Reader: strings.NewReader("Dear Ada")}`
	}
	kind := strings.Fields(goStructField(t, f))[1]
	inner, optional := strings.CutPrefix(kind, "Opt[")
	if optional && v == nil {
		return "frontdesk.Null[" + strings.TrimSuffix(inner, "]") + "]()"
	}
	text := goLiteral(&f.Shape, v, true)
	if optional {
		if f.Kind == Integer {
			text = "int64(" + text + ")"
		}
		return "frontdesk.Set(" + text + ")"
	}
	return text
}

// goLiteral is a value as Go writes it. typed is whether an object names its type, which
// elements of a slice leave out.
func goLiteral(s *Shape, v any, typed bool) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		if s.Kind == Time {
			return fmt.Sprintf("at(%q)", v)
		}
		return strconv.Quote(v)
	case []any:
		elem := &Shape{Kind: Any}
		if s.Kind == Array {
			elem = s.Elem
		}
		var out []string
		for _, e := range v {
			out = append(out, goLiteral(elem, e, false))
		}
		return "[]" + goQualifiedType(elem) + "{" + strings.Join(out, ", ") + "}"
	case *orderedObject:
		return goObjectLiteral(s, v, typed)
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// goObjectLiteral is an object as a struct of its type, or as a map where it has none.
func goObjectLiteral(s *Shape, v *orderedObject, typed bool) string {
	var out []string
	if s.Kind == Object {
		for _, name := range v.names {
			for _, f := range s.Type.Fields {
				if f.Name == name {
					out = append(out, goExportedName(name)+": "+goFieldValue(s.Type, f, v.values[name]))
				}
			}
		}
		prefix := ""
		if typed {
			prefix = goQualifiedType(s)
		}
		return prefix + "{" + strings.Join(out, ", ") + "}"
	}
	for _, name := range v.names {
		out = append(out, strconv.Quote(name)+": "+goLiteral(&Shape{Kind: Any}, v.values[name], true))
	}
	return "map[string]any{" + strings.Join(out, ", ") + "}"
}

// goQualifiedType is a type as other packages name it.
func goQualifiedType(s *Shape) string {
	if s.Kind == Object {
		return "frontdesk." + s.Name
	}
	return goTypeName(s, true)
}
