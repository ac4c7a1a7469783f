package domain

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
)

func (d *Domains) registrationOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{
			Name:      "domains.registration.get",
			NounWords: "expire, run out, expiry, whois, lock, registrar, end",
			Route:     "GET /v1/domains/{id}/registration",
			Summary:   "Get the registration of a domain.",
			Example:   `{"id": ` + exampleID + `}`,
		}, d.getRegistration),
		op.WithQuote(op.Flow(op.Spec{
			Name:         "domains.registration.update",
			Words:        "by itself, automatic, auto-renew, lock, unlock, renew automatically",
			Rehearses:    true,
			Route:        "PATCH /v1/domains/{id}/registration",
			Summary:      "Turn the transfer lock or the automatic renewal on or off.",
			SpendsIfTrue: "autoRenew",
			Errors:       []*fault.Kind{TransferInFlight, Unsupported},
			Events:       []string{"domain.updated"},
			Example:      `{"id": ` + exampleID + `, "transferLock": false}`,
		}, d.updateRegistration), func(ctx context.Context, c *op.Call, in registrationUpdate) (any, error) {
			v, err := d.readDomainForCall(ctx, c, in.ID)
			if err != nil || !in.AutoRenew.Value {
				return nil, err
			}
			return d.fetchOffer(ctx, v.Name)
		}),
	}
}

func (d *Domains) getRegistration(ctx context.Context, c *op.Call, in domainRef) (*Registration, error) {
	v, err := d.loadDomain(ctx, c.Tx, c.Org, in.ID)
	if err == nil && v.Registration == nil {
		err = notRegisteredFault(v)
	}
	if err != nil {
		return nil, err
	}
	return v.Registration, nil
}

type registrationUpdate struct {
	domainRef
	TransferLock op.Optional[bool] `json:"transferLock"`
	AutoRenew    op.Optional[bool] `json:"autoRenew"`
}

// updateRegistration sets the lock at the registrar, and then writes. If the row changed in
// between it starts over, so that the registrar and the row end up the same.
func (d *Domains) updateRegistration(ctx context.Context, c *op.Call, in registrationUpdate) (*Registration, error) {
	if err := d.announceRenewalCharge(ctx, c, in); err != nil {
		return nil, err
	}
	for range 3 {
		r, err := d.tryUpdateRegistration(ctx, c, in)
		if !errors.Is(err, errChangedMeanwhile) {
			return r, err
		}
	}
	return nil, fault.Unavailable.Say("The registration is being changed by others. Retry in a moment.")
}

// tryUpdateRegistration is one attempt of updateRegistration. errChangedMeanwhile means that the row
// changed between the registrar's answer and the write.
func (d *Domains) tryUpdateRegistration(ctx context.Context, c *op.Call, in registrationUpdate) (*Registration, error) {
	was, err := d.readDomainForCall(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if was.Registration == nil {
		return nil, notRegisteredFault(was)
	}
	if err := checkNotLeaving(was, "registration_update"); err != nil {
		return nil, err
	}
	wanted := *was.Registration
	if !op.Apply(&wanted, &in) {
		return was.Registration, nil
	}
	if in.TransferLock.Set && !in.TransferLock.Value {
		if err := c.AnnounceEvent(ctx, "domain.unlocked", was.ID); err != nil {
			return nil, err
		}
	}
	if in.TransferLock.Set && !c.Rehearsing() {
		err := d.cfg.Registrar.SetTransferLock(ctx, was.Name, in.TransferLock.Value)
		if err := registrarFault(err, was); err != nil {
			return nil, err
		}
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*Registration, error) {
		v, err := d.lockDomain(ctx, c.Tx, c.Org, in.ID)
		if err != nil {
			return nil, err
		}
		if err := checkNotLeaving(v, "registration_update"); err != nil {
			return nil, err
		}
		if in.TransferLock.Set {
			if v.UpdatedAt != was.UpdatedAt || *v.TransferLock != *was.TransferLock {
				return nil, errChangedMeanwhile
			}
			v.TransferLock = &in.TransferLock.Value
		}
		if in.AutoRenew.Set {
			v.AutoRenew = &in.AutoRenew.Value
		}
		v.UpdatedAt = c.Now
		if err := d.saveDomain(ctx, c.Tx, v); err != nil {
			return nil, err
		}
		return v.Registration, c.Emit("domain.updated", v.ID, v)
	})
}

// announceRenewalCharge announces what automatic renewal will charge each year, when an agent or a
// rehearsal turns it on. It counts against the agent's limit now, because no caller is there
// when the money is taken.
func (d *Domains) announceRenewalCharge(ctx context.Context, c *op.Call, in registrationUpdate) error {
	if !in.AutoRenew.Value || c.Caller.Agent == "" && !c.Rehearsing() {
		return nil
	}
	was, err := d.readDomainForCall(ctx, c, in.ID)
	if err != nil || was.Registration == nil || *was.AutoRenew || checkNotLeaving(was, "registration_update") != nil {
		return err // nothing to charge; tryUpdateRegistration refuses what is wrong
	}
	if !c.Rehearsing() {
		leave, err := takeSlot(d.querySlots)
		if err != nil {
			return err
		}
		defer leave()
	}
	offer, err := d.offerForCall(ctx, c, was.Name)
	if err != nil {
		return err
	}
	return c.Write(ctx, func(_ context.Context, tx *db.Tx) error {
		tx.AddToTrace(op.Charge{What: "the yearly renewal of " + was.Name, Card: "the default card",
			AmountCents: offer.RenewalPrice, Currency: currency})
		return nil
	})
}

// registrarFault turns the registrar's error into what the caller sees.
func registrarFault(err error, v *Domain) error {
	var cannot *UnsupportedError
	var no *Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &cannot):
		return unsupportedFault(cannot.Operation, v)
	case errors.As(err, &no):
		f := Unsupported.Say("The registrar refused: %s", no.Message)
		f.Details = map[string]string{"operation": no.Code}
		return f
	}
	return providerFault(err)
}
