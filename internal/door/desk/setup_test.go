package desk_test

import (
	"context"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

// The first owner opens a link that works once, and is then signed in to an
// organization with a business.
func TestSetup(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		a, site := emptyApp(t, e)
		link := func() string {
			t.Helper()
			s, err := a.Accounts.CreateSetupLink(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimPrefix(s, a.Settings.BaseURL)
		}
		replaced := link()
		// The operator can print a new one.
		data, err := a.Admin.RunTask(t.Context(), "setup.link", struct{}{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		path := regexp.MustCompile(`/setup/fdu_\w+`).FindString(string(data))
		b := visit(t, site)
		// Whoever finds the server without its link learns where the link is.
		b.get("/").at("/sign-in", "not set up yet", "frontdesk admin setup-link")
		b.get(replaced).refused(404, "a newer one replaced it")
		b.get("/setup/fdu_guess").refused(404)
		b.get(path).at("/setup/", "You are the first here", "Create organization")

		// Issues appear at their fields, and what was typed stays, except for the
		// password.
		p := b.post(path, "name", "", "email", "nobody", "password", "a long password", "organizationName",
			"Engines & Co").
			refused(400, "Fill this in", "Invalid email address")
		if p.find(`id="organizationName"[^>]*value="([^"]*)"`) != "Engines & Co" {
			t.Errorf("typed values are gone: %s", p.Body)
		}
		p.hasNot("a long password")
		b.post(path, "name", "Ada", "email", "ada@example.com", "password", "short", "organizationName",
			"Engines").refused(400, "Too short: expected at least 8 characters")

		// Several at once: one gets in.
		var in atomic.Int32
		apptest.RunAtOnce(4, func(int) {
			c := visit(t, site)
			p := c.post(path, "name", "Ada <Lovelace>", "email", "ada@example.com", "password", "a long password",
				"organizationName", "Engines")
			if p.Status == 200 && strings.HasPrefix(p.Path, "/?done=welcome") {
				in.Add(1)
				p.has("Ada <Lovelace>", "Welcome", "Finish setting up")
				c.get("/setup").at("/setup", "2 of 12 done", "Accept the business agreement", "Read and accept")
				c.get("/settings/plan").at("/settings/plan", "Enterprise")
			} else if p.Status != 404 {
				t.Errorf("%d %s", p.Status, p.text())
			}
		})
		if in.Load() != 1 {
			t.Errorf("%d set the service up", in.Load())
		}
		if want := "organization.created:user:console business.created:user:console user.created:user:console " +
			"session.created:user:console"; events(t, a.DB) != want {
			t.Errorf("events: %s", events(t, a.DB))
		}
		b.get(path).refused(404)
		b.get("/").at("/sign-in").hasNot("not set up yet")
		b.post(path, "name", "Eve", "email", "eve@example.com", "password", "a long password", "organizationName",
			"Evil").refused(404)
		if s := link(); s != "" {
			t.Errorf("a link although there is an organization: %s", s)
		}
		_, err = a.Admin.RunTask(t.Context(), "setup.link", struct{}{}, nil)
		if err == nil || !strings.Contains(err.Error(), "is already set up") {
			t.Errorf("a link for a server that is set up: %v", err)
		}
		b.signIn("ADA@example.com", "a long password").at("/", "Ada <Lovelace>")
	})
}
