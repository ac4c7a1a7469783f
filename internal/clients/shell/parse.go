package shell

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/clients"
	"frontdesk/internal/kernel/op"
)

// flag is an option of a command.
type flag struct {
	name     string // in kebab-case
	doc      string
	field    *clients.Field // of the operation's input; nil for the shell's own flags
	values   []string       // the values it accepts; nil for any
	isSwitch bool           // it needs no value
}

// commonFlags are the flags that every operation has. Where an operation has a field
// of the same name, the field comes first in its flags and wins.
var commonFlags = []flag{
	{name: "output", doc: "how to print the answer", values: []string{"table", "json", "csv"}},
	{name: "columns", doc: "which fields a table or CSV shows, with commas between them"},
	{name: "base-url", doc: "the server; else FRONTDESK_URL, else that of login"},
	{name: "api-key", doc: "the key; else FRONTDESK_API_KEY, else that of login"},
	{name: "max-retries", doc: "how often a call that failed for a while is tried again (4)"},
	{name: "timeout", doc: "how long one try may take (1m)"},
	{name: "help", doc: "say what the command does", isSwitch: true},
}

// operationFlags lists the flags of an operation: its fields, then those that fit what it does, then
// the common ones.
func operationFlags(o *clients.Operation) (out []flag) {
	if o.Input != nil {
		for _, f := range o.Input.Fields {
			values := f.Enum
			if f.Elem != nil {
				values = f.Elem.Enum
			}
			out = append(out, flag{name: clients.KebabCase(f.Name), doc: f.Doc, field: f, values: values,
				isSwitch: f.Kind == clients.Boolean})
		}
	}
	add := func(when bool, name, doc string, switchOn bool) {
		if when && !slices.ContainsFunc(out, func(f flag) bool { return f.name == name }) {
			out = append(out, flag{name: name, doc: doc, isSwitch: switchOn})
		}
	}
	add(o.InBody, "file", "a file with the whole input as JSON, or - for standard input; flags win", false)
	add(o.InBody && !o.Form, "null", "a field to clear, by its flag's name", false)
	add(o.List, "all", "go through all pages", true)
	add(o.MayPropose, "dry-run", "show what would happen, and do nothing", true)
	add(o.TakesKey, "idempotency-key", "the same call with the same key happens once", false)
	add(o.Matches, "if-match", "change it only if its ETag is still this one", false)
	add(o.Bytes, "save", "the file to write to, instead of standard output", false)
	return append(out, commonFlags...)
}

// parseCommand finds out what was typed: first nouns and an operation, then arguments and flags in
// any order.
func (c *command) parseCommand(args []string) error {
	nouns := c.API.Nouns
	i := 0
	for ; i < len(args) && !strings.HasPrefix(args[i], "-") && c.operation == nil && c.builtin == ""; i++ {
		word := args[i]
		n, o := findWord(nouns, c.lastNoun(), word)
		switch {
		case o != nil:
			c.operation = o
		case n != nil:
			c.nouns, nouns = append(c.nouns, n), n.Nouns
		case slices.Contains(c.builtinCommands(), word):
			c.builtin = word
		default:
			return usageErrorf("there is no %s here; %s", strings.Join(args[:i+1], " "),
				op.DidYouMean(word, c.nextWords(), "--help lists what there is"))
		}
	}
	return c.parseFlags(args[i:])
}

func (c *command) lastNoun() *clients.Noun {
	if len(c.nouns) == 0 {
		return nil
	}
	return c.nouns[len(c.nouns)-1]
}

// findWord finds the operation under a noun that a word names, or else the noun.
func findWord(nouns []*clients.Noun, under *clients.Noun, word string) (*clients.Noun, *clients.Operation) {
	if under != nil {
		for _, o := range under.Operations {
			if clients.KebabCase(o.Verb) == word {
				return nil, o
			}
		}
	}
	for _, n := range nouns {
		if clients.KebabCase(n.Name) == word {
			return n, nil
		}
	}
	return nil, nil
}

// builtinCommands lists the commands that are not operations and may follow what was typed.
func (c *command) builtinCommands() []string {
	switch n := c.lastNoun(); {
	case n == nil:
		return []string{"login", "logout", "completion"}
	case n.Full == "webhooks":
		return []string{"verify"}
	case slices.ContainsFunc(n.Operations, func(o *clients.Operation) bool { return o.Waits }):
		return []string{"wait"}
	}
	return nil
}

// nextWords lists what may follow what was typed so far.
func (c *command) nextWords() (out []string) {
	nouns := c.API.Nouns
	if n := c.lastNoun(); n != nil {
		nouns = n.Nouns
		for _, o := range n.Operations {
			out = append(out, clients.KebabCase(o.Verb))
		}
	}
	for _, n := range nouns {
		out = append(out, clients.KebabCase(n.Name))
	}
	return append(out, c.builtinCommands()...)
}

// knownFlags lists the flags of the command, as far as it is known.
func (c *command) knownFlags() []flag {
	switch {
	case c.operation != nil:
		return operationFlags(c.operation)
	case c.builtin == "verify":
		return append(slices.Clone(verifyFlags), commonFlags...)
	}
	return commonFlags
}

// parseFlags sorts the rest of the command into flags and arguments. After -- everything is an
// argument.
func (c *command) parseFlags(args []string) error {
	flags := c.knownFlags()
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if word == "--" {
			c.arguments = append(c.arguments, args...)
			break
		}
		if word == "-h" {
			word = "--help"
		}
		name, isFlag := strings.CutPrefix(word, "--")
		if !isFlag {
			c.arguments = append(c.arguments, word)
			continue
		}
		name, value, given := strings.Cut(name, "=")
		i := slices.IndexFunc(flags, func(f flag) bool { return f.name == name })
		if i < 0 {
			var names []string
			for _, f := range flags {
				names = append(names, f.name)
			}
			return usageErrorf("there is no flag --%s here; %s", name, op.DidYouMean(name, names, "--help lists them"))
		}
		switch {
		case given:
		case flags[i].isSwitch:
			value = "true"
		case len(args) == 0:
			return usageErrorf("--%s needs a value", name)
		default:
			value, args = args[0], args[1:]
		}
		c.values[name] = append(c.values[name], value)
	}
	if o := c.flagValue("output"); o != "" && !slices.Contains(commonFlags[0].values, o) {
		return usageErrorf("--output is table, json or csv, not %s", o)
	}
	return nil
}

// buildInput collects the operation's input by field: from --file, then from flags, which win, then
// from --null. A file to upload is not part of it.
func (c *command) buildInput() (map[string]any, error) {
	out := map[string]any{}
	if c.operation.Input == nil {
		return out, nil
	}
	if path := c.flagValue("file"); path != "" && !c.operation.Form {
		text, err := c.readInput(path)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &out); err != nil {
			return nil, usageErrorf("--file %s is not a JSON object: %v", path, err)
		}
	}
	for _, f := range c.operation.Input.Fields {
		given := c.values[clients.KebabCase(f.Name)]
		if len(given) == 0 || f.Kind == clients.Bytes {
			continue
		}
		v, err := c.parseValue(f, given)
		if err != nil {
			return nil, err
		}
		out[f.Name] = v
	}
	for _, name := range c.values["null"] {
		i := slices.IndexFunc(c.operation.Input.Fields,
			func(f *clients.Field) bool { return clients.KebabCase(f.Name) == strings.TrimPrefix(name, "--") })
		if i < 0 {
			return nil, usageErrorf("--null %s: there is no such field", name)
		}
		out[c.operation.Input.Fields[i].Name] = nil
	}
	for _, f := range c.operation.Input.Fields {
		if _, ok := out[f.Name]; f.Required && !ok && (f.Kind != clients.Bytes || !c.hasFlag("file")) {
			return nil, usageErrorf("--%s is required; --help says what it is", clients.KebabCase(f.Name))
		}
	}
	return out, nil
}

// parseValue parses what was typed for a field, as its kind demands.
func (c *command) parseValue(f *clients.Field, given []string) (any, error) {
	last := given[len(given)-1]
	wrong := func(what string) error {
		return usageErrorf("--%s is %s, not %q", clients.KebabCase(f.Name), what, last)
	}
	switch f.Kind {
	case clients.Integer, clients.Number:
		if !json.Valid([]byte(last)) || last[0] != '-' && (last[0] < '0' || last[0] > '9') {
			return nil, wrong("a number")
		}
		return json.Number(last), nil
	case clients.Boolean:
		b, err := strconv.ParseBool(last)
		if err != nil {
			return nil, wrong("true or false")
		}
		return b, nil
	case clients.Array:
		if isTextShape(f.Elem) && !strings.HasPrefix(last, "[") {
			if !c.operation.InBody {
				return strings.Join(given, ","), nil
			}
			return given, nil
		}
	case clients.Union, clients.Any:
		if len(given) > 1 {
			return given, nil
		}
		if !json.Valid([]byte(last)) {
			return last, nil
		}
	case clients.Map, clients.Object:
	default:
		return last, nil
	}
	text := []byte(last)
	if path, ok := strings.CutPrefix(last, "@"); ok {
		var err error
		if text, err = c.readInput(path); err != nil {
			return nil, err
		}
	}
	if !json.Valid(text) {
		return nil, wrong("JSON, or @ and a file with JSON")
	}
	return json.RawMessage(text), nil
}

// isTextShape reports whether values of a shape are typed as plain text, without JSON.
func isTextShape(s *clients.Shape) bool {
	return s.Kind == clients.String || s.Kind == clients.Time || s.Kind == clients.Date
}

// readInput reads a file, or standard input for -.
func (c *command) readInput(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(c.In)
	}
	return os.ReadFile(path)
}
