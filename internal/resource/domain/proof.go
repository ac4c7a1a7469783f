package domain

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
)

// An external domain belongs to whoever proves it, for as long as the proof
// stands. Its TXT record is looked for every day. A DNS that answers that the
// record is not there counts at once; one that fails or stays silent counts
// only after unseenFor, because a broken name server is no reason to lose a
// domain, and no proof for ever either.
//
//   - Gone for goneFor: the domain is pending_verification again. It keeps its
//     name and its zone until somebody else proves the name.
//   - Another organization proves the name: a holder whose record is gone
//     loses the name at once, and the zone is emptied.
//   - A name is registered here: names below it that other organizations hold
//     are lost to them.
const (
	lookEvery = 24 * time.Hour
	lookSweep = time.Hour
	goneFor   = 7 * 24 * time.Hour
	unseenFor = 30 * 24 * time.Hour
	lookTime  = 10 * time.Second
)

// look is what the DNS said about the TXT record of a domain.
type look struct {
	seen    []string
	problem string // the DNS answered that it cannot tell
	silence error  // nobody answered
}

// answered reports whether the DNS told what is there.
func (l look) answered() bool { return l.problem == "" && l.silence == nil }

// lookFor asks the DNS for the TXT record of a domain.
func (d *Domains) lookFor(ctx context.Context, name string) look {
	seen, err := d.LookupTXT(ctx, verificationLabel+"."+name)
	var failed *net.DNSError
	switch {
	case err == nil:
		return look{seen: seen}
	case !errors.As(err, &failed):
		return look{silence: err}
	case failed.IsNotFound:
		return look{}
	case failed.Err == "server misbehaving" && failed.IsTemporary:
		return look{problem: "SERVFAIL"}
	case failed.Err == "server misbehaving" || failed.Err == "lame referral":
		return look{problem: "REFUSED, or another error"}
	}
	return look{silence: err}
}

// rival is a holder of a name whose proof is gone.
type rival struct {
	org, apex, domain id.ID       // the domain that has the name is the apex or a subdomain of it
	seenAt            *clock.Time // the last proof that the judgement knows of
	ordered           bool        // the name is being registered
}

// rivalOf judges whoever has a name that is proven by somebody else now: nil
// when nobody has it, a refusal when the holder stands. seen is what the DNS
// has at the name itself.
func (d *Domains) rivalOf(ctx context.Context, org id.ID, name string, seen []string) (*rival, error) {
	type row struct {
		Org    id.ID       `db:"organization_id"`
		Domain id.ID       `db:"domain_id"`
		Apex   *id.ID      `db:"apex"`
		Name   *string     `db:"name"`
		Value  *string     `db:"verification_value"`
		SeenAt *clock.Time `db:"proof_seen_at"`
		Source *string     `db:"source"`
	}
	var h *row
	err := d.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		rows, err := db.All[row](ctx, tx, `
			SELECT h.organization_id, h.domain_id, p.id AS apex, p.name, p.verification_value, p.proof_seen_at, p.source
			FROM domain_holds h
			LEFT JOIN domains d ON d.organization_id = h.organization_id AND d.id = h.domain_id AND d.deleted_at IS NULL
			LEFT JOIN domains p ON p.organization_id = d.organization_id AND p.id = coalesce(d.parent_domain_id, d.id)
				AND p.deleted_at IS NULL
			WHERE h.name = $1 AND h.organization_id <> $2`, name, org)
		if h = nil; len(rows) > 0 {
			h = &rows[0]
		}
		return err
	})
	if err != nil || h == nil {
		return nil, err
	}
	if deref(h.Source) != "external" || h.Value == nil {
		return nil, held(name) // it is registered here, or about to be
	}
	if *h.Name != name { // a subdomain stands on the proof of the domain above it
		l := d.lookFor(ctx, *h.Name)
		if !l.answered() {
			return nil, held(name)
		}
		seen = l.seen
	}
	if slices.Contains(seen, *h.Value) {
		return nil, held(name)
	}
	return &rival{org: h.Org, apex: *h.Apex, domain: h.Domain, seenAt: h.SeenAt}, nil
}

// take gives a name to a domain, from a rival where there is one.
func (d *Domains) take(ctx context.Context, tx *db.Tx, org id.ID, name string, domain id.ID, r *rival) error {
	h, err := heldNow(ctx, tx, name)
	switch {
	case err != nil || h != nil && h.Domain == domain:
		return err
	case h != nil && (r == nil || r.domain != h.Domain):
		return held(name)
	case h != nil:
		if err := d.evict(ctx, tx, r, name); err != nil {
			return err
		}
	}
	return hold(ctx, tx, org, name, domain, d.Clock.Now())
}

// evict takes the name of a rival's domain, which is locked and judged again:
// whoever proved it meanwhile keeps it.
func (d *Domains) evict(ctx context.Context, tx *db.Tx, r *rival, name string) error {
	v, err := d.lock(ctx, tx, r.org, r.apex)
	if err != nil {
		return err
	}
	if v.ProofSeenAt != nil && (r.seenAt == nil || *v.ProofSeenAt != *r.seenAt) {
		return held(name)
	}
	n := lostToProof(v, name, d.Clock.Now(), r.ordered)
	if r.domain != r.apex {
		return d.loseSubdomain(ctx, tx, r, n)
	}
	return d.unverify(ctx, tx, v, n)
}

// loseSubdomain takes the name of a subdomain alone. Nothing was proven about
// the domain above it, which is locked.
func (d *Domains) loseSubdomain(ctx context.Context, tx *db.Tx, r *rival, n Notice) error {
	v, err := d.lock(ctx, tx, r.org, r.domain)
	if err != nil {
		return err
	}
	if err := release(ctx, tx, r.org, r.domain); err != nil {
		return err
	}
	v.Status, v.UpdatedAt = "pending_verification", d.Clock.Now()
	if err := d.save(ctx, tx, v); err != nil {
		return err
	}
	if err := d.emit(ctx, tx, r.org, "domain.unverified", v.ID, v); err != nil {
		return err
	}
	return d.tell(ctx, tx, r.org, n)
}

// outrank takes the names below one that was registered from the other
// organizations that hold them.
func (d *Domains) outrank(ctx context.Context, tx *db.Tx, org id.ID, name string) error {
	rows, err := below(ctx, tx, org, name)
	if err != nil {
		return err
	}
	for _, r := range rows {
		v, err := d.lock(ctx, tx, r.Organization, r.Domain)
		if fault.Has(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := d.unverify(ctx, tx, v, lostToParent(v, name, d.Clock.Now())); err != nil {
			return err
		}
	}
	return nil
}

// below lists the external domains of other organizations under a name, in one
// order for all who lock them.
func below(ctx context.Context, tx *db.Tx, org id.ID, name string) ([]domainWork, error) {
	type row struct {
		Organization id.ID `db:"organization_id"`
		Domain       id.ID `db:"id"`
	}
	rows, err := db.All[row](ctx, tx, `SELECT d.organization_id, d.id FROM domain_holds h
		JOIN domains d ON d.organization_id = h.organization_id AND d.id = h.domain_id AND d.deleted_at IS NULL
		WHERE h.organization_id <> $1 AND h.name LIKE '%.' || CAST($2 AS text)
		AND d.kind = 'apex' AND d.source = 'external' ORDER BY d.id`, org, name)
	out := make([]domainWork, len(rows))
	for i, r := range rows {
		out[i] = domainWork(r)
	}
	return out, err
}

// unverify ends what a domain that is held may do. Unless its proof has only
// lapsed, it loses its name, its zone and its subdomains' names too.
func (d *Domains) unverify(ctx context.Context, tx *db.Tx, v *Domain, n Notice) error {
	now, was := d.Clock.Now(), v.Status
	_, err := db.Exec(ctx, tx, `UPDATE domain_email SET enabled = FALSE, wanted = FALSE, version = version + 1
		WHERE organization_id = $1 AND domain_id = $2`, v.OrganizationID, v.ID)
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, tx, `UPDATE domains SET status = 'pending_verification', updated_at = $3
		WHERE organization_id = $1 AND parent_domain_id = $2 AND deleted_at IS NULL`, v.OrganizationID, v.ID, now)
	if err != nil {
		return err
	}
	if n.lapsed {
		err = d.republish(ctx, tx, v.OrganizationID, v.ID, now)
	} else if err = release(ctx, tx, v.OrganizationID, v.ID); err == nil {
		_, err = d.Jobs.Enqueue(ctx, tx, dropZone, zoneArgs{v.Name}, job.For(v.OrganizationID))
	}
	if err != nil {
		return err
	}
	v.Status, v.VerifiedAt, v.ProofGoneAt, v.UpdatedAt = "pending_verification", nil, nil, now
	if err := d.save(ctx, tx, v); err != nil || was != "active" {
		return err // it was told of before
	}
	if err := d.emit(ctx, tx, v.OrganizationID, "domain.unverified", v.ID, v); err != nil {
		return err
	}
	return d.tell(ctx, tx, v.OrganizationID, n)
}

// revive makes the subdomains of a domain active again with it, except those
// whose name somebody else has now.
func revive(ctx context.Context, tx *db.Tx, v *Domain, now clock.Time) error {
	_, err := db.Exec(ctx, tx, `INSERT INTO domain_holds (organization_id, created_at, name, domain_id, zone_ready)
		SELECT organization_id, CAST($3 AS BIGINT), name, id, FALSE FROM domains
		WHERE organization_id = $1 AND parent_domain_id = $2 AND deleted_at IS NULL
		ON CONFLICT (name) DO NOTHING`, v.OrganizationID, v.ID, now)
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, tx, `UPDATE domains SET status = 'active', updated_at = $3
		WHERE organization_id = $1 AND parent_domain_id = $2 AND deleted_at IS NULL
		AND id IN (SELECT domain_id FROM domain_holds WHERE organization_id = $1)`, v.OrganizationID, v.ID, now)
	return err
}

const lookAgain = "domain.look_again"

// lookDue has the proofs looked at that were not for a day, spread over the
// time until the next sweep.
func (d *Domains) lookDue(ctx context.Context, tx *db.Tx, _ job.Job, _ struct{}) error {
	now := d.Clock.Now()
	rows, err := due(ctx, tx, `d.status = 'active' AND d.proof_looked_at IS NOT NULL AND d.proof_looked_at <= $1
		ORDER BY d.proof_looked_at LIMIT $2`, now.Add(-lookEvery), dueBatch)
	if err != nil {
		return err
	}
	for i, r := range rows {
		at := now.Add(lookSweep * time.Duration(i) / time.Duration(len(rows)))
		_, err := d.Jobs.Enqueue(ctx, tx, lookAgain, r,
			job.For(r.Organization), job.Key(string(r.Domain)), job.At(at))
		if err != nil {
			return err
		}
	}
	return nil
}

// lookAtProof is the daily look at one domain.
func (d *Domains) lookAtProof(ctx context.Context, _ job.Job, a domainWork) (job.Outcome, error) {
	was, err := d.read(ctx, a.Organization, a.Domain)
	if fault.Has(err, fault.NotFound) || err == nil && (was.Status != "active" || was.VerificationValue == nil) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := d.lookFor(ctx, was.Name)
	if l.silence != nil {
		d.Log.WarnContext(ctx, "nobody answered for the proof of a domain", "name", was.Name, "err", l.silence)
	}
	return func(ctx context.Context, tx *db.Tx) error {
		v, err := d.lock(ctx, tx, a.Organization, a.Domain)
		if fault.Has(err, fault.NotFound) {
			return nil
		}
		// Whoever verified it meanwhile saw more.
		if err != nil || v.Status != "active" || v.ProofSeenAt == nil || *v.ProofSeenAt != *was.ProofSeenAt {
			return err
		}
		return d.judge(ctx, tx, v, l)
	}, nil
}

// judge writes down what a look at a domain's proof saw, and what follows.
func (d *Domains) judge(ctx context.Context, tx *db.Tx, v *Domain, l look) error {
	now := d.Clock.Now()
	v.ProofLookedAt = &now
	switch {
	case slices.Contains(l.seen, *v.VerificationValue):
		v.ProofSeenAt, v.ProofGoneAt = &now, nil
		if !d.Delegates { // the parent's zone may delegate it by now
			if _, err := d.Jobs.Enqueue(ctx, tx, raiseZone, zoneArgs{v.Name}, job.For(v.OrganizationID)); err != nil {
				return err
			}
		}
	case l.answered() && v.ProofGoneAt == nil:
		v.ProofGoneAt = &now
	case l.answered() && now.Sub(*v.ProofGoneAt) >= goneFor, !l.answered() && now.Sub(*v.ProofSeenAt) >= unseenFor:
		return d.unverify(ctx, tx, v, lapsed(v))
	}
	return domains.Save(ctx, tx, v)
}
