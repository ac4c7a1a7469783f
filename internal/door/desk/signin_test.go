package desk_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/secret"
)

func exec(t testing.TB, a *apptest.App, text string, args ...any) {
	t.Helper()
	err := a.DB.Write(context.Background(), func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, text, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A session starts with the right password, has a token of its own, and ends in
// every way that it should.
func TestSession(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := visit(t, a.URL)
		b.get("/settings/keys").at("/sign-in?next=%2Fsettings%2Fkeys", "Sign in")
		unknown := b.signIn("nobody@example.com", "a long password").refused(401)
		wrong := b.signIn(a.Owner, "a wrong password").refused(401, "The email or password is wrong.")
		if strings.ReplaceAll(unknown.text(), "nobody@example.com", a.Owner) != wrong.text() {
			t.Errorf("an unknown user is told apart:\n%s\n%s", unknown.text(), wrong.text())
		}
		if wrong.find(`id="email"[^>]*value="([^"]*)"`) != a.Owner {
			t.Error("the address must be typed again")
		}
		b.post("/sign-in?next=/settings/keys", "email", a.Owner, "password", "a long password").at("/settings/keys",
			"API keys")
		first := b.cookie().Value

		// The database has only the hash, and the logs have nothing.
		err := a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) error {
			n, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM sessions WHERE hash = $1", []byte(first))
			if n != 0 {
				t.Error("the token itself is stored")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}

		// A new id at each sign-in; the old one is dead.
		b.signIn(a.Owner, "a long password").at("/")
		if b.cookie().Value == first {
			t.Error("the session kept its id")
		}
		stolen := visit(t, a.URL)
		u, _ := url.Parse(a.URL)
		stolen.http.Jar.SetCookies(u, []*http.Cookie{{Name: "frontdesk", Value: first}})
		stolen.get("/").at("/sign-in")

		second := b.cookie().Value
		b.get("/sign-out").at("/sign-out", "You are signed in as Owner")
		b.post("/sign-out").at("/sign-in")
		stolen.http.Jar.SetCookies(u, []*http.Cookie{{Name: "frontdesk", Value: second}})
		stolen.get("/").at("/sign-in")

		// Fourteen days without use, ninety at most.
		b.signIn(a.Owner, "a long password").at("/")
		day := int64(24 * 60 * 60 * 1_000_000)
		now := int64(a.Clock.Now())
		exec(t, a, "UPDATE sessions SET used_at = $1, created_at = $2, expires_at = $3", now-13*day, now-80*day,
			now+day)
		b.get("/").at("/", "Today")
		err = a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) error {
			end, err := db.QueryOne[int64](ctx, tx, "SELECT expires_at FROM sessions WHERE used_at >= $1", now)
			if end != now+10*day {
				t.Errorf("it would last %d days more, want 10", (end-now)/day)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		exec(t, a, "UPDATE sessions SET expires_at = $1", now)
		b.get("/").at("/sign-in")

		// A disabled user is out at once, and enabling does not bring sessions back.
		b.signIn(a.Owner, "a long password").at("/")
		a.AsOperator(t, "users.disable", "", "", `{"email": "`+a.Owner+`"}`)
		b.get("/").at("/sign-in")
		b.signIn(a.Owner, "a long password").refused(403, "This user is disabled")
		b.signIn(a.Owner, "a wrong password").refused(401, "is wrong")
		a.AsOperator(t, "users.enable", "", "", `{"email": "`+a.Owner+`"}`)
		b.get("/").at("/sign-in")

		// A disabled account says so, and one can sign out of it.
		b.signIn(a.Owner, "a long password").at("/")
		a.AsOperator(t, "organizations.update", "organization", a.Org, `{"status": "disabled"}`)
		b.get("/agents").refused(403, "This account is disabled")
		b.post("/sign-out").at("/sign-in")
		a.AsOperator(t, "organizations.update", "organization", a.Org, `{"status": "active"}`)

		// A password change ends every other session.
		b.signIn(a.Owner, "a long password").at("/")
		other := owner(t, a)
		b.post("/settings/password", "current", "wrong wrong", "password", "another password").refused(400,
			"This is not your current password")
		b.post("/settings/password", "current", "a long password", "password",
			"another password").at("/settings/password",
			"Password changed")
		b.get("/").at("/", "Today")
		other.get("/").at("/sign-in")
		other.signIn(a.Owner, "another password").at("/")

		for _, secret := range []string{first, second, "a long password", "another password", "a wrong password"} {
			if strings.Contains(a.Logs.String(), secret) {
				t.Errorf("the logs have %q", secret)
			}
		}
	})
}

// Wrong passwords are limited by account and by address, right ones are not.
func TestAttempts(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	b := visit(t, a.URL)
	for range 12 { // more than the limit
		b.signIn(a.Owner, "a long password").at("/")
		b.post("/sign-out")
	}
	var limited atomic.Int32
	apptest.RunAtOnce(16, func(int) {
		p := visit(t, a.URL).signIn(a.Owner, "a wrong password")
		if p.Status == 429 {
			limited.Add(1)
			if p.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		} else if p.Status != 401 {
			t.Errorf("%d", p.Status)
		}
	})
	if limited.Load() == 0 {
		t.Error("sixteen wrong passwords at once pass")
	}
	visit(t, a.URL).signIn(a.Owner, "a long password").refused(429, "Too many wrong passwords")
	// The browser that signed in before is not locked out, and stays known after
	// its session has ended.
	b.signIn(a.Owner, "a long password").at("/")
	b.post("/sign-out")
	// Somebody else at the same address still gets in.
	c := a.NewTenant(t, "free")
	b.signIn(c.Owner, "a long password").at("/")
	// A header that anybody can send is not trusted as an address.
	visit(t, a.URL).from("198.51.100.7", a.Owner, "a long password").refused(429)
	// A token that somebody planted, or that is another user's, does not count.
	u, _ := url.Parse(a.URL)
	for _, token := range []string{secret.NewToken("fdb_"), "fdb_x", browserToken(t, ownerOf(t, a, c))} {
		planted := visit(t, a.URL)
		planted.http.Jar.SetCookies(u, []*http.Cookie{{Name: "frontdesk_browser", Value: token}})
		planted.signIn(a.Owner, "a long password").refused(429)
	}
	// Each sign-in renews the browser's token, and a password set by a link makes
	// every browser unknown.
	first := browserToken(t, b)
	b.signIn(a.Owner, "a long password").at("/")
	copied := visit(t, a.URL)
	copied.http.Jar.SetCookies(u, []*http.Cookie{{Name: "frontdesk_browser", Value: first}})
	copied.signIn(a.Owner, "a long password").refused(429)
	link := a.AsOperator(t, "users.link_password", "", "", `{"email": "`+a.Owner+`"}`).Text("url")
	visit(t, a.URL).post(strings.TrimPrefix(link, a.Settings.BaseURL), "password", "a newer password").at("/sign-in")
	b.signIn(a.Owner, "a newer password").refused(429)
}

// browserToken is the token that identifies a browser.
func browserToken(t testing.TB, b *browser) string {
	t.Helper()
	u, err := url.Parse(b.site)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range b.http.Jar.Cookies(u) {
		if c.Name == "frontdesk_browser" {
			return c.Value
		}
	}
	t.Fatal("the browser has no token")
	return ""
}

// After signing in, the visitor goes to a path on this site or the front page.
func TestReturn(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	b := owner(t, a)
	b.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for next, want := range map[string]string{
		"/agents":             "/agents",
		"/settings/keys?page": "/settings/keys?page",
		"//evil.example":      "/", "/\\evil.example": "/", "\\/evil.example": "/", "https://evil.example/": "/",
		"javascript:alert(1)": "/",
		"/%2f/evil.example":   "/", "///evil.example": "/", "/\tevil": "/", "evil": "/", "/sign-out": "/", "": "/",
		"/\n/evil.example": "/",
	} {
		p := b.get("/sign-in?next=" + url.QueryEscape(next))
		if p.Status != 303 || p.Header.Get("Location") != want {
			t.Errorf("%q leads to %d %q, want %q", next, p.Status, p.Header.Get("Location"), want)
		}
	}
}

// Over https the cookie is bound to this host and to https.
func TestCookies(t *testing.T) {
	for _, base := range []string{"https://desk.example", "http://desk.example"} {
		s := apptest.Settings(t, db.SQLite)
		s.BaseURL = base
		a := apptest.StartWith(t, s)
		b := visit(t, a.URL)
		b.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		cookies := b.signIn(a.Owner, "a long password").Header.Values("Set-Cookie")
		https := strings.HasPrefix(base, "https")
		for i, begins := range []string{"__Host-frontdesk=fds_", "__Host-frontdesk_browser=fdb_"} {
			if len(cookies) != 2 {
				t.Fatalf("%s: %s", base, cookies)
			}
			cookie := cookies[i]
			if strings.HasPrefix(cookie, begins) != https || strings.Contains(cookie, "; Secure") != https ||
				!strings.Contains(cookie, "; HttpOnly") || !strings.Contains(cookie, "; SameSite=Lax") ||
				!strings.Contains(cookie, "; Path=/") || strings.Contains(cookie, "Domain") {
				t.Errorf("%s: %s", base, cookie)
			}
		}
	}
}
