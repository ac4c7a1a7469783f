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

// enqueueDelivery records that an event is to be sent to a webhook, and makes sure that a job
// does it. The webhook is locked. Its jobs look for more work under the same lock before they
// stop, so no delivery is left without a job.
func (s *Service) enqueueDelivery(ctx context.Context, tx *db.Tx, e event.Event, listener id.ID) error {
	w, err := webhooks.Lock(ctx, tx, e.Organization, listener)
	if fault.IsKind(err, fault.NotFound) || err == nil && w.Status != statusActive {
		return nil // deleted or disabled in the meantime
	}
	if err != nil {
		return err
	}
	if suspended, err := w.isSuspended(ctx, tx); err != nil || suspended {
		return err
	}
	now := s.clock.Now()
	d := Delivery{
		Record: op.Record{ID: id.New(), CreatedAt: now, UpdatedAt: now, OrganizationID: e.Organization,
			External: e.External},
		WebhookID: w.ID,
		EventID:   e.ID,
		EventType: e.Type,
		EventSeq:  &e.Seq,
		Status:    deliveryPending,
		Epoch:     w.Epoch,
	}
	if err := deliveries.Rows.Insert(ctx, tx, &d); err != nil {
		return err
	}
	return s.ensureWorker(ctx, tx, w, firstAttempts, now)
}

// cancelWaiting cancels everything that is waiting to be sent, by a new epoch: deliveries of
// an older one are not sent any more. A job updates their rows later. The caller has locked
// the webhook and saves it.
func (s *Service) cancelWaiting(ctx context.Context, tx *db.Tx, w *Webhook) error {
	w.Epoch++
	for _, q := range queues {
		turn, at := q.turnOf(w)
		*turn++
		*at = nil
	}
	_, err := s.jobs.Enqueue(ctx, tx, cancelJob, cancelArgs{w.OrganizationID, w.ID, w.Epoch},
		job.ForOrganization(w.OrganizationID))
	return err
}

const (
	cancelJob   = "webhook.cancel"
	cancelBatch = 500
)

type cancelArgs struct {
	Organization id.ID `json:"organization"`
	Webhook      id.ID `json:"webhook"`
	Epoch        int64 `json:"epoch"`
}

// cancelOldDeliveries is the job that marks the deliveries of older epochs as canceled, in batches, because
// there may be too many for one transaction. A webhook that was deleted cannot be locked, but
// nothing else writes to it either.
func (s *Service) cancelOldDeliveries(ctx context.Context, tx *db.Tx, _ job.Job, a cancelArgs) error {
	if err := db.Lock(ctx, tx, webhooks.Name(), a.Organization, a.Webhook); err != nil && !errors.Is(err, db.ErrNoRow) {
		return err
	}
	for _, status := range []DeliveryStatus{deliveryPending, deliveryRetrying} {
		n, err := db.Exec(ctx, tx, `
			UPDATE webhook_deliveries
			SET status = 'canceled', next_attempt_at = NULL, completed_at = $4, updated_at = $4
			WHERE seq IN (
			SELECT seq FROM webhook_deliveries
			WHERE organization_id = $1 AND webhook_id = $2 AND epoch < $3 AND status = '`+string(status)+`'
				LIMIT $5)`,
			a.Organization, a.Webhook, a.Epoch, s.clock.Now(), cancelBatch)
		if err != nil {
			return err
		}
		if n == cancelBatch {
			return job.RunAgainAfter(0)
		}
	}
	return nil
}

// ensureWorker makes sure that a job works the queue at the given time or earlier. The caller
// has locked the webhook.
func (s *Service) ensureWorker(ctx context.Context, tx *db.Tx, w *Webhook, q queue, at clock.Time) error {
	if _, due := q.turnOf(w); *due != nil && **due <= at {
		return nil
	}
	return s.handOverTurn(ctx, tx, w, q, at)
}

// handOverTurn gives the turn to a new job that runs at the given time. The job that had it ends
// when it sees the new number.
func (s *Service) handOverTurn(ctx context.Context, tx *db.Tx, w *Webhook, q queue, at clock.Time) error {
	turn, due := q.turnOf(w)
	*turn++
	*due = &at
	if err := q.saveTurn(ctx, tx, w); err != nil {
		return err
	}
	_, err := s.jobs.Enqueue(ctx, tx, q.jobKind(w.Slow), turnArgs{w.OrganizationID, w.ID, *turn},
		job.ForOrganization(w.OrganizationID),
		job.RunAt(at))
	return err
}
