package docs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"frontdesk/internal/kernel/op"
)

type object = map[string]any

const introduction = "Frontdesk is a backend for business communication: contacts, customers, tasks, messages, " +
	"invoices, files, automations and domains.\n\n" +
	"Every request carries an API key as `Authorization: Bearer <API_KEY>`. Answers are `{ data, meta? }`, " +
	"refusals `{ error: { code, message, details? } }`; branch on the code. The request id is in `X-Request-ID`.\n\n" +
	"A POST takes an `Idempotency-Key`: the same request with the same key happens once, and its answer is " +
	"repeated with `Idempotency-Replay: true` for 24 hours.\n\n" +
	"Lists take `limit`, `offset` and `sortOrder`. Deleted records are gone from lists and gets."

// OpenAPI writes the OpenAPI 3.1 document from the declarations. The same
// declarations give the same bytes. Only the text about conventions is written
// by hand. What operations share is in the components.
func OpenAPI(c *op.Catalog, baseURL string) ([]byte, error) {
	var operations []*op.Op
	for _, o := range c.All() {
		if o.Doors&op.RESTDoor != 0 && o.Path != "" {
			operations = append(operations, o)
		}
	}
	shared := newComponents()
	shared.countQueryFields(operations)
	paths, tags := map[string]object{}, []string{}
	for _, o := range operations {
		if paths[o.Path] == nil {
			paths[o.Path] = object{}
		}
		paths[o.Path][strings.ToLower(o.Method)] = shared.operationObject(o)
		tags = append(tags, headingOf(o))
	}
	slices.Sort(tags)
	var tagList []object
	for _, t := range slices.Compact(tags) {
		tagList = append(tagList, object{"name": t, "description": "Operations on " + strings.ToLower(t) + "."})
	}
	text, err := json.Marshal(object{
		"openapi": "3.1.0",
		"info": object{
			"title":       "Frontdesk API",
			"version":     "1.0.0",
			"description": introduction,
			"contact":     object{"name": "The operator of this server", "url": baseURL},
			"license":     object{"name": "See the project", "identifier": "LicenseRef-Frontdesk"},
		},
		"servers":    []object{{"url": baseURL}},
		"security":   []object{{"apiKey": []string{}}},
		"tags":       tagList,
		"paths":      paths,
		"components": shared.componentsSection(),
	})
	if err != nil {
		return nil, err
	}
	return layoutJSON(text)
}

// operationObject is the Operation Object of an operation.
func (c *components) operationObject(o *op.Op) object {
	out := object{
		"operationId": o.Name,
		"summary":     strings.TrimSuffix(o.Summary, "."),
		"description": descriptionOf(o),
		"tags":        []string{headingOf(o)},
		"responses":   c.responseObjects(o),
	}
	if o.Public {
		out["security"] = []object{}
	}
	example := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(o.Example), &example); err != nil {
		panic("docs: " + o.Name + ": " + err.Error()) // the declaration was checked at start
	}
	var parameters []any
	for _, p := range o.Parameters(c.fromTypes) {
		parameters = append(parameters, c.parameterOrRef(o, p, example[p.Name]))
		delete(example, p.Name)
	}
	if o.TakesIdempotencyKey() {
		parameters = append(parameters, c.keyParameter(o.KeyRequired))
	}
	if o.TakesIfMatch() {
		parameters = append(parameters, c.shareComponent("parameters", "IfMatch", object{
			"name":        "If-Match",
			"in":          "header",
			"description": "Change it only if its ETag is still this one.",
			"schema":      object{"type": "string", "maxLength": 1000},
		}))
	}
	if o.AnswersVersion() && o.Method == http.MethodGet {
		parameters = append(parameters, c.shareComponent("parameters", "IfNoneMatch", object{
			"name":        "If-None-Match",
			"in":          "header",
			"description": "The ETag of the version you have: the answer is 304 if it is still that one.",
			"schema":      object{"type": "string", "maxLength": 1000},
		}))
	}
	if parameters != nil {
		out["parameters"] = parameters
	}
	if body, required := o.BodySchema(c.fromTypes); body != nil {
		kind := "application/json"
		if o.IsForm() {
			kind = "multipart/form-data"
		}
		schema := c.shareComponent("schemas", InputName(o), body)
		out["requestBody"] = object{
			"required": required,
			"content":  object{kind: object{"schema": schema, "example": example}},
		}
	}
	return out
}

// parameterOrRef describes a field of the path or the query. Path parameters, and query
// parameters that several operations have in exactly the same form, are shared
// components, with the example of the first operation.
func (c *components) parameterOrRef(o *op.Op, p op.Parameter, example json.RawMessage) any {
	v := parameterObject(o, p)
	if example != nil {
		v["example"] = example
	}
	if p.In == "path" {
		return c.shareComponent("parameters", pathFieldName(o, p.Name), v)
	}
	if c.queryFields[string(encodeWithoutExample(v))] < 2 {
		return v
	}
	name := PascalCase(p.Name)
	if slices.Contains(listFields, p.Name) {
		return c.shareComponent("parameters", name, v)
	}
	return c.shareComponent("parameters", name+"InQuery", v, PascalCase(Singular(o.PathSegments()[0]))+name+"InQuery")
}

// listFields are the query parameters that every list has. Their components go by the
// plain name.
var listFields = []string{"limit", "offset", "sortOrder", "cursor", "ids", "createdAfter", "createdBefore",
	"updatedAfter", "updatedBefore"}

func parameterObject(o *op.Op, p op.Parameter) object {
	v := object{"name": p.Name, "in": p.In, "schema": p.Schema}
	if p.Required {
		v["required"] = true
	}
	switch {
	case p.In == "path" && p.Schema.Format == "uuid":
		v["description"] = "The " + nounWords.Replace(PathNoun(o, p.Name)) + "."
	case p.Doc != "":
		v["description"] = asSentence(p.Doc)
	}
	return v
}

var nounWords = strings.NewReplacer("dns", "DNS", "opt-in", "opt-in", "-", " ")

// countQueryFields counts in how many operations each query parameter occurs. Those that
// occur once are not shared.
func (c *components) countQueryFields(operations []*op.Op) {
	for _, o := range operations {
		for _, p := range o.Parameters(c.fromTypes) {
			if p.In == "query" {
				c.queryFields[string(encodeWithoutExample(parameterObject(o, p)))]++
			}
		}
	}
}

// keyParameter is the header Idempotency-Key as a parameter.
func (c *components) keyParameter(required bool) any {
	name, text := "IdempotencyKey", "The same request with the same key happens once."
	if required {
		name, text = "RequiredIdempotencyKey", "Required, so that a retry has no second effect."
	}
	return c.shareComponent("parameters", name, object{
		"name":        "Idempotency-Key",
		"in":          "header",
		"required":    required,
		"description": text,
		"schema":      object{"type": "string", "minLength": 1, "maxLength": 255},
	})
}

// descriptionOf is the description of an operation: its own, the permissions it needs, and the
// events it emits.
func descriptionOf(o *op.Op) string {
	var paragraphs []string
	if o.Description != "" {
		paragraphs = append(paragraphs, o.Description)
	}
	if !o.Public && o.Resource != op.Unrestricted {
		verb := "write"
		if o.Action == op.ActionRead {
			verb = "read"
		}
		needs := fmt.Sprintf("Needs the permission `%s:%s`.", o.Resource, verb)
		for _, r := range o.ReferenceFields() {
			if r.Resource != o.Resource {
				needs += fmt.Sprintf(" With `%s` also `%s:read`.", r.Field, r.Resource)
			}
		}
		paragraphs = append(paragraphs, needs)
	}
	if len(o.Events) > 0 {
		paragraphs = append(paragraphs, "Emits `"+strings.Join(o.Events, "`, `")+"`.")
	}
	if paragraphs == nil {
		return o.Summary // linters want a description
	}
	return strings.Join(paragraphs, "\n\n")
}

func asSentence(s string) string {
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
