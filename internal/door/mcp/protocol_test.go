package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// The codes of refusals.
const (
	invalid    = -32600
	noMethod   = -32601
	badParams  = -32602
	mismatch   = -32020
	noVersion  = -32022
	unreadable = -32700
)

// rpc is a message; params may be empty.
func rpc(method, params string) string {
	if params != "" {
		params = `, "params": ` + params
	}
	return fmt.Sprintf(`{"jsonrpc": "2.0", "id": 7, "method": %q%s}`, method, params)
}

// answered asserts how a message was answered: with a refusal of this code, or with a
// result if it is 0.
func answered(t *testing.T, what string, r apptest.Result, status, code int) {
	t.Helper()
	v := r.ParseJSON(t)
	if r.Status != status || r.Header.Get("Content-Type") != "application/json" || v.Text("jsonrpc") != "2.0" ||
		code == 0 && (v.At("result").Null() || !v.At("error").Null()) ||
		code != 0 && (v.Number("error.code") != float64(code) || v.Text("error.message") == "") {
		t.Errorf("%s: %d %s %s, want %d and %d", what, r.Status, r.Header.Get("Content-Type"), r.Body, status, code)
	}
}

// Calls come in many forms. Each is answered alike, whatever else the client accepts
// and whether it has a session.
func TestCallForms(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	_, access, _ := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "read"))
	session := a.InitializeSession(t, access)
	contact := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "<Ada> & \u00e9"}`).OK(t, 201).Text("id")
	get := fmt.Sprintf(`{"id": %q}`, contact)
	const begins = `{"jsonrpc": "2.0", "id": "seven", "method": "tools/call", "params": `
	const ada = "<Ada> & é"
	for _, c := range []struct {
		what, params string
		status, code int    // 200, and 0 for a result
		at, want     string // in the result
	}{
		{"a record", `{"name": "contacts_get", "arguments": ` + get + `}`, 200, 0, "data.firstName", ada},
		{"a progress token", `{"_meta": {"progressToken": 1}, "name": "contacts_get", "arguments": ` + get + `}`,
			200, 0, "data.firstName", ada},
		{"no such record", fmt.Sprintf(`{"name": "contacts_get", "arguments": {"id": %q}}`, id.New()), 200, 0,
			"error.code", "NOT_FOUND"},
		{"a list", `{"name": "contacts_list"}`, 200, 0, "data.0.firstName", ada},
		{"null for arguments", `{"name": "contacts_list", "arguments": null}`, 200, 0, "data.0.firstName", ada},
		{"null for _meta", `{"name": "contacts_list", "_meta": null}`, 200, 0, "data.0.firstName", ada},
		{"wrong arguments", `{"name": "contacts_list", "arguments": ["x"]}`, 200, 0, "error.code", "VALIDATION_ERROR"},
		{"an unknown field", `{"name": "contacts_list", "arguments": {"nope": 1}}`, 200, 0,
			"error.code", "VALIDATION_ERROR"},
		{"no such tool", `{"name": "contacts_fly"}`, 200, badParams, "", ""},
		{"a tool of others", `{"name": "invoices_send"}`, 200, badParams, "", ""},
		{"no name", `{"arguments": {}}`, 200, badParams, "", ""},
		{"a name in capitals", `{"Name": "contacts_list"}`, 200, badParams, "", ""},
		{"a number for a name", `{"name": 5}`, 200, badParams, "", ""},
		{"a number for _meta", `{"name": "contacts_list", "_meta": 5}`, 200, badParams, "", ""},
		{"a name with escapes", `{"name": "contacts\u005flist"}`, 200, 0, "data.0.firstName", ada},
		{"a member of no use", `{"name": "contacts_list", "more": 1}`, 200, 0, "data.0.firstName", ada},
		{"a state that is none", `{"name": "contacts_list", "requestState": "x"}`, 200, 0, "data.0.firstName", ada},
		{"no object", `[]`, 200, badParams, "", ""},
		{"null", `null`, 400, invalid, "", ""},
	} {
		for _, accept := range []string{"application/json, text/event-stream", "*/*", "text/*;q=0.1,Application/*"} {
			for _, headers := range [][]string{session, nil} {
				r := a.SendRPC(t, access, begins+c.params+`}`, append([]string{"Accept", accept}, headers...)...)
				answered(t, c.what, r, c.status, c.code)
				v := r.ParseJSON(t)
				v.Same("id", "seven")
				if c.at == "" {
					continue
				}
				v.At("result.structuredContent").Same(c.at, c.want)
				if failed := c.at == "error.code"; failed != (v.At("result.isError").String() == "true") {
					t.Errorf("%s: %s", c.what, r.Body)
				}
				text := v.Text("result.content.0.text")
				if !strings.Contains(string(r.Body), `"structuredContent":`+text+`}`) {
					t.Errorf("%s: the text is %s", c.what, text)
				}
			}
		}
	}
}

// Methods are there or not by the version that a client speaks.
func TestMethods(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	_, access, _ := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "read"))
	session := a.InitializeSession(t, access)
	const sessionless = "2026-07-28"
	for _, c := range []struct {
		method, params        string
		with, without         int // its codes in the versions with sessions, and without
		withCode, withoutCode int
	}{
		{"ping", "{", 200, 404, 0, noMethod},
		{"logging/setLevel", `{"level": "info", `, 200, 404, 0, noMethod},
		{"initialize", `{"protocolVersion": "2025-11-25", `, 200, 404, 0, noMethod},
		{"server/discover", "{", 200, 200, noMethod, 0},
		{"tools/list", "{", 200, 200, 0, 0},
		{"tools/list", `{"cursor": "", `, 200, 200, 0, 0},
		{"tools/list", `{"cursor": "x", `, 200, 400, badParams, badParams},
		{"prompts/list", "{", 200, 200, 0, 0},
		{"resources/list", "{", 200, 200, 0, 0},
		{"resources/templates/list", "{", 200, 200, 0, 0},
		{"resources/subscribe", `{"uri": "x", `, 200, 404, noMethod, noMethod},
		{"subscriptions/listen", "{", 200, 404, noMethod, noMethod},
		{"notifications/initialized", "{", 200, 404, noMethod, noMethod}, // it has an id
		{"nope", "{", 200, 404, noMethod, noMethod},
	} {
		params := strings.TrimSuffix(c.params, ", ") + "}"
		for _, headers := range [][]string{session, nil} {
			answered(t, c.method, a.SendRPC(t, access, rpc(c.method, params), headers...), c.with, c.withCode)
		}
		meta := `"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", ` +
			`"io.modelcontextprotocol/clientCapabilities": {}}}`
		r := a.SendRPC(t, access, rpc(c.method, c.params+meta), "Mcp-Protocol-Version", sessionless, "Mcp-Method",
			c.method)
		answered(t, c.method+" without a session", r, c.without, c.withoutCode)
		if c.withoutCode == 0 {
			v := r.ParseJSON(t).At("result")
			v.Same("resultType", "complete")
			v.Same("cacheScope", "private")
			if !strings.Contains(string(r.Body), `"io.modelcontextprotocol/serverInfo":{"name":"frontdesk"`) {
				t.Errorf("%s: who answers? %s", c.method, r.Body[:min(len(r.Body), 300)])
			}
		}
	}
}

// What is not answered, and what is refused before a method is looked for.
func TestMessageForms(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	_, access, _ := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "read"))
	session := a.InitializeSession(t, access)
	for _, message := range []string{
		`{"jsonrpc": "2.0", "method": "notifications/initialized"}`,
		`{"jsonrpc": "2.0", "id": null, "method": "notifications/cancelled", "params": {"requestId": 1}}`,
		`{"jsonrpc": "2.0", "method": "notifications/of/tomorrow"}`,
		`{"jsonrpc": "2.0", "id": 7, "result": {}}`,
		`{"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "x"}}`,
	} {
		if r := a.SendRPC(t, access, message, session...); r.Status != 202 || len(r.Body) > 0 {
			t.Errorf("%s: %d %s", message, r.Status, r.Body)
		}
	}
	for message, code := range map[string]int{
		`{"jsonrpc": "2.0", "method": "ping"}`:             invalid,
		`{"jsonrpc": "2.0", "id": null, "method": "ping"}`: invalid,
		`{"jsonrpc": "2.0", "result": {}}`:                 invalid,
		`{"jsonrpc": "2.1", "id": 7, "method": "ping"}`:    invalid,
		`{"id": 7, "method": "ping"}`:                      invalid,
		`{"jsonrpc": 2.0, "id": 7, "method": "ping"}`:      unreadable,
		`{"jsonrpc": "2.0", "id": 7, "method": ""}`:        unreadable,
		`{"jsonrpc": "2.0", "id": true, "method": "ping"}`: unreadable,
	} {
		answered(t, message, a.SendRPC(t, access, message, session...), 400, code)
	}
	for what, c := range map[string]struct {
		headers []string
		status  int
	}{
		"no type":        {[]string{"Content-Type", ""}, 415},
		"a form":         {[]string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		"with a charset": {[]string{"Content-Type", "Application/JSON; charset=utf-8"}, 200},
		"no stream":      {[]string{"Accept", "application/json"}, 400},
		"no JSON":        {[]string{"Accept", "text/event-stream"}, 400},
		"an old version": {[]string{"Mcp-Protocol-Version", "1999-01-01"}, 400},
		"no version":     {[]string{"Mcp-Protocol-Version", ""}, 200},
	} {
		code := invalid
		if c.status == 200 {
			code = 0
		}
		answered(t, what, a.SendRPC(t, access, ping, append(session, c.headers...)...), c.status, code)
	}
	// A batch is answered in its order, without its notifications.
	batch := "[" + ping + `, {"jsonrpc": "2.0", "method": "notifications/initialized"}, ` +
		strings.Replace(call("me_get", "{}"), "7", "8", 1) + `, {"jsonrpc": "2.0", "id": 9, "method": "nope"}]`
	for _, version := range []string{"", "2025-03-26", "2024-11-05"} {
		r := a.SendRPC(t, access, batch, append(session, "Mcp-Protocol-Version", version)...)
		v := r.ParseJSON(t)
		if r.Status != 200 || v.Len() != 3 || v.Number("0.id") != 7 || v.At("0.result").Null() ||
			v.Number("1.id") != 8 || v.At("1.result").Null() || v.Number("2.error.code") != noMethod {
			t.Errorf("a batch in %q: %d %s", version, r.Status, r.Body)
		}
	}
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		answered(t, "a batch in "+version, a.SendRPC(t, access, batch,
			append(session, "Mcp-Protocol-Version", version)...), 400, invalid)
	}
}

// Without sessions, a call says its version and what its client can do, and its headers
// say the same as its body.
func TestHeadersAndBodyAgree(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	_, access, _ := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "read"))
	const now = "2026-07-28"
	meta := func(version, more string) string {
		return fmt.Sprintf(`{"name": "me_get", "_meta": {"io.modelcontextprotocol/protocolVersion": %q%s}}`,
			version, more)
	}
	const can = `, "io.modelcontextprotocol/clientCapabilities": {}`
	for _, c := range []struct {
		what, version, method, name, params string
		status, code                        int
	}{
		{"right", now, "tools/call", "me_get", meta(now, can), 200, 0},
		{"nothing in the body", now, "tools/call", "me_get", `{"name": "me_get"}`, 400, badParams},
		{"nothing in the header", "", "tools/call", "me_get", meta(now, can), 400, mismatch},
		{"another version", "2025-11-25", "tools/call", "me_get", meta(now, can), 400, mismatch},
		{"a version with sessions", "2025-11-25", "", "", meta("2025-11-25", ""), 200, 0},
		{"a version of tomorrow", "2027-01-01", "tools/call", "me_get", meta("2027-01-01", can), 400, noVersion},
		{"no method", now, "", "me_get", meta(now, can), 400, mismatch},
		{"another method", now, "tools/list", "me_get", meta(now, can), 400, mismatch},
		{"no name", now, "tools/call", "", meta(now, can), 400, mismatch},
		{"another name", now, "tools/call", "contacts_list", meta(now, can), 400, mismatch},
		{"a client that can nothing", now, "tools/call", "me_get", meta(now, ""), 400, badParams},
		{"capabilities of no form", now, "tools/call", "me_get",
			meta(now, `, "io.modelcontextprotocol/clientCapabilities": {"elicitation": 5}`), 400, badParams},
	} {
		r := a.SendRPC(t, access, rpc("tools/call", c.params), "Mcp-Protocol-Version", c.version, "Mcp-Method",
			c.method, "Mcp-Name", c.name)
		answered(t, c.what, r, c.status, c.code)
		if c.code == noVersion {
			v := r.ParseJSON(t).At("error.data")
			v.Same("requested", "2027-01-01")
			v.Same("supported.0", now)
			v.Same("supported.4", "2024-11-05")
		}
	}
}

// A call that a person must decide shows a client that can show it the address. The
// version with sessions has a refusal for it, the one without asks for a second try.
func TestShowsAddress(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	agent := a.NewAgent(t, a.Tenant, "all")
	_, access, _ := a.ConnectAgent(t, a.Tenant, agent)
	a.AsOperator(t, "agents.set_permissions", "agent", agent,
		fmt.Sprintf(`{"id": %q, "permissions": {"contacts.delete": "ask"}}`, agent))
	a.AsOperator(t, "agents.configure", "agent", agent, fmt.Sprintf(`{"id": %q, "askMode": "propose"}`, agent))
	contact := func() string {
		return a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Bob"}`).OK(t, 201).Text("id")
	}
	const shows, pending = `{"elicitation": {"url": {}}}`, "pending_approval"
	for _, capabilities := range []string{`{}`, `{"elicitation": {}}`, shows} {
		init := a.SendRPC(t, access, rpc("initialize",
			`{"protocolVersion": "2025-11-25", "capabilities": `+capabilities+`}`))
		session := []string{"Mcp-Session-Id", init.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", "2025-11-25"}
		del := call("contacts_delete", fmt.Sprintf(`{"id": %q}`, contact()))
		first := a.SendRPC(t, access, del, session...)
		if capabilities == shows {
			show := failed(t, "with a session", first, -32042).At("elicitations.0")
			show.Same("mode", "url")
			if show.Text("url") == "" || show.Text("elicitationId") == "" || show.Text("message") == "" {
				t.Errorf("%s", first.Body)
			}
			first = a.SendRPC(t, access, del, session...)
		}
		fine(t, capabilities, first).Same("structuredContent.status", pending)

		id := contact()
		try := func(id, more string) apptest.Result {
			return a.SendRPC(t, access, rpc("tools/call", fmt.Sprintf(
				`{"name": "contacts_delete", "arguments": {"id": %q}, %s"_meta": {`+
					`"io.modelcontextprotocol/protocolVersion": "2026-07-28", `+
					`"io.modelcontextprotocol/clientCapabilities": %s}}`, id, more, capabilities)),
				"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "contacts_delete")
		}
		v := fine(t, capabilities, try(id, ""))
		if capabilities != shows {
			v.Same("resultType", "complete")
			v.Same("structuredContent.status", pending)
			continue
		}
		v.Same("resultType", "input_required")
		v.Same("inputRequests.approval.method", "elicitation/create")
		v.Same("inputRequests.approval.params.mode", "url")
		state := fmt.Sprintf(`"requestState": %q, "inputResponses": {"approval": {"action": "accept"}}, `,
			v.Text("requestState"))
		second := fine(t, "the second try", try(id, state))
		second.Same("resultType", "complete")
		second.Same("structuredContent.status", pending)
		for what, r := range map[string]apptest.Result{"another's state": try(contact(), state),
			"no state": try(id, `"requestState": "AAAA", `), "no text": try(id, `"requestState": "\u0001\"", `)} {
			answered(t, what, r, 400, badParams)
		}
	}
}
