package placeholder_test

import (
	"strings"
	"testing"

	"frontdesk/internal/kernel/cputest"
	"frontdesk/internal/kernel/placeholder"
)

// Shapes of texts that make readers slow.
var shapes = []cputest.Shape{
	{Name: "braces", Open: "{"},
	{Name: "pairs of braces", Open: "{{", Close: "}}"},
	{Name: "placeholders", Open: "{{ a }}"},
	{Name: "open placeholders", Open: "{{ a "},
	{Name: "long names", Before: "{{ ", Open: "a", After: " }}"},
	{Name: "long paths", Before: "{{ a", Open: ".a", After: " }}"},
	{Name: "spaces", Before: "{{", Open: " ", After: "a }}"},
	{Name: "defaults", Open: `{{ a | default: "`},
	{Name: "a long default", Before: `{{ a | default: "`, Open: `\"`, After: `" }}`},
	{Name: "lines before a mistake", Open: "é\n", After: "{{ "},
	{Name: "text", Open: "text "},
	{Name: "closing braces", Open: "}}"},
	{Name: "filters", Before: "{{ a ", Open: "| default ", After: "}}"},
	{Name: "zeros", Open: "\x00"},
}

func TestAttackPlaceholders(t *testing.T) {
	cputest.CheckShapes(t, shapes, func(_ testing.TB, text string) {
		if p, err := placeholder.Parse(text); err == nil {
			p.Variables()
			long := placeholder.LookupIn(map[string]any{"a": strings.Repeat("{{ a }}", 1000)})
			p.Render(long, nil, 2<<20) //nolint:errcheck // too long or not
			empty := placeholder.LookupIn(map[string]any{"a": map[string]any{}})
			p.Value(empty, 2<<20) //nolint:errcheck // too long or not
		}
	})
}
