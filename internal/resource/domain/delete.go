package domain

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/zone"
)

// BlockingRecord is a record that keeps a domain from being deleted.
type BlockingRecord struct {
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
		if v, err = d.loadDomain(ctx, tx, c.Org, in.ID); err != nil {
			return err
		}
		return checkMayDelete(ctx, tx, v)
	})
	if err != nil {
		return op.Nothing{}, err
	}
	if v.isRegisteredApex() && v.Status == StatusExpired && !c.Rehearsing() {
		if err := d.checkZoneEmpty(ctx, c, v); err != nil {
			return op.Nothing{}, err
		}
	}
	return op.Finish(ctx, c, func(ctx context.Context) (op.Nothing, error) {
		v, err := d.lockDomain(ctx, c.Tx, c.Org, in.ID)
		if err != nil {
			return op.Nothing{}, err
		}
		if err := checkMayDelete(ctx, c.Tx, v); err != nil {
			return op.Nothing{}, err
		}
		if err := checkNoSubdomains(ctx, c.Tx, c.Org, v.ID); err != nil {
			return op.Nothing{}, err
		}
		if _, err := domains.SoftDelete(ctx, c.Tx, c.Org, v.ID, c.Now); err != nil {
			return op.Nothing{}, err
		}
		h, err := findHold(ctx, c.Tx, v.Name)
		if err != nil {
			return op.Nothing{}, err
		}
		if err := releaseNames(ctx, c.Tx, c.Org, v.ID); err != nil {
			return op.Nothing{}, err
		}
		if v.ParentDomainID != nil {
			if err := d.republishParentEmail(ctx, c, *v.ParentDomainID); err != nil {
				return op.Nothing{}, err
			}
		}
		// A domain that was never verified has no zone, and one of its name
		// would be somebody else's.
		if v.Kind == KindApex && (v.Status != StatusPending || h != nil && h.Domain == v.ID) {
			if err := d.enqueueZoneJob(ctx, c.Tx, dropZoneJob, c.Org, v.Name); err != nil {
				return op.Nothing{}, err
			}
		}
		v.DeletedAt, v.UpdatedAt = &c.Now, c.Now
		return op.Nothing{}, c.Emit("domain.deleted", v.ID, v)
	})
}

func (v *Domain) isRegisteredApex() bool { return v.Source == SourceRegistered && v.Kind == KindApex }

// checkMayDelete refuses a registered domain that is still in use.
func checkMayDelete(ctx context.Context, tx *db.Tx, v *Domain) error {
	if !v.isRegisteredApex() {
		return nil
	}
	if v.Status != StatusExpired && v.Status != StatusTransferred {
		return NotExpired.New()
	}
	if err := checkNoRenewal(ctx, tx, v.OrganizationID, v.ID); err != nil {
		return err
	}
	if v.TransferRequestedAt != nil && v.Status != StatusTransferred {
		return TransferInFlight.New()
	}
	return nil
}

// checkZoneEmpty refuses a zone with records besides those it was created
// with.
func (d *Domains) checkZoneEmpty(ctx context.Context, c *op.Call, v *Domain) error {
	rows, err := d.Zones.Rows(ctx, c, zone.Ref{Org: v.OrganizationID, Domain: v.ID, Name: v.Name})
	if err != nil {
		return fault.Unavailable.Because(err)
	}
	var left []BlockingRecord
	for _, r := range rows {
		if r.ManagedBy != zone.BySystem {
			left = append(left, BlockingRecord{r.ID, r.Type, r.Name, r.Content})
		}
	}
	if len(left) == 0 {
		return nil
	}
	return ZoneNotEmpty.WithDetails(map[string][]BlockingRecord{"records": left[:min(len(left), 100)]})
}
