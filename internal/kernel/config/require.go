package config

import (
	"fmt"
	"reflect"
)

// RequireFields panics when one of the named fields of a service's Config struct is zero, so that a missing part is
// noticed at start and not at the first request that needs it.
func RequireFields(c any, fields ...string) {
	v := reflect.ValueOf(c)
	for _, name := range fields {
		if v.FieldByName(name).IsZero() {
			panic(fmt.Sprintf("%T: %s is required", c, name))
		}
	}
}
