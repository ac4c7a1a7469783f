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

// searchToolJSON is the description of tools_search for the list. It says how many tools
// of each resource this caller can find, so that a model knows what to search for.
func (d *Door) searchToolJSON(v view, c *op.Caller) []byte {
	counts := map[string]int{}
	for _, t := range d.tools {
		if v.includesTool(t, c) && t.op.Resource != op.Unrestricted {
			counts[t.op.Resource]++
		}
	}
	var parts []string
	for _, resource := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", resource, counts[resource]))
	}
	text := "Find more tools by words of the job. Answers the best five with their input. Tools: " +
		strings.Join(parts, ", ")
	return fmt.Appendf(nil, `{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":{"query":`+
		`{"type":"string"}},"required":["query"]},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`,
		searchName, text)
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

// foundJSON is the answer of tools_search.
func foundJSON(found []*tool) []byte {
	text := []byte(`{"tools":[`)
	for i, t := range found {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, t.texts().short...)
	}
	return append(text, `]}`...)
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
