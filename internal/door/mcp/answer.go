package mcp

import (
	"encoding/json"
	"fmt"
	"slices"

	"frontdesk/internal/kernel/op"

	"github.com/google/jsonschema-go/jsonschema"
)

// told are the operations whose tools tell the shape of their answers: those
// that get what other tools work with. What creates, changes and lists such a
// record answers alike, as the instructions say; with every shape the list
// would be two and a half times as long.
var told = []string{"contacts.get", "customers.get", "businesses.get", "tasks.get", "messages.get", "invoices.get", "domains.get"}

// answerSchema is the shape of a tool's result, or nil. Nothing is required,
// because a refusal is a result too, and clients check that against the same
// schema.
func answerSchema(o *op.Op) json.RawMessage {
	if !slices.Contains(told, o.Name) {
		return nil
	}
	data, _ := o.OutputSchema(nil)
	properties := map[string]*jsonschema.Schema{"data": outline(data)}
	raw, err := json.Marshal(&jsonschema.Schema{Type: "object", Properties: properties})
	if err != nil {
		panic(fmt.Sprintf("operation %s: %v", o.Name, err))
	}
	return raw
}

// outline keeps the names and types of a record's fields; bounds are for those
// who write, and what lies inside a field is seen when it comes.
func outline(s *jsonschema.Schema) *jsonschema.Schema {
	c := &jsonschema.Schema{Type: s.Type, Types: s.Types, PropertyOrder: s.PropertyOrder, Properties: make(map[string]*jsonschema.Schema, len(s.Properties))}
	for name, p := range s.Properties {
		c.Properties[name] = &jsonschema.Schema{Type: p.Type, Types: p.Types}
	}
	return c
}
