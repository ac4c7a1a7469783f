package domain

import (
	"context"
	"slices"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/job"
)

// The daily check of the proofs of external domains.

const recheckJob = "domain.look_again"

const (
	recheckEvery = 24 * time.Hour // of one proof
	recheckSweep = time.Hour      // how often due proofs are looked for
)

// recheckDue enqueues a check of every proof that was not checked for a day. The checks are
// spread over the time until the next sweep, so that name servers are not asked about all of
// them at once.
func (d *Domains) recheckDue(ctx context.Context, tx *db.Tx, _ job.Job, _ struct{}) error {
	now := d.cfg.Clock.Now()
	rows, err := due(ctx, tx, `d.status = 'active' AND d.proof_looked_at IS NOT NULL AND d.proof_looked_at <= $1
		ORDER BY d.proof_looked_at LIMIT $2`, now.Add(-recheckEvery), dueBatch)
	if err != nil {
		return err
	}
	for i, r := range rows {
		at := now.Add(recheckSweep * time.Duration(i) / time.Duration(len(rows)))
		_, err := d.cfg.Jobs.Enqueue(ctx, tx, recheckJob, r,
			job.For(r.Organization), job.Key(string(r.Domain)), job.At(at))
		if err != nil {
			return err
		}
	}
	return nil
}

// recheck is the job that checks the proof of one domain.
func (d *Domains) recheck(ctx context.Context, _ job.Job, a domainArgs) (job.Outcome, error) {
	was, err := d.read(ctx, a.Organization, a.Domain)
	if fault.Has(err, fault.NotFound) || err == nil && (was.Status != StatusActive || was.VerificationValue == nil) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := d.lookUp(ctx, was.Name)
	if l.silence != nil {
		d.cfg.Log.WarnContext(ctx, "nobody answered for the proof of a domain", "name", was.Name, "err", l.silence)
	}
	return func(ctx context.Context, tx *db.Tx) error {
		v, err := d.lock(ctx, tx, a.Organization, a.Domain)
		if fault.Has(err, fault.NotFound) {
			return nil
		}
		// Somebody verified it since the lookup began, and knows better.
		if err != nil || v.Status != StatusActive || v.ProofSeenAt == nil || *v.ProofSeenAt != *was.ProofSeenAt {
			return err
		}
		return d.saveLookup(ctx, tx, v, l)
	}, nil
}

// saveLookup records what a check of a domain's proof found. A proof that was gone or not seen
// for too long ends the domain's verification (proof.go).
func (d *Domains) saveLookup(ctx context.Context, tx *db.Tx, v *Domain, l lookup) error {
	now := d.cfg.Clock.Now()
	v.ProofLookedAt = &now
	switch {
	case slices.Contains(l.seen, *v.VerificationValue):
		v.ProofSeenAt, v.ProofGoneAt = &now, nil
		if !d.cfg.Delegates { // the parent's zone may delegate it by now, so the zone may be created
			if err := d.enqueueZone(ctx, tx, restoreZoneJob, v.OrganizationID, v.Name); err != nil {
				return err
			}
		}
	case l.answered() && v.ProofGoneAt == nil:
		v.ProofGoneAt = &now
	case l.answered() && now.Sub(*v.ProofGoneAt) >= goneFor, !l.answered() && now.Sub(*v.ProofSeenAt) >= unseenFor:
		return d.unverify(ctx, tx, v, proofLapsed(v))
	}
	return domains.Save(ctx, tx, v)
}
