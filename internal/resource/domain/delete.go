package domain

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// Remaining is a record that keeps a domain from being deleted.
type Remaining struct {
	ID      id.ID  `json:"id"`
	Type    string `json:"type"`
	Name    string `json:"name"`
	Content string `json:"content"`
}

func (d *Domains) deleteDomain(ctx context.Context, c *op.Call, in domainRef) (op.Nothing, error) {
	// What can be told without the DNS server is told first, in the order that
	// callers rely on; it is looked at again when nothing can change any more.
	var v *Domain
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if v, err = d.get(ctx, tx, c.Org, in.ID); err != nil {
			return err
		}
		return deletable(ctx, tx, v)
	})
	if err != nil {
		return op.Nothing{}, err
	}
	if v.Source == "registered" && v.Kind == "apex" && v.Status == "expired" {
		if err := d.emptyZone(ctx, c, v); err != nil {
			return op.Nothing{}, err
		}
	}
	return op.Finish(ctx, c, func(ctx context.Context) (op.Nothing, error) {
		v, err := d.lock(ctx, c.Tx, c.Org, in.ID)
		if err != nil {
			return op.Nothing{}, err
		}
		if err := deletable(ctx, c.Tx, v); err != nil {
			return op.Nothing{}, err
		}
		if err := noSubdomains(ctx, c.Tx, c.Org, v.ID); err != nil {
			return op.Nothing{}, err
		}
		if _, err := domains.Remove(ctx, c.Tx, c.Org, v.ID, c.Now); err != nil {
			return op.Nothing{}, err
		}
		h, err := heldNow(ctx, c.Tx, v.Name)
		if err != nil {
			return op.Nothing{}, err
		}
		if err := release(ctx, c.Tx, c.Org, v.ID); err != nil {
			return op.Nothing{}, err
		}
		if v.ParentDomainID != nil {
			if err := d.subdomainsChanged(ctx, c, *v.ParentDomainID); err != nil {
				return op.Nothing{}, err
			}
		}
		// One that never was verified has no zone; that of its name is another's.
		if v.Kind == "apex" && (v.Status != "pending_verification" || h != nil && h.Domain == v.ID) {
			if _, err := d.Jobs.Enqueue(ctx, c.Tx, dropZone, zoneArgs{v.Name}, job.For(c.Org)); err != nil {
				return op.Nothing{}, err
			}
		}
		v.DeletedAt, v.UpdatedAt = &c.Now, c.Now
		return op.Nothing{}, c.Emit("domain.deleted", v.ID, v)
	})
}

// deletable refuses a registered domain that is still somebody's business.
func deletable(ctx context.Context, tx *db.Tx, v *Domain) error {
	if v.Source != "registered" || v.Kind != "apex" {
		return nil
	}
	if v.Status != "expired" && v.Status != "transferred" {
		return NotExpired.New()
	}
	if err := noRenewal(ctx, tx, v.OrganizationID, v.ID); err != nil {
		return err
	}
	if v.TransferRequestedAt != nil && v.Status != "transferred" {
		return TransferInFlight.New()
	}
	return nil
}

// emptyZone refuses a zone with records beside those it was made with.
func (d *Domains) emptyZone(ctx context.Context, c *op.Call, v *Domain) error {
	at := zoneRef{Org: v.OrganizationID, ID: v.ID, Name: v.Name, Kind: v.Kind}
	_, err := d.Email.Zones.mirror(ctx, c, at)
	if StatusOf(err) == 404 {
		return nil
	}
	if err != nil {
		return dnsFault(err)
	}
	var left []Remaining
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		left = nil
		rows, err := rowsOf(ctx, tx, at)
		for _, r := range rows {
			if r.ManagedBy != bySystem {
				left = append(left, Remaining{r.ID, r.Type, r.Name, r.Content})
			}
		}
		return err
	})
	if err != nil || len(left) == 0 {
		return err
	}
	return DNSNotEmpty.With(map[string][]Remaining{"records": left[:min(len(left), 100)]})
}

const dropZone = "domain.drop_zone"

type zoneArgs struct {
	Zone string `json:"zone"`
}

// holder is who has a name and may have its zone; the domain is nil while it
// is being registered.
func (d *Domains) holder(ctx context.Context, name string) (h *holdRow, v *Domain, err error) {
	err = d.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		if h, err = heldNow(ctx, tx, name); err != nil || h == nil {
			return err
		}
		v, err = domains.Get(ctx, tx, h.Org, h.Domain)
		if fault.Has(err, fault.NotFound) {
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

// drop removes the zone of a domain that is gone, unless somebody has the name
// again, who saw to it that it was empty. Who takes it while the zone goes gets
// a new one, also from a run that follows one which could not make it.
func (d *Domains) drop(ctx context.Context, j job.Job, a zoneArgs) (job.Outcome, error) {
	h, _, err := d.holder(ctx, a.Zone)
	if err != nil {
		return nil, err
	}
	if h == nil {
		if err := d.DNS.DeleteZone(ctx, a.Zone); err != nil {
			return nil, err
		}
		d.pause("zone-dropped")
	}
	return d.raise(ctx, j, a)
}

const raiseZone = "domain.raise_zone"

// raise makes the zone of a name that somebody has, if it is not there. A
// domain that is being verified sees to its zone itself.
func (d *Domains) raise(ctx context.Context, _ job.Job, a zoneArgs) (job.Outcome, error) {
	h, v, err := d.holder(ctx, a.Zone)
	switch {
	case err != nil || h == nil:
		return nil, err
	case v == nil:
		return nil, d.DNS.CreateZone(ctx, a.Zone)
	case v.Kind == "subdomain" || !h.ZoneReady:
		return nil, nil
	}
	return nil, d.openZone(ctx, v)
}
