package account_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/account"
)

// Sessions begin with the right password, belong to one user, and end by
// signing out, by expiring and with the user.
func TestSessions(t *testing.T) {
	eachConsole(t, func(t *testing.T, c *console) {
		c.refused(account.WrongPassword, "", "sessions.create", login(c.Owner, "another password"))
		c.refused(account.WrongPassword, "", "sessions.create", login("nobody@example.com", password))
		first, second := c.signIn(strings.ToUpper(c.Owner), password), c.signIn(c.Owner, password)
		s, err := c.Accounts.SessionByToken(t.Context(), first)
		if err != nil || s.User != c.OwnerID || s.Org != c.Org || s.Role != "owner" || !s.Manager() {
			t.Errorf("%+v %v", s, err)
		}
		other := c.NewTenant(t, "free")
		strange := c.signIn(other.Owner, password)
		c.ok(strange, "sessions.delete", fmt.Sprintf(`{"token": %q}`, first)) // not theirs: nothing happens
		if _, err := c.Accounts.SessionByToken(t.Context(), first); err != nil {
			t.Errorf("signed out by somebody else: %v", err)
		}
		c.ok(first, "sessions.delete", fmt.Sprintf(`{"token": %q}`, first))
		c.signedOut(first, "", "fds_0000000000000000000000000000000000000000")

		c.AsOperator(t, "users.disable", "", "", fmt.Sprintf(`{"email": %q}`, c.Owner))
		c.signedOut(second)
		c.refused(account.UserDisabled, "", "sessions.create", login(c.Owner, password))
		c.refused(account.WrongPassword, "", "sessions.create", login(c.Owner, "another password")) // tells nothing
		c.AsOperator(t, "users.enable", "", "", fmt.Sprintf(`{"email": %q}`, c.Owner))
		third := c.signIn(c.Owner, password)
		c.change("UPDATE sessions SET expires_at = $1")
		c.signedOut(third, strange)
	})
}
