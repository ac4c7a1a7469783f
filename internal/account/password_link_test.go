package account_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/fault"
)

// A link sets a password once, before it expires, unless a newer one replaced
// it. All sessions end.
func TestPasswordLinks(t *testing.T) {
	eachConsole(t, func(t *testing.T, c *console) {
		link := func() string {
			t.Helper()
			url := c.AsOperator(t, "users.link_password", "", "", fmt.Sprintf(`{"email": %q}`, c.Owner)).Text("url")
			return url[strings.LastIndexByte(url, '/')+1:]
		}
		reset := func(token, password string) string {
			return fmt.Sprintf(`{"token": %q, "password": %q}`, token, password)
		}
		before := c.signIn(c.Owner, password)
		replaced, token := link(), link()
		c.refused(fault.NotFound, "", "users.reset_password", reset(replaced, "a new sentence"))
		c.refused(fault.Invalid, "", "users.reset_password", reset(token, "short"))
		if err := c.Accounts.CheckPasswordLink(t.Context(), token); err != nil {
			t.Errorf("a refused password used the link up: %v", err)
		}
		c.ok("", "users.reset_password", reset(token, "a new sentence"))
		c.signedOut(before)
		c.refused(fault.NotFound, "", "users.reset_password", reset(token, "a third sentence"))
		c.refused(account.WrongPassword, "", "sessions.create", login(c.Owner, password))
		c.signIn(c.Owner, "a new sentence")

		expired := link()
		c.change("UPDATE password_links SET expires_at = $1")
		c.refused(fault.NotFound, "", "users.reset_password", reset(expired, "a third sentence"))
		disabled := link()
		c.AsOperator(t, "users.disable", "", "", fmt.Sprintf(`{"email": %q}`, c.Owner))
		c.refused(fault.NotFound, "", "users.reset_password", reset(disabled, "a third sentence"))
	})
}
