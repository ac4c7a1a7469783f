package op

import (
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// Door is a way in which a call reaches the service. It is a bit, and a set of doors is the sum of its members.
type Door uint8

// The doors.
const (
	RESTDoor       Door = 1 << iota
	AgentDoor           // tools over MCP
	AutomationDoor      // steps of automations
	ConsoleDoor         // the pages for people
	AdminDoor           // the command line of whoever runs the server; no permission is needed
	SystemDoor          // the service itself; neither permissions nor Spec.Doors apply
)

// AnyDoor is every door that an operation is open to unless its Spec says otherwise. The service itself needs no
// leave, so SystemDoor is not in it.
const AnyDoor = RESTDoor | AgentDoor | AutomationDoor | ConsoleDoor | AdminDoor

func (d Door) String() string {
	switch d {
	case RESTDoor:
		return "rest"
	case AgentDoor:
		return "agent"
	case AutomationDoor:
		return "automation"
	case ConsoleDoor:
		return "console"
	case AdminDoor:
		return "admin"
	}
	return "system"
}

// ActorKind is what a caller is.
type ActorKind string

// The kinds of actor, the values of setByKind.
const (
	UserActor       ActorKind = "user"
	AgentActor      ActorKind = "agent"
	APIActor        ActorKind = "api"
	AutomationActor ActorKind = "automation"
	SystemActor     ActorKind = "system"
)

// Caller is who calls, as plain data. Package account fills it in from a key, a session, an agent's connection or an
// automation; op only reads it.
type Caller struct {
	Kind         ActorKind
	ID           id.ID // of the user, agent, key or automation; empty for system
	Organization id.ID
	Business     id.ID
	Plan         string
	Permissions  Permissions
	Role         string // of a user: owner, admin, member

	// User is the person on whose behalf the caller acts: the user themselves, whoever made the key, whoever connected
	// the agent. Empty when nobody is known.
	User id.ID

	// MaySpend and MayApprove are rights that people are given besides the permissions: to take money from the
	// organization's card (Spec.Spends), and to decide what agents propose (Spec.Decides). A key and an automation
	// have what their maker has now, an agent what the person has who connected it.
	MaySpend   bool
	MayApprove bool

	// Chain is, for an automation, what led to this call, the automation itself included: see event.Event. It
	// grows with each automation that starts another, so that a circle of them can be stopped.
	Chain []id.ID

	// Proposable is what an agent may not do by itself but may propose, for a person to decide.
	Proposable Permissions

	// Agent is the agent to whose limits the effects of the call count, even when an automation acts for it. Metered
	// says that the Meter looks at them; it is true whenever there is an Agent. Guarded says that the agent's guard is
	// on and that it, or the automation acting for it, has just read text from outside the organization, which may hold
	// instructions.
	Agent   id.ID
	Metered bool
	Guarded bool
	// Reading is what the agent has last read of such text.
	Reading ExternalReading
	// External says that what the caller writes may repeat text from outside the organization: an automation that
	// works with such text, or an agent that has just read some.
	External bool

	// Proposal is the proposal that is being carried out, and ApprovedBy the person who approved it; both are empty
	// for any other call.
	Proposal   id.ID
	ApprovedBy id.ID
	// MaxChargeCents is the most that the call may charge; nil for no bound but the input's own.
	MaxChargeCents *int64

	// Agreements are those that the business accepted besides the business agreement.
	Agreements []string
	// AgreementURL is the page where agreements are accepted.
	AgreementURL string
}

// ExternalReading is what an agent has read of text that people outside the organization wrote. The guard decides by it
// what the agent may do next.
type ExternalReading struct {
	At      clock.Time // when it last did; zero for never
	Thread  id.ID      // the conversation it has read; empty for none
	Contact id.ID      // the contact whom that conversation is with; empty if it is with nobody known
	Others  bool       // it has read of other people or conversations as well, or of some that cannot be told
}

// The refusals of a call that an agent has the permission for. A person can allow it: the agent proposes it.
var (
	AgentLimitReached = fault.DefineKind("AGENT_LIMIT_REACHED", 403, "The agent has used up what it may use in a day.")
	AgentGuarded      = fault.DefineKind("AGENT_GUARDED", 403,
		"The agent has just read what strangers wrote, so a person must allow this.")
)

// WithProposable is the caller with the permissions for what it may propose, to rehearse a proposal and to carry out
// one that a person has approved. It may spend even if the person who connected the agent may not: whoever approves the
// proposal needs that right.
func (c *Caller) WithProposable() *Caller {
	full := *c
	full.Permissions |= c.Proposable
	full.MaySpend = c.MaySpend || c.Proposable != 0
	return &full
}

// EveryAgreement stands for all agreements: of whoever needs to accept none.
const EveryAgreement = "*"

// hasAccepted reports whether the caller's business has accepted an agreement.
func (c *Caller) hasAccepted(agreement string) bool {
	return slices.Contains(c.Agreements, agreement) || slices.Contains(c.Agreements, EveryAgreement)
}

// UserIDOrNil is the user on whose behalf the caller acts, nil when nobody is known.
func (c *Caller) UserIDOrNil() *id.ID {
	if c.User == "" {
		return nil
	}
	return &c.User
}

// ActorIDOrNil is the caller's id for the event log, nil for the system.
func (c *Caller) ActorIDOrNil() *id.ID {
	if c.ID == "" {
		return nil
	}
	return &c.ID
}
