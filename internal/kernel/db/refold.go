package db

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"frontdesk/internal/kernel/clock"
)

// Earlier versions kept the accents in search texts, and did not write the
// organization's code into the index. The table search_refolds lists the columns
// that may still have such texts; RefoldSearchTexts turns them into new ones, a batch at a
// time. Until the table is empty searches look for both forms. A new database has
// none.
var _ = Declare("search_refolds", Life{})

// refoldTask is a column of search texts, and how much of it is done.
type refoldTask struct {
	Seq    int64  `db:"seq"`
	Table  string `db:"table_name"`
	Column string `db:"column_name"`
	Last   int64  `db:"last_seq"` // the last row that is done
	Walk   int    `db:"walk"`     // 1 for the first time through the table, 2 for the second
}

// How much one transaction folds: little enough that nobody has to wait.
const (
	refoldRows  = 200
	refoldBytes = 64 << 10
)

// refoldAgain is when PostgreSQL's texts are gone through once more: a process of an
// older version that still ran beside this one may have written some.
const refoldAgain = time.Hour

// RefoldSearchTexts turns a batch of old search texts into new ones, and reports whether there
// may be more. A periodic job calls it.
func RefoldSearchTexts(ctx context.Context, tx *Tx, now clock.Time) (more bool, err error) {
	r, err := QueryOne[refoldTask](ctx, tx, `
		SELECT seq, table_name, column_name, last_seq, walk FROM search_refolds
		WHERE due_at <= $1 ORDER BY due_at, seq LIMIT 1`, now)
	if errors.Is(err, ErrNoRow) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	done, err := r.foldBatch(ctx, tx)
	switch {
	case err != nil:
	case !done:
		_, err = Exec(ctx, tx, "UPDATE search_refolds SET last_seq = $2 WHERE seq = $1", r.Seq, r.Last)
	case tx.Engine() == Postgres && r.Walk == 1:
		_, err = Exec(ctx, tx, "UPDATE search_refolds SET last_seq = 0, walk = 2, due_at = $2 WHERE seq = $1", r.Seq,
			now.Add(refoldAgain))
	default:
		_, err = Exec(ctx, tx, "DELETE FROM search_refolds WHERE seq = $1", r.Seq)
	}
	return true, err
}

// foldBatch folds the next rows, and reports whether it was the last batch. The old text
// is the row's words in an older form, so folding it gives the new text. A row that
// somebody changes meanwhile has a new text already, and the UPDATE skips it.
func (r *refoldTask) foldBatch(ctx context.Context, tx *Tx) (done bool, err error) {
	type row struct {
		Seq  int64  `db:"seq"`
		Text string `db:"text"`
		Live bool   `db:"live"`
	}
	rows, err := QueryAll[row](ctx, tx, "SELECT seq, "+r.Column+" AS text, deleted_at IS NULL AS live FROM "+r.Table+
		" WHERE seq > $1 ORDER BY seq LIMIT $2", r.Last, refoldRows)
	if err != nil {
		return false, err
	}
	size := 0
	for _, v := range rows {
		if size += len(v.Text); size > refoldBytes && v.Seq != rows[0].Seq {
			return false, nil
		}
		r.Last = v.Seq
		words := SearchText(&v.Text)
		if words != v.Text {
			if _, err := Exec(ctx, tx, "UPDATE "+r.Table+" SET "+r.Column+" = $2 WHERE seq = $1 AND "+r.Column+" = $3",
				v.Seq, words, v.Text); err != nil {
				return false, err
			}
		}
		if v.Live && r.Column == "search" {
			UpdateSearchIndex(tx, r.Table, v.Seq, words)
		}
	}
	return len(rows) < refoldRows, nil
}

// hasOldTexts reports whether there may be old search texts. Once there are none,
// none come back, so it stops asking.
func hasOldTexts(ctx context.Context, tx *Tx) (bool, error) {
	if tx.db.searchRefolded.Load() {
		return false, nil
	}
	n := 0
	if tx.LifeGraph().Tables["search_refolds"] != nil {
		var err error
		if n, err = QueryOne[int](ctx, tx, "SELECT count(*) FROM search_refolds"); err != nil {
			return false, err
		}
	}
	tx.db.searchRefolded.Store(n == 0)
	return n > 0, nil
}

// foldOldStyle is a query in the form of old search texts. PostgreSQL's text cannot have
// a NUL, so none is searched for.
func foldOldStyle(query string) string {
	return strings.Join(strings.FieldsFunc(strings.ReplaceAll(FoldText(query), "\x00", ""), unicode.IsSpace), " ")
}
