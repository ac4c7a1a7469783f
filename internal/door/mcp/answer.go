package mcp

import (
	"frontdesk/internal/kernel/op"

	"github.com/google/jsonschema-go/jsonschema"
)

// listedWithAnswers are the operations whose tools describe their results in the list: those
// that get a record which other tools work with. Tools that create, change or list such
// a record answer with the same fields. If every tool described its result, the list
// would be two and a half times as long; tools_describe shows them.
var listedWithAnswers = []string{
	"contacts.get", "customers.get", "businesses.get", "tasks.get", "messages.get", "invoices.get",
	"domains.get",
}

// resultSchema is the shape of a tool's result, or nil. Nothing is required, because a
// refusal is a result too, and clients check it against the same schema.
func resultSchema(o *op.Op) *jsonschema.Schema {
	data, list := o.OutputSchema(nil)
	if data == nil || o.IsBatch() { // what a batch answers depends on the view
		return nil
	}
	s := outlineFields(data)
	if list {
		s = &jsonschema.Schema{Type: "array", Items: s}
	}
	return &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"data": s}}
}

// outlineFields keeps the names and types of a record's fields. Bounds matter only when
// writing, and a model sees nested fields when it gets a record.
func outlineFields(s *jsonschema.Schema) *jsonschema.Schema {
	c := &jsonschema.Schema{Type: s.Type, Types: s.Types, PropertyOrder: s.PropertyOrder,
		Properties: make(map[string]*jsonschema.Schema, len(s.Properties))}
	for name, p := range s.Properties {
		c.Properties[name] = &jsonschema.Schema{Type: p.Type, Types: p.Types}
	}
	return c
}
