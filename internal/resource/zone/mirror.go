package zone

import (
	"context"
	"errors"
	"slices"

	"frontdesk/internal/kernel/db"
)

var errRowsChanged = errors.New("zone: the rows changed in the meantime")

// mirrorZone makes the rows follow the provider's zone: a record that was added elsewhere gets a
// row, one that was removed loses its row. It returns the zone as the provider has it.
func (z *Zones) mirrorZone(ctx context.Context, s transactor, at Ref) ([]Record, error) {
	for try := 0; ; try++ {
		var before []DNSRecord
		err := s.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			before, err = loadZoneRows(ctx, tx, at)
			return err
		})
		if err != nil {
			return nil, err
		}
		actual, err := z.cfg.DNS.Records(ctx, at.Name)
		if err != nil {
			return nil, providerFault(err)
		}
		d, err := compareZone(before, actual)
		if err != nil || d.isEmpty() {
			return actual, err
		}
		err = s.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			if err := z.cfg.Lock(ctx, tx, at); err != nil {
				return err
			}
			now, err := loadZoneRows(ctx, tx, at)
			if err != nil {
				return err
			}
			if !slices.EqualFunc(before, now, sameVersion) {
				return errRowsChanged
			}
			return z.applyDiff(ctx, tx, at, d)
		})
		// Somebody else changed the rows since they were read. After a few
		// tries the rows stay as they are, and the next call catches up.
		if !errors.Is(err, errRowsChanged) || try == 3 {
			if errors.Is(err, errRowsChanged) {
				err = nil
			}
			return actual, err
		}
	}
}

func sameVersion(a, b DNSRecord) bool { return a.ID == b.ID && a.Version == b.Version }

// zoneDiff is how a zone and its rows differ.
type zoneDiff struct {
	added      []Record
	removed    []DNSRecord
	changedTTL []DNSRecord // rows with their new TTL
}

func (d *zoneDiff) isEmpty() bool { return len(d.added)+len(d.removed)+len(d.changedTTL) == 0 }

// compareZone finds how the zone differs from its rows. A row with an open intent may be in the
// zone as it was or as intended, and is left alone either way.
func compareZone(rows []DNSRecord, actual []Record) (*zoneDiff, error) {
	d := &zoneDiff{}
	have := make(map[string]Record, len(actual))
	for _, r := range actual {
		have[r.identityKey()] = r
	}
	known := make(map[string]bool, len(rows))
	for _, row := range rows {
		r := row.toRecord()
		known[r.identityKey()] = true
		found, there := have[r.identityKey()]
		switch {
		case row.Intent != nil:
			if *row.Intent == intentReplace {
				wanted, err := row.parseReplacement()
				if err != nil {
					return nil, err
				}
				known[wanted.identityKey()] = true
			}
		case !there:
			d.removed = append(d.removed, row)
		case found.TTL != row.TTL:
			row.TTL = found.TTL
			d.changedTTL = append(d.changedTTL, row)
		}
	}
	for _, r := range actual {
		if !known[r.identityKey()] {
			known[r.identityKey()] = true
			d.added = append(d.added, r)
		}
	}
	return d, nil
}

// applyDiff writes the difference into the rows.
func (z *Zones) applyDiff(ctx context.Context, tx *db.Tx, at Ref, d *zoneDiff) error {
	now := z.cfg.Clock.Now()
	for _, row := range d.removed {
		if _, err := dnsRecords.SoftDelete(ctx, tx, at.Org, row.ID, now); err != nil {
			return err
		}
	}
	for _, row := range d.changedTTL {
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
		row := z.newSystemRow(at, r, by)
		if err := dnsRecords.Insert(ctx, tx, &row); err != nil {
			return err
		}
	}
	return nil
}

// Rows are a zone's records as the provider has them now, with their ids. A zone that does not
// exist has none.
func (z *Zones) Rows(ctx context.Context, s transactor, at Ref) (rows []DNSRecord, err error) {
	if _, err := z.mirrorZone(ctx, s, at); err != nil {
		if ProviderStatus(err) == 404 {
			return nil, nil
		}
		return nil, err
	}
	err = s.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		rows, err = loadZoneRows(ctx, tx, at)
		return err
	})
	return rows, err
}
