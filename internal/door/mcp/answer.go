package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"frontdesk/internal/kernel/op"

	"github.com/google/jsonschema-go/jsonschema"
)

// answerSchema is the shape of a tool's result, nil where it is not told. The
// shape of a record is told once, by the tool that gets it: what creates,
// changes and lists it answers alike, as the instructions say, and with all of
// them the list would be two and a half times as long. Nothing is required,
// because a refusal is a result too, and clients check that against the same
// schema.
func answerSchema(o *op.Op) json.RawMessage {
	data, list := o.OutputSchema(nil)
	if data == nil || list || strings.Count(o.Name, ".") != 1 || !strings.HasSuffix(o.Name, ".get") {
		return nil
	}
	properties := map[string]*jsonschema.Schema{"data": outline(data)}
	raw, err := json.Marshal(&jsonschema.Schema{Type: "object", Properties: properties})
	if err != nil {
		panic(fmt.Sprintf("operation %s: %v", o.Name, err))
	}
	return raw
}

// outline keeps the names of a record's fields, and the types of those that are
// no text; bounds are for those who write, and what lies inside a field is seen
// when it comes.
func outline(s *jsonschema.Schema) *jsonschema.Schema {
	c := &jsonschema.Schema{Type: s.Type, Types: s.Types, PropertyOrder: s.PropertyOrder, Properties: make(map[string]*jsonschema.Schema, len(s.Properties))}
	for name, p := range s.Properties {
		c.Properties[name] = &jsonschema.Schema{}
		if p.Type != "string" && !slices.Contains(p.Types, "string") {
			c.Properties[name] = &jsonschema.Schema{Type: p.Type, Types: p.Types}
		}
	}
	return c
}
