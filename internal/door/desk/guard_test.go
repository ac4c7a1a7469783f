package desk_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// Forms that another site sends change nothing, and no page can be framed.
func TestOtherSites(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	b := owner(t, a)
	form := url.Values{"name": {"Evil"}, "business_id": {string(a.Business)}, "permissions": {"*"}}
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"},
		{"Origin", "null"},
		{"Sec-Fetch-Site", "cross-site", "Origin", a.URL},
	} {
		b.do(http.MethodPost, "/settings/keys/new", form, headers...).refused(403, "This form came from another site")
		b.do(http.MethodPost, "/sign-in", url.Values{"email": {a.Owner}, "password": {"a long password"}},
			headers...).refused(403)
	}
	b.get("/settings/keys").at("/settings/keys").hasNot("Evil")
	b.do(http.MethodPost, "/settings/keys/new", form, "Sec-Fetch-Site", "same-origin").at("/settings/keys/new",
		"API key Evil")
	b.do(http.MethodPost, "/settings/keys/new", form, "Origin", a.URL).at("/settings/keys/new")

	for _, path := range []string{"/", "/sign-in", "/agents", "/nowhere", "/agreements"} {
		h := b.get(path).Header
		policy := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'",
			"frame-ancestors 'none'",
			"base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(policy+";", part+";") {
				t.Errorf("%s: no %s in %s", path, part, policy)
			}
		}
		if strings.Contains(policy, "unsafe") || h.Get("X-Frame-Options") != "DENY" ||
			h.Get("Cache-Control") != "no-store" ||
			h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, h)
		}
	}
	sheet := b.get(b.get("/").find(`href="(/assets/desk.css[^"]*)"`)).at("/assets/")
	script := b.get(b.get("/").find(`src="(/assets/desk.js[^"]*)"`)).at("/assets/")
	if n := len(sheet.Body) + len(script.Body); n < 50_000 || n > 118_000 {
		t.Errorf("style sheet and script have %d bytes together; with what few pages load it is to be under 120 KB", n)
	}
	if !strings.Contains(sheet.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("the style sheet is kept: %s", sheet.Header.Get("Cache-Control"))
	}
	b.do(http.MethodPost, "/sign-in", url.Values{"email": {strings.Repeat("x", 300<<10)}}).refused(400, "too large")
	visit(t, a.URL).do(http.MethodPost, "/automations/new",
		url.Values{"name": {strings.Repeat("x", 300<<10)}}).refused(400, "too large")
	b.do(http.MethodPost, "/automations/new",
		url.Values{"name": {strings.Repeat("x", 5<<20)}}).refused(400, "too large")
}

// Text that is not UTF-8 is the sender's mistake, in a form and in a path.
func TestBrokenText(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	b := owner(t, a)
	b.post("/settings/keys/new", "name", "\xff", "business_id", string(a.Business), "permissions",
		"*").refused(400, "not valid UTF-8")
	stranger := visit(t, a.URL)
	stranger.signIn("\xff@example.com", "a long password").refused(400)
	for _, path := range []string{"/unsubscribe/%ff", "/setup/%ff", "/join/%ff"} {
		stranger.get(path).refused(404)
		stranger.post(path, "name", "Ada", "password", "a long password").refused(404)
	}
	if strings.Contains(a.Logs.String(), "level=ERROR") {
		t.Errorf("something failed inside:\n%s", a.Logs)
	}
}
