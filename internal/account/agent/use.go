package agent

import (
	"context"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// The rows of agent_use are written by ReserveUse, one for each agent and day.
var _ = db.Declare("agent_use", db.Life{
	Refs:   []db.Ref{db.RefTo("agent_id", "agents", db.Keeps)},
	Expire: db.Expiry{After: func(r config.Retention) time.Duration { return r.Deleted }},
})

// businessDay is the current day in the timezone of the caller's business, as
// YYYY-MM-DD, and when it ends.
func businessDay(ctx context.Context, tx *db.Tx, c *op.Caller, now clock.Time) (string, clock.Time, error) {
	b, err := account.LoadBusinessEvenDeleted(ctx, tx, c.Organization, c.Business)
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

// LoadDailyUse reads the limits of the agent that calls, and what it has used of them
// today.
func LoadDailyUse(ctx context.Context, tx *db.Tx, c *op.Caller, now clock.Time) (*account.Daily, error) {
	g, err := account.Agents.Get(ctx, tx, c.Organization, c.ID)
	if err != nil {
		return nil, err
	}
	day, ends, err := businessDay(ctx, tx, c, now)
	if err != nil {
		return nil, err
	}
	d := &account.Daily{Limits: g.Limits, ResetsAt: ends}
	rows, err := db.QueryAll[account.Use](ctx, tx, "SELECT "+useColumns+
		" FROM agent_use WHERE organization_id = $1 AND agent_id = $2 AND day = $3", c.Organization, c.ID, day)
	if err == nil && len(rows) > 0 {
		d.Used = rows[0]
	}
	return d, err
}

// ReserveUse counts what an agent is about to use, in the transaction that uses it, and
// refuses what exceeds a limit. The upsert locks the row of the day, so that parallel
// calls cannot exceed a limit together; the refusal rolls the count back. What a person
// approved is counted and not refused.
func ReserveUse(ctx context.Context, tx *db.Tx, c *op.Caller, now clock.Time, more account.Use) error {
	org := c.Organization
	day, ends, err := businessDay(ctx, tx, c, now)
	if err != nil {
		return err
	}
	used, err := db.QueryOne[account.Use](ctx, tx, `
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
	g, err := account.Agents.Get(ctx, tx, org, c.Agent)
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

// MergeReading stores what an agent has read of text by people outside. merge gets what
// is stored, which another call of the agent may have changed meanwhile, and returns
// what to store. The agent is locked in between.
func MergeReading(ctx context.Context, tx *db.Tx, org, agent id.ID,
	merge func(op.ExternalReading) op.ExternalReading) error {
	g, err := account.Agents.Lock(ctx, tx, org, agent)
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

// SumUse adds up what agents used of their limits on the days of some time, by agent.
func SumUse(ctx context.Context, tx *db.Tx, org id.ID, from, to clock.Time) (map[id.ID]account.Use, error) {
	rows, err := db.QueryAll[struct {
		Agent id.ID `db:"agent_id"`
		account.Use
	}](ctx, tx, `
		SELECT agent_id, `+useColumns+` FROM agent_use
		WHERE organization_id = $1 AND created_at >= $2 AND created_at < $3`, org, from, to)
	out := map[id.ID]account.Use{}
	for _, r := range rows {
		sum := out[r.Agent]
		sum.Add(r.Use)
		out[r.Agent] = sum
	}
	return out, err
}
