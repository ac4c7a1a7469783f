package account

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
)

// SessionPrefix begins the token of every console session.
const SessionPrefix = "fds_"

const (
	sessionIdleLifetime = 14 * 24 * time.Hour // a session ends after so long without use
	sessionMaxLifetime  = 90 * 24 * time.Hour // it ends after so long in any case
	sessionUsePrecision = time.Hour           // its use is written at most so often
)

// Session is a signed-in user, with everything that decides what they may do.
type Session struct {
	ID        id.ID      `db:"id"`
	CreatedAt clock.Time `db:"created_at"`
	UsedAt    clock.Time `db:"used_at"`
	User      id.ID      `db:"user_id"`
	Email     string     `db:"email"`
	Name      string     `db:"name"`
	Role      string     `db:"role"`
	Org       id.ID      `db:"org_id"`
	OrgName   string     `db:"org_name"`
	OrgStatus string     `db:"org_status"`
	Plan      string     `db:"plan"`
	Business  id.ID      `db:"business_id"` // the organization's first
	Timezone  string     `db:"timezone"`
	Domains   bool       `db:"domains"` // the first business accepted the domain agreement
	Factor    Factor     `db:"factor"`  // what it proved beyond the password; empty for nothing
	Required  bool       `db:"requires_factor"`
	Rights
	agreementsURL string
}

// Manager reports whether the user may manage the account.
func (s *Session) Manager() bool { return isManager(s.Role) }

// MustEnroll reports whether the user has to add a second factor before anything
// else, because the organization requires one of its owners and admins.
func (s *Session) MustEnroll() bool { return s.Required && s.Manager() && s.Factor == "" }

// CallerOfSession returns the caller of a session. Somebody who must add a second factor
// first has no permissions: only operations that need none are open to them.
func CallerOfSession(s *Session) *op.Caller {
	c := &op.Caller{Kind: op.UserActor, ID: s.User, User: s.User, Organization: s.Org, Business: s.Business,
		Plan: s.Plan,
		Role: s.Role, Permissions: s.permissionsForRole(s.Role), Agreements: AcceptedAgreements(s.Domains),
		AgreementURL: s.agreementsURL}
	s.LimitCaller(c, s.Role)
	if s.MustEnroll() {
		c.Permissions, c.MaySpend, c.MayApprove = 0, false, false
	}
	return c
}

// SessionByToken finds the session of a token. A token that is unknown or expired, or
// whose user is disabled or no longer a member, is Unauthorized. Using a session
// extends it, up to sessionMaxLifetime.
func (a *Accounts) SessionByToken(ctx context.Context, token string) (*Session, error) {
	if !secret.IsWellFormed(SessionPrefix, token) {
		return nil, fault.Unauthorized.New()
	}
	hash, now := secret.HashToken(token), a.clock.Now()
	var s Session
	err := a.db.Read(db.WithSingleStatement(ctx), func(ctx context.Context, tx *db.Tx) (err error) {
		s, err = db.QueryOne[Session](ctx, tx, `
			SELECT s.id, s.created_at, s.used_at, u.id, u.email, u.name, m.role, o.id, o.name, o.status, o.plan,
				b.id, b.timezone,
				EXISTS (SELECT 1 FROM agreements g WHERE g.organization_id = o.id AND g.business_id = b.id
					AND g.kind = 'domain' AND g.version = $3 AND g.deleted_at IS NULL),
				s.factor, o.requires_factor, `+RightsColumns+`
			FROM sessions s JOIN users u ON u.id = s.user_id
				JOIN memberships m ON m.organization_id = s.organization_id AND m.user_id = s.user_id
					AND m.deleted_at IS NULL
				JOIN organizations o ON o.id = s.organization_id AND o.deleted_at IS NULL
				JOIN businesses b ON b.id = (SELECT f.id FROM businesses f WHERE f.organization_id = s.organization_id
					AND f.deleted_at IS NULL ORDER BY f.seq LIMIT 1)
			WHERE s.hash = $1 AND s.expires_at > $2 AND u.status = 'active'`, hash[:], now, a.config.DomainAgreement)
		return err
	})
	if errors.Is(err, db.ErrNoRow) {
		return nil, fault.Unauthorized.New()
	}
	if err != nil {
		return nil, err
	}
	s.agreementsURL = a.config.BaseURL + "/agreements"
	if now.Sub(s.UsedAt) > sessionUsePrecision {
		err = a.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "UPDATE sessions SET used_at = $2, expires_at = $3 WHERE hash = $1",
				hash[:], now, min(now.Add(sessionIdleLifetime), s.CreatedAt.Add(sessionMaxLifetime)))
			return err
		})
	}
	return &s, err
}

// SignedIn is what the event log shows of a session.
type SignedIn struct {
	ID             id.ID      `json:"id"`
	CreatedAt      clock.Time `json:"createdAt"`
	OrganizationID id.ID      `json:"organizationId"`
	UserID         id.ID      `json:"userId"`
	Factor         Factor     `json:"factor" doc:"the second factor that was proven; empty for none"`
}

const signedInColumns = "id, created_at, organization_id, user_id, factor"

// NewSession is a session with its token, which is shown only once. A sign-in
// that waits for a second factor has no session yet, only a token to go on with.
type NewSession struct {
	SignedIn
	Token   string `json:"token" doc:"for the cookie; empty while a second factor is missing"`
	Browser string `json:"browser" doc:"for the cookie that identifies the browser later"`
	Pending string `json:"pending" doc:"the sign-in that waits for a second factor; empty for none"`
}

// Origin is where a sign-in comes from.
type Origin struct {
	Address   string `json:"address" default:"" doc:"source address, for the limits and the list of sessions"`
	Browser   string `json:"browser" default:"" doc:"the browser's token, if it has one"`
	UserAgent string `json:"userAgent" default:"" max:"500" doc:"what the browser calls itself"`
}

// beginSession creates a session for a user in the call's organization, with the
// second factor that was proven, if any. Every way to sign in ends here. The call had
// no caller until now, so the user becomes its caller.
func (a *Accounts) beginSession(ctx context.Context, c *op.Call, user id.ID, from Origin, f Factor) (*NewSession,
	error) {
	token := secret.NewToken(SessionPrefix)
	hash := secret.HashToken(token)
	browser, err := rememberBrowser(ctx, c, user, from.Browser)
	if err != nil {
		return nil, err
	}
	s := &NewSession{SignedIn: SignedIn{ID: id.New(), CreatedAt: c.Now, OrganizationID: c.Org, UserID: user, Factor: f},
		Token: token, Browser: browser}
	// Each sign-in sweeps the expired sessions; nothing else needs these rows.
	if _, err := db.Exec(ctx, c.Tx, "DELETE FROM sessions WHERE expires_at <= $1", c.Now); err != nil {
		return nil, err
	}
	_, err = db.Exec(ctx, c.Tx, `
		INSERT INTO sessions (id, organization_id, user_id, hash, created_at, used_at, expires_at, user_agent, address,
			factor)
		VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9)`,
		s.ID, c.Org, user, hash[:], c.Now, c.Now.Add(sessionIdleLifetime), from.UserAgent, from.Address, f)
	if err != nil {
		return nil, err
	}
	c.Caller = &op.Caller{Kind: op.UserActor, ID: user, Organization: c.Org}
	return s, c.Emit("session.created", s.ID, &s.SignedIn)
}

func (a *Accounts) sessionOperations() []*op.Op {
	const token = "fds_0000000000000000000000000000000000000000"
	return []*op.Op{
		op.Flow(op.Spec{
			Name:     "sessions.create",
			Summary:  "Sign in to the console with email and password.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Public:   true,
			Status:   201,
			Secret:   true,
			Events:   []string{"session.created"},
			Example:  `{"email": "ada@example.com", "password": "a long sentence", "address": "192.0.2.7"}`,
		}, a.signInByPassword),
		op.Write(op.Spec{
			Name:     "sessions.switch",
			Summary:  "Switch to another organization that the user belongs to.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Events:   []string{"session.switched"},
			Example:  `{"token": "` + token + `", "organizationId": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`,
		}, a.switchOrganization),
		op.Write(op.Spec{
			Name:     "sessions.delete",
			Summary:  "Sign out.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Status:   204,
			Events:   []string{"session.deleted"},
			Example:  `{"token": "` + token + `"}`,
		}, a.signOut),
		op.Read(op.Spec{
			Name:     "sessions.organizations",
			Summary:  "List the organizations that the user belongs to.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Example:  `{}`,
		}, a.listMemberships),
	}
}

type sessionSwitch struct {
	Token          string `json:"token"`
	OrganizationID id.ID  `json:"organizationId"`
}

func (a *Accounts) switchOrganization(ctx context.Context, c *op.Call, in sessionSwitch) (*SignedIn, error) {
	_, err := db.QueryOne[int](ctx, c.Tx, `
		SELECT 1
		FROM memberships
		WHERE organization_id = $1 AND user_id = $2 AND deleted_at IS NULL`, in.OrganizationID, c.Caller.ID)
	if err != nil {
		return nil, db.AsNotFound(err, "organization")
	}
	hash := secret.HashToken(in.Token)
	s, err := db.QueryOne[SignedIn](ctx, c.Tx, `
		UPDATE sessions
		SET organization_id = $3
		WHERE hash = $1 AND user_id = $2
		RETURNING `+signedInColumns,
		hash[:], c.Caller.ID, in.OrganizationID)
	if err != nil {
		return nil, db.AsNotFound(err, "session")
	}
	c.Org = in.OrganizationID
	return &s, c.Emit("session.switched", s.ID, &s)
}

type sessionEnd struct {
	Token string `json:"token"`
}

// signOut ends one session of the caller. A session that has ended is no error.
func (a *Accounts) signOut(ctx context.Context, c *op.Call, in sessionEnd) (op.Nothing, error) {
	hash := secret.HashToken(in.Token)
	s, err := db.QueryOne[SignedIn](ctx, c.Tx, `
		DELETE FROM sessions
		WHERE hash = $1 AND user_id = $2
		RETURNING `+signedInColumns, hash[:], c.Caller.ID)
	if errors.Is(err, db.ErrNoRow) {
		return op.Nothing{}, nil
	}
	if err != nil {
		return op.Nothing{}, err
	}
	c.Org = s.OrganizationID
	return op.Nothing{}, c.Emit("session.deleted", s.ID, &s)
}

// Membership is an organization that a user belongs to.
type Membership struct {
	ID   id.ID  `json:"id" doc:"the organization"`
	Name string `json:"name"`
	Role string `json:"role"`
}

type membershipList struct{ op.Page }

func (a *Accounts) listMemberships(ctx context.Context, c *op.Call, in membershipList) (*op.List[Membership], error) {
	rows, err := db.QueryAll[Membership](ctx, c.Tx, `
		SELECT o.id, o.name, m.role
		FROM memberships m
		JOIN organizations o ON o.id = m.organization_id
		WHERE m.user_id = $1 AND m.deleted_at IS NULL AND o.deleted_at IS NULL
		ORDER BY m.seq LIMIT $2 OFFSET $3`, c.Caller.ID, in.Limit, in.Offset)
	return op.NewList(in.Page, rows), err
}
