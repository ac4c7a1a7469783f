package console_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// connect is a client of the agent connection: it registers, sends the browser
// to the authorization page, and gets its code at an address of its own, which
// the consent page's policy must allow.
func connect(t *testing.T, s *screen, service *service) {
	t.Helper()
	codes := make(chan url.Values, 4)
	callback := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			codes <- r.URL.Query()
		}
		io.WriteString(w, "You can close this window.")
	}))
	t.Cleanup(callback.Close)
	redirect := callback.URL + "/callback"

	registration, err := json.Marshal(map[string]any{"client_name": "Notebook", "redirect_uris": []string{redirect}})
	if err != nil {
		t.Fatal(err)
	}
	var client struct {
		ID string `json:"client_id"`
	}
	post(t, service.AgentURL+"/oauth/register", "application/json", string(registration), &client)
	const verifier = "a-verifier-of-at-least-forty-three-characters-as-the-rule-wants"
	sum := sha256.Sum256([]byte(verifier))
	ask := service.AgentURL + "/oauth/authorize?" + url.Values{"client_id": {client.ID}, "redirect_uri": {redirect},
		"response_type": {"code"}, "state": {"mine"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
		"resource": {service.AgentURL + "/mcp"}, "scope": {"mcp offline_access"}}.Encode()

	s.visit(ask)
	s.has("Connect Notebook", strings.TrimPrefix(callback.URL, "http://"), "Assistant")
	s.inspect("consent")
	box := eval[[]float64](s,
		`[...document.querySelectorAll(".pair2 button")].map(b => b.getBoundingClientRect()).flatMap(r => [r.width, `+
			`r.height])`)
	if len(box) != 4 || box[0] != box[2] || box[1] != box[3] {
		t.Errorf("Approve and Decline differ in size: %v", box)
	}
	s.press("#decline")
	if back := <-codes; back.Get("error") != "access_denied" || back.Get("state") != "mine" {
		t.Errorf("declined: %v", back)
	}

	s.visit(ask)
	s.do(chromedp.Click(chromedp.CSS(`.offer:first-child input[name="agent_id"]`)))
	s.press("#approve")
	s.has("You can close this window.")
	back := <-codes
	if back.Get("code") == "" || back.Get("iss") != service.AgentURL {
		t.Fatalf("approved: %v", back)
	}
	var tokens struct {
		Access string `json:"access_token"`
	}
	post(t, service.AgentURL+"/oauth/token", "application/x-www-form-urlencoded",
		url.Values{"grant_type": {"authorization_code"}, "client_id": {client.ID}, "code": {back.Get("code")},
			"redirect_uri": {redirect}, "code_verifier": {verifier},
			"resource": {service.AgentURL + "/mcp"}}.Encode(), &tokens)
	if tokens.Access == "" {
		t.Fatal("no access token")
	}

	// Its agent's page lists it, and can disconnect it.
	s.visit(service.URL + "/agents")
	s.press(`tr:last-child td a`)
	s.has("Notebook", "Disconnect")
	s.inspect("agent-connected")
	s.press(`a[href$="/disconnect"]`)
	s.has("Disconnect Notebook")
	s.inspect("disconnect")
}

// post sends a body and reads the JSON that comes back.
func post(t *testing.T, address, kind, body string, out any) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	if text := send(t, req); json.Unmarshal([]byte(text), out) != nil {
		t.Fatalf("%s: %s", address, text)
	}
}

// send makes a request and returns the body of its answer.
func send(t *testing.T, req *http.Request) string {
	t.Helper()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
