// Command tokens counts what an agent pays for being told of the tools: tokens
// (o200k) and bytes of every list that a client can ask for, beside what has been
// published of others.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/tiktoken-go/tokenizer"
)

// others is what policylayer.com/token-cost counted with the same tokenizer in 2026.
// Nobody has published a figure for Notion's own server.
const others = `
Others, as published        tools   tokens   a tool
  GitHub                       86    14406      168
  Linear                       66     7149      108`

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "tokens:", err)
		os.Exit(1)
	}
}

func run() error {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return err
	}
	c := counter{codec}
	fmt.Println("Lists of tools, by what the agent may do    tools   tokens   a tool   model   a tool    bytes")
	for _, list := range []struct{ preset, query string }{
		{"all", ""}, {"all", "readonly=1"}, {"all", "toolsets=mail"}, {"all", "toolsets=mail,invoices"},
		{"all", "toolsets=tasks,contacts"}, {"all", "tools=compact"},
		{"helper", ""}, {"helper", "tools=all"}, {"helper", "tools=all&toolsets=contacts,tasks"},
	} {
		text, err := listed(list.preset, list.query)
		if err != nil {
			return err
		}
		var tools []json.RawMessage
		if err := json.Unmarshal(text, &tools); err != nil {
			return err
		}
		all, seen := 0, 0
		for _, t := range tools {
			var model struct { // in the order of the list
				Name        string          `json:"name"`
				Description string          `json:"description"`
				InputSchema json.RawMessage `json:"inputSchema"`
			}
			if err := json.Unmarshal(t, &model); err != nil {
				return err
			}
			all += c.tokens(t)
			seen += c.tokens(encoded(model))
		}
		n := len(tools)
		fmt.Printf("  %-6s /mcp?%-29s %5d %8d %8.0f %8d %8.0f %8d\n", list.preset, list.query, n, all,
			float64(all)/float64(n), seen, float64(seen)/float64(n), len(text))
	}
	fmt.Println("  model: what clients hand to a model (names, descriptions, inputs); the rest is for themselves")
	if err := c.causes(); err != nil {
		return err
	}
	fmt.Println(others)
	return nil
}

// tool is one as listed, whose parts can be left out.
type tool = map[string]any

// listed is the list of tools that clients of an agent are told of.
func listed(preset, query string) ([]byte, error) {
	//nolint:gosec,noctx // our own arguments; ends by itself
	cmd := exec.Command("go", "run", "./cmd/frontdesk", "tools", "--preset", preset, query)
	cmd.Dir, cmd.Stderr = "..", os.Stderr
	return cmd.Output()
}

type counter struct{ codec tokenizer.Codec }

func (c counter) tokens(text []byte) int {
	n, err := c.codec.Count(string(text))
	if err != nil {
		panic(err) // it counts any text
	}
	return n
}

func encoded(v any) []byte {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // it came as JSON
	}
	return bytes.TrimSpace(text.Bytes())
}

func without(names ...string) func(tool) {
	return func(t tool) {
		for _, name := range names {
			delete(t, name)
		}
	}
}

// causes prints what each part of the tools costs: the tokens that the full list
// would lose without it. Parts contain each other, so the sum is larger than the list.
func (c counter) causes() error {
	text, err := listed("all", "")
	if err != nil {
		return err
	}
	count := func(change func(tool)) (tokens, n int) {
		var tools []tool
		if err = json.Unmarshal(text, &tools); err != nil {
			return 0, 0
		}
		for _, t := range tools {
			change(t)
			tokens += c.tokens(encoded(t))
		}
		return tokens, len(tools)
	}
	all, n := count(func(tool) {})
	fmt.Println("\nThe full list, by cause    tokens   a tool")
	for _, cause := range []struct {
		name string
		drop func(tool)
	}{
		{"names", func(t tool) { t["name"] = "" }},
		{"descriptions", func(t tool) { t["description"] = "" }},
		{"hints", without("annotations")},
		{"results", without("outputSchema")},
		{"inputs", func(t tool) { t["inputSchema"] = tool{"type": "object"} }},
		{"  required", inInput(without("required"))},
		{"  type string", inInput(func(s tool) {
			if s["type"] == "string" {
				delete(s, "type")
			}
		})},
		{"  descriptions", inInput(without("description"))},
		{"  enums", inInput(without("enum"))},
		{"  defaults, bounds", inInput(without("default", "maximum", "minimum", "format"))},
		{"  null", inInput(func(s tool) {
			if types, ok := s["type"].([]any); ok {
				s["type"] = types[0]
			}
		})},
		{"  idempotencyKey", inInput(func(s tool) {
			if fields, ok := s["properties"].(tool); ok {
				delete(fields, "idempotencyKey")
			}
		})},
	} {
		rest, _ := count(cause.drop)
		fmt.Printf("  %-22s %8d %8.1f\n", cause.name, all-rest, float64(all-rest)/float64(n))
	}
	return err
}

// inInput changes every schema inside a tool's input.
func inInput(change func(tool)) func(tool) {
	var visit func(any)
	visit = func(v any) {
		s, ok := v.(tool)
		if !ok {
			return
		}
		change(s)
		if fields, ok := s["properties"].(tool); ok {
			for _, f := range fields {
				visit(f)
			}
		}
		visit(s["items"])
	}
	return func(t tool) { visit(t["inputSchema"]) }
}
