package account

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Use is what an agent uses up of its daily limits.
type Use struct {
	SpendCents    int64 `json:"spendCents" db:"spend_cents"`
	Messages      int64 `json:"messages" db:"messages"`
	NewRecipients int64 `json:"newRecipients" db:"new_recipients"`
	Deletions     int64 `json:"deletions" db:"deletions"`
	DNSChanges    int64 `json:"dnsChanges" db:"dns_changes"`
}

// Daily is an agent's limits, what it has used of them today, and when the day
// ends.
type Daily struct {
	Limits   Limits     `json:"limits"`
	Used     Use        `json:"used"`
	ResetsAt clock.Time `json:"resetsAt" doc:"midnight in the timezone of the business"`
}

// businessDay is the current day in the timezone of a business, as YYYY-MM-DD, and when it ends.
func businessDay(ctx context.Context, tx *db.Tx, org, business id.ID, now clock.Time) (string, clock.Time, error) {
	b, err := LoadBusinessEvenDeleted(ctx, tx, org, business)
	if err != nil {
		return "", 0, err
	}
	zone, err := time.LoadLocation(b.Timezone)
	if err != nil {
		zone = time.UTC
	}
	t := now.Std().In(zone)
	return t.Format(time.DateOnly), clock.FromStd(time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, zone)), nil
}

const useColumns = "spend_cents, messages, new_recipients, deletions, dns_changes"

// LoadDailyUse reads an agent's limits and what it has used of them today.
func LoadDailyUse(ctx context.Context, tx *db.Tx, org, agent, business id.ID, now clock.Time) (*Daily, error) {
	g, err := agents.Get(ctx, tx, org, agent)
	if err != nil {
		return nil, err
	}
	day, ends, err := businessDay(ctx, tx, org, business, now)
	if err != nil {
		return nil, err
	}
	d := &Daily{Limits: g.Limits, ResetsAt: ends}
	rows, err := db.QueryAll[Use](ctx, tx, "SELECT "+useColumns+
		" FROM agent_use WHERE organization_id = $1 AND agent_id = $2 AND day = $3", org, agent, day)
	if err == nil && len(rows) > 0 {
		d.Used = rows[0]
	}
	return d, err
}

// ReserveUse counts what an agent is about to use, in the transaction that uses it, and
// refuses what exceeds a limit. The upsert locks the row of the day, so that parallel
// calls cannot exceed a limit together; the refusal rolls the count back. What a person
// approved is counted and not refused.
func ReserveUse(ctx context.Context, tx *db.Tx, c *op.Caller, now clock.Time, more Use) error {
	org := c.Organization
	day, ends, err := businessDay(ctx, tx, org, c.Business, now)
	if err != nil {
		return err
	}
	used, err := db.QueryOne[Use](ctx, tx, `
		INSERT INTO agent_use (organization_id, agent_id, day, created_at, `+useColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (organization_id, agent_id, day) DO UPDATE SET
			spend_cents = agent_use.spend_cents + $5, messages = agent_use.messages + $6,
			new_recipients = agent_use.new_recipients + $7, deletions = agent_use.deletions + $8,
			dns_changes = agent_use.dns_changes + $9
		RETURNING `+useColumns, org, c.Agent, day, now, more.SpendCents, more.Messages, more.NewRecipients,
		more.Deletions, more.DNSChanges)
	if err != nil {
		return err
	}
	if c.ApprovedBy != "" {
		return nil
	}
	g, err := agents.Get(ctx, tx, org, c.Agent)
	if err != nil {
		return err
	}
	for _, l := range []struct {
		name       string
		limit      *int64
		used, more int64
	}{
		{"spendCents", g.Limits.SpendCents, used.SpendCents, more.SpendCents},
		{"messages", g.Limits.Messages, used.Messages, more.Messages},
		{"newRecipients", g.Limits.NewRecipients, used.NewRecipients, more.NewRecipients},
		{"deletions", g.Limits.Deletions, used.Deletions, more.Deletions},
		{"dnsChanges", g.Limits.DNSChanges, used.DNSChanges, more.DNSChanges},
	} {
		if l.limit == nil || l.more == 0 || l.used <= *l.limit {
			continue
		}
		f := op.AgentLimitReached.Say("The agent may use %d %s in a day, has used %d, and this would take %d more.",
			*l.limit, l.name, l.used-l.more, l.more)
		f.Details = map[string]any{"limit": l.name, "value": *l.limit, "used": l.used - l.more, "resetsAt": ends}
		return f
	}
	return nil
}

// GuardDuration is how long the guard holds after an agent read text of people outside.
const GuardDuration = 30 * time.Minute

// MergeReading stores what an agent has read of text by people outside. merge gets what
// is stored, which another call of the agent may have changed meanwhile, and returns
// what to store. The agent is locked in between.
func MergeReading(ctx context.Context, tx *db.Tx, org, agent id.ID,
	merge func(op.ExternalReading) op.ExternalReading) error {
	g, err := agents.Lock(ctx, tx, org, agent)
	if err != nil {
		return err
	}
	r := merge(g.Reading())
	_, err = db.Exec(ctx, tx, `
		UPDATE agents SET outside_read_at = $3, guard_thread_id = $4, guard_contact_id = $5, guard_others = $6
		WHERE organization_id = $1 AND id = $2`, org, agent, r.At, op.IDOrNil(r.Thread), op.IDOrNil(r.Contact),
		r.Others)
	return err
}

// MeterCaller makes a caller act on the agent's account: what it does counts against the
// agent's limits, and the guard holds while the agent has lately read text of people
// outside.
func (g *Agent) MeterCaller(c *op.Caller, now clock.Time) {
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

// ActOnAgentAccount makes a caller, such as the one of an automation that an agent made, act
// on that agent's account: the agent's limits count. The agent's guard holds if the
// agent has lately read text of people outside, or if the caller already carries such
// text (External). It also finds a deleted agent.
func (a *Accounts) ActOnAgentAccount(ctx context.Context, c *op.Caller, agent id.ID) error {
	var g Agent
	err := a.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		g, err = db.QueryOne[Agent](ctx, tx, "SELECT "+agents.Columns()+
			" FROM agents WHERE organization_id = $1 AND id = $2", c.Organization, agent)
		return err
	})
	if errors.Is(err, db.ErrNoRow) { // it moved to another organization
		g = Agent{Record: op.Record{ID: agent}}
	} else if err != nil {
		return err
	}
	external := c.External
	g.MeterCaller(c, a.clock.Now())
	c.External = c.External || external
	c.Guarded = c.External && g.IsGuarded()
	return nil
}
