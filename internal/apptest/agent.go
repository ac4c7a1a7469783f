package apptest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// Callback is the redirect URI of the clients that tests register.
const Callback = "http://127.0.0.1:7777/callback"

// Verifier is their PKCE secret.
const Verifier = "a-verifier-of-at-least-forty-three-characters-long"

// Challenge is the PKCE challenge of a verifier (RFC 7636 §4.2).
func Challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// NewAgent makes an agent with a preset of permissions: all, read or none.
func (a *App) NewAgent(t testing.TB, v Tenant, preset string) id.ID {
	t.Helper()
	return a.AsOperator(t, "agents.create", "business", v.Business,
		fmt.Sprintf(`{"businessId": %q, "name": "Agent", "preset": %q}`, v.Business, preset)).ID("id")
}

// SetMiddayTimezone gives a tenant's business a timezone in which it is noon, so that the
// limits of a day do not begin anew in the middle of a test.
func (a *App) SetMiddayTimezone(t testing.TB, v Tenant) {
	t.Helper()
	zone := fmt.Sprintf("Etc/GMT%+d", a.Clock.Now().Std().UTC().Hour()-12) // in these names, minus is east of Greenwich
	a.Door("action", v)(t, "businesses.update",
		fmt.Sprintf(`{"id": %q, "timezone": %q}`, v.Business, zone)).OK(t, 200)
}

// NewClient registers an OAuth client and returns its id.
func (a *App) NewClient(t testing.TB) string {
	t.Helper()
	r := a.Agents(t, http.MethodPost, "/oauth/register",
		`{"client_name": "Test client", "redirect_uris": [`+quoteJSON(Callback)+`]}`,
		"Content-Type", "application/json")
	if r.Status != 201 {
		t.Fatalf("register: %d %s", r.Status, r.Body)
	}
	return parseJSON(t, r.Body).Text("client_id")
}

func quoteJSON(s string) string { b, _ := json.Marshal(s); return string(b) }

// Agents makes one request to the agents' listener; headers are pairs.
func (a *App) Agents(t testing.TB, method, path, body string, headers ...string) Result {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, a.AgentURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Result{res.StatusCode, text, res.Header}
}

// AuthorizePath is the path of a valid authorization request. more are pairs of name and
// value that replace its parameters; an empty value leaves one out.
func (a *App) AuthorizePath(client string, more ...string) string {
	q := url.Values{"response_type": {"code"}, "client_id": {client}, "redirect_uri": {Callback}, "state": {"a state"},
		"code_challenge_method": {"S256"},
		"code_challenge":        {Challenge(Verifier)}, "resource": {a.Settings.MCPURL + "/mcp"},
		"scope": {"mcp offline_access"}}
	for i := 0; i < len(more); i += 2 {
		if q.Set(more[i], more[i+1]); more[i+1] == "" {
			q.Del(more[i])
		}
	}
	return "/oauth/authorize?" + q.Encode()
}

// ApproveConsent does what the consent page does: it finds the request that an
// answer of /oauth/authorize leads to, and approves it. It returns where the
// browser is sent.
func (a *App) ApproveConsent(t testing.TB, location string, user, agent id.ID) *url.URL {
	t.Helper()
	request, ok := strings.CutPrefix(location, a.Settings.BaseURL+"/consent/")
	if !ok {
		t.Fatalf("no consent page but %s", location)
	}
	back, err := a.Grants.ApproveRequest(context.Background(), id.ID(request), user, agent)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Code runs a client through authorization and returns its code.
func (a *App) Code(t testing.TB, client string, user, agent id.ID, more ...string) string {
	t.Helper()
	r := a.Agents(t, http.MethodGet, a.AuthorizePath(client, more...), "")
	if r.Status != http.StatusFound {
		t.Fatalf("authorize: %d %s", r.Status, r.Body)
	}
	return a.ApproveConsent(t, r.Header.Get("Location"), user, agent).Query().Get("code")
}

// RedeemToken posts a code or refresh token to the token endpoint. more are pairs of
// name and value that replace fields; an empty value leaves one out.
func (a *App) RedeemToken(t testing.TB, client, kind, secret string, more ...string) Result {
	t.Helper()
	f := url.Values{"grant_type": {kind}, "client_id": {client}, "resource": {a.Settings.MCPURL + "/mcp"}}
	if kind == "refresh_token" {
		f.Set("refresh_token", secret)
	} else {
		f.Set("code", secret)
		f.Set("redirect_uri", Callback)
		f.Set("code_verifier", Verifier)
	}
	for i := 0; i < len(more); i += 2 {
		if f.Set(more[i], more[i+1]); more[i+1] == "" {
			f.Del(more[i])
		}
	}
	return a.Agents(t, http.MethodPost, "/oauth/token", f.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// ConnectAgent registers a client, gives it the right to act as an agent, and returns
// its id and tokens.
func (a *App) ConnectAgent(t testing.TB, v Tenant, agent id.ID) (client, access, refresh string) {
	t.Helper()
	client = a.NewClient(t)
	r := a.RedeemToken(t, client, "authorization_code", a.Code(t, client, v.OwnerID, agent))
	if r.Status != 200 {
		t.Fatalf("token: %d %s", r.Status, r.Body)
	}
	out := parseJSON(t, r.Body)
	return client, out.Text("access_token"), out.Text("refresh_token")
}

// SendRPC posts one JSON-RPC message; headers are pairs. Of a stream of events, the answer is the last one.
func (a *App) SendRPC(t testing.TB, access, message string, headers ...string) Result {
	t.Helper()
	r := a.StreamRPC(t, access, message, headers...)
	if events := r.Events(); len(events) > 0 {
		r.Body = []byte(events[len(events)-1])
	}
	return r
}

// StreamRPC is SendRPC with the whole stream of events, if there is one.
func (a *App) StreamRPC(t testing.TB, access, message string, headers ...string) Result {
	t.Helper()
	return a.Agents(t, http.MethodPost, "/mcp", message,
		append([]string{"Content-Type", "application/json", "Accept", "application/json, text/event-stream",
			"Authorization", "Bearer " + access}, headers...)...)
}

// Events are the messages of a stream of events; none if the answer is no stream.
func (r Result) Events() (out []string) {
	if r.Header.Get("Content-Type") != "text/event-stream" {
		return nil
	}
	for line := range strings.Lines(string(r.Body)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			out = append(out, strings.TrimSpace(data))
		}
	}
	return out
}

// InitializeSession opens a session and returns the headers of its requests.
func (a *App) InitializeSession(t testing.TB, access string) []string {
	t.Helper()
	const version = "2025-06-18"
	r := a.SendRPC(t, access,
		`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "`+version+
			`", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}`)
	if r.Status != 200 || r.Header.Get("Mcp-Session-Id") == "" {
		t.Fatalf("initialize: %d %v %s", r.Status, r.Header, r.Body)
	}
	parseJSON(t, r.Body).At("result").Same("protocolVersion", version)
	headers := []string{"Mcp-Session-Id", r.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", version}
	if r := a.SendRPC(t, access, `{"jsonrpc": "2.0", "method": "notifications/initialized"}`,
		headers...); r.Status != 202 {
		t.Fatalf("initialized: %d %s", r.Status, r.Body)
	}
	return headers
}

// ParseJSON reads a JSON answer.
func (r Result) ParseJSON(t testing.TB) Value {
	t.Helper()
	return parseJSON(t, r.Body)
}

// viaAgent calls tools over the Model Context Protocol as a connected client. An owner
// switched the agent's guard off, so that it may do what the other doors do, and it asks for
// the whole answer, which is that of REST.
func (a *App) viaAgent(v Tenant) Door {
	var access string
	var session []string
	return func(t testing.TB, operation, input string) Result {
		t.Helper()
		if access == "" {
			agent := a.NewAgent(t, v, "all")
			a.AsOperator(t, "agents.configure", "agent", agent, fmt.Sprintf(`{"id": %q, "guard": "off"}`, agent))
			_, access, _ = a.ConnectAgent(t, v, agent)
			session = a.InitializeSession(t, access)
		}
		r := a.SendRPC(t, access,
			fmt.Sprintf(`{"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": {"name": %q, "arguments": `+
				`%s}}`,
				strings.ReplaceAll(operation, ".", "_"), withFullView(input)), session...)
		return a.toolResult(t, operation, r)
	}
}

// withFullView is the input of a tool that shall answer as REST does.
func withFullView(input string) string {
	rest, isObject := strings.CutPrefix(strings.TrimSpace(input), "{")
	if !isObject || strings.Contains(input, `"view"`) {
		return input
	}
	if strings.TrimSpace(rest) != "}" {
		rest = ", " + rest
	}
	return `{"view": "full"` + rest
}

// toolResult is a tool's answer as REST would show it.
func (a *App) toolResult(t testing.TB, operation string, r Result) Result {
	t.Helper()
	var answer struct {
		Result *struct {
			IsError           bool
			StructuredContent json.RawMessage
			Content           []struct{ Type, Text string }
		}
		Error json.RawMessage
	}
	if err := json.Unmarshal(r.Body, &answer); err != nil || r.Status != 200 || answer.Result == nil {
		t.Fatalf("%s: %d %s", operation, r.Status, r.Body)
	}
	out := answer.Result
	if len(out.Content) != 1 ||
		parseJSON(t, []byte(out.Content[0].Text)).String() != parseJSON(t, out.StructuredContent).String() {
		t.Errorf("%s: text and structured content differ: %.2000s", operation, r.Body)
	}
	o := a.Catalog.Named(operation)
	if !out.IsError {
		if o.Status == http.StatusNoContent {
			return Result{Status: o.Status}
		}
		return Result{Status: o.Status, Body: []byte(out.Content[0].Text)}
	}
	// A tool's answer has no status. It follows from the code; if several declared refusals have that code, the first
	// counts.
	refused := Result{Body: []byte(out.Content[0].Text)}
	for _, k := range slices.Concat(append([][]*fault.Kind{o.Errors},
		slices.Collect(maps.Values(o.PossibleFaults()))...)...) {
		if k.Code == refused.Code() {
			refused.Status = k.Status
			break
		}
	}
	return refused
}
