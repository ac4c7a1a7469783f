package account

import (
	"context"
	"slices"

	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// A member who leaves an organization keeps no access to it. Their API keys,
// connected clients and pending invitations end for good; a new invitation does
// not bring them back. Their webhooks and automations, which act by themselves,
// are shown beforehand and stop, unless an owner takes them over.

// Holding is a webhook or an automation: something that acts by itself, with the
// permissions of whoever made it.
type Holding struct {
	ID     id.ID  `json:"id"`
	Kind   string `json:"kind" enum:"webhook,automation"`
	Name   string `json:"name" doc:"for a webhook, its URL"`
	Status string `json:"status"`
}

// Keeper manages the holdings of one kind, in the transaction of the call. Packages
// webhook and automation implement it.
type Keeper interface {
	// MadeBy lists the holdings that act for a user.
	MadeBy(ctx context.Context, tx *db.Tx, org, user id.ID) ([]Holding, error)
	// TakeOver makes a holding act for the caller.
	TakeOver(ctx context.Context, c *op.Call, holding id.ID) error
	// Stop stops a holding.
	Stop(ctx context.Context, c *op.Call, holding id.ID) error
}

// Departures removes members, and stops or hands over what acts for them. It is
// separate from Accounts because the keepers need Accounts.
type Departures struct {
	accounts *Accounts
	keepers  []Keeper
}

// DeparturesConfig is what departures need. All of it is required.
type DeparturesConfig struct {
	Accounts *Accounts
	Keepers  []Keeper
}

// NewDepartures returns the operations that remove members. It panics when a required
// field is missing.
func NewDepartures(c DeparturesConfig) *Departures {
	config.RequireFields(c, "Accounts", "Keepers")
	return &Departures{accounts: c.Accounts, keepers: c.Keepers}
}

// Operations lists the operations on departing members.
func (d *Departures) Operations() []*op.Op {
	const one = `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`
	return []*op.Op{
		op.Read(op.Spec{
			Name:     "users.holdings",
			Summary:  "List the webhooks and automations that act for a member and stop when the member is removed.",
			Resource: op.Account,
			Doors:    Doors,
			Example:  one,
		}, d.listHoldings),
		WriteByManager(op.Spec{
			Name: "users.remove",
			Summary: "Remove a member from the organization. Their API keys, connected clients and invitations end " +
				"for good. Their webhooks and automations stop, except those that the caller, an owner, takes over.",
			Resource: op.Account,
			Doors:    Doors,
			Status:   204,
			Events: []string{"user.removed", "api_key.revoked", "invite.revoked", "webhook.updated",
				"automation.updated"},
			Errors:  []*fault.Kind{OwnerLast},
			Example: one,
		}, d.removeMember),
	}
}

func (d *Departures) listHoldings(ctx context.Context, c *op.Call, in byID) ([]Holding, error) {
	if _, err := findMember(ctx, c.Tx, c.Org, in.ID); err != nil {
		return nil, err
	}
	return d.gatherHoldings(ctx, c.Tx, c.Org, in.ID)
}

func (d *Departures) gatherHoldings(ctx context.Context, tx *db.Tx, org, user id.ID) ([]Holding, error) {
	out := []Holding{}
	for _, k := range d.keepers {
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
	TakeOver *[]id.ID `json:"takeOver" max:"300" doc:"webhooks and automations that keep running, for the caller"`
}

func (d *Departures) removeMember(ctx context.Context, c *op.Call, in memberRemove) (op.Nothing, error) {
	var kept []id.ID
	if in.TakeOver != nil {
		kept = *in.TakeOver
	}
	if len(kept) > 0 && (c.Caller.Kind != op.UserActor || c.Caller.Role != "owner" || c.Caller.ID == in.ID) {
		return op.Nothing{}, fault.Forbidden.Say("Only another owner can take over what a member made.")
	}
	m, err := lockMember(ctx, c, in.ID)
	if err != nil {
		return op.Nothing{}, err
	}
	if err := onlyOwnersChangeOwners(c, m.Role); err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, d.removeAndEndAccess(ctx, c, in.ID, kept)
}

// RemoveForProvider removes a member of the call's organization because the identity provider
// says so. Nobody takes over what acts for them.
func (d *Departures) RemoveForProvider(ctx context.Context, c *op.Call, user id.ID) error {
	return d.removeAndEndAccess(ctx, c, user, nil)
}

// removeAndEndAccess ends a membership and everything that acts for the user in the organization.
// The caller takes over the holdings in kept.
func (d *Departures) removeAndEndAccess(ctx context.Context, c *op.Call, user id.ID, kept []id.ID) error {
	m, err := lockMember(ctx, c, user)
	if err != nil {
		return err
	}
	for _, statement := range []string{
		`
			UPDATE memberships SET deleted_at = $3, updated_at = $3
			WHERE organization_id = $1 AND user_id = $2 AND deleted_at IS NULL`,
		// Otherwise a later invitation would bring these sessions back to life.
		"DELETE FROM sessions WHERE organization_id = $1 AND user_id = $2 AND created_at <= $3",
	} {
		if _, err := db.Exec(ctx, c.Tx, statement, c.Org, m.ID, c.Now); err != nil {
			return err
		}
	}
	if err := requireRemainingOwner(ctx, c); err != nil {
		return err
	}
	if err := d.endAccess(ctx, c, m.ID, kept); err != nil {
		return err
	}
	d.accounts.ClearCallersOnCommit(c)
	return c.Emit("user.removed", m.ID, m)
}

// endAccess ends whatever acts for a user in the organization, except for the
// kept holdings, which the caller takes over.
func (d *Departures) endAccess(ctx context.Context, c *op.Call, user id.ID, kept []id.ID) error {
	if err := d.accounts.revokeKeysOfUser(ctx, c, user); err != nil {
		return err
	}
	if err := revokeInvitesOfUser(ctx, c, user); err != nil {
		return err
	}
	for _, k := range d.keepers {
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
	return d.accounts.connections.EndConnectionsOfUser(ctx, c, user, false, MemberLeft)
}

// revokeKeysOfUser ends the API keys that a user made in the organization.
func (a *Accounts) revokeKeysOfUser(ctx context.Context, c *op.Call, user id.ID) error {
	rows, err := db.QueryAll[id.ID](ctx, c.Tx, `
		SELECT id FROM api_keys
		WHERE organization_id = $1 AND created_by_user_id = $2 AND revoked_at IS NULL AND deleted_at IS NULL
		ORDER BY seq`, c.Org, user)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if _, err := a.revokeAPIKey(ctx, c, byID{row}); err != nil {
			return err
		}
	}
	return nil
}
