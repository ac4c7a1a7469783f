package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"frontdesk/internal/kernel/op"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// keyArgument is the argument of tools that create; it never reaches the operation.
const keyArgument = "idempotencyKey"

// tool is an operation as agents see it.
type tool struct {
	op    *op.Op
	sdk   *sdk.Tool
	text  []byte // as it stands in the list
	calls *outcomes
}

// collect makes a tool of every operation that agents may enter. Bytes do not
// travel here.
func (d *Door) collect(c *op.Catalog) {
	d.byName = map[string]*tool{}
	for _, o := range c.All() {
		if o.Doors&op.Agent == 0 || o.Streams() {
			continue
		}
		t := &tool{op: o, sdk: describe(o), calls: d.metrics.outcomes(o.Name)}
		t.text = t.encode()
		d.tools = append(d.tools, t)
		d.byName[t.sdk.Name] = t
		d.listBytes += len(t.text) + 1
	}
}

// describe writes a tool. A client pays for every byte of the list, so it says
// what a model needs to choose and to call, and no more; what holds for all
// tools is in the server's instructions.
func describe(o *op.Op) *sdk.Tool {
	schema := slim(o.InputSchema(), o.Method == http.MethodPatch || o.Method == http.MethodPut)
	for _, name := range append([]string{"limit", "offset", "sortOrder"}, o.PathFields()...) {
		if p := schema.Properties[name]; p != nil { // the instructions and the tool's name tell
			p.Description, p.Default, p.Maximum = "", nil, nil
		}
	}
	text := strings.ReplaceAll(o.Summary, ", newest first", "")
	if o.Description != "" {
		text += " " + o.Description
	}
	if o.TakesKey() {
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
		text += " Retry with the same idempotencyKey."
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		panic(fmt.Sprintf("operation %s: %v", o.Name, err))
	}
	var output any
	if answer := answerSchema(o); answer != nil {
		output = answer
	}
	return &sdk.Tool{Name: strings.ReplaceAll(o.Name, ".", "_"), Description: text, InputSchema: json.RawMessage(raw), OutputSchema: output}
}

// hints say what a call does. What equals the protocol's default is left out,
// but a tool that changes something always says whether it destroys.
type hints struct {
	ReadOnly    bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// annotate hints at what a client should ask a person about: what overwrites or
// deletes, as the protocol has it, and what charges, sends or publishes, which
// cannot be taken back either.
func annotate(o *op.Op) *hints {
	h := &hints{}
	if !o.ReachesOut() {
		h.OpenWorld = new(bool)
	}
	if o.ReadOnly() || o.Method == http.MethodGet {
		h.ReadOnly = true
		return h
	}
	destroys := o.Outward || o.Action != op.Create
	h.Destructive, h.Idempotent = &destroys, o.Method != http.MethodPost
	return h
}

// encode writes the tool as clients get it.
func (t *tool) encode() []byte {
	text, err := json.Marshal(struct {
		Name         string `json:"name"`
		Description  string `json:"description"`
		InputSchema  any    `json:"inputSchema"`
		OutputSchema any    `json:"outputSchema,omitempty"`
		Annotations  *hints `json:"annotations,omitempty"`
	}{t.sdk.Name, t.sdk.Description, t.sdk.InputSchema, t.sdk.OutputSchema, annotate(t.op)})
	if err != nil {
		panic(fmt.Sprintf("operation %s: %v", t.op.Name, err))
	}
	return text
}

// Bounds that a model hardly meets; a refusal tells them.
const (
	commonLength = 100
	commonItems  = 100
)

// shortQueries ends the description of many a query; the instructions say it once.
const shortQueries = "; one or two characters match word beginnings"

// slim leaves out of a schema what a model does not need: common bounds, that
// other keys and spaces alone are refused, the form of ids, and null where it
// means absent.
func slim(s *jsonschema.Schema, nulls bool) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	c := *s
	if isFalse(c.AdditionalProperties) {
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
	if c.Pattern == op.Words {
		c.Pattern = ""
	}
	switch c.Format {
	case "uuid", "email", "uri": // the field's name tells
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
	c.Items = slim(c.Items, nulls)
	c.AdditionalProperties = slim(c.AdditionalProperties, nulls)
	if s.Properties != nil {
		c.Properties = make(map[string]*jsonschema.Schema, len(s.Properties))
		for name, p := range s.Properties {
			c.Properties[name] = slim(p, nulls)
		}
	}
	return &c
}

func isFalse(s *jsonschema.Schema) bool {
	return s != nil && s.Not != nil && s.Type == "" && s.Properties == nil
}
