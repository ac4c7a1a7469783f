package webhook

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// hear writes down that a webhook is to be told of an event. The webhook is
// locked: whoever sends for it looks under the same lock before it goes home,
// so no delivery is left without somebody to send it.
func (s *Service) hear(ctx context.Context, tx *db.Tx, e event.Event, listener id.ID) error {
	w, err := webhooks.Lock(ctx, tx, e.Organization, listener)
	if fault.Has(err, fault.NotFound) || err == nil && w.Status != active {
		return nil // deleted or disabled meanwhile
	}
	if err != nil {
		return err
	}
	if suspended, err := w.suspended(ctx, tx); err != nil || suspended {
		return err
	}
	now := s.clock.Now()
	d := Delivery{Record: op.Record{ID: id.New(), CreatedAt: now, UpdatedAt: now, OrganizationID: e.Organization}, WebhookID: w.ID,
		EventID: e.ID, EventType: e.Type, EventSeq: &e.Seq, Status: pending, Epoch: w.Epoch}
	if err := deliveries.Rows.Insert(ctx, tx, &d); err != nil {
		return err
	}
	return s.wake(ctx, tx, w, first, now)
}

// retire ends what is waiting to be sent. The caller has locked the webhook
// and saves it.
func (s *Service) retire(ctx context.Context, tx *db.Tx, w *Webhook) error {
	w.Epoch++
	for _, e := range errands {
		turn, at := e.of(w)
		*turn++
		*at = nil
	}
	_, err := s.jobs.Enqueue(ctx, tx, cancelKind, ended{w.OrganizationID, w.ID, w.Epoch}, job.For(w.OrganizationID))
	return err
}

const (
	cancelKind  = "webhook.cancel"
	cancelBatch = 500
)

type ended struct {
	Organization id.ID `json:"organization"`
	Webhook      id.ID `json:"webhook"`
	Epoch        int64 `json:"epoch"`
}

// cancel writes into the rows what is already so: nobody sends deliveries of
// an older epoch. There may be too many for one transaction. A deleted webhook
// cannot be locked, and has nobody left who writes.
func (s *Service) cancel(ctx context.Context, tx *db.Tx, _ job.Job, a ended) error {
	if err := db.Lock(ctx, tx, webhooks.Name(), a.Organization, a.Webhook); err != nil && !errors.Is(err, db.ErrNone) {
		return err
	}
	for _, status := range []string{pending, retrying} {
		n, err := db.Exec(ctx, tx, `UPDATE webhook_deliveries SET status = 'canceled', next_attempt_at = NULL, completed_at = $4, updated_at = $4 WHERE seq IN
			(SELECT seq FROM webhook_deliveries WHERE organization_id = $1 AND webhook_id = $2 AND epoch < $3 AND status = '`+status+`' LIMIT $5)`,
			a.Organization, a.Webhook, a.Epoch, s.clock.Now(), cancelBatch)
		if err != nil {
			return err
		}
		if n == cancelBatch {
			return job.Later(0)
		}
	}
	return nil
}

// wake sees to it that somebody works for the webhook at a moment, or before.
// The caller has locked it.
func (s *Service) wake(ctx context.Context, tx *db.Tx, w *Webhook, e errand, at clock.Time) error {
	turn, due := e.of(w)
	if *due != nil && **due <= at {
		return nil
	}
	return s.handOver(ctx, tx, w, e, at, turn, due)
}

// handOver gives the turn to a new job. Whoever had it ends.
func (s *Service) handOver(ctx context.Context, tx *db.Tx, w *Webhook, e errand, at clock.Time, turn *int64, due **clock.Time) error {
	*turn++
	*due = &at
	if err := e.save(ctx, tx, w); err != nil {
		return err
	}
	_, err := s.jobs.Enqueue(ctx, tx, e.kindOf(w.Slow), shift{w.OrganizationID, w.ID, *turn}, job.For(w.OrganizationID), job.At(at))
	return err
}
