package mcp

import (
	"encoding/json"
	"fmt"

	"frontdesk/internal/kernel/op"

	"github.com/google/jsonschema-go/jsonschema"
)

// answerSchema is the shape of a tool's result, nil when it has no content.
// Nothing in it is required, because a refusal is a result too, and clients
// check that against the same schema.
func answerSchema(o *op.Op) json.RawMessage {
	data, list := o.OutputSchema(nil)
	if data == nil {
		return nil
	}
	properties := map[string]*jsonschema.Schema{"data": outline(data), "error": {Type: "object"}}
	if list {
		properties["data"] = &jsonschema.Schema{Type: "array", Items: properties["data"]}
		properties["meta"] = &jsonschema.Schema{Type: "object"}
	}
	raw, err := json.Marshal(&jsonschema.Schema{Type: "object", Properties: properties})
	if err != nil {
		panic(fmt.Sprintf("operation %s: %v", o.Name, err))
	}
	return raw
}

// outline keeps the names, types and words of a schema; bounds are for those
// who write.
func outline(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	c := &jsonschema.Schema{Type: s.Type, Types: s.Types, Enum: s.Enum, Items: outline(s.Items), PropertyOrder: s.PropertyOrder}
	for _, kind := range s.AnyOf {
		c.AnyOf = append(c.AnyOf, outline(kind))
	}
	if s.Properties != nil {
		c.Properties = make(map[string]*jsonschema.Schema, len(s.Properties))
		for name, p := range s.Properties {
			c.Properties[name] = outline(p)
		}
	}
	return c
}
