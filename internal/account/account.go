// Package account holds who is who: organizations, users and their roles, API
// keys, agents, agreements and saved cards. What it does is operations like
// everything else, with the doors console and admin only; and it tells the
// other doors who a caller is (callers.go).
//
// It knows no resource but the row of a business: it inserts the first one
// with the organization (business.go).
package account

import (
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/op"
)

// Config is what an operator can set.
type Config struct {
	// BusinessAgreement and DomainAgreement are the current versions. A new
	// one needs acceptance again.
	BusinessAgreement string
	DomainAgreement   string
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
}

// New joins accounts to a database.
func New(d *db.DB, c *clock.Clock, cfg Config) *Accounts {
	return &Accounts{db: d, clock: c, config: cfg}
}

// doors of everything that manages the account.
const doors = op.Console | op.Admin

// Operations lists everything that can be done with accounts.
func (a *Accounts) Operations() []*op.Op {
	var all []*op.Op
	for _, part := range [][]*op.Op{a.organizationOperations(), a.userOperations(), a.agreementOperations(),
		a.keyOperations(), a.agentOperations(), a.cardOperations(), a.meOperations()} {
		all = append(all, part...)
	}
	return all
}

// Changed forgets the callers that this change may concern, before anyone
// hears that it is done.
func (a *Accounts) Changed(c *op.Call) { c.Tx.OnCommit(a.callers.clear) }
