package account_test

import (
	"fmt"
	"path"
	"testing"

	"frontdesk/internal/account"
	"frontdesk/internal/adapter/stripe"
	"frontdesk/internal/adapter/stripe/stripetest"
	"frontdesk/internal/apptest"
	"frontdesk/internal/door/action"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// A removed member loses the sessions, keys and invitations of this
// organization at once. The last owner cannot be removed.
func TestDeparture(t *testing.T) {
	eachConsole(t, func(t *testing.T, c *console) {
		owner := c.signIn(c.Owner, password)
		token, _ := c.invite(owner, "grace@example.com", "admin")
		grace := c.ok("", "invites.accept", acceptance(token, "grace's password")).Text("token")
		s, err := c.Accounts.SessionByToken(t.Context(), grace)
		if err != nil {
			t.Fatal(err)
		}
		invited, _ := c.invite(grace, "a@example.com", "member")
		key := c.ok(grace, "api_keys.create", fmt.Sprintf(`{"businessId": %q, "name": "Hers", "permissions": ["*"]}`,
			c.Business)).Text("key")
		if _, err := c.Accounts.LoginByKey(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		remove := func(user id.ID) string { return fmt.Sprintf(`{"id": %q}`, user) }
		c.refused(account.OwnerLast, owner, "users.remove", remove(c.OwnerID))
		c.refused(fault.NotFound, owner, "users.remove", remove(c.NewTenant(t, "free").OwnerID))
		c.ok(owner, "users.remove", remove(s.User))
		c.signedOut(grace)
		c.refused(account.NoMembership, "", "sessions.create", login("grace@example.com", "grace's password"))
		c.refused(fault.NotFound, "", "invites.accept", acceptance(invited, "some password"))
		if _, err := c.Accounts.LoginByKey(t.Context(), key); !fault.IsKind(err, fault.Unauthorized) {
			t.Errorf("the key of a former member: %v", err)
		}
		want := "user.removed"
		if events := c.Events(t, want); events != want {
			t.Errorf("events %q", events)
		}
	})
}

// Whoever was removed, lost the role or was disabled while a request was under way
// changes nothing about the account, whichever operation it is.
func TestAttackFormerManager(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		provider, settings := stripetest.Start(t), apptest.Settings(t, e)
		settings.PaymentsProvider = stripe.Name
		settings.Stripe = config.Stripe{SecretKey: stripetest.SecretKey, URL: provider.URL, CheckoutURL: provider.URL}
		a := apptest.StartWith(t, settings)
		c := &console{t, a, action.New(a.Runner, a.Catalog, op.ConsoleDoor)}
		owner := c.signIn(c.Owner, password)
		for name, leave := range map[string]func(m *account.Session){
			"removed": func(m *account.Session) { c.ok(owner, "users.remove", fmt.Sprintf(`{"id": %q}`, m.User)) },
			"demoted": func(m *account.Session) {
				c.ok(owner, "users.set_role", fmt.Sprintf(`{"id": %q, "role": "member"}`, m.User))
			},
			"no longer an owner": func(m *account.Session) {
				c.ok(owner, "users.set_role", fmt.Sprintf(`{"id": %q, "role": "admin"}`, m.User))
			},
			"disabled": func(m *account.Session) {
				c.AsOperator(t, "users.disable", "", "", fmt.Sprintf(`{"email": %q}`, m.Email))
			},
		} {
			token, _ := c.invite(owner, string(id.New())+"@example.com", "owner")
			session := c.ok("", "invites.accept", acceptance(token, "another password")).Text("token")
			s, err := c.Accounts.SessionByToken(t.Context(), session)
			if err != nil {
				t.Fatal(err)
			}
			page := path.Base(c.ok(session, "payment_methods.start_setup", `{}`).Text("url"))
			provider.SaveCard(page)
			began := account.CallerOfSession(s) // as the session said when the request began
			leave(s)
			tried := 0
			for _, o := range c.Catalog.All() {
				if o.Resource != op.Account || o.ReadOnly() || o.Doors&op.ConsoleDoor == 0 {
					continue
				}
				input := o.Example
				if o.Name == "payment_methods.finish_setup" {
					input = fmt.Sprintf(`{"page": %q}`, page)
				}
				_, err := c.door.Do(t.Context(), action.Call{Operation: o.Name, Input: []byte(input),
					RequestID: string(id.New()), Caller: began})
				if tried++; !fault.IsKind(err, fault.Forbidden) {
					t.Errorf("%s by somebody %s: %v", o.Name, name, err)
				}
			}
			if tried < 20 {
				t.Errorf("%d operations were tried", tried)
			}
		}
	})
}
