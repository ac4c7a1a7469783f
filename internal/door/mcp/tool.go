package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"frontdesk/internal/kernel/op"

	"github.com/google/jsonschema-go/jsonschema"
)

// keyArgument is an argument of tools whose operation takes an idempotency key. It is
// taken out before the operation sees the arguments.
const keyArgument = "idempotencyKey"

// tool is an operation as agents see it.
type tool struct {
	op    *op.Op
	name  string
	texts func() toolTexts // written on the first call
	reads bool             // it changes nothing
	calls *toolMetrics
}

// toolTexts are the descriptions of a tool, as JSON.
type toolTexts struct {
	listed []byte // in the full list
	short  []byte // in a compact list
	whole  []byte // in tools_describe, with everything there is to say

	// in tools_search: what it does, its first sentence, and what it takes
	text, sentence, signature string
}

// collectTools makes a tool of every operation that is declared for agents. Uploads and
// downloads are left out: a tool has no bytes.
func (d *Door) collectTools(c *op.Catalog) {
	d.byName = map[string]*tool{}
	byOp := map[string]*op.Op{}
	for _, o := range c.All() {
		byOp[o.Name] = o
	}
	for _, o := range c.All() {
		if o.Doors&op.AgentDoor == 0 || o.TakesStream() {
			continue
		}
		var creates *op.Op
		if o.Changes() {
			creates = byOp[o.Name[:strings.LastIndex(o.Name, ".")]+".create"]
		}
		t := &tool{op: o, name: strings.ReplaceAll(o.Name, ".", "_"),
			reads: o.ReadOnly() || o.Method == http.MethodGet, calls: d.metrics.forTool(o.Name)}
		t.texts = sync.OnceValue(func() toolTexts { return t.writeTexts(creates) })
		d.tools = append(d.tools, t)
		d.byName[t.name] = t
	}
}

// writeTexts writes the descriptions of a tool. Every byte of the list costs the client's
// user, so they say what a model needs to choose and call the tool, and no more. What
// applies to all tools is in the server's instructions. creates is the operation that
// creates the same record, or nil.
func (t *tool) writeTexts(creates *op.Op) (out toolTexts) {
	o := t.op
	schema := slimSchema(o.InputSchema(), o.Changes())
	for _, name := range append([]string{"limit", "offset", "sortOrder"}, o.PathFields()...) {
		if p := schema.Properties[name]; p != nil { // the instructions and the tool's name say it
			p.Description, p.Default, p.Maximum = "", nil, nil
		}
	}
	text := strings.TrimSpace(strings.ReplaceAll(o.Summary, ", newest first", "") + " " + o.Description)
	if o.IsBatch() {
		text = o.Summary + " " + op.BatchOfAgents
	}
	if o.TakesIdempotencyKey() {
		if schema.Properties[keyArgument] != nil {
			panic("operation " + o.Name + " has a field " + keyArgument)
		}
		if schema.Properties == nil {
			schema.Properties = map[string]*jsonschema.Schema{}
		}
		schema.Properties[keyArgument] = &jsonschema.Schema{Type: "string"}
		schema.PropertyOrder = append(schema.PropertyOrder, keyArgument)
		if o.KeyRequired {
			schema.Required = append(schema.Required, keyArgument)
		}
	}
	listed := leanInput(schema, o, creates)
	answers := resultSchema(o)
	addViewArguments(schema) // the instructions describe them for the lists
	out.whole = t.encodeTool(text, schema, answers)
	if !slices.Contains(listedWithAnswers, o.Name) {
		answers = nil
	}
	out.listed = t.encodeTool(text, listed, answers)
	out.text, out.sentence, out.signature = text, firstSentence(text), writeSignature(listed)
	out.short = t.encodeTool(out.sentence, briefInput(listed), nil)
	return out
}

// addViewArguments adds the arguments that every tool takes.
func addViewArguments(s *jsonschema.Schema) {
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	for name, p := range map[string]*jsonschema.Schema{
		viewArgument: {Type: "string", Enum: []any{op.ShortView, op.FullView}, Description: "full for whole rows"},
		partArgument: {Type: "integer", Description: "of an answer that is too long"},
	} {
		if s.Properties[name] == nil {
			s.Properties[name] = p
			s.PropertyOrder = append(s.PropertyOrder, name)
		}
	}
	slices.Sort(s.PropertyOrder[len(s.PropertyOrder)-2:])
}

// hints are the annotations of the protocol, which say what a call does. What equals
// the protocol's default is left out, but a tool that changes something always says
// whether it is destructive.
type hints struct {
	ReadOnly    bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// annotateOperation marks what a client should ask a person about: what overwrites or
// deletes, as the protocol defines it, and what charges, sends or publishes,
// which cannot be undone either.
func annotateOperation(o *op.Op) *hints {
	h := &hints{}
	if !o.ReachesOutside() {
		h.OpenWorld = new(bool)
	}
	if o.ReadOnly() || o.Method == http.MethodGet {
		h.ReadOnly = true
		return h
	}
	destroys := o.Outward || o.Action != op.ActionCreate
	h.Destructive, h.Idempotent = &destroys, o.Method != http.MethodPost
	return h
}

// encodeTool writes the tool as clients receive it.
func (t *tool) encodeTool(text string, input, output *jsonschema.Schema) []byte {
	raw, err := json.Marshal(struct {
		Name         string             `json:"name"`
		Description  string             `json:"description"`
		InputSchema  *jsonschema.Schema `json:"inputSchema"`
		OutputSchema *jsonschema.Schema `json:"outputSchema,omitempty"`
		Annotations  *hints             `json:"annotations,omitempty"`
		Meta         map[string]any     `json:"_meta,omitempty"`
	}{t.name, text, input, output, annotateOperation(t.op), t.cardMeta()})
	if err != nil {
		panic(fmt.Sprintf("operation %s: %v", t.op.Name, err))
	}
	return raw
}

// Bounds from which on a schema does not state them: a model hardly reaches them, and
// the refusal states them.
const (
	commonLength  = 100
	commonItems   = 100
	commonMaximum = 1_000_000
)

// shortQueries ends the description of many query fields. The instructions say
// it once for all of them.
const shortQueries = "; 1-2 letters match word starts"

// slimSchema removes from a schema what a model does not need: common bounds, the
// refusal of other keys and of blank text, the format of ids, and, unless nulls, null
// where it means absent. In an update null clears a field, so there it stays.
func slimSchema(s *jsonschema.Schema, nulls bool) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	c := *s
	if isFalseSchema(c.AdditionalProperties) {
		c.AdditionalProperties = nil
	}
	if c.MaxLength != nil && *c.MaxLength >= commonLength {
		c.MaxLength = nil
	}
	if c.MinLength != nil && *c.MinLength <= 1 {
		c.MinLength = nil
	}
	if c.MaxItems != nil && *c.MaxItems >= commonItems {
		c.MaxItems = nil
	}
	if c.Minimum != nil && *c.Minimum <= 1 {
		c.Minimum = nil
	}
	if c.MinItems != nil && *c.MinItems <= 1 {
		c.MinItems = nil
	}
	if c.Pattern == op.NotBlankPattern {
		c.Pattern = ""
	}
	switch c.Format {
	case "uuid", "email", "uri": // the field's name says it
		c.Format = ""
	}
	c.Description = strings.TrimSuffix(c.Description, shortQueries)
	if string(c.Default) == "false" {
		c.Default = nil
	}
	if !nulls && len(c.Types) == 2 && c.Types[1] == "null" {
		c.Type, c.Types = c.Types[0], nil
		c.Enum = slices.DeleteFunc(slices.Clone(c.Enum), func(v any) bool { return v == nil })
	}
	c.Items = slimSchema(c.Items, nulls)
	c.AdditionalProperties = slimSchema(c.AdditionalProperties, nulls)
	if s.Properties != nil {
		c.Properties = make(map[string]*jsonschema.Schema, len(s.Properties))
		for name, p := range s.Properties {
			c.Properties[name] = slimSchema(p, nulls)
		}
	}
	return &c
}

// isFalseSchema reports whether a schema is false, which the library writes as {"not": {}}.
func isFalseSchema(s *jsonschema.Schema) bool {
	return s != nil && s.Not != nil && s.Type == "" && s.Properties == nil
}
