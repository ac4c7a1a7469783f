package life

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
)

// PurgeStep is one statement of the purge.
type PurgeStep struct {
	Text     string
	Prepares bool // it is a BeforePurge: what it changes says nothing about how much is left
}

// Purge removes for good what was deleted long ago.
type Purge struct{ steps []PurgeStep }

// NewPurge prepares the purge of a database.
func NewPurge(d *db.DB) *Purge { return &Purge{PurgeSteps(d.LifeGraph())} }

// RemoveBatch removes a batch of the rows that were deleted before a moment, and
// reports whether there may be more. It stops at the first step that had a full batch,
// so that a row goes only when nothing belongs to it any more.
func (p *Purge) RemoveBatch(ctx context.Context, tx *db.Tx, before clock.Time, batch int) (more bool, err error) {
	for _, step := range p.steps {
		n, err := db.Exec(ctx, tx, step.Text, before, batch)
		if err != nil || n >= int64(batch) && !step.Prepares {
			return true, err
		}
	}
	return false, nil
}

// PurgeSteps lists the statements that remove deleted rows for good, together with
// the rows that belong to them and the references to them. $1 is the moment
// before which they were deleted, $2 how many one statement may remove.
func PurgeSteps(g *db.LifeGraph) (out []PurgeStep) {
	for _, table := range g.Order {
		l := db.LifeOfTable(table)
		if !g.Tables[table].HasColumn("deleted_at") || l.Permanent && l.Parent.Table != "" {
			continue // no row is deleted on its own
		}
		out = append(out, purgeDependents(g, []db.Referrer{{Table: table}})...)
		if l.Permanent {
			continue
		}
		rows := "SELECT seq FROM " + oldestDeletedSQL(table)
		if l.BeforePurge != "" {
			out = append(out, PurgeStep{strings.ReplaceAll(l.BeforePurge, "ROWS", rows), true})
		}
		out = append(out, PurgeStep{Text: "DELETE FROM " + table + " WHERE seq IN (" + rows + ")"})
	}
	return out
}

// oldestDeletedSQL selects the deleted rows that the next batch removes.
func oldestDeletedSQL(table string) string {
	return table + " WHERE deleted_at <= $1 ORDER BY deleted_at, seq LIMIT $2"
}

// purgeDependents removes what belongs to the deleted rows at the head of a path, and
// clears the references to them, the lowest rows first. Each step of the path
// belongs to the one before.
func purgeDependents(g *db.LifeGraph, path []db.Referrer) (out []PurgeStep) {
	for _, r := range g.Referrers[path[len(path)-1].Table] {
		if isOnPath(path[1:], r.Table) {
			continue // a row that belongs to one of its own kind
		}
		longer := append(path[:len(path):len(path)], r)
		rows := "WHERE seq IN (" + rowsAtPathEndSQL(longer) + ")"
		switch r.Ref.Fate {
		case db.Ends, db.EndsAtPurge:
			out = append(out, purgeDependents(g, longer)...)
			out = append(out, PurgeStep{Text: "DELETE FROM " + r.Table + " " + rows})
		case db.Clears, db.ClearsAtPurge:
			out = append(out, PurgeStep{Text: "UPDATE " + r.Table + " SET " + r.Ref.Column + " = NULL " + rows})
		}
	}
	return out
}

// isOnPath reports whether a path has a table.
func isOnPath(path []db.Referrer, table string) bool {
	return slices.ContainsFunc(path, func(r db.Referrer) bool { return r.Table == table })
}

// rowsAtPathEndSQL is the query for the rows at the end of a path. The deleted rows at its
// head are those that the same batch removes, and no others: a batch that looked at
// all of them would take longer the more there are. A permanent table's deleted rows
// stay, so there all of them are looked at.
func rowsAtPathEndSQL(path []db.Referrer) string {
	head := oldestDeletedSQL(path[0].Table)
	if db.LifeOfTable(path[0].Table).Permanent {
		head = path[0].Table + " WHERE deleted_at <= $1"
	}
	// SQLite joins the tables of a CROSS JOIN in the given order.
	from, where, alias := "(SELECT id, organization_id FROM "+head+") AS p", "", "p"
	for i, r := range path[1:] {
		next := "r" + strconv.Itoa(i)
		from += " CROSS JOIN " + r.Table + " " + next
		where += " AND " + next + ".organization_id = " + alias + ".organization_id AND " + next + "." + r.Ref.Column +
			" = " + alias + ".id"
		alias = next
	}
	return "SELECT " + alias + ".seq FROM " + from + " WHERE TRUE" + where + " LIMIT $2"
}

// ExpiringTable is a table whose rows expire by their age.
type ExpiringTable struct {
	Table string
	db.Expiry
}

// ExpiringTables lists the tables whose rows expire by their age.
func ExpiringTables(d *db.DB) (out []ExpiringTable) {
	for _, table := range d.LifeGraph().Order {
		if e := db.LifeOfTable(table).Expire; e.After != nil {
			out = append(out, ExpiringTable{table, e})
		}
	}
	return out
}

// sweepWindow is how many rows one transaction of a sweep reads: few enough that nobody
// has to wait long.
const sweepWindow = 1000

// NewSweep returns the function that removes old rows from a table without an index
// on their age. It walks the table in the order of insertion, a window per
// transaction, until a window has only younger rows. The rows that follow are
// younger still. Rows that stay by a condition are passed over each time.
func (x ExpiringTable) NewSweep(kept config.Retention) func(ctx context.Context, tx *db.Tx,
	now clock.Time) (more bool, err error) {
	last := int64(0)
	type span struct {
		End    *int64      `db:"last"`
		Oldest *clock.Time `db:"oldest"`
	}
	look := "SELECT max(seq) AS last, min(created_at) AS oldest FROM (SELECT seq, created_at FROM " + x.Table +
		" WHERE seq > $1 ORDER BY seq LIMIT $2) AS next"
	end := "DELETE FROM " + x.Table + " WHERE seq > $1 AND seq <= $2 AND created_at <= $3"
	if x.Where != "" {
		end += " AND (" + x.Where + ")"
	}
	return func(ctx context.Context, tx *db.Tx, now clock.Time) (bool, error) {
		before := now.Add(-x.After(kept))
		s, err := db.QueryOne[span](ctx, tx, look, last, sweepWindow)
		if err != nil || s.End == nil || *s.Oldest > before {
			last = 0
			return false, err
		}
		_, err = db.Exec(ctx, tx, end, last, *s.End, before)
		// Only then: a transaction that is undone or runs again must read the same window.
		tx.OnCommit(func() { last = *s.End })
		return true, err
	}
}
