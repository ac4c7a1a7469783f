package oauth_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

// Somebody registers a client whose redirect URI is a phishing page, and sends
// people deliberately wrong links to /oauth/authorize (RFC 9700 §4.11.2). A
// browser is not redirected automatically; a person who wants to go there sees
// where the link leads.
func TestAttackOpenRedirect(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		const evil = "https://frontdesk-login.evil.example/callback?campaign=1"
		registered := a.Agents(t, http.MethodPost, "/oauth/register",
			`{"client_name": "Frontdesk", "redirect_uris": ["`+evil+`", "evil.app://x/cb"]}`,
			"Content-Type", "application/json").ParseJSON(t)
		client := registered.Text("client_id")
		browser := []string{"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
			"Sec-Fetch-Mode",
			"navigate"}
		for _, wrong := range [][]string{
			{"resource", "https://elsewhere.example"}, {"resource", ""}, {"scope", "everything"},
			{"code_challenge_method", "plain"},
			{"response_type", "token"}, {"state", "a\x00b"},
		} {
			for redirect, host := range map[string]string{evil: "frontdesk-login.evil.example",
				"evil.app://x/cb": "evil.app://x"} {
				ask := a.AuthorizePath(client, append([]string{"redirect_uri", redirect}, wrong...)...)
				for _, headers := range [][]string{browser, {"Accept", "text/html"}, {"Sec-Fetch-Mode", "navigate"}} {
					r := a.Agents(t, http.MethodGet, ask, "", headers...)
					if r.Status != 400 || r.Header.Get("Location") != "" || r.Header.Get("Refresh") != "" ||
						!strings.Contains(string(r.Body), host) {
						t.Errorf("%v to %s with %v: %d %v %s", wrong, redirect, headers, r.Status, r.Header, r.Body)
						continue
					}
					// The page has no script and no form: only the link leads
					// on.
					if !strings.Contains(r.Header.Get("Content-Security-Policy"), "default-src 'none'") {
						t.Errorf("policy: %v", r.Header)
					}
					href := regexp.MustCompile(`<a href="([^"]*)"`).FindSubmatch(r.Body)
					if href == nil {
						t.Errorf("%v: no way on: %s", wrong, r.Body)
						continue
					}
					to, err := url.Parse(html.UnescapeString(string(href[1])))
					if err != nil || to.Query().Get("error") == "" || to.Query().Get("iss") != a.Settings.MCPURL ||
						wrong[0] != "state" && to.Query().Get("state") != "a state" {
						t.Errorf("the link leads to %s", href[1])
					}
				}
			}
		}
		// A program that reads the answer itself is redirected with the refusal
		// and its state: it shows nothing to anybody.
		r := a.Agents(t, http.MethodGet, a.AuthorizePath(client, "redirect_uri", evil, "resource",
			"https://elsewhere.example"), "",
			"Accept", "*/*")
		to, err := url.Parse(r.Header.Get("Location"))
		if err != nil || r.Status != 302 || to.Query().Get("error") != "invalid_target" ||
			to.Query().Get("state") != "a state" || to.Query().Get("campaign") != "1" {
			t.Errorf("%d %v", r.Status, r.Header)
		}
		// So is a browser, if the target is the person's own machine.
		local := a.Agents(t, http.MethodGet, a.AuthorizePath(a.NewClient(t), "resource", "https://elsewhere.example"),
			"", browser...)
		sentBack(t, a, "a browser, to this machine", local, "invalid_target")
	})
}
