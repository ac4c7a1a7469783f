package domain

import (
	"context"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// How a domain is read, locked, saved and shown, and what the whole package
// shares.

// fillDomains fills in what a domain's answer has besides its columns: the name in its own script,
// the proof, the registration and the state of hosted email.
func (d *Domains) fillDomains(ctx context.Context, tx *db.Tx, org id.ID, rows ...*Domain) error {
	for _, v := range rows {
		v.UnicodeName, v.Verification, v.Registration = toUnicodeName(v.Name), nil, v.buildRegistration()
		if v.VerificationValue != nil {
			v.Verification = &Verification{
				RecordName:  verificationLabel + "." + v.Name,
				RecordValue: *v.VerificationValue,
				VerifiedAt:  v.VerifiedAt,
			}
		}
	}
	return d.Email.fillEmailState(ctx, tx, org, rows)
}

// fillDomainList is fillDomains for a page of a list.
func (d *Domains) fillDomainList(ctx context.Context, c *op.Call, rows []Domain) error {
	each := make([]*Domain, len(rows))
	for i := range rows {
		each[i] = &rows[i]
	}
	return d.fillDomains(ctx, c.Tx, c.Org, each...)
}

// loadDomain reads a domain with everything that its answer shows.
func (d *Domains) loadDomain(ctx context.Context, tx *db.Tx, org, ref id.ID) (*Domain, error) {
	v, err := domains.Get(ctx, tx, org, ref)
	if err != nil {
		return nil, err
	}
	return v, d.fillDomains(ctx, tx, org, v)
}

// readDomain is loadDomain in a snapshot of its own.
func (d *Domains) readDomain(ctx context.Context, org, ref id.ID) (v *Domain, err error) {
	err = d.cfg.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err = d.loadDomain(ctx, tx, org, ref)
		return err
	})
	return v, err
}

// readDomainForCall is loadDomain through a call, so that a rehearsal reads in its own open transaction.
func (d *Domains) readDomainForCall(ctx context.Context, c *op.Call, ref id.ID) (v *Domain, err error) {
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err = d.loadDomain(ctx, tx, c.Org, ref)
		return err
	})
	return v, err
}

// lockDomain locks a domain's row for the rest of the transaction and reads it.
func (d *Domains) lockDomain(ctx context.Context, tx *db.Tx, org, ref id.ID) (*Domain, error) {
	v, err := domains.Lock(ctx, tx, org, ref)
	if err != nil {
		return nil, err
	}
	return v, d.fillDomains(ctx, tx, org, v)
}

// saveDomain writes a domain back, and fills its answer in again from the new columns.
func (d *Domains) saveDomain(ctx context.Context, tx *db.Tx, v *Domain) error {
	if err := domains.Save(ctx, tx, v); err != nil {
		return err
	}
	return d.fillDomains(ctx, tx, v.OrganizationID, v)
}

// newEvent is an event about the domain.
func (v *Domain) newEvent(eventType string) event.Event {
	return event.Event{Organization: v.OrganizationID}.About(eventType, v.ID)
}

// emitSystemEvent writes an event that no caller caused, but the clock or the outside world. v becomes
// its data.
func (d *Domains) emitSystemEvent(ctx context.Context, tx *db.Tx, e event.Event, v any) error {
	data, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	e.At, e.Data = d.cfg.Clock.Now(), data
	return d.cfg.Events.Append(ctx, tx, e.BySystem())
}

// notifyOwners mails a notice to the owners, where Config.Notify is given.
func (d *Domains) notifyOwners(ctx context.Context, tx *db.Tx, org id.ID, n Notice) error {
	if d.cfg.Notify == nil {
		return nil
	}
	return d.cfg.Notify(ctx, tx, org, n)
}

// pauseAt lets a test end the process at this step.
func (d *Domains) pauseAt(step string) {
	if d.cfg.Pause != nil {
		d.cfg.Pause(step)
	}
}

// enqueueBatch is how many domains a periodic job enqueues jobs for in one run.
const enqueueBatch = 1000

// findDueDomains finds the domains that meet the SQL condition where, for a periodic job. Domains of
// disabled organizations are left out.
func findDueDomains(ctx context.Context, tx *db.Tx, where string, args ...any) ([]domainArgs, error) {
	return db.QueryAll[domainArgs](ctx, tx, `
		SELECT d.organization_id, d.id
		FROM domains d
		WHERE `+account.ActiveOrganizationSQL("d.organization_id")+` AND d.deleted_at IS NULL AND `+where, args...)
}

// takeSlot takes one of the slots for requests that wait for a provider. When none is free it
// refuses at once, because a queue of waiting requests would only grow.
func takeSlot(places chan struct{}) (leave func(), err error) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	default:
		return nil, fault.Unavailable.Say("Too many requests wait for the registrar. Retry in a moment.")
	}
}
