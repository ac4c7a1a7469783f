package clients

import (
	"strings"

	"frontdesk/internal/door/docs"
	"frontdesk/internal/kernel/op"
)

// Samples are calls in the languages of the libraries and for the command line, by the name of
// the operation, for the reference at /docs.
func Samples(c *op.Catalog) map[string][]docs.Sample {
	out := map[string][]docs.Sample{}
	for _, o := range Describe(c).All() {
		out[o.Name] = []docs.Sample{
			{Language: "TypeScript", Text: withoutComment(tsExampleCall(o))},
			{Language: "Python", Text: withoutComment(pyExampleCall(o))},
			{Language: "Go", Text: withoutComment(goExampleCall(o))},
			{Language: "Shell", Text: withoutComment(ShellExample(o))},
		}
	}
	return out
}

// withoutComment is an example without its first line, which says what it does.
func withoutComment(example string) string {
	first, rest, ok := strings.Cut(example, "\n")
	if ok && (strings.HasPrefix(first, "// ") || strings.HasPrefix(first, "# ")) {
		example = rest
	}
	return strings.TrimSpace(example)
}
