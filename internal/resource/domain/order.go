package domain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/internal/account/card"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// An order's life. placeOrder writes its row with the status paying, and claims
// what the order needs: the name, or the right to be the domain's only renewal.
// payOrder charges the card under a key made of the row's id and then, in one
// transaction, queues the order, enqueues its job and stores the answer. The job
// saves a step before and after each call to a provider. It ends with the
// domain, or with a refund.
//
// An order survives the process that began it. A retry with the same idempotency
// key resumes it, and settleOrder settles it when nobody comes back. Both ask the
// payment provider what happened before they charge.

// The refusals of orders.
var (
	PriceExceeds = fault.DefineKind("PRICE_EXCEEDS_MAXIMUM", 409,
		"The price is above maxAmountCents. Nothing was charged.")
	PaymentMethodRequired = fault.DefineKind("PAYMENT_METHOD_REQUIRED", 402,
		"There is no default card. An owner or admin saves one in the console.")
	PaymentFailed = fault.DefineKind("PAYMENT_FAILED", 402, "The card was not charged.")
)

// paymentErrors lists them, after others, for the declaration of an operation that orders.
func paymentErrors(more ...*fault.Kind) []*fault.Kind {
	return append(more, PriceExceeds, PaymentMethodRequired, PaymentFailed)
}

const currency = "usd"

// formatDollars writes an amount of cents, like $12.00.
func formatDollars(cents int64) string { return fmt.Sprintf("$%d.%02d", cents/100, cents%100) }

// The jobs of orders.
const (
	registerJob    = "domain.register"
	renewJob       = "domain.renew"
	settleOrderJob = "operations.settle"
)

// jobOfOrderType names the job that carries out a type of order.
var jobOfOrderType = map[OperationType]string{registrationOrder: registerJob, renewalOrder: renewJob}

// orderArgs names an order in the arguments of its jobs.
type orderArgs struct {
	Organization id.ID `json:"organization"`
	Operation    id.ID `json:"operation"`
}

const (
	settleAfter  = 2 * time.Minute  // longer than the request that charges can take
	abandonAfter = 10 * time.Minute // after this, a charge that the provider has not seen never comes
)

// Accepted is the answer to an order: it is paid and waits its turn.
type Accepted struct {
	OperationID id.ID           `json:"operationId"`
	Status      OperationStatus `json:"status" enum:"queued"`
	Domain      string          `json:"domain"`

	op.NoExternalText
}

// orderAttempt is what an idempotency key keeps of its order: the id, saved before the row is
// written.
type orderAttempt struct {
	Operation id.ID `json:"operation"`
}

// resumeOrder takes a slot for a request that pays, and finds the order that an earlier
// request with the same key placed. There is none if its row was never written, or if it was
// abandoned because the charge never reached the provider.
func (d *Domains) resumeOrder(ctx context.Context, c *op.Call) (o *Operation, leave func(), err error) {
	var a orderAttempt
	resumed, err := c.LoadProgress(&a)
	if resumed && err == nil {
		o, err = d.readOrder(ctx, orderArgs{c.Org, a.Operation})
		if errors.Is(err, db.ErrNoRow) || err == nil && o.Status == orderAbandoned {
			o, err = nil, nil
		}
	}
	if err != nil {
		return nil, nil, op.UnknownOutcome(err)
	}
	leave, err = takeSlot(d.orderSlots)
	if err != nil && o != nil {
		err = op.UnknownOutcome(err) // a key that has an order keeps it; any other is released
	}
	return o, leave, err
}

// readOrder reads an order in its own snapshot.
func (d *Domains) readOrder(ctx context.Context, a orderArgs) (o *Operation, err error) {
	err = d.cfg.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		o, err = findOrder(ctx, tx, a.Organization, a.Operation)
		return err
	})
	return o, err
}

// newOrder is an order that is neither written nor paid yet. w is what is ordered.
func (d *Domains) newOrder(org id.ID, kind OperationType, name string, domain id.ID, w Order) *Operation {
	now := d.cfg.Clock.Now()
	o := &Operation{
		Record:       op.Record{ID: id.New(), CreatedAt: now, UpdatedAt: now, OrganizationID: org},
		Type:         kind,
		Status:       orderPaying,
		ResourceName: name,
		DomainID:     domain,
		Wanted:       w,
		ChargedAt:    now,
	}
	o.WorkflowID = "workflow-" + string(o.ID)
	return o
}

// checkPriceLimit refuses a price above the caller's maximum, or above what the person was shown
// who approved the order.
func checkPriceLimit(c *op.Caller, amount, limit int64) error {
	if c.MaxChargeCents != nil {
		limit = min(limit, *c.MaxChargeCents)
	}
	if amount <= limit {
		return nil
	}
	f := PriceExceeds.Say("The price is %s, above the maximum of %s. Nothing was charged.",
		formatDollars(amount), formatDollars(limit))
	f.Details = map[string]int64{"amountCents": amount, "maxAmountCents": limit}
	return f
}

// snapshotReader opens a snapshot, or uses the transaction that is already open.
type snapshotReader func(context.Context, db.Func) error

// chooseCard makes the default card pay for an order, unless it belongs to another payment
// provider than this server's.
func (d *Domains) chooseCard(ctx context.Context, read snapshotReader, org id.ID, w *Order) error {
	var saved *card.Card
	err := read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		saved, err = card.LoadDefault(ctx, tx, org)
		return err
	})
	switch {
	case err != nil:
		return err
	case saved == nil:
		return PaymentMethodRequired.New()
	case saved.Provider != d.cfg.Payments.Name():
		return PaymentMethodRequired.Say("The default card is of %s, which this server does not charge. "+
			"An owner or admin saves another in the console.", saved.Provider)
	}
	w.Card, w.Customer = saved.ProviderID, stringOrEmpty(saved.ProviderCustomer)
	return nil
}

// placeOrder writes an order before anything is charged. claim takes what the order needs, in the
// same transaction.
func (d *Domains) placeOrder(ctx context.Context, c *op.Call, o *Operation, claim db.Func) error {
	o.Wanted.Chain = c.Caller.Chain
	// Saved before the row: a retry after the next commit finds the order by it.
	if err := c.SaveProgress(ctx, orderAttempt{o.ID}); err != nil {
		return err
	}
	return c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := claim(ctx, tx); err != nil {
			return err
		}
		charge := o.chargeRequest()
		err := c.NoteCharge(tx, op.Charge{What: charge.Description, Card: "the default card",
			AmountCents: charge.AmountCents, Currency: charge.Currency})
		if err != nil {
			return err
		}
		return d.insertOrder(ctx, tx, o)
	})
}

// insertOrder writes the row, and enqueues the job that settles the charge if the request
// never comes back. A unique index allows one open renewal of a domain.
func (d *Domains) insertOrder(ctx context.Context, tx *db.Tx, o *Operation) error {
	ok, err := operations.TryInsert(ctx, tx, o)
	if err == nil && !ok {
		err = RenewalInFlight.New()
	}
	if err != nil {
		return err
	}
	_, err = d.cfg.Jobs.Enqueue(ctx, tx, settleOrderJob, orderArgs{o.OrganizationID, o.ID},
		job.ForOrganization(o.OrganizationID), job.RunAt(o.ChargedAt.Add(settleAfter)))
	return err
}

// payOrder charges for an order that is placed, and queues it. resumed is whether an earlier
// request may have charged for it already.
func (d *Domains) payOrder(ctx context.Context, c *op.Call, o *Operation, resumed bool) (*Accepted, error) {
	d.pauseAt("claimed")
	var payment string
	var err error
	if !c.Rehearsing() {
		payment, err = d.chargeOrder(ctx, o, resumed)
	}
	var no *Refusal
	switch {
	case errors.As(err, &no):
		err := c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			return d.endUnpaidOrder(ctx, tx, o, orderRefused, no.Message)
		})
		if err != nil {
			return nil, op.UnknownOutcome(err)
		}
		return nil, declinedFault(no.Message)
	case err != nil:
		d.cfg.Log.WarnContext(ctx, "the outcome of a charge is not known", "operation", o.ID, "err", err)
		f := fault.Unavailable.Because(err)
		f.Text = "The payment provider did not answer, so the outcome is not known. " +
			"Retry with the same Idempotency-Key: nothing is charged twice."
		return nil, op.UnknownOutcome(f)
	}
	d.pauseAt("charged")
	out, err := op.Finish(ctx, c, func(ctx context.Context) (*Accepted, error) {
		o, queued, err := d.queueOrder(ctx, c.Tx, o, payment)
		if err != nil {
			return nil, err
		}
		if queued {
			if err := c.Emit("operation.created", o.ID, o); err != nil {
				return nil, err
			}
		}
		return &Accepted{OperationID: o.ID, Status: orderQueued, Domain: o.ResourceName}, nil
	})
	if err != nil {
		err = op.UnknownOutcome(err) // the money is taken: whatever went wrong, the key keeps its order
	}
	return out, err
}

// declinedFault answers that no money moved. The key keeps this answer (Binding), so another try
// needs another key.
func declinedFault(reason string) error {
	f := PaymentFailed.Say("The card was not charged: %s Use a new Idempotency-Key for another try.", reason)
	f.Details, f.Binding = map[string]any{"useNewKey": true, "reason": reason}, true
	return f
}

// The idempotency keys of an order's calls: of the charge, of the refund, and of the call to the
// registrar. The same order always uses the same keys, so no call happens twice.

func (o *Operation) chargeKey() string { return string(o.ID) + ".charge" }
func (o *Operation) refundKey() string { return string(o.ID) + ".refund" }
func (o *Operation) workKey() string   { return string(o.ID) + ".work" }

// chargeRequest is what the payment provider is asked to charge for an order.
func (o *Operation) chargeRequest() Charge {
	what := "Registration"
	if o.Type == renewalOrder {
		what = "Renewal"
	}
	return Charge{
		Card:        o.Wanted.Card,
		Customer:    o.Wanted.Customer,
		AmountCents: o.Wanted.AmountCents,
		Currency:    currency,
		Description: fmt.Sprintf("%s of %s for %d years", what, o.ResourceName, o.Wanted.Years),
	}
}

// chargeOrder takes the money for an order, once. resumed is whether that may have been tried
// before; then the provider is asked first.
func (d *Domains) chargeOrder(ctx context.Context, o *Operation, resumed bool) (payment string, err error) {
	switch {
	case o.PaymentIntentID != nil:
		return *o.PaymentIntentID, nil
	case o.Status == orderRefused:
		return "", &Refusal{"declined", stringOrEmpty(o.ErrorMessage)}
	}
	if resumed {
		payment, err = d.cfg.Payments.Charged(ctx, o.chargeKey(), o.chargeRequest())
		if !errors.Is(err, ErrUnknownToProvider) {
			return payment, err
		}
		if err := d.keepOrderOpen(ctx, o); err != nil {
			return "", err
		}
	}
	return d.cfg.Payments.Charge(ctx, o.chargeKey(), o.chargeRequest())
}

// keepOrderOpen moves an order's charged_at to now before it is charged again, so that settleOrder
// does not abandon it meanwhile. It fails if the order was settled since it was read.
func (d *Domains) keepOrderOpen(ctx context.Context, o *Operation) error {
	return d.cfg.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := db.Exec(ctx, tx, `
			UPDATE operations SET charged_at = $3
			WHERE organization_id = $1 AND id = $2 AND status = 'paying'`, o.OrganizationID, o.ID, d.cfg.Clock.Now())
		if err == nil && n == 0 {
			err = errors.New("domain: the order was settled meanwhile")
		}
		return err
	})
}

// queueOrder records the payment of an order and enqueues the job that carries it out. queued is
// false if somebody else already did.
func (d *Domains) queueOrder(
	ctx context.Context, tx *db.Tx, was *Operation, payment string,
) (o *Operation, queued bool, err error) {
	if o, err = lockOrder(ctx, tx, was.OrganizationID, was.ID); err != nil {
		return nil, false, err
	}
	if o.PaymentIntentID != nil {
		return o, false, nil
	}
	if o.Status != orderPaying {
		return nil, false, fmt.Errorf("domain: the order %s was paid but is %s", o.ID, o.Status)
	}
	o.Status, o.PaymentIntentID, o.UpdatedAt = orderQueued, &payment, d.cfg.Clock.Now()
	if err := operations.Save(ctx, tx, o); err != nil {
		return nil, false, err
	}
	_, err = d.cfg.Jobs.Enqueue(ctx, tx, jobOfOrderType[o.Type], orderArgs{o.OrganizationID, o.ID},
		job.ForOrganization(o.OrganizationID), job.UniqueKey(string(o.ID)))
	return o, true, err
}

// queueOrderBySystem is queueOrder where no caller waits for the answer.
func (d *Domains) queueOrderBySystem(ctx context.Context, tx *db.Tx, was *Operation, payment string) error {
	o, queued, err := d.queueOrder(ctx, tx, was, payment)
	if err != nil || !queued {
		return err
	}
	return d.emitSystemEvent(ctx, tx, o.newEvent("operation.created", o.ID), o)
}

// newEvent is an event that resulted from the order, with the chain of what led to the order.
func (o *Operation) newEvent(eventType string, row id.ID) event.Event {
	return event.Event{Organization: o.OrganizationID, Chain: o.Wanted.Chain}.About(eventType, row)
}

// endUnpaidOrder ends an order that was not paid, as refused or abandoned, and frees what it had
// claimed. Callers never see the row.
func (d *Domains) endUnpaidOrder(ctx context.Context, tx *db.Tx, o *Operation, status OperationStatus,
	reason string) error {
	n, err := db.Exec(ctx, tx, `
		UPDATE operations
		SET status = $3, error_message = $4, updated_at = $5, deleted_at = $5, completed_at = $5
		WHERE organization_id = $1 AND id = $2 AND status = 'paying'`,
		o.OrganizationID, o.ID, status, reason, d.cfg.Clock.Now())
	if err != nil || n == 0 {
		return err
	}
	return d.undoOrder(ctx, tx, o, PaymentFailed.Code, reason)
}

// undoOrder frees the name that a failed registration had claimed. The failure of an automatic
// renewal is recorded, and its owners are told; any other renewal has claimed nothing but its
// own row.
func (d *Domains) undoOrder(ctx context.Context, tx *db.Tx, o *Operation, code, reason string) error {
	if o.Type == registrationOrder {
		return releaseNames(ctx, tx, o.OrganizationID, o.DomainID)
	}
	if o.Automatic {
		return d.recordRenewalFailure(ctx, tx, domainArgs{o.OrganizationID, o.DomainID}, code, reason)
	}
	return nil
}

// settleOrder is the job that finds out what became of a charge, for an order whose request
// did not. A paid order is queued, a declined one ends; one that the provider has not seen is
// abandoned after abandonAfter.
func (d *Domains) settleOrder(ctx context.Context, _ job.Job, a orderArgs) (job.Outcome, error) {
	o, err := d.readOrder(ctx, a)
	if err != nil || o.Status != orderPaying {
		return nil, err
	}
	payment, err := d.cfg.Payments.Charged(ctx, o.chargeKey(), o.chargeRequest())
	var no *Refusal
	switch {
	case err == nil:
		return func(ctx context.Context, tx *db.Tx) error { return d.queueOrderBySystem(ctx, tx, o, payment) }, nil
	case errors.As(err, &no):
		return func(ctx context.Context, tx *db.Tx) error {
			return d.endUnpaidOrder(ctx, tx, o, orderRefused, no.Message)
		}, nil
	case !errors.Is(err, ErrUnknownToProvider):
		return nil, err
	case d.cfg.Clock.Now().Sub(o.ChargedAt) < abandonAfter:
		return nil, job.RunAgainAfter(time.Minute)
	}
	return func(ctx context.Context, tx *db.Tx) error {
		again, err := lockOrder(ctx, tx, a.Organization, a.Operation)
		if err != nil {
			return err
		}
		if again.ChargedAt != o.ChargedAt { // a request resumed in the meantime
			_, err := d.cfg.Jobs.Enqueue(ctx, tx, settleOrderJob, a,
				job.ForOrganization(a.Organization), job.RunAt(again.ChargedAt.Add(settleAfter)))
			return err
		}
		return d.endUnpaidOrder(ctx, tx, o, orderAbandoned, "The charge never reached the payment provider.")
	}, nil
}

// orderRun is one run of an order's job. A run that dies is followed by another, which goes on
// at the saved step.
type orderRun struct {
	d   *Domains
	job job.Job
	o   *Operation
	// resumed is true until this run has saved a step: the call that follows
	// the current step may have been made before.
	resumed bool
}

// startOrderRun loads the order of a job. It is nil unless the order is queued or running.
func (d *Domains) startOrderRun(ctx context.Context, j job.Job, a orderArgs) (*orderRun, error) {
	o, err := d.readOrder(ctx, a)
	if err != nil || o.Status != orderQueued && o.Status != orderRunning {
		return nil, err
	}
	d.pauseAt(string(o.Step))
	return &orderRun{d, j, o, true}, nil
}

// saveStep commits how far along the order is. It fails if the job has passed to another worker
// meanwhile.
func (r *orderRun) saveStep(ctx context.Context, next orderStep) error {
	err := r.d.cfg.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := r.job.RenewLease(ctx, tx); err != nil {
			return err
		}
		o := *r.o
		started := o.Status == orderQueued
		o.Step, o.Status, o.UpdatedAt = next, orderRunning, r.d.cfg.Clock.Now()
		if err := operations.Save(ctx, tx, &o); err != nil {
			return err
		}
		if started {
			return r.d.emitSystemEvent(ctx, tx, o.newEvent("operation.started", o.ID), &o)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.o.Step, r.o.Status, r.resumed = next, orderRunning, false
	r.d.pauseAt(string(next))
	return nil
}

// saveRegistrarAnswer saves the outcome of a call to the registrar: the next step, or a refund if it
// refused. After any other error the step stays, and the job's next run asks the registrar.
func (r *orderRun) saveRegistrarAnswer(ctx context.Context, held *HeldRegistration, err error, next orderStep,
	code string) error {
	var no *Refusal
	if errors.As(err, &no) {
		return r.recordFailure(ctx, code, no)
	}
	if err != nil {
		return err
	}
	r.o.Wanted.Held = held
	return r.saveStep(ctx, next)
}

// recordFailure records why the order cannot be carried out. Its refund is the next step.
func (r *orderRun) recordFailure(ctx context.Context, code string, no *Refusal) error {
	r.o.ErrorCode, r.o.ErrorMessage = &code, &no.Message
	r.d.cfg.Log.WarnContext(ctx, "an order failed and is refunded",
		"operation", r.o.ID, "name", r.o.ResourceName, "code", no.Code, "reason", no.Message)
	return r.saveStep(ctx, stepRefunding)
}

// refundOrder gives the money back and ends the order as failed. If the provider refuses the
// refund, the order ends all the same and the log says that the operator owes it.
func (r *orderRun) refundOrder(ctx context.Context) (job.Outcome, error) {
	d, o := r.d, r.o
	err := ErrUnknownToProvider
	if r.resumed {
		_, err = d.cfg.Payments.Refunded(ctx, o.refundKey(), *o.PaymentIntentID)
	}
	if errors.Is(err, ErrUnknownToProvider) {
		_, err = d.cfg.Payments.Refund(ctx, o.refundKey(), *o.PaymentIntentID, o.Wanted.AmountCents)
	}
	d.pauseAt("refund-called")
	amount := formatDollars(o.Wanted.AmountCents)
	said := fmt.Sprintf("%s The charge of %s was refunded.", *o.ErrorMessage, amount)
	var no *Refusal
	switch {
	case errors.As(err, &no):
		said = fmt.Sprintf("%s The charge of %s could not be refunded: %s", *o.ErrorMessage, amount, no.Message)
		d.cfg.Log.ErrorContext(ctx, "a refund was refused; the operator owes it",
			"operation", o.ID, "payment", *o.PaymentIntentID, "reason", no.Message)
	case err != nil:
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx) error {
		done := o.endedCopy(orderFailed, d.cfg.Clock.Now())
		done.ErrorMessage = &said
		if err := operations.Save(ctx, tx, &done); err != nil {
			return err
		}
		if err := d.undoOrder(ctx, tx, o, *o.ErrorCode, said); err != nil {
			return err
		}
		return d.emitSystemEvent(ctx, tx, o.newEvent("operation.failed", o.ID), &done)
	}, nil
}

// succeedOrder ends the order; the caller has written the domain.
func (r *orderRun) succeedOrder(ctx context.Context, tx *db.Tx) error {
	kind := "domain"
	done := r.o.endedCopy(orderSucceeded, r.d.cfg.Clock.Now())
	done.ResourceType, done.ResourceID = &kind, &done.DomainID
	if err := operations.Save(ctx, tx, &done); err != nil {
		return err
	}
	return r.d.emitSystemEvent(ctx, tx, done.newEvent("operation.succeeded", done.ID), &done)
}

// endedCopy is a copy of an order that is over. It no longer holds the registrant, who is a domain
// contact by now, or must not be kept at all.
func (o *Operation) endedCopy(status OperationStatus, now clock.Time) Operation {
	done := *o
	done.Status, done.CompletedAt, done.UpdatedAt = status, &now, now
	done.Wanted.Registrant, done.Wanted.Label = nil, nil
	return done
}
