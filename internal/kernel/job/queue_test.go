package job_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
)

func logTo(w io.Writer) func(*job.Options) {
	return func(o *job.Options) { o.Log = slog.New(slog.NewTextHandler(w, nil)) }
}

func TestStop(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		q := queue(d)
		entered := make(chan struct{})
		job.HandleFlow(q, "test.call", func(ctx context.Context, j job.Job, args named) (job.Outcome, error) {
			entered <- struct{}{}
			<-q.Stopping()
			return note("finished"), ctx.Err()
		}, job.InLane("one", 1))
		start(t, q)
		running := enqueue(t, d, q, "test.call", named{})
		waiting := enqueue(t, d, q, "test.call", named{})
		<-entered
		if err := q.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a, b := state(t, d, running), state(t, d, waiting); a != "done" || b != "ready" {
			t.Errorf("after a stop the running job is %s and the waiting one %s", a, b)
		}
		if times(t, d, "finished") != 1 {
			t.Error("a stop lost the outcome of a running flow")
		}
	})
}

func TestStopWithoutPatience(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		q := queue(d)
		entered := make(chan struct{})
		job.HandleFlow(q, "test.call", func(ctx context.Context, j job.Job, args named) (job.Outcome, error) {
			entered <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		})
		if err := q.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		n := enqueue(t, d, q, "test.call", named{}, job.MaxAttempts(1))
		<-entered
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := q.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("an impatient stop answered %v", err)
		}
		becomes(t, d, n, "ready")
		if got := look(t, d, n); got.Attempt != 0 {
			t.Errorf("being stopped counted as an attempt: %+v", got)
		}
		if err := q.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestPeriodic(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		instances := 1
		if d.Engine() == db.Postgres {
			instances = 3
		}
		const every = 100 * time.Millisecond
		began := time.Now()
		for range instances {
			q := queue(d, func(o *job.Options) { o.Poll = 20 * time.Millisecond })
			job.HandleTx(q, "test.tick", func(ctx context.Context, tx *db.Tx, j job.Job, _ struct{}) error {
				if err := effect(ctx, tx, "tick"); err != nil {
					return err
				}
				return effect(ctx, tx, fmt.Sprint("period ", int64(j.RunAt)))
			}, job.Every(every))
			job.HandleFlow(q, "test.tock", func(ctx context.Context, j job.Job, _ struct{}) (job.Outcome, error) {
				return note("tock"), errors.New("every period fails") // and yet there is a next
			}, job.Every(every), job.Attempts(1))
			start(t, q)
		}
		eventually(t, "eight ticks and tocks",
			func() bool { return times(t, d, "tick") >= 8 && times(t, d, "tock") >= 8 })
		ticks := times(t, d, "tick") // before the clock is read: more come meanwhile
		if most := int(time.Since(began)/every) + 2; ticks > most {
			t.Errorf("%d ticks in %d periods", ticks, most)
		}
		if n := one[int](t, d, `SELECT count(*) FROM effects WHERE name LIKE 'period %' AND times > 1`); n > 0 {
			t.Errorf("%d periods ran twice", n)
		}
		if rows := one[int](t, d, `SELECT count(*) FROM jobs WHERE kind = 'test.tick'`); rows != 1 {
			t.Errorf("a periodic kind has %d rows", rows)
		}
	})
}

// A release that shortens a period does not wait for the end of the long one,
// also while the older release still runs.
func TestPeriodShortened(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		for _, every := range []time.Duration{100_000 * time.Hour, 50 * time.Millisecond} {
			q := queue(d)
			job.HandleTx(q, "test.tick", func(ctx context.Context, tx *db.Tx, j job.Job, _ struct{}) error {
				return effect(ctx, tx, "tick")
			}, job.Every(every))
			start(t, q)
		}
		eventually(t, "five ticks", func() bool { return times(t, d, "tick") >= 5 })
	})
}

func TestPurge(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		// Planted a week and a day ago, so that the purge is due now.
		old := queue(d, func(o *job.Options) { o.Clock = clock.New(-8 * 24 * time.Hour) })
		start(t, old)
		now := clock.New(0).Now()
		write(t, d, func(ctx context.Context, tx *db.Tx) error {
			for i := range 1300 {
				finished := now.Add(-8 * 24 * time.Hour)
				if i >= 1200 {
					finished = now.Add(-6 * 24 * time.Hour)
				}
				if _,
					err := db.Exec(ctx, tx,
					`
						INSERT INTO jobs (lane, kind, args, state, run_at, attempt, max_attempts, fence, created_at,
							finished_at)
						VALUES ('tx', 'test.old', '{}', 'done', 1, 1, 1, 1, 1, $1)`, finished); err != nil {
					return err
				}
			}
			return nil
		})
		q := queue(d)
		job.HandleTx(q, "test.old", func(context.Context, *db.Tx, job.Job, struct{}) error { return nil })
		waiting := enqueue(t, d, q, "test.old", struct{}{}, job.RunAt(now.Add(time.Hour)))
		start(t, q)
		count := func() int { return one[int](t, d, `SELECT count(*) FROM jobs WHERE kind = 'test.old'`) }
		eventually(t, "the purge", func() bool { return count() == 101 })
		if state(t, d, waiting) != "ready" {
			t.Error("the purge took a job that is ready")
		}
	})
}

func TestLaneIsBounded(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		q := queue(d)
		const workers = 3
		var now, most atomic.Int64
		var once sync.Once
		full := make(chan struct{})
		job.HandleFlow(q, "test.call", func(ctx context.Context, j job.Job, args named) (job.Outcome, error) {
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			if n == workers {
				once.Do(func() { close(full) })
			}
			select { // the first wait for each other, and a lane that is too narrow fails below
			case <-full:
			case <-ctx.Done():
			}
			time.Sleep(10 * time.Millisecond)
			now.Add(-1)
			return note("called"), nil
		}, job.InLane("narrow", workers), job.ForgetWhenDone(), job.RunTimeout(30*time.Second))
		job.HandleTx(q, "test.note", func(ctx context.Context, tx *db.Tx, j job.Job, args named) error { return nil })
		for range 30 {
			enqueue(t, d, q, "test.call", named{})
		}
		g, err := q.ReadGauges(t.Context())
		if err != nil || len(g.Lanes) != 3 || g.Lanes[1].Name != "narrow" || g.Lanes[1].Ready != 30 ||
			g.Lanes[1].LagSeconds <= 0 || g.Lanes[1].Workers != workers {
			t.Errorf("gauges: %+v, %v", g, err)
		}
		start(t, q)
		eventually(t, "all calls", func() bool { return times(t, d, "called") == 30 })
		if most.Load() != workers {
			t.Errorf("%d at once in a lane of %d", most.Load(), workers)
		}
		if rows := one[int](t, d, `SELECT count(*) FROM jobs WHERE kind = 'test.call'`); rows != 0 {
			t.Errorf("%d rows of a kind that is forgotten", rows)
		}
	})
}

func TestStraysAreAdopted(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		old := queue(d)
		job.HandleTx(old, "test.note", func(ctx context.Context, tx *db.Tx, j job.Job, args named) error { return nil },
			job.InLane("gone", 1))
		job.HandleTx(old, "test.unknown", func(ctx context.Context, tx *db.Tx, j job.Job,
			args named) error {
			return nil
		},
			job.InLane("gone", 1))
		known, unknown := enqueue(t, d, old, "test.note", named{"stray"}),
			enqueue(t, d, old, "test.unknown", named{"stray"})
		q := queue(d)
		job.HandleTx(q, "test.note",
			func(ctx context.Context, tx *db.Tx, j job.Job, args named) error { return effect(ctx, tx, args.Name) })
		start(t, q)
		becomes(t, d, known, "done")
		if s := state(t, d, unknown); s != "ready" {
			t.Errorf("a job that only another release knows is %s", s)
		}
	})
}

// Claiming must cost the same however many finished jobs are kept.
func TestClaimUsesItsIndex(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		q := queue(d)
		write(t, d, func(ctx context.Context, tx *db.Tx) error {
			for range 3000 {
				if _,
					err := db.Exec(ctx, tx,
					`
						INSERT INTO jobs (lane, kind, args, state, run_at, attempt, max_attempts, fence, created_at,
							finished_at)
						VALUES ('tx', 'jobs.purge', '{}', 'done', 1, 1, 1, 1, 1, 1)`); err != nil {
					return err
				}
			}
			if _, err := db.Exec(ctx, tx, `ANALYZE jobs`); err != nil {
				return err
			}
			now := clock.FromStd(time.Now())
			claim, fresh, holders := q.Texts()
			for _, c := range []struct {
				text, index string
				sorts       int
				args        []any
			}{
				{claim, "jobs_ready", 0, []any{"tx", now}},
				{fresh, "jobs_ready", 1, []any{"tx", now, []id.ID{id.New()}}}, // of a hundred
				{holders, "jobs_running", 1, nil},
			} {
				plan, err := explain(ctx, tx, c.text, c.args...)
				if err != nil {
					return err
				}
				if sorts := strings.Count(plan, "Sort  (") + strings.Count(plan, "TEMP B-TREE"); sorts > c.sorts ||
					!strings.Contains(plan, c.index) {
					t.Errorf("%s\nhas the plan\n%s", c.text, plan)
				}
			}
			return nil
		})
	})
}

func explain(ctx context.Context, tx *db.Tx, text string, args ...any) (string, error) {
	if tx.Engine() == db.Postgres {
		lines, err := db.QueryAll[string](ctx, tx, "EXPLAIN "+text, args...)
		return strings.Join(lines, "\n"), err
	}
	type line struct {
		ID     int    `db:"id"`
		Parent int    `db:"parent"`
		Unused int    `db:"notused"`
		Detail string `db:"detail"`
	}
	lines, err := db.QueryAll[line](ctx, tx, "EXPLAIN QUERY PLAN "+text, args...)
	plan := ""
	for _, l := range lines {
		plan += l.Detail + "\n"
	}
	return plan, err
}

func TestBadDeclarations(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		fine := func(context.Context, *db.Tx, job.Job, named) error { return nil }
		for name, declare := range map[string]func(q *job.Queue){
			"no verb":     func(q *job.Queue) { job.HandleTx(q, "test", fine) },
			"twice":       func(q *job.Queue) { job.HandleTx(q, "jobs.purge", fine) },
			"no function": func(q *job.Queue) { job.HandleTx[named](q, "test.note", nil) },
			"no flow":     func(q *job.Queue) { job.HandleFlow[named](q, "test.note", nil) },
			"no attempts": func(q *job.Queue) { job.HandleTx(q, "test.note", fine, job.Attempts(0)) },
			"no time":     func(q *job.Queue) { job.HandleTx(q, "test.note", fine, job.RunTimeout(0)) },
			"no period":   func(q *job.Queue) { job.HandleTx(q, "test.note", fine, job.Every(0)) },
			"two sizes": func(q *job.Queue) {
				job.HandleTx(q, "test.note", fine, job.InLane("a", 1))
				job.HandleTx(q, "test.other", fine, job.InLane("a", 2))
			},
			"lane name": func(q *job.Queue) { job.HandleTx(q, "test.note", fine, job.InLane("a'b", 1)) },
			"unwritable": func(q *job.Queue) {
				job.HandleTx(q, "test.note", func(context.Context, *db.Tx, job.Job, chan int) error { return nil })
			},
			"too late": func(q *job.Queue) {
				start(t, q)
				job.HandleTx(q, "test.note", fine)
			},
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: was accepted", name)
					}
				}()
				declare(queue(d))
			}()
		}
	})
}

// The burst of one organization does not hold up a neighbour whose job comes later.
func TestBurstLeavesRoom(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		const burst = 3000
		busy, quiet := id.New(), id.New()
		var before, ran atomic.Int64
		q := queue(d)
		job.HandleTx(q, "test.note", func(_ context.Context, _ *db.Tx, j job.Job, _ named) error {
			if j.Organization == quiet {
				before.Store(ran.Load())
			}
			ran.Add(1)
			return nil
		})
		now := clock.FromStd(time.Now())
		write(t, d, func(ctx context.Context, tx *db.Tx) error {
			for range burst {
				_, err := q.Enqueue(ctx, tx, "test.note", named{}, job.ForOrganization(busy),
					job.RunAt(now.Add(-time.Minute)))
				if err != nil {
					return err
				}
			}
			_, err := q.Enqueue(ctx, tx, "test.note", named{}, job.ForOrganization(quiet), job.RunAt(now))
			return err
		})
		start(t, q)
		eventually(t, "all jobs", func() bool {
			return one[int](t, d, `SELECT count(*) FROM jobs WHERE state = 'ready' AND kind = 'test.note'`) == 0
		})
		t.Logf("%d of %d jobs came before the neighbour's", before.Load(), burst)
		if before.Load() > burst/10 {
			t.Errorf("%d of %d jobs came before the neighbour's", before.Load(), burst)
		}
	})
}
