package account

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// OwnerLast refuses to leave an organization without an owner.
var OwnerLast = fault.DefineKind("OWNER_LAST", 409,
	"An organization needs at least one active owner. Make somebody else an owner first.")

func (a *Accounts) memberOperations() []*op.Op {
	const one = `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`
	return []*op.Op{
		op.Read(op.Spec{
			Name:     "users.get",
			Summary:  "Show a member of the organization.",
			Resource: op.Account,
			Doors:    Doors,
			Example:  one,
		}, a.getMember),
		WriteByManager(op.Spec{
			Name:     "users.set_role",
			Summary:  "Change a member's role.",
			Resource: op.Account,
			Doors:    Doors,
			Events:   []string{"user.role_changed", "invite.revoked"},
			Errors:   []*fault.Kind{OwnerLast},
			Example:  `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "role": "admin"}`,
		}, a.changeMemberRole),
		op.Flow(op.Spec{
			Name:     "users.change_password",
			Summary:  "Change your own password; your other sessions end.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Events:   []string{"user.password_changed"},
			Example: `{"token": "fds_0000000000000000000000000000000000000000", "current": "a long sentence", ` +
				`"password": ` +
				`"a longer sentence", "address": "192.0.2.7"}`,
		}, a.changePassword),
	}
}

func (a *Accounts) getMember(ctx context.Context, c *op.Call, in byID) (*Member, error) {
	return findMember(ctx, c.Tx, c.Org, in.ID)
}

// IsActiveMember reports whether a user is a member of the organization and not
// disabled, so that they can be given work.
func IsActiveMember(ctx context.Context, tx *db.Tx, org, user id.ID) (bool, error) {
	m, err := findMember(ctx, tx, org, user)
	if fault.IsKind(err, fault.NotFound) {
		return false, nil
	}
	return err == nil && m.Status == Active, err
}

type userRole struct {
	ID   id.ID  `json:"id"`
	Role string `json:"role" enum:"owner,admin,member"`
}

func (a *Accounts) changeMemberRole(ctx context.Context, c *op.Call, in userRole) (*Member, error) {
	m, err := lockMember(ctx, c, in.ID)
	if err != nil || m.Role == in.Role {
		return m, err
	}
	if err := onlyOwnersChangeOwners(c, m.Role, in.Role); err != nil {
		return nil, err
	}
	return a.setMemberRole(ctx, c, in)
}

// setMemberRole changes a member's role without asking who may: for changeMemberRole, which
// did, and for the identity provider, whose groups the operator mapped to roles.
func (a *Accounts) setMemberRole(ctx context.Context, c *op.Call, in userRole) (*Member, error) {
	m, err := lockMember(ctx, c, in.ID)
	if err != nil || m.Role == in.Role {
		return m, err
	}
	m.Role = in.Role
	_, err = db.Exec(ctx, c.Tx, `
		UPDATE memberships
		SET role = $3, updated_at = $4
		WHERE organization_id = $1 AND user_id = $2 AND deleted_at IS NULL`,
		c.Org, m.ID, m.Role, c.Now)
	if err != nil {
		return nil, err
	}
	if m, err = findMember(ctx, c.Tx, c.Org, m.ID); err != nil {
		return nil, err
	}
	if err := requireRemainingOwner(ctx, c); err != nil {
		return nil, err
	}
	if m.Role == "member" {
		if err := revokeInvitesOfUser(ctx, c, m.ID); err != nil {
			return nil, err
		}
	}
	a.ClearCallersOnCommit(c)
	return m, c.Emit("user.role_changed", m.ID, m)
}

// lockMember locks the organization, the root of the rule about its last owner:
// two owners who demote each other at once must not both succeed.
func lockMember(ctx context.Context, c *op.Call, user id.ID) (*Member, error) {
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return nil, db.AsNotFound(err, "organization")
	}
	return findMember(ctx, c.Tx, c.Org, user)
}

// requireRemainingOwner refuses a change that left the organization without an active owner. It
// runs after the change, in its transaction.
func requireRemainingOwner(ctx context.Context, c *op.Call) error {
	n, err := db.QueryOne[int](ctx, c.Tx, `
		SELECT count(*) FROM memberships m JOIN users u ON u.id = m.user_id
		WHERE m.organization_id = $1 AND m.role = 'owner' AND m.deleted_at IS NULL AND u.status = 'active'`, c.Org)
	if err == nil && n == 0 {
		return OwnerLast.New()
	}
	return err
}

type passwordChange struct {
	Token      string `json:"token" doc:"the session that stays"`
	Current    string `json:"current" max:"1000"`
	Password   string `json:"password" max:"1000"`
	Address    string `json:"address"`
	Browser    string `json:"browser" default:"" doc:"the browser that stays known"`
	Disconnect bool   `json:"disconnect" default:"false" doc:"also end the user's agent connections"`
}

// changePassword requires the current password: an unattended screen must not
// be enough to take over an account.
func (a *Accounts) changePassword(ctx context.Context, c *op.Call, in passwordChange) (*Member, error) {
	if err := a.checkPasswordsAllowed(); err != nil {
		return nil, err
	}
	var m *Member
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		m, err = findMember(ctx, tx, c.Org, c.Caller.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	wrong := func(err error) error {
		if fault.IsKind(err, WrongPassword) {
			return fault.Field("current", "This is not your current password")
		}
		return err
	}
	known, err := a.verifyPassword(ctx, c, m.Email, in.Current, sender{in.Address, in.Browser})
	if err != nil {
		return nil, wrong(err)
	}
	hash, err := hashNewPassword(ctx, in.Password)
	if err != nil {
		return nil, err
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*Member, error) {
		// A password that changed in the meantime means that its owner took the account back.
		if err := known.recheckAndLock(ctx, c.Tx); err != nil {
			return nil, wrong(err)
		}
		if _, err := db.Exec(ctx, c.Tx, "UPDATE users SET password_hash = $2, updated_at = $3 WHERE id = $1", m.ID,
			hash,
			c.Now); err != nil {
			return nil, err
		}
		if err := endSessionsExcept(ctx, c.Tx, m.ID, in.Token); err != nil {
			return nil, err
		}
		if err := forgetBrowsers(ctx, c.Tx, m.ID, in.Browser); err != nil {
			return nil, err
		}
		if in.Disconnect {
			if err := a.connections.EndConnectionsOfUser(ctx, c, m.ID, true, PasswordChanged); err != nil {
				return nil, err
			}
		}
		return m, c.Emit("user.password_changed", m.ID, m)
	})
}

// OperatorOrganization is the one that was made first: that of whoever runs the server.
// It returns an empty id when there is none.
func OperatorOrganization(ctx context.Context, tx *db.Tx) (id.ID, error) {
	org, err := db.QueryOne[id.ID](ctx, tx,
		"SELECT id FROM organizations WHERE deleted_at IS NULL ORDER BY seq LIMIT 1")
	if errors.Is(err, db.ErrNoRow) {
		return "", nil
	}
	return org, err
}
