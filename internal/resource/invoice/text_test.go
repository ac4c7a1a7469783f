package invoice

import "testing"

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "zażółć € Ελλάδα Київ": "zażółć € Ελλάδα Київ", "e\u0301": "é", "a\tb\u0007c": "a b c",
		"a\r\nb": "a\nb",
		"漢字":     "□□", "🙂": "□", "\ufeffx\u200f\u00ad": "x", "1\u202f000": "1\u00a0000", "": "", "\U0010ffff": "□",
		"bad\xffbyte": "bad\ufffdbyte",
	} {
		if got := toPrintable(in); got != want {
			t.Errorf("%q is printed %q, want %q", in, got, want)
		}
	}
}

// The drawing order, from left to right.
func TestVisual(t *testing.T) {
	for in, want := range map[string]string{
		"Hello": "Hello", "": "", "12.50": "12.50", "אבג": "גבא", "אבג 2026": "2026 גבא", "Hello אבג": "Hello גבא",
		"אב Hello גד": "דג Hello בא", "אב (גד)": "(דג) בא",
	} {
		if got := toVisualOrder(in); got != want {
			t.Errorf("%q is drawn %q, want %q", in, got, want)
		}
	}
}
