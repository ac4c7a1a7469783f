package db

import (
	"fmt"
	"reflect"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json"
)

// bindableValue reduces an argument to nil, string, int64, float64, bool or []byte,
// the values that both engines bind. Whatever has another shape is bound as JSON.
// The first switch has the common types and needs no reflection.
func bindableValue(arg any) (any, error) {
	switch v := arg.(type) {
	case nil, string, int64, bool, []byte, float64:
		return v, nil
	case id.ID:
		return string(v), nil
	case clock.Time:
		return int64(v), nil
	case int:
		return int64(v), nil
	case *string:
		if v == nil {
			return nil, nil
		}
		return *v, nil
	case *id.ID:
		if v == nil {
			return nil, nil
		}
		return string(*v), nil
	case *clock.Time:
		if v == nil {
			return nil, nil
		}
		return int64(*v), nil
	case JSON:
		if v == nil {
			return nil, nil
		}
		return string(v), nil
	}
	v := reflect.ValueOf(arg)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, nil
		}
		// A pointer to a struct is JSON as a whole.
		if k, _ := columnKindOf(v.Type()); k != kindJSON {
			return bindableValue(v.Elem().Interface())
		}
	}
	switch v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Int, reflect.Int64:
		return v.Int(), nil
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.Slice, reflect.Map:
		if v.IsNil() {
			return nil, nil
		}
	}
	b, err := json.Marshal(arg)
	if err != nil {
		return nil, fmt.Errorf("db: argument %T: %w", arg, err)
	}
	return string(b), nil
}

// textList is an argument of = ANY($n), a list of strings or of a string type, as
// plain strings. It reports false for everything else.
func textList(arg any) ([]string, bool) {
	switch v := arg.(type) {
	case []string:
		return v, true
	case []id.ID:
		out := make([]string, len(v))
		for i, s := range v {
			out[i] = string(s)
		}
		return out, true
	}
	v := reflect.ValueOf(arg)
	if v.Kind() != reflect.Slice || v.Type().Elem().Kind() != reflect.String {
		return nil, false
	}
	out := make([]string, v.Len()) // a named type, like a status
	for i := range out {
		out[i] = v.Index(i).String()
	}
	return out, true
}
