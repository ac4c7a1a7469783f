package account_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/account"
	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/door/action"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
)

const site = "http://localhost:8080" // where a browser offers passkeys

// eachSite is eachConsole at an address that has passkeys.
func eachSite(t *testing.T, fn func(t *testing.T, c *console)) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		s.BaseURL = site
		a := apptest.StartWith(t, s)
		fn(t, &console{t, a, action.New(a.Runner, a.Catalog, op.ConsoleDoor)})
	})
}

// with is the input of an operation in a session, with more fields in pairs.
func with(token string, pairs ...string) string {
	return object(append([]string{"token", token}, pairs...)...)
}

func object(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, ", %q: %q", pairs[i], pairs[i+1])
	}
	return "{" + strings.TrimPrefix(b.String(), ", ") + "}"
}

// confirm proves in a session that it is still the owner.
func (c *console) confirm(token string) {
	c.t.Helper()
	c.ok(token, "sessions.reconfirm", with(token, "password", password))
}

// codes adds an app for one-time codes to the owner of a session, and returns its
// secret and the recovery codes.
func (c *console) codes(token string) (secret string, recovery []string) {
	c.t.Helper()
	c.confirm(token)
	secret = c.ok(token, "factors.begin_codes", with(token)).Text("secret")
	made := c.ok(token, "factors.add_codes", with(token, "code", c.code(secret)))
	for i := range made.At("codes").Len() {
		recovery = append(recovery, made.Text(fmt.Sprintf("codes.%d", i)))
	}
	return secret, recovery
}

// code is what the app shows now. It is one that was not used before.
func (c *console) code(secret string) string {
	c.t.Helper()
	c.change("UPDATE code_secrets SET last_step = 0 WHERE created_at <= $1")
	return apptest.OneTimeCode(c.t, secret, c.Clock.Now().Std())
}

// passkey adds a passkey to the owner of a session.
func (c *console) passkey(token, name string) *apptest.Authenticator {
	c.t.Helper()
	c.confirm(token)
	k := apptest.NewAuthenticator(c.t, site)
	options := c.ok(token, "factors.begin_passkey", with(token)).Text("options")
	c.ok(token, "factors.add_passkey", with(token, "name", name, "credential", k.Create(c.t, options)))
	return k
}

// pending is the token of a sign-in that waits for a second factor.
func (c *console) pending(email string) string {
	c.t.Helper()
	v := c.ok("", "sessions.create", login(email, password))
	if v.Text("token") != "" || v.Text("pending") == "" {
		c.t.Fatalf("the password alone signs in: %s", v)
	}
	return v.Text("pending")
}

// mails lists the subjects of what was sent to an address, the oldest first.
func (c *console) mails(email string) (out []string) {
	c.t.Helper()
	err := c.DB.Read(c.t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = db.QueryAll[string](ctx, tx, `
			SELECT subject FROM messages
			WHERE organization_id = $1 AND CAST(to_addresses AS TEXT) LIKE $2 ORDER BY seq`, c.Org, "%"+email+"%")
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// An app for one-time codes is added with a right code, and asked for from then on.
func TestOneTimeCodes(t *testing.T) {
	eachSite(t, func(t *testing.T, c *console) {
		other, token := c.signIn(c.Owner, password), c.signIn(c.Owner, password)
		c.refused(account.NotConfirmed, token, "factors.begin_codes", with(token))
		c.refused(fault.Invalid, token, "sessions.reconfirm", with(token, "password", "a wrong password"))
		c.confirm(token)
		first := c.ok(token, "factors.begin_codes", with(token))
		if again := c.ok(token, "factors.begin_codes", with(token)); again.Text("secret") != first.Text("secret") {
			t.Error("the picture changes with each look")
		}
		if url := first.Text("url"); !strings.HasPrefix(url, "otpauth://totp/Frontdesk:") ||
			!strings.Contains(url, "secret="+first.Text("secret")) {
			t.Errorf("the picture says %s", url)
		}
		c.refused(fault.Invalid, token, "factors.add_codes", with(token, "code", "000000"))
		c.signIn(c.Owner, password) // it does not count before it is confirmed
		secret, recovery := c.codes(token)
		if len(recovery) != 10 {
			t.Fatalf("recovery codes: %q", recovery)
		}
		// Sessions that proved no factor end; this one has proven it.
		c.signedOut(other)
		c.refused(account.FactorExists, token, "factors.begin_codes", with(token))

		used := c.code(secret)
		s := c.ok("", "sessions.confirm", object("pending", c.pending(c.Owner), "code", used[:3]+" "+used[3:]))
		s.Same("factor", "code")
		if _, err := c.Accounts.SessionByToken(t.Context(), s.Text("token")); err != nil {
			t.Error(err)
		}
		// A code works once, also in another sign-in.
		c.refused(account.WrongFactor, "", "sessions.confirm", object("pending", c.pending(c.Owner), "code", used))

		// The database has no secret in the clear.
		err := c.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			sealed, err := db.QueryOne[[]byte](ctx, tx, "SELECT secret FROM code_secrets WHERE user_id = $1", c.OwnerID)
			if len(sealed) < 40 {
				t.Errorf("%d bytes are not sealed", len(sealed))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}

		// A new sealing key loses nothing.
		if _, err := c.Admin.RunTask(t.Context(), "secrets.rotate", app.RotateTask{Retire: true}, nil); err != nil {
			t.Fatal(err)
		}
		c.ok("", "sessions.confirm", object("pending", c.pending(c.Owner), "code", c.code(secret)))

		// Without it the password is enough again, and recovery codes end with it.
		c.ok(token, "sessions.reconfirm", with(token, "code", recovery[0]))
		c.ok(token, "factors.remove_codes", with(token)).Same("recovery", 0.0)
		c.signIn(c.Owner, password)
		want := "A second factor was added to your account; A recovery code was used for your account; " +
			"A second factor was removed from your account"
		if got := strings.Join(c.mails(c.Owner), "; "); got != want {
			t.Errorf("mails: %s", got)
		}
		want = "user.factor_added user.recovery_code_used user.factor_removed"
		if got := c.Events(t, "user.factor", "user.recovery"); got != want {
			t.Errorf("events: %s", got)
		}
	})
}

// A passkey is added, signs in and confirms, and is removed.
func TestPasskeys(t *testing.T) {
	eachSite(t, func(t *testing.T, c *console) {
		token := c.signIn(c.Owner, password)
		c.refused(account.NotConfirmed, token, "factors.begin_passkey", with(token))
		k := c.passkey(token, "Laptop")
		second := c.passkey(token, "Phone")
		second.Counts = false // like those that are kept in several places
		second.Count = 0
		for _, key := range []*apptest.Authenticator{k, k, second, second} {
			pending := c.pending(c.Owner)
			options := c.ok("", "sessions.ask_passkey", object("pending", pending)).Text("options")
			s := c.ok("", "sessions.confirm_passkey", object("pending", pending, "credential", key.Get(t, options)))
			s.Same("factor", "passkey")
		}
		later := c.ok("", "sessions.confirm_passkey", func() string {
			pending := c.pending(c.Owner)
			options := c.ok("", "sessions.ask_passkey", object("pending", pending)).Text("options")
			return object("pending", pending, "credential", k.Get(t, options))
		}()).Text("token")
		options := c.ok(later, "sessions.ask_reconfirm", with(later)).Text("options")
		c.refused(account.NotConfirmed, later, "factors.renew_recovery", with(later))
		c.ok(later, "sessions.reconfirm_passkey", with(later, "credential", k.Get(t, options)))
		if n := c.ok(later, "factors.renew_recovery", with(later)).At("codes").Len(); n != 10 {
			t.Errorf("%d codes", n)
		}
		list := c.ok(later, "factors.list", with(later))
		if list.At("passkeys").Len() != 2 || list.Text("passkeys.0.name") != "Laptop" {
			t.Errorf("%s", list)
		}
		c.refused(fault.NotFound, later, "factors.remove_passkey", with(later, "id", string(c.OwnerID)))
		c.ok(later, "factors.remove_passkey", with(later, "id", list.Text("passkeys.0.id")))
		// The other one is left, and still needed.
		c.pending(c.Owner)
	})
}

// A recovery code signs in once, and new ones replace those before.
func TestRecoveryCodes(t *testing.T) {
	eachSite(t, func(t *testing.T, c *console) {
		token := c.signIn(c.Owner, password)
		_, codes := c.codes(token)
		typed := strings.ToLower(strings.ReplaceAll(codes[0], "-", " "))
		c.ok("", "sessions.confirm", object("pending", c.pending(c.Owner), "code", typed)).Same("factor", "recovery")
		c.refused(account.WrongFactor, "", "sessions.confirm", object("pending", c.pending(c.Owner), "code", codes[0]))
		c.ok(token, "factors.list", with(token)).Same("recovery", 9.0)

		// Many use the same one at once: one gets in.
		var pendings []string
		for range 4 {
			pendings = append(pendings, c.pending(c.Owner))
		}
		var in atomic.Int32
		apptest.RunAtOnce(4, func(i int) {
			if _, err := c.do("", "sessions.confirm", object("pending", pendings[i], "code", codes[1])); err == nil {
				in.Add(1)
			}
		})
		if in.Load() != 1 {
			t.Errorf("a recovery code worked %d times", in.Load())
		}
		fresh := c.ok(token, "factors.renew_recovery", with(token)).Text("codes.0")
		c.refused(account.WrongFactor, "", "sessions.confirm", object("pending", c.pending(c.Owner), "code", codes[2]))
		c.ok("", "sessions.confirm",
			object("pending", c.pending(c.Owner), "code", fresh, "address", "192.0.2.8"))

		// Whoever lost everything asks the operator.
		before := c.ok("", "sessions.confirm", object("pending", c.pending(c.Owner), "code",
			c.ok(token, "factors.renew_recovery", with(token)).Text("codes.3"), "address", "192.0.2.8")).Text("token")
		c.AsOperator(t, "users.reset_factors", "", "", fmt.Sprintf(`{"email": %q}`, strings.ToUpper(c.Owner))).
			Same("id", c.OwnerID)
		c.signedOut(before, token)
		c.signIn(c.Owner, password)
		mails := c.mails(c.Owner)
		if mails[len(mails)-1] != "Your second factors were removed" {
			t.Errorf("mails: %q", mails)
		}
	})
}

// An organization requires a factor of its owners and admins, who can do nothing
// with its data before they added one.
func TestRequiredFactor(t *testing.T) {
	eachSite(t, func(t *testing.T, c *console) {
		add := func(email, role string) {
			c.AsOperator(t, "users.create", "organization", c.Org, fmt.Sprintf(
				`{"email": %q, "name": "X", "role": %q, "password": %q}`, email, role, password))
		}
		add("admin@example.com", "admin")
		add("member@example.com", "member")
		owner, admin, member := c.signIn(c.Owner, password), c.signIn("admin@example.com", password),
			c.signIn("member@example.com", password)
		c.refused(account.OwnFactorFirst, owner, "organizations.require_factor", `{"required": true}`)
		c.codes(owner)
		c.refused(fault.Forbidden, member, "organizations.require_factor", `{"required": true}`)
		c.refused(account.OwnFactorFirst, admin, "organizations.require_factor", `{"required": true}`)
		c.ok(owner, "organizations.require_factor", `{"required": true}`)
		must := func(token string, want bool) {
			t.Helper()
			s, err := c.Accounts.SessionByToken(t.Context(), token)
			if err != nil || s.MustEnroll() != want {
				t.Errorf("%v %v, want %v", s, err, want)
			}
		}
		must(owner, false)
		must(admin, true)
		must(member, false)
		c.refused(fault.Forbidden, admin, "users.list", `{}`)
		c.refused(fault.Forbidden, admin, "contacts.list", `{}`)
		c.ok(member, "contacts.list", `{}`)
		// The admin has just signed in, and is not asked for the password again.
		secret := c.ok(admin, "factors.begin_codes", with(admin)).Text("secret")
		c.ok(admin, "factors.add_codes", with(admin, "code", c.code(secret)))
		must(admin, false)
		c.ok(admin, "users.list", `{}`)
		// A factor that is removed has to be replaced at once.
		c.confirm(admin)
		c.ok(admin, "factors.remove_codes", with(admin))
		must(admin, true)
		// A session that is not fresh asks for the password first.
		c.change("UPDATE sessions SET confirmed_at = NULL, created_at = $1 - 3600000000")
		c.refused(account.NotConfirmed, admin, "factors.begin_codes", with(admin))
		c.ok(owner, "organizations.require_factor", `{"required": false}`)
		must(admin, false)
	})
}

// Sessions are listed with where they began, and ended one by one or all others.
func TestSessionList(t *testing.T) {
	eachSite(t, func(t *testing.T, c *console) {
		const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
		begin := func() string {
			return c.ok("", "sessions.create", object("email", c.Owner, "password", password, "address", "192.0.2.7",
				"userAgent", firefox)).Text("token")
		}
		one, two, three := begin(), begin(), begin()
		list := c.ok(one, "sessions.list", with(one))
		if list.Len() != 3 {
			t.Fatalf("%s", list)
		}
		current := 0
		for i := range 3 {
			row := list.At(fmt.Sprint(i))
			row.Same("userAgent", firefox)
			row.Same("address", "192.0.2.7")
			if row.At("current").String() == "true" {
				current++
			}
		}
		if current != 1 {
			t.Errorf("%d are the current one", current)
		}
		neighbour := c.NewTenant(t, "free")
		theirs := c.signIn(neighbour.Owner, password)
		c.refused(fault.NotFound, theirs, "sessions.end", object("id", list.Text("0.id")))
		for i := range 3 {
			if row := list.At(fmt.Sprint(i)); row.At("current").String() != "true" {
				c.ok(one, "sessions.end", object("id", row.Text("id")))
				break
			}
		}
		if n := c.ok(one, "sessions.list", with(one)).Len(); n != 2 {
			t.Errorf("%d are left", n)
		}
		c.ok(one, "sessions.end_others", with(one))
		if n := c.ok(one, "sessions.list", with(one)).Len(); n != 1 {
			t.Errorf("%d are left", n)
		}
		c.signedOut(two, three)
		if _, err := c.Accounts.SessionByToken(t.Context(), theirs); err != nil {
			t.Errorf("a neighbour was signed out: %v", err)
		}
		if got := c.Events(t, "session.deleted"); got != "session.deleted session.deleted" {
			t.Errorf("events: %s", got)
		}
	})
}

// Somebody who is signed in with a factor joins another organization, and the
// session that begins there has it too.
func TestJoiningKeepsTheFactor(t *testing.T) {
	eachSite(t, func(t *testing.T, c *console) {
		token := c.signIn(c.Owner, password)
		c.codes(token)
		other := c.NewTenant(t, "free")
		url := c.AsOperator(t, "invites.create", "organization", other.Org,
			fmt.Sprintf(`{"email": %q, "role": "admin"}`, c.Owner)).Text("url")
		c.ok("", "invites.accept", object("token", url[strings.LastIndexByte(url, '/')+1:], "session", token)).
			Same("factor", "code")
	})
}
