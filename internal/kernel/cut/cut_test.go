package cut_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"frontdesk/internal/kernel/cut"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text                   string
		n                      int
		runes, ellipsis, bytes string
	}{
		{"", 0, "", "", ""},
		{"", 3, "", "", ""},
		{"abc", 0, "", "…", ""},
		{"abc", 2, "ab", "ab…", "ab"},
		{"abc", 3, "abc", "abc", "abc"},
		{"äöü", 2, "äö", "äö…", "ä"},
		{"äöü", 3, "äöü", "äöü", "ä"},
		{"äöü", 5, "äöü", "äöü", "äö"},
		{"日本語", 1, "日", "日…", ""},
		{"a\xffb", 2, "a\xff", "a\xff…", "a\xff"}, // a byte that is no text counts as one character
	} {
		if got := cut.Runes(c.text, c.n); got != c.runes {
			t.Errorf("%d characters of %q are %q, want %q", c.n, c.text, got, c.runes)
		}
		if got := cut.Ellipsis(c.text, c.n); got != c.ellipsis {
			t.Errorf("%d characters of %q, and an ellipsis, are %q, want %q", c.n, c.text, got, c.ellipsis)
		}
		got := cut.Bytes(c.text, c.n)
		if got != c.bytes || string(cut.Bytes([]byte(c.text), c.n)) != got {
			t.Errorf("%d bytes of %q are %q, want %q", c.n, c.text, got, c.bytes)
		}
		if utf8.ValidString(c.text) && !utf8.ValidString(got) {
			t.Errorf("%q is cut inside a character", c.text)
		}
	}
}

func TestGraphemes(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"abc", 2, "ab"},
		{"abc", 5, "abc"},
		{"ae\u0301x", 2, "a"},          // e with its accent in two characters
		{"a👩\u200d💻x", 2, "a"},         // a woman at a computer, in three
		{"a👩\u200d💻x", 3, "a"},         //
		{"a👩\u200d💻x", 4, "a👩\u200d💻"}, //
		{"a👍🏽", 2, "a"},                // a thumb and its colour
		{"a" + strings.Repeat("\u0301", 50), 40, "a" + strings.Repeat("\u0301", 39)}, // nobody writes so; it is cut
	} {
		if got := cut.Graphemes(c.text, c.n); got != c.want {
			t.Errorf("%d of %q are %q, want %q", c.n, c.text, got, c.want)
		}
	}
}
