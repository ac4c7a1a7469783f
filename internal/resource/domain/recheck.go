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
	recheckInterval      = 24 * time.Hour // of one proof
	recheckSweepInterval = time.Hour      // how often due proofs are looked for
)

// enqueueRechecks enqueues a check of every proof that was not checked for a day. The checks are
// spread over the time until the next sweep, so that name servers are not asked about all of
// them at once.
func (d *Domains) enqueueRechecks(ctx context.Context, tx *db.Tx, _ job.Job, _ struct{}) error {
	now := d.cfg.Clock.Now()
	rows, err := findDueDomains(ctx, tx,
		`d.status = 'active' AND d.proof_looked_at IS NOT NULL AND d.proof_looked_at <= $1
		ORDER BY d.proof_looked_at LIMIT $2`, now.Add(-recheckInterval), enqueueBatch)
	if err != nil {
		return err
	}
	for i, r := range rows {
		at := now.Add(recheckSweepInterval * time.Duration(i) / time.Duration(len(rows)))
		_, err := d.cfg.Jobs.Enqueue(ctx, tx, recheckJob, r,
			job.ForOrganization(r.Organization), job.UniqueKey(string(r.Domain)), job.RunAt(at))
		if err != nil {
			return err
		}
	}
	return nil
}

// recheckProof is the job that checks the proof of one domain.
func (d *Domains) recheckProof(ctx context.Context, _ job.Job, a domainArgs) (job.Outcome, error) {
	was, err := d.readDomain(ctx, a.Organization, a.Domain)
	if fault.IsKind(err, fault.NotFound) || err == nil && (was.Status != StatusActive || was.VerificationValue == nil) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := d.lookUpProof(ctx, was.Name)
	if l.noAnswer != nil {
		d.cfg.Log.WarnContext(ctx, "nobody answered for the proof of a domain", "name", was.Name, "err", l.noAnswer)
	}
	return func(ctx context.Context, tx *db.Tx) error {
		v, err := d.lockDomain(ctx, tx, a.Organization, a.Domain)
		if fault.IsKind(err, fault.NotFound) {
			return nil
		}
		// Somebody verified it since the lookup began, and knows better.
		if err != nil || v.Status != StatusActive || v.ProofSeenAt == nil || *v.ProofSeenAt != *was.ProofSeenAt {
			return err
		}
		return d.saveProofLookup(ctx, tx, v, l)
	}, nil
}

// saveProofLookup records what a check of a domain's proof found. A proof that was gone or not seen
// for too long ends the domain's verification (proof.go).
func (d *Domains) saveProofLookup(ctx context.Context, tx *db.Tx, v *Domain, l proofLookup) error {
	now := d.cfg.Clock.Now()
	v.ProofLookedAt = &now
	switch {
	case slices.Contains(l.seen, *v.VerificationValue):
		v.ProofSeenAt, v.ProofGoneAt = &now, nil
		if !d.cfg.HonorsDelegation { // the parent's zone may delegate it by now, so the zone may be created
			if err := d.enqueueZoneJob(ctx, tx, restoreZoneJob, v.OrganizationID, v.Name); err != nil {
				return err
			}
		}
	case l.isConclusive() && v.ProofGoneAt == nil:
		v.ProofGoneAt = &now
	case l.isConclusive() && now.Sub(*v.ProofGoneAt) >= proofGoneLimit, !l.isConclusive() &&
		now.Sub(*v.ProofSeenAt) >= proofUnseenLimit:
		return d.unverifyDomain(ctx, tx, v, proofLapsedNotice(v))
	}
	return domains.Save(ctx, tx, v)
}
