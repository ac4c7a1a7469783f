package mcp

// How the schemas of tools are shortened. A client puts the whole list before its
// model, so every byte of it costs its user in each conversation.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"frontdesk/internal/kernel/op"

	"github.com/google/jsonschema-go/jsonschema"
)

// commonListArguments are the arguments that all lists share. The instructions describe them once.
var commonListArguments = []string{"limit", "offset", "cursor", "sortBy", "sortOrder", "ids", "createdAfter",
	"createdBefore", "updatedAfter", "updatedBefore"}

// leanInput is a tool's input schema for the full list. It leaves out the arguments that the
// instructions describe for all lists, the details of fields that the tool creating
// the same record has already, and bounds, which a refusal states. creates is the
// operation of that tool, or nil.
func leanInput(whole *jsonschema.Schema, o, creates *op.Op) *jsonschema.Schema {
	c := *whole
	c.Properties = make(map[string]*jsonschema.Schema, len(whole.Properties))
	var known map[string]*jsonschema.Schema
	if creates != nil && o != creates {
		known = slimSchema(creates.InputSchema(), true).Properties
	}
	for name, p := range whole.Properties {
		switch {
		case o.AnswersList() && slices.Contains(commonListArguments, name):
			continue
		case o.IsBatch() && name == "rows":
			p = &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "object"}}
		case known[name] != nil && sameInput(known[name], p):
			p = keepTypeOnly(dropBounds(p))
		default:
			p = dropBounds(p)
		}
		c.Properties[name] = p
	}
	c.PropertyOrder = remainingOrder(&c)
	return &c
}

// dropBounds removes lengths, patterns and huge numbers.
func dropBounds(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	c := *s
	c.MinLength, c.MaxLength, c.MaxItems, c.Pattern = nil, nil, nil, ""
	if c.Maximum != nil && *c.Maximum > commonMaximum {
		c.Maximum = nil
	}
	if c.Format == "date-time" { // the instructions say it
		c.Format = ""
	}
	c.Items = dropBounds(c.Items)
	if s.Properties != nil {
		c.Properties = make(map[string]*jsonschema.Schema, len(s.Properties))
		for name, p := range s.Properties {
			c.Properties[name] = dropBounds(p)
		}
	}
	return &c
}

// sameInput reports whether two schemas accept the same, apart from null.
func sameInput(a, b *jsonschema.Schema) bool {
	x, errX := json.Marshal(slimSchema(a, false))
	y, errY := json.Marshal(slimSchema(b, false))
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// keepTypeOnly keeps only the type of a field, and its choices.
func keepTypeOnly(s *jsonschema.Schema) *jsonschema.Schema {
	c := &jsonschema.Schema{Type: s.Type, Types: s.Types, AnyOf: s.AnyOf, Enum: s.Enum}
	if s.Items != nil {
		c.Items = &jsonschema.Schema{Type: s.Items.Type, Types: s.Items.Types, Enum: s.Items.Enum}
	}
	return c
}

// briefInput is a tool's input schema for a compact list: the names, types and enums of its
// fields. tools_describe has the rest.
func briefInput(s *jsonschema.Schema) *jsonschema.Schema {
	c := *s
	c.Properties = make(map[string]*jsonschema.Schema, len(s.Properties))
	for name, p := range s.Properties {
		if name == "include" || name == keyArgument {
			continue
		}
		c.Properties[name] = joinForms(keepTypeOnly(p))
	}
	c.PropertyOrder = remainingOrder(&c)
	return &c
}

// joinForms writes the forms that a field may have as a list of types, which says the same in fewer words. The form
// of elements is that of the only array among them.
func joinForms(s *jsonschema.Schema) *jsonschema.Schema {
	if s.AnyOf == nil {
		return s
	}
	c := &jsonschema.Schema{}
	for _, form := range s.AnyOf {
		if form.Type == "" || c.Items != nil && form.Items != nil {
			return s
		}
		c.Types = append(c.Types, form.Type)
		if form.Items != nil {
			c.Items = form.Items
		}
	}
	return c
}

// remainingOrder is the order of what is left of a schema's properties.
func remainingOrder(s *jsonschema.Schema) []string {
	return slices.DeleteFunc(slices.Clone(s.PropertyOrder), func(name string) bool { return s.Properties[name] == nil })
}

// firstSentence is the description in a compact list; tools_describe has all of it.
func firstSentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(first, ".") + "."
}

// writeSignature is an input in a line: {id, dueAt?, lineItems?: {description, amount: integer}[], status?: open|done}.
// A name without a type is a text. It costs a model a third of the schema, and it reads it as well.
func writeSignature(s *jsonschema.Schema) string {
	var fields []string
	for _, name := range s.PropertyOrder {
		p, required := s.Properties[name], slices.Contains(s.Required, name)
		if p == nil || !required && (name == "include" || name == keyArgument) {
			continue
		}
		if !required {
			name += "?"
		}
		if form := writeForm(p); form != "" {
			name += ": " + form
		}
		fields = append(fields, name)
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// writeForm is the type of a field in a signature; empty for a text.
func writeForm(s *jsonschema.Schema) string {
	var forms []string
	switch {
	case s.AnyOf != nil:
		for _, one := range s.AnyOf {
			if one.Type != "null" {
				forms = append(forms, cmp.Or(writeForm(one), "string"))
			}
		}
	case s.Enum != nil:
		for _, one := range s.Enum {
			if one != nil {
				forms = append(forms, fmt.Sprint(one))
			}
		}
	case s.Items != nil:
		form := cmp.Or(writeForm(s.Items), "string")
		if strings.Contains(form, "|") {
			form = "(" + form + ")"
		}
		forms = []string{form + "[]"}
	case len(s.PropertyOrder) > 0:
		forms = []string{writeSignature(s)}
	default:
		for _, one := range append(slices.Clone(s.Types), s.Type) {
			if one != "" && one != "null" {
				forms = append(forms, one)
			}
		}
	}
	if form := strings.Join(forms, "|"); form != "string" {
		return form
	}
	return ""
}
