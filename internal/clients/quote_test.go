package clients

import (
	"strings"
	"testing"
)

// What is written into a program stays inside of its quotes.
func TestQuotes(t *testing.T) {
	if got, want := tsQuoted("it's \\\n"), `'it\'s \\\n'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	long := strings.Repeat("word ", 30)
	for prose, want := range map[string]string{
		`Say """ and \n.`: `"""Say \"\"\" and \\n."""`,
		`Say "yes"`:       `"""Say "yes\""""`,
	} {
		if got := pyDocstring(&Operation{Summary: prose}); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got := pyDocstring(&Operation{Summary: long + prose}); strings.Count(got, `"""`) != 2 {
			t.Errorf("%s", got)
		}
	}
}
