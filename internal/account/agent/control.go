package agent

import (
	"context"
	"errors"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

func (s *Service) controlOperations() []*op.Op {
	return []*op.Op{
		account.WriteByManager(op.Spec{
			Name:     "agents.configure",
			Summary:  "Set how an agent asks, its limits per day, its guard and its list of tools.",
			Resource: op.Account,
			Doors:    account.Doors,
			Events:   []string{"agent.updated"},
			Example: `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "askMode": "propose", ` +
				`"limits": {"spendCents": 5000, "messages": null}}`,
		}, s.configureAgent),
		account.WriteByManager(op.Spec{
			Name:     "agents.pause_all",
			Summary:  "Pause all agents of the organization.",
			Resource: op.Account,
			Doors:    account.Doors,
			Events:   []string{"organization.agents_paused"},
			Example:  `{}`,
		}, s.setAgentsPaused(true)),
		account.WriteByManager(op.Spec{
			Name:     "agents.resume_all",
			Summary:  "Let the agents of the organization act again.",
			Resource: op.Account,
			Doors:    account.Doors,
			Events:   []string{"organization.agents_resumed"},
			Example:  `{}`,
		}, s.setAgentsPaused(false)),
		op.Read(op.Spec{
			Name:     "agents.paused",
			Summary:  "Tell whether all agents are paused.",
			Resource: op.Unrestricted,
			Doors:    account.Doors,
			Example:  `{}`,
		}, s.readPauseState),
		op.Write(op.Spec{
			Name:     "users.set_review_mail",
			Summary:  "Say whether you want a mail when something waits for a decision.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Events:   []string{"user.review_mail_changed"},
			Example:  `{"wanted": true}`,
		}, s.setReviewMail),
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

func (s *Service) configureAgent(ctx context.Context, c *op.Call, in agentConfigure) (*account.Agent, error) {
	return s.changeAgent(ctx, c, in.ID, "agent.updated", func(g *account.Agent) (bool, error) {
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
		return setPermissionLevels(g, in.Permissions) || changed, nil
	})
}

// Pause tells whether agents are paused.
type Pause struct {
	PausedAt   *clock.Time `json:"pausedAt" doc:"null while agents may act"`
	ReviewMail bool        `json:"reviewMail" doc:"the user wants a mail when something waits"`
}

func (s *Service) setAgentsPaused(on bool) func(context.Context, *op.Call, struct{}) (*Pause, error) {
	kind := "organization.agents_resumed"
	if on {
		kind = "organization.agents_paused"
	}
	return func(ctx context.Context, c *op.Call, _ struct{}) (*Pause, error) {
		p, err := s.readPauseState(ctx, c, struct{}{})
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
		s.config.Accounts.ClearCallersOnCommit(c)
		return p, c.Emit(kind, c.Org, p)
	}
}

func (s *Service) readPauseState(ctx context.Context, c *op.Call, _ struct{}) (*Pause, error) {
	p, err := db.QueryOne[Pause](ctx, c.Tx, `
		SELECT o.agents_paused_at, EXISTS (SELECT 1 FROM memberships m WHERE m.organization_id = o.id
			AND m.user_id = $2 AND m.review_mail AND m.deleted_at IS NULL)
		FROM organizations o WHERE o.id = $1`, c.Org, c.Caller.UserIDOrNil())
	return &p, db.AsNotFound(err, "organization")
}

type reviewMail struct {
	Wanted bool `json:"wanted"`
}

func (s *Service) setReviewMail(ctx context.Context, c *op.Call, in reviewMail) (*Pause, error) {
	changed, err := SetReviewMail(ctx, c, in.Wanted)
	if err != nil {
		return nil, err
	}
	p, err := s.readPauseState(ctx, c, struct{}{})
	if err != nil || !changed {
		return p, err
	}
	return p, c.Emit("user.review_mail_changed", c.Caller.User, p)
}

// SetReviewMail keeps whether the caller wants a mail when something waits, and reports whether that is new.
func SetReviewMail(ctx context.Context, c *op.Call, wanted bool) (bool, error) {
	n, err := db.Exec(ctx, c.Tx, `
		UPDATE memberships SET review_mail = $3, updated_at = $4
		WHERE organization_id = $1 AND user_id = $2 AND deleted_at IS NULL AND review_mail <> $3`,
		c.Org, c.Caller.User, wanted, c.Now)
	return n > 0, err
}

// WantsReviewMail reports whether a member wants a mail when something waits.
func WantsReviewMail(ctx context.Context, tx *db.Tx, org, user id.ID) (bool, error) {
	return db.QueryOne[bool](ctx, tx, `
		SELECT EXISTS (SELECT 1 FROM memberships
			WHERE organization_id = $1 AND user_id = $2 AND review_mail AND deleted_at IS NULL)`, org, user)
}

// ReviewMailAddresses lists the addresses of active members who want a mail when something
// waits for a decision.
func ReviewMailAddresses(ctx context.Context, tx *db.Tx, org id.ID) ([]string, error) {
	return db.QueryAll[string](ctx, tx, `
		SELECT u.email FROM memberships m JOIN users u ON u.id = m.user_id
		WHERE m.organization_id = $1 AND m.review_mail AND m.deleted_at IS NULL AND u.status = 'active'
		ORDER BY m.seq`, org)
}

// RequireActive refuses to carry out what an agent proposed once the agent is deleted,
// deactivated or paused. It takes a shared lock on the agent, so that it cannot be
// deleted or deactivated before the transaction ends. The caller must have locked the
// organization, which does the same for the pause.
func RequireActive(ctx context.Context, tx *db.Tx, org, agent id.ID) error {
	paused, err := db.QueryOne[bool](ctx, tx, "SELECT agents_paused_at IS NOT NULL FROM organizations WHERE id = $1",
		org)
	if err != nil {
		return err
	}
	if paused {
		return account.AgentsPaused.New()
	}
	err = db.LockShared(ctx, tx, "agents", org, agent)
	if errors.Is(err, db.ErrNoRow) {
		return fault.Unauthorized.Say("The agent that made it was deleted or moved.")
	}
	if err != nil {
		return err
	}
	g, err := account.Agents.Get(ctx, tx, org, agent)
	if err == nil && g.Status != account.Active {
		err = fault.Unauthorized.Say("The agent that made it is deactivated.")
	}
	return err
}
