package db

import (
	"context"
	"errors"
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
)

// Yield is what happens to a row that cannot move as it is when the row that it
// names is merged into another, because the other has its like.
type Yield struct {
	Only string // the rows, as SQL: $1 is the organization, $3 the row that stays
	Set  string // the SET of an UPDATE; without it they are deleted
}

// Moved is what a merge did with the rows of a table.
type Moved struct {
	Table   string
	IDs     []id.ID // now name the row that stays
	Changed []id.ID // of these, what was changed on the way
	Dropped []id.ID // were deleted, because the row that stays has their like
}

// maxMoved bounds how many rows of a table one merge moves. On SQLite all other
// writes wait for it, and the event lists them.
const maxMoved = 5000

// ErrTooMany refuses to move more rows than one transaction should.
var ErrTooMany = errors.New("db: too many rows to move")

// Repoint lets every live row that names one row name another instead, by the
// references that the tables declare, and returns what moved. With dry it only
// looks. The caller has locked both rows.
func Repoint(ctx context.Context, tx *Tx, table string, org, from, to id.ID, now clock.Time, dry bool) (out []Moved,
	err error) {
	for _, r := range tx.db.referrers(table) {
		m, err := repoint(ctx, tx, r, org, from, to, now, dry)
		if err != nil {
			return nil, err
		}
		if len(m.IDs)+len(m.Dropped) > 0 {
			out = append(out, m)
		}
	}
	return out, nil
}

func repoint(ctx context.Context, tx *Tx, r referrer, org, from, to id.ID, now clock.Time, dry bool) (m Moved,
	err error) {
	m.Table = r.table
	relation := tx.db.relation(r.table)
	where := " WHERE organization_id = $1 AND " + r.ref.Column + " = $2"
	if !relation.Has("id") || !relation.Has("deleted_at") { // an index that its owner keeps, told by nobody
		if !dry {
			_, err = Exec(ctx, tx, "UPDATE "+r.table+" SET "+r.ref.Column+" = $3"+where, org, from, to)
		}
		return m, err
	}
	where += " AND deleted_at IS NULL"
	m.IDs, err = All[id.ID](ctx, tx, "SELECT id FROM "+r.table+where+" ORDER BY id LIMIT $3", org, from, maxMoved+1)
	if err != nil || len(m.IDs) == 0 {
		return m, err
	}
	if len(m.IDs) > maxMoved {
		return m, ErrTooMany
	}
	for _, y := range lives[r.table].Yields {
		rows, err := y.apply(ctx, tx, r.table, where, dry, org, from, to, now)
		if err != nil {
			return m, err
		}
		if y.Set == "" {
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

// apply changes or deletes the rows that give way, or only finds them.
func (y Yield) apply(ctx context.Context, tx *Tx, table, where string, dry bool, org, from, to id.ID, now clock.Time) (
	[]id.ID, error) {
	where += " AND " + y.Only
	if dry {
		return All[id.ID](ctx, tx, "SELECT id FROM "+table+where, org, from, to)
	}
	set := y.Set
	if set == "" {
		set = "deleted_at = $4"
	}
	return All[id.ID](ctx, tx, "UPDATE "+table+" SET "+set+", updated_at = $4"+where+" RETURNING id", org, from, to,
		now)
}
