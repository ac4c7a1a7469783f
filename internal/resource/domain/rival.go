package domain

import (
	"context"
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// How a name passes from one organization to another: a holder whose own proof is
// gone loses the name to whoever proves or orders it, and names below a newly
// registered one are lost to its registrant.

// displacedHolder is a holder who may lose its name, as it was when that was decided.
// evictHolder checks again under a lock.
type displacedHolder struct {
	org, apex, domain id.ID       // domain has the name; it is apex itself, or a subdomain of it
	seenAt            *clock.Time // when the holder's proof was last seen
	ordered           bool        // the name is being registered, rather than proved
}

// nameHolder is who has a name, with the apex domain whose proof it relies on. What
// is nil is not known: while a name is only ordered, it has no domain yet.
type nameHolder struct {
	Org    id.ID       `db:"organization_id"`
	Domain id.ID       `db:"domain_id"`
	Apex   *id.ID      `db:"apex"`
	Name   *string     `db:"name"`
	Value  *string     `db:"verification_value"`
	SeenAt *clock.Time `db:"proof_seen_at"`
	Source *Source     `db:"source"`
	Status *Status     `db:"status"`
	Until  *clock.Time `db:"expires_at"`
}

// findNameHolder finds who has a name, or nil.
func findNameHolder(ctx context.Context, tx *db.Tx, name string) (*nameHolder, error) {
	rows, err := db.QueryAll[nameHolder](ctx, tx, `
		SELECT h.organization_id, h.domain_id, p.id AS apex, p.name, p.verification_value, p.proof_seen_at, p.source,
			p.status, p.expires_at
		FROM domain_holds h
		LEFT JOIN domains d ON d.organization_id = h.organization_id AND d.id = h.domain_id AND d.deleted_at IS NULL
		LEFT JOIN domains p ON p.organization_id = d.organization_id AND p.id = coalesce(d.parent_domain_id, d.id)
			AND p.deleted_at IS NULL
		WHERE h.name = $1`, name)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// challengeHolder decides about the holder of a name that somebody else proves or orders now. It
// refuses if the holder keeps the name, because its own proof stands or nobody can tell. seen
// are the TXT records that the DNS has for the name itself.
func (d *Domains) challengeHolder(ctx context.Context, h *nameHolder, name string, seen []string) (*displacedHolder,
	error) {
	if h.Status != nil && isPastRedemption(*h.Status, h.Until, d.cfg.Clock.Now()) {
		return &displacedHolder{org: h.Org, apex: *h.Apex, domain: h.Domain}, nil
	}
	if h.Source == nil || *h.Source != SourceExternal || h.Value == nil {
		return nil, nameTakenFault(name) // it is registered here, or about to be
	}
	if *h.Name != name { // a subdomain relies on the proof of the domain above it
		l := d.lookUpProof(ctx, *h.Name)
		if !l.isConclusive() {
			return nil, nameTakenFault(name)
		}
		seen = l.seen
	}
	if slices.Contains(seen, *h.Value) {
		return nil, nameTakenFault(name)
	}
	return &displacedHolder{org: h.Org, apex: *h.Apex, domain: h.Domain, seenAt: h.SeenAt}, nil
}

// isPastRedemption reports whether a registration here ended so long ago that no registry lets its holder
// renew it. Then the name belongs to whoever registered it since, here or elsewhere.
func isPastRedemption(status Status, until *clock.Time, now clock.Time) bool {
	return status == StatusExpired && until != nil && now.Sub(*until) >= redemptionPeriod
}

// takeName gives a domain its name. r is the holder that may lose it; a name that anybody
// else holds is refused.
func (d *Domains) takeName(ctx context.Context, tx *db.Tx, v namedDomain, r *displacedHolder) error {
	h, err := findHold(ctx, tx, v.name)
	switch {
	case err != nil || h != nil && h.Domain == v.domain:
		return err
	case h != nil && (r == nil || r.domain != h.Domain):
		return nameTakenFault(v.name)
	case h != nil:
		if err := d.evictHolder(ctx, tx, r, v.name); err != nil {
			return err
		}
	}
	return insertHold(ctx, tx, v, d.cfg.Clock.Now())
}

// evictHolder takes the name from the domain of a rival. The domain is locked and checked again: a
// holder that proved or renewed it since the decision keeps it.
func (d *Domains) evictHolder(ctx context.Context, tx *db.Tx, r *displacedHolder, name string) error {
	v, err := d.lockDomain(ctx, tx, r.org, r.apex)
	if err != nil {
		return err
	}
	if v.ProofSeenAt != nil && (r.seenAt == nil || *v.ProofSeenAt != *r.seenAt) {
		return nameTakenFault(name)
	}
	n := lostToProofNotice(v, name, d.cfg.Clock.Now(), r.ordered)
	if v.Registrar != nil {
		err := checkNoRenewal(ctx, tx, r.org, r.apex)
		if fault.IsKind(err, RenewalInFlight) || err == nil &&
			!isPastRedemption(v.Status, v.ExpiresAt, d.cfg.Clock.Now()) {
			return nameTakenFault(name)
		}
		if err != nil {
			return err
		}
		n = lostRegistrationNotice(v, name, d.cfg.Clock.Now(), r.ordered)
	}
	if r.domain != r.apex {
		return d.unverifySubdomain(ctx, tx, r, n)
	}
	return d.unverifyDomain(ctx, tx, v, n)
}

// unverifySubdomain takes the name of a subdomain alone. The domain above it, which the caller has
// locked, keeps its proof.
func (d *Domains) unverifySubdomain(ctx context.Context, tx *db.Tx, r *displacedHolder, n Notice) error {
	v, err := d.lockDomain(ctx, tx, r.org, r.domain)
	if err != nil {
		return err
	}
	if err := releaseNames(ctx, tx, r.org, r.domain); err != nil {
		return err
	}
	v.Status, v.UpdatedAt = StatusPending, d.cfg.Clock.Now()
	if err := d.saveDomain(ctx, tx, v); err != nil {
		return err
	}
	if err := d.emitSystemEvent(ctx, tx, v.newEvent("domain.unverified"), v); err != nil {
		return err
	}
	return d.notifyOwners(ctx, tx, r.org, n)
}

// takeNamesBelow takes the names below a newly registered one from the other
// organizations that hold them.
func (d *Domains) takeNamesBelow(ctx context.Context, tx *db.Tx, org id.ID, name string) error {
	rows, err := domainsBelow(ctx, tx, org, name)
	if err != nil {
		return err
	}
	for _, r := range rows {
		v, err := d.lockDomain(ctx, tx, r.Organization, r.Domain)
		if fault.IsKind(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := d.unverifyDomain(ctx, tx, v, lostToParentNotice(v, name, d.cfg.Clock.Now())); err != nil {
			return err
		}
	}
	return nil
}

// unverifyDomain ends what a locked domain may do: hosted email goes off and the status back to
// pending, or to transferred for a domain that was registered here. It also loses its name,
// its zone and its subdomains' names, unless only its proof has lapsed (n.keepsName).
func (d *Domains) unverifyDomain(ctx context.Context, tx *db.Tx, v *Domain, n Notice) error {
	now, first := d.cfg.Clock.Now(), v.Status != StatusPending
	status, event := StatusPending, "domain.unverified"
	if v.Registrar != nil { // registered here: there is no proof to repeat, so it can only be deleted
		status, event = StatusTransferred, "domain.transferred"
	}
	_, err := db.Exec(ctx, tx, `
		UPDATE domain_email SET enabled = FALSE, wanted = FALSE, version = version + 1
		WHERE organization_id = $1 AND domain_id = $2`, v.OrganizationID, v.ID)
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, tx, `
		UPDATE domains SET status = 'pending_verification', updated_at = $3
		WHERE organization_id = $1 AND parent_domain_id = $2 AND deleted_at IS NULL`, v.OrganizationID, v.ID, now)
	if err != nil {
		return err
	}
	if n.keepsName {
		err = d.enqueuePublishEmail(ctx, tx, v.OrganizationID, v.ID, now)
	} else if err = releaseNames(ctx, tx, v.OrganizationID, v.ID); err == nil {
		err = d.enqueueZoneJob(ctx, tx, dropZoneJob, v.OrganizationID, v.Name)
	}
	if err != nil {
		return err
	}
	v.Status, v.VerifiedAt, v.ProofGoneAt, v.UpdatedAt = status, nil, nil, now
	if err := d.saveDomain(ctx, tx, v); err != nil || !first {
		return err // it was pending already: its event and notice came before
	}
	if err := d.emitSystemEvent(ctx, tx, v.newEvent(event), v); err != nil {
		return err
	}
	return d.notifyOwners(ctx, tx, v.OrganizationID, n)
}

// reactivateSubdomains makes the subdomains of a verified domain active again, except those
// whose name somebody else holds by now.
func reactivateSubdomains(ctx context.Context, tx *db.Tx, v *Domain, now clock.Time) error {
	_, err := db.Exec(ctx, tx, `
		INSERT INTO domain_holds (organization_id, created_at, name, domain_id, zone_ready)
		SELECT organization_id, CAST($3 AS BIGINT), name, id, FALSE FROM domains
		WHERE organization_id = $1 AND parent_domain_id = $2 AND deleted_at IS NULL
		ON CONFLICT (name) DO NOTHING`, v.OrganizationID, v.ID, now)
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, tx, `
		UPDATE domains SET status = 'active', updated_at = $3
		WHERE organization_id = $1 AND parent_domain_id = $2 AND deleted_at IS NULL
		AND id IN (SELECT domain_id FROM domain_holds WHERE organization_id = $1)`, v.OrganizationID, v.ID, now)
	return err
}
