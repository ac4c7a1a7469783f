package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/secret"
)

const (
	ping = `{"jsonrpc": "2.0", "id": 7, "method": "ping"}`
	list = `{"jsonrpc": "2.0", "id": 7, "method": "tools/list"}`
)

func call(tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": %q, "arguments": %s}}`,
		tool, arguments)
}

// failed asserts a JSON-RPC error with HTTP success, and returns its data.
func failed(t *testing.T, what string, r apptest.Result, code int) apptest.Value {
	t.Helper()
	v := r.ParseJSON(t)
	if r.Status != 200 || v.Number("error.code") != float64(code) || v.Number("id") != 7 ||
		v.Text("jsonrpc") != "2.0" ||
		v.Text("error.message") == "" {
		t.Errorf("%s: %d %s, want %d", what, r.Status, r.Body, code)
	}
	return v.At("error.data")
}

// fine asserts a result.
func fine(t *testing.T, what string, r apptest.Result) apptest.Value {
	t.Helper()
	v := r.ParseJSON(t)
	if r.Status != 200 || v.At("result").Null() {
		t.Fatalf("%s: %d %s", what, r.Status, r.Body)
	}
	return v.At("result")
}

// names are the tools of a list, separated by spaces.
func names(v apptest.Value) string {
	var out []string
	for i := range v.At("tools").Len() {
		out = append(out, v.Text(fmt.Sprintf("tools.%d.name", i)))
	}
	return " " + strings.Join(out, " ") + " "
}

func TestUnauthorized(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		_, access, refresh := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "all"))
		metadata := a.Settings.MCPURL + "/.well-known/oauth-protected-resource/mcp"
		for what, header := range map[string]string{"none": "", "basic": "Basic " + access, "empty": "Bearer ",
			"typo": "Bearer " + access[:len(access)-1] + "!", "unknown": "Bearer " + secret.NewToken("fda_"),
			"a refresh token": "Bearer " + refresh, "an API key": "Bearer " + a.Key} {
			headers := []string{"Content-Type", "application/json"}
			if header != "" {
				headers = append(headers, "Authorization", header)
			}
			r := a.Agents(t, http.MethodPost, "/mcp", ping, headers...)
			v := r.ParseJSON(t)
			w := r.Header.Get("WWW-Authenticate")
			if r.Status != 401 || v.Text("error") != "invalid_token" || v.Text("error_description") == "" ||
				r.Header.Get("Content-Type") != "application/json" ||
				!strings.HasPrefix(w, "Bearer ") || !strings.Contains(w, `resource_metadata="`+metadata+`"`) ||
				!strings.Contains(w, `scope="mcp offline_access"`) {
				t.Errorf("%s: %d %s %s", what, r.Status, w, r.Body)
			}
		}
		if r := a.Agents(t, http.MethodPost, "/mcp", ping, "Authorization", "bearer "+access, "Content-Type",
			"application/json", "Accept", "*/*"); r.Status != 200 {
			t.Errorf("%d %s", r.Status, r.Body)
		}
		// An access token is not an API key.
		a.SendREST(t, access, http.MethodGet, "/v1/contacts", "").Refused(t, 401, "UNAUTHORIZED")
	})
}

// An hour later the token has expired, and a refresh continues the connection.
func TestExpiry(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		client, access, refresh := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "all"))
		age := func(table, where string) {
			t.Helper()
			err := a.DB.Write(context.Background(), func(ctx context.Context, tx *db.Tx) error {
				_, err := db.Exec(ctx, tx, "UPDATE "+table+" SET expires_at = $1 WHERE "+where, a.Clock.Now())
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		age("grant_tokens", "kind = 'access'")
		if r := a.SendRPC(t, access, ping); r.Status != 401 {
			t.Errorf("an expired token: %d %s", r.Status, r.Body)
		}
		v := a.RedeemToken(t, client, "refresh_token", refresh).ParseJSON(t)
		fine(t, "after the refresh", a.SendRPC(t, v.Text("access_token"), ping))
		age("grant_tokens", "kind = 'refresh'")
		if r := a.RedeemToken(t, client, "refresh_token", v.Text("refresh_token")); r.Status != 400 {
			t.Errorf("an expired refresh token: %d", r.Status)
		}
		code := a.Code(t, client, a.OwnerID, a.NewAgent(t, a.Tenant, "all"))
		age("grant_codes", "used_at IS NULL")
		if r := a.RedeemToken(t, client, "authorization_code", code); r.Status != 400 {
			t.Errorf("an expired code: %d %s", r.Status, r.Body)
		}
	})
}

// Permissions apply from the next request on, even inside an open session.
func TestPermissions(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent := a.NewAgent(t, a.Tenant, "read")
		_, access, _ := a.ConnectAgent(t, a.Tenant, agent)
		session := a.InitializeSession(t, access)
		set := func(cell, level string) {
			a.AsOperator(t, "agents.set_permissions", "agent", agent,
				fmt.Sprintf(`{"id": %q, "permissions": {%q: %q}}`, agent, cell, level))
		}
		has := func(tool string) bool {
			t.Helper()
			return strings.Contains(names(fine(t, "list", a.SendRPC(t, access, list, session...))), " "+tool+" ")
		}
		if !has("contacts_list") || !has("me_get") || has("contacts_create") || has("contacts_delete") {
			t.Error("the list of a read-only agent")
		}
		failed(t, "not allowed", a.SendRPC(t, access, call("contacts_create", `{"firstName": "A"}`), session...),
			-32602)
		unknown := a.SendRPC(t, access, call("nothing_create", `{}`), session...)
		failed(t, "unknown", unknown, -32602)
		if !strings.Contains(string(unknown.Body), "Unknown tool") {
			t.Errorf("%s", unknown.Body)
		}
		set("contacts.create", "allow")
		if !has("contacts_create") {
			t.Error("an allowed tool is not listed")
		}
		fine(t, "allowed", a.SendRPC(t, access, call("contacts_create", `{"firstName": "A"}`), session...))
		for _, level := range []string{"ask", "deny"} {
			set("contacts.create", level)
			if has("contacts_create") {
				t.Errorf("%s: the tool is listed", level)
			}
			failed(t, level, a.SendRPC(t, access, call("contacts_create", `{"firstName": "B"}`), session...), -32602)
		}
		// A tool that also needs the right to read is listed only with both.
		set("domains.create", "allow")
		if !has("domains_register") {
			t.Error("an allowed order is not listed")
		}
		set("domains.read", "ask")
		if has("domains_register") || has("domains_search") {
			t.Error("tools are listed that every call of refuses")
		}
		failed(t, "an order without seeing",
			a.SendRPC(t, access, call("domains_register", `{"domain": "a.com"}`), session...),
			-32602)
		set("contacts.read", "deny")
		failed(t, "reading", a.SendRPC(t, access, call("contacts_list", `{}`), session...), -32602)
		if n := a.SendREST(t, a.Key, http.MethodGet, "/v1/contacts", "").OK(t, 200).Len(); n != 1 {
			t.Errorf("%d contacts", n)
		}
		for _, tool := range []string{"api_keys_create", "agents_create", "agreements_accept",
			"payment_methods_create_test",
			"organizations_update"} {
			failed(t, tool, a.SendRPC(t, access, call(tool, `{}`), session...), -32602)
		}
	})
}

// A disabled account and a missing agreement: 403 for a new connection, the
// envelope inside an open one, ping always, and afterwards everything works
// again.
func TestGates(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		a := apptest.StartWith(t, s)
		client, access, refresh := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "all"))
		session := a.InitializeSession(t, access)
		org := func(status string) {
			a.AsOperator(t, "organizations.update", "organization", a.Org, fmt.Sprintf(`{"status": %q}`, status))
		}
		user := func(verb string) {
			a.AsOperator(t, "users."+verb, "", "", fmt.Sprintf(`{"email": %q}`, a.Owner))
		}
		write := func(statement string, args ...any) {
			t.Helper()
			err := a.DB.Write(context.Background(), func(ctx context.Context, tx *db.Tx) error {
				_, err := db.Exec(ctx, tx, statement, args...)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			what       string
			shut, open func()
			code       int
			name, url  string
		}{
			{"organization", func() { org("disabled") }, func() { org("active") }, -32010, "account_disabled", ""},
			{"user", func() { user("disable") }, func() { user("enable") }, -32010, "account_disabled", ""},
			{"membership", func() { write("UPDATE memberships SET deleted_at = 1 WHERE organization_id = $1", a.Org) },
				func() { write("UPDATE memberships SET deleted_at = NULL WHERE organization_id = $1", a.Org) },
				-32010, "account_disabled", ""},
			{"agreement", func() { write("UPDATE agreements SET version = 'old' WHERE organization_id = $1", a.Org) },
				func() {
					a.AsOperator(t, "agreements.accept", "business", a.Business,
						fmt.Sprintf(`{"businessId": %q, "kind": "business", "by": %q}`, a.Business, a.Owner))
				}, -32011, "business_agreement_required", a.Settings.BaseURL + "/agreements"},
		} {
			c.shut()
			for what, message := range map[string]string{"list": list, "call": call("contacts_list", `{}`),
				"unknown method":   `{"jsonrpc": "2.0", "id": 7, "method": "nope/nope"}`,
				"malformed params": `{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": 5}}`,
				"initialize":       `{"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {}}`,
				"a disguise":       `{"jsonrpc": "2.0", "id": 7, "Method": "ping", "method": "tools/list"}`,
				"another":          `{"jsonrpc": "2.0", "id": 7, "method": "tools/list", "METHOD": "ping"}`} {
				data := failed(t, c.what+": "+what, a.SendRPC(t, access, message, session...), c.code)
				if data.Text("url") != c.url {
					t.Errorf("%s: %s: data %s", c.what, what, data)
				}
			}
			if r := a.SendRPC(t, access, `{"jsonrpc": "2.0", "id": 7, "method": "tools/list", "method": "ping"}`,
				session...); r.Status != 400 {
				t.Errorf("%s: a member twice: %d %s", c.what, r.Status, r.Body)
			}
			if r := a.SendRPC(t, access,
				`{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}`,
				session...); r.Status != 202 {
				t.Errorf("%s: a notification: %d %s", c.what, r.Status, r.Body)
			}
			fine(t, c.what+": ping", a.SendRPC(t, access, ping, session...))
			batch := a.SendRPC(t, access, "["+ping+","+strings.Replace(list, "7", "8", 1)+"]",
				session[:2]...).ParseJSON(t)
			if batch.Len() != 2 || batch.Number("1.error.code") != float64(c.code) || batch.At("0.result").Null() {
				t.Errorf("%s: batch: %s", c.what, batch)
			}
			for _, message := range []string{ping, list,
				`{"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {}}`} {
				r := a.SendRPC(t, access, message)
				v := r.ParseJSON(t)
				if r.Status != 403 || r.Header.Get("WWW-Authenticate") != "" || v.Text("error") != c.name ||
					v.Text("error_description") == "" || v.Text("url") != c.url {
					t.Errorf("%s: a new connection: %d %v %s", c.what, r.Status, r.Header, r.Body)
				}
			}
			// Refreshing works in the meantime.
			v := a.RedeemToken(t, client, "refresh_token", refresh).ParseJSON(t)
			access, refresh = v.Text("access_token"), v.Text("refresh_token")
			c.open()
			fine(t, c.what+": open again", a.SendRPC(t, access, list, session...))
			fine(t, c.what+": a new connection", a.SendRPC(t, access, list))
		}
	})
}

func TestAllowance(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		s.AgentLimit.Free = 2 // one comes back after half a minute
		a := apptest.StartWith(t, s)
		v := a.NewTenant(t, "free")
		_, access, _ := a.ConnectAgent(t, v, a.NewAgent(t, v, "all"))
		_, second, _ := a.ConnectAgent(t, v, a.NewAgent(t, v, "read"))
		session := a.InitializeSession(t, access)
		for range 20 { // only calls count
			fine(t, "list", a.SendRPC(t, access, list, session...))
		}
		for i := range 2 {
			// one allowance per organization
			fine(t, "call", a.SendRPC(t, []string{access, second}[i%2], call("me_get", `{}`)))
		}
		r := a.SendRPC(t, access, call("me_get", `{}`), session...)
		data := failed(t, "throttled", r, -32004)
		if n := data.Number("retryAfter"); n < 1 || n > 30 {
			t.Errorf("%s", r.Body)
		}
		for name := range r.Header {
			if strings.HasPrefix(strings.ToLower(name), "x-ratelimit") {
				t.Errorf("the header %s", name)
			}
		}
		meta := `"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", ` +
			`"io.modelcontextprotocol/clientInfo": ` +
			`{"name": "c", "version": "1"}, "io.modelcontextprotocol/clientCapabilities": {}}`
		failed(t, "without sessions",
			a.SendRPC(t, access,
				`{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "me_get", "arguments": {}, `+
					meta+`}}`,
				"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "me_get"), -32004)
		fine(t, "ping", a.SendRPC(t, access, ping, session...))
		a.SendREST(t, v.Key, http.MethodGet, "/v1/me", "").OK(t, 200) // another allowance
	})
}

func TestBackstop(t *testing.T) {
	s := apptest.Settings(t, db.SQLite)
	s.AgentLimit.Transport = 2 // one comes back after half a minute
	a := apptest.StartWith(t, s)
	agent := a.NewAgent(t, a.Tenant, "all")
	_, access, _ := a.ConnectAgent(t, a.Tenant, agent)
	_, other, _ := a.ConnectAgent(t, a.Tenant, agent)
	for range 2 {
		fine(t, "ping", a.SendRPC(t, access, ping))
	}
	r := a.SendRPC(t, access, ping)
	v := r.ParseJSON(t)
	wait := v.Number("error.data.retryAfter")
	if r.Status != 429 || wait < 1 || wait > 30 || r.Header.Get("Retry-After") != fmt.Sprint(wait) ||
		v.Number("error.code") != -32004 || v.Number("id") != 7 || v.Text("jsonrpc") != "2.0" {
		t.Errorf("%d %v %s", r.Status, r.Header, r.Body)
	}
	if r := a.Agents(t, http.MethodGet, "/mcp", "", "Authorization", "Bearer "+access); r.Status != 429 {
		t.Errorf("GET: %d", r.Status)
	}
	fine(t, "another client", a.SendRPC(t, other, ping))
}

// A token is for one audience: after the service moves, agents need consent
// again.
func TestAudience(t *testing.T) {
	s := apptest.Settings(t, db.SQLite)
	s.MCPURL = "http://agents.example.com"
	var client, access, refresh string
	t.Run("before", func(t *testing.T) {
		a := apptest.StartWith(t, s)
		client, access, refresh = a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "all"))
		fine(t, "before", a.SendRPC(t, access, ping))
	})
	t.Run("after", func(t *testing.T) {
		s.MCPURL = "http://elsewhere.example.com"
		a := apptest.StartWith(t, s)
		if r := a.SendRPC(t, access, ping); r.Status != 401 {
			t.Errorf("%d %s", r.Status, r.Body)
		}
		if r := a.RedeemToken(t, client, "refresh_token", refresh); r.Status != 400 {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	})
}

func TestProtocolVersions(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	_, access, _ := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "all"))
	for asked, want := range map[string]string{"2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2025-03-26": "2025-03-26", "2024-11-05": "2024-11-05", "1999-01-01": "2025-11-25"} {
		r := a.SendRPC(t, access, `{"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {"protocolVersion": "`+
			asked+
			`", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}`)
		v := fine(t, asked, r)
		v.Same("protocolVersion", want)
		v.Same("serverInfo.name", "frontdesk")
		told := v.Text("instructions") // about four bytes are a token, and it may have 350
		if !strings.Contains(told, "idempotencyKey") || len(told) > 1400 || r.Header.Get("Mcp-Session-Id") == "" ||
			r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v %s", asked, r.Header, r.Body)
		}
		fine(t, asked, a.SendRPC(t, access, list, "Mcp-Session-Id", r.Header.Get("Mcp-Session-Id"),
			"Mcp-Protocol-Version", want))
	}
	meta := `"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", ` +
		`"io.modelcontextprotocol/clientInfo": ` +
		`{"name": "c", "version": "1"}, "io.modelcontextprotocol/clientCapabilities": {}}`
	now := func(method, params string, more ...string) apptest.Result {
		return a.SendRPC(t, access, `{"jsonrpc": "2.0", "id": 7, "method": "`+method+`", "params": {`+params+meta+`}}`,
			append([]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}, more...)...)
	}
	r := now("tools/list", "")
	fine(t, "2026-07-28", r).Same("cacheScope", "private")
	if r.Header.Get("Mcp-Session-Id") != "" {
		t.Error("a session where there are none")
	}
	fine(t, "call", now("tools/call", `"name": "me_get", "arguments": {}, `, "Mcp-Name",
		"me_get")).Same("structuredContent.data.actorKind", "agent")
	fine(t, "discover", now("server/discover", ""))
	if r := now("subscriptions/listen", ""); r.Status != 404 || r.ParseJSON(t).Number("error.code") != -32601 {
		t.Errorf("listen: %d %s", r.Status, r.Body)
	}
	for _, body := range []string{"", "{", "[]", "1", `{"jsonrpc": "2.0"}x`,
		"[" + strings.Repeat(ping+",", 20) + ping + "]", `{"id": {}, "method": "ping"}`,
		`{"id": "\ud800", "method": "ping"}`, "{\"id\": \"\xff\", \"method\": \"ping\"}", `{"id": 1, "method": 5}`} {
		if r := a.SendRPC(t, access, body); r.Status != 400 {
			t.Errorf("%.40s: %d %s", body, r.Status, r.Body)
		}
	}
	if r := a.SendRPC(t, access, `"`+strings.Repeat("x", 2<<20)+`"`); r.Status != 413 {
		t.Errorf("two megabytes: %d", r.Status)
	}
	// A page whose name was pointed at this machine.
	if r := a.SendRPC(t, access, ping, "Host", "evil.example.com"); r.Status != 403 {
		t.Errorf("a foreign host: %d %s", r.Status, r.Body)
	}
	fine(t, "localhost", a.SendRPC(t, access, ping, "Host", "localhost:1234"))
	if strings.Contains(a.Logs.String(), "level=ERROR") {
		t.Error("something failed inside")
	}
}

// Events name the agent that acted, and the key's rules are REST's.
func TestCalls(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent := a.NewAgent(t, a.Tenant, "all")
		_, access, _ := a.ConnectAgent(t, a.Tenant, agent)
		session := a.InitializeSession(t, access)
		do := func(tool, arguments string) apptest.Value {
			t.Helper()
			return fine(t, tool, a.SendRPC(t, access, call(tool, arguments), session...))
		}
		made := do("contacts_create", `{"firstName": "Ada", "idempotencyKey": "one"}`)
		again := do("contacts_create", `{"idempotencyKey": "one", "firstName": "Ada"}`)
		again.Same("structuredContent.data.id", made.Text("structuredContent.data.id"))
		again.Same("_meta.idempotencyReplay", true)
		for arguments, code := range map[string]string{
			`{"firstName": "Bob", "idempotencyKey": "one"}`:                              "IDEMPOTENCY_KEY_REUSED",
			`{"firstName": "Bob", "idempotencyKey": ""}`:                                 "INVALID_INPUT",
			`{"firstName": "Bob", "idempotencyKey": "` + strings.Repeat("x", 256) + `"}`: "INVALID_INPUT",
			`{"firstName": "Bob", "idempotencyKey": 5}`:                                  "VALIDATION_ERROR",
			`{"firstName": "Bob", "idempotencyKey": "a", "idempotencyKey": "b"}`:         "VALIDATION_ERROR",
			`{"firstName": 5}`: "VALIDATION_ERROR", `{"firstName": "A", "firstName": "B"}`: "VALIDATION_ERROR",
			`{"nope": 1}`: "VALIDATION_ERROR", `[]`: "VALIDATION_ERROR", `"x"`: "VALIDATION_ERROR",
			`null`: "VALIDATION_ERROR",
		} {
			v := do("contacts_create", arguments)
			v.Same("isError", true)
			v.Same("structuredContent.error.code", code)
			var text struct{ Error struct{ Code string } }
			if json.Unmarshal([]byte(v.Text("content.0.text")), &text) != nil || text.Error.Code != code {
				t.Errorf("%s: %s", arguments, v)
			}
		}
		do("contacts_list", `{"idempotencyKey": "x"}`).Same("isError", true) // refused where no key is accepted
		do("contacts_create", `{"firstName": "Eve", "idempotencyKey": null}`).Same("structuredContent.data.firstName",
			"Eve")
		do("contacts_get", fmt.Sprintf(`{"id": %q}`, id.New())).Same("structuredContent.error.code", "NOT_FOUND")
		// The same key through REST is the same request.
		r := a.SendREST(t, a.Key, http.MethodPost, "/v1/contacts", `{"firstName": "Bob"}`, "Idempotency-Key", "one")
		r.Refused(t, 422, "IDEMPOTENCY_KEY_REUSED")

		type row struct {
			Kind  string `db:"actor_kind"`
			Actor id.ID  `db:"actor_id"`
			Door  string `db:"door"`
		}
		var events []row
		err := a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
			events, err = db.QueryAll[row](ctx, tx, `
				SELECT actor_kind, actor_id, door
				FROM events
				WHERE organization_id = $1 AND type = 'contact.created'`, a.Org)
			return err
		})
		if err != nil || len(events) != 2 || events[0] != (row{"agent", agent, "agent"}) {
			t.Errorf("%+v %v", events, err)
		}
	})
}

// A refusal that is bound to its idempotency key is an error like any other,
// even when the key brings it back.
func TestBoundRefusal(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		a.AsOperator(t, "agreements.accept", "business", a.Business,
			fmt.Sprintf(`{"businessId": %q, "kind": "domain", "by": %q}`, a.Business, a.Owner))
		a.AsOperator(t, "payment_methods.create_test", "organization", a.Org, `{"test": "declined"}`)
		_, access, _ := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "all"))
		const register = `{"domain": "bound.com", "maxAmountCents": 5000, "idempotencyKey": "k",
			"contact": {"firstName": "Ada", "lastName": "Lovelace", "address1": "12 St James's Square",
			"city": "London", "stateProvince": "London", "postalCode": "SW1Y 4JH", "country": "GB",
				"email": "ada@example.com", "phone": "+442079460000"}}`
		for _, what := range []string{"first", "replay"} {
			v := fine(t, what, a.SendRPC(t, access, call("domains_register", register)))
			if v.At("isError").String() != "true" || v.Text("structuredContent.error.code") != "PAYMENT_FAILED" {
				t.Errorf("%s: %s", what, v)
			}
		}
	})
}

// An agent works even when one of its permissions is known only to a newer
// release, which may run beside this one.
func TestUnknownPermission(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent := a.NewAgent(t, a.Tenant, "none")
		_, access, _ := a.ConnectAgent(t, a.Tenant, agent)
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "UPDATE agents SET permissions = $2 WHERE id = $1", agent,
				db.JSON(`{"contacts.read": "allow", "rockets.create": "allow", "account.delete": "allow"}`))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		seen := names(fine(t, "list", a.SendRPC(t, access, list)))
		if !strings.Contains(seen, " contacts_list ") || strings.Contains(seen, " contacts_create ") {
			t.Errorf("sees %s", seen)
		}
	})
}

// Every refusal is a JSON-RPC error, with a status that says that the message was not
// one, or with success.
func TestRefusalsAreJSON(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	_, access, _ := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "all"))
	session := a.InitializeSession(t, access)
	failed(t, "unknown method", a.SendRPC(t, access, `{"jsonrpc": "2.0", "id": 7, "method": "nope/nope"}`, session...),
		-32601)
	if r := a.SendRPC(t, access, `{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}`, session...); r.Status != 400 ||
		r.ParseJSON(t).Number("error.code") != -32700 {
		t.Errorf("half an id: %d %s", r.Status, r.Body)
	}
	for what, message := range map[string]string{"version": `{"jsonrpc": "1.0", "id": 7, "method": "ping"}`,
		"no params": `{"jsonrpc": "2.0", "id": 7, "method": "tools/call"}`,
		"no id":     `{"jsonrpc": "2.0", "method": "tools/list"}`,
		"a batch":   `[` + ping + `, {"jsonrpc": "2.0", "id": 8, "method": "nope"}]`} {
		r := a.SendRPC(t, access, message, session...)
		if r.Status != 400 || r.Header.Get("Content-Type") != "application/json" ||
			r.ParseJSON(t).Number("error.code") != -32600 || r.ParseJSON(t).Text("error.message") == "" {
			t.Errorf("%s: %d %s", what, r.Status, r.Body)
		}
	}
}

// A server behind a path serves agents below that path, and nowhere else.
func TestPathOfTheURL(t *testing.T) {
	s := apptest.Settings(t, db.SQLite)
	s.MCPURL = "https://agents.example/desk"
	a := apptest.StartWith(t, s)
	for path, want := range map[string]int{"/desk/mcp": http.StatusUnauthorized, "/mcp": http.StatusNotFound} {
		r, err := http.Post(a.AgentURL+path, "application/json", strings.NewReader(ping)) //nolint:noctx // a test
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Body.Close(); err != nil || r.StatusCode != want {
			t.Errorf("%s answers %d, want %d: %v", path, r.StatusCode, want, err)
		}
	}
}
