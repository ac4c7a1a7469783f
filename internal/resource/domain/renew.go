package domain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

const renewOrder = "domain.renew"

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
		if err := d.within(v, in.PeriodYears); err != nil {
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

// maxYears is how far ahead registries let a registration end.
const maxYears = 10

// within refuses a renewal that no registry takes, before anything is charged.
func (d *Domains) within(v *Domain, years int) error {
	limit := d.Clock.Now().Std().AddDate(maxYears, 0, 0)
	if end := v.ExpiresAt.Std().AddDate(years, 0, 0); end.After(limit) {
		return fault.Field("periodYears", fmt.Sprintf(
			"Too many: the registration would end on %s, and it may end at most %d years from today",
			end.Format(time.DateOnly), maxYears))
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
	v.ExpiresAt, v.RenewalFailedAt, v.ExpiryTold, v.UpdatedAt = &o.Wanted.Held.ExpiresAt, nil, nil, now
	if v.Status == "expired" && *v.ExpiresAt > now {
		v.Status = "active"
	}
	if err := d.save(ctx, tx, v); err != nil {
		return err
	}
	if err := d.emitFor(ctx, tx, o, "domain.renewed", v.ID, v); err != nil {
		return err
	}
	return w.succeed(ctx, tx)
}
