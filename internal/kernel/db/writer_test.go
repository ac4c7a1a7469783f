package db_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/fault"
)

var table = fstest.MapFS{"0001_t.sql": {Data: []byte(`
CREATE TABLE t (
  seq SEQ,
  who TEXT NOT NULL UNIQUE,
  pad TEXT
);
`)}}

func insert(who string) db.Func {
	return func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, "INSERT INTO t (who) VALUES ($1)", who)
		return err
	}
}

func rows(t testing.TB, d *db.DB) string {
	t.Helper()
	var all []string
	err := d.Read(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
		all, err = db.QueryAll[string](ctx, tx, "SELECT who FROM t ORDER BY who")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "")
}

// together makes writes share one batch on SQLite, in their order: the first
// waits until all others are queued. On PostgreSQL they have all begun.
func together(d *db.DB, ctxs []context.Context, fns ...db.Func) []error {
	errs := make([]error, len(fns))
	gate := make(chan struct{})
	var wg sync.WaitGroup
	var entered, ended atomic.Int64
	for i, fn := range fns {
		ctx := context.Background()
		if i < len(ctxs) && ctxs[i] != nil {
			ctx = ctxs[i]
		}
		wg.Go(func() {
			defer ended.Add(1)
			errs[i] = d.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
				if entered.Add(1); i == 0 {
					<-gate
				}
				return fn(ctx, tx)
			})
		})
		there := func() bool {
			if i == 0 || d.Engine() == db.Postgres {
				return entered.Load()+ended.Load() > int64(i)
			}
			return int64(d.ReadGauges().QueueLength)+ended.Load() >= int64(i)
		}
		for !there() {
			time.Sleep(time.Millisecond)
		}
	}
	close(gate)
	wg.Wait()
	return errs
}

// Nobody's answer becomes untrue because of what somebody else's write does.
func TestOneWriteDoesNotHarmOthers(t *testing.T) {
	boom := errors.New("boom")
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for name, tt := range map[string]struct {
		bad  db.Func
		ctx  context.Context
		want func(error) bool
	}{
		"fails": {bad: func(ctx context.Context, tx *db.Tx) error {
			return errors.Join(insert("B")(ctx, tx), boom)
		}, want: func(err error) bool { return errors.Is(err, boom) }},
		"violates a constraint": {bad: insert("A"), want: func(err error) bool { return err != nil }},
		"panics": {bad: func(ctx context.Context, tx *db.Tx) error {
			if err := insert("B")(ctx, tx); err != nil {
				return err
			}
			panic("bug in a noun")
		}, want: func(err error) bool { var p *db.PanicError; return errors.As(err, &p) }},
		"is cancelled before it starts": {bad: insert("B"), ctx: ended,
			want: func(err error) bool { return errors.Is(err, context.Canceled) }},
		"writes inside itself": {bad: func(ctx context.Context, tx *db.Tx) error {
			if err := insert("B")(ctx, tx); err != nil {
				return err
			}
			return nested.Write(ctx, insert("N"))
		}, want: func(err error) bool {
			return err != nil &&
				strings.Contains(err.Error(), "Write inside a transaction")
		}},
		"takes 300 ms and fails": {bad: func(ctx context.Context, tx *db.Tx) error {
			time.Sleep(300 * time.Millisecond)
			return boom
		}, want: func(err error) bool { return errors.Is(err, boom) }},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
				d := dbtest.Open(t, e, table)
				nested = d
				if e == db.Postgres && strings.HasPrefix(name, "violates") {
					// Concurrent, so A must be there first.
					if err := d.Write(t.Context(), insert("A")); err != nil {
						t.Fatal(err)
					}
					errs := together(d, nil, insert("C"), tt.bad, insert("D"))
					if errs[0] != nil || !tt.want(errs[1]) || errs[2] != nil || rows(t, d) != "ACD" {
						t.Fatalf("%v %s", errs, rows(t, d))
					}
					return
				}
				errs := together(d, []context.Context{nil, tt.ctx}, insert("A"), tt.bad, insert("C"), insert("D"))
				if errs[0] != nil || errs[2] != nil || errs[3] != nil || !tt.want(errs[1]) {
					t.Errorf("answers: %v", errs)
				}
				if got := rows(t, d); got != "ACD" {
					t.Errorf("durable: %s", got)
				}
			})
		})
	}
}

var nested *db.DB // the database that a closure writes to inside itself

// A full disk ends SQLite's whole transaction: the write that met it is told,
// and all others happen once.
func TestFullDisk(t *testing.T) {
	o := dbtest.CreateOptions(t, db.SQLite, table)
	o.ExtraPragma = []string{"max_page_count(40)"}
	d, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	huge := func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, "INSERT INTO t (who, pad) VALUES ('B', hex(zeroblob(200000)))")
		return err
	}
	errs := together(d, nil, insert("A"), huge, insert("C"), insert("A"), insert("D"))
	if errs[0] != nil || errs[2] != nil || errs[4] != nil {
		t.Errorf("answers: %v", errs)
	}
	if !fault.IsKind(errs[1], fault.Unavailable) {
		t.Errorf("the large one: %v", errs[1])
	}
	if errs[3] == nil {
		t.Error("A was inserted twice")
	}
	if got := rows(t, d); got != "ACD" {
		t.Errorf("durable: %s", got)
	}
	// Small ones until nothing fits: each is either there or was refused.
	want := "ACD"
	for i := range 400 {
		who := fmt.Sprintf("x%03d", i)
		err := d.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "INSERT INTO t (who, pad) VALUES ($1, hex(zeroblob(1000)))", who)
			return err
		})
		if err == nil {
			want += who
		} else if !fault.IsKind(err, fault.Unavailable) {
			t.Fatal(err)
		}
	}
	if got := rows(t, d); got != want {
		t.Errorf("durable: %d bytes of names, acknowledged %d", len(got), len(want))
	}
}

// Writes that wait together share a commit, and what was written is seen at once.
func TestGroupCommit(t *testing.T) {
	d := dbtest.Open(t, db.SQLite, table)
	before := d.ReadGauges()
	fns := make([]db.Func, 20)
	for i := range fns {
		fns[i] = insert(string(rune('a' + i)))
	}
	for _, err := range together(d, nil, fns...) {
		if err != nil {
			t.Fatal(err)
		}
	}
	after := d.ReadGauges()
	if n := after.Batches - before.Batches; n > 10 { // two or three, unless the machine stood still
		t.Errorf("20 writes took %d commits", n)
	}
	if rows(t, d) != "abcdefghijklmnopqrst" {
		t.Errorf("rows: %s", rows(t, d))
	}
}

func TestOnCommit(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		d := dbtest.Open(t, e, table)
		var ran []string
		note := func(s string, err error) db.Func {
			return func(ctx context.Context, tx *db.Tx) error {
				tx.OnCommit(func() { ran = append(ran, s) })
				return err
			}
		}
		if err := d.Write(t.Context(), note("a", nil)); err != nil || len(ran) != 1 {
			t.Fatalf("%v %v", err, ran)
		}
		if err := d.Write(t.Context(), note("b", errors.New("no"))); err == nil || len(ran) != 1 {
			t.Fatalf("%v %v", err, ran)
		}
	})
}

// A second process cannot open the file, and says why.
func TestOneOwner(t *testing.T) {
	o := dbtest.CreateOptions(t, db.SQLite, table)
	d, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Open(t.Context(), o); !errors.Is(err, db.ErrOwned) {
		t.Errorf("a second owner: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d, err = db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
}

// A read sees one moment, whatever is written meanwhile, and cannot write.
func TestReadIsOneSnapshot(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		d := dbtest.Open(t, e, table)
		if err := d.Write(t.Context(), insert("A")); err != nil {
			t.Fatal(err)
		}
		err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			count := func() int {
				n, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM t")
				if err != nil {
					t.Error(err)
				}
				return n
			}
			first := count()
			if err := d.Write(context.Background(), insert("B")); err != nil {
				t.Error(err)
			}
			if again := count(); first != 1 || again != 1 {
				t.Errorf("saw %d, then %d", first, again)
			}
			if err := insert("C")(ctx, tx); err == nil {
				t.Error("a read wrote")
			}
			return nil
		})
		if err != nil {
			t.Logf("the read ended with: %v", err) // PostgreSQL: the refused write ended it
		}
		if rows(t, d) != "AB" {
			t.Errorf("rows: %s", rows(t, d))
		}
	})
}

// Statements stay prepared when their values change: without +?1 in place of
// $1, SQLite plans many of them anew at every execution.
func TestStatementsStayPrepared(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures time, which the race detector stretches")
	}
	d := dbtest.Open(t, db.SQLite, fstest.MapFS{"0001_t.sql": {Data: []byte(`
CREATE TABLE o (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  plan TEXT NOT NULL
);
CREATE TABLE k (
  seq SEQ,
  hash TEXT NOT NULL UNIQUE,
  org ID NOT NULL,
  gone TIME
);
CREATE INDEX k_live ON k (org) WHERE gone IS NULL;
`)}})
	if err := d.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		for i := range 500 {
			if _, err := db.Exec(ctx, tx, "INSERT INTO o (id, plan) VALUES ($1, 'free')",
				fmt.Sprint("o", i)); err != nil {
				return err
			}
			if _, err := db.Exec(ctx, tx, "INSERT INTO k (hash, org) VALUES ($1, $2)", fmt.Sprint("h", i),
				fmt.Sprint("o", i)); err != nil {
				return err
			}
		}
		_, err := db.Exec(ctx, tx, "ANALYZE")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		look := func(i int) {
			if _, err := db.QueryOne[string](ctx, tx, `
				SELECT o.plan
				FROM k
				JOIN o ON o.id = k.org
				WHERE k.hash = $1 AND k.gone IS NULL`, fmt.Sprint("h", i%500)); err != nil {
				t.Fatal(err)
			}
		}
		best := time.Hour
		for range 20 {
			start := time.Now()
			for i := range 100 {
				look(i)
			}
			best = min(best, time.Since(start)/100)
		}
		t.Logf("a joined look-up takes %v", best)
		if best > 40*time.Microsecond {
			t.Errorf("a joined look-up takes %v; statements are prepared anew", best)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A folder may have any name, also one with signs that end a path in a URI.
func TestPathWithSigns(t *testing.T) {
	o := dbtest.CreateOptions(t, db.SQLite, table)
	o.Path = filepath.Join(t.TempDir(), "100% #1?x", "frontdesk.db")
	d, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := os.Stat(o.Path); err != nil {
		t.Error(err)
	}
	err = d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM goose_db_version")
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Whoever waits for a connection too long is told so.
func TestBusy(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		o := dbtest.CreateOptions(t, e, table)
		o.MaxConns, o.ConnectionWait = 1, 3*time.Second // in which a connection that was used is free again
		d, err := db.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		look := func(ctx context.Context, tx *db.Tx) error {
			_, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM t")
			return err
		}
		err = d.Read(t.Context(), func(context.Context, *db.Tx) error { return d.Read(t.Context(), look) })
		if !fault.IsKind(err, fault.Unavailable) {
			t.Errorf("it waits for itself: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := d.Read(ctx, look); err == nil && e == db.Postgres {
			t.Error("it reads for somebody who is gone")
		}
		for range 3 {
			if err := d.Read(t.Context(), look); err != nil {
				t.Fatal(err)
			}
			if err := d.Write(t.Context(),
				func(ctx context.Context, tx *db.Tx) error { return errors.New("no") }); err == nil {
				t.Fatal("a failed write succeeds")
			}
		}
	})
}
