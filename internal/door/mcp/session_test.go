package mcp_test

import (
	"fmt"
	"net/http"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/secret"
)

// Sessions belong to a grant and to no process.
func TestSessions(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent := a.NewAgent(t, a.Tenant, "all")
		client, access, refresh := a.ConnectAgent(t, a.Tenant, agent)
		_, other, _ := a.ConnectAgent(t, a.Tenant, agent)
		session := a.InitializeSession(t, access)
		for what, c := range map[string]struct{ token, session string }{"unknown": {access, secret.NewToken("fds_")},
			"another client's": {other, session[1]}, "nonsense": {access, "x"}} {
			if r := a.SendRPC(t, c.token, list, "Mcp-Session-Id", c.session); r.Status != 404 {
				t.Errorf("%s session: %d %s", what, r.Status, r.Body)
			}
		}
		// It outlives an access token.
		access = a.RedeemToken(t, client, "refresh_token", refresh).ParseJSON(t).Text("access_token")
		fine(t, "after a refresh", a.SendRPC(t, access, list, session...))
		if r := a.Agents(t, http.MethodGet, "/mcp", "",
			append([]string{"Authorization", "Bearer " + access, "Accept", "text/event-stream"},
				session...)...); r.Status != 405 || r.Header.Get("Allow") != "POST, DELETE" {
			t.Errorf("GET: %d %v", r.Status, r.Header)
		}
		drop := func(headers ...string) apptest.Result {
			return a.Agents(t, http.MethodDelete, "/mcp", "",
				append([]string{"Authorization", "Bearer " + access}, headers...)...)
		}
		if r := drop(); r.Status != 400 {
			t.Errorf("DELETE without a session: %d", r.Status)
		}
		if r := drop(session...); r.Status != 204 {
			t.Errorf("DELETE: %d %s", r.Status, r.Body)
		}
		if r := a.SendRPC(t, access, list, session...); r.Status != 404 {
			t.Errorf("an ended session: %d", r.Status)
		}
		// Their number is bounded, and the oldest end.
		first := a.InitializeSession(t, access)
		for range 100 {
			session = a.InitializeSession(t, access)
		}
		if r := a.SendRPC(t, access, list, first...); r.Status != 404 {
			t.Errorf("the first of 101 sessions: %d", r.Status)
		}
		fine(t, "the newest", a.SendRPC(t, access, list, session...))
	})
}

// A restarted server serves the sessions of its predecessor.
func TestRestart(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		s.MCPURL = "http://agents.example.com"
		var access string
		var session []string
		var key string
		t.Run("before", func(t *testing.T) {
			a := apptest.StartWith(t, s)
			_, access, _ = a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "all"))
			session, key = a.InitializeSession(t, access), a.Key
			fine(t, "before", a.SendRPC(t, access,
				call("contacts_create", `{"firstName": "Ada", "idempotencyKey": "k"}`), session...))
		})
		t.Run("after", func(t *testing.T) {
			a := apptest.StartWith(t, s)
			v := fine(t, "after", a.SendRPC(t, access, call("contacts_create",
				`{"firstName": "Ada", "idempotencyKey": "k"}`),
				session...))
			v.Same("_meta.idempotencyReplay", true)
			if n := a.SendREST(t, key, http.MethodGet, "/v1/contacts", "").OK(t, 200).Len(); n != 1 {
				t.Errorf("%d contacts", n)
			}
		})
	})
}

// Two processes on one database serve each other's sessions.
func TestTwoProcesses(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		if e == db.SQLite {
			t.Skip("one process owns the file")
		}
		s := apptest.Settings(t, e)
		s.MCPURL = "http://agents.example.com"
		one, two := apptest.StartWith(t, s), apptest.StartWith(t, s)
		agent := one.NewAgent(t, one.Tenant, "read")
		client, access, refresh := one.ConnectAgent(t, one.Tenant, agent)
		session := one.InitializeSession(t, access)
		for range 3 {
			fine(t, "one", one.SendRPC(t, access, list, session...))
			fine(t, "two", two.SendRPC(t, access, list, session...))
		}
		two.AsOperator(t, "agents.set_permissions", "agent", agent,
			fmt.Sprintf(`{"id": %q, "permissions": {"contacts.create": "allow"}}`, agent))
		fine(t, "allowed by the other", one.SendRPC(t, access, call("contacts_create", `{"firstName": "Ada"}`),
			session...))
		answers := make([]apptest.Result, 20)
		apptest.RunAtOnce(len(answers),
			func(i int) {
				answers[i] = []*apptest.App{one, two}[i%2].RedeemToken(t, client, "refresh_token", refresh)
			})
		won := 0
		for _, r := range answers {
			if r.Status == 200 {
				won++
			}
		}
		if won > 1 {
			t.Errorf("%d refreshes of one token succeeded", won)
		}
		if r := two.SendRPC(t, access, list, session...); r.Status != 401 {
			t.Errorf("after the reuse: %d %s", r.Status, r.Body)
		}
	})
}
