package db_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
)

// caughtUp waits until no row of the papers waits for the index.
func caughtUp(t *testing.T, d *db.DB) {
	t.Helper()
	for wait := time.Now(); time.Since(wait) < time.Minute; time.Sleep(10 * time.Millisecond) {
		var behind int64
		err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			behind, err = db.QueryOne[int64](ctx, tx, "SELECT count(*) FROM papers WHERE seq > "+
				"coalesce((SELECT rowid FROM papers_search ORDER BY rowid DESC LIMIT 1), 0)")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if behind == 0 {
			return
		}
	}
	t.Fatal("the index does not catch up")
}

// A search finds what was committed, whether the index has it yet or not: among
// rows that come, change and go in random order, and in what a crash leaves.
func TestIndexFollows(t *testing.T) {
	o := dbtest.CreateOptions(t, db.SQLite, papers)
	d, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	org := id.New()
	fillPapers(t, d, org, beyond)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	words := []string{"amber", "birch", "cedar", "dahlia", "elder"}
	var live []*paper // older than the rows that a search reads without the index
	write := func(fn db.Func) {
		t.Helper()
		if err := d.Write(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	check := func(d *db.DB, when string) {
		t.Helper()
		for _, word := range words {
			want := []int{}
			for _, p := range live {
				if p.Search == " "+word {
					want = append(want, p.Number)
				}
			}
			slices.Sort(want)
			got := findPapers(t, d, org, word)
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Fatalf("%s: %q is in %v, want %v", when, word, got, want)
			}
		}
	}
	number := 10_000
	for step := range 200 {
		text := " " + words[random.IntN(len(words))]
		switch n := random.IntN(10); {
		case n < 5 || len(live) == 0:
			v := &paper{ID: id.New(), Org: org, CreatedAt: clock.Time(-number), Number: number, Search: text}
			write(func(ctx context.Context, tx *db.Tx) error {
				return paperTable.Insert(ctx, tx, v)
			})
			live, number = append(live, v), number+1
		case n < 7:
			v := live[random.IntN(len(live))]
			write(func(ctx context.Context, tx *db.Tx) error {
				row, err := paperTable.Lock(ctx, tx, org, v.ID)
				if err != nil {
					return err
				}
				if random.IntN(3) == 0 { // another text on the way, perhaps to the one it had
					row.Search = " " + words[random.IntN(len(words))]
					if err := paperTable.Save(ctx, tx, row); err != nil {
						return err
					}
				}
				row.Search = text
				return paperTable.Save(ctx, tx, row)
			})
			v.Search = text
		case n < 9:
			i := random.IntN(len(live))
			if random.IntN(2) == 0 {
				i = len(live) - 1
			}
			row := live[i].ID
			write(func(ctx context.Context, tx *db.Tx) error {
				_, err := paperTable.SoftDelete(ctx, tx, org, row, clock.Time(number))
				return err
			})
			live = slices.Delete(live, i, i+1)
		default: // what a purge leaves; the highest seq is given again
			write(func(ctx context.Context, tx *db.Tx) error {
				_, err := db.Exec(ctx, tx, "DELETE FROM papers WHERE deleted_at IS NOT NULL")
				return err
			})
		}
		if random.IntN(20) == 0 {
			caughtUp(t, d)
		}
		if random.IntN(4) == 0 {
			check(d, fmt.Sprintf("after step %d", step))
		}
	}
	check(d, "at the end")
	caughtUp(t, d)
	v := &paper{ID: id.New(), Org: org, CreatedAt: -1, Number: 1, Search: " amber"}
	write(func(ctx context.Context, tx *db.Tx) error {
		return paperTable.Insert(ctx, tx, v)
	})
	live = append(live, v)
	crashed := dbtest.CreateOptions(t, db.SQLite, papers)
	crashed.Path = filepath.Join(t.TempDir(), "frontdesk.db")
	for _, end := range []string{"", "-wal"} { // what a killed process leaves
		text, err := os.ReadFile(o.Path + end)
		if err == nil {
			err = os.WriteFile(crashed.Path+end, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	again, err := db.Open(t.Context(), crashed)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	check(again, "after a crash")
	caughtUp(t, again)
	check(again, "when the index has gone on after a crash")
}
