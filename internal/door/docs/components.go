package docs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"frontdesk/internal/kernel/op"
)

// components is what the operations of the document share, each under a name
// that client generators turn into a type name.
type components struct {
	fromTypes op.Schemas                // named after the Go types
	shared    map[string]map[string]any // kind ("responses"), then name
	codes     map[string]bool           // every refusal's code in the document

	references  map[string]object // to what is shared, by its content
	queryFields map[string]int    // how many operations have exactly this query parameter, by its JSON
}

func newComponents() *components {
	c := &components{
		fromTypes:   op.Schemas{},
		shared:      map[string]map[string]any{},
		codes:       map[string]bool{},
		references:  map[string]object{},
		queryFields: map[string]int{},
	}
	c.shared["securitySchemes"] = object{
		"apiKey": object{"type": "http", "scheme": "bearer", "description": "An API key, like fd_…"},
	}
	c.shared["headers"] = headerComponents()
	c.shared["schemas"] = object{"ErrorTree": errorTree, "PageMeta": pageMeta}
	return c
}

// shareComponent stores v under the name, or under another one where a different value
// has it, and returns a reference to it. Where all names are taken, v stays
// inline. Examples do not count as a difference: the first one is kept.
func (c *components) shareComponent(kind, name string, v any, others ...string) any {
	if c.shared[kind] == nil {
		c.shared[kind] = map[string]any{}
	}
	content := kind + string(encodeWithoutExample(v))
	if kind == "schemas" { // their names become types, so each operation's input has its own
		content = name + content
	}
	if reference := c.references[content]; reference != nil {
		return reference
	}
	for _, name := range append([]string{name}, others...) {
		if _, taken := c.shared[kind][name]; !taken {
			c.shared[kind][name] = v
			c.references[content] = componentRef(kind, name)
			return c.references[content]
		}
	}
	return v
}

// encodeWithoutExample encodes a value without its member example, for comparison.
func encodeWithoutExample(v any) []byte {
	if o, ok := v.(object); ok {
		o = maps.Clone(o)
		delete(o, "example")
		v = o
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// componentsSection is the document's components section.
func (c *components) componentsSection() object {
	schemas := c.shared["schemas"]
	schemas["ErrorCode"] = object{"type": "string", "enum": slices.Sorted(maps.Keys(c.codes))}
	schemas["ApiError"] = apiError
	out := object{}
	for kind, values := range c.shared {
		out[kind] = values
	}
	for name, s := range c.fromTypes {
		if schemas[name] != nil {
			panic("docs: two schemas are named " + name)
		}
		schemas[name] = s
	}
	return out
}

func componentRef(kind, name string) object {
	return object{"$ref": "#/components/" + kind + "/" + name}
}

var apiError = object{
	"type": "object", "required": []string{"error"}, "additionalProperties": false,
	"description": "Every refusal. A response lists its own codes.",
	"properties": object{"error": object{
		"type": "object", "required": []string{"code", "message"}, "additionalProperties": false,
		"properties": object{
			"code":    componentRef("schemas", "ErrorCode"),
			"message": object{"type": "string"},
			"details": object{
				"description": "For an invalid request: what is wrong and where, as a tree that mirrors the request.",
				"anyOf":       []object{componentRef("schemas", "ErrorTree"), {"type": "object"}},
			},
		},
	}},
}

var errorTree = object{
	"type": "object", "required": []string{"errors"}, "additionalProperties": false,
	"description": "The issues at one place of the request, and below it those of an object's fields or of an " +
		"array's elements (null where an element is fine).",
	"properties": object{
		"errors":     object{"type": "array", "items": object{"type": "string"}},
		"properties": object{"type": "object", "additionalProperties": componentRef("schemas", "ErrorTree")},
		"items": object{"type": "array", "items": object{
			"anyOf": []object{componentRef("schemas", "ErrorTree"), {"type": "null"}},
		}},
	},
}

var pageMeta = object{
	"type": "object", "required": []string{"pagination"}, "additionalProperties": false,
	"properties": object{"pagination": object{
		"type": "object", "required": []string{"limit", "offset", "hasMore"}, "additionalProperties": false,
		"properties": object{
			"limit":  object{"type": "integer", "minimum": 0},
			"offset": object{"type": "integer", "minimum": 0},
			"total":  object{"type": "integer", "minimum": 0, "description": "Only where it costs nothing to know."},
			"nextCursor": object{"type": []string{"string", "null"},
				"description": "Only in a walk with cursor: what to send for the next page; null on the last."},
			"hasMore": object{"type": "boolean", "description": "Without a total, true whenever the page is full."},
		},
	}},
}

func headerComponents() map[string]any {
	header := func(description string, schema object) object {
		return object{"description": description, "schema": schema}
	}
	number := object{"type": "integer"}
	out := object{}
	for name, h := range map[string]object{
		"X-Request-ID":          header("Names this request in the logs.", object{"type": "string", "format": "uuid"}),
		"X-RateLimit-Limit":     header("Requests per minute on this plan, which is also the burst.", number),
		"X-RateLimit-Remaining": header("Requests left after this one.", number),
		"X-RateLimit-Reset":     header("Seconds until the full allowance is available again.", number),
		"ETag":                  header("The version of the resource, for If-Match.", object{"type": "string"}),
		"Retry-After":           header("Seconds to wait.", number),
		"Idempotency-Replay": header("Only on a POST: the answer of an earlier request with the same key.",
			object{"type": "string", "enum": []string{"true"}}),
	} {
		out[headerComponent(name)] = h
	}
	return out
}

// InputName names a body after its operation: ContactEmailCreateInput.
func InputName(o *op.Op) (name string) {
	segments := strings.Split(o.Name, ".")
	last := len(segments) - 1
	for _, s := range segments[:last] {
		name += PascalCase(Singular(s))
	}
	return name + PascalCase(segments[last]) + "Input"
}

// pathFieldName names a field of the path: {id} after what it identifies, like
// ContactId, and others by their own names.
func pathFieldName(o *op.Op, field string) string {
	switch {
	case field == "id":
		return PascalCase(PathNoun(o, field)) + "Id"
	case strings.HasSuffix(field, "Id"):
		return PascalCase(field)
	}
	return PascalCase(field) + "InPath" // a schema may have the plain name
}

// PathNoun is what a field of the path identifies: phone-number.
func PathNoun(o *op.Op, field string) string {
	before, _, _ := strings.Cut(o.Path, "/{"+field+"}")
	return Singular(before[strings.LastIndexByte(before, '/')+1:])
}

// PascalCase turns phone_number, NOT_FOUND and emailId into PhoneNumber, NotFound
// and EmailId.
func PascalCase(name string) (out string) {
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' }) {
		if word == strings.ToUpper(word) {
			word = strings.ToLower(word)
		}
		out += titleCase(word)
	}
	return out
}
