package clients

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// orderedObject is a JSON object that keeps the order of its members, so that examples look as they
// were written.
type orderedObject struct {
	names  []string
	values map[string]any
}

// parseExample parses the example of an operation's declaration.
func parseExample(o *Operation) *orderedObject {
	if o.Example == "" {
		return &orderedObject{}
	}
	v, err := readJSONValue(jsontext.NewDecoder(strings.NewReader(o.Example)))
	if err != nil {
		panic("clients: the example of " + o.Name + ": " + err.Error()) // declarations are checked at start
	}
	return v.(*orderedObject)
}

// readJSONValue reads a JSON value as *orderedObject, []any, string, bool, nil or jsonNumber.
func readJSONValue(d *jsontext.Decoder) (any, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{':
		out := &orderedObject{values: map[string]any{}}
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String()
			if out.values[key], err = readJSONValue(d); err != nil {
				return nil, err
			}
			out.names = append(out.names, key)
		}
		_, err := d.ReadToken()
		return out, err
	case '[':
		out := []any{}
		for d.PeekKind() != ']' {
			v, err := readJSONValue(d)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		_, err := d.ReadToken()
		return out, err
	case '"':
		return t.String(), nil
	case 't', 'f':
		return t.Bool(), nil
	case 'n':
		return nil, nil //nolint:nilnil // null
	}
	return jsonNumber(t.String()), nil
}

// jsonNumber is a number exactly as it is written, so that none is rounded.
type jsonNumber string

// MarshalJSON writes it as it was.
func (n jsonNumber) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// textOf is a member that is a string; empty for any other.
func (o *orderedObject) textOf(name string) string {
	s, _ := o.values[name].(string)
	return s
}

// renderInput renders the members that go into the input, which are not part of the path; nil when
// there are none. A file comes first, which no example contains.
func (o *orderedObject) renderInput(call *Operation, render func(name string, f *Field, v any) string) (out []string) {
	if call.Input == nil {
		return nil
	}
	fields := map[string]*Field{}
	for _, f := range call.Input.Fields {
		fields[f.Name] = f
		if f.Kind == Bytes {
			out = append(out, render(f.Name, f, ""))
		}
	}
	for _, name := range o.names {
		if f := fields[name]; f != nil && f.Kind != Bytes {
			out = append(out, render(name, f, o.values[name]))
		}
	}
	return out
}

var identifierPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// isIdentifier reports whether s can be a property of a JavaScript object without quotes.
func isIdentifier(s string) bool { return identifierPattern.MatchString(s) }
