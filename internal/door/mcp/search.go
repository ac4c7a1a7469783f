package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json/jsontext"
)

// The tools of a compact list that lead to all others. tools_describe can be called
// with every list, the others only with a compact one.
const (
	searchName   = "tools_search"
	describeName = "tools_describe"
	readName     = "tools_read"
	writeName    = "tools_write"
)

// wrappers are the tools that call another one, and whether that may only read.
var wrappers = map[string]bool{readName: true, writeName: false}

const (
	maxFound     = 5   // tools that a search answers
	maxNearest   = 3   // tools that a refusal names
	maxDescribed = 20  // tools in one tools_describe
	maxQuery     = 400 // bytes

	// maxFoundBytes bounds what a search answers, apart from a line about what is left out: 700 tokens of a model.
	maxFoundBytes = 2_300
)

var describeText = []byte(`{"name":"` + describeName + `","description":"Show all that tools do, take and answer.",` +
	`"inputSchema":{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}}},` +
	`"required":["names"]},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`)

var (
	readText = wrapperJSON(readName, "Call a tool that only reads, found by tools_search. Same rights, same result.",
		`{"readOnlyHint":true}`)
	writeText = wrapperJSON(writeName, "Call any tool that tools_search found. Same rights, same result.",
		`{"destructiveHint":true}`)
)

func wrapperJSON(name, text, annotations string) []byte {
	return fmt.Appendf(nil, `{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":{"name":{"type":`+
		`"string"},"arguments":{"type":"object"}},"required":["name"]},"annotations":%s}`, name, text, annotations)
}

// letterVerbs are the verbs that most nouns have. The description of tools_search writes their first letters.
var letterVerbs = []string{"list", "create", "get", "update", "delete", "restore", "batch"}

// searchToolJSON is the description of tools_search for the list. It names every tool that this caller can find, by
// its noun, so that a model knows what there is and may call a tool that it knows without a search.
func (d *Door) searchToolJSON(v view, c *op.Caller) []byte {
	verbs := map[string][]string{}
	for _, t := range d.tools {
		if v.includesTool(t, c) {
			noun, verb, _ := cutLast(t.op.Name)
			verbs[noun] = append(verbs[noun], verb)
		}
	}
	var letters, nouns []string
	for _, verb := range letterVerbs {
		letters = append(letters, verb[:1]+" "+verb)
	}
	for _, noun := range slices.Sorted(maps.Keys(verbs)) {
		nouns = append(nouns, describeNoun(noun, verbs))
	}
	text := "Find tools by words of the job. Answers the best five and their input: ? may be missing, text unless it " +
		"says another type. Tools are noun_verb (" + strings.Join(letters, ", ") + "; _x continues the noun before): " +
		strings.Join(nouns, "; ")
	return fmt.Appendf(nil, `{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":{"query":`+
		`{"type":"string"}},"required":["query"]},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`,
		searchName, text)
}

// describeNoun is a noun with the verbs of its tools: contacts lcgu merge. One below another that is there, too, is
// named without it: _notes lcud.
func describeNoun(noun string, verbs map[string][]string) string {
	name := strings.ReplaceAll(noun, ".", "_")
	if above, _, nested := strings.Cut(noun, "."); nested && verbs[above] != nil {
		name = strings.TrimPrefix(name, above)
	}
	letters, others := "", ""
	for _, verb := range letterVerbs {
		if slices.Contains(verbs[noun], verb) {
			letters += verb[:1]
		}
	}
	if letters != "" {
		letters = " " + letters
	}
	for _, verb := range verbs[noun] {
		if !slices.Contains(letterVerbs, verb) {
			others += " " + verb
		}
	}
	return name + letters + others
}

// describedResult is a result with the full descriptions of tools, as many as there is room for.
func describedResult(found []*tool, structured bool) result {
	text := []byte(`{"tools":[`)
	var left []string
	for i, t := range found {
		whole := t.texts().whole
		if left != nil || len(text)+len(whole) > maxAnswer-maxNote {
			left = append(left, t.name)
			continue
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, whole...)
	}
	text = append(text, `]}`...)
	if left != nil {
		text = addMember(text, leftOutMember, "Call "+describeName+" again for "+strings.Join(left, ", ")+".")
	}
	return toolResult(text, structured)
}

// describeTools answers tools_describe: everything about tools, by their names.
func (d *Door) describeTools(v view, c *op.Caller, arguments []byte) (result, error) {
	var in struct{ Names []string }
	if json.Unmarshal(arguments, &in) != nil || len(in.Names) == 0 || len(in.Names) > maxDescribed {
		return nil, newRPCError(codeBadParams, "names is a list of 1 to %d names of tools", maxDescribed)
	}
	var found []*tool
	for _, name := range in.Names {
		t := d.findTool(v, c, name)
		if t == nil {
			return nil, d.unknownTool(v, c, name)
		}
		found = append(found, t)
	}
	return describedResult(found, v.structured), nil
}

// unwrapToolCall replaces a tools_read or tools_write by the call of the tool that it names, so that everything
// after it is as if the tool had been called directly.
func unwrapToolCall(p *params) error {
	var in struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	decoder := json.NewDecoder(bytes.NewReader(p.Arguments))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil || in.Name == "" {
		return newRPCError(codeBadParams, "%s takes {name, arguments}: the name of a tool, and what it takes", p.Name)
	}
	p.Name, p.Arguments = in.Name, jsontext.Value(in.Arguments)
	return nil
}

// searchTools answers tools_search with the best tools for a query, the best first.
func (d *Door) searchTools(v view, c *op.Caller, arguments []byte) (result, error) {
	var in struct{ Query string }
	if json.Unmarshal(arguments, &in) != nil || strings.TrimSpace(in.Query) == "" || len(in.Query) > maxQuery {
		return nil, newRPCError(codeBadParams, "query is words of the job, at most %d letters", maxQuery)
	}
	return toolResult(foundJSON(d.findByWords(v, c, in.Query, maxFound)), v.structured), nil
}

// foundJSON is the answer of tools_search: what each tool does and takes, and all that is to say about the first, as
// long as there is room.
func foundJSON(found []*tool) []byte {
	type row struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		With        string `json:"with"`
		Input       string `json:"input,omitempty"`
	}
	rows, left, room := []row{}, []string{}, maxFoundBytes
	for _, t := range found {
		r := row{Name: t.name, Description: t.texts().sentence, With: writeName}
		if t.reads {
			r.With = readName
		}
		rows = append(rows, r)
		room -= len(mustEncode(r))
	}
	for i, t := range found {
		if input := t.texts().signature; len(input) < room {
			rows[i].Input, room = input, room-len(input)
		} else {
			left = append(left, t.name)
		}
	}
	if len(found) > 0 {
		if whole := found[0].texts().text; len(whole) < room {
			rows[0].Description = whole
		}
	}
	text := mustEncode(map[string]any{"tools": rows})
	if len(left) > 0 {
		text = addMember(text, leftOutMember, "The input of "+strings.Join(left, ", ")+": call "+describeName+".")
	}
	return text
}

// toolsTaking says which other tools take an argument, those of the same resource first. It is empty if none does.
func (d *Door) toolsTaking(key string, t *tool, q *request) string {
	var same, others []string
	for _, other := range d.tools {
		switch {
		case other == t || !other.op.TakesField(key) || !q.view.includesTool(other, q.login.Caller):
		case other.op.Resource == t.op.Resource:
			same = append(same, other.name)
		default:
			others = append(others, other.name)
		}
	}
	names := append(same, others...)
	if names == nil {
		return ""
	}
	return "it belongs to " + strings.Join(names[:min(len(names), maxNearest)], ", ")
}
