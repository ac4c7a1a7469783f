package op

import (
	"reflect"
	"testing"

	"frontdesk/internal/kernel/cputest"
	"frontdesk/internal/kernel/id"
)

// Shapes of JSON that make readers slow.
var jsonShapes = []cputest.Shape{
	{Name: "arrays", Open: "[", Close: "]"},
	{Name: "open arrays", Open: "["},
	{Name: "objects", Open: `{"a":`, Close: "}", After: ""},
	{Name: "open objects", Open: `{"a":`},
	{Name: "unknown keys", Before: "{", Open: `"aaaaaaa":1,`, After: `"name":"n"}`},
	{Name: "arrays of a field", Before: `{"name":"n","any":`, Open: "[", Close: "]", After: "}"},
	{Name: "elements", Before: `{"name":"n","tags":[`, Open: `"a",`, After: `"a"]}`},
	{Name: "wrong elements", Before: `{"name":"n","tags":[`, Open: "1,", After: "1]}"},
	{Name: "a long text", Before: `{"name":"`, Open: `\u00e9`, After: `"}`},
	{Name: "surrogates", Before: `{"name":"`, Open: `\ud800`, After: `"}`},
	{Name: "digits", Before: `{"name":"n","any":`, Open: "9", After: "}"},
	{Name: "exponents", Before: `{"name":"n","any":1e`, Open: "9", After: "}"},
	{Name: "spaces", Open: " ", After: `{"name":"n"}`},
	{Name: "quotes", Open: `"`},
	{Name: "backslashes", Before: `{"name":"`, Open: `\\`, After: `"}`},
	{Name: "invalid letters", Before: `{"name":"`, Open: "\xff", After: `"}`},
	{Name: "objects in a list", Before: `{"name":"n","nested":[`, Open: `{"value":1},`, After: `{"value":1}]}`},
	{Name: "empty objects in a list", Before: `{"name":"n","nested":[`, Open: `{},`, After: `{}]}`},
}

func TestAttackJSON(t *testing.T) {
	n := compileSchema(reflect.TypeFor[everything](), map[reflect.Type]*schemaNode{})
	o := Write(Spec{Name: "x.create", Route: "POST /v1/contacts/{id}/x", Summary: "X."},
		func(_ ctxType, _ *Call, _ struct {
			ID id.ID `path:"id"`
			A  int   `json:"a"`
		}) (*everything, error) {
			return nil, nil
		})
	cputest.CheckShapes(t, jsonShapes, func(_ testing.TB, text string) {
		decodeJSON(n, []byte(text), reflect.New(n.typ).Elem(), nil)
		o.fingerprint([]string{"v"}, nil, []byte(text))
	})
}
