package account_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/secret"
)

// victim is somebody with a passkey, an app for one-time codes and recovery codes.
type victim struct {
	*console
	email    string
	token    string // of a session
	key      *apptest.Authenticator
	secret   string
	recovery []string
}

func (c *console) victim(v apptest.Tenant) *victim {
	c.t.Helper()
	token := c.signIn(v.Owner, password)
	secret, recovery := c.codes(token)
	return &victim{c, v.Owner, token, c.passkey(token, "Laptop"), secret, recovery}
}

// asked begins a sign-in, and returns its token and what a passkey is asked to sign.
func (v *victim) asked() (pending, options string) {
	v.t.Helper()
	pending = v.pending(v.email)
	return pending, v.ok("", "sessions.ask_passkey", object("pending", pending)).Text("options")
}

// try completes a sign-in with a passkey's answer.
func (v *victim) try(pending, answer string) error {
	_, err := v.do("", "sessions.confirm_passkey",
		object("pending", pending, "credential", answer, "address", v.from()))
	return err
}

// type a code into a sign-in of the victim.
func (v *victim) guess(code string) error {
	v.t.Helper()
	_, err := v.do("", "sessions.confirm", object("pending", v.pending(v.email), "code", code, "address", v.from()))
	return err
}

var senders atomic.Int32

// from is an address that nobody used, so that the limits do not hide a hole.
func (v *victim) from() string { return fmt.Sprintf("198.51.100.%d", senders.Add(1)) }

// lying has the victim's passkey sign with something about it changed.
func lying(change func(k *apptest.Authenticator)) func(v *victim) error {
	return func(v *victim) error {
		pending, options := v.asked()
		k := v.key.Clone()
		change(k)
		return v.try(pending, k.Get(v.t, options))
	}
}

// attacks on the second step, each by somebody who knows the password.
var factorAttacks = []struct {
	name string
	want *fault.Kind
	try  func(v *victim) error
}{
	{"replayed assertion", account.SignInExpired, func(v *victim) error {
		pending, options := v.asked()
		answer := v.key.Get(v.t, options)
		if err := v.try(pending, answer); err != nil {
			v.t.Errorf("the victim cannot sign in: %v", err)
		}
		return v.try(pending, answer)
	}},
	{"assertion of an earlier sign-in", account.WrongPasskey, func(v *victim) error {
		pending, options := v.asked()
		answer := v.key.Get(v.t, options)
		if err := v.try(pending, answer); err != nil {
			v.t.Errorf("the victim cannot sign in: %v", err)
		}
		next, _ := v.asked()
		return v.try(next, answer)
	}},
	{"assertion of another open sign-in", account.WrongPasskey, func(v *victim) error {
		_, options := v.asked()
		mine, _ := v.asked()
		return v.try(mine, v.key.Get(v.t, options))
	}},
	{"assertion without a challenge", account.WrongPasskey, func(v *victim) error {
		_, options := v.asked()
		return v.try(v.pending(v.email), v.key.Get(v.t, options))
	}},
	{"challenge of the attacker's choice", account.WrongPasskey, lying(func(k *apptest.Authenticator) {
		k.Challenge = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	})},
	{"wrong origin", account.WrongPasskey, lying(func(k *apptest.Authenticator) { k.Origin = "https://evil.example" })},
	{"another port of the origin", account.WrongPasskey, lying(func(k *apptest.Authenticator) {
		k.Origin = "http://localhost:8081"
	})},
	{"wrong relying party", account.WrongPasskey, lying(func(k *apptest.Authenticator) { k.RP = "evil.example" })},
	{"nobody verified", account.WrongPasskey, lying(func(k *apptest.Authenticator) { k.Verified = false })},
	{"enrolment in place of a signature", account.WrongPasskey, lying(func(k *apptest.Authenticator) {
		k.Type = "webauthn.create"
	})},
	{"somebody else's handle", account.WrongPasskey, lying(func(k *apptest.Authenticator) {
		k.Handle = []byte("eve")
	})},
	{"forged signature", account.WrongPasskey, lying(func(k *apptest.Authenticator) { k.ReplaceSecret() })},
	{"the attacker's own passkey", account.WrongPasskey, func(v *victim) error {
		eve := v.console.victim(v.NewTenant(v.t, "free"))
		pending, options := v.asked()
		return v.try(pending, eve.key.Get(v.t, options))
	}},
	{"counter going back", account.WrongPasskey, func(v *victim) error {
		clone := v.key.Clone()
		pending, options := v.asked()
		if err := v.try(pending, v.key.Get(v.t, options)); err != nil {
			v.t.Errorf("the victim cannot sign in: %v", err)
		}
		pending, options = v.asked()
		return v.try(pending, clone.Get(v.t, options))
	}},
	{"counter that became zero", account.WrongPasskey, func(v *victim) error {
		pending, options := v.asked()
		if err := v.try(pending, v.key.Get(v.t, options)); err != nil {
			v.t.Errorf("the victim cannot sign in: %v", err)
		}
		return lying(func(k *apptest.Authenticator) { k.Counts, k.Count = false, 0 })(v)
	}},
	{"challenge of a confirmation", account.WrongPasskey, func(v *victim) error {
		options := v.ok(v.token, "sessions.ask_reconfirm", with(v.token)).Text("options")
		return v.try(v.pending(v.email), v.key.Get(v.t, options))
	}},
	{"passkey enrolled with another session's challenge", account.WrongPasskey, func(v *victim) error {
		eve := v.console.victim(v.NewTenant(v.t, "free"))
		options := eve.ok(eve.token, "factors.begin_passkey", with(eve.token)).Text("options")
		answer := apptest.NewAuthenticator(v.t, site).Create(v.t, options)
		_, err := v.do(v.token, "factors.add_passkey", with(v.token, "name", "Mine", "credential", answer))
		return err
	}},
	{"passkey of another user enrolled again", account.WrongPasskey, func(v *victim) error {
		eve := v.console.victim(v.NewTenant(v.t, "free"))
		options := eve.ok(eve.token, "factors.begin_passkey", with(eve.token)).Text("options")
		_, err := v.do(eve.token, "factors.add_passkey",
			with(eve.token, "name", "Mine", "credential", v.key.Clone().Create(v.t, options)))
		return err
	}},
	{"replayed code", account.WrongFactor, func(v *victim) error {
		code := v.code(v.secret)
		if err := v.guess(code); err != nil {
			v.t.Errorf("the victim cannot sign in: %v", err)
		}
		return v.guess(code)
	}},
	{"code before the last one", account.WrongFactor, func(v *victim) error {
		now := v.Clock.Now().Std()
		v.code(v.secret)
		if err := v.guess(apptest.OneTimeCode(v.t, v.secret, now)); err != nil {
			v.t.Errorf("the victim cannot sign in: %v", err)
		}
		return v.guess(apptest.OneTimeCode(v.t, v.secret, now.Add(-30*time.Second)))
	}},
	{"code of three minutes ago", account.WrongFactor, func(v *victim) error {
		return v.guess(apptest.OneTimeCode(v.t, v.secret, v.Clock.Now().Std().Add(-3*time.Minute)))
	}},
	{"code of the attacker's own app", account.WrongFactor, func(v *victim) error {
		return v.guess(v.code(v.console.victim(v.NewTenant(v.t, "free")).secret))
	}},
	{"no code", account.WrongFactor, func(v *victim) error { return v.guess("") }},
	{"code that no app shows", account.WrongFactor, func(v *victim) error { return v.guess("٠٠٠") }},
	{"used recovery code", account.WrongFactor, func(v *victim) error {
		if err := v.guess(v.recovery[0]); err != nil {
			v.t.Errorf("the victim cannot sign in: %v", err)
		}
		return v.guess(v.recovery[0])
	}},
	{"stolen recovery code that was replaced", account.WrongFactor, func(v *victim) error {
		v.ok(v.token, "factors.renew_recovery", with(v.token))
		return v.guess(v.recovery[1])
	}},
	{"recovery code of somebody else", account.WrongFactor, func(v *victim) error {
		return v.guess(v.console.victim(v.NewTenant(v.t, "free")).recovery[0])
	}},
	{"session in place of a sign-in", account.SignInExpired, func(v *victim) error {
		_, err := v.do("", "sessions.confirm", object("pending", v.token, "code", v.code(v.secret)))
		return err
	}},
	{"sign-in in place of a session", fault.Unauthorized, func(v *victim) error {
		_, err := v.Accounts.SessionByToken(v.t.Context(), v.pending(v.email))
		return err
	}},
	{"made-up sign-in", account.SignInExpired, func(v *victim) error {
		_, err := v.do("", "sessions.confirm", object("pending", secret.NewToken("fdt_"), "code", v.code(v.secret)))
		return err
	}},
	{"sign-in that expired", account.SignInExpired, func(v *victim) error {
		pending := v.pending(v.email)
		v.change("UPDATE sign_ins SET expires_at = $1")
		_, err := v.do("", "sessions.confirm", object("pending", pending, "code", v.code(v.secret)))
		return err
	}},
	{"sign-in begun before the password changed", account.SignInExpired, func(v *victim) error {
		pending := v.pending(v.email)
		v.ok(v.token, "users.change_password", with(v.token, "current", password, "password", "a new password",
			"address", v.from()))
		_, err := v.do("", "sessions.confirm", object("pending", pending, "code", v.code(v.secret)))
		v.ok(v.token, "users.change_password", with(v.token, "current", "a new password", "password", password,
			"address", v.from()))
		return err
	}},
	{"factor skipped by an invitation", account.SignInFirst, func(v *victim) error {
		other := v.NewTenant(v.t, "free")
		url := v.AsOperator(v.t, "invites.create", "organization", other.Org,
			fmt.Sprintf(`{"email": %q, "role": "member"}`, v.email)).Text("url")
		_, err := v.do("", "invites.accept", object("token", url[strings.LastIndexByte(url, '/')+1:], "name", "Eve",
			"password", password, "address", v.from()))
		return err
	}},
	{"factor removed on an unattended screen", account.NotConfirmed, func(v *victim) error {
		v.change("UPDATE sessions SET confirmed_at = confirmed_at - 600000000 WHERE created_at <= $1")
		_, err := v.do(v.token, "factors.remove_codes", with(v.token))
		v.confirm(v.token)
		return err
	}},
	{"recovery codes made on an unattended screen", account.NotConfirmed, func(v *victim) error {
		v.change("UPDATE sessions SET confirmed_at = NULL, created_at = $1")
		_, err := v.do(v.token, "factors.renew_recovery", with(v.token))
		v.confirm(v.token)
		return err
	}},
	{"factor changed with somebody else's session", fault.Unauthorized, func(v *victim) error {
		eve := v.console.victim(v.NewTenant(v.t, "free"))
		_, err := v.do(v.token, "factors.remove_codes", with(eve.token))
		return err
	}},
	{"somebody else's passkey removed", fault.NotFound, func(v *victim) error {
		eve := v.console.victim(v.NewTenant(v.t, "free"))
		theirs := v.ok(v.token, "factors.list", with(v.token)).Text("passkeys.0.id")
		_, err := v.do(eve.token, "factors.remove_passkey", with(eve.token, "id", theirs))
		return err
	}},
}

// Whoever knows the password gets no further without the factor.
func TestAttackSecondFactor(t *testing.T) {
	eachSite(t, func(t *testing.T, c *console) {
		for _, attack := range factorAttacks {
			t.Run(attack.name, func(t *testing.T) {
				inner := *c
				inner.t = t
				v := inner.victim(inner.NewTenant(t, "free"))
				if err := attack.try(v); !fault.IsKind(err, attack.want) {
					t.Errorf("%v, want %s", err, attack.want.Code)
				}
			})
		}
		t.Logf("%d attacks refused", len(factorAttacks))
	})
}

// Many guesses at once are no more than the allowance, and the victim's own browser
// is not shut out by them.
func TestAttackGuessedCodes(t *testing.T) {
	eachSite(t, func(t *testing.T, c *console) {
		v := c.victim(c.Tenant)
		known := c.ok("", "sessions.confirm", object("pending", c.pending(v.email), "code", c.code(v.secret))).
			Text("browser")
		pending := c.pending(v.email)
		right := c.code(v.secret)
		var checked, limited atomic.Int32
		apptest.RunAtOnce(40, func(i int) {
			code := fmt.Sprintf("%06d", (i+1)*7)
			if code == right {
				code = "999999"
			}
			_, err := c.do("", "sessions.confirm", object("pending", pending, "code", code, "address",
				fmt.Sprintf("203.0.113.%d", i)))
			switch {
			case fault.IsKind(err, account.WrongFactor):
				checked.Add(1)
			case fault.IsKind(err, fault.RateLimited):
				limited.Add(1)
			default:
				t.Errorf("a guess: %v", err)
			}
		})
		if checked.Load() > 20 || checked.Load()+limited.Load() != 40 {
			t.Errorf("%d of 40 guesses were checked, %d refused", checked.Load(), limited.Load())
		}
		c.refused(fault.RateLimited, "", "sessions.confirm",
			object("pending", pending, "code", right, "address", "203.0.113.200"))
		c.ok("", "sessions.confirm", object("pending", c.pending(v.email), "code", right, "browser", known))
	})
}

// A link of the operator's proves the address, not the factor.
func TestAttackFactorByLink(t *testing.T) {
	eachSite(t, func(t *testing.T, c *console) {
		v := c.victim(c.Tenant)
		tail := func(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }
		link := c.AsOperator(t, "users.link_password", "", "", fmt.Sprintf(`{"email": %q}`, v.email)).Text("url")
		c.ok("", "users.reset_password", object("token", tail(link), "password", password))
		c.signedOut(v.token)
		c.pending(v.email)
		link = c.AsOperator(t, "users.link_sign_in", "", "", fmt.Sprintf(`{"email": %q}`, v.email)).Text("url")
		c.refused(fault.NotFound, "", "users.reset_password", object("token", tail(link), "password", password))
		if s := c.ok("", "sessions.create_by_link", object("token", tail(link))); s.Text("token") != "" ||
			s.Text("pending") == "" {
			t.Errorf("the link alone signs in: %s", s)
		}
		// A user who is disabled while a sign-in waits gets no further.
		pending := c.pending(v.email)
		c.AsOperator(t, "users.disable", "", "", fmt.Sprintf(`{"email": %q}`, v.email))
		c.refused(account.SignInExpired, "", "sessions.confirm", object("pending", pending, "code", c.code(v.secret)))
	})
}
