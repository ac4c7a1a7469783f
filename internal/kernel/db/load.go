package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"zombiezen.com/go/sqlite"
)

// ErrNotEmpty says that a restore would mix two sets of data.
var ErrNotEmpty = errors.New("the database already has organizations; a backup can only be restored into an empty one")

// ProgressFunc receives the progress of long work, a line at a time. It may be nil.
type ProgressFunc func(line string)

// Load is whole tables on their way into an empty database. It is the other end of a
// Snapshot, which takes them out of one.
type Load struct {
	Schema int64      // of the rows; the database gets it
	Tables []Relation // that this schema has
	// Before, which may be nil, is called once the database is known to be empty and
	// unused, and before anything changes. Its error ends the load.
	Before func(context.Context) error
	// Fill passes each table and its rows to load.
	Fill func(ctx context.Context, load LoadTableFunc) error
	Say  ProgressFunc
}

// LoadTableFunc loads all rows of one table by calling next until there are none. last
// is the highest number that a row of it ever had, or 0 if nobody knows.
type LoadTableFunc func(ctx context.Context, r *Relation, last int64, next func() ([]any, error)) error

// LoadEmpty fills a database that has no organizations and that no process has open.
// If it fails, nothing is left behind but, on PostgreSQL, the schema. The schema is
// then the load's; Open migrates it.
func LoadEmpty(ctx context.Context, o Options, l Load) error {
	if l.Before == nil {
		l.Before = func(context.Context) error { return nil }
	}
	if o.URL != "" {
		return l.fillPostgres(ctx, o)
	}
	return l.replaceSQLite(ctx, o)
}

// hasNoOrganizations reports whether a database has no organizations. Other rows, such as the
// jobs of a server that once started, do not count.
func (s *Snapshot) hasNoOrganizations(ctx context.Context) (bool, error) {
	for i := range s.Tables {
		if s.Tables[i].Name != "organizations" {
			continue
		}
		n := int64(0)
		err := s.source.readRows(ctx, "SELECT count(*) FROM organizations", []Column{{"n", TypeInt}}, nil,
			func(c []Cell) error { n = c[0].Int; return nil })
		return n == 0, err
	}
	return true, nil
}

// replaceSQLite fills a new file beside the old one and replaces the old one once
// the new one is complete and on disk.
func (l *Load) replaceSQLite(ctx context.Context, o Options) error {
	dir := filepath.Dir(o.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock, err := o.LockFile()
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err := os.Stat(o.Path); err == nil {
		s, err := openSnapshot(ctx, o)
		if err != nil {
			return err
		}
		empty, err := s.hasNoOrganizations(ctx)
		s.source.releaseView()
		if err == nil && !empty {
			err = ErrNotEmpty
		}
		if err != nil {
			return err
		}
	}
	if err := l.Before(ctx); err != nil {
		return err
	}
	temp := o.Path + ".restoring"
	if err := removeSQLiteFiles(temp, true); err != nil {
		return err
	}
	defer removeSQLiteFiles(temp, true) //nolint:errcheck // it is removed at the next try
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := migrateSQLite(ctx, temp, wantedSchema{o.Migrations, l.Schema}); err != nil {
		return err
	}
	if err := l.fillSQLite(ctx, temp); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	// The old log must be gone before the new file gets the name, or it would be
	// replayed into it.
	if err := removeSQLiteFiles(o.Path, false); err != nil {
		return err
	}
	if err := SyncDir(dir); err != nil {
		return err
	}
	if err := os.Rename(temp, o.Path); err != nil {
		return err
	}
	return SyncDir(dir)
}

// removeSQLiteFiles removes a database's log, and the file itself too if all.
func removeSQLiteFiles(path string, all bool) error {
	names := []string{path + "-wal", path + "-shm", path + "-journal"}
	if all {
		names = append(names, path)
	}
	for _, n := range names {
		if err := os.Remove(n); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// fillSQLite loads into a file that nobody else uses, so it needs no journal: a
// file that failed is thrown away. Foreign keys are checked at the end.
func (l *Load) fillSQLite(ctx context.Context, path string) (err error) {
	raw, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return fmt.Errorf("db: %w", err)
	}
	c := &conn{raw, map[string]*sqlite.Stmt{}}
	defer func() { err = errors.Join(err, c.Close()) }()
	c.SetInterrupt(ctx.Done())
	if err := c.registerSearchCode(); err != nil {
		return err
	}
	for _, s := range []string{"PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA foreign_keys = OFF",
		"PRAGMA cache_size = -131072", "BEGIN"} {
		if err := c.execSimple(s); err != nil {
			return err
		}
	}
	into := &sqliteLoader{conn: c}
	// Indexes created at the end are sorted once instead of updated for every
	// row.
	indexes, err := c.firstColumn("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
	if err != nil {
		return err
	}
	names, err := c.firstColumn("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := c.execSimple(`DROP INDEX "` + name + `"`); err != nil {
			return err
		}
	}
	if err := l.Fill(ctx, into.loadTable); err != nil {
		return err
	}
	if l.Say != nil && into.rows > 100_000 {
		l.Say("making the indexes")
	}
	for _, text := range indexes {
		if err := c.execSimple(text); err != nil {
			return err
		}
	}
	if err := into.fillSearchIndexes(ctx, l.Tables); err != nil {
		return err
	}
	if err := into.checkForeignKeys(); err != nil {
		return err
	}
	return c.execSimple("COMMIT")
}

// sqliteLoader inserts the rows one by one, in one transaction.
type sqliteLoader struct {
	*conn
	rows int64 // so far
}

func (l *sqliteLoader) loadTable(ctx context.Context, r *Relation, last int64, next func() ([]any, error)) error {
	if _, err := l.execStatement(ctx, `DELETE FROM "`+r.Name+`"`, nil); err != nil { // a migration may have added rows
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	marks := make([]string, len(r.Columns))
	for i := range marks {
		marks[i] = fmt.Sprintf("$%d", i+1)
	}
	insert := `INSERT INTO "` + r.Name + `" ("` + strings.Join(r.columnNames(), `", "`) + `") VALUES (` +
		strings.Join(marks, ", ") + ")"
	for {
		values, err := next()
		if err != nil {
			return err
		}
		if values == nil {
			return l.restoreSequence(ctx, r.Name, last)
		}
		if _, err := l.execStatement(ctx, insert, values); err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		l.rows++
	}
}

// restoreSequence makes a table that never reuses a number (AUTOINCREMENT) go on
// from its highest, also where that row is gone.
func (l *sqliteLoader) restoreSequence(ctx context.Context, table string, last int64) error {
	never, err := l.firstColumn(`SELECT name FROM sqlite_master WHERE name = '` + table +
		`' AND sql LIKE '%AUTOINCREMENT%'`)
	if err != nil || len(never) == 0 || last == 0 {
		return err
	}
	if _, err := l.execStatement(ctx, `
		INSERT INTO sqlite_sequence (name, seq) SELECT $1, 0
		WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = $1)`, []any{table}); err != nil {
		return err
	}
	_, err = l.execStatement(ctx, "UPDATE sqlite_sequence SET seq = max(seq, $2) WHERE name = $1",
		[]any{table, last})
	return err
}

// fillSearchIndexes fills the search tables, which a backup leaves out.
func (l *sqliteLoader) fillSearchIndexes(ctx context.Context, tables []Relation) error {
	for i := range tables {
		r := &tables[i]
		if !r.HasColumn("search") || !r.HasColumn("deleted_at") {
			continue
		}
		if _, err := l.execStatement(ctx,
			"INSERT INTO "+r.Name+"_search (rowid, search) SELECT seq, search_code(organization_id) || search FROM "+
				r.Name+" WHERE deleted_at IS NULL AND search <> ''", nil); err != nil {
			return fmt.Errorf("the search index of %s: %w", r.Name, err)
		}
	}
	return nil
}

// checkForeignKeys refuses rows without their parents.
func (l *sqliteLoader) checkForeignKeys() error {
	orphans, err := l.firstColumn("PRAGMA foreign_key_check")
	if err == nil && len(orphans) > 0 {
		err = fmt.Errorf("%d rows refer to missing rows, the first of them in %s", len(orphans), orphans[0])
	}
	return err
}

// fillPostgres loads all tables in one transaction, so that a failure leaves
// nothing behind but the schema.
func (l *Load) fillPostgres(ctx context.Context, o Options) error {
	conn, err := connectOutsidePool(ctx, o.URL, "frontdesk restore")
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := refuseWhileInUse(ctx, conn, o.URL); err != nil {
		return err
	}
	s, err := openSnapshot(ctx, o)
	if err != nil {
		return err
	}
	empty, err := s.hasNoOrganizations(ctx)
	s.source.releaseView()
	switch {
	case err != nil:
		return err
	case !empty:
		return ErrNotEmpty
	case s.Schema > l.Schema:
		return fmt.Errorf("the database already has schema %d, but the backup has %d; restore into a new database",
			s.Schema,
			l.Schema)
	}
	if err := l.Before(ctx); err != nil {
		return err
	}
	if err := migratePostgres(ctx, conn.Config().Copy(), wantedSchema{o.Migrations, l.Schema}); err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := liftTimeouts(ctx, tx); err != nil {
			return err
		}
		names := make([]string, len(l.Tables))
		for i := range l.Tables {
			names[i] = `"` + l.Tables[i].Name + `"`
		}
		// A server may have started in the meantime, while the files were copied.
		// From here on it waits, and what it wrote before must not be lost.
		if _, err := tx.Exec(ctx, "LOCK TABLE "+strings.Join(names, ", ")); err != nil {
			return err
		}
		if err := refuseWhileInUse(ctx, tx, o.URL); err != nil {
			return err
		}
		var organizations int
		if err := tx.QueryRow(ctx, "SELECT count(*) FROM organizations").Scan(&organizations); err != nil {
			return err
		}
		if organizations > 0 {
			return ErrNotEmpty
		}
		// A server that once ran on the empty database left jobs.
		if _, err := tx.Exec(ctx, "TRUNCATE "+strings.Join(names, ", ")); err != nil {
			return err
		}
		return l.Fill(ctx, postgresLoader{tx}.loadTable)
	})
	if err != nil {
		return fmt.Errorf("db: %w", err)
	}
	_, err = conn.Exec(ctx, "ANALYZE")
	return err
}

// disconnectWait is how long PostgreSQL may take to end the connections of a server that
// has just stopped.
const disconnectWait = 2 * time.Second

// refuseWhileInUse returns ErrOwned while servers are connected to the database.
func refuseWhileInUse(ctx context.Context, q interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}, url string) error {
	for end := time.Now().Add(disconnectWait); ; time.Sleep(50 * time.Millisecond) {
		var servers int
		if err := q.QueryRow(ctx, countServers, serverName(url)).Scan(&servers); err != nil {
			return fmt.Errorf("db: %w", err)
		}
		if servers == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%w: there are %d connections to it", ErrOwned, servers)
		}
		// Within a transaction PostgreSQL repeats its statistics unless they are cleared.
		var cleared int
		if err := q.QueryRow(ctx, "SELECT 1 FROM pg_stat_clear_snapshot()").Scan(&cleared); err != nil {
			return fmt.Errorf("db: %w", err)
		}
	}
}

// postgresLoader copies the rows with COPY.
type postgresLoader struct{ tx pgx.Tx }

func (l postgresLoader) loadTable(ctx context.Context, r *Relation, last int64, next func() ([]any, error)) error {
	// One statement per table: rows may name later rows of their own table.
	if _, err := l.tx.CopyFrom(ctx, pgx.Identifier{r.Name}, r.columnNames(), pgx.CopyFromFunc(next)); err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	// The next number follows the highest that there ever was.
	text := fmt.Sprintf(`
		SELECT setval(pg_get_serial_sequence('%s', '%s'), greatest(m, $1, 1), greatest(m, $1) > 0)
		FROM (SELECT coalesce(max("%s"), 0) AS m FROM "%s") AS highest`,
		r.Name, r.NumberColumn(), r.NumberColumn(), r.Name)
	if _, err := l.tx.Exec(ctx, text, last); err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	return nil
}
