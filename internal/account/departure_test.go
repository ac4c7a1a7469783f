package account_test

import (
	"fmt"
	"testing"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// A removed member loses the sessions, keys and invitations of this
// organization at once. The last owner cannot be removed.
func TestDeparture(t *testing.T) {
	eachConsole(t, func(t *testing.T, c *console) {
		owner := c.signIn(c.Owner, password)
		token, _ := c.invite(owner, "grace@example.com", "admin")
		grace := c.ok("", "invites.accept", acceptance(token, "grace's password")).Text("token")
		s, err := c.Accounts.BySession(t.Context(), grace)
		if err != nil {
			t.Fatal(err)
		}
		invited, _ := c.invite(grace, "a@example.com", "member")
		key := c.ok(grace, "api_keys.create", fmt.Sprintf(`{"businessId": %q, "name": "Hers", "permissions": ["*"]}`,
			c.Business)).Text("key")
		if _, err := c.Accounts.ByKey(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		remove := func(user id.ID) string { return fmt.Sprintf(`{"id": %q}`, user) }
		c.refused(account.OwnerLast, owner, "users.remove", remove(c.OwnerID))
		c.refused(fault.NotFound, owner, "users.remove", remove(c.NewTenant(t, "free").OwnerID))
		c.ok(owner, "users.remove", remove(s.User))
		c.signedOut(grace)
		c.refused(account.NoMembership, "", "sessions.create", login("grace@example.com", "grace's password"))
		c.refused(fault.NotFound, "", "invites.accept", acceptance(invited, "some password"))
		if _, err := c.Accounts.ByKey(t.Context(), key); !fault.Has(err, fault.Unauthorized) {
			t.Errorf("the key of a former member: %v", err)
		}
		want := "user.removed"
		if events := c.Events(t, want); events != want {
			t.Errorf("events %q", events)
		}
	})
}
