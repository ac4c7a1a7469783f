package domain

import (
	"context"
	"fmt"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// SetEmail makes these the email records of a domain's zone, and no others:
// what is missing is added, what is there is left, what is no longer wanted is
// removed. It may be called again, also after it failed half-way, and before
// the domain has its row. A caller's own record that says the same becomes an
// email record; one that is in the way is a refusal with DNS_RECORD_CONFLICT.
// Callers cannot change these records. No events are written; whoever calls
// tells of the whole.
//
// Before each record, still is asked with the domain held whether these are
// the right ones yet; its error ends the work, so that of two who set
// different records the later decides.
//
// It calls the provider, so it is never called inside a transaction.
func (z *Zones) SetEmail(ctx context.Context, org, domain id.ID, zone string, want []Record, still func(context.Context, *db.Tx) error) error {
	at := zoneRef{Org: org, ID: domain, Name: zone, Kind: unborn}
	wanted := make(map[string]Record, len(want))
	for i, r := range want {
		if r.TTL == 0 {
			r.TTL = DefaultTTL
		}
		r, tree := r.Canonical(zone)
		if tree != nil {
			return fmt.Errorf("domain: an email record of %s: %w", zone, tree.Fault(fault.Invalid))
		}
		want[i], wanted[r.key()] = r, r
	}
	if _, err := z.mirror(ctx, z.DB, at); err != nil {
		return err
	}
	var stale []id.ID
	err := z.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		stale = nil
		rows, err := rowsOf(ctx, tx, at)
		for _, v := range rows {
			if _, keep := wanted[v.record().key()]; v.ManagedBy == byEmail && !keep {
				stale = append(stale, v.ID)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	// The old go first: an alias may come in the place of a record.
	for _, record := range stale {
		if err := z.manage(ctx, at, removal(record).while(still)); err != nil {
			return err
		}
	}
	for _, r := range want {
		if err := z.manage(ctx, at, z.presence(at, r).while(still)); err != nil {
			return err
		}
	}
	return nil
}

// manage runs one write from its intent to its end.
func (z *Zones) manage(ctx context.Context, at zoneRef, want plan) error {
	v, err := z.begin(ctx, z.DB, at, want)
	if err != nil || v == nil {
		return err
	}
	z.pause("intended")
	// A record that is gone already is what a removal wants.
	if err := z.carryOut(ctx, at.Name, v, true); err != nil {
		return z.giveUp(ctx, z.DB, at, v, err)
	}
	z.pause("written")
	return z.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, _, err := z.settle(ctx, tx, at, v, nil)
		return err
	})
}

// while is the plan for as long as a condition holds.
func (p plan) while(still func(context.Context, *db.Tx) error) plan {
	return func(ctx context.Context, tx *db.Tx, rows []DNSRecord) (*DNSRecord, error) {
		if err := still(ctx, tx); err != nil {
			return nil, err
		}
		return p(ctx, tx, rows)
	}
}

func removal(record id.ID) plan {
	return func(_ context.Context, _ *db.Tx, rows []DNSRecord) (*DNSRecord, error) {
		for i := range rows {
			if v := &rows[i]; v.ID == record {
				v.intend(intentRemove)
				return v, nil
			}
		}
		return nil, nil
	}
}

func (z *Zones) presence(at zoneRef, r Record) plan {
	return func(ctx context.Context, tx *db.Tx, rows []DNSRecord) (*DNSRecord, error) {
		for i := range rows {
			v := &rows[i]
			if !v.record().Same(r) {
				continue
			}
			changed := v.ManagedBy != byEmail
			v.ManagedBy = byEmail
			if v.TTL != r.TTL {
				var err error
				v.intend(intentReplace)
				v.Wanted, err = json.Marshal(r)
				return v, err
			}
			if !changed {
				return nil, nil
			}
			v.Version++
			return nil, dnsRecords.Save(ctx, tx, v)
		}
		if err := r.Fits(others(rows, "")); err != nil {
			return nil, err
		}
		now := z.Clock.Now()
		row := newRow(op.Record{ID: id.New(), CreatedAt: now, UpdatedAt: now, OrganizationID: at.Org}, at.ID, r, byEmail)
		row.intend(intentAdd)
		return &row, nil
	}
}
