package desk_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
)

// People join by an invitation, which reveals nothing about who they are
// elsewhere; members manage nothing; the last owner stays.
func TestMembers(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		elsewhere := a.NewTenant(t, "free") // whose owner has a password
		invite := func(email, role string) string {
			t.Helper()
			p := b.post("/settings/members/invite", "email", email, "role", role).at("/settings/members/invite",
				"It works once, for 7 days", "will not be shown again")
			return strings.TrimPrefix(p.find(`<output id="secret">([^<]*)</output>`), a.Settings.BaseURL)
		}
		b.post("/settings/members/invite", "email", "nonsense", "role", "member").refused(400, "Invalid email address")
		b.post("/settings/members/invite", "email", strings.ToUpper(a.Owner), "role", "member").refused(400,
			"already belongs to the organization")

		// The links for a new and for a known address look the same.
		fresh, known := invite("grace@example.com", "member"), invite(elsewhere.Owner, "admin")
		one, two := visit(t, a.URL).get(fresh).at("/join/"), visit(t, a.URL).get(known).at("/join/")
		if strings.NewReplacer("grace@example.com", "", "member",
			"").Replace(one.text()) != strings.NewReplacer(elsewhere.Owner, "", "admin", "").Replace(two.text()) {
			t.Errorf("told apart:\n%s\n%s", one.text(), two.text())
		}
		b.get("/settings/members").at("/settings/members", "grace@example.com",
			time.Now().UTC().AddDate(0, 0, 7).Format("Jan 2"))
		late := invite("late@example.com", "member")
		exec(t, a, "UPDATE invites SET expires_at = 1 WHERE email = 'late@example.com'")
		b.get("/settings/members").at("/settings/members").hasNot("late@example.com")
		visit(t, a.URL).get(late).refused(404, "was used or revoked, or has expired")

		g := visit(t, a.URL)
		g.post(fresh, "name", "", "password", "").refused(400, "Fill this in")
		g.post(fresh, "name", "Grace", "password", "short").refused(400, "Too short: expected at least 8 characters")
		g.post(fresh, "name", "Grace Hopper", "password", "compilers are fun").at("/", "Welcome", "Grace Hopper",
			"Today", "Contacts")
		g.get(fresh).refused(404, "was used or revoked, or has expired")

		// Nobody is added without their password, and a wrong one reads like a failed sign-in.
		k := visit(t, a.URL)
		k.post(known, "name", "Eve", "password", "a wrong password").refused(401, "The email or password is wrong.")
		k.post(known, "name", "Whoever", "password", "a long password").at("/", "Test")
		k.get("/settings/organizations").at("/settings/organizations", "you are here", "Switch")
		k.post("/settings/organizations", "organization_id", string(elsewhere.Org)).at("/")
		k.get("/settings/members").at("/settings/members", elsewhere.Owner).hasNot("grace@example.com")

		// A member works with records and manages nothing.
		for _, path := range []string{"/agents", "/agents/new", "/settings/members", "/settings/keys",
			"/settings/keys/new",
			"/settings/cards", "/settings/plan", "/settings/members/invite"} {
			g.get(path).refused(403, "Owners and admins only")
		}
		g.post("/settings/keys/new", "name", "X", "business_id", string(a.Business), "permissions", "*").refused(403)
		g.post("/agreements", "business_id", string(a.Business), "kind", "domain", "read", "yes").refused(403,
			"Owners and admins only")
		g.get("/agreements").at("/agreements", "Only an owner or admin can accept it")
		g.get("/").at("/").hasNot(`href="/agents"`, `href="/settings/keys"`)
		g.get("/settings").at("/agreements")

		// Roles.
		list := b.get("/settings/members").at("/settings/members", "Grace Hopper", "admin")
		grace := list.find(`href="(/settings/members/[^"]*)"><bdi>Grace Hopper`)
		me := list.find(`href="(/settings/members/[^"]*)"><bdi>Owner</bdi></a></td><td><bdi>` + a.Owner)
		b.post(me, "role", "member").refused(409, "at least one active owner")
		b.post(me+"/remove").refused(409, "at least one active owner")
		b.post(grace, "role", "boss").refused(400, "Invalid option")
		b.post(grace, "role", "owner").at(grace, "Role changed.")
		g.get("/settings/keys").at("/settings/keys")
		// Two owners demote each other at once: one stays.
		apptest.RunAtOnce(2, func(i int) {
			if i == 0 {
				b.post(grace, "role", "member")
			} else {
				g.post(me, "role", "member")
			}
		})
		left := b
		if b.get("/settings/keys").Status == 403 {
			left = g
		}
		left.get("/settings/keys").at("/settings/keys")
		target := grace
		if left == g {
			target = me
		}
		left.get(target+"/remove").at(target, "API keys that they created stop working")
		left.post(target+"/remove").at("/settings/members", "Removed.")
		for _, x := range []*browser{b, g} {
			if x != left {
				x.get("/").at("/sign-in")
				if !strings.Contains(x.signIn("grace@example.com", "compilers are fun").text()+
					x.signIn(a.Owner, "a long password").text(), "You no longer belong to any organization") {
					t.Error("a removed member gets in")
				}
			}
		}

		// An invitation can be revoked.
		page := left.post("/settings/members/invite", "email", "emmy@example.com", "role", "member")
		gone := strings.TrimPrefix(page.find(`<output id="secret">([^<]*)</output>`), a.Settings.BaseURL)
		revoke := left.get("/settings/members").find(`href="([^"]*/revoke)"`)
		left.get(revoke).at(revoke, "emmy@example.com")
		left.post(revoke).at("/settings/members", "Revoked.")
		visit(t, a.URL).get(gone).refused(404)
		for _, secret := range []string{fresh, known, gone, "compilers are fun"} {
			if strings.Contains(a.Logs.String(), strings.TrimPrefix(secret, "/join/")) {
				t.Errorf("the logs have %s", secret)
			}
		}
	})
}
