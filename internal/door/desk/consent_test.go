package desk_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

const verifier = "a verifier of at least forty-three characters, as RFC 7636 wants"

// askConsent registers a client, asks for consent, and returns the path of the
// consent page.
func askConsent(t testing.TB, a *apptest.App, name, redirect, scope string) (path, client string) {
	t.Helper()
	c, err := a.Grants.Register(context.Background(),
		fmt.Appendf(nil, `{"client_name": %q, "redirect_uris": [%q]}`, name, redirect))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(verifier))
	to, err := a.Grants.Ask(context.Background(), url.Values{"client_id": {c.ID}, "redirect_uri": {redirect},
		"response_type": {"code"}, "state": {"kept & sent"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
		"resource": {a.Settings.MCPURL + "/mcp"}, "scope": {scope}})
	if err != nil {
		t.Fatal(err)
	}
	path, ok := strings.CutPrefix(to.To, a.Settings.BaseURL)
	if !ok || !strings.HasPrefix(path, "/consent/") {
		t.Fatalf("sent to %s", to.To)
	}
	return path, c.ID
}

func newAgent(t testing.TB, a *apptest.App, business id.ID, name, preset string) string {
	t.Helper()
	return string(a.AsOperator(t, "agents.create", "business", business,
		fmt.Sprintf(`{"businessId": %q, "name": %q, "preset": %q}`, business, name, preset)).ID("id"))
}

// A person sees who asks and where the answer goes, chooses an agent of a
// business that accepted the agreement, and approves or declines.
func TestConsent(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		reader := newAgent(t, a, a.Business, "Reader", "read")
		helper := newAgent(t, a, a.Business, "Helper", "helper")
		second := a.SendREST(t, a.Key, "POST", "/v1/businesses", `{"name": "Second"}`).OK(t, 201).ID("id")
		unready := newAgent(t, a, second, "Unready", "all")
		foreign := newAgent(t, a, a.NewTenant(t, "free").Business, "Foreign", "all")

		path, client := askConsent(t, a, "Notes <App>", "https://notes.example/callback?x=1", "mcp offline_access")
		b := visit(t, a.URL)
		b.get(path).at("/sign-in?next=" + url.QueryEscape(path))
		p := b.post("/sign-in", "email", a.Owner, "password", "a long password", "next", path).at(path,
			"Connect Notes <App>", "notes.example", "until you disconnect it", "Reader", "Helper", "See everything",
			"Create anything", "would have to ask", "Approve", "Decline").hasNot("Unready", "Foreign")
		p.has("Not offered, because the business agreement is not accepted: Second")
		if p.find(`<button class="btn main" (id="approve")`) == "" || strings.Count(p.Body, `name="agent_id"`) != 2 {
			t.Error(p.Body)
		}
		if policy := p.Header.Get("Content-Security-Policy"); !strings.Contains(policy,
			"form-action 'self' https://notes.example;") &&
			!strings.HasSuffix(policy, "form-action 'self' https://notes.example") {
			t.Errorf("policy: %s", policy)
		}
		if strings.Contains(b.get("/agents").Header.Get("Content-Security-Policy"), "notes.example") {
			t.Error("other pages may lead to the client, too")
		}

		// What was not offered cannot be chosen, and another site cannot choose.
		b.post(path, "decision", "approve", "agent_id", foreign).refused(404)
		b.post(path, "decision", "approve", "agent_id", unready).refused(403, "must accept the business agreement")
		b.post(path, "decision", "approve").refused(400, "Choose an agent")
		b.post(path, "agent_id", helper).refused(400)
		b.do(http.MethodPost, path, url.Values{"decision": {"approve"}, "agent_id": {helper}}, "Sec-Fetch-Site",
			"cross-site").refused(403, "came from another site")
		visit(t, a.URL).post(path, "decision", "approve", "agent_id", helper).at("/sign-in")
		exec(t, a, "UPDATE agents SET status = 'inactive' WHERE id = $1", id.ID(helper))
		b.post(path, "decision", "approve", "agent_id", helper).refused(404)
		exec(t, a, "UPDATE agents SET status = 'active' WHERE id = $1", id.ID(helper))

		p = b.post(path, "decision", "approve", "agent_id", reader)
		to, err := url.Parse(p.Header.Get("Location"))
		if err != nil || p.Status != 303 || to.Host != "notes.example" || to.Query().Get("state") != "kept & sent" ||
			to.Query().Get("code") == "" || to.Query().Get("x") != "1" {
			t.Fatalf("%d %s", p.Status, p.Header.Get("Location"))
		}
		b.get(path).refused(404, "expired")
		b.post(path, "decision", "approve", "agent_id", reader).refused(404)

		tokens, err := a.Grants.ExchangeTokens(context.Background(), client,
			url.Values{"grant_type": {"authorization_code"}, "code": {to.Query().Get("code")}, "client_id": {client},
				"redirect_uri": {"https://notes.example/callback?x=1"}, "code_verifier": {verifier},
				"resource": {a.Settings.MCPURL + "/mcp"}})
		if err != nil {
			t.Fatal(err)
		}
		access := tokens.Access
		if _, err := a.Grants.LoginByToken(context.Background(), access); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(a.Logs.String(), to.Query().Get("code")) {
			t.Error("the logs have the code")
		}

		// The client is listed at its agent, and can be disconnected.
		b.get("/agents").at("/agents", "Reader")
		p = b.get("/agents/"+reader).at("/agents/", "Notes <App>")
		away := p.find(`href="(/agents/[^"]*/disconnect)"`)
		b.get("/agents/"+reader+"/delete").at("/agents/", "Notes <App> is disconnected.")
		b.get(away).at(away, "Disconnect Notes <App>")
		b.get(strings.Replace(away, reader, helper, 1)).refused(404)
		b.post(away).at("/agents/"+reader, "Disconnected.", "No client acts as this agent")
		if _, err := a.Grants.LoginByToken(context.Background(), access); err == nil {
			t.Error("the token still works")
		}

		// Every request needs consent again; declining tells the client so.
		path, _ = askConsent(t, a, "Notes <App>", "http://127.0.0.1:4567/callback", "mcp")
		p = b.get(path).at(path, "127.0.0.1:4567", "for an hour")
		if !strings.Contains(p.Header.Get("Content-Security-Policy"), "form-action 'self' http://127.0.0.1:4567") {
			t.Error(p.Header.Get("Content-Security-Policy"))
		}
		p = b.post(path, "decision", "decline")
		if p.Status != 303 || !strings.HasPrefix(p.Header.Get("Location"),
			"http://127.0.0.1:4567/callback?error=access_denied") {
			t.Errorf("%d %s", p.Status, p.Header.Get("Location"))
		}
	})
}

// Without an accepted agreement the page says so in the specification's words,
// and links to where it is accepted, which leads back.
func TestConsentBeforeAgreement(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	exec(t, a, "DELETE FROM agreements")
	path, _ := askConsent(t, a, "App", "com.example.app:/callback", "mcp")
	b := owner(t, a)
	p := b.get(path).at(path, "Business agreement not accepted", "Read and accept it").hasNot(`id="approve"`)
	if policy := p.Header.Get("Content-Security-Policy"); !strings.HasSuffix(policy,
		"form-action 'self' com.example.app:") {
		t.Error(policy)
	}
	page := p.find(`href="(/agreements\?next=[^"]*)"`)
	b.get(page).at("/agreements", "You then return to where you were")
	p = b.post("/agreements", "business_id", string(a.Business), "kind", "business", "read", "yes", "next",
		path).at(path,
		"There is no active agent", "Create one")
	b.get(p.find(`href="(/agents/new\?next=[^"]*)"`)).at("/agents/new")
	b.post("/agents/new", "name", "Assistant", "business_id", string(a.Business), "preset", "none", "next",
		path).at(path,
		"Assistant", "Nothing yet", "Approve")
	b.get("/consent/"+string(id.New())).refused(404, "Start again from the application")
	b.get("/consent/nonsense").refused(404)
}
