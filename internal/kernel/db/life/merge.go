package life

import (
	"context"
	"errors"
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// MovedRows is what a merge did with the rows of a table.
type MovedRows struct {
	Table   string
	IDs     []id.ID // rows that now refer to the row that stays
	Changed []id.ID // of these, the ones that a rule changed
	Dropped []id.ID // rows that a rule deleted, because the row that stays has their like
}

// maxMoved bounds how many rows of a table one merge moves. On SQLite all other
// writes wait for it, and its event lists every row.
const maxMoved = 5000

// ErrTooManyRows refuses to move more rows than one transaction should.
var ErrTooManyRows = errors.New("life: too many rows to move")

// Merge is one row of a table becoming part of another.
type Merge struct {
	Table        string
	Organization id.ID
	From, To     id.ID // the row that goes, and the one that stays
	Now          clock.Time
	Dry          bool // only look; see Repoint
}

// Repoint lets every live row that refers to From refer to To instead, by the
// references that the tables declare, and returns what moved. With Dry it only looks.
// The caller has locked both rows.
func (m *Merge) Repoint(ctx context.Context, tx *db.Tx) (out []MovedRows, err error) {
	for _, r := range tx.LifeGraph().Referrers[m.Table] {
		rows, err := m.repointTable(ctx, tx, r)
		if err != nil {
			return nil, err
		}
		if len(rows.IDs)+len(rows.Dropped) > 0 {
			out = append(out, rows)
		}
	}
	return out, nil
}

// repointTable is Repoint for one reference. The rules come first, because afterwards
// the rows could no longer be told from those of the row that stays.
func (m *Merge) repointTable(ctx context.Context, tx *db.Tx, r db.Referrer) (rows MovedRows, err error) {
	rows.Table = r.Table
	relation := tx.LifeGraph().Tables[r.Table]
	where := " WHERE organization_id = $1 AND " + r.Ref.Column + " = $2"
	if !relation.HasColumn("id") || !relation.HasColumn("deleted_at") { // a helper table, whose rows nobody asks for
		if !m.Dry {
			_, err = db.Exec(ctx, tx, "UPDATE "+r.Table+" SET "+r.Ref.Column+" = $3"+where, m.Organization, m.From,
				m.To)
		}
		return rows, err
	}
	where += " AND deleted_at IS NULL"
	rows.IDs, err = db.QueryAll[id.ID](ctx, tx, "SELECT id FROM "+r.Table+where+" ORDER BY id LIMIT $3",
		m.Organization, m.From, maxMoved+1)
	if err != nil || len(rows.IDs) == 0 {
		return rows, err
	}
	if len(rows.IDs) > maxMoved {
		return rows, ErrTooManyRows
	}
	for _, rule := range db.LifeOfTable(r.Table).MergeRules {
		ids, err := m.applyRule(ctx, tx, rule, r.Table, where)
		if err != nil {
			return rows, err
		}
		if rule.Column == "" {
			rows.Dropped = append(rows.Dropped, ids...)
		} else {
			rows.Changed = append(rows.Changed, ids...)
		}
	}
	dropped := func(v id.ID) bool { return slices.Contains(rows.Dropped, v) }
	rows.IDs, rows.Changed = slices.DeleteFunc(rows.IDs, dropped), slices.DeleteFunc(rows.Changed, dropped)
	if !m.Dry {
		_, err = db.Exec(ctx, tx, "UPDATE "+r.Table+" SET "+r.Ref.Column+" = $3, updated_at = $4"+where, m.Organization,
			m.From, m.To, m.Now)
	}
	return rows, err
}

// applyRule changes or deletes the rows that a rule is for, or only finds them, and
// returns their ids. where selects the rows that are about to move.
func (m *Merge) applyRule(ctx context.Context, tx *db.Tx, rule db.MergeRule, table, where string) ([]id.ID, error) {
	where += " AND " + rule.Where
	if m.Dry {
		return db.QueryAll[id.ID](ctx, tx, "SELECT id FROM "+table+where, m.Organization, m.From, m.To)
	}
	set := "deleted_at = $4"
	if rule.Column != "" {
		set = rule.Column + " = " + rule.SetTo
	}
	return db.QueryAll[id.ID](ctx, tx, "UPDATE "+table+" SET "+set+", updated_at = $4"+where+" RETURNING id",
		m.Organization, m.From, m.To, m.Now)
}

// Undo takes back Repoint: the rows that moved, and still refer to To, refer to From
// again, with the values that a rule replaced unless those were changed since. It
// returns what went back, and what stays because it refers to something else by now or
// From has its like. The caller has locked both rows and restored From; what was
// dropped comes back with that.
func (m *Merge) Undo(ctx context.Context, tx *db.Tx, moved []MovedRows) (back, stays []MovedRows, err error) {
	for _, r := range tx.LifeGraph().Referrers[m.Table] {
		for _, rows := range moved {
			if rows.Table != r.Table || len(rows.IDs) == 0 {
				continue
			}
			ids, err := m.undoTable(ctx, tx, r, rows)
			if err != nil {
				return nil, nil, err
			}
			if len(ids) > 0 {
				back = append(back, MovedRows{Table: r.Table, IDs: ids})
			}
			left := func(v id.ID) bool { return slices.Contains(ids, v) }
			if kept := slices.DeleteFunc(slices.Clone(rows.IDs), left); len(kept) > 0 {
				stays = append(stays, MovedRows{Table: r.Table, IDs: kept})
			}
		}
	}
	return back, stays, nil
}

// undoTable is Undo for one reference, and the rows that moved with it. It returns the
// rows that went back.
func (m *Merge) undoTable(ctx context.Context, tx *db.Tx, r db.Referrer, rows MovedRows) (ids []id.ID, err error) {
	these := " WHERE organization_id = $1 AND " + r.Ref.Column + " = $2 AND id = ANY($4)"
	rules := db.LifeOfTable(r.Table).MergeRules
	where := these
	for _, rule := range rules {
		if rule.Column == "" {
			where += " AND NOT (" + rule.Where + ")"
			continue
		}
		if _, err := db.Exec(ctx, tx, "UPDATE "+r.Table+" SET "+rule.Column+" = "+rule.SetTo+these+" AND "+rule.Where,
			m.Organization, m.To, m.From, rows.IDs); err != nil {
			return nil, err
		}
	}
	ids, err = db.QueryAll[id.ID](ctx, tx, "UPDATE "+r.Table+" SET "+r.Ref.Column+" = $3, updated_at = $5"+where+
		" RETURNING id", m.Organization, m.To, m.From, rows.IDs, m.Now)
	if err != nil {
		return nil, err
	}
	for _, rule := range rules {
		for _, v := range rows.Changed {
			if rule.Column == "" || !slices.Contains(ids, v) {
				continue
			}
			if err := m.restoreValue(ctx, tx, rule, r.Table, v); err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}

// restoreValue gives a row back the value that a rule replaced, unless it was changed
// since or a unique index refuses it: another row may have the value by now. The
// savepoint keeps such a refusal from ending the transaction.
func (m *Merge) restoreValue(ctx context.Context, tx *db.Tx, rule db.MergeRule, table string, row id.ID) error {
	err := tx.RunInSavepoint(ctx, func(ctx context.Context) error {
		_, err := db.Exec(ctx, tx, "UPDATE "+table+" SET "+rule.Column+" = "+rule.RestoreTo+
			" WHERE organization_id = $1 AND id = $2 AND "+rule.Column+" = "+rule.SetTo, m.Organization, row)
		return db.AsNotUnique(err)
	})
	if errors.Is(err, db.ErrNotUnique) {
		return nil
	}
	return err
}
