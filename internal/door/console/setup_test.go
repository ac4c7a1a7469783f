package console_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

// The first owner comes by a link that works once, and is then signed in to an
// organization with a business.
func TestSetup(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e db.Engine) {
		a, site := emptyApp(t, e)
		link := func() string {
			t.Helper()
			s, err := a.Accounts.SetupLink(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimPrefix(s, a.Settings.BaseURL)
		}
		replaced, path := link(), link()
		b := visit(t, site)
		b.get(replaced).refused(404, "a newer one replaced it")
		b.get("/setup/fdu_guess").refused(404)
		b.get(path).at("/setup/", "You are the first here", "Create organization")

		// What is wrong is said at its field, and what was typed stays, but for
		// the password.
		p := b.post(path, "name", "", "email", "nobody", "password", "a long password", "organizationName", "Engines & Co", "plan", "starter").
			refused(400, "Fill this in", "Invalid email address")
		if p.find(`id="organizationName"[^>]*value="([^"]*)"`) != "Engines & Co" || p.find(`<option value="(\w+)" selected`) != "starter" {
			t.Errorf("typed values are gone: %s", p.Body)
		}
		p.hasNot("a long password")
		b.post(path, "name", "Ada", "email", "ada@example.com", "password", "short", "organizationName", "Engines", "plan", "free").refused(400, "Too short: expected at least 8 characters")

		// Several at once: one gets in.
		var in atomic.Int32
		apptest.AtOnce(4, func(int) {
			c := visit(t, site)
			p := c.post(path, "name", "Ada <Lovelace>", "email", "ada@example.com", "password", "a long password", "organizationName", "Engines", "plan", "starter")
			if p.Status == 200 && strings.HasPrefix(p.Path, "/?done=welcome") {
				in.Add(1)
				p.has("Ada <Lovelace>", "Accept the business agreement", "Read and accept")
				c.get("/settings/plan").at("/settings/plan", "Starter")
			} else if p.Status != 404 {
				t.Errorf("%d %s", p.Status, p.text())
			}
		})
		if in.Load() != 1 {
			t.Errorf("%d set the service up", in.Load())
		}
		if want := "organization.created:user:console business.created:user:console user.created:user:console session.created:user:console"; events(t, a.DB) != want {
			t.Errorf("events: %s", events(t, a.DB))
		}
		b.get(path).refused(404)
		b.post(path, "name", "Eve", "email", "eve@example.com", "password", "a long password", "organizationName", "Evil", "plan", "free").refused(404)
		if s := link(); s != "" {
			t.Errorf("a link although there is an organization: %s", s)
		}
		b.signIn("ADA@example.com", "a long password").at("/", "Ada <Lovelace>")
	})
}
