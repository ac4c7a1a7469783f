// Package account holds identities: organizations, users and their roles,
// sessions, API keys, agents and agreements. Nearly everything it does is an
// operation of the console and admin doors; only me.get and members.* are open to
// programs as well. Start reading at Accounts in this file. Three packages below it
// build on it and are called back by hooks: agent manages agents, card saves payment
// methods, grant connects clients to agents.
//
// The rest of the program asks it who a caller is: LoginByKey (callers.go) for an
// API key, SessionByToken (session.go) for a browser, MakerAsCaller (maker.go) for
// something that acts by itself. Agents that connect with OAuth are found by the
// subpackage grant. All of them return an op.Caller with the permissions of this
// moment.
//
// Signing in begins in signin.go (password), provider_signin.go (identity
// provider) or password_link.go (operator's link), goes through second_step.go if
// the user has a second factor (factor.go, codes.go, passkey.go), and ends in
// beginSession (session.go). People get in by setup.go, invite.go or user.go, and
// leave by departure.go, which ends everything that acts for them.
//
// Most of its files need each other, because a user, their sessions and their second
// factors end together: whoever changes one of them locks and ends the others. The one
// resource it knows is the business row, because it inserts the first business with
// the organization (business.go). It never stores a secret that it could store as a
// hash, and never hashes a password inside a transaction.
package account

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"

	"github.com/go-webauthn/webauthn/webauthn"
)

// Config is what accounts need. DB, Clock, Connections, Seal and Notify are
// required.
type Config struct {
	DB    *db.DB
	Clock *clock.Clock
	// Connections ends what package grant gave to clients: their access as an agent,
	// on behalf of a user.
	Connections Connections
	// BusinessAgreement and DomainAgreement are the current versions. A new
	// one needs acceptance again.
	BusinessAgreement string
	DomainAgreement   string
	// Seal seals the secrets of one-time codes.
	Seal op.Sealer
	// Notify mails a notice to a user, as a message of the organization that is sent
	// once the transaction is committed.
	Notify func(ctx context.Context, tx *db.Tx, org id.ID, email string, n Notice) error
	// BaseURL is the console's address, for the links in refusals. Passkeys are
	// bound to its host.
	BaseURL string
	// Provider is the identity provider; nil for none.
	Provider *Provider
	// AgentAllowance tells how many tool calls an organization has left; nil
	// where there are no agents.
	AgentAllowance func(ctx context.Context, tx *db.Tx, org id.ID, plan string) (limit.Verdict, error)
	// DailyUse tells what an agent that calls may use up in a day and has used; nil where
	// there are no agents.
	DailyUse func(ctx context.Context, tx *db.Tx, c *op.Caller, now clock.Time) (*Daily, error)
	// CountCards counts the saved cards of an organization; nil where there are none.
	CountCards func(ctx context.Context, tx *db.Tx, org id.ID) (int, error)
}

// Accounts is the package's state: the database, the cached callers, and the
// limits on wrong passwords, wrong codes and provider visits.
type Accounts struct {
	db            *db.DB
	clock         *clock.Clock
	config        Config
	callers       callerCache
	keysUsed      lastUsed
	passwordTries attempts
	codeTries     attempts
	visitLimiter  limit.Limiter[string]

	strangerQueue *hashQueue // for password hashes that an unknown browser causes
	connections   Connections
	passkeys      *webauthn.WebAuthn // nil where no browser offers passkeys
}

// Notice is a mail to a user about their own account.
type Notice struct {
	Subject string
	Text    []string // paragraphs
}

// Connections ends connections for good, in the transaction of the call.
type Connections interface {
	// EndConnectionsOfUser ends every connection that acts on behalf of a user, in the call's
	// organization or everywhere.
	EndConnectionsOfUser(ctx context.Context, c *op.Call, user id.ID, everywhere bool, reason string) error
}

// New returns the accounts of a database. It panics when a required field is missing.
func New(c Config) *Accounts {
	config.RequireFields(c, "DB", "Clock", "Connections", "Seal", "Notify")
	a := &Accounts{
		db:            c.DB,
		clock:         c.Clock,
		connections:   c.Connections,
		config:        c,
		strangerQueue: newHashQueue(),
	}
	a.passwordTries.shareLedger(limit.NewLedger(c.DB), "sign-in")
	a.codeTries.shareLedger(limit.NewLedger(c.DB), "code")
	a.passkeys = newRelyingParty(c.BaseURL)
	return a
}

// The reasons that clients are given when an agent's connections end.
const (
	AgentDeleted     = "Agent deleted"
	AgentDeactivated = "Agent deactivated"
	AgentMoved       = "Agent moved to another organization"
	MemberLeft       = "The user who connected it left the organization"
	PasswordChanged  = "Disconnected by a password change"
)

// Status says whether an organization, a user or an agent may act.
type Status string

// An agent that may not act is inactive; anything else is disabled.
const (
	Active   Status = "active"
	Inactive Status = "inactive"
	Disabled Status = "disabled"
)

// Doors offer the operations that manage the account.
const Doors = op.ConsoleDoor | op.AdminDoor

// ClearCallersOnCommit clears the cached callers when the transaction commits, before the call
// that made the change is answered. Every change that affects what a caller may do
// needs it.
func (a *Accounts) ClearCallersOnCommit(c *op.Call) { c.Tx.OnCommit(a.callers.clearLogins) }
