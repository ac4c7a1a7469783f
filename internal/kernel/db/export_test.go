package db

import (
	"context"
	"io"
	"strings"
	"time"
)

// SetPatience says how long the end of a transaction is waited for, until undone.
func SetPatience(d time.Duration) (undo func()) {
	before := endWait
	endWait = d
	return func() { endWait = before }
}

// Explain is the engine's plan for List.
func (t *Table[T]) Explain(ctx context.Context, tx *Tx, w *Where, p Page) (string, error) {
	if _, err := w.chooseLeader(ctx, tx, t.name); err != nil {
		return "", err
	}
	from := t.liveRowsSQL(tx, w)
	if tx.Engine() == Postgres {
		lines, err := QueryAll[string](ctx, tx, "EXPLAIN SELECT seq FROM "+from+
			" ORDER BY created_at DESC, seq DESC LIMIT 10",
			w.args...)
		return strings.Join(lines, "\n"), err
	}
	type step struct {
		ID     int    `db:"id"`
		Parent int    `db:"parent"`
		Unused int    `db:"notused"`
		Detail string `db:"detail"`
	}
	steps, err := QueryAll[step](ctx, tx,
		"EXPLAIN QUERY PLAN SELECT seq FROM "+from+" ORDER BY created_at DESC, seq DESC LIMIT 10", w.args...)
	var plan strings.Builder
	for _, s := range steps {
		plan.WriteString(s.Detail + "\n")
	}
	return plan.String(), err
}

// OutcomeAfter commits work on PostgreSQL, and tells what is said of the commit
// after something else happened.
func OutcomeAfter(ctx context.Context, d *DB, work Func, then func()) error {
	var m commitMark
	err := d.Write(ctx, func(ctx context.Context, tx *Tx) error {
		err := work(ctx, tx)
		m = tx.session.(*postgresSession).mark
		return err
	})
	if err != nil {
		return err
	}
	then()
	return d.engine.(*postgresEngine).findOutcome(ctx, m, io.EOF)
}

// Uncertain is uncertain.
var Uncertain = isCommitUncertain

// OldText is a search text as it was before Refold.
func OldText(s string) string { return " " + foldOldStyle(s) }
