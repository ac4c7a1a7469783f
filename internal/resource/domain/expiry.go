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
)

// What the clock does: registrations renew themselves, or end.

const autoRenew = "domain.auto_renew"

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
	first := v.RenewalFailedAt == nil
	v.RenewalFailedAt, v.UpdatedAt = &now, now
	if v.ExpiryTold == nil { // this tells of it too
		told := firstNotice
		v.ExpiryTold = &told
	}
	if err := d.save(ctx, tx, v); err != nil {
		return err
	}
	// Further failures are told by the notices of what expires.
	if first {
		if err := d.tell(ctx, tx, org, renewalFailed(v, reason)); err != nil {
			return err
		}
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
