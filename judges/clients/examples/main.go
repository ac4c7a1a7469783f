// Command examples makes programs of the examples in the clients' references, so
// that compilers read them.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// language is how examples become a program.
type language struct {
	folder, file, head, tail string
	example                  func(string) string
}

var languages = []language{
	{"typescript", "examples.ts", "import { Frontdesk } from '%s/typescript/src/index.js'\n" +
		"export async function examples(client: Frontdesk): Promise<void> {\n", "}\n",
		func(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") + "\n" }},
	{"python", "examples.py",
		"# %s\nfrom datetime import date, datetime\n\nfrom frontdesk import Frontdesk, Upload\n\n" +
			"_ = (date, datetime, Upload)\n", "",
		func(s string) string {
			return "\n\ndef example_N(client: Frontdesk) -> None:\n    " + strings.ReplaceAll(s, "\n", "\n    ") + "\n"
		}},
	{"go", "examples.go", "// Package examples is from %s.\npackage examples\n\nimport (\n\t\"context\"\n\t\"fmt\"\n" +
		"\t\"strings\"\n\t\"time\"\n\n\tfrontdesk \"frontdesk.example/go\"\n)\n\n" +
		"var _ = strings.NewReader\n\nfunc at(s string) time.Time { t, _ := time.Parse(time.RFC3339, s); return t " +
		"}\n\n" +
		"// Examples makes every call.\nfunc Examples(ctx context.Context, client *frontdesk.Client) (err error) {\n",
		"\t_ = at(\"\")\n\treturn err\n}\n",
		func(s string) string {
			if m := answer.FindStringSubmatch(s); m != nil {
				s += "\n_, _ = " + m[1] + ", err"
			}
			return "\t{\n\t\t" + strings.ReplaceAll(s, "\n", "\n\t\t") + "\n\t}\n"
		}},
}

var (
	fence  = regexp.MustCompile("(?s)```[a-z]+\n(.*?)```")
	answer = regexp.MustCompile(`(?m)^(\w+), err := `)
)

func main() {
	clients, out := os.Args[1], os.Args[2]
	if err := write(clients, out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(clients, out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, l := range languages {
		text, err := os.ReadFile(filepath.Join(clients, l.folder, "reference.md"))
		if err != nil {
			return err
		}
		program := fmt.Sprintf(l.head, clients)
		n := 0
		for _, block := range fence.FindAllStringSubmatch(string(text), -1) {
			for _, example := range strings.Split(strings.TrimSpace(block[1]), "\n\n") {
				n++
				program += strings.Replace(l.example(example), "example_N", fmt.Sprintf("example_%d", n), 1)
			}
		}
		if n < 200 {
			return fmt.Errorf("%s has only %d examples", l.folder, n)
		}
		if err := os.WriteFile(filepath.Join(out, l.file), []byte(program+l.tail), 0o644); err != nil {
			return err
		}
	}
	module := "module examples\n\ngo 1.24.0\n\nrequire frontdesk.example/go v0.0.0\n\nreplace frontdesk.example/go " +
		"=> " +
		filepath.Join(clients, "go") + "\n"
	return os.WriteFile(filepath.Join(out, "go.mod"), []byte(module), 0o644)
}
