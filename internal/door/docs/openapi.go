package docs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"

	"github.com/google/jsonschema-go/jsonschema"
)

type object = map[string]any

const about = `Frontdesk is a backend for business communication: contacts, customers, tasks, messages, invoices, files, automations and domains.

Every request carries an API key as ` + "`Authorization: Bearer <API_KEY>`" + `. Answers are ` + "`{ data, meta? }`" + `, refusals ` + "`{ error: { code, message, details? } }`" + `; branch on the code. The request id is in ` + "`X-Request-ID`" + `.

A POST takes an ` + "`Idempotency-Key`" + `: the same request with the same key happens once, and its answer is repeated with ` + "`Idempotency-Replay: true`" + ` for 24 hours.

Lists take ` + "`limit`, `offset` and `sortOrder`" + `. Deleted records are gone from lists and gets.`

// OpenAPI writes the OpenAPI 3.1 document: from the declarations, the same
// bytes for the same. Nothing in it is written by hand but the words about
// conventions.
func OpenAPI(c *op.Catalog, baseURL string) ([]byte, error) {
	shared := op.Schemas{}
	paths, tags := map[string]object{}, map[string]bool{}
	for _, o := range c.All() {
		if o.Doors&op.REST == 0 || o.Path == "" {
			continue
		}
		if paths[o.Path] == nil {
			paths[o.Path] = object{}
		}
		tag := tagOf(o)
		tags[tag] = true
		paths[o.Path][strings.ToLower(o.Method)] = pathItem(o, tag, shared)
	}
	names := make([]string, 0, len(tags))
	for t := range tags {
		names = append(names, t)
	}
	sort.Strings(names)
	list := make([]object, len(names))
	for i, t := range names {
		list[i] = object{"name": t, "description": "Operations on " + strings.ToLower(t) + "."}
	}
	doc := object{
		"openapi": "3.1.0",
		"info": object{"title": "Frontdesk API", "version": "1.0.0", "description": about,
			"contact": object{"name": "The operator of this server", "url": baseURL}, "license": object{"name": "See the project", "identifier": "LicenseRef-Frontdesk"}},
		"servers":  []object{{"url": baseURL}},
		"security": []object{{"apiKey": []string{}}},
		"tags":     list,
		"paths":    paths,
		"components": object{
			"securitySchemes": object{"apiKey": object{"type": "http", "scheme": "bearer", "description": "An API key, like fd_…"}},
			"schemas":         schemas(shared),
			"headers":         headers(),
			"parameters": object{"IdempotencyKey": object{"name": "Idempotency-Key", "in": "header", "required": false,
				"description": "The same request with the same key happens once.", "schema": object{"type": "string", "minLength": 1, "maxLength": 255}}},
		},
	}
	return json.MarshalIndent(doc, "", "  ")
}

func pathItem(o *op.Op, tag string, shared op.Schemas) object {
	out := object{"operationId": o.Name, "summary": strings.TrimSuffix(o.Summary, "."), "description": prose(o), "tags": []string{tag}, "responses": responses(o, shared)}
	if o.Public {
		out["security"] = []object{}
	}
	example := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(o.Example), &example); err != nil {
		panic("docs: " + o.Name + ": " + err.Error()) // the declaration was checked at start
	}
	var params []object
	for _, p := range o.Parameters(shared) {
		v := object{"name": p.Name, "in": p.In, "required": p.Required, "schema": p.Schema}
		if p.Doc != "" {
			v["description"] = sentence(p.Doc)
		}
		if e, ok := example[p.Name]; ok {
			v["example"] = e
			delete(example, p.Name)
		}
		params = append(params, v)
	}
	if o.TakesKey() {
		if o.KeyRequired {
			params = append(params, object{"name": "Idempotency-Key", "in": "header", "required": true,
				"description": "Required here, so that a retry does not happen twice.", "schema": object{"type": "string", "minLength": 1, "maxLength": 255}})
		} else {
			params = append(params, object{"$ref": "#/components/parameters/IdempotencyKey"})
		}
	}
	if params != nil {
		out["parameters"] = params
	}
	if s, required := o.BodySchema(shared); s != nil {
		kind := "application/json"
		if o.IsForm() {
			kind = "multipart/form-data"
		}
		out["requestBody"] = object{"required": required, "content": object{kind: object{"schema": s, "example": example}}}
	}
	return out
}

func prose(o *op.Op) string {
	text := o.Summary
	if o.Description != "" {
		text += "\n\n" + o.Description
	}
	if !o.Public && o.Resource != op.Free {
		verb := "write"
		if o.Action == op.See {
			verb = "read"
		}
		text += fmt.Sprintf("\n\nNeeds the permission `%s:%s`.", o.Resource, verb)
		for _, r := range o.References() {
			if r.Resource != o.Resource {
				text += fmt.Sprintf(" With `%s` also `%s:read`.", r.Field, r.Resource)
			}
		}
	}
	if len(o.Events) > 0 {
		text += "\n\nEmits `" + strings.Join(o.Events, "`, `") + "`."
	}
	return text
}

func responses(o *op.Op, shared op.Schemas) object {
	with := object{"X-Request-ID": ref("headers", "X-Request-ID")}
	limited := object{"X-Request-ID": ref("headers", "X-Request-ID")}
	if !o.Public {
		for _, h := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
			with[h], limited[h] = ref("headers", h), ref("headers", h)
		}
	}
	success := object{"description": http.StatusText(o.Status), "headers": with}
	if o.TakesKey() {
		h := object{"Idempotency-Replay": ref("headers", "Idempotency-Replay")}
		for k, v := range with {
			h[k] = v
		}
		success["headers"] = h
	}
	if s, list := o.OutputSchema(shared); s != nil {
		success["content"] = object{"application/json": object{"schema": envelope(s, list)}}
	}
	out := object{strconv.Itoa(o.Status): success}
	if o.AnswersBytes() {
		success["content"] = bytesOf(o.Media)
		out["206"] = object{"description": "The part that Range asked for.", "headers": with, "content": bytesOf(o.Media)}
		out["304"] = object{"description": "The bytes are those that If-None-Match names.", "headers": with}
	}
	for status, kinds := range o.Faults() {
		headers := with
		switch status {
		case http.StatusUnauthorized:
			headers = object{"X-Request-ID": with["X-Request-ID"]}
		case http.StatusTooManyRequests:
			limited["Retry-After"] = ref("headers", "Retry-After")
			headers = limited
		}
		out[strconv.Itoa(status)] = object{"description": refusalText(kinds), "headers": headers,
			"content": object{"application/json": object{"schema": refusalSchema(kinds), "example": refusalExample(kinds[0])}}}
	}
	return out
}

func bytesOf(media string) object {
	return object{cmp.Or(media, "*/*"): object{"schema": object{"type": "string", "format": "binary"}}}
}

func envelope(s *jsonschema.Schema, list bool) object {
	if !list {
		return object{"type": "object", "required": []string{"data"}, "additionalProperties": false, "properties": object{"data": s}}
	}
	return object{"type": "object", "required": []string{"data", "meta"}, "additionalProperties": false,
		"properties": object{"data": object{"type": "array", "items": s}, "meta": ref("schemas", "PageMeta")}}
}

func refusalText(kinds []*fault.Kind) string {
	var out []string
	for _, k := range kinds {
		out = append(out, fmt.Sprintf("`%s`: %s", k.Code, k.Message))
	}
	return strings.Join(out, "\n\n")
}

// refusalSchema is the shared error with the codes that this place answers.
func refusalSchema(kinds []*fault.Kind) object {
	codes := make([]string, len(kinds))
	for i, k := range kinds {
		codes[i] = k.Code
	}
	details := object{}
	for _, k := range kinds {
		if k == fault.Invalid || k == fault.BadInput {
			details = object{"description": "Where the request is wrong, as a tree that mirrors it.", "anyOf": []object{ref("schemas", "ErrorTree"), {"type": "object"}}}
		}
	}
	return object{"type": "object", "required": []string{"error"}, "additionalProperties": false, "properties": object{
		"error": object{"type": "object", "required": []string{"code", "message"}, "additionalProperties": false, "properties": object{
			"code": object{"type": "string", "enum": codes}, "message": object{"type": "string"}, "details": details}}}}
}

func refusalExample(k *fault.Kind) object {
	e := object{"code": k.Code, "message": k.Message}
	if k == fault.Invalid {
		e["message"] = "firstName: Invalid input: expected string, received number"
		e["details"] = object{"errors": []string{}, "properties": object{"firstName": object{"errors": []string{"Invalid input: expected string, received number"}}}}
	}
	return object{"error": e}
}

func ref(kind, name string) object { return object{"$ref": "#/components/" + kind + "/" + name} }

func headers() object {
	number := object{"type": "integer"}
	return object{
		"X-Request-ID":          object{"description": "Names this request in the logs.", "schema": object{"type": "string", "format": "uuid"}},
		"X-RateLimit-Limit":     object{"description": "Requests per minute on this plan, which is also the burst.", "schema": number},
		"X-RateLimit-Remaining": object{"description": "Requests left after this one.", "schema": number},
		"X-RateLimit-Reset":     object{"description": "Seconds until the allowance is whole again.", "schema": number},
		"Retry-After":           object{"description": "Seconds to wait.", "schema": number},
		"Idempotency-Replay":    object{"description": "The answer of an earlier request with the same key.", "schema": object{"type": "string", "enum": []string{"true"}}},
	}
}

func schemas(shared op.Schemas) object {
	out := object{}
	for name, s := range shared {
		out[name] = s
	}
	text := object{"type": "array", "items": object{"type": "string"}}
	out["ErrorTree"] = object{"type": "object", "required": []string{"errors"}, "additionalProperties": false,
		"description": "The issues at one place of the request, and below it those of an object's fields or of an array's elements (null where an element is fine).",
		"properties": object{"errors": text,
			"properties": object{"type": "object", "additionalProperties": ref("schemas", "ErrorTree")},
			"items":      object{"type": "array", "items": object{"anyOf": []object{ref("schemas", "ErrorTree"), {"type": "null"}}}}}}
	count := object{"type": "integer", "minimum": 0}
	out["PageMeta"] = object{"type": "object", "required": []string{"pagination"}, "additionalProperties": false, "properties": object{
		"pagination": object{"type": "object", "required": []string{"limit", "offset", "hasMore"}, "additionalProperties": false, "properties": object{
			"limit": count, "offset": count,
			"total":   object{"type": "integer", "minimum": 0, "description": "Only where it costs nothing to know."},
			"hasMore": object{"type": "boolean", "description": "Without a total, true whenever the page is full."}}}}}
	return out
}

func sentence(s string) string {
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
