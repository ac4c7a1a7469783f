package op

import (
	"reflect"

	"frontdesk/internal/kernel/db"

	"github.com/go-json-experiment/json"
)

// previousValues is the former values of the fields that differ between a row as it was and as it is, by their JSON
// names; nil when the former row is not known or nothing differs. Every change sets updatedAt, so that is left out.
func previousValues(before, after any) (db.JSON, error) {
	if before == nil || reflect.TypeOf(before) != reflect.TypeOf(after) {
		return nil, nil
	}
	was := map[string]any{}
	collectChanged(was, reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem())
	if len(was) == 0 {
		return nil, nil
	}
	return json.Marshal(was, sortedKeys)
}

// collectChanged adds the fields that differ to was, with their values before.
func collectChanged(was map[string]any, before, after reflect.Value) {
	for i := range before.NumField() {
		f := before.Type().Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			collectChanged(was, before.Field(i), after.Field(i))
			continue
		}
		name := jsonFieldName(f)
		if !f.IsExported() || name == "" || name == "-" || name == "updatedAt" || f.Tag.Get("db") == "-" {
			continue // not a column, so the former row does not have its value
		}
		if v := before.Field(i).Interface(); !reflect.DeepEqual(v, after.Field(i).Interface()) {
			was[name] = v
		}
	}
}
