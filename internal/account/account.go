// Package account holds who is who: organizations, users and their roles, who
// is signed in, API keys, agents, agreements and saved cards. What it does is operations like
// everything else, with the doors console and admin only; and it tells the
// other doors who a caller is (callers.go).
//
// It knows no resource but the row of a business: it inserts the first one
// with the organization (business.go).
package account

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
)

// Config is what an operator can set.
type Config struct {
	// BusinessAgreement and DomainAgreement are the current versions. A new
	// one needs acceptance again.
	BusinessAgreement string
	DomainAgreement   string
	// Cards is the real payment provider, with which cards are saved; nil means
	// that sandbox cards are charged.
	Cards CardProvider
	// BaseURL is where the console is, for the links in refusals.
	BaseURL string
}

// Accounts is the package's state: the database and the callers it knows.
type Accounts struct {
	db      *db.DB
	clock   *clock.Clock
	config  Config
	callers callerCache
	used    lastUsed
	tries   attempts
	setups  limit.Limiter[id.ID]
	jobs    *job.Queue

	strangers  *queue
	keepers    []Keeper
	agentEnded func(ctx context.Context, c *op.Call, agent id.ID, reason string) error
	userEnded  func(ctx context.Context, c *op.Call, user id.ID, everywhere bool, reason string) error
}

// New joins accounts to a database.
func New(d *db.DB, c *clock.Clock, cfg Config) *Accounts {
	return &Accounts{db: d, clock: c, config: cfg, strangers: newQueue()}
}

// OnAgentEnd asks to be called, in the same transaction, when an agent is
// deleted, deactivated or moved to another organization: whatever acts as the
// agent ends then, and does not come back with it.
func (a *Accounts) OnAgentEnd(fn func(ctx context.Context, c *op.Call, agent id.ID, reason string) error) {
	a.agentEnded = fn
}

// Why an agent's connections ended, as their clients are told.
const (
	AgentDeleted     = "Agent deleted"
	AgentDeactivated = "Agent deactivated"
	AgentMoved       = "Agent moved to another organization"
	MemberLeft       = "The user who connected it left the organization"
	PasswordChanged  = "Disconnected with a change of password"
)

func (a *Accounts) endAgent(ctx context.Context, c *op.Call, agent id.ID, reason string) error {
	if a.agentEnded == nil {
		return nil
	}
	return a.agentEnded(ctx, c, agent, reason)
}

// OnUserEnd asks to be called, in the same transaction, when whatever acts on
// behalf of a user ends, and does not come back: in the call's organization,
// or in all of them.
func (a *Accounts) OnUserEnd(fn func(ctx context.Context, c *op.Call, user id.ID, everywhere bool, why string) error) {
	a.userEnded = fn
}

func (a *Accounts) endUser(ctx context.Context, c *op.Call, user id.ID, everywhere bool, reason string) error {
	if a.userEnded == nil {
		return nil
	}
	return a.userEnded(ctx, c, user, everywhere, reason)
}

// doors of everything that manages the account.
const doors = op.Console | op.Admin

// Operations lists everything that can be done with accounts.
func (a *Accounts) Operations() []*op.Op {
	var all []*op.Op
	for _, part := range [][]*op.Op{
		a.organizationOperations(), a.overviewOperations(), a.userOperations(), a.memberOperations(),
		a.leaveOperations(), a.passwordLinkOperations(), a.inviteOperations(), a.agreementOperations(),
		a.keyOperations(), a.agentOperations(), a.cardOperations(), a.cardSetupOperations(), a.meOperations(),
		a.sessionOperations(), a.setupOperations(),
	} {
		all = append(all, part...)
	}
	return all
}

// Changed forgets the callers that this change may concern, before anyone
// hears that it is done.
func (a *Accounts) Changed(c *op.Call) { c.Tx.OnCommit(a.callers.clear) }
