package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/backup"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/migrations"
)

// kills is how often an upgrade is killed, at most.
const kills = 6

// firstRelease is the schema of version 1.0, whose migrations are frozen.
const firstRelease = "0019"

// until is the migrations up to a number, as an earlier version had them.
type until struct {
	fs.FS
	last string
}

func (u until) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(u.FS, name)
	return slices.DeleteFunc(all, func(e fs.DirEntry) bool { return e.Name()[:4] > u.last }), err
}

// asOf writes a backup again as an earlier version would have made it of the same
// data: without the tables and columns that came later.
func asOf(t *testing.T, backup string, version until) string {
	t.Helper()
	o := db.Options{Path: filepath.Join(t.TempDir(), "old.db"), Migrations: []fs.FS{version}}
	empty, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := empty.Close(); err != nil {
		t.Fatal(err)
	}
	columns := map[string][]string{}
	err = db.ViewSnapshot(t.Context(), o, func(s *db.Snapshot) error {
		for _, r := range s.Tables {
			for _, c := range r.Columns {
				columns[r.Name] = append(columns[r.Name], c.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(backup)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	zip, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "backup")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out, sum := gzip.NewWriter(file), sha256.New()
	text := json.NewEncoder(io.MultiWriter(out, sum))
	text.SetEscapeHTML(false) // as it was
	write := func(v any) {
		if err := text.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	type column struct {
		Name string `json:"name"`
		Type string `json:"type"`
	}
	var keep []int // of the columns of the current table
	tables, rows := 0, 0
	lines := bufio.NewReader(zip)
	for n := 0; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line[0] == '[' {
			if keep == nil {
				continue
			}
			var row, kept []json.RawMessage
			if err := json.Unmarshal(line, &row); err != nil {
				t.Fatal(err)
			}
			for _, i := range keep {
				kept = append(kept, row[i])
			}
			write(kept)
			rows++
			continue
		}
		var head struct {
			Frontdesk, Engine, CreatedAt string
			Table                        string
			Columns                      []column
			Last                         int64
			End                          bool
		}
		if err := json.Unmarshal(line, &head); err != nil {
			t.Fatal(err)
		}
		switch {
		case n == 0:
			var schema int64
			fmt.Sscanf(version.last, "%d", &schema) //nolint:errcheck // a number
			write(map[string]any{"frontdesk": "backup", "format": 1, "engine": head.Engine, "schema": schema,
				"createdAt": head.CreatedAt})
		case head.End:
			hash := hex.EncodeToString(sum.Sum(nil))
			write(map[string]any{"end": true, "tables": tables, "rows": rows, "sha256": hash})
			if err := out.Close(); err != nil {
				t.Fatal(err)
			}
			return path
		default:
			keep = nil
			var kept []column
			for _, name := range columns[head.Table] {
				i := slices.IndexFunc(head.Columns, func(c column) bool { return c.Name == name })
				keep, kept = append(keep, i), append(kept, head.Columns[i])
			}
			if keep != nil {
				write(map[string]any{"table": head.Table, "columns": kept, "last": head.Last})
				tables++
			}
		}
	}
}

// An upgrade from version 1.0, and from the version before this one, keeps every row
// that was there, however often its process is killed, and the backup from before
// brings the old state back.
func TestUpgrade(t *testing.T) {
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	before := names[len(names)-2][:4]
	data := t.TempDir()
	demo := filepath.Join(t.TempDir(), "demo")
	func() {
		url := startServer(t, []string{"--data", data, "--demo"})
		t.Log(url)
		if code, _, errs := (cli{t, []string{"--data", data}}).run("", "backup", demo); code != 0 {
			t.Fatal(errs)
		}
	}()
	for _, version := range []string{firstRelease, before} {
		old := until{migrations.FS, version}
		path := asOf(t, demo, old)
		dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
			base := []string{"--data", t.TempDir()}
			o := dbtest.CreateOptions(t, e, old)
			if e == db.SQLite {
				o.Path = filepath.Join(base[1], "frontdesk.db")
			} else {
				base = append(base, "--database-url", o.URL)
			}
			o.Migrations = []fs.FS{migrations.FS}
			if _, err := backup.Restore(t.Context(), o, path, nil, nil); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "before") // PostgreSQL writes JSON its own way
			if _, err := backup.WriteUnopened(t.Context(), o, path, nil); err != nil {
				t.Fatal(err)
			}
			killed := 0
			for try := 0; ; try++ {
				ctx, cancel := context.WithCancel(t.Context())
				// It is killed when ctx ends.
				cmd := exec.CommandContext(ctx, os.Args[0], append([]string{"migrate"}, base...)...)
				cmd.Env = append(os.Environ(), asCommand+"=1")
				var said bytes.Buffer
				cmd.Stdout, cmd.Stderr = &said, &said
				if try < kills {
					time.AfterFunc(time.Duration(rand.IntN(200*(try+1)))*time.Millisecond, cancel)
				}
				err := cmd.Run()
				cancel()
				if err == nil {
					break
				}
				if killed++; try >= kills {
					t.Fatalf("the upgrade fails: %v: %s", err, &said)
				}
			}
			t.Logf("from %s, killed %d times", version, killed)
			after := filepath.Join(t.TempDir(), "after")
			if _, err := backup.WriteUnopened(t.Context(), o, after, nil); err != nil {
				t.Fatal(err)
			}
			if err := backup.Compare(path, asOf(t, after, old)); err != nil {
				t.Errorf("after the upgrade from %s: %v", version, err)
			}
			sound, err := db.Examine(t.Context(), o)
			if err != nil || strings.Contains(fmt.Sprintf("%+v", sound), "malformed") {
				t.Errorf("after the upgrade: %+v, %v", sound, err)
			}

			back := db.Options{Path: filepath.Join(t.TempDir(), "back.db"), Migrations: []fs.FS{old}}
			if _, err := backup.Restore(t.Context(), back, path, nil, nil); err != nil {
				t.Fatalf("the way back: %v", err)
			}
			again := filepath.Join(t.TempDir(), "again")
			if _, err := backup.WriteUnopened(t.Context(), back, again, nil); err != nil {
				t.Fatal(err)
			}
			if err := backup.Compare(path, again); err != nil {
				t.Errorf("the way back: %v", err)
			}
		})
	}
}
