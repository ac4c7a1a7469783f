package domain

import (
	"context"
	"errors"
	"slices"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/resource/zone"
)

// The DNS server knows a zone by its name alone, so a zone belongs to whoever
// holds the name. This file implements what the package zone needs to know of
// domains (findZone, lockZone), and creates and removes zones as names change
// hands.

// zoneOwner is a domain and whether it has its name.
type zoneOwner struct {
	Org    id.ID  `db:"organization_id"`
	ID     id.ID  `db:"id"`
	Name   string `db:"name"`
	Kind   Kind   `db:"kind"`
	Status Status `db:"status"`
	Parent *id.ID `db:"parent_domain_id"`
	Held   bool   `db:"held"` // it has its name
	Lost   bool   `db:"lost"` // somebody else has it
}

func (o *zoneOwner) zoneRef() zone.Ref { return zone.Ref{Org: o.Org, Domain: o.ID, Name: o.Name} }

// findZoneOwner looks a domain up, with what decides whether it has a zone.
func findZoneOwner(ctx context.Context, tx *db.Tx, org, domain id.ID) (zoneOwner, error) {
	o, err := db.QueryOne[zoneOwner](ctx, tx, `
		SELECT organization_id, id, name, kind, status, parent_domain_id,
			EXISTS (SELECT 1 FROM domain_holds h WHERE h.name = domains.name AND h.domain_id = domains.id) AS held,
			EXISTS (SELECT 1 FROM domain_holds h WHERE h.name = domains.name AND h.domain_id <> domains.id) AS lost
		FROM domains
		WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL`, org, domain)
	return o, db.AsNotFound(err, "domain")
}

// checkHasZone refuses a domain without a zone of its own.
func (o *zoneOwner) checkHasZone() error {
	switch {
	case o.Kind == KindSubdomain:
		f := zone.Missing.Say("The records of %s are in the zone of the domain above it. Use that domain's id.", o.Name)
		f.Details = map[string]*id.ID{"parentDomainId": o.Parent}
		return f
	case o.Status == StatusPending:
		return zone.Missing.Say(
			"%s has no zone before it is verified. Publish its TXT record and call verify first.", o.Name)
	case o.Lost:
		return zone.Missing.Say("%s has left, and somebody else has it now. Delete the domain.", o.Name)
	}
	return nil
}

// findZone is zone.Config.Find.
func findZone(ctx context.Context, tx *db.Tx, org, domain id.ID) (zone.Ref, error) {
	o, err := findZoneOwner(ctx, tx, org, domain)
	if err == nil {
		err = o.checkHasZone()
	}
	return o.zoneRef(), err
}

// lockZone is zone.Config.Lock. While a domain is being registered it has no
// row yet, and only its registration writes.
func lockZone(ctx context.Context, tx *db.Tx, at zone.Ref) error {
	err := db.Lock(ctx, tx, "domains", at.Org, at.Domain)
	if err != nil && (!errors.Is(err, db.ErrNoRow) || !at.Registering) {
		return db.AsNotFound(err, "domain")
	}
	// What a former holder began must not end in the zone of the current one.
	h, err := findHold(ctx, tx, at.Name)
	if err == nil && h != nil && h.Domain != at.Domain {
		err = fault.NotFound.Say("Somebody else has %s now.", at.Name)
	}
	return err
}

// setUpZone creates the zone of a domain that has its name. It empties one that a former holder
// left, and adds the proof: once the zone is delegated to our name servers, the proof must be
// in it.
func (d *Domains) setUpZone(ctx context.Context, v *Domain) error {
	var h *nameHold
	err := d.cfg.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		h, err = findHold(ctx, tx, v.Name)
		return err
	})
	if err != nil || h == nil || h.Domain != v.ID {
		return err
	}
	if ok, err := d.mayHaveZone(ctx, h.Org, v.Name); err != nil || !ok {
		return err
	}
	if h.ZoneReady {
		err = d.cfg.DNS.CreateZone(ctx, v.Name)
	} else {
		err = d.emptyZoneForHolder(ctx, v.Name, v.ID)
	}
	if err != nil || v.VerificationValue == nil {
		return err
	}
	proof := zone.Record{
		Type:    "TXT",
		Name:    verificationLabel,
		Content: *v.VerificationValue,
		TTL:     zone.DefaultTTL,
	}
	return d.cfg.DNS.Add(ctx, v.Name, proof)
}

// emptyZoneForHolder empties the zone of a name for the domain that has it now. It first waits for
// the open writes of former holders; the hold keeps them from beginning new ones.
func (d *Domains) emptyZoneForHolder(ctx context.Context, name string, domain id.ID) error {
	var former []zone.Ref
	err := d.cfg.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		rows, err := db.QueryAll[domainArgs](ctx, tx, `
			SELECT organization_id, id FROM domains WHERE name = $1 AND id <> $2`, name, domain)
		former = nil
		for _, r := range rows {
			former = append(former, zone.Ref{Org: r.Organization, Domain: r.Domain, Name: name})
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := d.Zones.AwaitWrites(ctx, former); err != nil {
		return err
	}
	return d.cfg.DNS.EmptyZone(ctx, name)
}

// mayHaveZone reports whether a name gets a zone. Where the DNS server does not honor
// delegations, a name below another organization's domain gets one only if that domain's zone
// delegates it with an NS record.
func (d *Domains) mayHaveZone(ctx context.Context, org id.ID, name string) (bool, error) {
	above := parentNames(name)
	if d.cfg.HonorsDelegation || len(above) == 0 {
		return true, nil
	}
	var holders map[string]id.ID
	err := d.cfg.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		holders, err = ActiveHolders(ctx, tx, above)
		return err
	})
	if err != nil {
		return false, err
	}
	for _, parent := range above {
		if holder := holders[parent]; holder == "" || holder == org {
			continue
		}
		records, err := d.cfg.DNS.Records(ctx, parent)
		if zone.ProviderStatus(err) == 404 {
			continue
		}
		if err != nil {
			return false, err
		}
		delegates := func(r zone.Record) bool { return r.Type == "NS" && r.Full(parent) == name }
		return slices.ContainsFunc(records, delegates), nil
	}
	return true, nil
}

const (
	dropZoneJob    = "domain.drop_zone"
	restoreZoneJob = "domain.raise_zone"
)

type zoneArgs struct {
	Zone string `json:"zone"`
}

// enqueueZoneJob enqueues a job about the zone of a name.
func (d *Domains) enqueueZoneJob(ctx context.Context, tx *db.Tx, kind string, org id.ID, name string) error {
	_, err := d.cfg.Jobs.Enqueue(ctx, tx, kind, zoneArgs{name}, job.ForOrganization(org))
	return err
}

// findZoneHolder finds who has a name, if the name may have a zone. The domain is nil while it is
// being registered.
func (d *Domains) findZoneHolder(ctx context.Context, name string) (h *nameHold, v *Domain, err error) {
	err = d.cfg.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		if h, err = findHold(ctx, tx, name); err != nil || h == nil {
			return err
		}
		v, err = domains.Get(ctx, tx, h.Org, h.Domain)
		if fault.IsKind(err, fault.NotFound) {
			v, err = nil, nil
		}
		return err
	})
	if err != nil || h == nil {
		return nil, nil, err
	}
	if ok, err := d.mayHaveZone(ctx, h.Org, name); err != nil || !ok {
		return nil, nil, err
	}
	return h, v, nil
}

// dropZone is the job that removes the zone of a deleted domain, unless somebody has the name
// again. Whoever takes the name while the zone is being removed would lose the new zone, so it
// is restored at the end, also by a retry whose first run removed it.
func (d *Domains) dropZone(ctx context.Context, j job.Job, a zoneArgs) (job.Outcome, error) {
	h, _, err := d.findZoneHolder(ctx, a.Zone)
	if err != nil {
		return nil, err
	}
	if h == nil {
		if err := d.cfg.DNS.DeleteZone(ctx, a.Zone); err != nil {
			return nil, err
		}
		d.pauseAt("zone-dropped")
	}
	return d.restoreZone(ctx, j, a)
}

// restoreZone is the job that creates the zone of a name that somebody has, if it does not
// exist. A domain that is being verified creates its zone itself.
func (d *Domains) restoreZone(ctx context.Context, _ job.Job, a zoneArgs) (job.Outcome, error) {
	h, v, err := d.findZoneHolder(ctx, a.Zone)
	switch {
	case err != nil || h == nil:
		return nil, err
	case v == nil:
		return nil, d.cfg.DNS.CreateZone(ctx, a.Zone)
	case v.Kind == KindSubdomain || !h.ZoneReady:
		return nil, nil
	}
	return nil, d.setUpZone(ctx, v)
}

// dropZonesBelow removes the zones that other organizations have below a newly verified name.
// It does so only where the DNS server would let them answer in place of the name's own zone.
func (d *Domains) dropZonesBelow(ctx context.Context, tx *db.Tx, org id.ID, name string) error {
	if d.cfg.HonorsDelegation {
		return nil
	}
	rows, err := domainsBelow(ctx, tx, org, name)
	if err != nil {
		return err
	}
	for _, r := range rows {
		v, err := domains.Get(ctx, tx, r.Organization, r.Domain)
		if err != nil {
			return err
		}
		if err := d.enqueueZoneJob(ctx, tx, dropZoneJob, r.Organization, v.Name); err != nil {
			return err
		}
		if err := d.notifyOwners(ctx, tx, r.Organization, zoneRemovedNotice(v, name, d.cfg.Clock.Now())); err != nil {
			return err
		}
	}
	return nil
}
