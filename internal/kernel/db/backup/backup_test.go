package backup_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/backup"
	"frontdesk/internal/kernel/db/dbtest"
)

// first has every type; a row may name a later one of its own table.
var first = fstest.MapFS{"0001_things.sql": {Data: []byte(`-- Things.

CREATE TABLE organizations (
  seq SEQ,
  id ID NOT NULL UNIQUE
);
CREATE TABLE things (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  parent_id ID REFERENCES things (id),
  deleted_at TIME,
  n INT,
  ok BOOL NOT NULL,
  data JSON,
  raw BYTES,
  search TEXT NOT NULL
);
CREATE TABLE numbers (
-- only sqlite
  id INTEGER PRIMARY KEY AUTOINCREMENT,
-- only postgres
  id SEQ,
-- both
  note TEXT
);
-- only sqlite
CREATE VIRTUAL TABLE things_search USING fts5 (search, content = '', contentless_delete = 1,
	tokenize = 'trigram', detail = full);
-- both
`)}}

// second is what a later version adds.
var second = fstest.MapFS{"0002_more.sql": {Data: []byte(`-- More.
ALTER TABLE things ADD COLUMN colour TEXT;
UPDATE things SET colour = 'red' WHERE ok;
`)}}

const (
	org   = "00000000-0000-4000-8000-000000000001"
	child = "00000000-0000-4000-8000-000000000002"
	above = "00000000-0000-4000-8000-000000000003"
)

func fillThings(t *testing.T, d *db.DB) {
	t.Helper()
	err := d.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		exec := func(text string, args ...any) {
			t.Helper()
			if _, err := db.Exec(ctx, tx, text, args...); err != nil {
				t.Fatal(err)
			}
		}
		exec("INSERT INTO organizations (id) VALUES ($1)", org)
		exec(`
			INSERT INTO things (id, organization_id, ok, data, raw, search)
			VALUES ($1, $2, TRUE, $3, $4,
				$5)`, child, org, db.JSON("null"), []byte{0, 255, '\n'}, " ada \"lovelace\"\n\u2028ß")
		exec(`
			INSERT INTO things (id, organization_id, n, ok, data, search)
			VALUES ($1, $2, $3, FALSE, $4, '')`, above, org, int64(-1)<<63, db.JSON(`{"b": [1.50, "x\ny"], "a": {}}`))
		exec("UPDATE things SET parent_id = $1 WHERE id = $2", above, child)
		exec(`
			INSERT INTO things (id, organization_id, deleted_at, n, ok, raw, search)
			VALUES ('00000000-0000-4000-8000-000000000004', $1, 5, 9007199254740993, TRUE, $2, ' gone')`, org, []byte{})
		for range 3 {
			exec("INSERT INTO numbers (note) VALUES (NULL)")
		}
		exec("DELETE FROM numbers WHERE id > 1")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// lines is a backup without its first line, which tells when and where it was
// made, and its last; spaces in JSON are the engine's own affair.
func lines(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for s := bufio.NewScanner(z); s.Scan(); {
		line := strings.ReplaceAll(s.Text(), `{\"b\": [1.50, \"x\\ny\"], \"a\": {}}`,
			`{\"a\": {}, \"b\": [1.50, \"x\\ny\"]}`)
		if i := strings.Index(line, `,"last":`); i >= 0 {
			line = line[:i]
		}
		out = append(out, line)
	}
	return strings.Join(out[1:len(out)-1], "\n")
}

func TestBackupIsTheSameOnBothEngines(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, from db.Engine) {
		d := dbtest.Open(t, from, first)
		fillThings(t, d)
		path := filepath.Join(t.TempDir(), "backups", "monday")
		sum, err := backup.Write(t.Context(), d, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if sum.Rows != 5 || sum.Tables != 3 || sum.Schema != 1 {
			t.Errorf("%+v", sum)
		}
		if _, err := backup.Write(t.Context(), d, path, nil); err == nil ||
			!strings.Contains(err.Error(), "already exists") {
			t.Errorf("a second backup over the first: %v", err)
		}
		dbtest.EachEngine(t, func(t *testing.T, to db.Engine) {
			// A newer version restores an older one's backup and then migrates.
			o := dbtest.CreateOptions(t, to)
			o.Migrations = []fs.FS{first, second}
			if to == db.Postgres {
				o.URL = dbtest.DirectURL(t, o.URL) // through a pooler a restore cannot see who is connected
			}
			if _, err := backup.Restore(t.Context(), o, path, nil, nil); err != nil {
				t.Fatal(err)
			}
			again := filepath.Join(t.TempDir(), "again")
			if _, err := backup.WriteUnopened(t.Context(), o, again, nil); err != nil {
				t.Fatal(err)
			}
			if a, b := lines(t, path), lines(t, again); a != b {
				t.Errorf("restored as\n%s\nfrom\n%s", b, a)
			}
			e, err := db.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			err = e.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				colours, err := db.QueryAll[string](ctx, tx, "SELECT id FROM things WHERE colour = 'red' ORDER BY seq")
				if len(colours) != 2 || err != nil {
					t.Errorf("migrated after: %v %v", colours, err)
				}
				if to == db.SQLite {
					found, err := db.QueryAll[int64](ctx, tx, `
						SELECT rowid
						FROM things_search
						WHERE things_search MATCH '"lovelace"'`)
					if len(found) != 1 || found[0] != 1 || err != nil {
						t.Errorf("searched: %v %v", found, err)
					}
				}
				// No number comes twice, not even that of a row that is gone.
				n, err := db.QueryOne[int64](ctx, tx, "INSERT INTO numbers (note) VALUES ('new') RETURNING id")
				if n != 4 || err != nil {
					t.Errorf("the next number is %d, %v", n, err)
				}
				seq, err := db.QueryOne[int64](ctx, tx, `
					INSERT INTO things (id, organization_id, ok, search)
					VALUES ('00000000-0000-4000-8000-000000000005', $1, TRUE, '')
					RETURNING seq`, org)
				if seq != 4 || err != nil {
					t.Errorf("the next row is %d, %v", seq, err)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			// Beside an open database, and into one with data: neither.
			if _, err := backup.Restore(t.Context(), o, path, nil, nil); !errors.Is(err, db.ErrOwned) {
				t.Errorf("beside a server: %v", err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := backup.Restore(t.Context(), o, path, nil, nil); !errors.Is(err, db.ErrNotEmpty) {
				t.Errorf("over data: %v", err)
			}
		})
	})
}

// A server may start while the files of a backup are put back: what it wrote
// stays, and a server that runs is not given other rows.
func TestRestoreFindsAServerThatStartedMeanwhile(t *testing.T) {
	d := dbtest.Open(t, db.SQLite, first)
	fillThings(t, d)
	path := filepath.Join(t.TempDir(), "monday")
	if _, err := backup.Write(t.Context(), d, path, nil); err != nil {
		t.Fatal(err)
	}
	const theirs = "00000000-0000-4000-8000-000000000009"
	for name, c := range map[string]struct {
		application   string
		writes, stays bool
		want          error
	}{
		"wrote and left":           {"", true, false, db.ErrNotEmpty},
		"runs":                     {"", false, true, db.ErrOwned},
		"runs under its own name":  {"desk", false, true, db.ErrOwned},
		"was there and left again": {"", false, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := dbtest.CreateOptions(t, db.Postgres)
			o.URL = dbtest.DirectURL(t, o.URL) // a pooler keeps the connections of a server that left
			o.Migrations = []fs.FS{first}
			if c.application != "" {
				o.URL += "?application_name=" + c.application
			}
			_, err := backup.Restore(t.Context(), o, path, nil, func(ctx context.Context) error {
				e, err := db.Open(ctx, o)
				if err != nil {
					return err
				}
				if c.writes {
					err = e.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
						_, err := db.Exec(ctx, tx, "INSERT INTO organizations (id) VALUES ($1)", theirs)
						return err
					})
				}
				if c.stays {
					t.Cleanup(func() { e.Close() })
					return err
				}
				return errors.Join(err, e.Close())
			})
			if !errors.Is(err, c.want) {
				t.Errorf("restored with %v, want %v", err, c.want)
			}
			if !c.writes {
				return
			}
			e, err := db.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			err = e.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				there, err := db.QueryAll[string](ctx, tx, "SELECT id FROM organizations")
				if len(there) != 1 || there[0] != theirs {
					t.Errorf("there are %v", there)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// Whatever byte is lost or changed, nothing is touched.
func TestDamagedBackup(t *testing.T) {
	d := dbtest.Open(t, db.SQLite, first)
	fillThings(t, d)
	dir := t.TempDir()
	path := filepath.Join(dir, "backup")
	if _, err := backup.Write(t.Context(), d, path, nil); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(name string, text []byte) {
		t.Helper()
		bad := filepath.Join(dir, "bad")
		if err := os.WriteFile(bad, text, 0o600); err != nil {
			t.Fatal(err)
		}
		o := db.Options{Path: filepath.Join(dir, "new", "x.db"), Migrations: []fs.FS{first}}
		if _, err := backup.Restore(t.Context(), o, bad, nil, nil); err == nil {
			t.Errorf("%s: restored", name)
		}
		if _, err := os.Stat(filepath.Dir(o.Path)); err == nil {
			t.Errorf("%s: something was made", name)
		}
	}
	for n := 0; n < len(good); n += 7 {
		try(fmt.Sprintf("cut at %d", n), good[:n])
	}
	z, err := gzip.NewReader(bytes.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	zip := func(text []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(text) //nolint:errcheck // into memory
		w.Close()     //nolint:errcheck // into memory
		return b.Bytes()
	}
	for n := 1; n < len(plain); n += 5 {
		changed := bytes.Clone(plain)
		changed[n] ^= 1
		try(fmt.Sprintf("changed at %d", n), zip(changed))
	}
	rows := bytes.SplitAfter(plain, []byte("\n"))
	try("without its end", zip(bytes.Join(rows[:len(rows)-2], nil)))
	try("without a row", zip(bytes.Join(append(append([][]byte{}, rows[:3]...), rows[4:]...), nil)))
	try("with more", zip(append(bytes.Clone(plain), "[]\n"...)))
	try("of a newer format", zip(bytes.Replace(plain, []byte(`"format":1`), []byte(`"format":2`), 1)))
	o := db.Options{Path: filepath.Join(dir, "old", "x.db"), Migrations: []fs.FS{}}
	if _, err := backup.Restore(t.Context(), o, path, nil, nil); err == nil ||
		!strings.Contains(err.Error(), "use the version that made it") {
		t.Errorf("a version that does not know the schema: %v", err)
	}
}
