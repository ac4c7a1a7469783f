package op_test

import (
	"strings"
	"testing"

	"frontdesk/internal/kernel/op"
)

func TestSpellings(t *testing.T) {
	for given, want := range map[string]string{
		"Ada@Example.com":           "ada@example.com",
		"ada@Bücher.example":        "ada@bücher.example ada@xn--bcher-kva.example",
		"ADA@xn--bcher-kva.example": "ada@xn--bcher-kva.example ada@bücher.example",
		"ada@":                      "ada@",
		"ada":                       "ada",
		"":                          "",
		"a@b@bücher.example":        "a@b@bücher.example a@b@xn--bcher-kva.example",
		"ada@-bad-.example":         "ada@-bad-.example",
	} {
		if got := strings.Join(op.EmailSpellings(given), " "); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}
