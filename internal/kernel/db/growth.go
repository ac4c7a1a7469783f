package db

import (
	"context"
	"time"
)

// A plan that PostgreSQL makes for an empty table is a poor one once the table has
// thousands of rows, and autovacuum looks at it again only after up to a minute.
// Until then a list that should read an index reads and sorts everything. Likewise
// new rows wait outside a search index for autovacuum, and each search reads all
// that wait.
const (
	GrowthInterval = time.Second // how often MaintainGrownTables should run

	minGrownRows = 500       // with fewer rows, any plan is quick
	maxGrownRows = 1_000_000 // a table this large doubles too slowly to outrun autovacuum
)

// MaintainGrownTables has PostgreSQL move waiting rows into its search indexes, and analyze
// the tables that have doubled since it last did. It returns the names of those: as
// a table grows it is among them some ten times. Tables whose rows are changed, or
// come and go, are left to autovacuum.
func (d *DB) MaintainGrownTables(ctx context.Context) (grown []string, err error) {
	if d.Engine() == SQLite {
		return nil, nil
	}
	ctx = WithoutOutcome(ctx)
	run := func(text string) error {
		return d.Write(ctx, func(ctx context.Context, tx *Tx) error {
			_, err := Exec(ctx, tx, text)
			return err
		})
	}
	if err := run(flushIndexesQuery); err != nil {
		return nil, err
	}
	err = d.Read(ctx, func(ctx context.Context, tx *Tx) (err error) {
		grown, err = QueryAll[string](ctx, tx, grownTablesQuery, minGrownRows, maxGrownRows)
		return err
	})
	for i, table := range grown {
		// SKIP_LOCKED, because autovacuum gives up its work for whoever waits. It also
		// keeps two processes from the same table.
		if err := run("ANALYZE (SKIP_LOCKED) " + table); err != nil {
			return grown[:i], err
		}
	}
	return grown, err
}

const (
	flushIndexesQuery = `
		SELECT gin_clean_pending_list(i.indexrelid)
		FROM pg_index i
		JOIN pg_class c ON c.oid = i.indexrelid
		JOIN pg_am m ON m.oid = c.relam
		WHERE m.amname = 'gin' AND i.indisvalid AND c.relnamespace = current_schema()::regnamespace`
	grownTablesQuery = `
		SELECT quote_ident(s.relname)
		FROM pg_stat_user_tables s
		JOIN pg_class c ON c.oid = s.relid
		WHERE s.schemaname = current_schema() AND s.n_live_tup BETWEEN $1 AND $2
			AND (coalesce(s.last_analyze, s.last_autoanalyze) IS NULL OR s.n_live_tup > 2 * c.reltuples)
		ORDER BY s.n_live_tup`
)
