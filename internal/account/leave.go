package account

import (
	"context"
	"errors"
	"slices"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Whoever leaves an organization leaves no access behind. API keys that they
// made, clients that they connected and invitations that wait end for good: a
// new invitation brings none of them back. What acts by itself, webhooks and
// automations, is shown before and stops, unless an owner takes it over.

// Holding is something that acts by itself for whoever made it.
type Holding struct {
	ID     id.ID  `json:"id"`
	Kind   string `json:"kind" enum:"webhook,automation"`
	Name   string `json:"name" doc:"of a webhook its URL"`
	Status string `json:"status"`
}

// Keeper keeps the holdings of one kind. It is called in the transaction of
// the call.
type Keeper interface {
	// MadeBy lists what acts for a user.
	MadeBy(ctx context.Context, tx *db.Tx, org, user id.ID) ([]Holding, error)
	// TakeOver makes the caller the one whom a holding acts for.
	TakeOver(ctx context.Context, c *op.Call, holding id.ID) error
	// Stop ends what a holding does.
	Stop(ctx context.Context, c *op.Call, holding id.ID) error
}

// Keep joins those who keep holdings.
func (a *Accounts) Keep(all ...Keeper) { a.keepers = append(a.keepers, all...) }

func (a *Accounts) leaveOperations() []*op.Op {
	const one = `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`
	return []*op.Op{
		op.Read(op.Spec{
			Name:     "users.holdings",
			Summary:  "List the webhooks and automations that act for a member, and stop when the member is removed.",
			Resource: op.Account,
			Doors:    doors,
			Example:  one,
		}, a.listHoldings),
		op.Write(op.Spec{
			Name: "users.remove",
			Summary: "Remove a member from the organization. Their API keys, connected clients and invitations end " +
				"for good; their webhooks and automations stop, but for those that the caller, an owner, takes over.",
			Resource: op.Account,
			Doors:    doors,
			Status:   204,
			Events: []string{"user.removed", "api_key.revoked", "invite.revoked", "webhook.updated",
				"automation.updated"},
			Errors:  []*fault.Kind{OwnerLast},
			Example: one,
		}, a.removeMember),
	}
}

func (a *Accounts) listHoldings(ctx context.Context, c *op.Call, in byID) ([]Holding, error) {
	if _, err := member(ctx, c.Tx, c.Org, in.ID); err != nil {
		return nil, err
	}
	return a.holdings(ctx, c.Tx, c.Org, in.ID)
}

func (a *Accounts) holdings(ctx context.Context, tx *db.Tx, org, user id.ID) ([]Holding, error) {
	out := []Holding{}
	for _, k := range a.keepers {
		rows, err := k.MadeBy(ctx, tx, org, user)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

type memberRemove struct {
	ID       id.ID    `json:"id"`
	TakeOver *[]id.ID `json:"takeOver" max:"300" doc:"webhooks and automations that go on, for the caller"`
}

func (a *Accounts) removeMember(ctx context.Context, c *op.Call, in memberRemove) (op.Nothing, error) {
	m, err := lockMember(ctx, c, in.ID)
	if err != nil {
		return op.Nothing{}, err
	}
	var kept []id.ID
	if in.TakeOver != nil {
		kept = *in.TakeOver
	}
	if len(kept) > 0 && (c.Caller.Kind != op.User || c.Caller.Role != "owner" || c.Caller.ID == m.ID) {
		return op.Nothing{}, fault.Forbidden.Say("Only another owner can take over what a member made.")
	}
	for _, statement := range []string{
		`UPDATE memberships SET deleted_at = $3, updated_at = $3
			WHERE organization_id = $1 AND user_id = $2 AND deleted_at IS NULL`,
		// A later invitation must not bring the sessions back.
		"DELETE FROM sessions WHERE organization_id = $1 AND user_id = $2 AND created_at <= $3",
	} {
		if _, err := db.Exec(ctx, c.Tx, statement, c.Org, m.ID, c.Now); err != nil {
			return op.Nothing{}, err
		}
	}
	if err := keepOwner(ctx, c); err != nil {
		return op.Nothing{}, err
	}
	if err := a.endAccess(ctx, c, m.ID, kept); err != nil {
		return op.Nothing{}, err
	}
	a.Changed(c)
	return op.Nothing{}, c.Emit("user.removed", m.ID, m)
}

// endAccess ends whatever acts for a user in the organization, but for the
// holdings that are kept.
func (a *Accounts) endAccess(ctx context.Context, c *op.Call, user id.ID, kept []id.ID) error {
	if err := a.revokeKeysOf(ctx, c, user); err != nil {
		return err
	}
	if err := revokeInvitesOf(ctx, c, user); err != nil {
		return err
	}
	for _, k := range a.keepers {
		rows, err := k.MadeBy(ctx, c.Tx, c.Org, user)
		if err != nil {
			return err
		}
		for _, h := range rows {
			end := k.Stop
			if slices.Contains(kept, h.ID) {
				end = k.TakeOver
			}
			if err := end(ctx, c, h.ID); err != nil {
				return err
			}
		}
	}
	return a.endUser(ctx, c, user, false, MemberLeft)
}

// revokeKeysOf ends the API keys that a user made in the organization.
func (a *Accounts) revokeKeysOf(ctx context.Context, c *op.Call, user id.ID) error {
	rows, err := db.All[id.ID](ctx, c.Tx, `SELECT id FROM api_keys
		WHERE organization_id = $1 AND created_by_user_id = $2 AND revoked_at IS NULL AND deleted_at IS NULL
		ORDER BY seq`, c.Org, user)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if _, err := a.revokeKey(ctx, c, byID{row}); err != nil {
			return err
		}
	}
	return nil
}

// stillManager holds the membership of a caller who manages the organization:
// who was removed since the request began makes nothing that outlives it.
func stillManager(ctx context.Context, c *op.Call) error {
	if c.Caller.Kind != op.User {
		return nil
	}
	text := `SELECT role FROM memberships WHERE organization_id = $1 AND user_id = $2 AND deleted_at IS NULL`
	if c.Tx.Engine() == db.Postgres {
		text += " FOR NO KEY UPDATE"
	}
	role, err := db.One[string](ctx, c.Tx, text, c.Org, c.Caller.ID)
	if errors.Is(err, db.ErrNone) || err == nil && role != "owner" && role != "admin" {
		return fault.Forbidden.New()
	}
	return err
}
