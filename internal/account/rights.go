package account

import (
	"context"
	"slices"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Rights is what a membership allows beside the role. Owners and admins have all of
// it, whatever is stored: they could give it to themselves.
type Rights struct {
	MaySpend    bool     `json:"maySpend" doc:"buy, renew, switch renewal on and save cards; owners and admins always"`
	MayApprove  bool     `json:"mayApprove" doc:"decide what agents propose; owners and admins always"`
	Permissions []string `json:"permissions" doc:"as a key has them; owners and admins have * always"`
}

// RightsColumns are the SQL columns of Rights for the membership m. Without a
// membership, as for a key that the operator made for nobody, they allow everything.
const RightsColumns = `m.role IS NULL OR m.role <> 'member' OR m.may_spend AS may_spend, ` +
	`m.role IS NULL OR m.role <> 'member' OR m.may_approve AS may_approve, ` +
	`CASE WHEN m.role = 'member' THEN m.permissions ELSE '["*"]' END AS permissions`

// permissionsForRole is what a member with a role may do. Owners and admins may do everything,
// members what they were given, and never manage the account. A permission that no
// longer means anything allows nothing.
func (r *Rights) permissionsForRole(role string) (p op.Permissions) {
	for _, grant := range r.Permissions {
		if one, err := op.ParseGrants([]string{grant}); err == nil {
			p |= one
		}
	}
	if isManager(role) {
		for _, a := range []op.Action{op.ActionRead, op.ActionCreate, op.ActionUpdate, op.ActionDelete} {
			p = p.With(op.Account, a)
		}
	}
	return p
}

// LimitCaller takes from a caller whatever the person on whose behalf it acts may not do.
// role is that person's role.
func (r *Rights) LimitCaller(c *op.Caller, role string) {
	p := r.permissionsForRole(role)
	c.Permissions &= p
	c.Proposable &= p
	c.MaySpend, c.MayApprove = r.MaySpend, r.MayApprove
}

func isManager(role string) bool { return role == roleOwner || role == "admin" }

const roleOwner = "owner"

// allPermissions is the permission for all resources.
const allPermissions = "*"

// onlyOwnersChangeOwners refuses everybody but owners and the operator when one of the roles is
// owner: the change would make, change or remove an owner.
func onlyOwnersChangeOwners(c *op.Call, roles ...string) error {
	if !slices.Contains(roles, roleOwner) || c.Door == op.AdminDoor || c.Door == op.SystemDoor ||
		c.Caller.Kind == op.UserActor && c.Caller.Role == roleOwner {
		return nil
	}
	return fault.Forbidden.Say("Only an owner can make, change or remove an owner.")
}

type memberUpdate struct {
	ID          id.ID                 `path:"id" doc:"the user"`
	MaySpend    op.Optional[bool]     `json:"maySpend"`
	MayApprove  op.Optional[bool]     `json:"mayApprove"`
	Permissions op.Optional[[]string] `json:"permissions" doc:"contacts:read, contacts:write and so on, or *"`
}

func (in *memberUpdate) Prepare(context.Context, *op.Call) error {
	if _, err := op.ParseGrants(in.Permissions.Value); err != nil {
		return fault.Field("permissions", err.Error())
	}
	return nil
}

// refuseSentFields returns a refusal with the issue at each field that was sent.
func (in *memberUpdate) refuseSentFields(issue string) error {
	var tree *fault.Tree
	for name, sent := range map[string]bool{"maySpend": in.MaySpend.Set, "mayApprove": in.MayApprove.Set,
		"permissions": in.Permissions.Set} {
		if sent {
			tree = tree.At([]any{name}, issue)
		}
	}
	return tree.Fault(fault.Invalid)
}

// updateMember sets what a plain member may do.
func (a *Accounts) updateMember(ctx context.Context, c *op.Call, in memberUpdate) (*Colleague, error) {
	m, err := lockMember(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	wanted := m.Rights
	if !op.Apply(&wanted, &in) {
		return colleagueFromMember(m), nil
	}
	if isManager(m.Role) {
		return nil, in.refuseSentFields("Owners and admins always may do everything; make this person a member first")
	}
	m.Rights = wanted
	_, err = db.Exec(ctx, c.Tx, `
		UPDATE memberships SET may_spend = $3, may_approve = $4, permissions = $5, updated_at = $6
		WHERE organization_id = $1 AND user_id = $2 AND deleted_at IS NULL`,
		c.Org, m.ID, m.MaySpend, m.MayApprove, m.Permissions, c.Now)
	if err != nil {
		return nil, err
	}
	a.ClearCallersOnCommit(c)
	return colleagueFromMember(m), c.Emit("user.rights_changed", m.ID, m)
}

// WriteByManager declares an op.Write for those who manage the account. It begins with
// LockAndRequireManager.
func WriteByManager[In, Out any](s op.Spec, fn func(context.Context, *op.Call, In) (Out, error)) *op.Op {
	return op.Write(s, func(ctx context.Context, c *op.Call, in In) (out Out, err error) {
		if err := LockAndRequireManager(ctx, c); err != nil {
			return out, err
		}
		return fn(ctx, c, in)
	})
}

// LockAndRequireManager locks the organization, which every change of a membership does too, and
// checks again that the caller still is a manager. A user who was removed, disabled or
// demoted since the request began is refused: otherwise they could still make a key or
// an invitation that outlives their membership.
func LockAndRequireManager(ctx context.Context, c *op.Call) error {
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return db.AsNotFound(err, "organization")
	}
	if c.Caller.User == "" || c.Door == op.AdminDoor {
		return nil
	}
	m, err := findMember(ctx, c.Tx, c.Org, c.Caller.User)
	switch {
	case fault.IsKind(err, fault.NotFound):
		return fault.Forbidden.New()
	case err != nil:
		return err
	case m.Status != Active || !isManager(m.Role) || c.Caller.Role == roleOwner && m.Role != roleOwner:
		return fault.Forbidden.New()
	}
	return nil
}
