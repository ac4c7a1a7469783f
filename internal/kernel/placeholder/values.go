package placeholder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Lookup finds the value that a path leads to. A value is what JSON knows: a
// string, a bool, a number (json.Number, int, int64 or float64), nil, a
// map[string]any or a []any.
type Lookup func(path []string) (value any, ok bool)

// LookupIn looks names up in nested objects and arrays.
func LookupIn(values map[string]any) Lookup {
	return func(path []string) (any, bool) {
		var at any = values
		for _, step := range path {
			switch v := at.(type) {
			case map[string]any:
				next, ok := v[step]
				if !ok {
					return nil, false
				}
				at = next
			case []any:
				i, err := strconv.Atoi(step)
				if err != nil || i < 0 || i >= len(v) {
					return nil, false
				}
				at = v[i]
			default:
				return nil, false
			}
		}
		return at, true
	}
}

// LookupInJSON looks names up in a JSON object; an empty text has no values. Numbers stay as they are written, because
// an amount of 0.10 must not become 0.1.
func LookupInJSON(text []byte) (Lookup, error) {
	values := map[string]any{}
	if len(text) > 0 {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&values); err != nil {
			return nil, fmt.Errorf("placeholder: %w", err)
		}
	}
	return LookupIn(values), nil
}

// MissingError is the error that names have neither a value nor a default.
type MissingError struct{ Names []string }

func (e *MissingError) Error() string { return "no value for " + strings.Join(e.Names, ", ") }

// UnfitError is the error that the value of a name is an object or an array, which cannot be put into a text.
type UnfitError struct{ Name string }

func (e *UnfitError) Error() string { return e.Name + " is an object or an array, and not a text" }

// TooLongError is the error that the text with its values is longer than Max bytes.
type TooLongError struct{ Max int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("with these values the text is longer than %d bytes", e.Max)
}

// Render puts the values into the text. Each value, defaults too, goes through escape, which may be nil. null counts as
// missing; all missing names are reported together. The result is at most limit bytes long: otherwise a large value
// that is named a thousand times could fill the memory.
func (t *Template) Render(values Lookup, escape func(string) string, limit int) (string, error) {
	var b strings.Builder
	missing := &MissingError{}
	for i := range t.parts {
		p := &t.parts[i]
		s := p.text
		if p.path != nil {
			v, ok, err := p.valueText(values)
			if err != nil {
				return "", err
			}
			if !ok {
				missing.Names = append(missing.Names, p.dottedName())
				continue
			}
			if len(v) > limit { // before escape works on it
				return "", &TooLongError{limit}
			}
			s = v
			if escape != nil {
				s = escape(v)
			}
		}
		if b.Len()+len(s) > limit {
			return "", &TooLongError{limit}
		}
		b.WriteString(s)
	}
	if len(missing.Names) > 0 {
		return "", missing
	}
	return b.String(), nil
}

// Value returns what a JSON string with placeholders stands for. A string that is exactly one placeholder becomes the
// value itself, whatever its type, so that numbers and objects can be passed on; any other string becomes a text.
func (t *Template) Value(values Lookup, limit int) (any, error) {
	if len(t.parts) != 1 || t.parts[0].path == nil {
		return t.Render(values, nil, limit)
	}
	p := &t.parts[0]
	v, ok := values(p.path)
	switch {
	case ok && (v != nil || p.fallback == nil):
		return v, nil
	case p.fallback != nil:
		return *p.fallback, nil
	}
	return nil, &MissingError{[]string{p.dottedName()}}
}

// valueText returns the value of a placeholder as text; ok is false when it is missing.
func (p *part) valueText(values Lookup) (s string, ok bool, err error) {
	v, _ := values(p.path)
	switch v := v.(type) {
	case nil:
		if p.fallback == nil {
			return "", false, nil
		}
		return *p.fallback, true, nil
	case string:
		return v, true, nil
	case bool:
		return strconv.FormatBool(v), true, nil
	case json.Number:
		return v.String(), true, nil
	case int:
		return strconv.Itoa(v), true, nil
	case int64:
		return strconv.FormatInt(v, 10), true, nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true, nil
	}
	return "", false, &UnfitError{p.dottedName()}
}
