package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

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

// How much a word of a query counts, by where it is found in a tool.
const (
	weightInName    = 4
	weightInSummary = 3
	weightInField   = 1.5
	weightInText    = 1
)

// searchIndex has the words of every tool.
type searchIndex struct {
	weights       []map[string]float64 // for each tool, how much a word counts
	toolsWithWord map[string]int       // in how many tools a word occurs
}

func (d *Door) buildSearchIndex() (x searchIndex) {
	x.toolsWithWord = map[string]int{}
	for _, t := range d.tools {
		words := map[string]float64{}
		add := func(text string, weight float64) {
			for _, w := range searchWords(text) {
				words[w] = max(words[w], weight)
			}
		}
		add(t.name, weightInName)
		add(t.op.Resource, weightInName)
		add(t.op.Summary, weightInSummary)
		add(t.op.Description, weightInText)
		for name, p := range t.op.InputSchema().Properties {
			add(name, weightInField)
			add(p.Description, weightInText)
		}
		x.weights = append(x.weights, words)
		for w := range words {
			x.toolsWithWord[w]++
		}
	}
	return x
}

// searchTools answers tools_search with the best tools for a query, the best first.
func (d *Door) searchTools(v view, c *op.Caller, arguments []byte) (result, error) {
	var in struct{ Query string }
	if json.Unmarshal(arguments, &in) != nil || strings.TrimSpace(in.Query) == "" || len(in.Query) > maxQuery {
		return nil, newRPCError(codeBadParams, "query is words of the job, at most %d letters", maxQuery)
	}
	return describedResult(d.findByWords(v, c, in.Query, maxFound), v.structured), nil
}

// findByWords are the best tools for the words of a job, the best first. A word
// counts more the fewer tools have it (inverse document frequency).
func (d *Door) findByWords(v view, c *op.Caller, query string, most int) (found []*tool) {
	type hit struct {
		t     *tool
		score float64
	}
	var hits []hit
	words, index := searchWords(query), d.index()
	for i, t := range d.tools {
		if !v.includesTool(t, c) {
			continue
		}
		score := 0.0
		for _, w := range words {
			if weight := index.weights[i][w]; weight > 0 {
				score += weight * math.Log(float64(len(d.tools))/float64(index.toolsWithWord[w]))
			}
		}
		if score > 0 { // of two equal hits, the tool with the shorter name comes first
			hits = append(hits, hit{t, score / (1 + 0.02*float64(len(t.name)))})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	for _, h := range hits[:min(len(hits), most)] {
		found = append(found, h.t)
	}
	return found
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

// synonyms maps words that people use to the words that tools use.
var synonyms = stemKeys(map[string]string{
	"add": "create", "new": "create", "make": "create", "open": "create", "write": "create", "issue": "create",
	"change": "update", "edit": "update", "modify": "update", "rename": "update", "set": "update",
	"remove": "delete", "erase": "delete", "cancel": "delete",
	"show": "get", "read": "get", "look": "get", "see": "get", "fetch": "get", "view": "get",
	"find": "list", "search": "list", "which": "list", "all": "list", "what": "list", "who": "list", "has": "list",
	"mail": "message", "email": "message", "letter": "message", "reply": "message", "answer": "message",
	"bill": "invoice", "unpaid": "invoice", "overdue": "invoice", "client": "customer", "person": "contact",
	"people": "contact", "todo": "task", "colleague": "member", "user": "member", "document": "file",
	"buy": "register", "purchase": "register", "pay": "payment", "paid": "payment", "revert": "undo",
	"telephone": "phone", "mobile": "phone", "share": "link", "download": "link", "combine": "merge",
	"happened": "event", "history": "event", "yesterday": "event", "agree": "opt",
	"double": "duplicate", "workflow": "automation", "rule": "automation", "hook": "webhook", "site": "domain",
})

func stemKeys(words map[string]string) map[string]string {
	out := make(map[string]string, len(words))
	for w, same := range words {
		out[stemWord(w)] = same
	}
	return out
}

// searchWords are the words of a text: lower case, stemmed, and each followed by the word
// that tools use for it.
func searchWords(text string) (words []string) {
	var spaced strings.Builder
	lower := false
	for _, r := range text { // splits phoneNumbers into two words
		if unicode.IsUpper(r) && lower {
			spaced.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		spaced.WriteRune(unicode.ToLower(r))
	}
	for _, w := range strings.FieldsFunc(spaced.String(), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		w = stemWord(w)
		words = append(words, w)
		if other := synonyms[w]; other != "" {
			words = append(words, other)
		}
	}
	return words
}

// stemWord cuts the most common endings of English words.
func stemWord(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 5 && strings.HasSuffix(w, "sses"):
		return w[:len(w)-2]
	case len(w) > 5 && strings.HasSuffix(w, "ed"):
		return w[:len(w)-1] // changed becomes change
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us"):
		return w[:len(w)-1]
	}
	return w
}
