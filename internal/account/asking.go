package account

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
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

// Any reports whether there is a limit at all.
func (l *Limits) Any() bool {
	return l.SpendCents != nil || l.Messages != nil || l.NewRecipients != nil || l.Deletions != nil ||
		l.DNSChanges != nil
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
	return g.permissionsAtLevel(levelAsk)
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

// The rows of agent_use are written by ReserveUse in use.go, one for each agent and day.
var _ = db.Declare("agent_use", db.Life{
	Refs:   []db.Ref{db.RefTo("agent_id", "agents", db.Keeps)},
	Expire: db.Expiry{After: func(r config.Retention) time.Duration { return r.Deleted }},
})

func (a *Accounts) agentControlOperations() []*op.Op {
	return []*op.Op{
		WriteByManager(op.Spec{
			Name:     "agents.configure",
			Summary:  "Set how an agent asks, its limits per day, its guard and its list of tools.",
			Resource: op.Account,
			Doors:    Doors,
			Events:   []string{"agent.updated"},
			Example: `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "askMode": "propose", ` +
				`"limits": {"spendCents": 5000, "messages": null}}`,
		}, a.configureAgent),
		WriteByManager(op.Spec{
			Name:     "agents.pause_all",
			Summary:  "Pause all agents of the organization.",
			Resource: op.Account,
			Doors:    Doors,
			Events:   []string{"organization.agents_paused"},
			Example:  `{}`,
		}, a.setAgentsPaused(true)),
		WriteByManager(op.Spec{
			Name:     "agents.resume_all",
			Summary:  "Let the agents of the organization act again.",
			Resource: op.Account,
			Doors:    Doors,
			Events:   []string{"organization.agents_resumed"},
			Example:  `{}`,
		}, a.setAgentsPaused(false)),
		op.Read(op.Spec{
			Name:     "agents.paused",
			Summary:  "Tell whether all agents are paused.",
			Resource: op.Unrestricted,
			Doors:    Doors,
			Example:  `{}`,
		}, a.readPauseState),
		op.Write(op.Spec{
			Name:     "users.set_review_mail",
			Summary:  "Say whether you want a mail when something waits for a decision.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Events:   []string{"user.review_mail_changed"},
			Example:  `{"wanted": true}`,
		}, a.setReviewMail),
	}
}

type agentConfigure struct {
	ID      id.ID               `json:"id"`
	AskMode op.Optional[string] `json:"askMode" enum:"unavailable,propose"`
	Guard   op.Nullable[string] `json:"guard" enum:"on,off"`
	Limits  *limitsChange       `json:"limits"`
	// ToolList is what its clients are told of unless they ask for others.
	ToolList op.Optional[string] `json:"toolList" enum:"all,compact"`
	// Permissions are cells to set, as set_permissions takes them.
	Permissions map[string]string `json:"permissions" optional:"yes"`
}

// Prepare checks the cells as agents.set_permissions does.
func (in *agentConfigure) Prepare(ctx context.Context, c *op.Call) error {
	return (&agentPermissions{Permissions: in.Permissions}).Prepare(ctx, c)
}

// limitsChange sets limits; what is absent stays, and null clears.
type limitsChange struct {
	SpendCents    op.Nullable[int64] `json:"spendCents" min:"0"`
	Messages      op.Nullable[int64] `json:"messages" min:"0"`
	NewRecipients op.Nullable[int64] `json:"newRecipients" min:"0"`
	Deletions     op.Nullable[int64] `json:"deletions" min:"0"`
	DNSChanges    op.Nullable[int64] `json:"dnsChanges" min:"0"`
}

func (a *Accounts) configureAgent(ctx context.Context, c *op.Call, in agentConfigure) (*Agent, error) {
	return a.changeAgent(ctx, c, in.ID, "agent.updated", func(g *Agent) (bool, error) {
		guarded := g.IsGuarded()
		changed := op.Apply(g, &struct {
			AskMode  op.Optional[string] `json:"askMode"`
			Guard    op.Nullable[string] `json:"guard"`
			ToolList op.Optional[string] `json:"toolList"`
		}{in.AskMode, in.Guard, in.ToolList})
		if guarded && !g.IsGuarded() && c.Door != op.AdminDoor && c.Caller.Role != "owner" {
			return false, fault.Forbidden.Say("Only an owner switches the guard of an agent off.")
		}
		if in.Limits != nil {
			changed = op.Apply(&g.Limits, in.Limits) || changed
		}
		return g.setPermissionLevels(in.Permissions) || changed, nil
	})
}

// Pause tells whether agents are paused.
type Pause struct {
	PausedAt   *clock.Time `json:"pausedAt" doc:"null while agents may act"`
	ReviewMail bool        `json:"reviewMail" doc:"the user wants a mail when something waits"`
}

func (a *Accounts) setAgentsPaused(on bool) func(context.Context, *op.Call, struct{}) (*Pause, error) {
	kind := "organization.agents_resumed"
	if on {
		kind = "organization.agents_paused"
	}
	return func(ctx context.Context, c *op.Call, _ struct{}) (*Pause, error) {
		p, err := a.readPauseState(ctx, c, struct{}{})
		if err != nil || (p.PausedAt != nil) == on {
			return p, err
		}
		p.PausedAt = nil
		if on {
			p.PausedAt = &c.Now
		}
		_, err = db.Exec(ctx, c.Tx, "UPDATE organizations SET agents_paused_at = $2, updated_at = $3 WHERE id = $1",
			c.Org, p.PausedAt, c.Now)
		if err != nil {
			return nil, err
		}
		a.ClearCallersOnCommit(c)
		return p, c.Emit(kind, c.Org, p)
	}
}

func (a *Accounts) readPauseState(ctx context.Context, c *op.Call, _ struct{}) (*Pause, error) {
	p, err := db.QueryOne[Pause](ctx, c.Tx, `
		SELECT o.agents_paused_at, EXISTS (SELECT 1 FROM memberships m WHERE m.organization_id = o.id
			AND m.user_id = $2 AND m.review_mail AND m.deleted_at IS NULL)
		FROM organizations o WHERE o.id = $1`, c.Org, c.Caller.UserIDOrNil())
	return &p, db.AsNotFound(err, "organization")
}

type reviewMail struct {
	Wanted bool `json:"wanted"`
}

func (a *Accounts) setReviewMail(ctx context.Context, c *op.Call, in reviewMail) (*Pause, error) {
	n, err := db.Exec(ctx, c.Tx, `
		UPDATE memberships SET review_mail = $3, updated_at = $4
		WHERE organization_id = $1 AND user_id = $2 AND deleted_at IS NULL AND review_mail <> $3`,
		c.Org, c.Caller.User, in.Wanted, c.Now)
	if err != nil {
		return nil, err
	}
	p, err := a.readPauseState(ctx, c, struct{}{})
	if err != nil || n == 0 {
		return p, err
	}
	return p, c.Emit("user.review_mail_changed", c.Caller.User, p)
}

// ReviewMailAddresses lists the addresses of active members who want a mail when something
// waits for a decision.
func ReviewMailAddresses(ctx context.Context, tx *db.Tx, org id.ID) ([]string, error) {
	return db.QueryAll[string](ctx, tx, `
		SELECT u.email FROM memberships m JOIN users u ON u.id = m.user_id
		WHERE m.organization_id = $1 AND m.review_mail AND m.deleted_at IS NULL AND u.status = 'active'
		ORDER BY m.seq`, org)
}

// RequireActiveAgent refuses to carry out what an agent proposed once the agent is deleted,
// deactivated or paused. It takes a shared lock on the agent, so that it cannot be
// deleted or deactivated before the transaction ends. The caller must have locked the
// organization, which does the same for the pause.
func RequireActiveAgent(ctx context.Context, tx *db.Tx, org, agent id.ID) error {
	paused, err := db.QueryOne[bool](ctx, tx, "SELECT agents_paused_at IS NOT NULL FROM organizations WHERE id = $1",
		org)
	if err != nil {
		return err
	}
	if paused {
		return AgentsPaused.New()
	}
	err = db.LockShared(ctx, tx, "agents", org, agent)
	if errors.Is(err, db.ErrNoRow) {
		return fault.Unauthorized.Say("The agent that made it was deleted or moved.")
	}
	if err != nil {
		return err
	}
	g, err := agents.Get(ctx, tx, org, agent)
	if err == nil && g.Status != Active {
		err = fault.Unauthorized.Say("The agent that made it is deactivated.")
	}
	return err
}
