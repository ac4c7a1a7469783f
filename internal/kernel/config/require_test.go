package config_test

import (
	"testing"

	"frontdesk/internal/kernel/config"
)

func TestRequire(t *testing.T) {
	type parts struct {
		Name  string
		Other *int
	}
	config.RequireFields(parts{Name: "a"}, "Name")
	defer func() {
		if got := recover(); got != "config_test.parts: Other is required" {
			t.Errorf("panic %v", got)
		}
	}()
	config.RequireFields(parts{Name: "a"}, "Name", "Other")
}
