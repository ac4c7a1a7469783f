package mcp

import (
	"encoding/json"
	"fmt"
	"slices"

	"frontdesk/internal/kernel/op"

	"github.com/google/jsonschema-go/jsonschema"
)

// withAnswers are the operations whose tools describe their answers: those that
// get a record which other tools work with. Tools that create, change or list
// such a record answer alike, as the instructions say. Describing every answer
// would make the list two and a half times as long.
var withAnswers = []string{
	"contacts.get", "customers.get", "businesses.get", "tasks.get", "messages.get", "invoices.get",
	"domains.get",
}

// answerSchema is the shape of a tool's result, or nil. Nothing is required,
// because a refusal is a result too, and clients check it against the same
// schema.
func answerSchema(o *op.Op) json.RawMessage {
	if !slices.Contains(withAnswers, o.Name) {
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

// outline keeps the names and types of a record's fields. Bounds matter only
// when writing, and nested fields show when they arrive.
func outline(s *jsonschema.Schema) *jsonschema.Schema {
	c := &jsonschema.Schema{Type: s.Type, Types: s.Types, PropertyOrder: s.PropertyOrder,
		Properties: make(map[string]*jsonschema.Schema, len(s.Properties))}
	for name, p := range s.Properties {
		c.Properties[name] = &jsonschema.Schema{Type: p.Type, Types: p.Types}
	}
	return c
}
