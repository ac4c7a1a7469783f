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
func (d *Delivery) setOutcome(r *result) {
	ms := r.took.Milliseconds()
	d.URL, d.DurationMs = &r.url, &ms
	d.ResponseStatus, d.ResponseBody, d.ErrorMessage = nil, nil, nil
	if r.status != 0 {
		status := int64(r.status)
		d.ResponseStatus, d.ResponseBody = &status, &r.body
	}
	if !r.ok() {
		d.ErrorMessage = &r.why
	}
}

// recordOutcome writes the result of an attempt into the delivery, or into its history if a
// later attempt has begun since. A success completes the delivery either way.
func (d *Delivery) recordOutcome(ctx context.Context, tx *db.Tx, r *result, now clock.Time) error {
	d.UpdatedAt = now
	if r.ok() {
		d.Status, d.NextAttemptAt, d.CompletedAt = succeeded, nil, &now
	}
	if d.AttemptedAt != nil && *d.AttemptedAt != r.began {
		return d.recordLate(ctx, tx, r)
	}
	d.setOutcome(r)
	return nil
}

// settle records the outcome of an attempt, and decides what follows: a retry, the end of the
// delivery, or of the webhook. The caller has locked the webhook, as every writer of its
// deliveries does. scheduled is false for an attempt that a caller asked for: unless it
// succeeds, it leaves the schedule alone.
func (s *Service) settle(ctx context.Context, tx *db.Tx, w *Webhook, r *result, scheduled bool) error {
	d, err := deliveries.Rows.Get(ctx, tx, w.OrganizationID, r.delivery)
	if fault.Has(err, fault.NotFound) {
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
	if open := d.Status == pending || d.Status == retrying; open && scheduled {
		d.Failures++
		if r.status == http.StatusGone || d.Failures > len(backoff) {
			exhausted = d.Failures > len(backoff)
			d.Status, d.NextAttemptAt, d.CompletedAt = failed, nil, &now
		} else {
			at := now.Add(jittered(backoff[d.Failures-1]))
			d.Status, d.NextAttemptAt, retry = retrying, &at, d.Epoch == w.Epoch && w.Status == active
		}
	}
	if err := deliveries.Rows.Save(ctx, tx, d); err != nil {
		return err
	}
	if slow := r.took >= slowTime; slow != w.Slow {
		w.Slow = slow
		if _, err := db.Exec(ctx, tx, "UPDATE webhooks SET slow = $3 WHERE organization_id = $1 AND id = $2",
			w.OrganizationID, w.ID, slow); err != nil {
			return err
		}
	}
	switch {
	case w.Status != active:
		return nil
	case r.status == http.StatusGone:
		return s.disable(ctx, tx, w, gone, now)
	case exhausted:
		// One delivery failed for three days. If no other came through in that time, the endpoint is dead.
		through, err := db.One[bool](ctx, tx, `
			SELECT EXISTS (SELECT 1 FROM webhook_deliveries
			WHERE organization_id = $1 AND webhook_id = $2 AND status = 'succeeded' AND completed_at >= $3)`,
			w.OrganizationID, w.ID, d.CreatedAt)
		if err != nil || through {
			return err
		}
		return s.disable(ctx, tx, w, failing, now)
	case retry:
		return s.ensureWorker(ctx, tx, w, retries, *d.NextAttemptAt)
	}
	return nil
}

// jittered changes a wait by up to a tenth either way, so that deliveries that failed together
// are not all retried at once.
func jittered(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + rand.Float64()/5))
}

// disable disables a webhook by the service's own decision, which an event reports.
func (s *Service) disable(ctx context.Context, tx *db.Tx, w *Webhook, reason string, now clock.Time) error {
	w.Status, w.DisabledReason, w.UpdatedAt = disabled, &reason, now
	if err := s.cancelWaiting(ctx, tx, w); err != nil {
		return err
	}
	if err := w.listen(ctx, tx); err != nil {
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
