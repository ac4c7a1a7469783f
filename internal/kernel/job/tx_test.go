package job_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
)

type named struct {
	Name string `json:"name"`
}

func TestEnqueue(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		q := queue(d, func(o *job.Options) { o.Poll = time.Hour })
		seen := make(chan job.Job, 10)
		job.HandleTx(q, "test.note", func(ctx context.Context, tx *db.Tx, j job.Job, args named) error {
			select {
			case seen <- j:
			default:
			}
			return effect(ctx, tx, args.Name)
		})
		start(t, q)

		refused := errors.New("no")
		err := d.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			if _, err := q.Enqueue(ctx, tx, "test.note", named{"undone"}); err != nil {
				return err
			}
			return refused
		})
		if !errors.Is(err, refused) {
			t.Fatal(err)
		}

		org := id.New()
		n := enqueue(t, d, q, "test.note", named{"a"}, job.ForOrganization(org), job.UniqueKey("k"))
		becomes(t, d, n, "done") // long before the next poll: the commit woke the queue
		if j := <-seen; j.ID != n || j.Organization != org || j.Key != "k" || j.Attempt != 1 || j.Kind != "test.note" ||
			j.IsLastAttempt() {
			t.Errorf("the handler saw %+v", j)
		}
		if times(t, d, "a") != 1 || times(t, d, "undone") != 0 {
			t.Error("one effect was wanted, of the job that was committed")
		}
		if rows := one[int](t, d, `SELECT count(*) FROM jobs WHERE kind = 'test.note'`); rows != 1 {
			t.Errorf("%d rows after a rollback and a commit", rows)
		}

		err = d.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			for kind, args := range map[string]any{"test.nobody": named{}, "test.note": 7} {
				if _, err := q.Enqueue(ctx, tx, kind, args); err == nil {
					t.Errorf("%s was enqueued with %v", kind, args)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestTxRetry(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		q := queue(d)
		var mu sync.Mutex
		ran := map[int]time.Time{}
		job.HandleTx(q, "test.third", func(ctx context.Context, tx *db.Tx, j job.Job, _ struct{}) error {
			mu.Lock()
			if ran[j.Attempt].IsZero() { // another worker may try it too until the failure is written down
				ran[j.Attempt] = time.Now()
			}
			mu.Unlock()
			if err := effect(ctx, tx, "third"); err != nil {
				return err
			}
			if j.Attempt < 3 {
				return errors.New("not yet")
			}
			return nil
		}, job.RetryBackoff(func(int) time.Duration { return 200 * time.Millisecond }))
		job.HandleTx(q, "test.never", func(ctx context.Context, tx *db.Tx, j job.Job, _ struct{}) error {
			return errors.New("bad \x00 text \xff")
		}, job.RetryBackoff(quick), job.Attempts(3))
		job.HandleTx(q, "test.hopeless", func(ctx context.Context, tx *db.Tx, j job.Job, _ struct{}) error {
			return job.Permanent(errors.New("no such thing"))
		})
		job.HandleTx(q, "test.broken", func(ctx context.Context, tx *db.Tx, j job.Job, _ struct{}) error {
			// On PostgreSQL this spoils the transaction, and nobody is told.
			db.Exec(ctx, tx, `INSERT INTO nowhere (a) VALUES (1)`) //nolint:errcheck // that is the test
			return effect(ctx, tx, "broken")
		}, job.Attempts(1))
		start(t, q)

		third := enqueue(t, d, q, "test.third", struct{}{})
		never := enqueue(t, d, q, "test.never", struct{}{})
		once := enqueue(t, d, q, "test.never", struct{}{}, job.MaxAttempts(1))
		hopeless := enqueue(t, d, q, "test.hopeless", struct{}{})
		broken := enqueue(t, d, q, "test.broken", struct{}{})

		becomes(t, d, third, "done")
		if times(t, d, "third") != 1 {
			t.Error("the effect of a failed attempt was kept")
		}
		mu.Lock()
		for i := 2; i <= 3; i++ {
			if gap := ran[i].Sub(ran[i-1]); gap < 140*time.Millisecond {
				t.Errorf("attempt %d came %v after the one before", i, gap)
			}
		}
		mu.Unlock()
		for n, attempts := range map[job.ID]int{never: 3, once: 1, hopeless: 1} {
			becomes(t, d, n, "failed")
			if got := look(t, d, n); got.Attempt != attempts || got.LastError == nil || got.Finished == nil {
				t.Errorf("job %d failed as %+v", n, got)
			}
		}
		if text := *look(t, d, never).LastError; text != "bad  text " {
			t.Errorf("the error was kept as %q", text)
		}
		if d.Engine() == db.Postgres {
			becomes(t, d, broken, "failed")
		} else {
			becomes(t, d, broken, "done")
		}
		g, err := q.ReadGauges(t.Context())
		if err != nil || g.Failed < 3 || g.Errors < 6 {
			t.Errorf("gauges: %+v, %v", g, err)
		}
	})
}

func TestTxLater(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		q := queue(d)
		job.HandleTx(q, "test.slices", func(ctx context.Context, tx *db.Tx, j job.Job, _ struct{}) error {
			if err := effect(ctx, tx, "slice"); err != nil {
				return err
			}
			n, err := db.QueryOne[int](ctx, tx, `SELECT times FROM effects WHERE name = 'slice'`)
			if err == nil && n < 5 {
				err = job.RunAgainAfter(time.Millisecond)
			}
			return err
		}, job.Attempts(1))
		start(t, q)
		n := enqueue(t, d, q, "test.slices", struct{}{})
		becomes(t, d, n, "done")
		if got := times(t, d, "slice"); got != 5 {
			t.Errorf("%d slices were kept", got)
		}
		if got := look(t, d, n); got.LastError != nil || got.Attempt != 1 {
			t.Errorf("Later counted as a failure: %+v", got)
		}
	})
}

func TestPanic(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		var logged strings.Builder
		q := queue(d, logTo(&logged))
		job.HandleTx(q, "test.tx", func(ctx context.Context, tx *db.Tx, j job.Job, _ struct{}) error {
			if err := effect(ctx, tx, "panic"); err != nil {
				return err
			}
			panic("tx fell over")
		}, job.Attempts(2), job.RetryBackoff(quick))
		job.HandleFlow(q, "test.flow", func(ctx context.Context, j job.Job, _ struct{}) (job.Outcome, error) {
			panic("flow fell over")
		}, job.Attempts(2), job.RetryBackoff(quick))
		job.HandleFlow(q, "test.outcome", func(ctx context.Context, j job.Job, _ struct{}) (job.Outcome, error) {
			return func(ctx context.Context, tx *db.Tx) error {
				if err := effect(ctx, tx, "panic"); err != nil {
					return err
				}
				panic("outcome fell over")
			}, nil
		}, job.Attempts(2), job.RetryBackoff(quick))
		if err := q.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{"tx", "flow", "outcome"} {
			n := enqueue(t, d, q, "test."+what, struct{}{})
			becomes(t, d, n, "failed")
			if got := look(t, d, n); got.Attempt != 2 || *got.LastError != "panic: "+what+" fell over" {
				t.Errorf("%s: attempt %d, %q", what, got.Attempt, *got.LastError)
			}
		}
		if times(t, d, "panic") != 0 {
			t.Error("the effect of a panicking handler was kept")
		}
		if err := q.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(logged.String(), "tx_test.go") {
			t.Error("the stack of a panic was not logged")
		}
	})
}

func TestSchedule(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		at := make(chan clock.Time, 10)
		make := func(offset time.Duration) *job.Queue {
			q := queue(d, func(o *job.Options) { o.Clock, o.Poll = clock.New(offset), time.Hour })
			job.HandleTx(q, "test.note", func(ctx context.Context, tx *db.Tx, j job.Job, args named) error {
				at <- clock.New(offset).Now()
				return effect(ctx, tx, args.Name)
			})
			start(t, q)
			return q
		}
		q, now := make(0), clock.New(0).Now()
		tomorrow := enqueue(t, d, q, "test.note", named{"tomorrow"}, job.RunAt(now.Add(24*time.Hour)))
		soon := enqueue(t, d, q, "test.note", named{"soon"}, job.RunAt(now.Add(300*time.Millisecond)))
		becomes(t, d, soon, "done")
		if got := (<-at).Sub(now); got < 300*time.Millisecond {
			t.Errorf("ran after %v, before its time", got)
		}
		if s := state(t, d, tomorrow); s != "ready" {
			t.Fatalf("tomorrow's job is %s today", s)
		}
		make(25 * time.Hour)
		becomes(t, d, tomorrow, "done")
	})
}

func TestKey(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		q := queue(d)
		job.HandleTx(q, "test.note", func(ctx context.Context, tx *db.Tx, j job.Job, args named) error {
			return effect(ctx, tx, args.Name)
		})
		job.HandleTx(q, "test.other", func(ctx context.Context, tx *db.Tx, j job.Job, args named) error { return nil })

		ids := make(chan job.ID, 16)
		var wg sync.WaitGroup
		for range cap(ids) {
			wg.Go(func() { ids <- enqueue(t, d, q, "test.note", named{"keyed"}, job.UniqueKey("k")) })
		}
		wg.Wait()
		close(ids)
		var first job.ID
		for n := range ids {
			if n != 0 && first != 0 {
				t.Fatal("two live jobs have one key")
			}
			first += n
		}
		for _, n := range []job.ID{
			enqueue(t, d, q, "test.note", named{"keyed"}, job.UniqueKey("l")),
			enqueue(t, d, q, "test.other", named{"keyed"}, job.UniqueKey("k")),
			enqueue(t, d, q, "test.note", named{"keyed"}),
			enqueue(t, d, q, "test.note", named{"keyed"}),
		} {
			if n == 0 {
				t.Error("a key kept out what is not its like")
			}
		}
		start(t, q)
		becomes(t, d, first, "done")
		again := enqueue(t, d, q, "test.note", named{"again"}, job.UniqueKey("k"))
		if again == 0 {
			t.Fatal("a finished job keeps its key")
		}
		becomes(t, d, again, "done")
	})
}

func TestUnreadableArguments(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		old := queue(d)
		job.HandleTx(old, "test.note", func(ctx context.Context, tx *db.Tx, j job.Job, args named) error { return nil })
		n := enqueue(t, d, old, "test.note", named{"x"})
		q := queue(d)
		job.HandleTx(q, "test.note", func(ctx context.Context, tx *db.Tx, j job.Job, args struct {
			Name int `json:"name"`
		}) error {
			return nil
		})
		start(t, q)
		becomes(t, d, n, "failed")
	})
}

// One kind of enqueuing while the same job runs: on PostgreSQL the enqueuer
// waits for it, and its own job is not lost.
func TestKeyWhileTxRuns(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		q := queue(d)
		entered := make(chan struct{}, 100)
		job.HandleTx(q, "test.note", func(ctx context.Context, tx *db.Tx, j job.Job, args named) error {
			entered <- struct{}{}
			time.Sleep(100 * time.Millisecond)
			return effect(ctx, tx, args.Name)
		})
		start(t, q)
		enqueue(t, d, q, "test.note", named{"first"}, job.UniqueKey("k"))
		<-entered
		second := enqueue(t, d, q, "test.note", named{"second"}, job.UniqueKey("k"))
		if second == 0 {
			t.Fatal("the second job was dropped although the first can no longer see its change")
		}
		becomes(t, d, second, "done")
	})
}
