package job_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/job"
)

func note(name string) job.Outcome {
	return func(ctx context.Context, tx *db.Tx) error { return effect(ctx, tx, name) }
}

func TestFlow(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		q := queue(d)
		job.HandleFlow(q, "test.call", func(ctx context.Context, j job.Job, args named) (job.Outcome, error) {
			if db.InTransaction(ctx) {
				t.Error("a flow runs inside a transaction")
			}
			if _, ok := ctx.Deadline(); !ok {
				t.Error("a flow has no deadline")
			}
			switch {
			case args.Name == "fails" && j.Attempt < 3:
				return note("failed attempt"), errors.New("away")
			case args.Name == "pends" && times(t, d, "pending") < 2:
				return note("pending"), job.RunAgainAfter(time.Millisecond)
			case args.Name == "slips" && j.Attempt < 2:
				return func(ctx context.Context, tx *db.Tx) error {
					if err := effect(ctx, tx, "slips"); err != nil {
						return err
					}
					return errors.New("the outcome cannot be written")
				}, nil
			}
			return note(args.Name), nil
		}, job.RetryBackoff(quick), job.Attempts(4))
		start(t, q)
		for _, name := range []string{"works", "fails", "pends", "slips"} {
			n := enqueue(t, d, q, "test.call", named{name})
			becomes(t, d, n, "done")
			if got := times(t, d, name); got != 1 {
				t.Errorf("%s: the outcome was written %d times", name, got)
			}
			if got := look(t, d, n); got.Lease != nil || got.Finished == nil {
				t.Errorf("%s: left as %+v", name, got)
			}
		}
		if a, b := times(t, d, "failed attempt"), times(t, d, "pending"); a != 2 || b != 2 {
			t.Errorf("outcomes beside errors were written %d and %d times, not twice", a, b)
		}
	})
}

func TestCancel(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		q := queue(d)
		entered, leave := make(chan struct{}), make(chan struct{})
		kept := make(chan error, 1)
		job.HandleFlow(q, "test.call", func(ctx context.Context, j job.Job, args named) (job.Outcome, error) {
			entered <- struct{}{}
			<-leave
			kept <- d.Write(ctx, func(ctx context.Context, tx *db.Tx) error { return j.RenewLease(ctx, tx) })
			return note("cancelled"), nil
		})
		job.HandleTx(q, "test.note", func(ctx context.Context, tx *db.Tx, j job.Job, args named) error {
			return effect(ctx, tx, "cancelled")
		})
		cancel := func(n job.ID) (ok bool) {
			write(t, d, func(ctx context.Context, tx *db.Tx) (err error) {
				ok, err = q.Cancel(ctx, tx, n)
				return err
			})
			return ok
		}
		ready := enqueue(t, d, q, "test.note", named{}, job.UniqueKey("k"))
		if !cancel(ready) || cancel(ready) {
			t.Error("a ready job can be cancelled once")
		}
		if enqueue(t, d, q, "test.note", named{}, job.UniqueKey("k")) == 0 {
			t.Error("a cancelled job keeps its key")
		}
		write(t, d, func(ctx context.Context, tx *db.Tx) error {
			if ok, err := q.CancelByKey(ctx, tx, "test.note", "k"); !ok || err != nil {
				t.Error("not cancelled by its key", err)
			}
			return nil
		})

		start(t, q)
		running := enqueue(t, d, q, "test.call", named{})
		<-entered
		if s := state(t, d, running); s != "running" {
			t.Errorf("a flow at its call is %s", s)
		}
		if !cancel(running) {
			t.Error("a running flow can be cancelled")
		}
		close(leave)
		if err := <-kept; !errors.Is(err, job.ErrLeaseLost) {
			t.Errorf("a cancelled flow was told %v", err)
		}
		if err := q.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := state(t, d, running); s != "cancelled" || times(t, d, "cancelled") != 0 {
			t.Errorf("the completion of a cancelled flow made it %s", s)
		}
		if cancel(running) {
			t.Error("what has ended was cancelled again")
		}
	})
}

// The first worker outlives its lease and ends while the second is at work:
// only the second one's outcome counts.
func TestLostLease(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		var queues []*job.Queue
		var calls atomic.Int64
		var once sync.Once
		second := make(chan struct{})
		const lease, patience = 4 * time.Second, time.Second
		begin := func() *job.Queue {
			q := queue(d, func(o *job.Options) { o.Lease = lease })
			job.HandleFlow(q, "test.call", func(ctx context.Context, j job.Job, args named) (job.Outcome, error) {
				if calls.Add(1) == 1 {
					<-second // deaf to its deadline
					return note("slow"), nil
				}
				once.Do(func() { close(second) })
				time.Sleep(150 * time.Millisecond) // in which the first one tries to complete the job
				return note("quick"), nil
			}, job.RunTimeout(patience))
			start(t, q)
			queues = append(queues, q)
			return q
		}
		began := time.Now()
		n := enqueue(t, d, begin(), "test.call", named{})
		eventually(t, "the first call", func() bool { return calls.Load() >= 1 })
		if d.Engine() == db.Postgres {
			begin() // as another process would
			time.Sleep(50 * time.Millisecond)
			if calls.Load() != 1 && time.Since(began) < lease {
				t.Error("a starting process took a job whose lease was good")
			}
		}
		becomes(t, d, n, "done")
		for _, q := range queues {
			if err := q.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if slow, quick := times(t, d, "slow"), times(t, d, "quick"); slow != 0 || quick != 1 {
			t.Errorf("outcomes: slow %d, quick %d", slow, quick)
		}
		if got := look(t, d, n); got.Attempt != 2 || calls.Load() != 2 {
			t.Errorf("%d calls led to %+v", calls.Load(), got)
		}
	})
}

// A job whose workers keep dying ends at last.
func TestDeadlyJob(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		q := queue(d)
		job.HandleFlow(q, "test.call", func(ctx context.Context, j job.Job, args named) (job.Outcome, error) {
			return note("survived"), nil
		}, job.Attempts(1))
		spared, doomed := enqueue(t, d, q, "test.call", named{}), enqueue(t, d, q, "test.call", named{})
		write(t, d, func(ctx context.Context, tx *db.Tx) error {
			for n, attempt := range map[job.ID]int{spared: 2, doomed: 6} {
				if _, err := db.Exec(ctx, tx, `
					UPDATE jobs
					SET state = 'running', leased_until = 1, attempt = $2
					WHERE id = $1`, n,
					attempt); err != nil {
					return err
				}
			}
			return nil
		})
		start(t, q)
		becomes(t, d, spared, "done")
		becomes(t, d, doomed, "failed")
		if times(t, d, "survived") != 1 {
			t.Error("the deadly job was run again")
		}
	})
}
