package domain

import (
	"context"
	"errors"
	"slices"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

const registerOrder = "domain.register"

type registration struct {
	Domain         string           `json:"domain" min:"1" max:"1000" doc:"one label and an ending that is offered"`
	PeriodYears    int              `json:"periodYears" default:"1" min:"1" max:"10"`
	MaxAmountCents int64            `json:"maxAmountCents" min:"0" doc:"cents of a US dollar; at least the quote's amountCents"`
	AutoRenew      bool             `json:"autoRenew" default:"true"`
	Contact        *registrantInput `json:"contact" doc:"the registrant; or give contactId"`
	ContactID      *id.ID           `json:"contactId" ref:"domains" doc:"a saved domain contact, in place of contact"`

	ascii string
}

type registrantInput struct {
	Registrant
	Label *string `json:"label" doc:"kept here alone"`
}

func (in *registration) Prepare(context.Context, *op.Call) error {
	var tree *fault.Tree
	name, issue := registrable(in.Domain)
	if issue != "" {
		tree = tree.At([]any{"domain"}, issue)
	}
	in.ascii = name
	switch {
	case in.Contact == nil && in.ContactID == nil:
		tree = tree.At([]any{"contact"}, "Required")
	case in.Contact != nil && in.ContactID != nil:
		tree = tree.At([]any{"contactId"}, "Give contact or contactId, not both")
	case in.Contact != nil:
		tree = tree.Set("contact", in.Contact.readPhone(in.Contact.issues()))
	}
	return tree.Fault(fault.Invalid)
}

// register orders a name. Its checks are in the order that callers rely on.
func (d *Domains) register(ctx context.Context, c *op.Call, in registration) (*Accepted, error) {
	var former *rival
	fresh := func(ctx context.Context) (_ *Operation, err error) {
		w := Order{Years: in.PeriodYears, AutoRenew: in.AutoRenew, ContactID: in.ContactID}
		if in.Contact != nil {
			w.Registrant, w.Label = &in.Contact.Registrant, in.Contact.Label
		} else if err := d.savedRegistrant(ctx, c, &w); err != nil {
			return nil, err
		}
		if err := organizationRule(in.ascii, w.Registrant); err != nil {
			return nil, err
		}
		offer, err := d.offer(ctx, in.ascii)
		if err != nil {
			return nil, err
		}
		switch w.AmountCents = offer.total(in.PeriodYears); {
		case !offer.Available:
			return nil, Unavailable.Say("%s is taken.", in.ascii)
		case offer.Premium:
			return nil, PremiumUnsupported.New()
		}
		err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) error { return unowned(ctx, tx, c.Org, in.ascii) })
		if err != nil {
			return nil, err
		}
		if former, err = d.formerHolder(ctx, c.Org, in.ascii); err != nil {
			return nil, err
		}
		if w.AmountCents > in.MaxAmountCents {
			return nil, exceeds(w.AmountCents, in.MaxAmountCents)
		}
		card, err := d.card(ctx, c.Org)
		if err != nil {
			return nil, err
		}
		w.pays(card)
		return d.newOrder(c.Org, registrationType, in.ascii, id.New(), w), nil
	}
	return d.order(ctx, c, fresh, func(ctx context.Context, tx *db.Tx, o *Operation) error {
		// The organization is the root, as it is for adding a domain by hand.
		if err := db.LockOrganization(ctx, tx, c.Org); err != nil {
			return err
		}
		if err := unowned(ctx, tx, c.Org, o.ResourceName); err != nil {
			return err
		}
		return d.take(ctx, tx, c.Org, o.ResourceName, o.DomainID, former)
	})
}

// formerHolder is who proved a name here that can be registered now, and whose
// proof is gone with its registration elsewhere.
func (d *Domains) formerHolder(ctx context.Context, org id.ID, name string) (*rival, error) {
	var h *holdRow
	err := d.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		h, err = heldNow(ctx, tx, name)
		return err
	})
	if err != nil || h == nil {
		return nil, err
	}
	if h.Org == org {
		return nil, held(name)
	}
	l := d.lookFor(ctx, name)
	if !l.answered() {
		return nil, held(name)
	}
	r, err := d.rivalOf(ctx, org, name, l.seen)
	if r != nil {
		r.ordered = true
	}
	return r, err
}

// unowned refuses a name that the organization has already.
func unowned(ctx context.Context, tx *db.Tx, org id.ID, name string) error {
	rows, err := db.All[id.ID](ctx, tx, "SELECT id FROM domains WHERE organization_id = $1 AND name = $2 AND deleted_at IS NULL", org, name)
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		f := Exists.Say("The organization has %s as an external domain. Delete that first.", name)
		f.Details = map[string]id.ID{"domainId": rows[0]}
		return f
	}
	return nil
}

func exceeds(amount, limit int64) error {
	f := PriceExceeds.Say("The price is %s, above the maximum of %s. Nothing was charged.", dollars(amount), dollars(limit))
	f.Details = map[string]int64{"amountCents": amount, "maxAmountCents": limit}
	return f
}

// savedRegistrant fills in the contact that an order names.
func (d *Domains) savedRegistrant(ctx context.Context, c *op.Call, w *Order) error {
	return c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err := domainContacts.Get(ctx, tx, c.Org, *w.ContactID)
		if fault.Has(err, fault.NotFound) {
			return op.Unseen("contactId")
		}
		w.Registrant = &v.Registrant
		return err
	})
}

// needsOrganization are the endings whose registries take companies only.
var needsOrganization = []string{"ai", "co", "io", "me"}

func organizationRule(name string, r *Registrant) error {
	if slices.Contains(needsOrganization, ending(name)) && deref(r.OrganizationName) == "" {
		return OrganizationRequired.Say("Names under .%s need the contact's organizationName and jobTitle.", ending(name))
	}
	return nil
}

// provision registers a paid name and makes it a domain.
func (d *Domains) provision(ctx context.Context, j job.Job, a work) (job.Outcome, error) {
	w, err := d.begin(ctx, j, a)
	if w == nil || err != nil {
		return nil, err
	}
	o := w.o
	for {
		switch o.Step {
		case "":
			err = w.step(ctx, stepRegistering)
		case stepRegistering:
			err = w.register(ctx)
		case stepRegistered:
			if err = d.emptyFor(ctx, o.ResourceName, o.DomainID); err == nil {
				err = w.step(ctx, stepZone)
			}
		case stepZone:
			if err = d.Email.Provision(ctx, o.OrganizationID, o.DomainID, o.ResourceName); err == nil {
				err = w.step(ctx, stepRecords)
			}
		case stepRecords:
			err = w.turnLockOn(ctx)
		case stepLocked:
			return w.add, nil
		case stepRefunding:
			return w.refund(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
}

// register makes the registration, or finds the one that an earlier run made.
func (w *carry) register(ctx context.Context) error {
	d, o := w.d, w.o
	var held *Held
	err := ErrNothing
	a := Application{Name: o.ResourceName, Years: o.Wanted.Years, Registrant: *o.Wanted.Registrant}
	if w.resumed {
		held, err = d.Registrar.Registered(ctx, o.workKey(), a)
	}
	if errors.Is(err, ErrNothing) {
		held, err = d.Registrar.Register(ctx, o.workKey(), a)
	}
	d.pause("register-called")
	var no *Refusal
	if errors.As(err, &no) {
		return w.fail(ctx, "REGISTRATION_FAILED", no)
	}
	if err != nil {
		return err
	}
	o.Wanted.Held = held
	return w.step(ctx, stepRegistered)
}

func (w *carry) turnLockOn(ctx context.Context) error {
	err := w.d.Registrar.SetLock(ctx, w.o.ResourceName, true)
	var no *Refusal
	var cannot *UnsupportedError
	if err != nil && !errors.As(err, &no) && !errors.As(err, &cannot) {
		return err
	}
	w.o.Wanted.Locked = err == nil // some registries know no lock
	return w.step(ctx, stepLocked)
}

// add writes the domain of a registration and ends its order.
func (w *carry) add(ctx context.Context, tx *db.Tx) error {
	d, o := w.d, w.o
	now := d.Clock.Now()
	record := op.Record{ID: o.DomainID, CreatedAt: now, UpdatedAt: now, OrganizationID: o.OrganizationID}
	contact := o.Wanted.ContactID
	if contact != nil {
		// It may have been deleted or changed meanwhile; the registrant that
		// the registrar has is the one of the order.
		v, err := domainContacts.Lock(ctx, tx, o.OrganizationID, *contact)
		switch {
		case fault.Has(err, fault.NotFound), err == nil && !same(v.Registrant, *o.Wanted.Registrant):
			contact = nil
		case err != nil:
			return err
		}
	}
	if contact == nil {
		v := &DomainContact{Record: record, Registrant: *o.Wanted.Registrant, Label: o.Wanted.Label}
		v.ID = id.New()
		if err := domainContacts.Insert(ctx, tx, v); err != nil {
			return err
		}
		contact = &v.ID
		if err := d.emitFor(ctx, tx, o, "domain_contact.created", v.ID, v); err != nil {
			return err
		}
	}
	registrar, verification := d.Registrar.Name(), "pending"
	held := o.Wanted.Held
	if held.Verified {
		verification = "verified"
	}
	v := &Domain{Record: record, Name: o.ResourceName, Kind: "apex", Purpose: "general", Status: "active", Source: "registered",
		Registrar: &registrar, RegisteredAt: &held.RegisteredAt, ExpiresAt: &held.ExpiresAt, AutoRenew: &o.Wanted.AutoRenew,
		TransferLock: &o.Wanted.Locked, ContactID: contact, ContactVerification: &verification}
	if err := domains.Insert(ctx, tx, v); err != nil {
		return err
	}
	if err := ready(ctx, tx, v.OrganizationID, v.Name, v.ID); err != nil {
		return err
	}
	if err := d.outrank(ctx, tx, v.OrganizationID, v.Name); err != nil {
		return err
	}
	if err := d.show(ctx, tx, v.OrganizationID, v); err != nil {
		return err
	}
	if err := d.emitFor(ctx, tx, o, "domain.created", v.ID, v); err != nil {
		return err
	}
	return w.succeed(ctx, tx)
}
