package webhook

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
)

// errand is one of the two things that are done for a webhook, each by at most
// one job at a time: first attempts in the order of the log, and retries when
// they are due. They are apart, so that retries delay nothing.
type errand struct {
	kind   string // of its job; slow endpoints have a kind, and a lane, of their own
	column string // of its turn in webhooks
	next   string // the delivery that comes next
	of     func(*Webhook) (turn *int64, at **clock.Time)
}

const waiting = " FROM webhook_deliveries WHERE organization_id = $1 AND webhook_id = $2 AND epoch = $3 AND status = "

var (
	first = errand{kind: "webhook.send", column: "send", next: waiting + "'pending' ORDER BY event_seq LIMIT 1",
		of: func(w *Webhook) (*int64, **clock.Time) { return &w.SendTurn, &w.SendAt }}
	again = errand{kind: "webhook.retry", column: "retry", next: waiting + "'retrying' ORDER BY next_attempt_at LIMIT 1",
		of: func(w *Webhook) (*int64, **clock.Time) { return &w.RetryTurn, &w.RetryAt }}
	errands = []errand{first, again}
)

func (e *errand) kindOf(slow bool) string {
	if slow {
		return e.kind + "_slow"
	}
	return e.kind
}

// save writes whose turn it is.
func (e *errand) save(ctx context.Context, tx *db.Tx, w *Webhook) error {
	turn, at := e.of(w)
	_, err := db.Exec(ctx, tx, "UPDATE webhooks SET "+e.column+"_turn = $3, "+e.column+"_at = $4 WHERE organization_id = $1 AND id = $2", w.OrganizationID, w.ID, *turn, *at)
	return err
}

// shift is a job: to do an errand for a webhook, as long as it has the turn.
type shift struct {
	Organization id.ID `json:"organization"`
	Webhook      id.ID `json:"webhook"`
	Turn         int64 `json:"turn"`
}

// step is what the worker of a shift does next: send a letter, come back
// later, or go home.
type step struct {
	letter *letter
	later  *time.Duration
}

func later(d time.Duration) *step { return &step{later: &d} }

// work attempts one delivery after the other. Between two attempts there is
// one transaction, which writes what came of the one and takes up the next. A
// process that dies during an attempt leaves the delivery as it is, and
// whoever takes over sends it again under the same webhook-id.
func (s *Service) work(ctx context.Context, j job.Job, e errand, slow bool, a shift) error {
	began := time.Now() //nolint:forbidigo // how long a worker has been at it, not when
	client, end := s.client.Session()
	defer end()
	var last *result
	for {
		var next *step
		err := s.db.Write(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			if err := j.Keep(ctx, tx); err != nil {
				return err
			}
			next, err = s.step(ctx, tx, e, slow, a, last, time.Since(began) > shiftTime)
			return err
		})
		switch {
		case err != nil:
			return err
		case next.later != nil:
			return job.Later(*next.later)
		case next.letter == nil:
			return nil
		}
		if last, err = s.attempt(ctx, client, next.letter); err != nil {
			return err
		}
	}
}

func (s *Service) step(ctx context.Context, tx *db.Tx, e errand, slow bool, a shift, last *result, over bool) (*step, error) {
	w, err := webhooks.Lock(ctx, tx, a.Organization, a.Webhook)
	if fault.Has(err, fault.NotFound) {
		return &step{}, nil // deleted
	}
	if err != nil {
		return nil, err
	}
	if last != nil {
		if err := s.settle(ctx, tx, w, last, true); err != nil {
			return nil, err
		}
	}
	turn, at := e.of(w)
	if *turn != a.Turn || w.Status != active {
		return &step{}, nil
	}
	now := s.clock.Now()
	rest := func(until clock.Time) (*step, error) {
		*at = &until
		return later(max(until.Sub(now), 0)), e.save(ctx, tx, w)
	}
	d, m, err := s.next(ctx, tx, w, e, now)
	switch {
	case err != nil:
		return nil, err
	case d == nil:
		*at = nil
		return &step{}, e.save(ctx, tx, w)
	case d.NextAttemptAt != nil && *d.NextAttemptAt > now:
		return rest(*d.NextAttemptAt)
	case slow != w.Slow:
		return &step{}, s.handOver(ctx, tx, w, e, now, turn, at)
	case over:
		return rest(now)
	}
	if suspended, err := w.suspended(ctx, tx); err != nil {
		return nil, err
	} else if suspended {
		return rest(now.Add(suspendedTime))
	}
	if e.column == first.column {
		again, behind, err := event.Behind(ctx, tx, w.OrganizationID, *d.EventSeq)
		if err != nil {
			return nil, err
		}
		if behind {
			return rest(now.Add(again))
		}
	}
	if *at == nil || **at != 0 {
		working := clock.Time(0)
		*at = &working
		if err := e.save(ctx, tx, w); err != nil {
			return nil, err
		}
	}
	if err := d.begin(ctx, tx, w, now); err != nil {
		return nil, err
	}
	return &step{letter: &letter{w, d.ID, m, now}}, deliveries.Rows.Save(ctx, tx, d)
}

// next finds the delivery that comes next, with what it says, and cancels
// those that have nothing to say any more.
func (s *Service) next(ctx context.Context, tx *db.Tx, w *Webhook, e errand, now clock.Time) (*Delivery, *message, error) {
	for {
		d, err := db.One[Delivery](ctx, tx, "SELECT "+deliveries.Rows.Columns()+e.next, w.OrganizationID, w.ID, w.Epoch)
		if errors.Is(err, db.ErrNone) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		m, err := messageOf(ctx, tx, &d)
		if err != nil || m != nil {
			return &d, m, err
		}
		why := "The event was erased."
		d.Status, d.NextAttemptAt, d.CompletedAt, d.UpdatedAt, d.ErrorMessage = canceled, nil, &now, now, &why
		if err := deliveries.Rows.Save(ctx, tx, &d); err != nil {
			return nil, nil, err
		}
	}
}
