package grant

import (
	"context"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
)

// Login is the caller behind an access token at this moment.
type Login struct {
	Caller   *op.Caller // the agent, with what it may do now
	Grant    id.ID
	User     id.ID
	Client   string
	Disabled bool // the organization, or the user who consented, may not act
	Agreed   bool // the agent's business accepted the current agreement
	Session  bool // the request belongs to an open session
	Paused   bool // all agents of the organization are
	Proposes bool // what it may not do alone, it proposes
	ShowsURL bool // the client of the session can show a person an address
	// Listed are the rights for which the session got the list of tools; nil if it got none
	Listed  *string
	Compact bool // the agent's clients are told of a few tools unless they ask for more
}

type loginRow struct {
	Grant       id.ID             `db:"id"`
	Org         id.ID             `db:"organization_id"`
	User        id.ID             `db:"user_id"`
	Client      string            `db:"client_id"`
	Resource    string            `db:"resource"`
	EndReason   *string           `db:"end_reason"`
	ExpiresAt   clock.Time        `db:"expires_at"`
	Agent       id.ID             `db:"agent"`
	Moved       bool              `db:"moved"`
	Status      account.Status    `db:"agent_status"`
	Deleted     bool              `db:"deleted"`
	Business    id.ID             `db:"business_id"`
	Permissions map[string]string `db:"permissions"`
	Plan        string            `db:"plan"`
	OrgStatus   account.Status    `db:"org_status"`
	Role        *string           `db:"role"` // of the user who connected it, if still an active member
	Agreed      bool              `db:"agreed"`
	Domains     bool              `db:"domains"`
	Session     bool              `db:"session"`
	AskMode     string            `db:"ask_mode"`
	Paused      bool              `db:"paused"`
	ShowsURL    bool              `db:"shows_url"`
	Listed      *string           `db:"listed"`
	Guard       *string           `db:"guard"`
	Limits      account.Limits    `db:"limits"`
	ToolList    string            `db:"tool_list"`
	account.AgentReading
	account.Rights
}

// LoginByToken finds the caller behind an access token. It runs for every request, in
// one statement, and caches nothing.
func (g *Grants) LoginByToken(ctx context.Context, accessToken string) (*Login, error) {
	return g.LoginInSession(ctx, accessToken, "")
}

// LoginInSession also reports whether the session is open and belongs to this token's grant.
// It checks that the grant and the agent may still be used; whether the account may
// act is left to the caller (Disabled, Agreed, Paused).
func (g *Grants) LoginInSession(ctx context.Context, accessToken, session string) (*Login, error) {
	unknown := oauthError(InvalidToken, "The access token is not valid or has expired.")
	if !secret.IsWellFormed(AccessPrefix, accessToken) {
		return nil, unknown
	}
	hash, open := secret.HashToken(accessToken), secret.HashToken(session)
	var v loginRow
	err := g.db.Read(db.WithSingleStatement(ctx), func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = db.QueryOne[loginRow](ctx, tx, `
			SELECT g.id, g.organization_id, g.user_id, g.client_id, g.resource, g.end_reason, t.expires_at,
				a.id, a.organization_id <> g.organization_id, a.status, a.deleted_at IS NOT NULL
					OR b.deleted_at IS NOT NULL, a.business_id, a.permissions,
				o.plan, o.status, m.role,
				EXISTS (SELECT 1 FROM agreements c WHERE c.organization_id = a.organization_id
					AND c.business_id = a.business_id
					AND c.kind = 'business' AND c.version = $3 AND c.deleted_at IS NULL),
				EXISTS (SELECT 1 FROM agreements c WHERE c.organization_id = a.organization_id
					AND c.business_id = a.business_id
					AND c.kind = 'domain' AND c.version = $4 AND c.deleted_at IS NULL),
				EXISTS (SELECT 1 FROM agent_sessions s WHERE s.hash = $2 AND s.grant_id = g.id), a.ask_mode,
				o.agents_paused_at IS NOT NULL,
				EXISTS (SELECT 1 FROM agent_sessions s WHERE s.hash = $2 AND s.grant_id = g.id AND s.shows_url),
				(SELECT s.listed FROM agent_sessions s WHERE s.hash = $2 AND s.grant_id = g.id),
				a.guard, a.limits, a.tool_list, a.outside_read_at, a.guard_thread_id, a.guard_contact_id,
				a.guard_others, `+account.RightsColumns+`
			FROM grant_tokens t JOIN agent_grants g ON g.id = t.grant_id JOIN agents a ON a.id = g.agent_id
				JOIN businesses b ON b.id = a.business_id JOIN organizations o ON o.id = g.organization_id
				LEFT JOIN memberships m ON m.organization_id = g.organization_id AND m.user_id = g.user_id
					AND m.deleted_at IS NULL
					AND EXISTS (SELECT 1 FROM users u WHERE u.id = m.user_id AND u.status = 'active')
			WHERE t.hash = $1 AND t.kind = 'access'`, hash[:], open[:],
			g.config.BusinessAgreement, g.config.DomainAgreement)
		return err
	})
	if isNoRow(err) {
		return nil, unknown
	}
	if err != nil {
		return nil, err
	}
	now := g.clock.Now()
	if v.EndReason != nil {
		return nil, oauthError(InvalidToken, *v.EndReason)
	}
	if v.Resource != g.config.Resource {
		return nil, oauthError(InvalidToken, otherResource)
	}
	if reason := agentEndReason(v.Moved, v.Status, v.Deleted); reason != "" {
		return nil, oauthError(InvalidToken, reason)
	}
	if v.ExpiresAt <= now {
		return nil, unknown
	}
	g.recordUse(v.Grant, now)
	agent := account.Agent{Permissions: v.Permissions, AskMode: v.AskMode, Guard: v.Guard, Limits: v.Limits,
		AgentReading: v.AgentReading}
	agent.ID = v.Agent
	l := &Login{
		Caller: &op.Caller{Kind: op.AgentActor, ID: v.Agent, User: v.User, Organization: v.Org, Business: v.Business,
			Plan: v.Plan, Permissions: agent.AllowedPermissions(), Proposable: agent.ProposablePermissions(),
			Agreements: account.AcceptedAgreements(v.Domains), AgreementURL: g.config.BaseURL + "/agreements"},
		Grant: v.Grant, User: v.User, Client: v.Client,
		Disabled: v.OrgStatus != account.Active || v.Role == nil, Agreed: v.Agreed, Session: v.Session,
		Paused:   v.Paused,
		Proposes: v.AskMode == account.AskPropose, ShowsURL: v.ShowsURL, Listed: v.Listed,
		Compact: v.ToolList == account.ToolsCompact,
	}
	if v.Role != nil { // never more than the person who connected it may do
		v.LimitCaller(l.Caller, *v.Role)
	}
	agent.RestrictCaller(l.Caller, now)
	return l, nil
}

// maxSessions is how many sessions one grant may keep open; the oldest end.
const maxSessions = 100

// OpenSession begins a session of the login's grant. Any process can serve it.
func (g *Grants) OpenSession(ctx context.Context, l *Login, showsURL bool) (string, error) {
	session := secret.NewToken(sessionPrefix)
	hash := secret.HashToken(session)
	err := g.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, `
			INSERT INTO agent_sessions (organization_id, grant_id, hash, created_at, shows_url)
			VALUES ($1, $2, $3, $4, $5)`,
			l.Caller.Organization, l.Grant, hash[:], g.clock.Now(), showsURL)
		if err != nil {
			return err
		}
		_, err = db.Exec(ctx, tx, `
			DELETE FROM agent_sessions WHERE organization_id = $1 AND grant_id = $2 AND seq <=
				(SELECT seq FROM agent_sessions WHERE organization_id = $1
					AND grant_id = $2 ORDER BY seq DESC LIMIT 1 OFFSET $3)`,
			l.Caller.Organization, l.Grant, maxSessions)
		return err
	})
	return session, err
}

// NoteListed notes for which rights a session of the login's grant got the list of tools.
func (g *Grants) NoteListed(ctx context.Context, l *Login, session, rights string) error {
	hash := secret.HashToken(session)
	return g.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, `
			UPDATE agent_sessions
			SET listed = $4
			WHERE organization_id = $1 AND grant_id = $2 AND hash = $3`,
			l.Caller.Organization, l.Grant, hash[:], rights)
		return err
	})
}

// EndSession ends a session of the login's grant.
func (g *Grants) EndSession(ctx context.Context, l *Login, session string) error {
	hash := secret.HashToken(session)
	return g.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, `
			DELETE
			FROM agent_sessions
			WHERE organization_id = $1 AND grant_id = $2 AND hash = $3`,
			l.Caller.Organization, l.Grant, hash[:])
		return err
	})
}

// recordUse remembers that a grant was used, until FlushLastUsed writes it down.
func (g *Grants) recordUse(grant id.ID, now clock.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.used == nil {
		g.used = map[id.ID]clock.Time{}
	}
	g.used[grant] = now
}

// FlushLastUsed writes when connections were last used to the database.
func (g *Grants) FlushLastUsed(ctx context.Context) error {
	g.mu.Lock()
	used := g.used
	g.used = nil
	g.mu.Unlock()
	if len(used) == 0 {
		return nil
	}
	return g.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		for grant, at := range used {
			// The grant's id is all that is known here; ids are unique across organizations.
			if _, err := db.Exec(ctx, tx, "UPDATE agent_grants SET last_used_at = $2 WHERE id = $1", grant,
				at); err != nil {
				return err
			}
		}
		return nil
	})
}
