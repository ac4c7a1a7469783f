package zone

import (
	"testing"

	"frontdesk/internal/kernel/cputest"
)

// Parts of records, of any length, are parsed within their bound.
func TestAttackRecords(t *testing.T) {
	shapes := []cputest.Shape{
		{Name: "labels", Open: "a."},
		{Name: "dots", Open: "."},
		{Name: "digits", Open: "1."},
		{Name: "colons", Open: ":"},
		{Name: "quotes", Open: `"`},
		{Name: "texts", Open: `"a" `},
		{Name: "backslashes", Open: `\`},
		{Name: "numbers", Open: `\065`},
		{Name: "parens", Open: "("},
		{Name: "semicolons", Open: ";"},
		{Name: "letters", Open: "x"},
		{Name: "other letters", Open: "é"},
		{Name: "spaces", Open: " "},
		{Name: "stars", Open: "*."},
		{Name: "punycode", Open: "xn--a."},
		{Name: "digits of punycode", Before: "xn--", Open: "9"},
	}
	cputest.CheckShapes(t, shapes, func(_ testing.TB, text string) {
		for kind := range contentParsers {
			given(kind, "www", text, 1).Canonical("example.com")
			given(kind, text, "192.0.2.1", 1).Canonical("example.com")
			given(kind, "www", "0 issue "+text, 1).Canonical("example.com")
			given(kind, "www", "1 2 "+text, 1).Canonical("example.com")
			given(kind, text[:min(len(text), 253)], text[:1], 1).Canonical("example.com")
		}
	})
}
