package domain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/job"
)

// The steps of an order's work. Each names what is done; registering, renewing
// and refunding are intents, saved before the call, so that whoever takes the
// work over asks what came of it.
const (
	stepRegistering = "registering"
	stepRegistered  = "registered"
	stepZone        = "zone"
	stepRecords     = "records"
	stepLocked      = "locked"
	stepRenewing    = "renewing"
	stepRenewed     = "renewed"
	stepRefunding   = "refunding"
)

// Handle declares the jobs of domains.
func (d *Domains) Handle() {
	// A lane of its own: a slow registrar holds up only orders. The attempts
	// are many, because money was taken and only the registrar can tell when
	// the work is over.
	patient := []job.Setting{job.Lane("domains", 4), job.Timeout(2 * time.Minute), job.Attempts(10_000)}
	job.HandleFlow(d.Jobs, registerOrder, d.provision, patient...)
	job.HandleFlow(d.Jobs, renewOrder, d.renewal, patient...)
	job.HandleFlow(d.Jobs, settleOrder, d.settle, append(patient, job.Forget())...)
	job.HandleFlow(d.Jobs, autoRenew, d.renewItself, job.Lane("domains", 4), job.Forget())
	job.HandleFlow(d.Jobs, watchTransfer, d.watch, job.Lane("domains", 4), job.Forget())
	job.HandleFlow(d.Jobs, dropZone, d.drop, job.Lane("domains", 4))
	job.HandleFlow(d.Jobs, raiseZone, d.raise, job.Lane("domains", 4), job.Forget())
	job.HandleFlow(d.Jobs, publishEmail, d.publishEmail, job.Lane("domains", 4), job.Timeout(2*time.Minute))
	job.HandleFlow(d.Jobs, lookAgain, d.lookAtProof, job.Lane("proofs", 4), job.Timeout(lookTime), job.Forget())
	job.HandleTx(d.Jobs, "domains.look_due", d.lookDue, job.Every(lookSweep))
	job.HandleTx(d.Jobs, "domains.tell_expiring", d.tellExpiring, job.Every(time.Hour))
	job.HandleTx(d.Jobs, "domains.expire", d.expire, job.Every(10*time.Second))
	job.HandleTx(d.Jobs, "domains.renew_due", d.renewDue, job.Every(time.Hour))
	job.HandleTx(d.Jobs, "domains.watch_transfers", d.watchTransfers, job.Every(time.Hour))
}

// carry is one run of an order's job.
type carry struct {
	d *Domains
	j job.Job
	o *Operation
	// resumed is true until this run has saved a step: the call that follows
	// the step at hand may have been made before.
	resumed bool
}

// begin loads the order of a job and marks it running. It is nil when there is
// nothing left to do.
func (d *Domains) begin(ctx context.Context, j job.Job, a work) (*carry, error) {
	o, err := d.load(ctx, a)
	if err != nil || o.Status != "queued" && o.Status != "running" {
		return nil, err
	}
	d.pause(o.Step)
	return &carry{d, j, o, true}, nil
}

// step saves how far the order is. The job must still be this worker's.
func (w *carry) step(ctx context.Context, name string) error {
	err := w.d.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := w.j.Keep(ctx, tx); err != nil {
			return err
		}
		o := *w.o
		started := o.Status == "queued"
		o.Step, o.Status, o.UpdatedAt = name, "running", w.d.Clock.Now()
		if err := operations.Save(ctx, tx, &o); err != nil {
			return err
		}
		if started {
			return w.d.emitFor(ctx, tx, &o, "operation.started", o.ID, &o)
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.o.Step, w.o.Status, w.resumed = name, "running", false
	w.d.pause(name)
	return nil
}

// fail notes why the order cannot be carried out; its money goes back next.
func (w *carry) fail(ctx context.Context, code string, no *Refusal) error {
	w.o.ErrorCode, w.o.ErrorMessage = &code, &no.Message
	w.d.Log.WarnContext(ctx, "an order failed and is refunded", "operation", w.o.ID, "name", w.o.ResourceName, "code", no.Code, "reason", no.Message)
	return w.step(ctx, stepRefunding)
}

// refund gives the money back and ends the order as failed.
func (w *carry) refund(ctx context.Context) (job.Outcome, error) {
	d, o := w.d, w.o
	err := ErrNothing
	if w.resumed {
		_, err = d.Payments.Refunded(ctx, o.refundKey(), *o.PaymentIntentID)
	}
	if errors.Is(err, ErrNothing) {
		_, err = d.Payments.Refund(ctx, o.refundKey(), *o.PaymentIntentID, o.Wanted.AmountCents)
	}
	d.pause("refund-called")
	said := fmt.Sprintf("%s The charge of %s was refunded.", *o.ErrorMessage, dollars(o.Wanted.AmountCents))
	var no *Refusal
	switch {
	case errors.As(err, &no):
		said = fmt.Sprintf("%s The charge of %s could not be refunded: %s", *o.ErrorMessage, dollars(o.Wanted.AmountCents), no.Message)
		d.Log.ErrorContext(ctx, "a refund was refused; the operator owes it", "operation", o.ID, "payment", *o.PaymentIntentID, "reason", no.Message)
	case err != nil:
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx) error {
		done := o.over()
		now := d.Clock.Now()
		done.Status, done.ErrorMessage, done.CompletedAt, done.UpdatedAt = "failed", &said, &now, now
		if err := operations.Save(ctx, tx, &done); err != nil {
			return err
		}
		if o.Type == registrationType {
			if err := release(ctx, tx, o.OrganizationID, o.DomainID); err != nil {
				return err
			}
		}
		if o.Automatic {
			if err := d.renewalFailed(ctx, tx, o.OrganizationID, o.DomainID, *o.ErrorCode, said); err != nil {
				return err
			}
		}
		return d.emitFor(ctx, tx, o, "operation.failed", o.ID, &done)
	}, nil
}

// succeed ends the order well; the caller has written the domain.
func (w *carry) succeed(ctx context.Context, tx *db.Tx) error {
	done := w.o.over()
	now, kind := w.d.Clock.Now(), "domain"
	done.Status, done.ResourceType, done.ResourceID, done.CompletedAt, done.UpdatedAt = "succeeded", &kind, &done.DomainID, &now, now
	if err := operations.Save(ctx, tx, &done); err != nil {
		return err
	}
	return w.d.emitFor(ctx, tx, &done, "operation.succeeded", done.ID, &done)
}

// over is an order that has ended: it no longer needs to know the person, who
// is a domain contact by now or nobody's business.
func (o *Operation) over() Operation {
	done := *o
	done.Wanted.Registrant, done.Wanted.Label = nil, nil
	return done
}

func dollars(cents int64) string { return fmt.Sprintf("$%d.%02d", cents/100, cents%100) }
