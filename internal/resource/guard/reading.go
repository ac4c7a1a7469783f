// Package guard watches over agents that have read what strangers wrote: a mail may
// hold instructions, and an agent may follow them. For half an hour after such a
// reading the agent goes on with ordinary work, and whatever would carry something
// out of the house, or open a way out, waits for a person.
//
// What strangers wrote is known by the mark of each row (db.Life.Strangers), not by
// the tool that read it. Guard.Note keeps what an agent has read, Guard.Check refuses
// what it may not do then. Start reading at Check.
package guard

import (
	"context"
	"slices"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/customer"
	"frontdesk/internal/resource/message"
)

// Guard watches over the agents of all organizations.
type Guard struct {
	DB    *db.DB
	Clock *clock.Clock
}

// noteEvery is how often a reading that changes nothing else is written down.
const noteEvery = time.Minute

// Note keeps what an answer shows an agent, before the agent sees it. The guard
// begins with the first answer that holds strangers' words, and remembers whose
// conversation that is and whether the agent reads of others until it ends.
func (g *Guard) Note(ctx context.Context, c *op.Caller, s op.Sight) error {
	now := g.Clock.Now()
	was := c.Reading
	if was.At <= now.Add(-account.GuardTime) {
		was = op.Reading{}
	}
	if was.At == 0 && !s.External {
		return nil
	}
	next := was
	if s.External && was.At <= now.Add(-noteEvery) {
		next.At = now
	}
	if !was.Others && (len(s.About) > 0 || s.Opaque) {
		err := g.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
			return look(ctx, tx, c.Organization, s, &next)
		})
		if err != nil {
			return err
		}
	}
	if next == was {
		return nil
	}
	return g.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		return account.SetReading(ctx, tx, c.Organization, c.Agent, func(noted op.Reading) op.Reading {
			if noted.At <= now.Add(-account.GuardTime) {
				return next
			}
			return both(noted, next)
		})
	})
}

// both is what an agent has read that read twice at once.
func both(a, b op.Reading) op.Reading {
	out := op.Reading{At: max(a.At, b.At), Thread: a.Thread, Contact: a.Contact, Others: a.Others || b.Others}
	switch {
	case a.Thread == "":
		out.Thread, out.Contact = b.Thread, b.Contact
	case b.Thread != "" && b.Thread != a.Thread:
		out.Others = true
	}
	return out
}

// look decides whether an answer tells of anybody but those of one conversation.
func look(ctx context.Context, tx *db.Tx, org id.ID, s op.Sight, r *op.Reading) error {
	if r.Thread == "" {
		threads, err := message.ThreadsAmong(ctx, tx, org, s.About)
		if err != nil {
			return err
		}
		if len(threads) == 1 {
			r.Thread = threads[0].ID
			if threads[0].ContactID != nil {
				r.Contact = *threads[0].ContactID
			}
		}
	}
	own := []id.ID{r.Thread, r.Contact}
	if r.Contact != "" {
		customers, err := customer.OfContact(ctx, tx, org, r.Contact)
		if err != nil {
			return err
		}
		own = append(own, customers...)
	}
	r.Others = s.Opaque ||
		slices.ContainsFunc(s.About, func(v id.ID) bool { return !slices.Contains(own, v) })
	return nil
}
