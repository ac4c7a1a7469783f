package domain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// An order's life: its row is written with the status paying, and takes what
// it needs (the name, the only renewal); then the card is charged under a key
// made of the row's id; then, in one transaction, it is queued, its job is
// enqueued and the answer stored. Whoever dies in between is replaced: the
// same idempotency key resumes the order, and a job settles it when nobody
// comes back. Both ask the payment provider before they charge.

// What orders are refused with.
var (
	PriceExceeds          = fault.Define("PRICE_EXCEEDS_MAXIMUM", 409, "The price is above maxAmountCents. Nothing was charged.")
	PaymentMethodRequired = fault.Define("PAYMENT_METHOD_REQUIRED", 402, "There is no default card. An owner or admin saves one in the console.")
	PaymentFailed         = fault.Define("PAYMENT_FAILED", 402, "The card was not charged.")
	PremiumUnsupported    = fault.Define("PREMIUM_DOMAIN_NOT_SUPPORTED", 422, "Names with a premium price are not offered.")
	OrganizationRequired  = fault.Define("CONTACT_ORGANIZATION_REQUIRED", 422, "This ending needs the contact's organizationName and jobTitle.")
)

const currency = "usd"

// Accepted is the answer to an order: it is paid and waits for its turn.
type Accepted struct {
	OperationID id.ID  `json:"operationId"`
	Status      string `json:"status" enum:"queued"`
	Domain      string `json:"domain"`
}

const (
	settleAfter  = 2 * time.Minute  // past the deadline of the request that charges
	abandonAfter = 10 * time.Minute // for a provider that has not heard of the charge
)

// attempt is what a request under an idempotency key remembers.
type attempt struct {
	Operation id.ID `json:"operation"`
}

// resume finds the order of an earlier request with the same key. There is
// none when nothing was placed or the charge never arrived.
func (d *Domains) resume(ctx context.Context, c *op.Call) (*Operation, error) {
	var a attempt
	if ok, err := c.Resume(&a); !ok || err != nil {
		return nil, err
	}
	var o *Operation
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		o, err = findOrder(ctx, tx, c.Org, a.Operation)
		return err
	})
	if errors.Is(err, db.ErrNone) || err == nil && o.Status == abandoned {
		return nil, nil
	}
	return o, err
}

// newOrder begins an order of the default card's owner.
func (d *Domains) newOrder(org id.ID, kind, name string, domain id.ID, w Order) *Operation {
	now := d.Clock.Now()
	o := &Operation{Record: op.Record{ID: id.New(), CreatedAt: now, UpdatedAt: now, OrganizationID: org}, Type: kind, Status: paying, ResourceName: name,
		DomainID: domain, Wanted: w, ChargedAt: now}
	o.WorkflowID = "workflow-" + string(o.ID)
	return o
}

// card is the default card that this payment provider can charge.
func (d *Domains) card(ctx context.Context, org id.ID) (card *account.Card, err error) {
	err = d.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		card, err = account.DefaultCard(ctx, tx, org)
		return err
	})
	switch {
	case err != nil:
	case card == nil:
		err = PaymentMethodRequired.New()
	case card.Provider != d.Payments.Name():
		err = PaymentMethodRequired.Say("The default card is of %s, which this server does not charge. An owner or admin saves another in the console.", card.Provider)
	}
	return card, err
}

// pays notes the card in the order.
func (w *Order) pays(c *account.Card) {
	w.Card = c.ProviderID
	if c.ProviderCustomer != nil {
		w.Customer = *c.ProviderCustomer
	}
}

// place writes an order before anything is charged, and sees to it that
// somebody settles the charge whatever happens.
func (d *Domains) place(ctx context.Context, tx *db.Tx, o *Operation) error {
	ok, err := operations.TryInsert(ctx, tx, o)
	if err == nil && !ok {
		err = RenewalInFlight.New()
	}
	if err != nil {
		return err
	}
	_, err = d.Jobs.Enqueue(ctx, tx, settleOrder, work{o.OrganizationID, o.ID}, job.For(o.OrganizationID), job.At(o.ChargedAt.Add(settleAfter)))
	return err
}

// order places what a request wants, unless it did so before, and pays for it.
func (d *Domains) order(ctx context.Context, c *op.Call, fresh func(ctx context.Context) (*Operation, error), claim func(context.Context, *db.Tx, *Operation) error) (*Accepted, error) {
	o, err := d.resume(ctx, c)
	if err != nil {
		return nil, op.Unknown(err)
	}
	ask := o != nil
	leave, err := enter(d.ordering)
	if err != nil {
		if ask {
			err = op.Unknown(err) // a key that has an order keeps it; any other is released
		}
		return nil, err
	}
	defer leave()
	if o == nil {
		if o, err = fresh(ctx); err != nil {
			return nil, err
		}
		o.Wanted.Chain = c.Caller.Chain
		// The key remembers the order before there is one.
		if err := c.Save(ctx, attempt{o.ID}); err != nil {
			return nil, err
		}
		err := c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			if err := claim(ctx, tx, o); err != nil {
				return err
			}
			return d.place(ctx, tx, o)
		})
		if err != nil {
			return nil, err
		}
	}
	d.pause("claimed")
	payment, err := d.charge(ctx, o, ask)
	var no *Refusal
	switch {
	case errors.As(err, &no):
		err := c.Write(ctx, func(ctx context.Context, tx *db.Tx) error { return d.refuse(ctx, tx, o, refused, no.Message) })
		if err != nil {
			return nil, op.Unknown(err)
		}
		return nil, declined(no.Message)
	case err != nil:
		d.Log.WarnContext(ctx, "the outcome of a charge is not known", "operation", o.ID, "err", err)
		f := fault.Unavailable.Because(err)
		f.Text = "The payment provider did not answer, so the outcome is not known. Retry with the same Idempotency-Key: nothing is charged twice."
		return nil, op.Unknown(f)
	}
	d.pause("charged")
	out, err := op.Finish(ctx, c, func(ctx context.Context) (*Accepted, error) {
		o, queued, err := d.queue(ctx, c.Tx, o, payment)
		if err != nil {
			return nil, err
		}
		if queued {
			if err := c.Emit("operation.created", o.ID, o); err != nil {
				return nil, err
			}
		}
		return &Accepted{o.ID, "queued", o.ResourceName}, nil
	})
	if err != nil {
		err = op.Unknown(err) // the money is taken: whatever went wrong, the key keeps its order
	}
	return out, err
}

// declined tells a caller that the money did not move. The key keeps this
// answer, so another try needs another key.
func declined(reason string) error {
	f := PaymentFailed.Say("The card was not charged: %s Use a new Idempotency-Key for another try.", reason)
	f.Details, f.Binding = map[string]any{"useNewKey": true, "reason": reason}, true
	return f
}

func (o *Operation) chargeKey() string { return string(o.ID) + ".charge" }
func (o *Operation) refundKey() string { return string(o.ID) + ".refund" }
func (o *Operation) workKey() string   { return string(o.ID) + ".work" }

func (o *Operation) charge() Charge {
	what := "Registration"
	if o.Type == renewalType {
		what = "Renewal"
	}
	return Charge{Card: o.Wanted.Card, Customer: o.Wanted.Customer, AmountCents: o.Wanted.AmountCents, Currency: currency,
		Description: fmt.Sprintf("%s of %s for %d years", what, o.ResourceName, o.Wanted.Years)}
}

// charge takes the money for an order, once. ask is whether it may have been
// tried before.
func (d *Domains) charge(ctx context.Context, o *Operation, ask bool) (payment string, err error) {
	switch {
	case o.PaymentIntentID != nil:
		return *o.PaymentIntentID, nil
	case o.Status == refused:
		return "", &Refusal{"declined", deref(o.ErrorMessage)}
	}
	if ask {
		payment, err = d.Payments.Charged(ctx, o.chargeKey(), o.charge())
		if !errors.Is(err, ErrNothing) {
			return payment, err
		}
		// From now on nobody gives the order up.
		err := d.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			n, err := db.Exec(ctx, tx, "UPDATE operations SET charged_at = $3 WHERE organization_id = $1 AND id = $2 AND status = 'paying'", o.OrganizationID, o.ID, d.Clock.Now())
			if err == nil && n == 0 {
				err = errors.New("domain: the order was settled meanwhile")
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return d.Payments.Charge(ctx, o.chargeKey(), o.charge())
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// queue notes the payment of an order and enqueues its work. queued is false
// when somebody else did so before.
func (d *Domains) queue(ctx context.Context, tx *db.Tx, was *Operation, payment string) (o *Operation, queued bool, err error) {
	if o, err = lockOrder(ctx, tx, was.OrganizationID, was.ID); err != nil {
		return nil, false, err
	}
	if o.PaymentIntentID != nil {
		return o, false, nil
	}
	if o.Status != paying {
		return nil, false, fmt.Errorf("domain: the order %s was paid but is %s", o.ID, o.Status)
	}
	o.Status, o.PaymentIntentID, o.UpdatedAt = "queued", &payment, d.Clock.Now()
	if err := operations.Save(ctx, tx, o); err != nil {
		return nil, false, err
	}
	_, err = d.Jobs.Enqueue(ctx, tx, jobOf[o.Type], work{o.OrganizationID, o.ID}, job.For(o.OrganizationID), job.Key(string(o.ID)))
	return o, true, err
}

// jobOf is the kind of job that carries out a type of order.
var jobOf = map[string]string{registrationType: registerOrder, renewalType: renewOrder}

// refuse ends an order that was not paid: the row is gone for callers, and
// what it had taken is free again.
func (d *Domains) refuse(ctx context.Context, tx *db.Tx, was *Operation, status, reason string) error {
	now := d.Clock.Now()
	n, err := db.Exec(ctx, tx, `UPDATE operations SET status = $3, error_message = $4, updated_at = $5, deleted_at = $5, completed_at = $5
		WHERE organization_id = $1 AND id = $2 AND status = 'paying'`, was.OrganizationID, was.ID, status, reason, now)
	if err != nil || n == 0 {
		return err
	}
	if was.Type == registrationType {
		return release(ctx, tx, was.OrganizationID, was.DomainID)
	}
	if was.Automatic {
		return d.renewalFailed(ctx, tx, was.OrganizationID, was.DomainID, PaymentFailed.Code, reason)
	}
	return nil
}

const settleOrder = "operations.settle"

// work names an order in the arguments of its jobs.
type work struct {
	Organization id.ID `json:"organization"`
	Operation    id.ID `json:"operation"`
}

func (d *Domains) load(ctx context.Context, a work) (o *Operation, err error) {
	err = d.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		o, err = findOrder(ctx, tx, a.Organization, a.Operation)
		return err
	})
	return o, err
}

// settle ends the doubt about an order whose request never came back.
func (d *Domains) settle(ctx context.Context, _ job.Job, a work) (job.Outcome, error) {
	o, err := d.load(ctx, a)
	if err != nil || o.Status != paying {
		return nil, err
	}
	payment, err := d.Payments.Charged(ctx, o.chargeKey(), o.charge())
	var no *Refusal
	switch {
	case err == nil:
		return func(ctx context.Context, tx *db.Tx) error { return d.queueBySystem(ctx, tx, o, payment) }, nil
	case errors.As(err, &no):
		return func(ctx context.Context, tx *db.Tx) error { return d.refuse(ctx, tx, o, refused, no.Message) }, nil
	case !errors.Is(err, ErrNothing):
		return nil, err
	case d.Clock.Now().Sub(o.ChargedAt) < abandonAfter:
		return nil, job.Later(time.Minute)
	}
	return func(ctx context.Context, tx *db.Tx) error {
		// A request that resumed meanwhile has moved charged_at.
		again, err := lockOrder(ctx, tx, a.Organization, a.Operation)
		if err != nil {
			return err
		}
		if again.ChargedAt != o.ChargedAt {
			_, err := d.Jobs.Enqueue(ctx, tx, settleOrder, a, job.For(a.Organization), job.At(again.ChargedAt.Add(settleAfter)))
			return err
		}
		return d.refuse(ctx, tx, o, abandoned, "The charge never reached the payment provider.")
	}, nil
}

func (d *Domains) queueBySystem(ctx context.Context, tx *db.Tx, was *Operation, payment string) error {
	o, queued, err := d.queue(ctx, tx, was, payment)
	if err != nil || !queued {
		return err
	}
	return d.emitFor(ctx, tx, o, "operation.created", o.ID, o)
}
