package db_test

import (
	"context"
	"testing"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
)

// An upgrade folds the old texts, and whatever was found before is found all the
// time.
func TestRefold(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		d, org := dbtest.Open(t, e, papers), id.New()
		names := []string{"Zoë Müller", "Ada \"Countess\" Lovelace", "東京都", "plain"}
		var old, fresh []string
		for i := range 900 {
			text := db.OldText(names[i%len(names)])
			old = append(old, text)
			fresh = append(fresh, db.SearchText(&text))
		}
		fillPapers(t, d, org, old)
		write := func(fn db.Func) {
			t.Helper()
			if err := d.Write(t.Context(), fn); err != nil {
				t.Fatal(err)
			}
		}
		write(func(ctx context.Context, tx *db.Tx) error {
			if _, err := db.Exec(ctx, tx, `
				INSERT INTO search_refolds (table_name, column_name, last_seq, walk, due_at)
				VALUES ('papers', 'search', 0, 1, 0)`); err != nil {
				return err
			}
			if e == db.Postgres {
				return nil
			}
			// An index as it was, without codes.
			_, err := db.Exec(ctx, tx, `
				INSERT OR REPLACE INTO papers_search (rowid, search)
				SELECT seq, search FROM papers`)
			return err
		})
		fillPapers(t, d, org, beyond)
		write(func(ctx context.Context, tx *db.Tx) error {
			v, err := db.QueryOne[id.ID](ctx, tx, "SELECT id FROM papers WHERE number = 8 AND search <> ' filler'")
			if err == nil {
				_, err = paperTable.SoftDelete(ctx, tx, org, v, clock.Time(1))
			}
			return err
		})
		count := func(query string) int { return len(findPapers(t, d, org, query)) }
		now, batches, more := clock.Time(1000), 0, true
		for more {
			for _, query := range []string{"zoë müller", "Zoë", "ada", "東京", "東京都", "plain",
				"\"countess\" love"} {
				want := 225
				if query == "zoë müller" || query == "Zoë" {
					want-- // the deleted one
				}
				if n := count(query); n != want {
					t.Fatalf("after %d batches %q finds %d, not %d", batches, query, n, want)
				}
			}
			write(func(ctx context.Context, tx *db.Tx) (err error) {
				more, err = db.RefoldSearchTexts(ctx, tx, now)
				return err
			})
			batches++
			if batches > 100 {
				t.Fatal("it does not end")
			}
		}
		for query, want := range map[string]int{"muller zoe": 224, "京": 225, "countess": 225} {
			if n := count(query); n != want {
				t.Errorf("%q finds %d, not %d", query, n, want)
			}
		}
		left := func() (n int) {
			write(func(ctx context.Context, tx *db.Tx) (err error) {
				n, err = db.QueryOne[int](ctx, tx, "SELECT count(*) FROM search_refolds")
				return err
			})
			return n
		}
		if e == db.Postgres {
			if left() != 1 {
				t.Error("PostgreSQL shall look again for what an older version wrote")
			}
			now = now.Add(2 * time.Hour)
			for more = true; more; {
				write(func(ctx context.Context, tx *db.Tx) (err error) {
					more, err = db.RefoldSearchTexts(ctx, tx, now)
					return err
				})
			}
		}
		if n := left(); n != 0 {
			t.Errorf("%d are left", n)
		}
		if n := count("zoe"); n != 224 {
			t.Errorf("at the end %d are found", n)
		}
		write(func(ctx context.Context, tx *db.Tx) error {
			texts, err := db.QueryAll[string](ctx, tx,
				"SELECT search FROM papers WHERE search <> ' filler' ORDER BY seq")
			for i := range texts {
				if i < len(fresh) && texts[i] != fresh[i] {
					t.Errorf("%d is %q, not %q", i, texts[i], fresh[i])
				}
			}
			return err
		})
	})
}
