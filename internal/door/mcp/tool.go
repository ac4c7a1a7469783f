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
		t := &tool{o, describe(o), d.metrics.outcomes(o.Name)}
		d.tools = append(d.tools, t)
		d.byName[t.sdk.Name] = t
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
	return &sdk.Tool{Name: strings.ReplaceAll(o.Name, ".", "_"), Description: text, InputSchema: json.RawMessage(raw), Annotations: annotate(o)}
}

// annotate says what a call does. To change something is destructive by the
// protocol's definition and default; to create is not.
func annotate(o *op.Op) *sdk.ToolAnnotations {
	yes, no := true, false
	switch {
	case o.ReadOnly() || o.Method == http.MethodGet:
		return &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
	case o.Action == op.Create:
		return &sdk.ToolAnnotations{DestructiveHint: &no}
	case o.Action == op.Delete:
		return &sdk.ToolAnnotations{DestructiveHint: &yes, IdempotentHint: true}
	default:
		return &sdk.ToolAnnotations{IdempotentHint: o.Method != http.MethodPost}
	}
}

// Bounds that a model hardly meets; a refusal tells them.
const (
	commonLength = 100
	commonItems  = 100
)

// slim leaves out of a schema what a model does not need: common bounds, that
// other keys are refused, the form of ids, and null where it means absent.
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
	if c.Format == "uuid" {
		c.Format = ""
	}
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
