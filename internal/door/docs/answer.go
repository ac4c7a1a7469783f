package docs

import (
	"encoding/json"
	"maps"
	"strings"

	"frontdesk/internal/kernel/op"

	"github.com/google/jsonschema-go/jsonschema"
)

// sampleAnswer is an answer as the operation could give it. It is made from the schema
// of the answer. Where a field has a value in the operation's example, or in that of
// the operation that creates the record, the value is used.
func (d *Door) sampleAnswer(o *op.Op, s *jsonschema.Schema, list bool) string {
	given := map[string]any{}
	for _, from := range []*op.Op{d.catalog.Named(o.Name[:strings.LastIndexByte(o.Name, '.')] + ".create"), o} {
		if from == nil {
			continue
		}
		var values map[string]any
		if json.Unmarshal([]byte(from.Example), &values) == nil {
			maps.Copy(given, values)
		}
	}
	var b strings.Builder
	b.WriteString(`{"data":`)
	if list {
		b.WriteByte('[')
	}
	writeSample(&b, "", s, given, 0)
	if list {
		b.WriteString(`],"meta":{"pagination":{"limit":20,"offset":0,"hasMore":false}}`)
	}
	b.WriteByte('}')
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if e.Encode(json.RawMessage(b.String())) != nil {
		return ""
	}
	return strings.TrimSpace(out.String())
}

const (
	sampleID   = "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"
	sampleTime = "2026-05-14T09:30:00.000000Z"
)

// writeSample writes a value that fits a schema. name is the field's name, given are the
// example's values by field, depth is how deep the field is nested: deep objects and
// arrays are left empty, because a sample should fit on a screen.
func writeSample(b *strings.Builder, name string, s *jsonschema.Schema, given map[string]any, depth int) {
	kind := s.Type
	nullable := false
	for _, t := range s.Types {
		if t == "null" {
			nullable = true
		} else if kind == "" {
			kind = t
		}
	}
	value := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte("null")
		}
		b.Write(text)
	}
	if v, ok := given[name]; ok && hasType(v, kind) && (kind != "object" && kind != "array" || depth > 2) {
		value(v)
		return
	}
	switch {
	case kind == "object" && len(s.Properties) > 0 && depth < 4:
		var inner map[string]any
		if depth == 0 {
			inner = given
		} else if v, ok := given[name].(map[string]any); ok {
			inner = v
		}
		b.WriteByte('{')
		for i, field := range s.PropertyOrder {
			if i > 0 {
				b.WriteByte(',')
			}
			value(field)
			b.WriteByte(':')
			writeSample(b, field, s.Properties[field], inner, depth+1)
		}
		b.WriteByte('}')
	case kind == "array" && s.Items != nil && !nullable && depth < 3:
		b.WriteByte('[')
		if v, ok := given[name].([]any); ok && len(v) > 0 {
			inner, _ := v[0].(map[string]any)
			if inner == nil {
				value(v[0])
			} else {
				writeSample(b, "", s.Items, inner, 0)
			}
		} else if s.Items.Properties != nil && depth < 2 {
			writeSample(b, "", s.Items, nil, depth+1)
		}
		b.WriteByte(']')
	case kind == "array":
		b.WriteString("[]")
	case kind == "object":
		b.WriteString("{}")
	case len(s.Enum) > 0 && s.Enum[0] != nil:
		value(s.Enum[0])
	case s.Format == "uuid" && !nullable:
		value(sampleID)
	case s.Format == "date-time" && !nullable:
		value(sampleTime)
	case nullable:
		b.WriteString("null")
	default:
		value(plainSample(kind, s))
	}
}

// plainSample is a value where nothing better is known.
func plainSample(kind string, s *jsonschema.Schema) any {
	switch kind {
	case "boolean":
		return false
	case "integer", "number":
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 0
	case "string":
		if text, ok := map[string]string{"email": "ada@example.com", "uri": "https://example.com", "date": "2026-05-14",
			"timezone": "Europe/London"}[s.Format]; ok {
			return text
		}
		return "…"
	}
	return nil
}

// hasType reports whether a value of the example has the type of a field.
func hasType(v any, kind string) bool {
	switch v.(type) {
	case string:
		return kind == "string"
	case bool:
		return kind == "boolean"
	case float64:
		return kind == "integer" || kind == "number"
	case map[string]any:
		return kind == "object"
	case []any:
		return kind == "array"
	}
	return false
}
