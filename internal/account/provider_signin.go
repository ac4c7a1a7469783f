package account

import (
	"context"
	"crypto/subtle"
	"errors"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
)

// Provider is the identity provider that people sign in with.
type Provider struct {
	IdentityProvider
	Name         string
	Organization id.ID             // in which Roles and AddUnknown apply
	Roles        map[string]string // by group; empty means that roles are given here
	AddUnknown   bool              // people without an account are added as members
	Only         bool              // passwords are switched off
	TrustFactor  bool              // its second factor counts as ours
	// RemoveMember removes a member and ends everything that acts for them: it is
	// Departures.RemoveForProvider.
	RemoveMember func(ctx context.Context, c *op.Call, user id.ID) error
}

// IdentityProvider speaks with the provider.
type IdentityProvider interface {
	// Address is where the person signs in. From there the browser comes back with
	// a code.
	Address(ctx context.Context, v ProviderVisit) (string, error)
	// Identify exchanges the code for what the provider says about the person. Any
	// answer that is not certainly for this visit is a refusal.
	Identify(ctx context.Context, v ProviderVisit, a ProviderAnswer) (*Identity, error)
}

// ProviderVisit is what ties a visit to the provider to one browser.
type ProviderVisit struct {
	State, Nonce, Verifier string
	Fresh                  bool // the person must sign in there again
}

// ProviderAnswer is what the browser comes back with.
type ProviderAnswer struct{ Code, Issuer string }

// Refusals of what the provider sends.
var (
	ProviderRefused = fault.DefineKind("PROVIDER_REFUSED", 401,
		"The identity provider's answer was not accepted. Sign in again.")
	NoProvider = fault.DefineKind("NO_IDENTITY_PROVIDER", 404, "This server has no identity provider.")
)

// VisitPrefix begins the token of a browser that was sent to the provider.
const VisitPrefix = "fdo_"

const (
	visitLifetime   = 10 * time.Minute
	visitsPerMinute = 60 // from one address
)

// deriveVisit derives the secrets of a visit from the token in the browser's cookie. The
// database has only the token's hash.
func deriveVisit(token string, fresh bool) ProviderVisit {
	return ProviderVisit{State: deriveVisitSecret(token, "state"), Nonce: deriveVisitSecret(token, "nonce"),
		Verifier: deriveVisitSecret(token, "verifier"), Fresh: fresh}
}

func (a *Accounts) providerOperations() []*op.Op {
	return []*op.Op{
		op.Flow(op.Spec{
			Name:     "sessions.begin_provider",
			Summary:  "Begin to sign in with the identity provider.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Public:   true,
			Status:   201,
			Secret:   true,
			Errors:   []*fault.Kind{NoProvider},
			Example:  `{"next": "/", "address": "192.0.2.7"}`,
		}, a.beginProviderSignIn),
		op.Flow(op.Spec{
			Name:     "sessions.finish_provider",
			Summary:  "Sign in with what the identity provider answered.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Public:   true,
			Status:   201,
			Secret:   true,
			Events: []string{"session.created", "user.created", "user.identity_linked", "user.role_changed",
				"user.removed", "invite.accepted", "invite.revoked", "api_key.revoked", "webhook.updated",
				"automation.updated"},
			Errors: []*fault.Kind{NoProvider, ProviderRefused, SignInExpired, EmailUnverified, UnknownPerson,
				IdentityTaken, NoGroup, OwnerLast},
			Example: `{"token": "fdo_0000000000000000000000000000000000000000", "state": "x", "code": "y", ` +
				`"address": "192.0.2.7"}`,
		}, a.finishProviderSignIn),
		op.Write(op.Spec{
			Name:     "users.unlink",
			Summary:  "Forget who a user is at the identity provider; all of the user's sessions end.",
			Resource: op.Account,
			Doors:    op.AdminDoor,
			Events:   []string{"user.identity_unlinked"},
			Example:  `{"email": "ada@example.com"}`,
		}, a.unlinkIdentity),
	}
}

type providerBegin struct {
	Next  string `json:"next" default:"/" max:"2048" doc:"a path of this site"`
	Fresh bool   `json:"fresh" default:"false" doc:"the person must sign in there again"`
	Origin
}

// ProviderVisitBegun is where to send the browser, and its token.
type ProviderVisitBegun struct {
	URL   string `json:"url" max:"4096"`
	Token string `json:"token" doc:"for a cookie"`
}

func (a *Accounts) beginProviderSignIn(ctx context.Context, c *op.Call, in providerBegin) (*ProviderVisitBegun, error) {
	p := a.config.Provider
	if p == nil {
		return nil, NoProvider.New()
	}
	if v := a.visitLimiter.Spend(in.Address, visitsPerMinute, time.Minute, c.Now.Std()); !v.OK {
		f := fault.RateLimited.New()
		f.RetryAfter = v.Retry
		return nil, f
	}
	token := secret.NewToken(VisitPrefix)
	address, err := p.Address(ctx, deriveVisit(token, in.Fresh))
	if err != nil {
		return nil, err
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*ProviderVisitBegun, error) {
		if _, err := db.Exec(ctx, c.Tx, "DELETE FROM provider_visits WHERE expires_at <= $1", c.Now); err != nil {
			return nil, err
		}
		hash := secret.HashToken(token)
		_, err := db.Exec(ctx, c.Tx, `
			INSERT INTO provider_visits (hash, next, fresh, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)`,
			hash[:], in.Next, in.Fresh, c.Now, c.Now.Add(visitLifetime))
		return &ProviderVisitBegun{address, token}, err
	})
}

type providerFinish struct {
	Token  string `json:"token" doc:"of the browser's cookie"`
	State  string `json:"state" max:"1000"`
	Code   string `json:"code" max:"4096"`
	Issuer string `json:"issuer" default:"" max:"2048" doc:"the parameter iss, if it was sent"`
	Origin
}

// ProviderSession is a session, or a sign-in that waits for a second factor, and
// where the person wanted to go.
type ProviderSession struct {
	NewSession
	Next string `json:"next" max:"2048"`
}

type visitRow struct {
	Next    string     `db:"next"`
	Fresh   bool       `db:"fresh"`
	Created clock.Time `db:"created_at"`
}

func (a *Accounts) finishProviderSignIn(ctx context.Context, c *op.Call, in providerFinish) (*ProviderSession, error) {
	p := a.config.Provider
	if p == nil {
		return nil, NoProvider.New()
	}
	row, err := a.claimVisit(ctx, c, in)
	if err != nil {
		return nil, err
	}
	who, err := p.Identify(ctx, deriveVisit(in.Token, row.Fresh), ProviderAnswer{in.Code, in.Issuer})
	if err != nil {
		return nil, err
	}
	if row.Fresh && who.At.Before(row.Created.Std().Add(-time.Minute)) {
		return nil, ProviderRefused.Say("%s did not ask you to sign in again, so nothing was confirmed.", p.Name)
	}
	// Two transactions: what the provider says about the person, such as a lost role, is
	// kept even if the sign-in below is refused.
	invite, _ := strings.CutPrefix(row.Next, "/join/")
	if invite == row.Next {
		invite = ""
	}
	var user id.ID
	joined := false
	err = c.Write(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if p.Organization != "" { // before the user: everybody who lets somebody join locks in this order
			if err := db.LockOrganization(ctx, tx, p.Organization); err != nil {
				return db.AsNotFound(err, "organization")
			}
		}
		if user, joined, err = a.findOrAddPerson(ctx, c, who, invite); err != nil {
			return err
		}
		return a.applyGroupRole(ctx, c, user, who)
	})
	if err != nil {
		return nil, err
	}
	if len(p.Roles) > 0 && !who.Grouped {
		return nil, NoGroup.Say("%s sent no groups, so nobody knows your role. Ask whoever runs this server.", p.Name)
	}
	if joined {
		row.Next = "/" // the invitation is used
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*ProviderSession, error) {
		s, err := a.signInIdentified(ctx, c, user, who, in.Origin)
		if err != nil {
			return nil, err
		}
		// Who had to sign in again at the provider has also confirmed the new session.
		if row.Fresh && s.Token != "" {
			_, err := db.Exec(ctx, c.Tx, "UPDATE sessions SET confirmed_at = $2 WHERE id = $1", s.ID, c.Now)
			if err != nil {
				return nil, err
			}
		}
		return &ProviderSession{*s, row.Next}, nil
	})
}

// claimVisit deletes the visit that an answer belongs to, so that an answer works once.
// An answer whose state is another visit's leaves this one as it is: otherwise any
// page could end a sign-in by sending the browser here.
func (a *Accounts) claimVisit(ctx context.Context, c *op.Call, in providerFinish) (row visitRow, err error) {
	state := deriveVisit(in.Token, false).State
	if !secret.IsWellFormed(VisitPrefix, in.Token) || subtle.ConstantTimeCompare([]byte(state), []byte(in.State)) != 1 {
		return row, SignInExpired.New()
	}
	err = c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		hash := secret.HashToken(in.Token)
		row, err = db.QueryOne[visitRow](ctx, tx, `
			DELETE FROM provider_visits
			WHERE hash = $1 AND expires_at > $2
			RETURNING next, fresh, created_at`, hash[:], c.Now)
		if errors.Is(err, db.ErrNoRow) {
			return SignInExpired.New()
		}
		return err
	})
	return row, err
}

// signInIdentified begins the session of a user whom the provider identified. A user with a second
// factor here is asked for it, unless the provider asked for one and the operator
// trusts that.
func (a *Accounts) signInIdentified(ctx context.Context, c *op.Call, user id.ID, who *Identity, from Origin) (
	s *NewSession, err error) {
	if err := lockActiveUser(ctx, c.Tx, user); err != nil {
		return nil, err
	}
	if c.Org, err = chooseOrganization(ctx, c.Tx, user); err != nil {
		return nil, err
	}
	c.Caller = &op.Caller{Kind: op.UserActor, ID: user, Organization: c.Org}
	if a.config.Provider.TrustFactor && who.Factor {
		return a.beginSession(ctx, c, user, from, ByProvider)
	}
	return a.completeFirstStep(ctx, c, user, from)
}

// ProviderName is what the provider is called, or nothing without one, and whether
// passwords are switched off.
func (a *Accounts) ProviderName() (name string, only bool) {
	if p := a.config.Provider; p != nil {
		return p.Name, p.Only
	}
	return "", false
}
