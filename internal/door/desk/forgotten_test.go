package desk_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
)

// People who forgot their password get a link from the operator, which works
// once and ends every session.
func TestForgotten(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := visit(t, a.URL)
		b.get("/sign-in").at("/sign-in", "Forgotten your password?")
		b.get("/forgotten").at("/forgotten", "whoever runs this server", "frontdesk admin user password-link")

		link := func() string {
			t.Helper()
			url := a.AsOperator(t, "users.link_password", "", "",
				`{"email": "`+strings.ToUpper(a.Owner)+`"}`).Text("url")
			return strings.TrimPrefix(url, a.Settings.BaseURL)
		}
		signedIn := owner(t, a)
		first, second := link(), link()
		b.get(first).refused(404, "a newer one replaced it")
		b.post(first, "password", "a newer password").refused(404)
		b.get(second).at(second, "Set a new password")
		b.post(second, "password", "short").refused(400, "Too short")
		b.post(second, "password", "a newer password").at("/sign-in", "you are signed out everywhere")
		signedIn.get("/").at("/sign-in")
		b.signIn(a.Owner, "a long password").refused(401)
		b.post(second, "password", "a third password").refused(404, "This link was used")
		b.signIn(a.Owner, "a newer password").at("/")

		// Using it also signs this browser out, whoever was signed in.
		b.post(link(), "password", "a long password").at("/sign-in")
		b.get("/").at("/sign-in")

		// It expires after half an hour, and does not work for disabled users.
		late := link()
		exec(t, a, "UPDATE password_links SET expires_at = $1", a.Clock.Now())
		b.get(late).refused(404, "has expired")
		b.post(late, "password", "a newer password").refused(404)
		off := link()
		a.AsOperator(t, "users.disable", "", "", `{"email": "`+a.Owner+`"}`)
		b.post(off, "password", "a newer password").refused(404)
		for email, kind := range map[string]*fault.Kind{a.Owner: fault.Invalid, "nobody@example.com": fault.NotFound} {
			_, err := a.Admin.Do(t.Context(),
				admin.Request{Operation: "users.link_password", Input: []byte(`{"email": "` + email + `"}`)})
			if !fault.IsKind(err, kind) {
				t.Errorf("%s: %v", email, err)
			}
		}
		a.AsOperator(t, "users.enable", "", "", `{"email": "`+a.Owner+`"}`)

		// Several use it at once: one sets the password.
		raced, won := link(), atomic.Int32{}
		apptest.RunAtOnce(4, func(int) {
			switch p := visit(t, a.URL).post(raced, "password", "a raced password"); p.Status {
			case 200:
				won.Add(1)
			case 404:
			default:
				t.Errorf("%d: %s", p.Status, p.text())
			}
		})
		if won.Load() != 1 {
			t.Errorf("it worked %d times", won.Load())
		}
		// A sign-in with the old password at the same time is ended too.
		sure := link()
		apptest.RunAtOnce(5, func(i int) {
			if i == 0 {
				visit(t, a.URL).post(sure, "password", "the last password").at("/sign-in")
				return
			}
			visit(t, a.URL).signIn(a.Owner, "a raced password")
		})
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			n, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM sessions WHERE user_id = $1", a.OwnerID)
			if n != 0 {
				t.Errorf("%d sessions outlive their password", n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Events(t, "user.password"); strings.Count(got, "user.password_reset") != 4 ||
			strings.Count(got, "user.password_link_created") != 7 {
			t.Errorf("events: %s", got)
		}
		for _, secret := range []string{first, second, raced, "a raced password", "a newer password"} {
			if strings.Contains(a.Logs.String(), strings.TrimPrefix(secret, "/password/")) {
				t.Errorf("the logs have %q", secret)
			}
		}
	})
}
