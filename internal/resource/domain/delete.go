package domain

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/zone"
)

// Remaining is a record that keeps a domain from being deleted.
type Remaining struct {
	ID      id.ID  `json:"id"`
	Type    string `json:"type"`
	Name    string `json:"name"`
	Content string `json:"content"`
}

// deleteDomain removes a domain, gives up its name and drops its zone. Only a registered
// domain that expired must have an empty zone first.
func (d *Domains) deleteDomain(ctx context.Context, c *op.Call, in domainRef) (op.Nothing, error) {
	// What needs no DNS server is checked first, in the order that callers rely
	// on. It is checked again when nothing can change any more.
	var v *Domain
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if v, err = d.get(ctx, tx, c.Org, in.ID); err != nil {
			return err
		}
		return mayDelete(ctx, tx, v)
	})
	if err != nil {
		return op.Nothing{}, err
	}
	if v.registeredApex() && v.Status == StatusExpired && !c.Rehearsing() {
		if err := d.zoneMustBeEmpty(ctx, c, v); err != nil {
			return op.Nothing{}, err
		}
	}
	return op.Finish(ctx, c, func(ctx context.Context) (op.Nothing, error) {
		v, err := d.lock(ctx, c.Tx, c.Org, in.ID)
		if err != nil {
			return op.Nothing{}, err
		}
		if err := mayDelete(ctx, c.Tx, v); err != nil {
			return op.Nothing{}, err
		}
		if err := noSubdomains(ctx, c.Tx, c.Org, v.ID); err != nil {
			return op.Nothing{}, err
		}
		if _, err := domains.Remove(ctx, c.Tx, c.Org, v.ID, c.Now); err != nil {
			return op.Nothing{}, err
		}
		h, err := holdOn(ctx, c.Tx, v.Name)
		if err != nil {
			return op.Nothing{}, err
		}
		if err := releaseNames(ctx, c.Tx, c.Org, v.ID); err != nil {
			return op.Nothing{}, err
		}
		if v.ParentDomainID != nil {
			if err := d.subdomainsChanged(ctx, c, *v.ParentDomainID); err != nil {
				return op.Nothing{}, err
			}
		}
		// A domain that was never verified has no zone, and one of its name
		// would be somebody else's.
		if v.Kind == KindApex && (v.Status != StatusPending || h != nil && h.Domain == v.ID) {
			if err := d.enqueueZone(ctx, c.Tx, dropZoneJob, c.Org, v.Name); err != nil {
				return op.Nothing{}, err
			}
		}
		v.DeletedAt, v.UpdatedAt = &c.Now, c.Now
		return op.Nothing{}, c.Emit("domain.deleted", v.ID, v)
	})
}

func (v *Domain) registeredApex() bool { return v.Source == SourceRegistered && v.Kind == KindApex }

// mayDelete refuses a registered domain that is still in use.
func mayDelete(ctx context.Context, tx *db.Tx, v *Domain) error {
	if !v.registeredApex() {
		return nil
	}
	if v.Status != StatusExpired && v.Status != StatusTransferred {
		return NotExpired.New()
	}
	if err := noRenewal(ctx, tx, v.OrganizationID, v.ID); err != nil {
		return err
	}
	if v.TransferRequestedAt != nil && v.Status != StatusTransferred {
		return TransferInFlight.New()
	}
	return nil
}

// zoneMustBeEmpty refuses a zone with records besides those it was created
// with.
func (d *Domains) zoneMustBeEmpty(ctx context.Context, c *op.Call, v *Domain) error {
	rows, err := d.Zones.Rows(ctx, c, zone.Ref{Org: v.OrganizationID, Domain: v.ID, Name: v.Name})
	if err != nil {
		return fault.Unavailable.Because(err)
	}
	var left []Remaining
	for _, r := range rows {
		if r.ManagedBy != zone.BySystem {
			left = append(left, Remaining{r.ID, r.Type, r.Name, r.Content})
		}
	}
	if len(left) == 0 {
		return nil
	}
	return ZoneNotEmpty.With(map[string][]Remaining{"records": left[:min(len(left), 100)]})
}
