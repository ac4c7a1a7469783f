package oauth_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
)

const form = "application/x-www-form-urlencoded"

// refused asserts an OAuth refusal.
func refused(t *testing.T, what string, r apptest.Result, status int, code string) apptest.Value {
	t.Helper()
	v := r.ParseJSON(t)
	if r.Status != status || v.Text("error") != code || v.Text("error_description") == "" ||
		r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s: %d %v %s, want %d %s", what, r.Status, r.Header, r.Body, status, code)
	}
	return v
}

// sentBack asserts a redirect to the client with a refusal, its state and the
// issuer.
func sentBack(t *testing.T, a *apptest.App, what string, r apptest.Result, code string) {
	t.Helper()
	u, err := url.Parse(r.Header.Get("Location"))
	if err != nil || r.Status != 302 || !strings.HasPrefix(u.String(), apptest.Callback+"?") {
		t.Errorf("%s: %d %s %s", what, r.Status, u, r.Body)
		return
	}
	q := u.Query()
	if q.Get("error") != code || q.Get("error_description") == "" || q.Get("iss") != a.Settings.MCPURL ||
		q.Get("state") != "a state" || q.Has("code") {
		t.Errorf("%s: %s, want %s", what, u, code)
	}
}

func TestMetadata(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	issuer := a.Settings.MCPURL
	for _, path := range []string{"/.well-known/oauth-protected-resource",
		"/.well-known/oauth-protected-resource/mcp"} {
		r := a.Agents(t, http.MethodGet, path, "", "Host", "evil.example.com")
		v := r.ParseJSON(t)
		v.Same("resource", issuer+"/mcp")
		v.Same("authorization_servers", "["+issuer+"]")
		v.Same("scopes_supported", "[mcp offline_access]")
		if r.Status != 200 || r.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %v", path, r.Status, r.Header)
		}
	}
	for _, path := range []string{"/.well-known/oauth-authorization-server",
		"/.well-known/oauth-authorization-server/mcp"} {
		v := a.Agents(t, http.MethodGet, path, "", "Host", "evil.example.com").ParseJSON(t)
		v.Same("issuer", issuer)
		v.Same("code_challenge_methods_supported", "[S256]")
		v.Same("token_endpoint", issuer+"/oauth/token")
		v.Same("authorization_response_iss_parameter_supported", true)
	}
	if r := a.Agents(t, http.MethodOptions, "/oauth/token", ""); r.Status != 204 ||
		r.Header.Get("Access-Control-Allow-Methods") != "POST" {
		t.Errorf("preflight: %d %v", r.Status, r.Header)
	}
	if r := a.Agents(t, http.MethodGet, "/oauth/token", ""); r.Status != 405 {
		t.Errorf("GET of the token endpoint: %d", r.Status)
	}
}

func TestRegister(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		register := func(body string) apptest.Result {
			return a.Agents(t, http.MethodPost, "/oauth/register", body, "Content-Type", "application/json")
		}
		r := register(`{"client_name": "Łódź & Co", "client_uri": "https://example.com",
			"redirect_uris": ["https://example.com/cb", "http://localhost:1234/cb", "cursor://app/cb"],
			"token_endpoint_auth_method": "client_secret_basic", "grant_types": ["implicit"], "logo_uri": "x",
				"contacts": ["a"], "jwks": {}}`)
		v := r.ParseJSON(t)
		if r.Status != 201 || v.Text("client_id") == "" || v.Number("client_id_issued_at") < 1 ||
			v.Has("client_secret") {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
		v.Same("token_endpoint_auth_method", "none")
		v.Same("grant_types", "[authorization_code refresh_token]")
		v.Same("client_name", "Łódź & Co")
		for _, c := range []struct{ body, code string }{
			{`{`, "invalid_client_metadata"}, {`[]`, "invalid_client_metadata"}, {``, "invalid_client_metadata"},
			{`{}`, "invalid_redirect_uri"}, {`{"redirect_uris": []}`, "invalid_redirect_uri"},
			{`{"redirect_uris": "https://example.com"}`, "invalid_client_metadata"},
			{`{"redirect_uris": ["` + strings.Repeat(`https://example.com/cb","`, 21) + `"]}`, "invalid_redirect_uri"},
			{`{"client_name": "a\u0000b", "redirect_uris": ["https://example.com"]}`, "invalid_client_metadata"},
			{`{"client_name": "` + strings.Repeat("x", 201) + `", "redirect_uris": ["https://example.com"]}`,
				"invalid_client_metadata"},
			{`{"client_name": "` + strings.Repeat("x", 17<<10) + `"}`, "invalid_client_metadata"},
		} {
			refused(t, c.body[:min(len(c.body), 60)], register(c.body), 400, c.code)
		}
		for _, uri := range []string{"http://example.com/cb", "https://example.com/cb#x", "https://user@example.com/cb",
			"https:///cb", "https://", "/cb", "example.com", "javascript:alert(1)", "JavaScript:alert(1)",
			"data:text/html,x", "file:///etc/passwd", "https://example.com/a b", "https://example.com/\u00e9",
			`https://example.com\\@evil.com`, "http://127.0.0.1.evil.com/cb", "http://127.0.0.1@evil.com/",
			"https://" + strings.Repeat("x", 2050)} {
			refused(t, uri[:min(len(uri), 60)],
				register(fmt.Sprintf(`{"redirect_uris": ["https://example.com/ok", "%s"]}`, uri)),
				400, "invalid_redirect_uri")
		}
		refused(t, "a form", a.Agents(t, http.MethodPost, "/oauth/register", "x=1", "Content-Type", form), 400,
			"invalid_client_metadata")
	})
}

func TestAuthorizeRefusals(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		client := a.NewClient(t)
		get := func(more ...string) apptest.Result {
			return a.Agents(t, http.MethodGet, a.AuthorizePath(client, more...), "")
		}
		resource := a.Settings.MCPURL + "/mcp"
		for _, c := range []struct {
			name, value, code string
		}{
			{"response_type", "", "invalid_request"}, {"response_type", "token", "unsupported_response_type"},
			{"response_type", "code token", "unsupported_response_type"},
			{"code_challenge", "", "invalid_request"}, {"code_challenge", "short", "invalid_request"},
			{"code_challenge", strings.Repeat("x", 44), "invalid_request"},
			{"code_challenge", strings.Repeat("=", 43), "invalid_request"},
			{"code_challenge_method", "", "invalid_request"}, {"code_challenge_method", "plain", "invalid_request"},
			{"code_challenge_method", "s256", "invalid_request"},
			{"resource", "", "invalid_target"}, {"resource", "https://evil.example.com/mcp", "invalid_target"},
			{"resource", a.Settings.MCPURL, "invalid_target"}, {"resource", resource + "/", "invalid_target"},
			{"resource", resource + "?x=1", "invalid_target"},
			{"resource", strings.ToUpper(resource), "invalid_target"},
			{"scope", "mcp admin", "invalid_scope"}, {"scope", "offline_access", "invalid_scope"},
			{"scope", "MCP", "invalid_scope"},
			{"response_mode", "fragment", "invalid_request"},
		} {
			sentBack(t, a, c.name+"="+c.value, get(c.name, c.value), c.code)
		}
		sentBack(t, a, "two resources",
			a.Agents(t, http.MethodGet, a.AuthorizePath(client)+"&resource="+url.QueryEscape(resource),
				""), "invalid_target")
		sentBack(t, a, "two scopes", a.Agents(t, http.MethodGet, a.AuthorizePath(client)+"&scope=mcp", ""),
			"invalid_request")
		// The state that comes back to the client is the one it sent, or none.
		if r := get("state", "a\x00b"); !strings.Contains(r.Header.Get("Location"), "error=invalid_request") ||
			strings.Contains(r.Header.Get("Location"), "state=") {
			t.Errorf("a state that cannot be kept: %v", r.Header)
		}

		// Nobody is redirected before the client and its redirect URI are
		// known.
		for _, redirect := range []string{"", "https://evil.example.com/callback", "http://127.0.0.1:7777/callback/",
			"http://127.0.0.1:7777/callback?x=1", "http://127.0.0.1:7777/other", "https://127.0.0.1:7777/callback",
			"http://127.0.0.1:7777@evil.example.com/callback", "http://127.0.0.1.evil.example.com:7777/callback",
			"http://localhost:7777/callback", "http://[::1]:7777/callback", "http://127.0.0.1:7777/callback#x",
			"http://127.0.0.1:7777/callback/../callback", "http://127.0.0.1:7777/%63allback",
			"http://127.0.0.1:7777\\@evil.example.com/callback",
			"HTTP://127.0.0.1:7777/callback", "javascript:alert(1)"} {
			r := get("redirect_uri", redirect)
			refused(t, "redirect_uri="+redirect, r, 400, "invalid_request")
			if r.Header.Get("Location") != "" {
				t.Errorf("%s: sent to %s", redirect, r.Header.Get("Location"))
			}
		}
		refused(t, "no client", get("client_id", ""), 400, "invalid_request")
		refused(t, "unknown client", get("client_id", "nobody"), 400, "invalid_client")
		refused(t, "a client with control characters", get("client_id", "a\x00b"), 400, "invalid_client")
		refused(t, "two clients", a.Agents(t, http.MethodGet, a.AuthorizePath(client)+"&client_id=x", ""), 400,
			"invalid_request")
		page := a.Agents(t, http.MethodGet, a.AuthorizePath("<script>"), "", "Accept", "text/html")
		if page.Status != 400 || !strings.Contains(page.Header.Get("Content-Type"), "text/html") ||
			!strings.Contains(page.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("page: %d %v", page.Status, page.Header)
		}

		// Any port of the user's own machine is accepted.
		for _, redirect := range []string{apptest.Callback, "http://127.0.0.1:5000/callback",
			"http://127.0.0.1/callback"} {
			if r := get("redirect_uri", redirect); !strings.HasPrefix(r.Header.Get("Location"),
				a.Settings.BaseURL+"/consent/") {
				t.Errorf("%s: %d %s %v", redirect, r.Status, r.Body, r.Header)
			}
		}
	})
}

func TestConsent(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		client, agent := a.NewClient(t), a.NewAgent(t, a.Tenant, "all")
		ask := func() id.ID {
			t.Helper()
			location := a.Agents(t, http.MethodGet, a.AuthorizePath(client), "").Header.Get("Location")
			request, _ := strings.CutPrefix(location, a.Settings.BaseURL+"/consent/")
			return id.ID(request)
		}
		request := ask()
		r, err := a.Grants.Request(t.Context(), request)
		if err != nil || r.ClientName != "Test client" || r.RedirectHost != "127.0.0.1:7777" ||
			r.RedirectURI != apptest.Callback || fmt.Sprint(r.Scopes) != "[mcp offline_access]" || r.ClientURI != nil {
			t.Fatalf("%+v %v", r, err)
		}
		// A person without the right to connect agents gets nothing, and the
		// request stays open.
		other := a.NewTenant(t, "free")
		idle, fresh := a.NewAgent(t, a.Tenant, "all"), a.AsOperator(t, "organizations.create", "", "",
			`{"name": "New"}`)
		a.AsOperator(t, "agents.deactivate", "agent", idle, fmt.Sprintf(`{"id": %q}`, idle))
		newcomer := apptest.Tenant{Org: fresh.ID("id"), Business: fresh.ID("businessId")}
		user := a.AsOperator(t, "users.create", "organization", newcomer.Org,
			`{"email": "new@example.com", "name": "N", "role": "owner", "password": "a long password"}`).ID("id")
		for _, c := range []struct {
			what        string
			user, agent id.ID
			code        string
		}{
			{"somebody else's agent", other.OwnerID, agent, "NOT_FOUND"},
			{"nobody", id.New(), agent, "NOT_FOUND"},
			{"no agent", a.OwnerID, id.New(), "NOT_FOUND"},
			{"an inactive agent", a.OwnerID, idle, "AGENT_INACTIVE"},
			{"without the agreement", user, a.NewAgent(t, newcomer, "all"), "BUSINESS_AGREEMENT_REQUIRED"},
		} {
			if back, err := a.Grants.ApproveRequest(t.Context(), request, c.user, c.agent); err == nil ||
				!strings.Contains(err.Error(), c.code) {
				t.Errorf("%s: %s %v", c.what, back, err)
			}
		}
		a.AsOperator(t, "users.disable", "", "", fmt.Sprintf(`{"email": %q}`, a.Owner))
		if _, err := a.Grants.ApproveRequest(t.Context(), request, a.OwnerID, agent); err == nil {
			t.Error("a disabled user consents")
		}
		a.AsOperator(t, "users.enable", "", "", fmt.Sprintf(`{"email": %q}`, a.Owner))
		back, err := a.Grants.ApproveRequest(t.Context(), request, a.OwnerID, agent)
		u, _ := url.Parse(back)
		if err != nil || u.Query().Get("code") == "" || u.Query().Get("state") != "a state" ||
			u.Query().Get("iss") != a.Settings.MCPURL {
			t.Fatalf("%s %v", back, err)
		}
		// It can be decided once.
		if _, err := a.Grants.Request(t.Context(), request); err == nil {
			t.Error("a settled request is shown")
		}
		if _, err := a.Grants.ApproveRequest(t.Context(), request, a.OwnerID, agent); err == nil {
			t.Error("a request is approved twice")
		}
		if _, err := a.Grants.DeclineRequest(t.Context(), request); err == nil {
			t.Error("an approved request is declined")
		}
		back, err = a.Grants.DeclineRequest(t.Context(), ask())
		if u, _ = url.Parse(back); err != nil || u.Query().Get("error") != "access_denied" ||
			u.Query().Get("state") != "a state" || u.Query().Get("iss") != a.Settings.MCPURL {
			t.Errorf("declined: %s %v", back, err)
		}
		if list, err := a.Grants.ListConnections(t.Context(), a.Org); err != nil || len(list) != 0 {
			t.Errorf("connections before any code was redeemed: %v %v", list, err)
		}
	})
}

func TestTokenRefusals(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent := a.NewAgent(t, a.Tenant, "all")
		client, other := a.NewClient(t), a.NewClient(t)
		code := a.Code(t, client, a.OwnerID, agent)
		// A malformed request does not use up the code.
		for _, c := range []struct {
			name, value, code string
			status            int
		}{
			{"grant_type", "", "invalid_request", 400}, {"grant_type", "password", "unsupported_grant_type", 400},
			{"grant_type", "client_credentials", "unsupported_grant_type", 400},
			{"resource", "", "invalid_target", 400},
			{"resource", "https://evil.example.com/mcp", "invalid_target", 400},
			{"resource", a.Settings.MCPURL, "invalid_target", 400},
			{"client_id", "", "invalid_client", 401}, {"client_id", other, "invalid_grant", 400},
			{"client_id", "nobody", "invalid_grant", 400},
			{"client_secret", "x", "invalid_client", 401},
			{"code", "", "invalid_request", 400}, {"code_verifier", "", "invalid_request", 400},
			{"redirect_uri", "", "invalid_request", 400},
			{"code", "fdc_nonsense", "invalid_grant", 400}, {"code", code[:len(code)-1] + "-", "invalid_grant", 400},
		} {
			refused(t, c.name+"="+c.value, a.RedeemToken(t, client, "authorization_code", code, c.name, c.value),
				c.status, c.code)
		}
		refused(t, "JSON", a.Agents(t, http.MethodPost, "/oauth/token", `{}`, "Content-Type", "application/json"), 400,
			"invalid_request")
		refused(t, "twice", a.Agents(t, http.MethodPost, "/oauth/token",
			"grant_type=refresh_token&grant_type=refresh_token&client_id="+
				client, "Content-Type", form), 400, "invalid_request")
		r := a.Agents(t, http.MethodPost, "/oauth/token", "grant_type=refresh_token", "Content-Type", form,
			"Authorization",
			"Basic bm9ib2R5OnNlY3JldA==")
		refused(t, "a client with a secret", r, 401, "invalid_client")
		if r.Header.Get("WWW-Authenticate") == "" {
			t.Error("no WWW-Authenticate for a client that tried Basic")
		}

		ok := a.RedeemToken(t, client, "authorization_code", code)
		v := ok.ParseJSON(t)
		v.Same("token_type", "Bearer")
		v.Same("expires_in", 3600)
		v.Same("scope", "mcp offline_access")
		if ok.Status != 200 || ok.Header.Get("Cache-Control") != "no-store" || v.Text("access_token") == "" ||
			v.Text("refresh_token") == "" {
			t.Fatalf("%d %v %s", ok.Status, ok.Header, ok.Body)
		}
		plain := a.RedeemToken(t, client, "authorization_code",
			a.Code(t, client, a.OwnerID, agent, "scope", "")).ParseJSON(t)
		plain.Same("scope", "mcp")
		if plain.Has("refresh_token") {
			t.Error("a refresh token without offline_access")
		}
		// One try per code: a wrong verifier or redirect means that it leaked.
		for _, c := range []struct{ name, value string }{{"code_verifier", strings.Repeat("y", 43)},
			{"code_verifier", "short"}, {"code_verifier", apptest.Challenge(apptest.Verifier)},
			{"redirect_uri", "http://127.0.0.1:9999/callback"}} {
			code := a.Code(t, client, a.OwnerID, agent)
			refused(t, c.name+"="+c.value, a.RedeemToken(t, client, "authorization_code", code, c.name, c.value), 400,
				"invalid_grant")
			refused(t, "after that", a.RedeemToken(t, client, "authorization_code", code), 400, "invalid_grant")
		}
		refresh := v.Text("refresh_token")
		for _, c := range []struct{ name, value, code string }{{"resource", "", "invalid_target"},
			{"resource", "https://evil.example.com", "invalid_target"}, {"client_id", other, "invalid_grant"},
			{"scope", "mcp admin", "invalid_scope"}, {"scope", "offline_access", "invalid_scope"},
			{"refresh_token", "", "invalid_request"}, {"refresh_token", v.Text("access_token"), "invalid_grant"}} {
			refused(t, "refresh with "+c.name+"="+c.value,
				a.RedeemToken(t, client, "refresh_token", refresh, c.name, c.value), 400,
				c.code)
		}
		// None of it used up the token.
		a.RedeemToken(t, client, "refresh_token", refresh, "scope", "mcp").ParseJSON(t).Same("scope", "mcp")
		if a.Logs.String() != "" && strings.Contains(a.Logs.String(), "level=ERROR") {
			t.Error("something failed inside")
		}
	})
}

// secrets of a run must not be in its logs.
func TestNoSecretsInLogs(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	agent := a.NewAgent(t, a.Tenant, "all")
	client := a.NewClient(t)
	code := a.Code(t, client, a.OwnerID, agent)
	v := a.RedeemToken(t, client, "authorization_code", code).ParseJSON(t)
	session := a.InitializeSession(t, v.Text("access_token"))
	a.RedeemToken(t, client, "authorization_code", code)
	for _, secret := range []string{code, v.Text("access_token"), v.Text("refresh_token"), session[1],
		apptest.Verifier} {
		if secret == "" || strings.Contains(a.Logs.String(), secret) {
			t.Errorf("the log holds %.8s…", secret)
		}
	}
}

func TestReplay(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent := a.NewAgent(t, a.Tenant, "all")
		client := a.NewClient(t)
		code := a.Code(t, client, a.OwnerID, agent)
		first := a.RedeemToken(t, client, "authorization_code", code).ParseJSON(t)
		works := func(v apptest.Value) bool {
			_, err := a.Grants.LoginByToken(t.Context(), v.Text("access_token"))
			return err == nil
		}
		if !works(first) {
			t.Fatal("a new token does not work")
		}
		// A reused code revokes what it gave.
		refused(t, "a code twice", a.RedeemToken(t, client, "authorization_code", code), 400, "invalid_grant")
		if works(first) {
			t.Error("what a replayed code gave lives on")
		}
		refused(t, "its refresh token", a.RedeemToken(t, client, "refresh_token", first.Text("refresh_token")), 400,
			"invalid_grant")

		// A reused refresh token revokes its family.
		one := a.RedeemToken(t, client, "authorization_code", a.Code(t, client, a.OwnerID, agent)).ParseJSON(t)
		two := a.RedeemToken(t, client, "refresh_token", one.Text("refresh_token")).ParseJSON(t)
		three := a.RedeemToken(t, client, "refresh_token", two.Text("refresh_token")).ParseJSON(t)
		if !works(one) || !works(two) || !works(three) || one.Text("refresh_token") == two.Text("refresh_token") {
			t.Error("rotation")
		}
		refused(t, "a refresh token twice", a.RedeemToken(t, client, "refresh_token", one.Text("refresh_token")), 400,
			"invalid_grant")
		if works(one) || works(two) || works(three) {
			t.Error("the family lives on")
		}
		refused(t, "the newest", a.RedeemToken(t, client, "refresh_token", three.Text("refresh_token")), 400,
			"invalid_grant")
		if got, want := a.Events(t, "agent."),
			"agent.created agent.connected agent.disconnected agent.connected agent.disconnected"; got != want {
			t.Errorf("events %q, want %q", got, want)
		}
	})
}

func TestRaces(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent := a.NewAgent(t, a.Tenant, "all")
		client := a.NewClient(t)
		for range 10 {
			code := a.Code(t, client, a.OwnerID, agent)
			answers := make([]apptest.Result, 8)
			apptest.RunAtOnce(len(answers), func(i int) {
				answers[i] = a.RedeemToken(t, client, "authorization_code",
					code)
			})
			won, alive := 0, 0
			for _, r := range answers {
				if r.Status == 200 {
					won++
					if _, err := a.Grants.LoginByToken(t.Context(), r.ParseJSON(t).Text("access_token")); err == nil {
						alive++
					}
				}
			}
			if won != 1 || alive != 0 {
				t.Fatalf("%d exchanges of one code succeeded, %d live on", won, alive)
			}
		}
		fresh := a.RedeemToken(t, client, "authorization_code", a.Code(t, client, a.OwnerID, agent)).ParseJSON(t)
		answers := make([]apptest.Result, 100)
		apptest.RunAtOnce(len(answers),
			func(i int) { answers[i] = a.RedeemToken(t, client, "refresh_token", fresh.Text("refresh_token")) })
		won := 0
		for _, r := range answers {
			if r.Status == 200 {
				won++
			} else if r.Status != 400 {
				t.Errorf("%d %s", r.Status, r.Body)
			}
		}
		if won > 1 {
			t.Errorf("%d of 100 parallel refreshes survived", won)
		}
	})
}

func TestLimits(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		if e == db.Postgres {
			t.Skip("the limits are in memory")
		}
		s := apptest.Settings(t, e)
		s.OAuth.RegisterLimit, s.OAuth.TokenLimit = 10, 10
		a := apptest.StartWith(t, s)
		for path, send := range map[string]func(i int) apptest.Result{
			"/oauth/register": func(i int) apptest.Result {
				return a.Agents(t, http.MethodPost, "/oauth/register", `{}`, "Content-Type", "application/json",
					"X-Forwarded-For",
					fmt.Sprintf("203.0.113.%d", i))
			},
			"/oauth/token": func(i int) apptest.Result {
				return a.Agents(t, http.MethodPost, "/oauth/token", `x=1`, "Content-Type", form, "X-Forwarded-For",
					fmt.Sprintf("203.0.113.%d", i))
			},
			"/oauth/revoke": func(i int) apptest.Result {
				return a.Agents(t, http.MethodPost, "/oauth/revoke", `x=1`, "Content-Type", form, "X-Forwarded-For",
					fmt.Sprintf("203.0.113.%d", i))
			},
		} {
			for i := range 10 {
				if r := send(i); r.Status == 429 {
					t.Errorf("%s: request %d was refused", path, i)
				}
			}
			r := send(99) // a forged header gains nothing
			refused(t, path, r, 429, "temporarily_unavailable")
			// The first of the ten has to leave the window: no bucket refills
			// in the meantime, which would take six seconds.
			if w, err := strconv.Atoi(r.Header.Get("Retry-After")); err != nil || w < 10 || w > 60 {
				t.Errorf("%s: Retry-After %d", path, w)
			}
		}

		s = apptest.Settings(t, e)
		s.OAuth.RegisterLimit, s.TrustedProxies = 1, []string{"127.0.0.0/8"}
		a = apptest.StartWith(t, s)
		for i := range 3 {
			r := a.Agents(t, http.MethodPost, "/oauth/register", `{}`, "Content-Type", "application/json",
				"X-Forwarded-For",
				fmt.Sprintf("6.6.6.%d, 203.0.113.%d", i, i%2))
			if (r.Status == 429) != (i == 2) {
				t.Errorf("behind a proxy, request %d: %d", i, r.Status)
			}
		}
	})
}
