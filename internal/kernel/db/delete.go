package db

import (
	"context"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/id"
)

// A deletion records the references that it clears. Undelete sets them again, and
// an erasure finds by them the rows about a person who was deleted before. So they
// are kept as long as events are.
var _ = Declare("cleared_references", Life{
	Refs:   []Ref{RefTo("row_id", "", Keeps), RefTo("target_id", "", Keeps)},
	Expire: Expiry{After: func(r config.Retention) time.Duration { return r.Events }},
})

// deletion is the deletion of a row with all that goes with it.
type deletion struct {
	tx  *Tx
	org id.ID
	now clock.Time
}

// deleteDependents deletes the rows that belong to a row that was just deleted,
// and clears the references to it.
func (d deletion) deleteDependents(ctx context.Context, table string, row id.ID) error {
	graph := d.tx.LifeGraph()
	for _, r := range graph.Referrers[table] {
		if r.Ref.Fate != Ends || !graph.Tables[r.Table].HasColumn("deleted_at") {
			continue
		}
		if err := d.deleteChildren(ctx, r, row); err != nil {
			return err
		}
	}
	return d.clearReferences(ctx, table, row)
}

// deleteChildren deletes the rows of one table that belong to a deleted row, and what
// belongs to them in turn. All get the same deleted_at, by which Undelete knows
// what ended together. Rows that nothing refers to need only one statement.
func (d deletion) deleteChildren(ctx context.Context, r Referrer, row id.ID) error {
	text := "UPDATE " + r.Table + " SET deleted_at = $3, updated_at = $3 WHERE organization_id = $1 AND " +
		r.Ref.Column + " = $2 AND deleted_at IS NULL"
	searchable := isSearchable(d.tx, r.Table)
	if len(d.tx.LifeGraph().Referrers[r.Table]) == 0 && !searchable {
		_, err := Exec(ctx, d.tx, text, d.org, row, d.now)
		return err
	}
	type ended struct {
		Seq int64 `db:"seq"`
		ID  id.ID `db:"id"`
	}
	rows, err := QueryAll[ended](ctx, d.tx, text+" RETURNING seq, id", d.org, row, d.now)
	if err != nil {
		return err
	}
	for _, v := range rows {
		if searchable {
			UpdateSearchIndex(d.tx, r.Table, v.Seq, "")
		}
		if err := d.deleteDependents(ctx, r.Table, v.ID); err != nil {
			return err
		}
	}
	return nil
}

// isSearchable reports whether a table's rows can be searched for.
func isSearchable(tx *Tx, table string) bool {
	return tx.LifeGraph().Tables[table].HasColumn("search")
}

// clearReferences clears the visible references to a deleted row. One statement records
// them all and says which tables had any; most rows have none, and then it is the
// only statement.
func (d deletion) clearReferences(ctx context.Context, table string, row id.ID) error {
	var notes []string
	for _, r := range d.tx.LifeGraph().Referrers[table] {
		if r.Ref.Fate == Clears {
			notes = append(notes, "SELECT organization_id, CAST($3 AS BIGINT), '"+r.Table+"', '"+r.Ref.Column+"', id, "+
				r.Ref.Column+" FROM "+r.Table+" WHERE organization_id = $1 AND "+r.Ref.Column+" = $2")
		}
	}
	if len(notes) == 0 {
		return nil
	}
	type noted struct {
		Table  string `db:"table_name"`
		Column string `db:"column_name"`
	}
	rows, err := QueryAll[noted](ctx, d.tx, `
		INSERT INTO cleared_references (organization_id, created_at, table_name, column_name, row_id, target_id)
		`+strings.Join(notes, "\n\t\tUNION ALL ")+`
		RETURNING table_name, column_name`, d.org, row, d.now)
	if err != nil {
		return err
	}
	done := map[noted]bool{}
	for _, v := range rows {
		if done[v] {
			continue
		}
		done[v] = true
		if _, err := Exec(ctx, d.tx, "UPDATE "+v.Table+" SET "+v.Column+
			" = NULL, updated_at = $3 WHERE organization_id = $1 AND "+
			v.Column+" = $2", d.org, row, d.now); err != nil {
			return err
		}
	}
	return nil
}
