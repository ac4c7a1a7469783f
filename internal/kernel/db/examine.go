package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Condition is the state of a database as seen from outside, for the doctor.
type Condition struct {
	Engine            Engine
	Version           string        // of the engine
	Missing           bool          // there is no file yet
	Owned             bool          // another process has the SQLite file
	Schema            int64         // the newest migration that was applied
	KnownSchema       int64         // the newest migration that this version has
	Bytes             int64         // its size
	Problems          []string      // what is broken
	LackedExtensions  []string      // extensions that are neither installed nor available
	MayNotMigrate     bool          // there are migrations to apply, and the database's user may not
	ClockAhead        time.Duration // how far the server's clock is ahead of ours
	ServerConnections int           // the connections of servers
}

// oldestPostgres is version 15, as server_version_num has it.
const oldestPostgres = 150000

// Examine inspects a database without changing or migrating it. It checks the
// whole SQLite file only when no other process has it open.
func Examine(ctx context.Context, o Options) (*Condition, error) {
	c := &Condition{Engine: SQLite}
	_, last, err := ReadRelations(o.Migrations, newestVersion)
	if err != nil {
		return nil, err
	}
	c.KnownSchema = last
	if o.URL != "" {
		c.Engine = Postgres
		return c, c.examinePostgres(ctx, o)
	}
	return c, c.examineSQLite(ctx, o)
}

// examineSQLite examines a file. One that a server has open is not read through.
func (c *Condition) examineSQLite(ctx context.Context, o Options) error {
	info, err := os.Stat(o.Path)
	if errors.Is(err, os.ErrNotExist) {
		c.Missing = true
		return nil
	}
	if err != nil {
		return err
	}
	c.Bytes = info.Size()
	lock, err := o.LockFile()
	switch {
	case errors.Is(err, ErrOwned):
		c.Owned = true
	case err != nil:
		return err
	default:
		defer lock.Close()
	}
	view, err := openSQLiteView(ctx, o)
	if err != nil {
		return err
	}
	s := &Snapshot{Engine: SQLite, source: view}
	defer view.releaseView()
	if c.Schema, err = s.schemaVersion(ctx); err != nil {
		return err
	}
	versions, err := view.firstColumn("SELECT sqlite_version()")
	if err != nil {
		return err
	}
	c.Version = versions[0]
	if c.Owned {
		return nil
	}
	found, err := view.firstColumn("PRAGMA integrity_check(10)")
	if err != nil {
		return err
	}
	for _, f := range found {
		if f != "ok" {
			c.Problems = append(c.Problems, f)
		}
	}
	orphans, err := view.firstColumn("PRAGMA foreign_key_check")
	if len(orphans) > 0 {
		c.Problems = append(c.Problems,
			fmt.Sprintf("%d rows refer to missing rows, the first of them in %s", len(orphans), orphans[0]))
	}
	return err
}

// examinePostgres examines a server's database.
func (c *Condition) examinePostgres(ctx context.Context, o Options) error {
	view, err := openPostgresView(ctx, o)
	if err != nil {
		return err
	}
	defer view.releaseView()
	s := &Snapshot{Engine: Postgres, source: view}
	if c.Schema, err = s.schemaVersion(ctx); err != nil {
		return err
	}
	var number, micros int64
	before := time.Now()
	err = view.tx.QueryRow(ctx, `
		SELECT current_setting('server_version'), current_setting('server_version_num')::bigint,
			pg_database_size(current_database()),
			(extract(epoch FROM clock_timestamp()) * 1000000)::bigint, (`+countServers+`)`, serverName(o.URL)).
		Scan(&c.Version, &number, &c.Bytes, &micros, &c.ServerConnections)
	if err != nil {
		return err
	}
	// The server answered somewhere between the question and its arrival here.
	middle := before.Add(time.Since(before) / 2)
	c.ClockAhead = time.UnixMicro(micros).Sub(middle)
	if number < oldestPostgres {
		c.Problems = append(c.Problems, "PostgreSQL "+c.Version+" is too old; version 15 or newer is required")
	}
	var encoding string
	if err := view.tx.QueryRow(ctx, "SELECT current_setting('server_encoding')").Scan(&encoding); err != nil {
		return err
	}
	if encoding != "UTF8" {
		c.Problems = append(c.Problems, "the database's encoding is "+encoding+", not UTF8")
	}
	for _, name := range []string{"pg_trgm", "btree_gin"} {
		var ok bool
		err := view.tx.QueryRow(ctx, `
			SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = $1)
				OR EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = $1)`, name).Scan(&ok)
		if err != nil {
			return err
		}
		if !ok {
			c.LackedExtensions = append(c.LackedExtensions, name)
		}
	}
	if c.Schema == c.KnownSchema {
		return nil
	}
	return view.tx.QueryRow(ctx, `
		SELECT NOT coalesce(has_schema_privilege(current_schema(), 'CREATE')
			AND (has_database_privilege(current_database(), 'CREATE')
			OR (SELECT count(*) FROM pg_extension WHERE extname IN ('pg_trgm', 'btree_gin')) = 2), FALSE)`).
		Scan(&c.MayNotMigrate)
}
