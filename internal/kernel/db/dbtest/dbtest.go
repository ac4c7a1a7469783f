// Package dbtest gives a test a fresh, migrated database of each engine. Start with
// EachEngine, which runs a test once per engine, and Open.
//
// PostgreSQL is the server that FRONTDESK_TEST_POSTGRES names; `make check`
// starts one for the run (scripts/with-postgres). Without it the PostgreSQL
// half of a test is skipped and says so. FRONTDESK_TEST_POOLER names a pooler in
// front of it, through which the tests then go (scripts/with-pgbouncer).
//
// Migrating takes longer than most tests. So each set of migrations is run once,
// and every test gets a copy of the result. The package is for tests only.
package dbtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"

	"github.com/jackc/pgx/v5"
)

// EachEngine runs fn once per engine, as subtests.
func EachEngine(t *testing.T, fn func(t *testing.T, engine db.Engine)) {
	for _, e := range []db.Engine{db.SQLite, db.Postgres} {
		t.Run(string(e), func(t *testing.T) {
			if e == db.Postgres {
				postgresServer(t)
			}
			fn(t, e)
		})
	}
}

// EachEngineParallel is EachEngine with the engines at the same time, for tests that
// mostly wait. It is the last statement of its test, and the engines share nothing.
func EachEngineParallel(t *testing.T, fn func(t *testing.T, engine db.Engine)) {
	EachEngine(t, func(t *testing.T, e db.Engine) {
		t.Parallel()
		fn(t, e)
	})
}

// Open returns a fresh database, closed when the test ends.
func Open(t testing.TB, e db.Engine, migrations ...fs.FS) *db.DB {
	t.Helper()
	o := CreateOptions(t, e, migrations...)
	d, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// CreateOptions says where a fresh database is, for a test that opens it itself or
// passes it to another process.
func CreateOptions(t testing.TB, e db.Engine, migrations ...fs.FS) db.Options {
	t.Helper()
	o := db.Options{Migrations: migrations}
	if e == db.SQLite {
		o.Path = filepath.Join(t.TempDir(), "frontdesk.db")
		WriteMigrated(t, o.Path, migrations...)
		return o
	}
	o.URL = createPostgres(t, postgresServer(t), migrations)
	o.MaxConns = 24
	return o
}

// postgresServer is the URL of the PostgreSQL server, or skips the test.
func postgresServer(t testing.TB) string {
	s := os.Getenv("FRONTDESK_TEST_POSTGRES")
	if s == "" {
		t.Skip("not tested on PostgreSQL: FRONTDESK_TEST_POSTGRES is not set (`make check` sets it)")
	}
	return s
}

// WriteMigrated writes a migrated SQLite database to path: a copy of a template that is
// made once per process and set of migrations.
func WriteMigrated(t testing.TB, path string, migrations ...fs.FS) {
	t.Helper()
	templates.Lock()
	defer templates.Unlock()
	sum := migrationsSum(migrations)
	if templates.files[sum] == nil {
		made := filepath.Join(t.TempDir(), "template.db")
		d, err := db.Open(context.Background(), db.Options{Path: made, Migrations: migrations})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if templates.files == nil {
			templates.files = map[string][]byte{}
		}
		if templates.files[sum], err = os.ReadFile(made); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, templates.files[sum], 0o600); err != nil {
		t.Fatal(err)
	}
}

// createPostgres creates a database from a migrated template, drops it when the test ends,
// and returns its URL.
func createPostgres(t testing.TB, server string, migrations []fs.FS) string {
	t.Helper()
	ctx := context.Background()
	admin, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(ctx)
	template, err := templateFor(ctx, admin, server, migrations)
	if err != nil {
		t.Fatal(err)
	}
	name := "t_" + strings.ReplaceAll(string(id.New()), "-", "")
	if _, err := admin.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY file_copy"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c, err := pgx.Connect(ctx, server)
		if err != nil {
			return
		}
		defer c.Close(ctx)
		//nolint:errcheck // the whole server goes after the run
		c.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	})
	if pooler := os.Getenv("FRONTDESK_TEST_POOLER"); pooler != "" {
		return urlOfDatabase(pooler, name)
	}
	return urlOfDatabase(server, name)
}

// DirectURL is the URL of a test's database without the pooler, for a test that looks
// at the server's connections.
func DirectURL(t testing.TB, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	return urlOfDatabase(postgresServer(t), strings.TrimPrefix(u.Path, "/"))
}

// templates are the migrated databases of this process, by the sum of their
// migrations.
var templates struct {
	sync.Mutex
	names map[string]string // PostgreSQL databases
	files map[string][]byte // SQLite files
}

// migrationsSum tells sets of migrations apart by a hash of their names and texts.
func migrationsSum(migrations []fs.FS) string {
	h := sha256.New()
	for _, f := range migrations {
		files, _ := fs.Glob(f, "*.sql")
		for _, n := range files {
			b, _ := fs.ReadFile(f, n)
			fmt.Fprintf(h, "%s %d\n%s", n, len(b), b)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// templateFor returns a migrated database. The packages of one `go test` are
// processes with the same parent, so the parent's number in the name lets them share
// it, and the advisory lock lets one of them make it.
func templateFor(ctx context.Context, admin *pgx.Conn, server string, migrations []fs.FS) (string, error) {
	templates.Lock()
	defer templates.Unlock()
	sum := migrationsSum(migrations)
	if n := templates.names[sum]; n != "" {
		return n, nil
	}
	name := fmt.Sprintf("template_%d_%s", os.Getppid(), sum)
	if _, err := admin.Exec(ctx, "SELECT pg_advisory_lock(hashtext($1))", name); err != nil {
		return "", err
	}
	//nolint:errcheck // it ends with the connection
	defer admin.Exec(ctx, "SELECT pg_advisory_unlock(hashtext($1))", name)
	var made bool
	// Another process that was interrupted leaves one that is no template yet.
	err := admin.QueryRow(ctx,
		"SELECT count(*) > 0 FROM pg_database WHERE datname = $1 AND datistemplate", name).Scan(&made)
	if err == nil && !made {
		err = makeTemplate(ctx, admin, server, name, migrations)
	}
	if err != nil {
		return "", err
	}
	if templates.names == nil {
		templates.names = map[string]string{}
	}
	templates.names[sum] = name
	return name, nil
}

// makeTemplate migrates a new database. It becomes a template last, so that one left
// half done is made again.
func makeTemplate(ctx context.Context, admin *pgx.Conn, server, name string, migrations []fs.FS) error {
	if _, err := admin.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
		return err
	}
	if _, err := admin.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return err
	}
	d, err := db.Open(ctx, db.Options{URL: urlOfDatabase(server, name), Migrations: migrations})
	if err != nil {
		return err
	}
	if err := d.Close(); err != nil {
		return err
	}
	if err := installConflicts(ctx, urlOfDatabase(server, name)); err != nil {
		return err
	}
	_, err = admin.Exec(ctx, "ALTER DATABASE "+name+" IS_TEMPLATE true")
	return err
}

// installConflicts makes one write transaction in FRONTDESK_TEST_CONFLICTS fail with 40001,
// as engines that are stricter than PostgreSQL do when two of them meet: half of
// those in the middle, half at the commit. `make conflicts` runs the tests so.
func installConflicts(ctx context.Context, database string) error {
	oneIn, err := strconv.Atoi(os.Getenv("FRONTDESK_TEST_CONFLICTS"))
	if err != nil || oneIn < 1 {
		return nil
	}
	c, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	_, err = c.Exec(ctx, fmt.Sprintf(conflictText, oneIn))
	return err
}

const conflictText = `
	CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF abs(hashint8(pg_current_xact_id()::text::bigint)) %% (2 * %d) = TG_ARGV[0]::int THEN
			RAISE EXCEPTION 'a conflict made by the test' USING ERRCODE = '40001';
		END IF;
		RETURN NULL;
	END $$;
	DO $$ DECLARE name text; BEGIN
		FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'goose_db_version' LOOP
			EXECUTE format('CREATE TRIGGER conflict_in_the_middle AFTER INSERT OR UPDATE OR DELETE ON %%I
				FOR EACH STATEMENT EXECUTE FUNCTION conflict(0)', name);
			EXECUTE format('CREATE CONSTRAINT TRIGGER conflict_at_the_commit AFTER INSERT OR UPDATE OR DELETE ON %%I
				DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION conflict(1)', name);
		END LOOP;
	END $$`

// urlOfDatabase is the URL of a database on a server.
func urlOfDatabase(server, database string) string {
	u, err := url.Parse(server)
	if err != nil {
		panic(err)
	}
	u.Path = "/" + database
	return u.String()
}

// Folders lists migration folders, to add a test's own to.
func Folders(folders ...fs.FS) []fs.FS { return folders }
