package webhook

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/outbound"
)

// Deliveries that are sent at a caller's request, while the caller waits: a test, and a redelivery.

// sendForCaller makes an attempt for a caller who waits. When all connections are in use it refuses.
func (s *Service) sendForCaller(ctx context.Context, l *outgoingAttempt) (*attemptResult, error) {
	r, err := s.sendAttempt(ctx, s.callerClient, l)
	if errors.Is(err, outbound.ErrBusy) {
		return nil, fault.Unavailable.Because(err)
	}
	return r, err
}

// testWebhook sends a test event and answers with what came back. The delivery is written only
// afterwards, because it is never retried.
func (s *Service) testWebhook(ctx context.Context, c *op.Call, in webhookRef) (*Delivery, error) {
	var w *Webhook
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		w, err = webhooks.Get(ctx, tx, c.Org, in.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	// From here on the idempotency key stays bound to this attempt: a retry with
	// the key sends the same webhook-id again.
	if err := c.SaveProgress(ctx, struct{}{}); err != nil {
		return nil, err
	}
	d := &Delivery{Record: c.NewRecord(), WebhookID: w.ID, EventID: c.AttemptID(), EventType: TestType,
		Status: deliveryFailed, Epoch: w.Epoch}
	if c.Rehearsing() {
		return d, c.Emit("webhook.tested", w.ID, w)
	}
	r, err := s.sendForCaller(ctx, &outgoingAttempt{w, d.ID, buildTestMessage(d), c.Now})
	if err != nil {
		return nil, err
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*Delivery, error) {
		if err := deliveries.LockParent(ctx, c, in.ID); err != nil {
			return nil, err
		}
		v, now := *d, s.clock.Now()
		if err := v.beginAttempt(ctx, c.Tx, w, c.Now); err != nil {
			return nil, err
		}
		v.CompletedAt = &now
		if err := v.recordOutcome(ctx, c.Tx, r, now); err != nil {
			return nil, err
		}
		if err := deliveries.Rows.Insert(ctx, c.Tx, &v); err != nil {
			return nil, err
		}
		return &v, c.Emit("webhook.tested", w.ID, w)
	})
}

// redeliver sends a delivery again. The attempt is recorded before it is made, like a
// scheduled one.
func (s *Service) redeliver(ctx context.Context, c *op.Call, in deliveryRef) (*Delivery, error) {
	var l *outgoingAttempt
	var d *Delivery
	err := c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		w, err := webhooks.Lock(ctx, tx, c.Org, in.ID)
		if err != nil {
			return err
		}
		if d, err = deliveries.Rows.Find(ctx, tx,
			deliveries.WhereParent(c, in.ID).And("id = ?", in.DeliveryID)); err != nil {
			return err
		}
		m, err := buildMessage(ctx, tx, d)
		if err != nil {
			return err
		}
		if m == nil {
			return fault.NotFound.Say("The event of this delivery was erased.")
		}
		if err := d.beginAttempt(ctx, tx, w, c.Now); err != nil {
			return err
		}
		l = &outgoingAttempt{w, d.ID, m, c.Now}
		return deliveries.Rows.Save(ctx, tx, d)
	})
	if err != nil {
		return nil, err
	}
	if c.Rehearsing() {
		return d, c.Emit("webhook.delivery.redelivered", d.ID, d)
	}
	r, err := s.sendForCaller(ctx, l)
	if err != nil {
		return nil, err
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*Delivery, error) {
		w, err := webhooks.Lock(ctx, c.Tx, c.Org, in.ID)
		if err != nil {
			return nil, err
		}
		if err := s.settleAttempt(ctx, c.Tx, w, r, false); err != nil {
			return nil, err
		}
		d, err := deliveries.Rows.Get(ctx, c.Tx, c.Org, in.DeliveryID)
		if err != nil {
			return nil, err
		}
		// The event log outlives the delivery, and what an endpoint answered must
		// not be kept that long.
		told := *d
		told.ResponseBody = nil
		return d, c.Emit("webhook.delivery.redelivered", d.ID, &told)
	})
}
