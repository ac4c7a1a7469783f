package docs

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"

	"github.com/google/jsonschema-go/jsonschema"
)

func (c *components) responseObjects(o *op.Op) object {
	out := object{strconv.Itoa(o.Status): c.successResponse(o)}
	if o.MayCreate {
		created := *o
		created.Status = http.StatusCreated
		out[strconv.Itoa(created.Status)] = c.successResponse(&created)
	}
	if o.MayFinishNow {
		done := *o
		done.Status = http.StatusOK
		out[strconv.Itoa(done.Status)] = c.successResponse(&done)
	}
	if o.AnswersBytes() && !o.IsExport() {
		out["206"] = object{
			"description": "The part that Range asked for.",
			"headers":     responseHeaders(o, http.StatusPartialContent),
			"content":     binaryContent(o.MediaType),
		}
		out["304"] = object{
			"description": "The content still matches If-None-Match.",
			"headers":     responseHeaders(o, http.StatusNotModified),
		}
	}
	if o.AnswersVersion() && o.Method == http.MethodGet {
		out["304"] = c.shareComponent("responses", "NotModified", object{
			"description": "It is still the version that If-None-Match names.",
			"headers":     responseHeaders(o, o.Status),
		})
	}
	faults := o.PossibleFaults()
	for _, status := range slices.Sorted(maps.Keys(faults)) {
		out[strconv.Itoa(status)] = c.refusalResponse(o, status, faults[status])
	}
	return out
}

func responseHeaders(o *op.Op, status int) object {
	names := []string{"X-Request-ID"}
	if !o.Public && (status == o.Status || status == http.StatusTooManyRequests) {
		names = append(names, "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
	}
	switch {
	case status == http.StatusTooManyRequests:
		names = append(names, "Retry-After")
	case status == o.Status && o.TakesIdempotencyKey(), status == o.Status && !o.AnswersList() && o.AnswersVersion():
		names = append(names, "Idempotency-Replay") // with gets too, so that they share their answer with actions
	}
	if status == o.Status && o.AnswersVersion() {
		names = append(names, "ETag")
	}
	out := object{}
	for _, name := range names {
		out[name] = componentRef("headers", headerComponent(name))
	}
	return out
}

// headerComponent is the name of a header's component: the last part of the header's
// name, because it is repeated in every response.
func headerComponent(header string) string { return header[strings.LastIndexByte(header, '-')+1:] }

// successResponse is the answer of a successful operation.
func (c *components) successResponse(o *op.Op) any {
	v := object{"description": "Success.", "headers": responseHeaders(o, o.Status)}
	data, list := o.OutputSchema(c.fromTypes)
	switch {
	case o.AnswersBytes():
		v["content"] = binaryContent(o.MediaType)
		return v
	case data == nil:
		return c.shareComponent("responses", "NoContent", v)
	}
	v["content"] = object{"application/json": object{"schema": envelopeSchema(data, list)}}
	if data.Ref == "" {
		return v
	}
	// An answer is named after its data, and what distinguishes it from others with the same data.
	name := data.Ref[strings.LastIndexByte(data.Ref, '/')+1:]
	if o.AnswersList() {
		return c.shareComponent("responses", name+"List", v)
	}
	return c.shareComponent("responses", name+"Answer", v, name+"ActionAnswer")
}

func binaryContent(media string) object {
	return object{cmp.Or(media, "*/*"): object{"schema": object{"type": "string", "format": "binary"}}}
}

func envelopeSchema(data *jsonschema.Schema, list bool) object {
	if !list {
		return object{
			"type": "object", "required": []string{"data"}, "additionalProperties": false,
			"properties": object{"data": data},
		}
	}
	return object{
		"type": "object", "required": []string{"data", "meta"}, "additionalProperties": false,
		"properties": object{"data": object{"type": "array", "items": data},
			"meta": componentRef("schemas", "PageMeta")},
	}
}

// refusalResponse is the response for a status: the shared ApiError, limited to the codes that
// the operation has under this status.
func (c *components) refusalResponse(o *op.Op, status int, kinds []*fault.Kind) any {
	var codes, lines []string
	for _, k := range kinds {
		c.codes[k.Code] = true
		codes = append(codes, k.Code)
		lines = append(lines, fmt.Sprintf("`%s`: %s", k.Code, k.Message))
	}
	// Client generators use the reference; validators also check the codes.
	schema := componentRef("schemas", "ApiError")
	schema["properties"] = object{"error": object{
		"properties":           object{"code": object{"enum": codes}},
		"additionalProperties": true,
	}}
	media := object{"schema": schema}
	if slices.Contains(kinds, fault.Invalid) { // the others are their code and message
		media["example"] = invalidExample
	}
	v := object{
		"description": strings.Join(lines, "\n\n"),
		"headers":     responseHeaders(o, status),
		"content":     object{"application/json": media},
	}
	name := refusalName(kinds)
	if name == "" || o.Public { // a public operation has its own headers
		return v
	}
	return c.shareComponent("responses", name, v, name+strconv.Itoa(status)) // a code may come with several statuses
}

// refusalName names a refusal after its codes, or is empty when they are too
// many for a name.
func refusalName(kinds []*fault.Kind) string {
	var parts []string
	for len(kinds) > 0 {
		part, n := PascalCase(kinds[0].Code), 1
		for name, group := range usualRefusals {
			if len(kinds) >= len(group) && slices.Equal(kinds[:len(group)], group) {
				part, n = name, len(group)
			}
		}
		parts, kinds = append(parts, part), kinds[n:]
	}
	if len(parts) > 3 {
		return ""
	}
	return strings.Join(parts, "Or")
}

// usualRefusals are refusals that nearly every operation has together, under one name.
var usualRefusals = map[string][]*fault.Kind{
	"BadRequest":  {fault.BadInput, fault.Invalid},
	"Forbidden":   {fault.AccountDisabled, fault.AgreementNeeded, fault.Forbidden},
	"Unavailable": {fault.Unavailable, fault.OutcomeUnknown},
}

const invalidIssue = "Invalid input: expected string, received number"

var invalidExample = object{"error": object{
	"code":    fault.Invalid.Code,
	"message": "firstName: " + invalidIssue,
	"details": object{
		"errors":     []string{},
		"properties": object{"firstName": object{"errors": []string{invalidIssue}}},
	},
}}
