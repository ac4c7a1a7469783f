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

// deleteDependents deletes the rows that belong to a row that was just deleted,
// and clears the references to it.
func deleteDependents(ctx context.Context, tx *Tx, table string, org, row id.ID, now clock.Time) error {
	for _, r := range tx.LifeGraph().Referrers[table] {
		if r.Ref.Fate != Ends || !tx.LifeGraph().Tables[r.Table].HasColumn("deleted_at") {
			continue
		}
		if err := deleteChildren(ctx, tx, r, org, row, now); err != nil {
			return err
		}
	}
	return clearReferences(ctx, tx, table, org, row, now)
}

// deleteChildren deletes the rows of one table that belong to a deleted row, and what
// belongs to them in turn. All get the same deleted_at, by which Undelete knows
// what ended together. Rows that nothing refers to need only one statement.
func deleteChildren(ctx context.Context, tx *Tx, r Referrer, org, row id.ID, now clock.Time) error {
	text := "UPDATE " + r.Table + " SET deleted_at = $3, updated_at = $3 WHERE organization_id = $1 AND " +
		r.Ref.Column + " = $2 AND deleted_at IS NULL"
	if len(tx.LifeGraph().Referrers[r.Table]) == 0 && !isSearchable(tx, r.Table) {
		_, err := Exec(ctx, tx, text, org, row, now)
		return err
	}
	type ended struct {
		Seq int64 `db:"seq"`
		ID  id.ID `db:"id"`
	}
	rows, err := QueryAll[ended](ctx, tx, text+" RETURNING seq, id", org, row, now)
	if err != nil {
		return err
	}
	for _, v := range rows {
		if isSearchable(tx, r.Table) {
			UpdateSearchIndex(tx, r.Table, v.Seq, "")
		}
		if err := deleteDependents(ctx, tx, r.Table, org, v.ID, now); err != nil {
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
func clearReferences(ctx context.Context, tx *Tx, table string, org, row id.ID, now clock.Time) error {
	var notes []string
	for _, r := range tx.LifeGraph().Referrers[table] {
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
	rows, err := QueryAll[noted](ctx, tx, `
		INSERT INTO cleared_references (organization_id, created_at, table_name, column_name, row_id, target_id)
		`+strings.Join(notes, "\n\t\tUNION ALL ")+`
		RETURNING table_name, column_name`, org, row, now)
	if err != nil {
		return err
	}
	done := map[noted]bool{}
	for _, v := range rows {
		if done[v] {
			continue
		}
		done[v] = true
		if _, err := Exec(ctx, tx, "UPDATE "+v.Table+" SET "+v.Column+
			" = NULL, updated_at = $3 WHERE organization_id = $1 AND "+
			v.Column+" = $2", org, row, now); err != nil {
			return err
		}
	}
	return nil
}
