package op

import (
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// Door is a way in. A set of doors is the sum of its members.
type Door uint8

// The doors.
const (
	REST Door = 1 << iota
	Agent
	Automation
	Console
	Admin
	System
)

// AnyDoor is where an operation on a resource can be called from.
const AnyDoor = REST | Agent | Automation | Console | Admin

func (d Door) String() string {
	switch d {
	case REST:
		return "rest"
	case Agent:
		return "agent"
	case Automation:
		return "automation"
	case Console:
		return "console"
	case Admin:
		return "admin"
	}
	return "system"
}

// ActorKind is what a caller is.
type ActorKind string

// The kinds of actor, the values of setByKind.
const (
	User            ActorKind = "user"
	AgentActor      ActorKind = "agent"
	API             ActorKind = "api"
	AutomationActor ActorKind = "automation"
	SystemActor     ActorKind = "system"
)

// Caller is who asks, as plain data that account fills in.
type Caller struct {
	Kind         ActorKind
	ID           id.ID // of the user, agent, key or automation; empty for system
	Organization id.ID
	Business     id.ID
	Plan         string
	Permissions  Permissions
	Role         string // of a user: owner, admin, member

	// User is on whose behalf the caller acts: a user's own, of a key who made
	// it, of an agent who approved the connection. Empty when nobody is known.
	User id.ID

	// MaySpend and MayApprove are what a person was given beside the permissions: to
	// take money from the organization's card (Spec.Spends), and to decide what agents
	// propose (Spec.Decides). A key and an automation have what their maker has now, an
	// agent what the person has who connected it.
	MaySpend   bool
	MayApprove bool

	// Chain is, for an automation, what led to this call, itself included: see
	// event.Event.
	Chain []id.ID

	// Asks is what an agent may propose, and a person decides.
	Asks Permissions

	// Agent is on whose account the caller's effects are counted, and Metered whether
	// they are: it has limits, or is guarded because it has just read what strangers
	// wrote.
	Agent         id.ID
	Metered       bool
	Guarded       bool
	OutsideReadAt clock.Time

	// Proposal is what is being carried out, and ApprovedBy the person who decided;
	// empty for any other call.
	Proposal   id.ID
	ApprovedBy id.ID
	// Ceiling is the most that the call may charge, in cents; nil for no bound but
	// the input's own.
	Ceiling *int64

	// Agreements are those that the business accepted beside the first.
	Agreements []string
	// AgreementURL is the page where agreements are accepted.
	AgreementURL string
}

// What an agent is refused with although it is allowed the operation: a person can
// allow it.
var (
	LimitReached = fault.Define("AGENT_LIMIT_REACHED", 403, "The agent has used up what it may use in a day.")
	Guarded      = fault.Define("AGENT_GUARDED", 403,
		"The agent has just read what strangers wrote, so a person must allow this.")
)

// WithAsks is the caller with what it may propose, for a rehearsal and for what a
// person has approved. An agent may propose to spend whoever connected it: the person
// who approves needs the right.
func (c *Caller) WithAsks() *Caller {
	full := *c
	full.Permissions |= c.Asks
	full.MaySpend = c.MaySpend || c.Asks != 0
	return &full
}

// EveryAgreement stands for all agreements: of whoever needs to accept none.
const EveryAgreement = "*"

func (c *Caller) agreedTo(agreement string) bool {
	return slices.Contains(c.Agreements, agreement) || slices.Contains(c.Agreements, EveryAgreement)
}

// UserID is the user on whose behalf the caller acts, nil when nobody is known.
func (c *Caller) UserID() *id.ID {
	if c.User == "" {
		return nil
	}
	return &c.User
}

// ActorID is the id for an audit row, nil for the system.
func (c *Caller) ActorID() *id.ID {
	if c.ID == "" {
		return nil
	}
	return &c.ID
}
