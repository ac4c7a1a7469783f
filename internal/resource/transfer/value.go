package transfer

import (
	"maps"
	"slices"
	"strings"

	"frontdesk/internal/kernel/clock"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// valuesOf says in words what a row has for each field, and what the record that it changes has
// now; current is nil for none.
func valuesOf(row, current jsontext.Value) []Value {
	after, before := fieldTexts(row), fieldTexts(current)
	delete(after, "id")
	out := make([]Value, 0, len(after))
	for _, name := range slices.Sorted(maps.Keys(after)) {
		v := Value{Field: name, After: after[name]}
		if text, ok := before[name]; ok {
			v.Before = &text
		}
		out = append(out, v)
	}
	return out
}

// fieldTexts reads a record as JSON into a text for each field. Lists become words between commas, and the parts of
// the first address become fields of their own, as an import names them.
func fieldTexts(record jsontext.Value) map[string]string {
	out := map[string]string{}
	var fields map[string]any
	if len(record) == 0 || json.Unmarshal(record, &fields) != nil {
		return out
	}
	for name, value := range fields {
		switch x := value.(type) {
		case string:
			if x = momentText(x); x != "" {
				out[name] = x
			}
		case []any:
			if words := listTexts(x); name == "addresses" && len(x) > 0 {
				addAddress(out, x[0])
			} else if len(words) > 0 {
				out[name] = strings.Join(words, ", ")
			}
		}
	}
	return out
}

// listTexts are the texts of a list, or those of its objects.
func listTexts(list []any) (out []string) {
	for _, item := range list {
		switch x := item.(type) {
		case string:
			out = append(out, x)
		case map[string]any:
			for _, key := range []string{"email", "phoneNumber"} {
				if text, ok := x[key].(string); ok {
					out = append(out, text)
				}
			}
		}
	}
	return out
}

func addAddress(out map[string]string, address any) {
	parts, _ := address.(map[string]any)
	for name, part := range parts {
		if text, ok := part.(string); ok {
			out[name] = text
		}
	}
}

// momentText writes a time in the one way that the API does, so that equal times are equal texts.
func momentText(text string) string {
	if strings.Contains(text, "T") && strings.HasSuffix(text, "Z") {
		if t, err := clock.ParseTime(text); err == nil {
			return t.String()
		}
	}
	return text
}

// maxKeptRow is how long a refused record may be, in bytes, that an import keeps with its error. A
// thousand of them are written with each chunk.
const maxKeptRow = 2048

// keptValues are what a refused record says, unless that is long.
func keptValues(r *row) []Value {
	if len(r.Row) > maxKeptRow {
		return nil
	}
	return valuesOf(r.Row, nil)
}

// FieldNames are the fields that a column of a file can be, by the kind of its records.
func FieldNames(objectType string) []string { return nouns[objectType].fieldNames() }
