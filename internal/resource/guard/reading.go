// Package guard watches over agents that have read text which people outside the
// organization wrote. A mail may contain instructions, and an agent may follow
// them. For half an hour after such a reading the agent goes on with ordinary
// work. But whatever would carry data out of the organization, or open a way out
// for later, waits for a person.
//
// Whether people outside wrote a text is known by the mark on each row, not by the
// operation that read it. Guard.Note is called with what each answer shows an
// agent, and stores what the agent has read (reading.go). Check is called with
// what each transaction of a call did, before it is committed, and refuses a
// guarded agent's by its events: exitRules lists the events that open a way out
// (wayout.go), and guard.go decides about mail and invoices.
//
// An operation whose events open a new way out needs a rule in exitRules;
// otherwise a guarded agent may use it. Start reading at Check.
package guard

import (
	"context"
	"slices"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/account/agent"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/customer"
	"frontdesk/internal/resource/message"
)

// Guard stores what the agents of all organizations have read.
type Guard struct {
	DB    *db.DB
	Clock *clock.Clock
}

// noteInterval is how often the time of the last reading is written, if nothing else changed.
const noteInterval = time.Minute

// Note stores what an answer shows an agent, before the agent sees it. The guard begins with
// the first answer that holds text of people outside. Until it ends, it remembers which
// conversation that was, and whether the agent has read about anybody else.
func (g *Guard) Note(ctx context.Context, c *op.Caller, s op.Exposure) error {
	now := g.Clock.Now()
	was := c.Reading
	if was.At <= now.Add(-account.GuardDuration) {
		was = op.ExternalReading{}
	}
	if was.At == 0 && !s.External {
		return nil
	}
	next := was
	if s.External && was.At <= now.Add(-noteInterval) {
		next.At = now
	}
	if !was.Others && (len(s.About) > 0 || s.Opaque) {
		err := g.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
			return noteConversation(ctx, tx, c.Organization, s, &next)
		})
		if err != nil {
			return err
		}
	}
	if next == was {
		return nil
	}
	return g.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		return agent.MergeReading(ctx, tx, c.Organization, c.Agent,
			func(noted op.ExternalReading) op.ExternalReading {
				if noted.At <= now.Add(-account.GuardDuration) {
					return next
				}
				return mergeReadings(noted, next)
			})
	})
}

// mergeReadings merges two readings that an agent made at the same time.
func mergeReadings(a, b op.ExternalReading) op.ExternalReading {
	out := op.ExternalReading{At: max(a.At, b.At), Thread: a.Thread, Contact: a.Contact, Others: a.Others || b.Others}
	switch {
	case a.Thread == "":
		out.Thread, out.Contact = b.Thread, b.Contact
	case b.Thread != "" && b.Thread != a.Thread:
		out.Others = true
	}
	return out
}

// noteConversation notes which conversation an answer belongs to, and whether the answer tells of anybody
// but those in it.
func noteConversation(ctx context.Context, tx *db.Tx, org id.ID, s op.Exposure, r *op.ExternalReading) error {
	if r.Thread == "" {
		threads, err := message.FindThreadsAmong(ctx, tx, org, s.About)
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
		customers, err := customer.ListOfContact(ctx, tx, org, r.Contact)
		if err != nil {
			return err
		}
		own = append(own, customers...)
	}
	r.Others = s.Opaque ||
		slices.ContainsFunc(s.About, func(v id.ID) bool { return !slices.Contains(own, v) })
	return nil
}
