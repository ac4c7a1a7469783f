package domain

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

const (
	renewOrder = "domain.renew"
	autoRenew  = "domain.auto_renew"
)

type renewal struct {
	domainRef
	PeriodYears    int   `json:"periodYears" default:"1" min:"1" max:"10"`
	MaxAmountCents int64 `json:"maxAmountCents" min:"0" doc:"cents of a US dollar; at least the price of the years"`
}

func (d *Domains) renew(ctx context.Context, c *op.Call, in renewal) (*Accepted, error) {
	fresh := func(ctx context.Context) (*Operation, error) {
		v, err := d.read(ctx, c.Org, in.ID)
		if err != nil {
			return nil, err
		}
		if err := renewable(v); err != nil {
			return nil, err
		}
		o, err := d.orderRenewal(ctx, v, in.PeriodYears)
		if err != nil {
			return nil, err
		}
		if o.Wanted.AmountCents > in.MaxAmountCents {
			return nil, exceeds(o.Wanted.AmountCents, in.MaxAmountCents)
		}
		card, err := d.card(ctx, c.Org)
		if err != nil {
			return nil, err
		}
		o.Wanted.pays(card)
		return o, nil
	}
	return d.order(ctx, c, fresh, d.claimRenewal)
}

func (d *Domains) read(ctx context.Context, org, ref id.ID) (v *Domain, err error) {
	err = d.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = d.get(ctx, tx, org, ref)
		return err
	})
	return v, err
}

// renewable refuses a domain that has no registration here, or is leaving.
func renewable(v *Domain) error {
	switch {
	case v.Registration == nil || v.Status == "transferred":
		return unsupported("renew", v)
	case v.TransferRequestedAt != nil:
		return TransferInFlight.New()
	}
	return nil
}

func unsupported(operation string, v *Domain) error {
	f := Unsupported.Say("%s cannot do this: %s.", v.Name, operation)
	if v.Registration == nil {
		f = Unsupported.Say("%s is not registered here.", v.Name)
	} else if v.Status == "transferred" {
		f = Unsupported.Say("%s has left for another registrar.", v.Name)
	}
	f.Details = map[string]string{"operation": operation}
	return f
}

// orderRenewal is an order at the present price, without a card yet.
func (d *Domains) orderRenewal(ctx context.Context, v *Domain, years int) (*Operation, error) {
	offer, err := d.offer(ctx, v.Name)
	if err != nil {
		return nil, err
	}
	w := Order{Years: years, AmountCents: int64(years) * offer.RenewalPrice, Until: *v.ExpiresAt}
	return d.newOrder(v.OrganizationID, renewalType, v.Name, v.ID, w), nil
}

// claimRenewal makes an order the only renewal of its domain.
func (d *Domains) claimRenewal(ctx context.Context, tx *db.Tx, o *Operation) error {
	v, err := d.lock(ctx, tx, o.OrganizationID, o.DomainID)
	if err != nil {
		return err
	}
	if err := renewable(v); err != nil {
		return err
	}
	if err := noRenewal(ctx, tx, o.OrganizationID, o.DomainID); err != nil {
		return err
	}
	o.Wanted.Until = *v.ExpiresAt
	return nil
}

// renewal carries out a paid renewal.
func (d *Domains) renewal(ctx context.Context, j job.Job, a work) (job.Outcome, error) {
	w, err := d.begin(ctx, j, a)
	if w == nil || err != nil {
		return nil, err
	}
	for {
		switch w.o.Step {
		case "":
			err = w.step(ctx, stepRenewing)
		case stepRenewing:
			err = w.renew(ctx)
		case stepRenewed:
			return w.extend, nil
		case stepRefunding:
			return w.refund(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
}

// renew makes the renewal, or finds the one that an earlier run made.
func (w *carry) renew(ctx context.Context) error {
	d, o := w.d, w.o
	var held *Held
	err := ErrNothing
	if w.resumed {
		held, err = d.Registrar.Renewed(ctx, o.workKey(), o.ResourceName, o.Wanted.Until)
	}
	if errors.Is(err, ErrNothing) {
		held, err = d.Registrar.Renew(ctx, o.workKey(), o.ResourceName, o.Wanted.Years, o.Wanted.Until)
	}
	d.pause("renew-called")
	var no *Refusal
	if errors.As(err, &no) {
		return w.fail(ctx, "RENEWAL_FAILED", no)
	}
	if err != nil {
		return err
	}
	o.Wanted.Held = held
	return w.step(ctx, stepRenewed)
}

// extend writes the new end of a registration and ends its order.
func (w *carry) extend(ctx context.Context, tx *db.Tx) error {
	d, o := w.d, w.o
	v, err := d.lock(ctx, tx, o.OrganizationID, o.DomainID)
	if err != nil {
		return err
	}
	now := d.Clock.Now()
	v.ExpiresAt, v.RenewalFailedAt, v.UpdatedAt = &o.Wanted.Held.ExpiresAt, nil, now
	if v.Status == "expired" && *v.ExpiresAt > now {
		v.Status = "active"
	}
	if err := d.save(ctx, tx, v); err != nil {
		return err
	}
	if err := d.emit(ctx, tx, v.OrganizationID, "domain.renewed", v.ID, v); err != nil {
		return err
	}
	return w.succeed(ctx, tx)
}

const (
	renewAhead = 30 * 24 * time.Hour
	renewAgain = 24 * time.Hour
	sweepBatch = 100
	dueBatch   = 1000 // domains that get a job of their own
)

type domainWork struct {
	Organization id.ID `json:"organization"`
	Domain       id.ID `json:"domain"`
}

// due finds the domains that a periodic job has to look at. Organizations that
// are disabled are left alone.
func due(ctx context.Context, tx *db.Tx, where string, args ...any) ([]domainWork, error) {
	type row struct {
		Organization id.ID `db:"organization_id"`
		Domain       id.ID `db:"id"`
	}
	rows, err := db.All[row](ctx, tx, "SELECT d.organization_id, d.id FROM domains d JOIN organizations o ON o.id = d.organization_id AND o.status = 'active' WHERE d.deleted_at IS NULL AND "+where, args...)
	out := make([]domainWork, len(rows))
	for i, r := range rows {
		out[i] = domainWork(r)
	}
	return out, err
}

// renewDue enqueues the renewal of every domain that renews itself and ends soon.
func (d *Domains) renewDue(ctx context.Context, tx *db.Tx, _ job.Job, _ struct{}) error {
	now := d.Clock.Now()
	rows, err := due(ctx, tx, `d.status = 'active' AND d.expires_at <= $1 AND d.auto_renew AND d.transfer_requested_at IS NULL
		AND (d.renewal_failed_at IS NULL OR d.renewal_failed_at <= $2)
		AND NOT EXISTS (SELECT 1 FROM operations p WHERE p.organization_id = d.organization_id AND p.domain_id = d.id
			AND p.type = 'domain_renewal' AND p.status IN ('paying', 'queued', 'running'))
		ORDER BY d.expires_at LIMIT $3`, now.Add(renewAhead), now.Add(-renewAgain), dueBatch)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if _, err := d.Jobs.Enqueue(ctx, tx, autoRenew, r, job.For(r.Organization), job.Key(string(r.Domain))); err != nil {
			return err
		}
	}
	return nil
}

// renewItself orders the renewal of a domain without anybody's asking. When it
// dies after the order is placed, settle goes on.
func (d *Domains) renewItself(ctx context.Context, j job.Job, a domainWork) (job.Outcome, error) {
	v, err := d.read(ctx, a.Organization, a.Domain)
	if fault.Has(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	now := d.Clock.Now()
	if renewable(v) != nil || v.Status != "active" || !*v.AutoRenew || *v.ExpiresAt > now.Add(renewAhead) || v.RenewalFailedAt != nil && *v.RenewalFailedAt > now.Add(-renewAgain) {
		return nil, nil
	}
	o, err := d.orderRenewal(ctx, v, 1)
	if err == nil {
		o.Automatic = true
		card, e := d.card(ctx, a.Organization)
		if err = e; e == nil {
			o.Wanted.pays(card)
		}
	}
	if err != nil {
		return d.notRenewed(a, err)
	}
	err = d.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := j.Keep(ctx, tx); err != nil {
			return err
		}
		if err := d.claimRenewal(ctx, tx, o); err != nil {
			return err
		}
		return d.place(ctx, tx, o)
	})
	var f *fault.Fault
	if errors.As(err, &f) {
		return nil, nil // somebody renews it, or it is leaving
	}
	if err != nil {
		return nil, err
	}
	d.pause("claimed")
	payment, err := d.charge(ctx, o, false)
	var no *Refusal
	switch {
	case errors.As(err, &no):
		return func(ctx context.Context, tx *db.Tx) error { return d.refuse(ctx, tx, o, refused, no.Message) }, nil
	case err != nil:
		d.Log.WarnContext(ctx, "the outcome of a charge is not known", "operation", o.ID, "err", err)
		return nil, nil // settle asks
	}
	d.pause("charged")
	return func(ctx context.Context, tx *db.Tx) error { return d.queueBySystem(ctx, tx, o, payment) }, nil
}

// notRenewed tells why an automatic renewal could not even be ordered. What
// another hour may mend is tried again.
func (d *Domains) notRenewed(a domainWork, err error) (job.Outcome, error) {
	var f *fault.Fault
	if !errors.As(err, &f) || f.Kind == fault.Unavailable {
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx) error {
		return d.renewalFailed(ctx, tx, a.Organization, a.Domain, f.Code, f.Sentence())
	}, nil
}

// NotRenewed is the data of domain.renewal_failed: the domain, and why.
type NotRenewed struct {
	*Domain
	ErrorCode    string `json:"errorCode"`
	ErrorMessage string `json:"errorMessage"`
}

// renewalFailed notes that a domain could not renew itself, and tells.
func (d *Domains) renewalFailed(ctx context.Context, tx *db.Tx, org, ref id.ID, code, reason string) error {
	v, err := d.lock(ctx, tx, org, ref)
	if fault.Has(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	now := d.Clock.Now()
	v.RenewalFailedAt, v.UpdatedAt = &now, now
	if err := d.save(ctx, tx, v); err != nil {
		return err
	}
	return d.emit(ctx, tx, org, "domain.renewal_failed", v.ID, NotRenewed{v, code, reason})
}

// expire marks the registrations whose time is over.
func (d *Domains) expire(ctx context.Context, tx *db.Tx, _ job.Job, _ struct{}) error {
	now := d.Clock.Now()
	type row struct {
		Organization id.ID `db:"organization_id"`
		ID           id.ID `db:"id"`
	}
	rows, err := db.All[row](ctx, tx, `SELECT organization_id, id FROM domains
		WHERE deleted_at IS NULL AND status = 'active' AND expires_at <= $1 ORDER BY expires_at LIMIT $2`, now, sweepBatch)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := d.expireOne(ctx, tx, r.Organization, r.ID, now); err != nil {
			return err
		}
	}
	if len(rows) == sweepBatch {
		return job.Later(0)
	}
	return nil
}

func (d *Domains) expireOne(ctx context.Context, tx *db.Tx, org, ref id.ID, now clock.Time) error {
	v, err := d.lock(ctx, tx, org, ref)
	if err != nil || v.Status != "active" || *v.ExpiresAt > now {
		return err
	}
	v.Status, v.UpdatedAt = "expired", now
	if err := d.save(ctx, tx, v); err != nil {
		return err
	}
	return d.emit(ctx, tx, org, "domain.expired", v.ID, v)
}
