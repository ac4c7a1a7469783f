package account

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Me is who a key acts for.
type Me struct {
	Organization MeOrganization `json:"organization"`
	Business     MeBusiness     `json:"business"`
	Plan         string         `json:"plan" enum:"free,starter,professional,enterprise"`
	Permissions  []string       `json:"permissions" doc:"what the key may do, as <resource>:read and <resource>:write"`
	ActorKind    string         `json:"actorKind"`
	ActorID      *id.ID         `json:"actorId"`
}

// MeOrganization is the caller's organization.
type MeOrganization struct {
	ID     id.ID  `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

// MeBusiness is the caller's business.
type MeBusiness struct {
	ID   id.ID  `json:"id"`
	Name string `json:"name"`
}

func (a *Accounts) meOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{Name: "me.get", Route: "GET /v1/me", Summary: "Show who the caller acts for: organization, business, plan and permissions.",
			Resource: op.Free, Example: `{}`}, a.me),
	}
}

func (a *Accounts) me(ctx context.Context, c *op.Call, _ struct{}) (*Me, error) {
	me := &Me{Plan: c.Caller.Plan, Permissions: c.Caller.Permissions.Grants(), ActorKind: string(c.Caller.Kind), ActorID: c.Caller.ActorID()}
	org, err := db.One[MeOrganization](ctx, c.Tx, "SELECT id, name, status FROM organizations WHERE id = $1", c.Org)
	if err != nil {
		return nil, db.Missing(err, "organization")
	}
	me.Organization = org
	me.Business, err = db.One[MeBusiness](ctx, c.Tx, "SELECT id, name FROM businesses WHERE organization_id = $1 AND id = $2", c.Org, c.Caller.Business)
	return me, db.Missing(err, "business")
}
