package domain

import (
	"context"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
)

// How a registration ends, and what its owners are told before that.

// sweepBatch is how many domains a periodic job changes in one transaction.
const sweepBatch = 100

// expireDomains marks the registrations that have ended.
func (d *Domains) expireDomains(ctx context.Context, tx *db.Tx, _ job.Job, _ struct{}) error {
	now := d.cfg.Clock.Now()
	rows, err := db.QueryAll[domainArgs](ctx, tx, `
		SELECT organization_id, id FROM domains
		WHERE deleted_at IS NULL AND status = 'active' AND expires_at <= $1
		ORDER BY expires_at LIMIT $2`, now, sweepBatch)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := d.expireDomain(ctx, tx, r.Organization, r.Domain, now); err != nil {
			return err
		}
	}
	if len(rows) == sweepBatch {
		return job.RunAgainAfter(0)
	}
	return nil
}

// expireDomain marks one registration, unless it was renewed since it was found.
func (d *Domains) expireDomain(ctx context.Context, tx *db.Tx, org, ref id.ID, now clock.Time) error {
	v, err := d.lockDomain(ctx, tx, org, ref)
	if err != nil || v.Status != StatusActive || *v.ExpiresAt > now {
		return err
	}
	v.Status, v.UpdatedAt = StatusExpired, now
	if err := d.saveDomain(ctx, tx, v); err != nil {
		return err
	}
	return d.emitSystemEvent(ctx, tx, v.newEvent("domain.expired"), v)
}

// How many days before the end of a registration its owners get a notice.
const (
	firstNoticeDays  = 30
	secondNoticeDays = 7
	lastNoticeDays   = 1
)

// notifyExpiring notifies the owners of domains that end soon and are not renewed
// automatically, once for each of these days. The CASE in the condition repeats the numbers of
// days.
func (d *Domains) notifyExpiring(ctx context.Context, tx *db.Tx, _ job.Job, _ struct{}) error {
	now := d.cfg.Clock.Now()
	ahead := func(days int) clock.Time { return now.Add(time.Duration(days) * 24 * time.Hour) }
	rows, err := findDueDomains(ctx, tx, `d.status = 'active' AND d.expires_at <= $1 AND d.transfer_requested_at IS NULL
		AND (NOT d.auto_renew OR d.renewal_failed_at IS NOT NULL)
		AND (d.expiry_told IS NULL OR d.expiry_told >
			CASE WHEN d.expires_at <= $3 THEN 1 WHEN d.expires_at <= $2 THEN 7 ELSE 30 END)
		ORDER BY d.expires_at LIMIT $4`, ahead(firstNoticeDays), ahead(secondNoticeDays), ahead(lastNoticeDays),
		sweepBatch)
	if err != nil {
		return err
	}
	for _, r := range rows {
		v, err := d.lockDomain(ctx, tx, r.Organization, r.Domain)
		if err != nil {
			return err
		}
		days := firstNoticeDays
		if *v.ExpiresAt <= ahead(secondNoticeDays) {
			days = secondNoticeDays
		}
		if *v.ExpiresAt <= ahead(lastNoticeDays) {
			days = lastNoticeDays
		}
		v.ExpiryNoticed = &days
		if err := domains.Save(ctx, tx, v); err != nil {
			return err
		}
		if err := d.notifyOwners(ctx, tx, r.Organization, expiringNotice(v)); err != nil {
			return err
		}
	}
	if len(rows) == sweepBatch {
		return job.RunAgainAfter(0)
	}
	return nil
}

// RenewalFailure is the data of domain.renewal_failed: the domain, and why.
type RenewalFailure struct {
	*Domain
	ErrorCode    string `json:"errorCode"`
	ErrorMessage string `json:"errorMessage"`
}

// recordRenewalFailure records that an automatic renewal failed, and notifies the
// domain's owners.
func (d *Domains) recordRenewalFailure(ctx context.Context, tx *db.Tx, a domainArgs, code, reason string) error {
	v, err := d.lockDomain(ctx, tx, a.Organization, a.Domain)
	if fault.IsKind(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	now := d.cfg.Clock.Now()
	first := v.RenewalFailedAt == nil
	v.RenewalFailedAt, v.UpdatedAt = &now, now
	if v.ExpiryNoticed == nil { // the notice below counts as the first one about the end
		days := firstNoticeDays
		v.ExpiryNoticed = &days
	}
	if err := d.saveDomain(ctx, tx, v); err != nil {
		return err
	}
	// The notices about expiring domains tell of further failures.
	if first {
		if err := d.notifyOwners(ctx, tx, a.Organization, renewalFailedNotice(v, reason)); err != nil {
			return err
		}
	}
	return d.emitSystemEvent(ctx, tx, v.newEvent("domain.renewal_failed"), RenewalFailure{v, code, reason})
}
