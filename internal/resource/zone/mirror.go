package zone

import (
	"context"
	"errors"
	"slices"

	"frontdesk/internal/kernel/db"
)

var errMoved = errors.New("zone: the rows changed in the meantime")

// mirror makes the rows follow the provider's zone: a record that was added elsewhere gets a
// row, one that was removed loses its row. It returns the zone as the provider has it.
func (z *Zones) mirror(ctx context.Context, s store, at Ref) ([]Record, error) {
	for try := 0; ; try++ {
		var before []DNSRecord
		err := s.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			before, err = rowsOf(ctx, tx, at)
			return err
		})
		if err != nil {
			return nil, err
		}
		actual, err := z.cfg.DNS.Records(ctx, at.Name)
		if err != nil {
			return nil, refusal(err)
		}
		d, err := compare(before, actual)
		if err != nil || d.empty() {
			return actual, err
		}
		err = s.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			if err := z.cfg.Lock(ctx, tx, at); err != nil {
				return err
			}
			now, err := rowsOf(ctx, tx, at)
			if err != nil {
				return err
			}
			if !slices.EqualFunc(before, now, sameVersion) {
				return errMoved
			}
			return z.apply(ctx, tx, at, d)
		})
		// Somebody else changed the rows since they were read. After a few
		// tries the rows stay as they are, and the next call catches up.
		if !errors.Is(err, errMoved) || try == 3 {
			if errors.Is(err, errMoved) {
				err = nil
			}
			return actual, err
		}
	}
}

func sameVersion(a, b DNSRecord) bool { return a.ID == b.ID && a.Version == b.Version }

// difference is how a zone and its rows differ.
type difference struct {
	added   []Record
	removed []DNSRecord
	ttls    []DNSRecord // rows with their new TTL
}

func (d *difference) empty() bool { return len(d.added)+len(d.removed)+len(d.ttls) == 0 }

// compare finds how the zone differs from its rows. A row with an open intent may be in the
// zone as it was or as intended, and is left alone either way.
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
			d.removed = append(d.removed, row)
		case found.TTL != row.TTL:
			row.TTL = found.TTL
			d.ttls = append(d.ttls, row)
		}
	}
	for _, r := range actual {
		if !known[r.key()] {
			known[r.key()] = true
			d.added = append(d.added, r)
		}
	}
	return d, nil
}

// apply writes the difference into the rows.
func (z *Zones) apply(ctx context.Context, tx *db.Tx, at Ref, d *difference) error {
	now := z.cfg.Clock.Now()
	for _, row := range d.removed {
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
	for _, r := range d.added {
		by := ByUser
		if r.BuiltIn {
			by = BySystem
		}
		row := z.ownRow(at, r, by)
		if err := dnsRecords.Insert(ctx, tx, &row); err != nil {
			return err
		}
	}
	return nil
}

// Rows are a zone's records as the provider has them now, with their ids. A zone that does not
// exist has none.
func (z *Zones) Rows(ctx context.Context, s store, at Ref) (rows []DNSRecord, err error) {
	if _, err := z.mirror(ctx, s, at); err != nil {
		if StatusOf(err) == 404 {
			return nil, nil
		}
		return nil, err
	}
	err = s.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		rows, err = rowsOf(ctx, tx, at)
		return err
	})
	return rows, err
}
