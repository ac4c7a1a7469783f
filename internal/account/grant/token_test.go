package grant_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/account"
	"frontdesk/internal/account/grant"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// client is an application that talks to the authorization server without HTTP.
type client struct {
	t *testing.T
	*apptest.App
	id string
}

func newClient(t *testing.T, a *apptest.App) *client {
	t.Helper()
	v, err := a.Grants.Register(t.Context(), fmt.Appendf(nil, `{"client_name": "Test", "redirect_uris": [%q]}`,
		apptest.Callback))
	if err != nil {
		t.Fatal(err)
	}
	return &client{t, a, v.ID}
}

// ask begins an authorization request, which awaits consent.
func (c *client) ask(scope string) id.ID {
	c.t.Helper()
	d, err := c.Grants.Ask(c.t.Context(), url.Values{
		"response_type":         {"code"},
		"client_id":             {c.id},
		"redirect_uri":          {apptest.Callback},
		"code_challenge_method": {"S256"},
		"code_challenge":        {apptest.Challenge(apptest.Verifier)},
		"resource":              {c.resource()},
		"scope":                 {scope},
	})
	if err != nil || d.Refused != nil {
		c.t.Fatalf("ask: %+v %v", d, err)
	}
	return id.ID(d.To[strings.LastIndexByte(d.To, '/')+1:])
}

func (c *client) resource() string { return c.Settings.MCPURL + "/mcp" }

// code returns the code that the owner's consent gives.
func (c *client) code(scope string, agent id.ID) string {
	c.t.Helper()
	back, err := c.Grants.ApproveRequest(c.t.Context(), c.ask(scope), c.OwnerID, agent)
	if err != nil {
		c.t.Fatal(err)
	}
	u, err := url.Parse(back)
	if err != nil {
		c.t.Fatal(err)
	}
	return u.Query().Get("code")
}

func (c *client) exchange(code, verifier string) (*grant.Tokens, error) {
	return c.Grants.ExchangeTokens(c.t.Context(), c.id, url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {code},
		"redirect_uri":  {apptest.Callback},
		"code_verifier": {verifier},
		"resource":      {c.resource()},
	})
}

func (c *client) refresh(token string) (*grant.Tokens, error) {
	return c.Grants.ExchangeTokens(c.t.Context(), c.id, url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {token}, "resource": {c.resource()},
	})
}

// connect goes the whole way to tokens.
func (c *client) connect(agent id.ID) *grant.Tokens {
	c.t.Helper()
	tokens, err := c.exchange(c.code("mcp offline_access", agent), apptest.Verifier)
	if err != nil {
		c.t.Fatal(err)
	}
	return tokens
}

// refused expects an OAuth error whose description contains words.
func refused(t *testing.T, err error, code, words string) {
	t.Helper()
	var e *grant.Error
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Description, words) {
		t.Errorf("%v, want %s with %q", err, code, words)
	}
}

// Every refresh issues new tokens and uses up the old one. A refresh token used
// twice ends the connection, also for whoever holds the newer tokens.
func TestRefreshTokens(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		c := newClient(t, a)
		first := c.connect(a.NewAgent(t, a.Tenant, "all"))
		second, err := c.refresh(first.Refresh)
		if err != nil || second.Access == first.Access || second.Refresh == first.Refresh {
			t.Fatalf("a refresh gave %+v, %v", second, err)
		}
		for _, access := range []string{first.Access, second.Access} { // an access token lives its time
			if l, err := a.Grants.LoginByToken(t.Context(), access); err != nil || l.User != a.OwnerID || l.Disabled {
				t.Errorf("lookup: %+v %v", l, err)
			}
		}
		_, err = newClient(t, a).refresh(second.Refresh)
		refused(t, err, grant.InvalidGrant, "another client")
		_, err = c.refresh(first.Refresh)
		refused(t, err, grant.InvalidGrant, "already used")
		_, err = c.refresh(second.Refresh)
		refused(t, err, grant.InvalidGrant, "Refresh token used twice")
		_, err = a.Grants.LoginByToken(t.Context(), second.Access)
		refused(t, err, grant.InvalidToken, "Refresh token used twice")
		if events := a.Events(t, "agent."); events != "agent.created agent.connected agent.disconnected" {
			t.Errorf("events %q", events)
		}
	})
}

// A code works once, for its client, with its verifier and before it expires.
// A code used twice ends its grant.
func TestCodes(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		c, agent := newClient(t, a), a.NewAgent(t, a.Tenant, "all")
		code := c.code("mcp", agent)
		_, err := newClient(t, a).exchange(code, apptest.Verifier)
		refused(t, err, grant.InvalidGrant, "another client")
		tokens, err := c.exchange(code, apptest.Verifier)
		if err != nil || tokens.Refresh != "" || len(tokens.Scopes) != 1 {
			t.Fatalf("without offline_access: %+v, %v", tokens, err)
		}
		_, err = c.exchange(code, apptest.Verifier)
		refused(t, err, grant.InvalidGrant, "already used")
		_, err = a.Grants.LoginByToken(t.Context(), tokens.Access)
		refused(t, err, grant.InvalidToken, "used twice")

		code = c.code("mcp", agent)
		_, err = c.exchange(code, strings.Repeat("x", 43))
		refused(t, err, grant.InvalidGrant, "code_verifier")
		_, err = c.exchange(code, apptest.Verifier)
		refused(t, err, grant.InvalidGrant, "already used")

		code = c.code("mcp", agent)
		change(t, a, "UPDATE grant_codes SET expires_at = $1 WHERE used_at IS NULL")
		_, err = c.exchange(code, apptest.Verifier)
		refused(t, err, grant.InvalidGrant, "expired")
	})
}

// change runs a statement whose one argument is the current time.
func change(t *testing.T, a *apptest.App, statement string) {
	t.Helper()
	err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, statement, a.Clock.Now())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A request is settled once, before it expires, for one of the user's own agents.
func TestConsent(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		c, agent := newClient(t, a), a.NewAgent(t, a.Tenant, "all")
		missing := func(request, user, agent id.ID) {
			t.Helper()
			if _, err := a.Grants.ApproveRequest(t.Context(), request, user, agent); !fault.IsKind(err,
				fault.NotFound) {
				t.Errorf("approved: %v", err)
			}
		}
		declined := c.ask("mcp")
		back, err := a.Grants.DeclineRequest(t.Context(), declined)
		if err != nil || !strings.Contains(back, "error=access_denied") {
			t.Errorf("declined: %s %v", back, err)
		}
		missing(declined, a.OwnerID, agent)
		other := a.NewTenant(t, "free")
		missing(c.ask("mcp"), other.OwnerID, agent)
		missing(c.ask("mcp"), a.OwnerID, id.New())
		expired := c.ask("mcp")
		change(t, a, "UPDATE oauth_requests SET expires_at = $1 WHERE settled_at IS NULL")
		missing(expired, a.OwnerID, agent)

		a.AsOperator(t, "agents.deactivate", "agent", agent, fmt.Sprintf(`{"id": %q}`, agent))
		if _, err := a.Grants.ApproveRequest(t.Context(), c.ask("mcp"), a.OwnerID,
			agent); !fault.IsKind(err, grant.AgentInactive) {
			t.Errorf("an inactive agent: %v", err)
		}
	})
}

// Connections end with what they act for, by revoking a token and by hand, and
// do not come back.
func TestConnectionsEnd(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		c, agent := newClient(t, a), a.NewAgent(t, a.Tenant, "all")
		ended := func(tokens *grant.Tokens, why string) {
			t.Helper()
			_, err := a.Grants.LoginByToken(t.Context(), tokens.Access)
			refused(t, err, grant.InvalidToken, why)
			_, err = c.refresh(tokens.Refresh)
			refused(t, err, grant.InvalidGrant, why)
		}
		tokens := c.connect(agent)
		if err := a.Grants.RevokeToken(t.Context(), newClient(t, a).id, tokens.Refresh); err == nil {
			if _, err := a.Grants.LoginByToken(t.Context(), tokens.Access); err != nil {
				t.Errorf("another client ended it: %v", err)
			}
		}
		if err := a.Grants.RevokeToken(t.Context(), c.id, tokens.Refresh); err != nil {
			t.Fatal(err)
		}
		ended(tokens, "")

		tokens = c.connect(agent)
		all, err := a.Grants.ListConnections(t.Context(), a.Org)
		if err != nil || len(all) != 1 {
			t.Fatalf("%d connections, %v", len(all), err)
		}
		if err := a.Grants.Disconnect(t.Context(), a.NewTenant(t, "free").Org, all[0].ID, a.OwnerID); err == nil {
			t.Error("disconnected by another organization")
		}
		if err := a.Grants.Disconnect(t.Context(), a.Org, all[0].ID, a.OwnerID); err != nil {
			t.Fatal(err)
		}
		ended(tokens, "")

		tokens = c.connect(agent)
		a.AsOperator(t, "agents.deactivate", "agent", agent, fmt.Sprintf(`{"id": %q}`, agent))
		a.AsOperator(t, "agents.activate", "agent", agent, fmt.Sprintf(`{"id": %q}`, agent))
		ended(tokens, account.AgentDeactivated)

		// The log says who ended each: whoever connected it, by the application; the owner; the operator.
		type row struct {
			Kind string `db:"actor_kind"`
			ID   *id.ID `db:"actor_id"`
		}
		var by []row
		if err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			by, err = db.QueryAll[row](ctx, tx, `SELECT actor_kind, actor_id FROM events
				WHERE organization_id = $1 AND type = 'agent.disconnected' ORDER BY seq`, a.Org)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range by {
			switch {
			case e.ID == nil:
				got = append(got, e.Kind)
			case *e.ID == a.OwnerID:
				got = append(got, e.Kind+" owner")
			case *e.ID == agent:
				got = append(got, e.Kind+" agent")
			default:
				got = append(got, e.Kind+" somebody")
			}
		}
		if want := []string{"user owner", "user owner", "system"}; !slices.Equal(got, want) {
			t.Errorf("ended by %q, want %q", got, want)
		}
	})
}

// A client whose id is the address of its metadata document needs no registration. An address that cannot be one
// is not fetched.
func TestClientDocument(t *testing.T) {
	var site *httptest.Server
	var fetched atomic.Int64
	site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fetched.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"client_id": %q, "client_name": "Documented", "redirect_uris": [%q]}`, site.URL+r.URL.Path,
			apptest.Callback)
	}))
	defer site.Close()
	s := apptest.Settings(t, db.SQLite)
	s.AllowInsecureClientMetadata = true
	a := apptest.StartWith(t, s)
	(&client{t, a, site.URL + "/client.json"}).connect(a.NewAgent(t, a.Tenant, "all"))
	if n := fetched.Load(); n == 0 {
		t.Error("the document was not fetched")
	}
	before := fetched.Load()
	for _, address := range []string{"", "/", "/../client.json", "/client.json#x"} {
		if d, err := a.Grants.Ask(t.Context(), url.Values{"response_type": {"code"},
			"client_id": {site.URL + address}, "redirect_uri": {apptest.Callback}}); err == nil && d.Refused == nil {
			t.Errorf("%q is taken for a client", address)
		}
	}
	if n := fetched.Load(); n != before {
		t.Errorf("%d addresses were fetched that cannot be a client's", n-before)
	}
}
