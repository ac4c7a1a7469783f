package zone

import (
	"context"
	"fmt"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// EmailRecords decides about the email records of a zone.
type EmailRecords struct {
	// Want lists the email records that the zone should have, given its other
	// records.
	Want func(ctx context.Context, tx *db.Tx, others []Record) ([]Record, error)
	// StillValid is called before each write, with the domain locked. It fails
	// if other records are wanted by now, and that ends the work: of two callers
	// who set different records, the later one decides.
	StillValid func(ctx context.Context, tx *db.Tx) error
}

// SetEmailRecords makes the zone have exactly the wanted email records. It may be called again, even
// after it failed halfway, and before the domain has its row. A caller's own record with the
// same content becomes an email record; one that is in the way is a refusal with
// DNS_RECORD_CONFLICT. Callers cannot change email records. No events are written for single
// records; whoever calls this reports the whole.
//
// It calls the provider, so it must not be called inside a transaction.
func (z *Zones) SetEmailRecords(ctx context.Context, at Ref, e EmailRecords) error {
	if _, err := z.mirrorZone(ctx, z.cfg.DB, at); err != nil {
		return err
	}
	var want []Record
	var stale []id.ID
	err := z.cfg.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		rows, err := loadZoneRows(ctx, tx, at)
		if err != nil {
			return err
		}
		if want, err = e.wantedRecords(ctx, tx, at.Name, rows); err == nil {
			stale = findStaleRecords(rows, want)
		}
		return err
	})
	if err != nil {
		return err
	}
	// The old ones go first: one of them may be a CNAME, beside which nothing can be added.
	for _, record := range stale {
		if err := z.runManagedWrite(ctx, at, planRemoval(record).whileStillValid(e.StillValid)); err != nil {
			return err
		}
	}
	for _, r := range want {
		if err := z.runManagedWrite(ctx, at, z.planPresence(at, r).whileStillValid(e.StillValid)); err != nil {
			return err
		}
	}
	return nil
}

// wantedRecords lists the email records that the zone should have, in the form in which records
// are compared.
func (e *EmailRecords) wantedRecords(
	ctx context.Context, tx *db.Tx, zone string, rows []DNSRecord,
) ([]Record, error) {
	var others []Record
	for i := range rows {
		if rows[i].ManagedBy != ByEmail {
			others = append(others, rows[i].toRecord())
		}
	}
	want, err := e.Want(ctx, tx, others)
	if err != nil {
		return nil, err
	}
	out := make([]Record, len(want))
	for i, r := range want {
		if r.TTL == 0 {
			r.TTL = DefaultTTL
		}
		var tree *fault.Tree
		if out[i], tree = r.Canonical(zone); tree != nil {
			return nil, fmt.Errorf("zone: an email record of %s: %w", zone, tree.Fault(fault.Invalid))
		}
		out[i].keepAddedMechanisms(rows)
	}
	return out, nil
}

// keepAddedMechanisms keeps what callers added to the SPF record of hosted email.
func (r *Record) keepAddedMechanisms(rows []DNSRecord) {
	if r.Type != "TXT" || !IsSPF(r.Content) {
		return
	}
	for i := range rows {
		if v := &rows[i]; v.ManagedBy == ByEmail && v.Type == r.Type && v.Name == r.Name && IsSPF(v.Content) {
			r.Content = mergeSPF(r.Content, v.Content)
			if extendsSPF(v.Content, r.Content) { // in the order that callers gave it
				r.Content = v.Content
			}
		}
	}
}

// findStaleRecords lists the email records of a zone that it should no longer have.
func findStaleRecords(rows []DNSRecord, want []Record) (out []id.ID) {
	wanted := make(map[string]bool, len(want))
	for _, r := range want {
		wanted[r.identityKey()] = true
	}
	for i := range rows {
		if v := &rows[i]; v.ManagedBy == ByEmail && !wanted[v.toRecord().identityKey()] {
			out = append(out, v.ID)
		}
	}
	return out
}

// runManagedWrite runs one write from its intent to its end.
func (z *Zones) runManagedWrite(ctx context.Context, at Ref, want writePlan) error {
	v, err := z.beginWrite(ctx, z.cfg.DB, at, want)
	if err != nil || v == nil {
		return err
	}
	z.pauseAt("intended")
	// Looking at the zone first makes it succeed if the record is already there, or already gone.
	if err := z.carryOutIntent(ctx, at, v, true); err != nil {
		return z.giveUpIntent(ctx, z.cfg.DB, at, v, err)
	}
	z.pauseAt("written")
	return z.cfg.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, _, err := z.settleIntent(ctx, tx, at, v, nil)
		return err
	})
}

// whileStillValid is the plan, unless a check made with the domain locked refuses.
func (p writePlan) whileStillValid(still func(context.Context, *db.Tx) error) writePlan {
	return func(ctx context.Context, tx *db.Tx, rows []DNSRecord) (*DNSRecord, error) {
		if err := still(ctx, tx); err != nil {
			return nil, err
		}
		return p(ctx, tx, rows)
	}
}

// planRemoval plans to remove a record. One that is already gone is nothing to do.
func planRemoval(record id.ID) writePlan {
	return func(_ context.Context, _ *db.Tx, rows []DNSRecord) (*DNSRecord, error) {
		for i := range rows {
			if v := &rows[i]; v.ID == record {
				v.setIntent(intentRemove)
				return v, nil
			}
		}
		return nil, nil
	}
}

// planPresence plans to add an email record, or to make an equal record that the zone has an email
// record with the right TTL.
func (z *Zones) planPresence(at Ref, r Record) writePlan {
	return func(ctx context.Context, tx *db.Tx, rows []DNSRecord) (*DNSRecord, error) {
		for i := range rows {
			v := &rows[i]
			if !v.toRecord().Same(r) {
				continue
			}
			changed := v.ManagedBy != ByEmail
			v.ManagedBy = ByEmail
			if v.TTL != r.TTL {
				return v, v.setReplaceIntent(r)
			}
			if !changed {
				return nil, nil
			}
			v.Version++
			return nil, dnsRecords.Save(ctx, tx, v)
		}
		if err := r.CheckFits(recordsExcept(rows, "")); err != nil {
			return nil, err
		}
		row := z.newSystemRow(at, r, ByEmail)
		row.setIntent(intentAdd)
		return &row, nil
	}
}

// LoadMailPolicies finds the records that decide about the mail of these domains, as their zones were
// last seen: CNAMEs, and the TXT records of hosted email, SPF and DMARC.
func LoadMailPolicies(ctx context.Context, tx *db.Tx, org id.ID, domains []id.ID) (map[id.ID][]Record, error) {
	rows, err := db.QueryAll[DNSRecord](ctx, tx, "SELECT "+dnsRecords.Columns()+`
		FROM dns_records
		WHERE organization_id = $1 AND domain_id = ANY($2) AND deleted_at IS NULL AND `+visibleSQL+`
		AND (type = 'CNAME' OR type = 'TXT' AND
			(managed_by = 'email' OR lower(content) LIKE 'v=spf1 %' OR lower(content) LIKE 'v=dmarc1;%'))`,
		org, domains)
	out := map[id.ID][]Record{}
	for i := range rows {
		out[rows[i].DomainID] = append(out[rows[i].DomainID], rows[i].toRecord())
	}
	return out, err
}
