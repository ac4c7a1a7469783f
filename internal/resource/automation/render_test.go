package automation

import (
	"errors"
	"strings"
	"testing"

	"frontdesk/internal/kernel/placeholder"
)

// Repeating a value never makes an input exceed the bound: a text, a list, or a
// number, which JSON allows to be of any length.
func TestRenderedInputsAreBounded(t *testing.T) {
	long := strings.Repeat("1", 50_000)
	for name, value := range map[string]string{"text": `"` + long + `"`, "number": long, "fraction": "0." + long,
		"list": "[" + long + "]", "object": `{"n": ` + long + `}`} {
		values, err := placeholder.LookupInJSON([]byte(`{"input": ` + value + `}`))
		if err != nil {
			t.Fatal(err)
		}
		out, err := renderInput([]byte(`[`+strings.Repeat(`"{{ input }}",`, 1000)+`1]`), values)
		if tooLong := (*placeholder.TooLongError)(nil); !errors.As(err, &tooLong) {
			t.Errorf("%s: %d bytes, %v", name, len(out), err)
		}
		if out, err = renderInput([]byte(`["{{ input }}"]`), values); err != nil || len(out) < len(long) {
			t.Errorf("%s, once: %d bytes, %v", name, len(out), err)
		}
	}
}
