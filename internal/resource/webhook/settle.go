package webhook

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"

	"github.com/go-json-experiment/json"
)

// setOutcome copies the result of the last attempt into the delivery.
func (d *Delivery) setOutcome(r *attemptResult) {
	ms := r.took.Milliseconds()
	d.URL, d.DurationMs = &r.url, &ms
	d.ResponseStatus, d.ResponseBody, d.ErrorMessage = nil, nil, nil
	if r.status != 0 {
		status := int64(r.status)
		d.ResponseStatus, d.ResponseBody = &status, &r.body
	}
	if !r.isSuccess() {
		d.ErrorMessage = &r.failure
	}
}

// recordOutcome writes the result of an attempt into the delivery, or into its history if a
// later attempt has begun since. A success completes the delivery either way.
func (d *Delivery) recordOutcome(ctx context.Context, tx *db.Tx, r *attemptResult, now clock.Time) error {
	d.UpdatedAt = now
	if r.isSuccess() {
		d.Status, d.NextAttemptAt, d.CompletedAt = deliverySucceeded, nil, &now
	}
	if d.AttemptedAt != nil && *d.AttemptedAt != r.began {
		return d.recordLateOutcome(ctx, tx, r)
	}
	d.setOutcome(r)
	return nil
}

// settleAttempt records the outcome of an attempt, and decides what follows: a retry, the end of the
// delivery, or of the webhook. The caller has locked the webhook, as every writer of its
// deliveries does. scheduled is false for an attempt that a caller asked for: unless it
// succeeds, it leaves the schedule alone.
func (s *Service) settleAttempt(ctx context.Context, tx *db.Tx, w *Webhook, r *attemptResult, scheduled bool) error {
	d, err := deliveries.Rows.Get(ctx, tx, w.OrganizationID, r.delivery)
	if fault.IsKind(err, fault.NotFound) {
		return nil // past its retention
	}
	if err != nil {
		return err
	}
	now := s.clock.Now()
	if err := d.recordOutcome(ctx, tx, r, now); err != nil {
		return err
	}
	retry, exhausted := false, false
	if open := d.Status == deliveryPending || d.Status == deliveryRetrying; open && scheduled {
		d.Failures++
		if r.status == http.StatusGone || d.Failures > len(retryBackoff) {
			exhausted = d.Failures > len(retryBackoff)
			d.Status, d.NextAttemptAt, d.CompletedAt = deliveryFailed, nil, &now
		} else {
			at := now.Add(addJitter(retryBackoff[d.Failures-1]))
			d.Status, d.NextAttemptAt, retry = deliveryRetrying, &at, d.Epoch == w.Epoch && w.Status == statusActive
		}
	}
	if err := deliveries.Rows.Save(ctx, tx, d); err != nil {
		return err
	}
	if slow := r.took >= slowThreshold; slow != w.Slow {
		w.Slow = slow
		if _, err := db.Exec(ctx, tx, "UPDATE webhooks SET slow = $3 WHERE organization_id = $1 AND id = $2",
			w.OrganizationID, w.ID, slow); err != nil {
			return err
		}
	}
	switch {
	case w.Status != statusActive:
		return nil
	case r.status == http.StatusGone:
		return s.disableWebhook(ctx, tx, w, reasonGone, now)
	case exhausted:
		// One delivery failed for three days. If no other came through in that time, the endpoint is dead.
		through, err := db.QueryOne[bool](ctx, tx, `
			SELECT EXISTS (SELECT 1 FROM webhook_deliveries
			WHERE organization_id = $1 AND webhook_id = $2 AND status = 'succeeded' AND completed_at >= $3)`,
			w.OrganizationID, w.ID, d.CreatedAt)
		if err != nil || through {
			return err
		}
		return s.disableWebhook(ctx, tx, w, reasonFailing, now)
	case retry:
		return s.ensureWorker(ctx, tx, w, retries, *d.NextAttemptAt)
	}
	return nil
}

// addJitter changes a wait by up to a tenth either way, so that deliveries that failed together
// are not all retried at once.
func addJitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + rand.Float64()/5))
}

// disableWebhook disables a webhook by the service's own decision, which an event reports.
func (s *Service) disableWebhook(ctx context.Context, tx *db.Tx, w *Webhook, reason string, now clock.Time) error {
	w.Status, w.DisabledReason, w.UpdatedAt = statusDisabled, &reason, now
	if err := s.cancelWaiting(ctx, tx, w); err != nil {
		return err
	}
	if err := w.updateListener(ctx, tx); err != nil {
		return err
	}
	if err := webhooks.Save(ctx, tx, w); err != nil {
		return err
	}
	data, err := json.Marshal(w, json.Deterministic(true))
	if err != nil {
		return err
	}
	return s.events.Append(ctx, tx,
		event.Event{Organization: w.OrganizationID, At: now, Type: "webhook.disabled", ResourceID: w.ID,
			Data: data}.BySystem())
}
