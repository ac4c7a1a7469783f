package domain

import (
	"context"
	"errors"
	"fmt"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// A registration, from the request to the domain. registerDomain checks and
// places the order, and pays for it; carryOutRegistration is the job that
// follows.

func (d *Domains) registerOperations() []*op.Op {
	return []*op.Op{
		op.WithQuote(op.Flow(op.Spec{
			Name:      "domains.register",
			Words:     "buy, purchase, order, get domain",
			Rehearses: true,
			Route:     "POST /v1/domain-registrations",
			Summary:   "Register a domain and charge the default card.",
			Description: "The registration continues after the answer; follow it at /v1/operations/{operationId}. " +
				"Availability and price are checked again before the charge. WHOIS privacy is always on, and the " +
				"transfer lock is turned on. A registration that fails is refunded.",
			Status:      202,
			Resource:    "domains",
			Outward:     true,
			Spends:      true,
			KeyRequired: true,
			Reads:       true,
			Gate:        agreementGate,
			Errors:      paymentErrors(OrganizationRequired, Unavailable, Exists, PremiumUnsupported),
			Events:      []string{"operation.created"},
			Example: `{"domain": "analytical-engines.com", "periodYears": 1, "maxAmountCents": 1200, ` +
				`"contact": {` + exampleRegistrant + `}}`,
		}, d.registerDomain), func(ctx context.Context, _ *op.Call, in registration) (any, error) {
			return d.fetchOffer(ctx, in.ascii)
		}),
	}
}

type registration struct {
	Domain         string           `json:"domain" min:"1" max:"1000" doc:"one label and an ending that is offered"`
	PeriodYears    int              `json:"periodYears" default:"1" min:"1" max:"10"`
	MaxAmountCents int64            `json:"maxAmountCents" min:"0" doc:"cents of a US dollar; at least the quote's"`
	AutoRenew      bool             `json:"autoRenew" default:"true"`
	Contact        *registrantInput `json:"contact" doc:"the registrant; or give contactId"`
	ContactID      *id.ID           `json:"contactId" ref:"domains" doc:"a saved domain contact, in place of contact"`

	ascii string
}

func (in *registration) Prepare(context.Context, *op.Call) error {
	var tree *fault.Tree
	name, issue := parseRegistrableName(in.Domain)
	if issue != "" {
		tree = tree.At([]any{"domain"}, issue)
	}
	in.ascii = name
	switch {
	case in.Contact == nil && in.ContactID == nil:
		tree = tree.At([]any{"contact"}, fault.MissingIssue)
	case in.Contact != nil && in.ContactID != nil:
		tree = tree.At([]any{"contactId"}, "Give contact or contactId, not both")
	case in.Contact != nil:
		tree = tree.SetField("contact", in.Contact.normalizePhone(in.Contact.fieldIssues()))
	}
	return tree.Fault(fault.Invalid)
}

func (d *Domains) registerDomain(ctx context.Context, c *op.Call, in registration) (*Accepted, error) {
	o, leave, err := d.resumeOrder(ctx, c)
	if err != nil {
		return nil, err
	}
	defer leave()
	resumed := o != nil
	if !resumed {
		if o, err = d.orderRegistration(ctx, c, &in); err != nil {
			return nil, err
		}
	}
	return d.payOrder(ctx, c, o, resumed)
}

// orderRegistration checks a registration and places its order. The checks are
// in the order that callers rely on.
func (d *Domains) orderRegistration(ctx context.Context, c *op.Call, in *registration) (*Operation, error) {
	w := Order{Years: in.PeriodYears, AutoRenew: in.AutoRenew, ContactID: in.ContactID}
	if in.Contact != nil {
		w.Registrant, w.Label = &in.Contact.Registrant, in.Contact.Label
	} else if err := d.loadSavedRegistrant(ctx, c, &w); err != nil {
		return nil, err
	}
	if err := checkOrganization(in.ascii, w.Registrant); err != nil {
		return nil, err
	}
	offer, err := d.offerForCall(ctx, c, in.ascii)
	if err != nil {
		return nil, err
	}
	switch w.AmountCents = offer.registrationTotal(in.PeriodYears); {
	case !offer.Available:
		return nil, Unavailable.Say("%s is taken.", in.ascii)
	case offer.Premium:
		return nil, PremiumUnsupported.New()
	}
	former, err := d.findFormerHolder(ctx, c, in.ascii)
	if err != nil {
		return nil, err
	}
	if err := checkPriceLimit(c.Caller, w.AmountCents, in.MaxAmountCents); err != nil {
		return nil, err
	}
	if err := d.chooseCard(ctx, c.Read, c.Org, &w); err != nil {
		return nil, err
	}
	o := d.newOrder(c.Org, registrationOrder, in.ascii, id.New(), w)
	return o, d.placeOrder(ctx, c, o, func(ctx context.Context, tx *db.Tx) error {
		// As in createDomain, the lock makes the check of the organization's names hold.
		if err := db.LockOrganization(ctx, tx, c.Org); err != nil {
			return err
		}
		if err := checkNotOwned(ctx, tx, c.Org, o.ResourceName); err != nil {
			return err
		}
		return d.takeName(ctx, tx, namedDomain{c.Org, o.DomainID, o.ResourceName}, former)
	})
}

// loadSavedRegistrant fills in the registrant of an order that names a saved domain contact.
func (d *Domains) loadSavedRegistrant(ctx context.Context, c *op.Call, w *Order) error {
	return c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err := domainContacts.Get(ctx, tx, c.Org, *w.ContactID)
		if fault.IsKind(err, fault.NotFound) {
			return op.NoSuchReference("contactId")
		}
		w.Registrant = &v.Registrant
		return err
	})
}

// findFormerHolder finds the organization that holds a name which the registrar offers again: its
// registration elsewhere ended, and the proof with it. The order takes the name from it. nil
// means that nobody holds the name. It refuses a name that the caller's organization has, or
// whose holder keeps it.
func (d *Domains) findFormerHolder(ctx context.Context, c *op.Call, name string) (*displacedHolder, error) {
	var h *nameHolder
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		err := checkNotOwned(ctx, tx, c.Org, name)
		if err == nil {
			h, err = findNameHolder(ctx, tx, name)
		}
		return err
	})
	if err != nil || h == nil {
		return nil, err
	}
	if h.Org == c.Org {
		return nil, nameTakenFault(name)
	}
	if c.Rehearsing() { // only the DNS knows whether the proof still stands, and a rehearsal asks nobody
		return nil, nameTakenFault(name)
	}
	l := d.lookUpProof(ctx, name)
	if !l.isConclusive() {
		return nil, nameTakenFault(name)
	}
	r, err := d.challengeHolder(ctx, h, name, l.seen)
	if r != nil {
		r.ordered = true
	}
	return r, err
}

// checkNotOwned refuses a name that the organization already has as a domain.
func checkNotOwned(ctx context.Context, tx *db.Tx, org id.ID, name string) error {
	rows, err := db.QueryAll[id.ID](ctx, tx, `
		SELECT id FROM domains
		WHERE organization_id = $1 AND name = $2 AND deleted_at IS NULL`, org, name)
	if err != nil || len(rows) == 0 {
		return err
	}
	f := Exists.Say("The organization has %s as an external domain. Delete that first.", name)
	f.Details = map[string]id.ID{"domainId": rows[0]}
	return f
}

// carryOutRegistration is the job that registers a paid name and makes it a domain. Each step
// is saved, so a run that follows a dead one goes on where that one stopped.
func (d *Domains) carryOutRegistration(ctx context.Context, j job.Job, a orderArgs) (job.Outcome, error) {
	r, err := d.startOrderRun(ctx, j, a)
	if r == nil || err != nil {
		return nil, err
	}
	for err == nil {
		switch r.o.Step {
		case "":
			err = r.saveStep(ctx, stepRegistering)
		case stepRegistering:
			err = r.registerName(ctx)
		case stepRegistered:
			err = r.createZone(ctx)
		case stepZone:
			err = r.publishEmail(ctx)
		case stepRecords:
			err = r.lockTransfers(ctx)
		case stepLocked:
			return r.completeRegistration, nil
		case stepRefunding:
			return r.refundOrder(ctx)
		default:
			err = fmt.Errorf("domain: a registration has no step %s", r.o.Step)
		}
	}
	return nil, err
}

// registerName makes the registration, or finds the one that an earlier run made.
func (r *orderRun) registerName(ctx context.Context) error {
	o, registrar := r.o, r.d.cfg.Registrar
	a := RegistrationRequest{Name: o.ResourceName, Years: o.Wanted.Years, Registrant: *o.Wanted.Registrant}
	var held *HeldRegistration
	err := ErrUnknownToProvider
	if r.resumed {
		held, err = registrar.Registered(ctx, o.workKey(), a)
	}
	if errors.Is(err, ErrUnknownToProvider) {
		held, err = registrar.Register(ctx, o.workKey(), a)
	}
	r.d.pauseAt("register-called")
	return r.saveRegistrarAnswer(ctx, held, err, stepRegistered, "REGISTRATION_FAILED")
}

// createZone empties the zone of the name, which a former holder may have left.
func (r *orderRun) createZone(ctx context.Context) error {
	if err := r.d.emptyZoneForHolder(ctx, r.o.ResourceName, r.o.DomainID); err != nil {
		return err
	}
	return r.saveStep(ctx, stepZone)
}

// publishEmail turns hosted email on: every domain that is registered here has it from the
// start.
func (r *orderRun) publishEmail(ctx context.Context) error {
	if err := r.d.Email.provisionRecords(ctx, r.o.OrganizationID, r.o.DomainID, r.o.ResourceName); err != nil {
		return err
	}
	return r.saveStep(ctx, stepRecords)
}

// lockTransfers turns the transfer lock on. A registrar that cannot is no failure.
func (r *orderRun) lockTransfers(ctx context.Context) error {
	err := r.d.cfg.Registrar.SetTransferLock(ctx, r.o.ResourceName, true)
	var no *Refusal
	var cannot *UnsupportedError
	if err != nil && !errors.As(err, &no) && !errors.As(err, &cannot) {
		return err
	}
	r.o.Wanted.Locked = err == nil // some registries have no lock
	return r.saveStep(ctx, stepLocked)
}

// completeRegistration writes the domain of a registration and ends its order.
func (r *orderRun) completeRegistration(ctx context.Context, tx *db.Tx) error {
	d, o, held := r.d, r.o, r.o.Wanted.Held
	contact, err := r.registrantContact(ctx, tx)
	if err != nil {
		return err
	}
	registrar, verification := d.cfg.Registrar.Name(), ContactPending
	if held.Verified {
		verification = ContactVerified
	}
	v := &Domain{
		Record:              r.newRecord(o.DomainID),
		Name:                o.ResourceName,
		Kind:                KindApex,
		Purpose:             PurposeGeneral,
		Status:              StatusActive,
		Source:              SourceRegistered,
		Registrar:           &registrar,
		RegisteredAt:        &held.RegisteredAt,
		ExpiresAt:           &held.ExpiresAt,
		AutoRenew:           &o.Wanted.AutoRenew,
		TransferLock:        &o.Wanted.Locked,
		ContactID:           &contact,
		ContactVerification: &verification,
	}
	if err := domains.Insert(ctx, tx, v); err != nil {
		return err
	}
	if err := markZoneReady(ctx, tx, namedDomain{v.OrganizationID, v.ID, v.Name}); err != nil {
		return err
	}
	if _, _, err := confirmEmail(ctx, tx, v.OrganizationID, v.ID); err != nil {
		return err
	}
	if err := d.takeNamesBelow(ctx, tx, v.OrganizationID, v.Name); err != nil {
		return err
	}
	if err := d.fillDomains(ctx, tx, v.OrganizationID, v); err != nil {
		return err
	}
	if err := d.emitSystemEvent(ctx, tx, o.newEvent("domain.created", v.ID), v); err != nil {
		return err
	}
	return r.succeedOrder(ctx, tx)
}

// registrantContact finds the domain contact of the registrant that the registrar has: the saved one
// that the order names, or a new one if that was deleted or changed meanwhile.
func (r *orderRun) registrantContact(ctx context.Context, tx *db.Tx) (id.ID, error) {
	o := r.o
	if saved := o.Wanted.ContactID; saved != nil {
		v, err := domainContacts.Lock(ctx, tx, o.OrganizationID, *saved)
		if err != nil && !fault.IsKind(err, fault.NotFound) {
			return "", err
		}
		if err == nil && sameRegistrant(v.Registrant, *o.Wanted.Registrant) {
			return *saved, nil
		}
	}
	v := &DomainContact{Record: r.newRecord(id.New()),
		contactFields: contactFields{o.Wanted.Label, *o.Wanted.Registrant}}
	if err := domainContacts.Insert(ctx, tx, v); err != nil {
		return "", err
	}
	return v.ID, r.d.emitSystemEvent(ctx, tx, o.newEvent("domain_contact.created", v.ID), v)
}

func (r *orderRun) newRecord(ref id.ID) op.Record {
	now := r.d.cfg.Clock.Now()
	return op.Record{ID: ref, CreatedAt: now, UpdatedAt: now, OrganizationID: r.o.OrganizationID}
}
