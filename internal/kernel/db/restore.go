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

// loader is where one engine puts the rows.
type loader interface {
	// table loads all rows of one table by calling next until there are none.
	loadTable(ctx context.Context, t *backupTable, next func() ([]any, error)) error
}

// loadBackup reads the whole backup into a database that has its schema. A table or
// column that the schema does not have is refused.
func loadBackup(ctx context.Context, path string, tables []Relation, l loader, p *progress) error {
	r, err := openBackup(path)
	if err != nil {
		return err
	}
	defer r.closeFile()
	if _, err = r.nextLine(); err != nil {
		return err
	}
	known := map[string]*Relation{}
	for i := range tables {
		known[tables[i].Name] = &tables[i]
	}
	for {
		t := r.table
		for _, c := range t.Columns {
			if k := known[t.Name]; k == nil || !k.HasColumn(c.Name) {
				return fmt.Errorf("the backup has %s.%s, which this version does not know", t.Name, c.Name)
			}
		}
		values := make([]any, len(t.Columns))
		ended := false
		err := l.loadTable(ctx, t, func() ([]any, error) {
			more, err := r.nextLine()
			if ended = errors.Is(err, errEnd); ended {
				return nil, nil
			}
			if !more || err != nil {
				return nil, err
			}
			p.countRow("restoring", t.Name)
			return values, r.rowValues(values)
		})
		if err != nil || ended {
			return err
		}
	}
}

// Restore fills an empty database from a backup of either engine. It reads the
// whole backup before it touches anything, and a failed restore leaves nothing
// behind. The schema is then the backup's; Open migrates it. before, which may be
// nil, is called once the backup is known to be intact and the database to be
// empty and unused. Its error ends the restore.
func Restore(ctx context.Context, o Options, path string, say ProgressFunc,
	before func(context.Context) error) (*Summary, error) {
	began := time.Now()
	if before == nil {
		before = func(context.Context) error { return nil }
	}
	sum, err := CheckBackup(path)
	if err != nil {
		return nil, err
	}
	tables, known, err := readRelations(o.Migrations, sum.Schema)
	if err != nil {
		return nil, err
	}
	if sum.Schema > known {
		return nil, fmt.Errorf("the backup has schema %d, but this version only knows %d; use the version that made it",
			sum.Schema, known)
	}
	if o.URL != "" {
		err = restorePostgres(ctx, o, path, sum, tables, newProgress(say), before)
	} else {
		err = restoreSQLite(ctx, o, path, sum, tables, newProgress(say), before)
	}
	sum.Seconds = time.Since(began).Seconds()
	return sum, err
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

// restoreSQLite fills a new file beside the old one and replaces the old one once
// the new one is complete and on disk.
func restoreSQLite(ctx context.Context, o Options, path string, sum *Summary, tables []Relation, p *progress,
	before func(context.Context) error) error {
	dir := filepath.Dir(o.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock, err := lockFile(o.Path + ".lock")
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
	if err := before(ctx); err != nil {
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
	if err := migrateSQLite(ctx, temp, o.Migrations, sum.Schema); err != nil {
		return err
	}
	if err := fillSQLite(ctx, temp, path, tables, p); err != nil {
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

// sqliteLoader inserts the rows one by one, in one transaction.
type sqliteLoader struct{ *conn }

// fillSQLite loads into a file that nobody else uses, so it needs no journal: a
// file that failed is thrown away. Foreign keys are checked at the end.
func fillSQLite(ctx context.Context, temp, path string, tables []Relation, p *progress) (err error) {
	raw, err := sqlite.OpenConn(temp, sqlite.OpenReadWrite)
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
	l := sqliteLoader{c}
	// Indexes created at the end are sorted once instead of updated for every
	// row.
	indexes, err := l.firstColumn("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
	if err != nil {
		return err
	}
	names, err := l.firstColumn("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := c.execSimple(`DROP INDEX "` + name + `"`); err != nil {
			return err
		}
	}
	if err := loadBackup(ctx, path, tables, l, p); err != nil {
		return err
	}
	if p.say != nil && p.rows > 100_000 {
		p.say("making the indexes")
	}
	for _, text := range indexes {
		if err := c.execSimple(text); err != nil {
			return err
		}
	}
	if err := l.fillSearchIndexes(ctx, tables); err != nil {
		return err
	}
	if err := l.checkForeignKeys(); err != nil {
		return err
	}
	return c.execSimple("COMMIT")
}

func (l sqliteLoader) loadTable(ctx context.Context, t *backupTable, next func() ([]any, error)) error {
	if _, err := l.execStatement(ctx, `DELETE FROM "`+t.Name+`"`, nil); err != nil { // a migration may have added rows
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	marks := make([]string, len(t.Columns))
	for i := range marks {
		marks[i] = fmt.Sprintf("$%d", i+1)
	}
	insert := `INSERT INTO "` + t.Name + `" ("` + strings.Join(t.columnNames(), `", "`) + `") VALUES (` +
		strings.Join(marks, ", ") + ")"
	for {
		values, err := next()
		if err != nil {
			return err
		}
		if values == nil {
			return l.restoreSequence(ctx, t)
		}
		if _, err := l.execStatement(ctx, insert, values); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
}

// restoreSequence makes a table that never reuses a number (AUTOINCREMENT) go on
// from its highest, also where that row is gone.
func (l sqliteLoader) restoreSequence(ctx context.Context, t *backupTable) error {
	never, err := l.firstColumn(`SELECT name FROM sqlite_master WHERE name = '` + t.Name +
		`' AND sql LIKE '%AUTOINCREMENT%'`)
	if err != nil || len(never) == 0 || t.Last == 0 {
		return err
	}
	if _, err := l.execStatement(ctx, `
		INSERT INTO sqlite_sequence (name, seq) SELECT $1, 0
		WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = $1)`, []any{t.Name}); err != nil {
		return err
	}
	_, err = l.execStatement(ctx, "UPDATE sqlite_sequence SET seq = max(seq, $2) WHERE name = $1",
		[]any{t.Name, t.Last})
	return err
}

// fillSearchIndexes fills the search tables, which a backup leaves out.
func (l sqliteLoader) fillSearchIndexes(ctx context.Context, tables []Relation) error {
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
func (l sqliteLoader) checkForeignKeys() error {
	orphans, err := l.firstColumn("PRAGMA foreign_key_check")
	if err == nil && len(orphans) > 0 {
		err = fmt.Errorf("%d rows refer to missing rows, the first of them in %s", len(orphans), orphans[0])
	}
	return err
}

// firstColumn reads the first column of a statement's rows.
func (c *conn) firstColumn(text string) (out []string, err error) {
	st, err := c.prepareCached(text)
	if err != nil {
		return nil, err
	}
	defer st.Reset()
	for {
		more, err := st.Step()
		if err != nil || !more {
			return out, err
		}
		out = append(out, st.ColumnText(0))
	}
}

// restorePostgres loads all tables in one transaction, so that a failure leaves
// nothing behind but the schema.
func restorePostgres(ctx context.Context, o Options, path string, sum *Summary, tables []Relation, p *progress,
	before func(context.Context) error) error {
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
	case s.Schema > sum.Schema:
		return fmt.Errorf("the database already has schema %d, but the backup has %d; restore into a new database",
			s.Schema,
			sum.Schema)
	}
	if err := before(ctx); err != nil {
		return err
	}
	if err := migratePostgres(ctx, conn.Config().Copy(), o.Migrations, sum.Schema); err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := liftTimeouts(ctx, tx); err != nil {
			return err
		}
		names := make([]string, len(tables))
		for i := range tables {
			names[i] = `"` + tables[i].Name + `"`
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
		return loadBackup(ctx, path, tables, postgresLoader{tx}, p)
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

func (l postgresLoader) loadTable(ctx context.Context, t *backupTable, next func() ([]any, error)) error {
	// One statement per table: rows may name later rows of their own table.
	if _, err := l.tx.CopyFrom(ctx, pgx.Identifier{t.Name}, t.columnNames(), pgx.CopyFromFunc(next)); err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	// The next number follows the highest that there ever was.
	text := fmt.Sprintf(`
		SELECT setval(pg_get_serial_sequence('%s', '%s'), greatest(m, $1, 1), greatest(m, $1) > 0)
		FROM (SELECT coalesce(max("%s"), 0) AS m FROM "%s") AS highest`,
		t.Name, t.numberColumn(), t.numberColumn(), t.Name)
	if _, err := l.tx.Exec(ctx, text, t.Last); err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	return nil
}
