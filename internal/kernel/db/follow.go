package db

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// The search index of SQLite follows its table. A new row is indexed together with
// others shortly after it was committed: FTS5 flushes at every commit, which costs
// a single write more than its row. Rows with a higher number than the last one in
// the index are waiting for it. A search reads these one by one, and after a crash
// the index goes on from there, so no other record of them is needed. Changes of
// rows that are indexed are applied by their own transaction. A row that is deleted
// leaves an empty text, because the last one of the index must stay.
const (
	indexDelay      = 250 * time.Millisecond // how long a new row waits for others
	indexBatchRows  = 500                    // rows in one transaction
	indexBatchBytes = 256 << 10              // and about how much text
	maxWaitingRows  = 2000                   // waiting rows, after which writes wait for the index
)

// lastIndexedSQL is SQL for the number of the last row in a table's index.
const lastIndexedSQL = "coalesce((SELECT rowid FROM %[1]s_search ORDER BY rowid DESC LIMIT 1), 0)"

// indexFollower is what the writer knows about the search indexes. Only the writer's
// goroutine uses it.
type indexFollower struct {
	lastIndexed   map[string]int64 // the last row of each index, by table; filled when needed
	waitingTables map[string]bool  // tables with rows that wait, perhaps
	waitingRows   int              // how many wait, about
	due           *time.Timer      // when catchUpIndex runs next
}

// findWaitingTables finds the tables with an index and has all of them looked at soon: a crash
// may have left rows waiting.
func (w *writer) findWaitingTables() error {
	w.indexFollower = indexFollower{lastIndexed: map[string]int64{}, waitingTables: map[string]bool{},
		due: time.NewTimer(0)}
	indexes, err := w.conn.firstColumn("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%fts5%'")
	for _, name := range indexes {
		w.waitingTables[strings.TrimSuffix(name, "_search")] = true
	}
	return err
}

// applyIndexChanges indexes what the requests of a commit changed, inside its transaction,
// and leaves new rows for later.
func (w *writer) applyIndexChanges(ran []*writeRequest) error {
	for _, r := range ran {
		if r.err != nil {
			continue
		}
		for _, row := range r.tx.indexChanges {
			last, err := w.lastIndexedRow(r.ctx, row.Table)
			if err != nil {
				return err
			}
			if row.Seq > last {
				w.noteWaitingRow(row.Table)
			} else if err := w.writeIndexRow(r.ctx, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// noteWaitingRow notes that a table has one more row that waits.
func (w *writer) noteWaitingRow(table string) {
	w.waitingRows++
	if len(w.waitingTables) == 0 {
		w.due.Reset(indexDelay)
	}
	w.waitingTables[table] = true
}

// lastIndexedRow is the number of the last row in a table's index.
func (w *writer) lastIndexedRow(ctx context.Context, table string) (int64, error) {
	if last, ok := w.lastIndexed[table]; ok {
		return last, nil
	}
	last, err := QueryOne[int64](ctx, w.newWriteTx(), fmt.Sprintf("SELECT "+lastIndexedSQL, table))
	if err != nil {
		return 0, fmt.Errorf("db: search index: %w", err)
	}
	w.lastIndexed[table] = last
	return last, nil
}

// writeIndexRow writes a row's text into the index, with its organization's code before
// it (see ftsQuery). A deleted row keeps an empty text.
func (w *writer) writeIndexRow(ctx context.Context, row indexChange) error {
	code := "search_code((SELECT organization_id FROM " + row.Table + " WHERE seq = $1)) || "
	if row.Text == "" {
		code = ""
	}
	// INSERT … SELECT would be a savepoint, at which FTS5 flushes.
	_, err := w.conn.execStatement(ctx,
		"INSERT OR REPLACE INTO "+row.Table+"_search (rowid, search) VALUES ($1, "+code+"$2)", []any{row.Seq, row.Text})
	if err != nil {
		return fmt.Errorf("db: search index: %w", err)
	}
	return nil
}

// catchUpIndex indexes some of the rows that wait, in a transaction of its own. On an
// error it tries again after a second; searches then read the waiting rows.
func (w *writer) catchUpIndex() {
	if len(w.waitingTables) == 0 {
		return
	}
	ctx := context.Background()
	err := w.conn.execSimple("BEGIN IMMEDIATE")
	if err == nil {
		if err = w.indexWaitingRows(ctx); err == nil {
			err = w.commitRequests(nil)
		} else if undo := w.conn.execSimple("ROLLBACK"); undo != nil && !w.conn.AutocommitEnabled() {
			w.failFatally(fmt.Errorf("db: cannot roll back: %w", undo))
		}
	}
	switch {
	case err != nil:
		w.db.opts.Log.Warn("the search index has to wait", "err", err)
		clear(w.lastIndexed) // some of it may have been undone
		w.waitingRows = 0
		w.due.Reset(time.Second)
	case len(w.waitingTables) > 0:
		w.due.Reset(0)
	default:
		w.waitingRows = 0
	}
}

// indexWaitingRows indexes one batch of rows, and forgets the tables that have no
// others. A full batch leaves its table for the next one.
func (w *writer) indexWaitingRows(ctx context.Context) error {
	rows, bytes := 0, 0
	for table := range w.waitingTables {
		last, err := w.lastIndexedRow(ctx, table)
		if err != nil {
			return err
		}
		next, err := QueryAll[indexChange](ctx, w.newWriteTx(), "SELECT '"+table+"' AS table_name, seq, "+
			"CASE WHEN deleted_at IS NULL THEN search ELSE '' END AS text FROM "+table+
			" WHERE seq > $1 ORDER BY seq LIMIT $2", last, indexBatchRows)
		if err != nil {
			return err
		}
		for _, row := range next {
			if err := w.writeIndexRow(ctx, row); err != nil {
				return err
			}
			w.lastIndexed[table] = row.Seq
			rows, bytes = rows+1, bytes+len(row.Text)
			if rows >= indexBatchRows || bytes >= indexBatchBytes {
				w.waitingRows = max(0, w.waitingRows-rows)
				return nil
			}
		}
		delete(w.waitingTables, table)
	}
	return nil
}
