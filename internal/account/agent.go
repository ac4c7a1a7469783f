package account

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Agent is an AI agent of a business and what it may do. Its row is declared here
// because an agent is a caller: MakerAsCaller, package grant and the names of actors
// read it. The operations on agents are in package agent.
type Agent struct {
	op.Record
	BusinessID id.ID  `json:"businessId"`
	Name       string `json:"name"`
	Status     Status `json:"status" enum:"active,inactive"`
	// Permissions has a cell like "contacts.read" for every resource and action.
	Permissions map[string]string `json:"permissions"`
	AskMode     string            `json:"askMode" enum:"unavailable,propose" doc:"what asking means for this agent"`
	Guard       *string           `json:"guard" enum:"on,off" doc:"against strangers' words; null is on"`
	Limits      Limits            `json:"limits" doc:"per day"`
	ToolList    string            `json:"toolList" enum:"all,compact" doc:"which tools its clients are told of"`

	AgentReading
}

// AgentReading are the columns that hold what an agent has read of text written by
// people outside the organization. Reading converts them to an op.ExternalReading.
type AgentReading struct {
	OutsideReadAt  *clock.Time `json:"-" db:"outside_read_at"`
	GuardThreadID  *id.ID      `json:"-" db:"guard_thread_id"`
	GuardContactID *id.ID      `json:"-" db:"guard_contact_id"`
	GuardOthers    bool        `json:"-" db:"guard_others"`
}

// Agents is the table of agents.
var Agents = db.NewTable[Agent]("agents", db.Life{
	Noun:         "agent",
	ExternalText: db.NoExternalText,
	Refs: []db.Ref{
		db.RefTo("business_id", "businesses", db.Keeps),
		db.RefTo("guard_thread_id", "threads", db.Keeps),
		db.RefTo("guard_contact_id", "contacts", db.Keeps),
	},
	Unexported: []string{"guard_thread_id", "guard_contact_id", "guard_others"},
})

// The levels of a cell in an agent's permission table. What "ask" means is decided by
// the agent's AskMode.
const (
	LevelAllow = "allow"
	LevelAsk   = "ask"
	LevelDeny  = "deny"
)

// An agent's AskMode: what happens when it calls something whose cell is "ask". It is
// refused, or it becomes a proposal that a person decides.
const (
	AskUnavailable = "unavailable"
	AskPropose     = "propose"
)

// An agent's ToolList: which tools its clients are told of unless they ask for others.
const (
	ToolsAll     = "all"
	ToolsCompact = "compact"
)

// Proposals is the resource of what agents propose. An agent that may propose
// has all of it, for its own proposals.
const Proposals = "proposals"

// AgentsPaused refuses the calls of agents while a person has paused them all.
var AgentsPaused = fault.DefineKind("AGENTS_PAUSED", 403,
	"All agents of this organization are paused. A person resumes them in the console.")

// Limits are what an agent may use up in a day of its business; null is no limit.
type Limits struct {
	SpendCents    *int64 `json:"spendCents" min:"0" doc:"cents charged"`
	Messages      *int64 `json:"messages" min:"0" doc:"mails sent"`
	NewRecipients *int64 `json:"newRecipients" min:"0" doc:"addresses that the organization never wrote to before"`
	Deletions     *int64 `json:"deletions" min:"0"`
	DNSChanges    *int64 `json:"dnsChanges" min:"0"`
}

// Use is what an agent uses up of its daily limits.
type Use struct {
	SpendCents    int64 `json:"spendCents" db:"spend_cents"`
	Messages      int64 `json:"messages" db:"messages"`
	NewRecipients int64 `json:"newRecipients" db:"new_recipients"`
	Deletions     int64 `json:"deletions" db:"deletions"`
	DNSChanges    int64 `json:"dnsChanges" db:"dns_changes"`
}

// Add adds what was used elsewhere.
func (u *Use) Add(more Use) {
	u.SpendCents += more.SpendCents
	u.Messages += more.Messages
	u.NewRecipients += more.NewRecipients
	u.Deletions += more.Deletions
	u.DNSChanges += more.DNSChanges
}

// Daily is an agent's limits, what it has used of them today, and when the day
// ends.
type Daily struct {
	Limits   Limits     `json:"limits"`
	Used     Use        `json:"used"`
	ResetsAt clock.Time `json:"resetsAt" doc:"midnight in the timezone of the business"`
}

// AllowedPermissions returns what the agent may do without asking.
func (g *Agent) AllowedPermissions() (p op.Permissions) {
	p = g.permissionsAtLevel(LevelAllow)
	if g.AskMode == AskPropose { // it reads, makes and changes its own proposals
		for _, a := range []op.Action{op.ActionRead, op.ActionCreate, op.ActionUpdate} {
			p = p.With(Proposals, a)
		}
	}
	return p
}

// IsGuarded reports whether the agent is guarded against instructions in text that
// people outside wrote: every agent is, unless an owner has switched it off.
func (g *Agent) IsGuarded() bool { return g.Guard == nil || *g.Guard == "on" }

// ProposablePermissions returns what the agent may propose: the cells "ask", if its AskMode is
// AskPropose, and nothing otherwise.
func (g *Agent) ProposablePermissions() (p op.Permissions) {
	if g.AskMode != AskPropose {
		return 0
	}
	return g.permissionsAtLevel(LevelAsk)
}

// permissionsAtLevel are the permissions whose cells have a level. A cell that this release does
// not know, because a newer one runs beside it on the same database, is ignored.
func (g *Agent) permissionsAtLevel(level string) (p op.Permissions) {
	for cell, is := range g.Permissions {
		resource, verb, _ := strings.Cut(cell, ".")
		if a, ok := op.ParseAction(verb); ok && is == level && slices.Contains(op.Resources(), resource) {
			p = p.With(resource, a)
		}
	}
	return p
}

// GuardDuration is how long the guard holds after an agent read text of people outside.
const GuardDuration = 30 * time.Minute

// RestrictCaller restricts a caller as the agent is: what it does counts against the
// agent's limits, and the guard holds while the agent has lately read text of people
// outside.
func (g *Agent) RestrictCaller(c *op.Caller, now clock.Time) {
	c.Agent, c.Metered = g.ID, true
	c.Reading = g.Reading()
	c.External = c.Reading.At > now.Add(-GuardDuration)
	c.Guarded = c.External && g.IsGuarded()
}

// Reading is what the agent has read of text by people outside.
func (g *AgentReading) Reading() (r op.ExternalReading) {
	if g.OutsideReadAt != nil {
		r = op.ExternalReading{At: *g.OutsideReadAt, Others: g.GuardOthers}
	}
	if g.GuardThreadID != nil {
		r.Thread = *g.GuardThreadID
	}
	if g.GuardContactID != nil {
		r.Contact = *g.GuardContactID
	}
	return r
}

// RestrictToAgent makes a caller, such as the one of an automation that an agent made, act
// on that agent's account: the agent's limits count. The agent's guard holds if the
// agent has lately read text of people outside, or if the caller already carries such
// text (External). It also finds a deleted agent.
func (a *Accounts) RestrictToAgent(ctx context.Context, c *op.Caller, agent id.ID) error {
	var g Agent
	err := a.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		g, err = db.QueryOne[Agent](ctx, tx, "SELECT "+Agents.Columns()+
			" FROM agents WHERE organization_id = $1 AND id = $2", c.Organization, agent)
		return err
	})
	if errors.Is(err, db.ErrNoRow) { // it moved to another organization
		g = Agent{Record: op.Record{ID: agent}}
	} else if err != nil {
		return err
	}
	external := c.External
	g.RestrictCaller(c, a.clock.Now())
	c.External = c.External || external
	c.Guarded = c.External && g.IsGuarded()
	return nil
}

// AgentNames are what the agents of an organization are called, by id.
func AgentNames(ctx context.Context, tx *db.Tx, org id.ID) (map[id.ID]string, error) {
	return namesByID(ctx, tx, "SELECT id, name FROM agents WHERE organization_id = $1 AND deleted_at IS NULL", org)
}

// MemberNames are what the people of an organization are called, by id.
func MemberNames(ctx context.Context, tx *db.Tx, org id.ID) (map[id.ID]string, error) {
	return namesByID(ctx, tx, `
		SELECT u.id, u.name FROM memberships m JOIN users u ON u.id = m.user_id
		WHERE m.organization_id = $1 AND m.deleted_at IS NULL`, org)
}

func namesByID(ctx context.Context, tx *db.Tx, sql string, org id.ID) (map[id.ID]string, error) {
	rows, err := db.QueryAll[struct {
		ID   id.ID  `db:"id"`
		Name string `db:"name"`
	}](ctx, tx, sql, org)
	out := map[id.ID]string{}
	for _, r := range rows {
		out[r.ID] = r.Name
	}
	return out, err
}
