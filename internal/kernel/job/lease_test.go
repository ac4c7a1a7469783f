package job_test

import (
	"context"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
)

// A flow that takes many times longer than a lease keeps its job while its
// process lives, also when others look for lost ones.
func TestLeaseIsRenewed(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		var calls atomic.Int64
		var queues []*job.Queue
		for range 2 {
			q := queue(d, func(o *job.Options) { o.Lease, o.Sweep = 6*time.Second, 100*time.Millisecond })
			job.HandleFlow(q, "test.call", func(ctx context.Context, _ job.Job, _ named) (job.Outcome, error) {
				calls.Add(1)
				time.Sleep(13 * time.Second)
				return note("done"), nil
			})
			queues = append(queues, q)
			if d.Engine() == db.SQLite {
				break // one process owns the file
			}
		}
		n := enqueue(t, d, queues[0], "test.call", named{})
		for _, q := range queues {
			start(t, q)
		}
		becomes(t, d, n, "done")
		if calls.Load() != 1 || times(t, d, "done") != 1 {
			t.Errorf("%d calls, %d outcomes", calls.Load(), times(t, d, "done"))
		}
	})
}

// A row that somebody has locked holds up the jobs of its own organization. The
// others go on meanwhile, though every worker has met the locked row; and when the
// lock is gone, so do they.
func TestLockedRowHoldsUpItsOrganizationOnly(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		if d.Engine() == db.Postgres { // on SQLite writes take turns
			lockedRow(t, d)
		}
	})
}

func lockedRow(t *testing.T, d *db.DB) {
	stuck, free := id.New(), id.New()
	q := queue(d, func(o *job.Options) { o.TxWorkers = 4 })
	job.HandleTx(q, "test.touch", func(ctx context.Context, tx *db.Tx, j job.Job, args named) error {
		if j.Organization == stuck {
			if _, err := db.Exec(ctx, tx, "UPDATE jobs SET last_error = NULL WHERE kind = 'test.row'"); err != nil {
				return err
			}
		}
		return effect(ctx, tx, args.Name)
	}, job.Attempts(3))
	job.HandleTx(q, "test.row", func(context.Context, *db.Tx, job.Job, named) error { return nil })
	row := enqueue(t, d, q, "test.row", named{}, job.RunAt(clock.FromStd(time.Now().Add(time.Hour))))

	locked, release := make(chan struct{}), make(chan struct{})
	holder := make(chan error, 1)
	go func() {
		holder <- d.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			if _, err := db.Exec(ctx, tx, "UPDATE jobs SET last_error = 'x' WHERE id = $1", row); err != nil {
				return err
			}
			if _, err := db.Exec(ctx, tx, "SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
				return err
			}
			close(locked)
			<-release
			return nil
		})
	}()
	<-locked
	for range 100 {
		enqueue(t, d, q, "test.touch", named{"stuck"}, job.ForOrganization(stuck))
	}
	start(t, q)
	for range 20 {
		enqueue(t, d, q, "test.touch", named{"free"}, job.ForOrganization(free))
	}
	eventually(t, "the others' jobs", func() bool { return times(t, d, "free") == 20 })
	if n := times(t, d, "stuck"); n != 0 {
		t.Errorf("%d jobs changed a locked row", n)
	}
	close(release)
	if err := <-holder; err != nil {
		t.Fatal(err)
	}
	eventually(t, "the jobs that waited", func() bool { return times(t, d, "stuck") == 100 })
}

// When a process dies, another goes on with its jobs at once, however long its leases
// would have held. A process that hangs keeps them.
func TestDeathIsNoticed(t *testing.T) {
	o := dbtest.CreateOptions(t, db.Postgres, migrations())
	o.URL = dbtest.DirectURL(t, o.URL) // a pooler has no sessions
	d, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	q := queue(d, func(o *job.Options) { o.Lease = time.Hour })
	job.HandleFlow(q, "crash.flow", func(context.Context, job.Job, numbered) (job.Outcome, error) {
		return note("done"), nil
	})
	n := enqueue(t, d, q, "crash.flow", numbered{-1})
	other := spawn(t, o, t.TempDir(), 0, 1, 0)
	becomes(t, d, n, "running")
	start(t, q)
	if err := other.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	if got := look(t, d, n); got.State != "running" {
		t.Errorf("the job of a process that hangs is %s", got.State)
	}
	other.kill()
	becomes(t, d, n, "done")
	if got := look(t, d, n); got.Attempt != 2 {
		t.Errorf("the job ended as %+v", got)
	}
}
