package db_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

// PostgreSQL looks at a table that has grown from empty, once, and not at small ones.
func TestFollowGrowth(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		d := dbtest.Open(t, e, table)
		write := func(fn db.Func) {
			t.Helper()
			if err := d.Write(t.Context(), fn); err != nil {
				t.Fatal(err)
			}
		}
		add := func(from, to int) {
			t.Helper()
			write(func(ctx context.Context, tx *db.Tx) error {
				var values []string
				for i := from; i < to; i++ {
					values = append(values, fmt.Sprintf("('w%d')", i))
				}
				_, err := db.Exec(ctx, tx, "INSERT INTO t (who) VALUES "+strings.Join(values, ", "))
				return err
			})
		}
		look := func() bool {
			t.Helper()
			if e == db.Postgres { // which otherwise counts its rows up to a second later
				write(func(ctx context.Context, tx *db.Tx) error {
					_, err := db.Exec(ctx, tx, "SELECT pg_stat_force_next_flush()")
					return err
				})
			}
			grown, err := d.MaintainGrownTables(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return slices.Contains(grown, "t")
		}
		grows := func(from, to int) {
			t.Helper()
			add(from, to)
			for end := time.Now().Add(time.Minute); !look(); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("a table of %d rows has not grown", to)
				}
			}
			if look() {
				t.Errorf("a table of %d rows has grown twice", to)
			}
		}
		if add(0, 100); e == db.SQLite {
			add(100, 2000)
			if look() {
				t.Error("SQLite looked at a table")
			}
			return
		}
		write(func(ctx context.Context, tx *db.Tx) error { // nobody else counts them meanwhile
			_, err := db.Exec(ctx, tx, "ALTER TABLE t SET (autovacuum_enabled = off)")
			return err
		})
		if look() {
			t.Error("a table of 100 rows has grown")
		}
		grows(100, 2000)
		add(2000, 3000)
		if look() {
			t.Error("a table has grown by half")
		}
		grows(3000, 5000)
	})
}

// PostgreSQL tells how many rows are dead, and how old the snapshot is that keeps them.
func TestVacuum(t *testing.T) {
	d := dbtest.Open(t, db.Postgres, table)
	count := func(ctx context.Context, tx *db.Tx) error {
		_, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM t")
		return err
	}
	look := func() (v db.VacuumState) {
		t.Helper()
		v, err := d.ReadVacuumState(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := look(); v.Dead != 0 || v.Oldest > time.Second.Microseconds() {
		t.Errorf("nothing happened: %+v", v)
	}
	if err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		if err := count(ctx, tx); err != nil {
			return err
		}
		done := make(chan struct{})
		go func() { // another transaction
			defer close(done)
			for _, fn := range []db.Func{insert("a"), func(ctx context.Context, tx *db.Tx) error {
				_, err := db.Exec(ctx, tx, "DELETE FROM t")
				return err
			}, func(ctx context.Context, tx *db.Tx) error {
				_, err := db.Exec(ctx, tx, "SELECT pg_stat_force_next_flush()")
				return err
			}} {
				if err := d.Write(t.Context(), fn); err != nil {
					t.Error(err)
				}
			}
			for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
				v := look()
				if v.Dead > 0 && v.Oldest > 20_000 {
					return
				}
				if time.Now().After(end) {
					t.Errorf("a dead row that a snapshot keeps: %+v", v)
					return
				}
			}
		}()
		<-done
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
