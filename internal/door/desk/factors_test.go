package desk_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

// eachSite runs fn once per engine on a service where browsers offer passkeys.
func eachSite(t *testing.T, fn func(t *testing.T, a *apptest.App)) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		s.BaseURL = "http://localhost:8080"
		fn(t, apptest.StartWith(t, s))
	})
}

// code is what the app shows now, as if none had been used.
func code(t *testing.T, a *apptest.App, secret string) string {
	t.Helper()
	exec(t, a, "UPDATE code_secrets SET last_step = 0")
	return apptest.OneTimeCode(t, secret, a.Clock.Now().Std())
}

const recoveryCode = `([A-Z2-7]{4}(?:-[A-Z2-7]{4}){3})`

// A person adds an app for one-time codes without a script, signs in with it, with
// a recovery code, and removes it.
func TestCodesInPages(t *testing.T) {
	eachSite(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		b.get("/settings/sign-in").at("/settings/sign-in", "You have none", "You are signed in nowhere else",
			"Add an app for one-time codes", "An unknown browser")
		b.get("/settings/sign-in/codes").at("/settings/sign-in/confirm", "Confirm that it is you")
		b.post("/settings/sign-in/confirm", "password", "a wrong password", "next", "/settings/sign-in/codes").
			refused(400, "This is not your password")
		p := b.post("/settings/sign-in/confirm", "password", "a long password", "next", "/settings/sign-in/codes").
			at("/settings/sign-in/codes", "scan this picture")
		secret := p.find(`<code>([A-Z2-7 ]+)</code>`)
		if !strings.Contains(p.Body, `<svg class="qr"`) || strings.Contains(p.Body, "style=") {
			t.Error("no picture, or one that the policy refuses")
		}
		b.post("/settings/sign-in/codes", "code", "12").refused(400, "not the code").has("scan this picture")
		if again := b.get("/settings/sign-in/codes").find(`<code>([A-Z2-7 ]+)</code>`); again != secret {
			t.Error("the picture changed")
		}
		p = b.post("/settings/sign-in/codes", "code", code(t, a, secret)).at("/settings/sign-in/codes",
			"Your recovery codes", "I have kept them")
		recovery := p.find(recoveryCode)
		b.get("/settings/sign-in").at("/settings/sign-in", "App for one-time codes", "10 of your codes are unused").
			hasNot(recovery, secret)

		// The second step, in another browser.
		other := visit(t, a.URL)
		other.post("/sign-in", "email", a.Owner, "password", "a long password", "next", "/settings/keys").
			at("/sign-in/second", "One more step", a.Owner)
		other.get("/settings/keys").at("/sign-in") // nothing is open yet
		other.get("/sign-in/second?next=%2Fsettings%2Fkeys").at("/sign-in/second")
		other.post("/sign-in/second", "code", "000000", "next", "/settings/keys").refused(401, "That code is wrong")
		other.post("/sign-in/second", "code", code(t, a, secret), "next", "//evil.example").at("/", "Today")
		other.get("/sign-in/second").at("/", "Today") // it is over
		third := visit(t, a.URL)
		third.signIn(a.Owner, "a long password").at("/sign-in/second")
		third.post("/sign-in/second", "code", recovery).at("/", "Today")
		b.get("/settings/sign-in").at("/settings/sign-in", "9 of your codes are unused", "End all others")

		// Removing asks who it is, and what it means is said.
		exec(t, a, "UPDATE sessions SET confirmed_at = NULL")
		b.get("/settings/sign-in/codes/remove").at("/settings/sign-in/confirm")
		b.post("/settings/sign-in/confirm", "code", code(t, a, secret), "next", "/settings/sign-in/codes/remove").
			at("/settings/sign-in/codes/remove", "It is your only second factor")
		b.post("/settings/sign-in/codes/remove").at("/settings/sign-in", "Removed.", "You have none")
		visit(t, a.URL).signIn(a.Owner, "a long password").at("/")

		for _, s := range []string{recovery, secret, strings.ReplaceAll(secret, " ", "")} {
			if strings.Contains(a.Logs.String(), s) {
				t.Errorf("the logs have %q", s)
			}
		}
	})
}

// An owner without a factor sees only the page to add one, once the organization
// requires it.
func TestEnrollment(t *testing.T) {
	eachSite(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		b.post("/settings/sign-in/required", "required", "yes").refused(409, "Add a second factor of your own first")
		exec(t, a, "UPDATE organizations SET requires_factor = TRUE WHERE id = $1", a.Org)
		for _, path := range []string{"/", "/contacts", "/settings/keys", "/settings/members", "/settings/password",
			"/agents", "/review", "/search?query=x", "/live", "/automations", "/consent/" + string(a.Org)} {
			p := b.get(path).at("/settings/sign-in", "Add a second factor", "asks its owners and admins")
			p.hasNot(`class="rail"`, "Contacts", "API keys")
		}
		for _, path := range []string{"/settings/organizations", "/sign-out", "/settings/sign-in/recovery"} {
			b.get(path).at(path).hasNot(`class="rail"`)
		}
		b.post("/settings/keys/new", "name", "X", "permissions", "*", "business_id", string(a.Business)).
			at("/settings/sign-in", "Add a second factor")
		p := b.get("/settings/sign-in/codes?next=%2Fagents").at("/settings/sign-in/codes", "scan this picture")
		p.hasNot(`class="rail"`)
		secret := p.find(`<code>([A-Z2-7 ]+)</code>`)
		p = b.post("/settings/sign-in/codes", "code", code(t, a, secret), "next", "/agents").
			at("/settings/sign-in/codes", "Your recovery codes")
		if next := p.find(`<a class="btn main" href="([^"]*)">I have kept them`); next != "/agents" {
			t.Errorf("it leads to %s", next)
		}
		b.get("/agents").at("/agents", "Agents")
		b.get("/settings/sign-in/codes/remove").at("/settings/sign-in/confirm")
		b.post("/settings/sign-in/confirm", "password", "a long password", "next", "/settings/sign-in/codes/remove").
			has("requires one")
	})
}

// Sessions are shown with their browsers, and ended.
func TestSessionsInPages(t *testing.T) {
	eachSite(t, func(t *testing.T, a *apptest.App) {
		b, other, third := owner(t, a), visit(t, a.URL), owner(t, a)
		form := url.Values{"email": {a.Owner}, "password": {"a long password"}}
		const safari = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Safari/604.1"
		other.do(http.MethodPost, "/sign-in", form, "User-Agent", safari).at("/")
		p := b.get("/settings/sign-in").at("/settings/sign-in", "Safari on iPhone", "this one", "127.0.0.1")
		end := p.find(`action="(/settings/sign-in/sessions/[^"]*/end)"><input[^>]*><button[^>]*>End<span[^>]*>` +
			` the session of S`)
		b.post(end).at("/settings/sign-in", "Ended.").hasNot("Safari on iPhone")
		other.get("/").at("/sign-in")
		third.get("/").at("/")
		b.post("/settings/sign-in/sessions/end-others").at("/settings/sign-in", "All other browsers are signed out",
			"You are signed in nowhere else")
		third.get("/").at("/sign-in")
	})
}
