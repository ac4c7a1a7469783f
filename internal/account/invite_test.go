package account_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// invite creates an invitation and returns the token of its link.
func (c *console) invite(session, email, role string) (token string, ref id.ID) {
	c.t.Helper()
	v := c.ok(session, "invites.create", fmt.Sprintf(`{"email": %q, "role": %q}`, email, role))
	url := v.Text("url")
	return url[strings.LastIndexByte(url, '/')+1:], v.ID("id")
}

func acceptance(token, password string) string {
	return fmt.Sprintf(`{"token": %q, "name": "Grace", "password": %q, "address": "192.0.2.7"}`, token, password)
}

// An invitation works once, before it expires, and while its maker may invite.
// An existing user must prove their password.
func TestInvitations(t *testing.T) {
	eachConsole(t, func(t *testing.T, c *console) {
		owner := c.signIn(c.Owner, password)
		token, _ := c.invite(owner, "grace@example.com", "admin")
		if v, err := c.Accounts.FindInvitation(t.Context(), token); err != nil || v.Org != c.Org || v.Role != "admin" {
			t.Errorf("%+v %v", v, err)
		}
		grace := c.ok("", "invites.accept", acceptance(token, "grace's password")).Text("token")
		s, err := c.Accounts.SessionByToken(t.Context(), grace)
		if err != nil || s.Org != c.Org || s.Role != "admin" || s.Email != "grace@example.com" {
			t.Errorf("%+v %v", s, err)
		}
		c.refused(fault.NotFound, "", "invites.accept", acceptance(token, "grace's password"))
		c.refused(fault.Invalid, owner, "invites.create", `{"email": "Grace@example.com"}`) // a member already

		// A user of another organization joins with their existing password.
		other := c.NewTenant(t, "free")
		token, _ = c.invite(owner, other.Owner, "member")
		c.refused(account.WrongPassword, "", "invites.accept", acceptance(token, "a new password"))
		joined := c.ok("", "invites.accept", acceptance(token, password)).Text("token")
		if n := c.ok(joined, "sessions.organizations", `{}`).Len(); n != 2 {
			t.Errorf("%d organizations", n)
		}

		// Revoked, expired, and from a maker who may no longer invite.
		token, ref := c.invite(owner, "a@example.com", "member")
		c.ok(owner, "invites.revoke", fmt.Sprintf(`{"id": %q}`, ref))
		c.refused(fault.NotFound, "", "invites.accept", acceptance(token, "some password"))
		token, _ = c.invite(owner, "b@example.com", "member")
		c.change("UPDATE invites SET expires_at = $1")
		c.refused(fault.NotFound, "", "invites.accept", acceptance(token, "some password"))
		token, _ = c.invite(grace, "c@example.com", "member")
		c.ok(owner, "users.set_role", fmt.Sprintf(`{"id": %q, "role": "member"}`, s.User))
		c.refused(fault.NotFound, "", "invites.accept", acceptance(token, "some password"))
		c.refused(fault.Forbidden, grace, "invites.create", `{"email": "d@example.com"}`)
	})
}
