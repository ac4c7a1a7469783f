package db

import (
	"context"
	"errors"
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
)

// MergeRule is what happens to a row that refers to a merged row but cannot move to the
// row that stays as it is, because that one has its like: a second primary address,
// the same address again.
type MergeRule struct {
	Where string // which rows, as a condition: $1 is the organization, $3 the row that stays

	// Column, which has the first of these values, gets the second; both are SQL.
	// Without a column the rows are deleted.
	Column, RestoreTo, SetTo string
}

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
var ErrTooManyRows = errors.New("db: too many rows to move")

// RepointReferences lets every live row that refers to the row from refer to the row to
// instead, by the references that the tables declare, and returns what moved. With
// dry it only looks. The caller has locked both rows.
func RepointReferences(ctx context.Context, tx *Tx, table string, org, from, to id.ID, now clock.Time,
	dry bool) (out []MovedRows, err error) {
	for _, r := range tx.db.referrers(table) {
		m, err := repointTable(ctx, tx, r, org, from, to, now, dry)
		if err != nil {
			return nil, err
		}
		if len(m.IDs)+len(m.Dropped) > 0 {
			out = append(out, m)
		}
	}
	return out, nil
}

// repointTable is RepointReferences for one reference. The rules come first, because afterwards
// the rows could no longer be told from those of the row that stays.
func repointTable(ctx context.Context, tx *Tx, r referrer, org, from, to id.ID, now clock.Time, dry bool) (m MovedRows,
	err error) {
	m.Table = r.table
	relation := tx.db.relation(r.table)
	where := " WHERE organization_id = $1 AND " + r.ref.Column + " = $2"
	if !relation.HasColumn("id") || !relation.HasColumn("deleted_at") { // a helper table, whose rows nobody asks for
		if !dry {
			_, err = Exec(ctx, tx, "UPDATE "+r.table+" SET "+r.ref.Column+" = $3"+where, org, from, to)
		}
		return m, err
	}
	where += " AND deleted_at IS NULL"
	m.IDs, err = QueryAll[id.ID](ctx, tx, "SELECT id FROM "+r.table+where+" ORDER BY id LIMIT $3", org, from,
		maxMoved+1)
	if err != nil || len(m.IDs) == 0 {
		return m, err
	}
	if len(m.IDs) > maxMoved {
		return m, ErrTooManyRows
	}
	for _, y := range declaredLives[r.table].MergeRules {
		rows, err := y.applyToRows(ctx, tx, r.table, where, dry, org, from, to, now)
		if err != nil {
			return m, err
		}
		if y.Column == "" {
			m.Dropped = append(m.Dropped, rows...)
		} else {
			m.Changed = append(m.Changed, rows...)
		}
	}
	dropped := func(v id.ID) bool { return slices.Contains(m.Dropped, v) }
	m.IDs, m.Changed = slices.DeleteFunc(m.IDs, dropped), slices.DeleteFunc(m.Changed, dropped)
	if !dry {
		set := " SET " + r.ref.Column + " = $3, updated_at = $4"
		_, err = Exec(ctx, tx, "UPDATE "+r.table+set+where, org, from, to, now)
	}
	return m, err
}

// applyToRows changes or deletes the rows that the rule is for, or only finds them, and
// returns their ids. where selects the rows that are about to move.
func (y MergeRule) applyToRows(ctx context.Context, tx *Tx, table, where string, dry bool, org, from, to id.ID,
	now clock.Time) (
	[]id.ID, error) {
	where += " AND " + y.Where
	if dry {
		return QueryAll[id.ID](ctx, tx, "SELECT id FROM "+table+where, org, from, to)
	}
	set := "deleted_at = $4"
	if y.Column != "" {
		set = y.Column + " = " + y.SetTo
	}
	return QueryAll[id.ID](ctx, tx, "UPDATE "+table+" SET "+set+", updated_at = $4"+where+" RETURNING id", org, from,
		to, now)
}

// UndoRepoint takes back RepointReferences from one row to another: the rows that moved, and
// still refer to the other, refer to the first again, with the values that a rule
// replaced unless those were changed since. It returns what went back, and what
// stays because it refers to something else by now or the first has its like. The
// caller has locked both rows and restored the first; what was dropped comes back
// with that.
func UndoRepoint(ctx context.Context, tx *Tx, table string, org, from, to id.ID, now clock.Time, moved []MovedRows) (
	back, stays []MovedRows, err error) {
	for _, r := range tx.db.referrers(table) {
		for _, m := range moved {
			if m.Table != r.table || len(m.IDs) == 0 {
				continue
			}
			ids, err := undoRepointTable(ctx, tx, r, org, from, to, now, m)
			if err != nil {
				return nil, nil, err
			}
			if len(ids) > 0 {
				back = append(back, MovedRows{Table: r.table, IDs: ids})
			}
			left := func(v id.ID) bool { return slices.Contains(ids, v) }
			if kept := slices.DeleteFunc(slices.Clone(m.IDs), left); len(kept) > 0 {
				stays = append(stays, MovedRows{Table: r.table, IDs: kept})
			}
		}
	}
	return back, stays, nil
}

// undoRepointTable is UndoRepoint for one reference, and the rows that moved with it.
func undoRepointTable(ctx context.Context, tx *Tx, r referrer, org, from, to id.ID, now clock.Time,
	m MovedRows) (ids []id.ID, err error) {
	these := " WHERE organization_id = $1 AND " + r.ref.Column + " = $2 AND id = ANY($4)"
	yields := declaredLives[r.table].MergeRules
	where := these
	for _, y := range yields {
		if y.Column == "" {
			where += " AND NOT (" + y.Where + ")"
			continue
		}
		if _, err := Exec(ctx, tx, "UPDATE "+r.table+" SET "+y.Column+" = "+y.SetTo+these+" AND "+y.Where, org, to,
			from, m.IDs); err != nil {
			return nil, err
		}
	}
	ids, err = QueryAll[id.ID](ctx, tx, "UPDATE "+r.table+" SET "+r.ref.Column+" = $3, updated_at = $5"+where+
		" RETURNING id", org, to, from, m.IDs, now)
	if err != nil {
		return nil, err
	}
	for _, y := range yields {
		for _, v := range m.Changed {
			if y.Column == "" || !slices.Contains(ids, v) {
				continue
			}
			// One by one, each behind a savepoint: a unique index may refuse the value of one.
			err := tx.RunInSavepoint(ctx, func(ctx context.Context) error {
				_, err := Exec(ctx, tx, "UPDATE "+r.table+" SET "+y.Column+" = "+y.RestoreTo+
					" WHERE organization_id = $1 AND id = $2 AND "+y.Column+" = "+y.SetTo, org, v)
				return asNotUnique(err)
			})
			if err != nil && !errors.Is(err, ErrNotUnique) { // not unique: another row has the value by now
				return nil, err
			}
		}
	}
	return ids, nil
}
