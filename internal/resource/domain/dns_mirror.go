package domain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// key tells records of a zone apart. The SOA is one whatever its serial.
func (r Record) key() string {
	if r.Type == "SOA" {
		return r.Type + " " + r.Name
	}
	priority := -1
	if r.Priority != nil {
		priority = *r.Priority
	}
	return fmt.Sprintf("%s %s %d %s", r.Type, r.Name, priority, r.Content)
}

// record is the record that a row stands for.
func (v *DNSRecord) record() Record {
	return Record{Type: v.Type, Name: v.Name, Content: v.Content, TTL: v.TTL, Priority: v.Priority, BuiltIn: v.ManagedBy == bySystem}
}

// replacement is what an open replacement puts in the record's place.
func (v *DNSRecord) replacement() (r Record, err error) {
	return r, json.Unmarshal(v.Wanted, &r)
}

// mirror makes the rows follow what the zone has: a record that came from
// elsewhere gets its id, one that went loses it. It returns the zone as the
// provider told it.
func (z *Zones) mirror(ctx context.Context, s store, at zoneRef) ([]Record, error) {
	for try := 0; ; try++ {
		var before []DNSRecord
		err := s.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			before, err = rowsOf(ctx, tx, at)
			return err
		})
		if err != nil {
			return nil, err
		}
		actual, err := z.DNS.Records(ctx, at.Name)
		if err != nil {
			return nil, dnsRefusal(err)
		}
		d, err := compare(before, actual)
		if err != nil || d.none() {
			return actual, err
		}
		err = s.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			if err := holdZone(ctx, tx, at); err != nil {
				return err
			}
			now, err := rowsOf(ctx, tx, at)
			if err != nil {
				return err
			}
			if !slices.EqualFunc(before, now, func(a, b DNSRecord) bool { return a.ID == b.ID && a.Version == b.Version }) {
				return errMoved
			}
			return z.apply(ctx, tx, at, d)
		})
		// Whoever moved the rows knows the zone as well; after some tries
		// the next look will do.
		if !errors.Is(err, errMoved) || try == 3 {
			if errors.Is(err, errMoved) {
				err = nil
			}
			return actual, err
		}
	}
}

var errMoved = errors.New("domain: the rows moved")

// holdZone locks the root of a zone's rows. While a domain is being registered
// it has no row yet, and only its registration writes.
func holdZone(ctx context.Context, tx *db.Tx, at zoneRef) error {
	err := db.Lock(ctx, tx, "domains", at.Org, at.ID)
	if err != nil && (!errors.Is(err, db.ErrNone) || at.Kind != unborn) {
		return db.Missing(err, "domain")
	}
	// A zone is known by its name alone: what a former holder began must not
	// end in the zone of whoever has the name now.
	h, err := heldNow(ctx, tx, at.Name)
	if err == nil && h != nil && h.Domain != at.ID {
		err = fault.NotFound.Say("Somebody else has %s now.", at.Name)
	}
	return err
}

func rowsOf(ctx context.Context, tx *db.Tx, at zoneRef) ([]DNSRecord, error) {
	return db.All[DNSRecord](ctx, tx, "SELECT "+dnsRecords.Columns()+" FROM dns_records WHERE organization_id = $1 AND domain_id = $2 AND deleted_at IS NULL ORDER BY seq", at.Org, at.ID)
}

// difference is how a zone and its rows differ.
type difference struct {
	came []Record
	went []DNSRecord
	ttls []DNSRecord // with their new TTL
}

func (d *difference) none() bool { return len(d.came)+len(d.went)+len(d.ttls) == 0 }

// compare finds the difference. A row with an open intent may be in the zone
// as it was or as it is wanted; either way it is known.
func compare(rows []DNSRecord, actual []Record) (*difference, error) {
	d := &difference{}
	have := make(map[string]Record, len(actual))
	for _, r := range actual {
		have[r.key()] = r
	}
	known := make(map[string]bool, len(rows))
	for _, row := range rows {
		r := row.record()
		known[r.key()] = true
		found, there := have[r.key()]
		switch {
		case row.Intent != nil:
			if *row.Intent == intentReplace {
				wanted, err := row.replacement()
				if err != nil {
					return nil, err
				}
				known[wanted.key()] = true
			}
		case !there:
			d.went = append(d.went, row)
		case found.TTL != row.TTL:
			row.TTL = found.TTL
			d.ttls = append(d.ttls, row)
		}
	}
	for _, r := range actual {
		if !known[r.key()] {
			known[r.key()] = true
			d.came = append(d.came, r)
		}
	}
	return d, nil
}

func (z *Zones) apply(ctx context.Context, tx *db.Tx, at zoneRef, d *difference) error {
	now := z.Clock.Now()
	for _, row := range d.went {
		if _, err := dnsRecords.Remove(ctx, tx, at.Org, row.ID, now); err != nil {
			return err
		}
	}
	for _, row := range d.ttls {
		row.UpdatedAt = now
		row.Version++
		if err := dnsRecords.Save(ctx, tx, &row); err != nil {
			return err
		}
	}
	for _, r := range d.came {
		by := byUser
		if r.BuiltIn {
			by = bySystem
		}
		row := newRow(op.Record{ID: id.New(), CreatedAt: now, UpdatedAt: now, OrganizationID: at.Org}, at.ID, r, by)
		if err := dnsRecords.Insert(ctx, tx, &row); err != nil {
			return err
		}
	}
	return nil
}

func newRow(common op.Record, domain id.ID, r Record, by string) DNSRecord {
	v := DNSRecord{Record: common, DomainID: domain, ManagedBy: by, Version: 1}
	v.become(r)
	return v
}

// become takes over what a record says.
func (v *DNSRecord) become(r Record) {
	v.Type, v.Name, v.Content, v.TTL, v.Priority = r.Type, r.Name, r.Content, r.TTL, r.Priority
}
