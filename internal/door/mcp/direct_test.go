package mcp_test

import (
	"fmt"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// A call that needs no SDK is answered as the SDK answers it. A client that accepts
// anything is always served by the SDK.
func TestDirect(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	_, access, _ := a.Connect(t, a.Tenant, a.NewAgent(t, a.Tenant, "read"))
	session := a.Initialize(t, access)
	contact := a.Send(t, a.Key, "POST", "/v1/contacts", `{"firstName": "<Ada> & \u00e9"}`).OK(t, 201).Text("id")
	const begins = `{"jsonrpc": "2.0", "id": "seven", "method": "tools/call", "params": `
	get := fmt.Sprintf(`{"id": %q}`, contact)
	for what, params := range map[string]string{
		"a record":             `{"name": "contacts_get", "arguments": ` + get + `}`,
		"a progress token":     `{"_meta": {"progressToken": 1}, "name": "contacts_get", "arguments": ` + get + `}`,
		"no such record":       fmt.Sprintf(`{"name": "contacts_get", "arguments": {"id": %q}}`, id.New()),
		"a list":               `{"name": "contacts_list"}`,
		"null for arguments":   `{"name": "contacts_list", "arguments": null}`,
		"wrong arguments":      `{"name": "contacts_list", "arguments": ["x"]}`,
		"an unknown field":     `{"name": "contacts_list", "arguments": {"nope": 1}}`,
		"no such tool":         `{"name": "contacts_fly"}`,
		"a tool of others":     `{"name": "invoices_list"}`,
		"no name":              `{"arguments": {}}`,
		"a number for a name":  `{"name": 5}`,
		"a name with escapes":  `{"name": "contacts\u005flist"}`,
		"a member of no use":   `{"name": "contacts_list", "more": 1}`,
		"a state that is none": `{"name": "contacts_list", "requestState": "x"}`,
		"no object":            `[]`,
		"null":                 `null`,
	} {
		ask := func(accept string) apptest.Result {
			return a.RPC(t, access, begins+params+`}`, append([]string{"Accept", accept}, session...)...)
		}
		direct, sdk := ask("application/json, text/event-stream"), ask("*/*")
		if direct.Status != sdk.Status || direct.Parse(t).String() != sdk.Parse(t).String() {
			t.Errorf("%s: %d %s, the SDK: %d %s", what, direct.Status, direct.Body, sdk.Status, sdk.Body)
		}
		for _, r := range []apptest.Result{direct, sdk} {
			if got := r.Header.Get("Content-Type"); got != "application/json" {
				t.Errorf("%s: Content-Type %q", what, got)
			}
		}
	}
}
