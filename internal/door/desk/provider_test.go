package desk_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
)

// house is a service whose people sign in with a provider.
type house struct {
	*apptest.App
	t        *testing.T
	provider *apptest.IdentityProvider
}

// eachHouse runs fn once per engine.
func eachHouse(t *testing.T, change func(o *config.OIDC), fn func(t *testing.T, h *house)) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) { fn(t, openHouse(t, e, change)) })
}

func openHouse(t *testing.T, e db.Engine, change func(o *config.OIDC)) *house {
	t.Helper()
	p := apptest.NewIdentityProvider(t)
	s := apptest.Settings(t, e)
	s.BaseURL = "http://localhost:8080"
	s.OIDC = config.OIDC{Issuer: p.URL, ClientID: p.Client, ClientSecret: p.Secret, Name: "Acme", GroupClaim: "groups",
		Scopes: []string{"email"}, Organization: string(id.New())}
	if change != nil {
		change(&s.OIDC)
	}
	a := apptest.StartWith(t, s)
	h := &house{a, t, p}
	// The organization that the settings name must be known before the service starts.
	exec(t, a, `
		INSERT INTO organizations (id, created_at, updated_at, name, plan, status)
		VALUES ($1, $2, $2, 'Provided', 'enterprise', 'active')`, s.OIDC.Organization, a.Clock.Now())
	exec(t, a, `
		INSERT INTO businesses (id, organization_id, created_at, updated_at, name, timezone, locale, currency)
		VALUES ($1, $2, $3, $3, 'Provided', 'UTC', 'en-US', 'usd')`, id.New(), s.OIDC.Organization, a.Clock.Now())
	h.person("ada", "ada@example.com")
	return h
}

// person is who signs in at the provider next.
func (h *house) person(subject, email string, groups ...string) {
	h.provider.Claims = map[string]any{"sub": subject, "email": email, "email_verified": true, "name": "Ada Lovelace"}
	if groups != nil {
		h.provider.Claims["groups"] = groups
	}
}

// begin sends a browser to the provider, and returns what it comes back with.
func (h *house) begin(b *browser, next string) string {
	h.t.Helper()
	p := b.get("/sign-in/provider?next=" + next)
	if p.Status != 303 {
		h.t.Fatalf("%d: %s", p.Status, p.text())
	}
	return h.provider.SignInAt(h.t, p.Header.Get("Location"))
}

// signIn goes there and back.
func (h *house) signIn(b *browser) page { h.t.Helper(); return b.get(h.begin(b, "%2F")) }

func (h *house) operate(operation string, org id.ID, input string) apptest.Value {
	h.t.Helper()
	return h.AsOperator(h.t, operation, "organization", org, input)
}

func (h *house) org() id.ID { return id.ID(h.Settings.OIDC.Organization) }

func (h *house) count(query string, args ...any) (n int) {
	h.t.Helper()
	err := h.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.QueryOne[int](ctx, tx, query, args...)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

// Somebody who has an account is found by the verified address, and from then on by
// who they are at the provider.
func TestProviderLinks(t *testing.T) {
	eachHouse(t, nil, func(t *testing.T, h *house) {
		h.person("1", strings.ToUpper(h.Owner))
		b := visit(t, h.URL)
		b.get("/sign-in").at("/sign-in", "Sign in with Acme", "Or with your password")
		b.get(h.begin(b, "%2Fsettings%2Fsign-in")).at("/settings/sign-in", "Your account is linked")
		// The address changed there: it is still the same person.
		h.person("1", "renamed@example.com")
		h.signIn(visit(t, h.URL)).at("/", "Today")
		// The provider's own page may be the only way to confirm.
		exec(t, h.App, "UPDATE users SET password_hash = NULL WHERE id = $1", h.OwnerID)
		b.get("/settings/sign-in/codes").at("/settings/sign-in/confirm", "Sign in with Acme again").
			hasNot(`name="password"`)
		p := b.get("/sign-in/provider?fresh=yes&next=%2Fsettings%2Fsign-in%2Fcodes")
		if !strings.Contains(p.Header.Get("Location"), "prompt=login") {
			t.Errorf("%s", p.Header.Get("Location"))
		}
		b.get(h.provider.SignInAt(t, p.Header.Get("Location"))).at("/settings/sign-in/codes", "scan this picture")
		// The operator unlinks.
		h.AsOperator(t, "users.unlink", "", "", fmt.Sprintf(`{"email": %q}`, h.Owner))
		b.get("/").at("/sign-in")
		h.signIn(visit(t, h.URL)).refused(403, "You have no account here")
		const want = "user.identity_linked user.identity_unlinked"
		if got := h.Events(t, "user.identity"); got != want {
			t.Errorf("events: %s", got)
		}
		if strings.Contains(h.Logs.String(), h.provider.Secret) {
			t.Error("the logs have the secret")
		}
	})
}

// People whom nobody knows are added with the role of their groups, which is taken
// away with the groups.
func TestProviderGroups(t *testing.T) {
	eachHouse(t, func(o *config.OIDC) {
		o.Create, o.Roles = true, []string{"bosses=owner", "staff=member", "leads=admin"}
	}, func(t *testing.T, h *house) {
		role := func() string {
			list := h.operate("users.list", h.org(), `{}`)
			for i := range list.Len() {
				if row := list.At(fmt.Sprint(i)); row.Text("email") == "ada@example.com" {
					return row.Text("role")
				}
			}
			return "none"
		}
		// Somebody must stay the owner.
		h.person("boss", "boss@example.com", "bosses")
		h.signIn(visit(t, h.URL)).at("/", "Today")

		h.person("ada", "ada@example.com", "others")
		h.signIn(visit(t, h.URL)).refused(403, "None of your groups")
		if role() != "none" || h.count("SELECT count(*) FROM users WHERE email = 'ada@example.com'") != 0 {
			t.Error("somebody without a group was added")
		}
		b := visit(t, h.URL)
		for _, step := range []struct {
			groups []string
			want   string
		}{{[]string{"staff"}, "member"}, {[]string{"staff", "leads"}, "admin"}, {[]string{"bosses", "staff"}, "owner"},
			{[]string{"staff"}, "member"}} {
			h.person("ada", "ada@example.com", step.groups...)
			h.signIn(b).at("/")
			if role() != step.want {
				t.Errorf("%v: %s", step.groups, role())
			}
		}
		// The groups come from userinfo where the token has none.
		h.person("ada", "ada@example.com")
		h.provider.UserInfo = map[string]any{"sub": "ada", "groups": []string{"leads"}}
		h.signIn(b).at("/")
		if role() != "admin" {
			t.Errorf("by userinfo: %s", role())
		}
		h.provider.UserInfo = nil
		h.person("ada", "ada@example.com", "others")
		h.signIn(visit(t, h.URL)).refused(403, "You no longer belong to any organization")
		if role() != "none" {
			t.Error("the role outlives its group")
		}
		b.get("/").at("/sign-in")
		h.person("ada", "ada@example.com", "staff")
		h.signIn(visit(t, h.URL)).at("/", "Today")
	})
}

// An invited person without an account joins with the provider, and the operator
// helps when it does not work and passwords are off.
func TestProviderOnly(t *testing.T) {
	eachHouse(t, func(o *config.OIDC) { o.Only = true }, func(t *testing.T, h *house) {
		link := h.operate("invites.create", h.Org, `{"email": "ada@example.com", "role": "admin"}`).Text("url")
		path := strings.TrimPrefix(link, h.Settings.BaseURL)
		b := visit(t, h.URL)
		b.get("/sign-in").at("/sign-in", "Sign in with Acme", "sign-in-link").hasNot(`name="password"`)
		b.signIn(h.Owner, "a long password").refused(403, "Passwords are switched off here")
		b.get(path).at(path, "Continue with Acme").hasNot(`name="password"`)
		b.post(path, "name", "Ada", "password", "a long password").refused(403, "Passwords are switched off")
		// The invitation is for another address.
		h.person("eve", "eve@example.com")
		eve := visit(t, h.URL)
		eve.get(h.begin(eve, path)).refused(403, "You have no account here")
		h.person("ada", "ada@example.com")
		b.get(h.begin(b, path)).at("/", "Today")
		const want = "invite.accepted user.created"
		if got := h.Events(t, "invite.accepted", "user.created"); !strings.HasSuffix(got, want) {
			t.Errorf("events: %s", got)
		}
		// An emergency.
		made := h.AsOperator(t, "users.link_sign_in", "", "", `{"email": "ada@example.com"}`).Text("url")
		path = strings.TrimPrefix(made, h.Settings.BaseURL)
		out := visit(t, h.URL)
		out.get("/password/" + path[strings.LastIndexByte(path, '/')+1:]).refused(404)
		out.get(path).at(path, "It works once")
		out.post(path).at("/", "Today")
		visit(t, h.URL).post(path).refused(404, "This link was used")
		b.post("/settings/password", "current", "x", "password", "a longer password").refused(403, "switched off")
	})
}

// A provider that does not answer is said so, and does not keep passwords from
// working.
func TestProviderDown(t *testing.T) {
	h := openHouse(t, db.SQLite, func(o *config.OIDC) { o.Issuer = "http://127.0.0.1:1" })
	b := visit(t, h.URL)
	b.get("/sign-in/provider").refused(503, "Signing in with Acme does not work right now")
	b.signIn(h.Owner, "a long password").at("/")
}
