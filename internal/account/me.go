package account

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
)

// Me describes whom a key acts for.
type Me struct {
	Organization MeOrganization `json:"organization"`
	Business     MeBusiness     `json:"business"`
	Plan         string         `json:"plan" enum:"free,starter,professional,enterprise"`
	Permissions  []string       `json:"permissions" doc:"what the key may do, as <resource>:read and <resource>:write"`
	ActorKind    string         `json:"actorKind"`
	ActorID      *id.ID         `json:"actorId"`
	Timezone     string         `json:"timezone" doc:"of the business, an IANA name"`
	Locale       string         `json:"locale" doc:"of the business, a BCP 47 tag"`
	Currency     string         `json:"currency" doc:"of the business, ISO 4217 in lower case"`
	Now          clock.Time     `json:"now" doc:"the service's clock"`
	Limits       *MeLimits      `json:"limits" doc:"an agent's allowance; null for others, whose headers tell it"`
	Daily        *Daily         `json:"daily" doc:"an agent's limits per day and what it has used; null for others"`

	op.NoExternalText
}

// MeLimits is what is left of the organization's allowance of tool calls.
type MeLimits struct {
	PerMinute    int `json:"perMinute" doc:"tool calls of all agents of the organization together"`
	Used         int `json:"used"`
	Remaining    int `json:"remaining"`
	ResetSeconds int `json:"resetSeconds" doc:"until the whole allowance is back"`
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
		op.Read(op.Spec{
			Name: "me.get",
			NounWords: "log in, logged, permission, plan, who am i, which company, which business, timezone, " +
				"rights",
			Words:   "may you, what may you",
			Route:   "GET /v1/me",
			Summary: "Show who the caller acts for: organization, business, plan and permissions.",
			Description: "Also tells the business's timezone, locale and currency, the service's time, and an " +
				"agent's limits with their use.",
			Resource: op.Unrestricted,
			Example:  `{}`,
		}, a.describeCaller),
	}
}

func (a *Accounts) describeCaller(ctx context.Context, c *op.Call, _ struct{}) (*Me, error) {
	me := &Me{Plan: c.Caller.Plan, Permissions: c.Caller.Permissions.FormatGrants(), ActorKind: string(c.Caller.Kind),
		ActorID: c.Caller.ActorIDOrNil(), Now: c.Now}
	org, err := db.QueryOne[MeOrganization](ctx, c.Tx, "SELECT id, name, status FROM organizations WHERE id = $1",
		c.Org)
	if err != nil {
		return nil, db.AsNotFound(err, "organization")
	}
	me.Organization = org
	b, err := LoadBusinessEvenDeleted(ctx, c.Tx, c.Org, c.Caller.Business)
	if err != nil {
		return nil, db.AsNotFound(err, "business")
	}
	me.Business = MeBusiness{ID: b.ID, Name: b.Name}
	me.Timezone, me.Locale, me.Currency = b.Timezone, b.Locale, b.Currency
	if c.Caller.Kind == op.AgentActor && a.config.DailyUse != nil {
		if me.Daily, err = a.config.DailyUse(ctx, c.Tx, c.Caller, c.Now); err != nil {
			return nil, err
		}
	}
	if c.Caller.Kind == op.AgentActor && a.config.AgentAllowance != nil {
		left, err := a.config.AgentAllowance(ctx, c.Tx, c.Org, c.Caller.Plan)
		if err != nil {
			return nil, err
		}
		me.Limits = &MeLimits{PerMinute: left.Limit, Used: left.Limit - left.Remaining, Remaining: left.Remaining,
			ResetSeconds: limit.CeilSeconds(left.Reset)}
	}
	return me, nil
}
