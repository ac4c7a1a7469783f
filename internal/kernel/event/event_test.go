package event_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/migrations"
)

var heardTable = fstest.MapFS{"9000_heard.sql": {Data: []byte(`
CREATE TABLE heard (
  seq SEQ,
  organization_id ID NOT NULL,
  listener_id ID NOT NULL,
  type TEXT NOT NULL,
  event_id ID NOT NULL
);
`)}}

// Whoever listens hears of every committed event once, of no other, and only
// of the types it named.
func TestFanOut(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine, migrations.FS, heardTable)
		q := job.New(job.Options{DB: d, Clock: clock.New(0)})
		log := event.New(q)
		log.On("probe", func(ctx context.Context, tx *db.Tx, e event.Event, listener id.ID) error {
			_, err := db.Exec(ctx, tx,
				"INSERT INTO heard (organization_id, listener_id, type, event_id) VALUES ($1, $2, $3, $4)",
				e.Organization, listener, e.Type, e.ID)
			return err
		})
		if err := q.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := q.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})

		mine, theirs, all, some, silent := id.New(), id.New(), id.New(), id.New(), id.New()
		write := func(fn db.Func) error { return d.Write(t.Context(), fn) }
		listen := func(org, listener id.ID, types ...string) {
			if err := write(func(ctx context.Context, tx *db.Tx) error {
				return event.SetListenedTypes(ctx, tx, org, event.Listener{Kind: "probe", ID: listener}, types)
			}); err != nil {
				t.Fatal(err)
			}
		}
		listen(mine, all, "thing.made", event.EveryType, "thing.made")
		listen(mine, some, "thing.made", "thing.made", "thing.lost")
		listen(mine, silent, "thing.made")
		listen(mine, silent) // and no longer
		listen(theirs, id.New(), event.EveryType)

		const n = 60
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				err := write(func(ctx context.Context, tx *db.Tx) error {
					kind := []string{"thing.made", "thing.changed", "thing.lost"}[i%3]
					if err := log.Append(ctx, tx,
						event.Event{Organization: mine, Type: kind, ResourceID: id.New(),
							Chain: []id.ID{all}}.BySystem()); err != nil {
						return err
					}
					if i%2 == 1 {
						return fmt.Errorf("undone")
					}
					return nil
				})
				if (err != nil) != (i%2 == 1) {
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		wg.Wait()
		type count struct {
			Listener id.ID `db:"listener_id"`
			N        int   `db:"n"`
			Events   int   `db:"events"`
		}
		var got []count
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			left := 0
			err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
				if left, err = db.QueryOne[int](ctx, tx,
					"SELECT count(*) FROM jobs WHERE kind = 'event.fan_out'"); err != nil {
					return err
				}
				got, err = db.QueryAll[count](ctx, tx, `
					SELECT listener_id, count(*) AS n, count(DISTINCT event_id) AS events
					FROM heard
					WHERE organization_id = $1 GROUP BY listener_id`, mine)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if left == 0 {
				break
			}
		}
		want := map[id.ID]int{all: n / 2, some: n / 3}
		if len(got) != len(want) {
			t.Errorf("heard: %+v", got)
		}
		for _, c := range got {
			if c.N != want[c.Listener] || c.Events != c.N {
				t.Errorf("%s heard %d times of %d events, want %d", c.Listener, c.N, c.Events, want[c.Listener])
			}
		}
	})
}

// An earlier event is behind from its change until its fan-out, also while a
// fan-out that failed waits for its next attempt.
func TestBehind(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine, migrations.FS)
		q := job.New(job.Options{DB: d, Clock: clock.New(0)})
		log := event.New(q)
		log.On("probe", func(context.Context, *db.Tx, event.Event, id.ID) error { return nil })
		mine, theirs := id.New(), id.New()
		behind := func(org id.ID) (n int) {
			err := d.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				last, err := db.QueryOne[int64](ctx, tx, "SELECT max(seq) FROM events")
				if err != nil {
					return err
				}
				for seq := range last + 1 {
					_, b, err := event.FanOutPendingBefore(ctx, tx, org, seq+1)
					if err != nil {
						return err
					}
					if b {
						n++
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		write := func(fn db.Func) {
			t.Helper()
			if err := d.Write(t.Context(), fn); err != nil {
				t.Fatal(err)
			}
		}
		write(func(ctx context.Context, tx *db.Tx) error {
			probe := event.Listener{Kind: "probe", ID: id.New()}
			if err := event.SetListenedTypes(ctx, tx, mine, probe, []string{"thing.made"}); err != nil {
				return err
			}
			for _, kind := range []string{"thing.made", "thing.lost", "thing.made"} { // nobody hears of the second
				if err := log.Append(ctx, tx,
					event.Event{Organization: mine, Type: kind, ResourceID: id.New()}.BySystem()); err != nil {
					return err
				}
			}
			return nil
		})
		if n := behind(mine); n != 3 { // the second, the third and one that is to come wait for the first
			t.Errorf("%d are behind", n)
		}
		if n := behind(theirs); n != 0 {
			t.Errorf("somebody else waits for %d", n)
		}
		write(func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, `
				UPDATE jobs
				SET attempt = 1
				WHERE id IN (SELECT min(id) FROM jobs WHERE kind = 'event.fan_out')`)
			return err
		})
		if n := behind(mine); n != 3 { // as before
			t.Errorf("%d are behind a fan-out that failed", n)
		}
		if err := q.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer q.Stop(context.Background()) //nolint:errcheck // the test is over
		for deadline := time.Now().Add(time.Minute); behind(mine) > 0; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("behind for ever")
			}
		}
	})
}
