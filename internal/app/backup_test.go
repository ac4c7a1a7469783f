package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/backup"
	"frontdesk/internal/kernel/db/dbtest"

	"github.com/go-json-experiment/json/jsontext"
)

// fingerprints is every row of every table as text, JSON in one spelling.
func fingerprints(t *testing.T, o db.Options) map[string]map[string]bool {
	t.Helper()
	out := map[string]map[string]bool{}
	err := db.ViewSnapshot(t.Context(), o, func(s *db.Snapshot) error {
		for i := range s.Tables {
			r := &s.Tables[i]
			rows := map[string]bool{}
			out[r.Name] = rows
			err := s.EachRow(t.Context(), r, "", nil, func(cells []db.Cell) error {
				var b []byte
				for i, c := range cells {
					v, err := c.AppendJSON(nil, r.Columns[i].Type)
					if err != nil {
						return err
					}
					if r.Columns[i].Type == db.TypeJSON && !c.Null {
						sorted := jsontext.Value(v)
						if err := sorted.Format(jsontext.ReorderRawObjects(true), jsontext.SpaceAfterColon(false),
							jsontext.SpaceAfterComma(false)); err != nil {
							return err
						}
						v = sorted
					}
					b = append(append(b, v...), ' ')
				}
				rows[string(b)] = true
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A backup that is made under load holds every write that was acknowledged
// before it began, and becomes the same rows on either engine.
func TestBackupUnderLoad(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, from db.Engine) {
		a := apptest.Start(t, from)
		var acked sync.Map
		var answered, slowest atomic.Int64
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for w := range 6 {
			wg.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					began := time.Now()
					r := a.SendREST(t, a.Key, http.MethodPost, "/v1/contacts",
						fmt.Sprintf(`{"lastName": "w%d-%d", "notes": "\u2028 \"quoted\" ß", `+
							`"emails": [{"email": "w%d-%d@example.com"}]}`, w, n, w, n),
						"Idempotency-Key", fmt.Sprintf("w%d-%d", w, n))
					acked.Store(r.OK(t, 201).Text("id"), true)
					answered.Add(1)
					slowest.Store(max(slowest.Load(), int64(time.Since(began))))
				}
			})
		}
		for answered.Load() < 400 {
			time.Sleep(5 * time.Millisecond)
		}
		before := map[string]bool{}
		acked.Range(func(k, _ any) bool { before[k.(string)] = true; return true })
		path := filepath.Join(t.TempDir(), "backup")
		slowest.Store(0)
		sum, err := backup.Write(t.Context(), a.DB, path, nil)
		during := time.Duration(slowest.Load())
		close(stop)
		wg.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
		t.Logf("%d acknowledged before, %d after; %d rows, %d bytes in %.2f s; the slowest write meanwhile took %v",
			len(before), answered.Load(), sum.Rows, sum.Bytes, sum.Seconds, during.Round(time.Millisecond))
		// Contacts, their children, events and answers only come: a row of the
		// copy is a row of the source, which has gone on.
		source := fingerprints(t, app.DatabaseOptions(a.Settings))
		dbtest.EachEngine(t, func(t *testing.T, to db.Engine) {
			s := apptest.Settings(t, to)
			if to == db.Postgres { // an empty database, not a migrated one
				s.DatabaseURL = dbtest.CreateOptions(t, to).URL
			}
			o := app.DatabaseOptions(s)
			if _, err := backup.Restore(t.Context(), o, path, nil, nil); err != nil {
				t.Fatal(err)
			}
			copied := fingerprints(t, o)
			total := int64(0)
			for table, rows := range copied {
				total += int64(len(rows))
				for row := range rows {
					if !source[table][row] {
						t.Errorf("%s has a row that the source has not: %s", table, row)
					}
				}
			}
			if total != sum.Rows || len(copied) != len(source) {
				t.Errorf("%d rows of %d, %d tables of %d", total, sum.Rows, len(copied), len(source))
			}
			// Served with the old key, it goes on: the key is known, the search
			// works, an answer is replayed and a new row gets a new number.
			key, err := os.ReadFile(a.Settings.SealingKeyPath())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(s.Data, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(s.SealingKeyPath(), key, 0o600); err != nil {
				t.Fatal(err)
			}
			b := apptest.StartWith(t, s)
			if err := b.SealProblem(); err != nil {
				t.Error(err)
			}
			have := map[string]bool{}
			err = b.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				ids, err := db.QueryAll[string](ctx, tx, "SELECT id FROM contacts")
				for _, id := range ids {
					have[id] = true
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			for id := range before {
				if !have[id] {
					t.Errorf("%s was acknowledged and is not in the copy", id)
				}
			}
			if list := b.SendREST(t, a.Key, http.MethodGet, "/v1/contacts?query=w0-1@example",
				"").OK(t, 200); list.Len() != 1 {
				t.Errorf("found %v", list)
			}
			again := b.SendREST(t, a.Key, http.MethodPost, "/v1/contacts",
				`{"lastName": "w0-1", "notes": "\u2028 \"quoted\" ß", "emails": [{"email": "w0-1@example.com"}]}`,
				"Idempotency-Key", "w0-1")
			if again.Header.Get("Idempotency-Replay") != "true" || !before[again.OK(t, 201).Text("id")] {
				t.Errorf("not replayed: %s", again.Body)
			}
			b.SendREST(t, a.Key, http.MethodPost, "/v1/contacts", `{"lastName": "new"}`).OK(t, 201)
		})
	})
}

// With no key, or another database's, a restored database says so and is not
// served; nothing is sealed with the wrong key.
func TestRestoredWithoutItsKey(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	path := filepath.Join(t.TempDir(), "backup")
	if _, err := backup.Write(t.Context(), a.DB, path, nil); err != nil {
		t.Fatal(err)
	}
	for _, foreign := range []bool{false, true} {
		s := apptest.Settings(t, db.SQLite)
		if foreign { // a server ran here on an empty database
			b, err := app.Open(t.Context(), s, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := backup.Restore(t.Context(), app.DatabaseOptions(s), path, nil, nil); err != nil {
			t.Fatal(err)
		}
		b, err := app.Open(t.Context(), s, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Serve(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "does not belong") {
			t.Errorf("served: %v", err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(s.SealingKeyPath()); !foreign && err == nil {
			t.Error("a key was made for a database that has one")
		}
	}
}
