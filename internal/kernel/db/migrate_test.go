package db_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"

	"github.com/jackc/pgx/v5"
)

// first is a schema with one table, and second what a later version adds to it.
var (
	first = fstest.MapFS{"0001_things.sql": {Data: []byte("-- Things.\n\nCREATE TABLE things (\n  seq SEQ,\n" +
		"  id ID NOT NULL UNIQUE,\n  ok BOOL NOT NULL\n);\n")}}
	second = fstest.MapFS{"0002_more.sql": {Data: []byte("-- More.\nALTER TABLE things ADD COLUMN colour TEXT;\n" +
		"UPDATE things SET colour = 'red' WHERE ok;\n")}}
)

// A version that does not know the newest migration does not open a database
// that says nothing about older ones: it would write rows as they were before.
func TestOlderVersionIsRefused(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		o := dbtest.CreateOptions(t, e)
		open := func(folders ...fs.FS) error {
			o.Migrations = folders
			d, err := db.Open(t.Context(), o)
			if err != nil {
				return err
			}
			return d.Close()
		}
		for _, folders := range [][]fs.FS{{first}, {first, second}} {
			if err := open(folders...); err != nil {
				t.Fatal(err)
			}
		}
		if err := open(first); err == nil ||
			!strings.Contains(err.Error(), "has schema 2, but this version only knows 1") {
			t.Errorf("an older version opened it: %v", err)
		}
		if err := open(first, second); err != nil {
			t.Error(err)
		}
	})
}

// What a newer version only added does not keep an older one away; what it took
// away does.
func TestSchemaWindow(t *testing.T) {
	migration := func(name, text string) fs.FS { return fstest.MapFS{name: {Data: []byte(text)}} }
	window := migration("0002_window.sql", "-- expand\nCREATE TABLE schema_window (\n  seq SEQ,\n"+
		"  min_reader INT NOT NULL\n);\nINSERT INTO schema_window (min_reader) VALUES (2);\n")
	added := migration("0003_added.sql", "-- expand\n-- concurrently\nALTER TABLE things ADD COLUMN colour TEXT;\n"+
		"-- only postgres\nCREATE INDEX CONCURRENTLY IF NOT EXISTS things_colour ON things (colour);\n-- both\n")
	removed := migration("0004_removed.sql", "-- contract\nALTER TABLE things DROP COLUMN colour;\n")
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		o := dbtest.CreateOptions(t, e)
		open := func(folders ...fs.FS) error {
			o.Migrations = folders
			d, err := db.Open(t.Context(), o)
			if err != nil {
				return err
			}
			return d.Close()
		}
		for _, step := range []struct {
			folders []fs.FS
			refused string
		}{
			{folders: []fs.FS{first, window}},
			{folders: []fs.FS{first, window, added}},
			{folders: []fs.FS{first, window}}, // the older one comes back
			{folders: []fs.FS{first, window, added, removed}},
			{[]fs.FS{first, window, added}, "has schema 4, but this version only knows 3"},
			{folders: []fs.FS{first, window, added, removed}},
		} {
			switch err := open(step.folders...); {
			case step.refused == "" && err != nil:
				t.Errorf("with %d migrations: %v", len(step.folders), err)
			case step.refused != "" && (err == nil || !strings.Contains(err.Error(), step.refused)):
				t.Errorf("with %d migrations: %v, want %q", len(step.folders), err, step.refused)
			}
		}
	})
}

// A database that has the later one of two migrations, which came from two branches,
// gets the earlier one too.
func TestMigrationsOutOfOrder(t *testing.T) {
	later := fstest.MapFS{"0003_later.sql": {Data: []byte("-- expand\nCREATE TABLE more (\n  seq SEQ\n);\n")}}
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		o := dbtest.CreateOptions(t, e)
		for _, folders := range [][]fs.FS{{first, later}, {first, second, later}, {first, later}} {
			o.Migrations = folders
			d, err := db.Open(t.Context(), o)
			if err != nil {
				t.Fatalf("with %d migrations: %v", len(folders), err)
			}
			err = d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				n, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM goose_db_version WHERE version_id > 0")
				if err == nil && n < len(folders) {
					t.Errorf("%d of %d migrations were applied", n, len(folders))
				}
				return err
			})
			if err := errors.Join(err, d.Close()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A migration waits for a table that somebody has locked without holding up others
// behind it, and processes that start at the same moment migrate once.
func TestMigrationMeetsOthers(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		if e == db.SQLite {
			return // one process owns the file
		}
		o := dbtest.CreateOptions(t, e)
		open := func(folders ...fs.FS) error {
			o := o
			o.Migrations = folders
			d, err := db.Open(t.Context(), o)
			if err != nil {
				return err
			}
			return d.Close()
		}
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				if err := open(first); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		conn, err := pgx.Connect(t.Context(), o.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "SELECT count(*) FROM things"); err != nil {
			t.Fatal(err)
		}
		migrated := make(chan error, 1)
		go func() { migrated <- open(first, second) }()
		// It gave up at least once when the queue for the table is empty again.
		waited := false
		for range 12_000 {
			var waiting bool
			err := tx.QueryRow(t.Context(), `
				SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
				WHERE d.datname = current_database() AND NOT l.granted)`).Scan(&waiting)
			if err != nil {
				t.Fatal(err)
			}
			if waited && !waiting {
				break
			}
			waited = waited || waiting
			time.Sleep(5 * time.Millisecond)
		}
		if !waited {
			t.Error("the migration did not wait for the table")
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-migrated; err != nil {
			t.Error(err)
		}
	})
}
