package db

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"

	"github.com/jackc/pgx/v5/pgconn"
	"zombiezen.com/go/sqlite"
)

// ErrNotUnique says that a unique index forbids it: another row has the value by now.
var ErrNotUnique = errors.New("db: the place is taken")

// Undelete brings a deleted row back that was not purged yet, with what was deleted
// with it and the references to it that were cleared. It returns the row and
// whether it was deleted at all. A 404 means that there is no such row, or none any
// more; ErrNotUnique means that another row has taken its place.
func (t *Table[T]) Undelete(ctx context.Context, tx *Tx, org, row id.ID, now clock.Time) (v *T, was bool, err error) {
	at, err := QueryOne[*clock.Time](ctx, tx, lockColumnSQL(tx, "deleted_at", t.name), org, row)
	if err != nil {
		return nil, false, t.asNotFound(err)
	}
	if at != nil {
		if err := (undeletion{tx, org, *at, now}).undeleteRow(ctx, t.name, row); err != nil {
			return nil, false, AsNotUnique(err)
		}
	}
	v, err = t.Get(ctx, tx, org, row)
	return v, at != nil, err
}

// lockColumnSQL is the statement that locks a row, deleted or not, and reads one of
// its columns.
func lockColumnSQL(tx *Tx, column, table string) string {
	text := "SELECT " + column + " FROM " + table + " WHERE organization_id = $1 AND id = $2"
	if tx.Engine() == Postgres {
		text += " FOR NO KEY UPDATE"
	}
	return text
}

// undeletion is the undoing of a deletion.
type undeletion struct {
	tx        *Tx
	org       id.ID
	deletedAt clock.Time
	now       clock.Time
}

// undeleteRow brings back one row, and the rows below it that were deleted at the same
// moment. Those that were deleted before stay deleted.
func (u undeletion) undeleteRow(ctx context.Context, table string, row id.ID) error {
	if isSearchable(u.tx, table) {
		type indexed struct {
			Seq    int64  `db:"seq"`
			Search string `db:"search"`
		}
		v, err := QueryOne[indexed](ctx, u.tx, "SELECT seq, search FROM "+table+" WHERE id = $1", row)
		if err != nil {
			return err
		}
		UpdateSearchIndex(u.tx, table, v.Seq, v.Search)
	}
	if _, err := Exec(ctx, u.tx, "UPDATE "+table+
		" SET deleted_at = NULL, updated_at = $3 WHERE organization_id = $1 AND id = $2",
		u.org, row, u.now); err != nil {
		return err
	}
	graph := u.tx.LifeGraph()
	for _, r := range graph.Referrers[table] {
		if r.Ref.Fate != Ends || !graph.Tables[r.Table].HasColumn("deleted_at") {
			continue
		}
		below, err := QueryAll[id.ID](ctx, u.tx,
			"SELECT id FROM "+r.Table+" WHERE organization_id = $1 AND "+r.Ref.Column+
				" = $2 AND deleted_at = $3", u.org, row, u.deletedAt)
		if err != nil {
			return err
		}
		for _, v := range below {
			if err := u.undeleteRow(ctx, r.Table, v); err != nil {
				return err
			}
		}
	}
	return u.restoreReferences(ctx, row)
}

// restoreReferences sets the references that the deletion of a row cleared, unless they
// name another row by now, and forgets the record of them.
func (u undeletion) restoreReferences(ctx context.Context, row id.ID) error {
	type cleared struct {
		Table  string `db:"table_name"`
		Column string `db:"column_name"`
	}
	of := " FROM cleared_references WHERE organization_id = $1 AND target_id = $2"
	columns, err := QueryAll[cleared](ctx, u.tx, "SELECT DISTINCT table_name, column_name"+of, u.org, row)
	if err != nil || len(columns) == 0 {
		return err
	}
	for _, c := range columns {
		if _, err := Exec(ctx, u.tx, "UPDATE "+c.Table+" SET "+c.Column+
			" = $2, updated_at = $5 WHERE organization_id = $1 AND "+
			c.Column+" IS NULL AND id IN (SELECT row_id"+of+" AND table_name = $3 AND column_name = $4)",
			u.org, row, c.Table, c.Column, u.now); err != nil {
			return err
		}
	}
	_, err = Exec(ctx, u.tx, "DELETE"+of, u.org, row)
	return err
}

// AsNotUnique joins ErrNotUnique to the violation of a unique index. Other errors stay
// as they are. 23505 is PostgreSQL's unique_violation.
func AsNotUnique(err error) error {
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg) && pg.Code == "23505":
		return errors.Join(ErrNotUnique, err)
	case sqlite.ErrCode(err) == sqlite.ResultConstraintUnique:
		return errors.Join(ErrNotUnique, err)
	}
	return err
}
