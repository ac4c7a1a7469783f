package mcp

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Records are resources, too: a client can follow the link frontdesk://contacts/{id} without a tool. Reading one is
// the tool that gets the record, with its permission, its short answer, its place in the allowance and its mark for
// the guard.

const resourceScheme = "frontdesk://"

var resourceAddress = regexp.MustCompile(`^frontdesk://([a-z-]+)/([0-9A-Fa-f-]{36})(/text)?$`)

// resourceTemplate is the address of the records that a tool reads, or empty if it reads none by its id.
func (t *tool) resourceTemplate() string {
	rest, ok := strings.CutPrefix(t.op.Path, "/v1/")
	if !ok || !t.reads || !slices.Equal(t.op.PathFields(), []string{"id"}) {
		return ""
	}
	if _, below, _ := strings.Cut(rest, "/{id}"); below == "" || below == "/text" {
		return resourceScheme + rest
	}
	return ""
}

// listTemplates answers resources/templates/list with the kinds of records that the agent may read.
func (d *Door) listTemplates(_ context.Context, q *request) (result, error) {
	shown := []any{}
	for _, t := range d.tools {
		if address := t.resourceTemplate(); address != "" && q.view.includesTool(t, q.login.Caller) {
			shown = append(shown, map[string]string{"uriTemplate": address, "name": t.name,
				"description": t.op.Summary, "mimeType": "application/json"})
		}
	}
	return q.listResult("resourceTemplates", mustEncode(shown))
}

// listResources answers resources/list. Records are found by tools; only the card is a resource by itself.
func (d *Door) listResources(_ context.Context, q *request) (result, error) {
	return q.listResult("resources", mustEncode([]any{map[string]string{"uri": cardAddress, "name": "proposal",
		"description": "A card that shows what waits for a person.", "mimeType": cardType}}))
}

// readResource answers resources/read.
func (d *Door) readResource(ctx context.Context, q *request) (result, error) {
	if q.in.URI == cardAddress {
		return d.readCard(), nil
	}
	missing := func(text string) error {
		code := codeNoResource
		if q.isSessionless() {
			code = codeBadParams
		}
		return &rpcError{code, text, map[string]string{"uri": q.in.URI}}
	}
	parts := resourceAddress.FindStringSubmatch(q.in.URI)
	if parts == nil {
		return nil, missing("There is no such resource. Addresses are like frontdesk://contacts/ID.")
	}
	template := resourceScheme + parts[1] + "/{id}" + parts[3]
	at := slices.IndexFunc(d.tools, func(t *tool) bool {
		return t.resourceTemplate() == template && q.view.includesTool(t, q.login.Caller)
	})
	if at < 0 {
		return nil, missing("There is no such resource, or the agent may not read it.")
	}
	one := *q
	one.in.Name, one.in.Arguments = d.tools[at].name, jsontext.Value(mustEncode(map[string]string{"id": parts[2]}))
	one.view.structured = false
	answer, err := d.callTool(ctx, &one)
	if err != nil {
		return nil, err
	}
	body, _ := answer["structuredContent"].(jsontext.Value)
	if answer["isError"] == true {
		return nil, missing(describeRefusal(body))
	}
	out := result{"contents": []any{map[string]any{"uri": q.in.URI, "mimeType": "application/json",
		"text": string(body)}}}
	if meta := answer["_meta"]; meta != nil {
		out["_meta"] = meta
	}
	return markPrivate(out), nil
}

// describeRefusal is the sentence of a refusal.
func describeRefusal(body []byte) string {
	text, _, _ := strings.Cut(describeBody(body), " See structuredContent.")
	return text
}
