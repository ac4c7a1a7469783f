package account

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// MakerAsCaller returns the caller who once made something that acts by itself, with
// the permissions they have now. A maker who may no longer act is refused with
// the reason.
func (a *Accounts) MakerAsCaller(ctx context.Context, org id.ID, kind op.ActorKind, maker id.ID) (*op.Caller, error) {
	var l *Login
	var err error
	switch kind {
	case op.APIActor:
		l, err = a.loadKeyMaker(ctx, org, maker)
	case op.AgentActor:
		l, err = a.loadAgentMaker(ctx, org, maker)
	case op.UserActor, op.SystemActor:
		l, err = a.loadUserMaker(ctx, org, kind, maker)
	default:
		err = fault.Unauthorized.Say("Its maker cannot be found.")
	}
	if err != nil {
		return nil, err
	}
	return l.Caller, l.Refused()
}

func (a *Accounts) loadKeyMaker(ctx context.Context, org, maker id.ID) (*Login, error) {
	l, err := a.loadKeyLogin(ctx, "k.organization_id = $3 AND k.id = $4", org, maker)
	if fault.IsKind(err, fault.Unauthorized) {
		return nil, fault.Unauthorized.Say("The API key that made it was revoked, or its business was deleted.")
	}
	if err == nil && l.expiresAt != nil && *l.expiresAt <= a.clock.Now() {
		err = fault.Unauthorized.Say("The API key that made it has expired.")
	}
	return l, err
}

// makerRow is an agent, a user or the operator, and the business they act in.
type makerRow struct {
	Business    id.ID             `db:"business_id"`
	Plan        string            `db:"plan"`
	OrgStatus   Status            `db:"org_status"`
	Status      Status            `db:"status"`
	Role        string            `db:"role"`
	Permissions map[string]string `db:"permissions"`
	AskMode     string            `db:"ask_mode"`
	Paused      bool              `db:"paused"`
	Guard       *string           `db:"guard"`
	Limits      *Limits           `db:"limits"`
	AgentReading
	Agreed  bool `db:"agreed"`
	Domains bool `db:"domains"`
	Rights
}

// agentReadingColumns are the columns of AgentReading for the agent a, and
// emptyReadingColumns the same columns for a maker who is no agent.
const (
	agentReadingColumns = `a.outside_read_at AS outside_read_at, a.guard_thread_id AS guard_thread_id, ` +
		`a.guard_contact_id AS guard_contact_id, a.guard_others AS guard_others, `
	emptyReadingColumns = `NULL AS outside_read_at, NULL AS guard_thread_id, NULL AS guard_contact_id, ` +
		`FALSE AS guard_others, `
)

// agreementColumns are the columns for both agreements of the business b.
const agreementColumns = `
	EXISTS (SELECT 1 FROM agreements g WHERE g.organization_id = $1 AND g.business_id = b.id
		AND g.kind = 'business' AND g.version = $3 AND g.deleted_at IS NULL) AS agreed,
	EXISTS (SELECT 1 FROM agreements g WHERE g.organization_id = $1 AND g.business_id = b.id
		AND g.kind = 'domain' AND g.version = $4 AND g.deleted_at IS NULL) AS domains`

// unlimitedRights are the columns of Rights for a maker who is no member. They allow
// everything: an agent is bounded by its own permission table, and the operator by
// nothing.
const unlimitedRights = `, TRUE AS may_spend, TRUE AS may_approve, '["*"]' AS member_permissions`

// loadMakerRow runs one of the queries for makers. $1 is the organization, $2 the maker,
// $3 and $4 are the current versions of the agreements.
func (a *Accounts) loadMakerRow(ctx context.Context, org, maker id.ID, text string) (row makerRow, err error) {
	err = a.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		row, err = db.QueryOne[makerRow](ctx, tx, text, org, maker, a.config.BusinessAgreement,
			a.config.DomainAgreement)
		return err
	})
	return row, err
}

func (row *makerRow) toLogin(a *Accounts, org, maker id.ID, kind op.ActorKind, p op.Permissions) *Login {
	return &Login{Disabled: row.OrgStatus != Active, Agreed: row.Agreed,
		Caller: &op.Caller{Kind: kind, ID: maker, Organization: org, Business: row.Business, Plan: row.Plan,
			Role: row.Role, Permissions: p, MaySpend: row.MaySpend, MayApprove: row.MayApprove,
			Agreements: AcceptedAgreements(row.Domains), AgreementURL: a.config.BaseURL + "/agreements"}}
}

func (a *Accounts) loadAgentMaker(ctx context.Context, org, maker id.ID) (*Login, error) {
	row, err := a.loadMakerRow(ctx, org, maker, `
		SELECT b.id AS business_id, o.plan AS plan, o.status AS org_status, a.status AS status, '' AS role,
			a.permissions AS permissions, a.ask_mode AS ask_mode, o.agents_paused_at IS NOT NULL AS paused,
			a.guard AS guard, a.limits AS limits, `+agentReadingColumns+agreementColumns+unlimitedRights+`
		FROM agents a
		JOIN organizations o ON o.id = a.organization_id AND o.deleted_at IS NULL
		JOIN businesses b ON b.id = a.business_id AND b.deleted_at IS NULL
		WHERE a.organization_id = $1 AND a.id = $2 AND a.deleted_at IS NULL`)
	if errors.Is(err, db.ErrNoRow) {
		return nil, fault.Unauthorized.Say("The agent that made it was deleted or moved.")
	}
	if err != nil {
		return nil, err
	}
	if row.Status != Active {
		return nil, fault.Unauthorized.Say("The agent that made it is deactivated.")
	}
	if row.Paused {
		return nil, AgentsPaused.New()
	}
	g := Agent{Permissions: row.Permissions, AskMode: row.AskMode, Guard: row.Guard, AgentReading: row.AgentReading}
	g.ID, g.Limits = maker, *row.Limits
	l := row.toLogin(a, org, maker, op.AgentActor, g.AllowedPermissions())
	l.Caller.Proposable = g.ProposablePermissions()
	g.RestrictCaller(l.Caller, a.clock.Now())
	return l, nil
}

// memberMakerQuery reads a member with the organization's first business, in which
// users act. operatorMakerQuery reads the operator, who has no row: the maker's id is
// empty, and the role is that of an owner.
const (
	joinFirstBusiness = `businesses b ON b.id = (SELECT f.id FROM businesses f WHERE f.organization_id = $1 AND ` +
		`f.deleted_at IS NULL ORDER BY f.seq LIMIT 1)`
	memberMakerQuery = `SELECT b.id AS business_id, o.plan AS plan, o.status AS org_status, u.status AS status, ` +
		`m.role AS role, NULL AS permissions, '' AS ask_mode, FALSE AS paused, ` +
		`NULL AS guard, NULL AS limits, ` + emptyReadingColumns + agreementColumns + `, ` + RightsColumns + `
		FROM organizations o
		JOIN ` + joinFirstBusiness + ` JOIN memberships m ON m.organization_id = o.id AND m.deleted_at IS NULL
		JOIN users u ON u.id = m.user_id
		WHERE o.id = $1 AND o.deleted_at IS NULL AND m.user_id = $2`
	operatorMakerQuery = `SELECT b.id AS business_id, o.plan AS plan, o.status AS org_status, 'active' AS status, ` +
		`'owner' AS role, NULL AS permissions, '' AS ask_mode, FALSE AS paused, ` +
		`NULL AS guard, NULL AS limits, ` + emptyReadingColumns + agreementColumns + unlimitedRights + `
		FROM organizations o
		JOIN ` + joinFirstBusiness + ` WHERE o.id = $1 AND o.deleted_at IS NULL AND CAST($2 AS TEXT) = ''`
)

func (a *Accounts) loadUserMaker(ctx context.Context, org id.ID, kind op.ActorKind, maker id.ID) (*Login, error) {
	text := memberMakerQuery
	if kind == op.SystemActor {
		text = operatorMakerQuery
	}
	row, err := a.loadMakerRow(ctx, org, maker, text)
	if errors.Is(err, db.ErrNoRow) {
		return nil, fault.Unauthorized.Say("The user who made it is no longer a member.")
	}
	if err != nil {
		return nil, err
	}
	if row.Status != Active {
		return nil, fault.AccountDisabled.Say("The user who made it is disabled.")
	}
	if kind == op.SystemActor {
		return row.toLogin(a, org, maker, kind, op.Everything().With(op.Account, op.ActionRead)), nil
	}
	l := row.toLogin(a, org, maker, kind, row.permissionsForRole(row.Role))
	l.Caller.User = maker
	return l, nil
}
