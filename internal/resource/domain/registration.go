package domain

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// Registration is what a domain that was registered here has beside its name.
type Registration struct {
	Registrar           string     `json:"registrar"`
	RegisteredAt        clock.Time `json:"registeredAt"`
	ExpiresAt           clock.Time `json:"expiresAt"`
	AutoRenew           bool       `json:"autoRenew" doc:"renews itself 30 days before expiresAt"`
	TransferLock        bool       `json:"transferLock"`
	WhoisPrivacy        bool       `json:"whoisPrivacy" doc:"always true"`
	ContactID           *id.ID     `json:"contactId" doc:"the domain contact that it is registered for"`
	ContactVerification string     `json:"contactVerification" enum:"pending,verified" doc:"whether the registrant confirmed the email address"`
	Transfer            *Transfer  `json:"transfer" doc:"to another registrar; null when there is none"`
}

// Transfer is a domain's way to another registrar.
type Transfer struct {
	Status      string     `json:"status" enum:"requested,completed"`
	RequestedAt clock.Time `json:"requestedAt"`
}

// registration is the answer's part, nil for a domain without one.
func (v *Domain) registration() *Registration {
	if v.Registrar == nil {
		return nil
	}
	r := &Registration{Registrar: *v.Registrar, RegisteredAt: *v.RegisteredAt, ExpiresAt: *v.ExpiresAt, AutoRenew: *v.AutoRenew, TransferLock: *v.TransferLock,
		WhoisPrivacy: true, ContactID: v.ContactID, ContactVerification: *v.ContactVerification}
	if v.TransferRequestedAt != nil {
		r.Transfer = &Transfer{"requested", *v.TransferRequestedAt}
		if v.Status == "transferred" {
			r.Transfer.Status = "completed"
		}
	}
	return r
}

func (d *Domains) registrationOperations() []*op.Op {
	const ref = `{"id": ` + exampleID + `}`
	return []*op.Op{
		op.Read(op.Spec{Name: "domains.registration.get", Route: "GET /v1/domains/{id}/registration", Summary: "Get the registration of a domain.", Example: ref}, d.getRegistration),
		op.Flow(op.Spec{Name: "domains.registration.update", Route: "PATCH /v1/domains/{id}/registration", Summary: "Turn the transfer lock or the automatic renewal on or off.",
			Errors: []*fault.Kind{TransferInFlight, Unsupported}, Events: []string{"domain.updated"}, Example: `{"id": ` + exampleID + `, "transferLock": false}`}, d.updateRegistration),
		op.Flow(op.Spec{Name: "domains.registration.transfer", Route: "POST /v1/domains/{id}/registration/transfer", Summary: "Ask to leave for another registrar.", Status: 200,
			Description: "The answer shows, once, the code that the other registrar asks for. The transfer ends when the domain has left.",
			Secret:      true, Errors: []*fault.Kind{Locked, SubdomainsExist, TransferInFlight, RenewalInFlight, Unsupported}, Events: []string{"domain.transfer_requested"}, Example: ref}, d.beginTransfer),
		op.Flow(op.Spec{Name: "domains.registration.transfer.cancel", Route: "DELETE /v1/domains/{id}/registration/transfer", Summary: "Withdraw a transfer to another registrar.",
			Errors: []*fault.Kind{Unsupported}, Events: []string{"domain.transfer_canceled"}, Example: ref}, d.cancelTransfer),
	}
}

func notRegistered(v *Domain) error {
	return fault.NotFound.Say("%s has no registration here.", v.Name)
}

func (d *Domains) getRegistration(ctx context.Context, c *op.Call, in domainRef) (*Registration, error) {
	v, err := d.get(ctx, c.Tx, c.Org, in.ID)
	if err == nil && v.Registration == nil {
		err = notRegistered(v)
	}
	if err != nil {
		return nil, err
	}
	return v.Registration, nil
}

type registrationUpdate struct {
	domainRef
	TransferLock op.Maybe[bool] `json:"transferLock"`
	AutoRenew    op.Maybe[bool] `json:"autoRenew"`
}

// updateRegistration tells the registrar of the lock, and then writes. When the
// row changed meanwhile it is done again, so that both end the same.
func (d *Domains) updateRegistration(ctx context.Context, c *op.Call, in registrationUpdate) (*Registration, error) {
	for range 3 {
		r, err := d.turn(ctx, c, in)
		if !errors.Is(err, errChanged) {
			return r, err
		}
	}
	return nil, fault.Unavailable.Say("The registration is being changed by others. Retry in a moment.")
}

func (d *Domains) turn(ctx context.Context, c *op.Call, in registrationUpdate) (*Registration, error) {
	was, err := d.read(ctx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if was.Registration == nil {
		return nil, notRegistered(was)
	}
	if err := staying(was, "registration_update"); err != nil {
		return nil, err
	}
	wanted := *was.Registration
	if !op.Apply(&wanted, &in) {
		return was.Registration, nil
	}
	if in.TransferLock.Set {
		if err := d.registrarFault(d.Registrar.SetLock(ctx, was.Name, in.TransferLock.Value), was); err != nil {
			return nil, err
		}
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*Registration, error) {
		v, err := d.lock(ctx, c.Tx, c.Org, in.ID)
		if err != nil {
			return nil, err
		}
		if err := staying(v, "registration_update"); err != nil {
			return nil, err
		}
		if in.TransferLock.Set {
			if v.UpdatedAt != was.UpdatedAt || *v.TransferLock != *was.TransferLock {
				return nil, errChanged
			}
			v.TransferLock = &in.TransferLock.Value
		}
		if in.AutoRenew.Set {
			v.AutoRenew = &in.AutoRenew.Value
		}
		v.UpdatedAt = c.Now
		if err := d.save(ctx, c.Tx, v); err != nil {
			return nil, err
		}
		return v.Registration, c.Emit("domain.updated", v.ID, v)
	})
}

// staying refuses a domain that has left or is about to.
func staying(v *Domain, operation string) error {
	if v.Registration == nil || v.Status == "transferred" {
		return unsupported(operation, v)
	}
	if v.TransferRequestedAt != nil {
		return TransferInFlight.New()
	}
	return nil
}

// registrarFault is what a caller hears when the registrar did not do it.
func (d *Domains) registrarFault(err error, v *Domain) error {
	var cannot *UnsupportedError
	var no *Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &cannot):
		return unsupported(cannot.Operation, v)
	case errors.As(err, &no):
		f := Unsupported.Say("The registrar refused: %s", no.Message)
		f.Details = map[string]string{"operation": no.Code}
		return f
	}
	return providerFault(err)
}

// TransferStarted is the answer to a transfer, with the code that is shown once.
type TransferStarted struct {
	AuthCode *string  `json:"authCode" doc:"the other registrar asks for it; null when the registrar mails it to the registrant"`
	Transfer Transfer `json:"transfer"`
}

func (d *Domains) beginTransfer(ctx context.Context, c *op.Call, in domainRef) (*TransferStarted, error) {
	var v *Domain
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if v, err = d.get(ctx, tx, c.Org, in.ID); err != nil {
			return err
		}
		return leavable(ctx, tx, v)
	})
	if err != nil {
		return nil, err
	}
	code, err := d.Registrar.BeginTransfer(ctx, v.Name)
	if err := d.registrarFault(err, v); err != nil {
		return nil, err
	}
	out, err := op.Finish(ctx, c, func(ctx context.Context) (*TransferStarted, error) {
		v, err := d.lock(ctx, c.Tx, c.Org, in.ID)
		if err != nil {
			return nil, err
		}
		if err := leavable(ctx, c.Tx, v); err != nil {
			return nil, err
		}
		v.TransferRequestedAt, v.UpdatedAt = &c.Now, c.Now
		if err := d.save(ctx, c.Tx, v); err != nil {
			return nil, err
		}
		out := &TransferStarted{Transfer: *v.Registration.Transfer}
		if code != "" {
			out.AuthCode = &code
		}
		return out, c.Emit("domain.transfer_requested", v.ID, v)
	})
	var f *fault.Fault
	if errors.As(err, &f) && f.Kind != TransferInFlight {
		// Something came in between, a renewal for one: what was begun at the
		// registrar ends, unless it is somebody else's by now.
		if e := d.Registrar.EndTransfer(ctx, v.Name); e != nil {
			d.Log.WarnContext(ctx, "a transfer that was refused is still begun at the registrar", "name", v.Name, "err", e)
		}
	}
	return out, err
}

// leavable refuses a domain that cannot leave for another registrar now.
func leavable(ctx context.Context, tx *db.Tx, v *Domain) error {
	if err := staying(v, "transfer"); err != nil {
		return err
	}
	if *v.TransferLock {
		return Locked.New()
	}
	if err := noSubdomains(ctx, tx, v.OrganizationID, v.ID); err != nil {
		return err
	}
	return noRenewal(ctx, tx, v.OrganizationID, v.ID)
}

func (d *Domains) cancelTransfer(ctx context.Context, c *op.Call, in domainRef) (op.Nothing, error) {
	v, err := d.read(ctx, c.Org, in.ID)
	if err != nil {
		return op.Nothing{}, err
	}
	if v.Registration == nil || v.Registration.Transfer == nil || v.Status == "transferred" {
		return op.Nothing{}, fault.NotFound.Say("No transfer of %s is under way.", v.Name)
	}
	if err := d.registrarFault(d.Registrar.EndTransfer(ctx, v.Name), v); err != nil {
		return op.Nothing{}, err
	}
	return op.Finish(ctx, c, func(ctx context.Context) (op.Nothing, error) {
		v, err := d.lock(ctx, c.Tx, c.Org, in.ID)
		if err != nil || v.TransferRequestedAt == nil || v.Status == "transferred" {
			return op.Nothing{}, err
		}
		v.TransferRequestedAt, v.UpdatedAt = nil, c.Now
		if err := d.save(ctx, c.Tx, v); err != nil {
			return op.Nothing{}, err
		}
		return op.Nothing{}, c.Emit("domain.transfer_canceled", v.ID, v)
	})
}

const watchTransfer = "domain.watch_transfer"

// watchTransfers has every domain that is leaving looked after.
func (d *Domains) watchTransfers(ctx context.Context, tx *db.Tx, _ job.Job, _ struct{}) error {
	rows, err := due(ctx, tx, "d.transfer_requested_at IS NOT NULL AND d.status <> 'transferred' ORDER BY d.transfer_requested_at LIMIT $1", dueBatch)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if _, err := d.Jobs.Enqueue(ctx, tx, watchTransfer, r, job.For(r.Organization), job.Key(string(r.Domain))); err != nil {
			return err
		}
	}
	return nil
}

// watch ends a transfer once the registrar says that the domain left.
func (d *Domains) watch(ctx context.Context, _ job.Job, a domainWork) (job.Outcome, error) {
	v, err := d.read(ctx, a.Organization, a.Domain)
	if fault.Has(err, fault.NotFound) || err == nil && (v.TransferRequestedAt == nil || v.Status == "transferred") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	left, err := d.Registrar.Left(ctx, v.Name)
	if err != nil || !left {
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx) error {
		v, err := d.lock(ctx, tx, a.Organization, a.Domain)
		if err != nil || v.TransferRequestedAt == nil || v.Status == "transferred" {
			return err
		}
		v.Status, v.UpdatedAt = "transferred", d.Clock.Now()
		if err := d.save(ctx, tx, v); err != nil {
			return err
		}
		if err := release(ctx, tx, a.Organization, a.Domain); err != nil {
			return err
		}
		return d.emit(ctx, tx, a.Organization, "domain.transferred", v.ID, v)
	}, nil
}
