// Package job runs durable background work. A job is a row of the table jobs,
// enqueued in the caller's transaction, so it exists exactly when the change
// that wanted it does.
//
// There are two kinds. A Tx job (HandleTx) is claimed, does its work and is
// completed in one transaction, so a committed effect is never repeated. A Flow
// job (HandleFlow) talks to the outside world. It is leased in one transaction,
// makes its call outside of any, and is completed in another one together with
// the outcome of the call. A fencing number keeps a worker that lost its lease
// from completing the job, but the call itself may be made again after a crash:
// the handler must ask the provider what became of the first one.
//
//	ready ──claim──▶ running ──outcome──▶ done, failed
//	  ▲                 │
//	  └── error, RunAgainAfter, lost lease     ready or running ──Cancel──▶ cancelled
//
// A Tx job goes from ready to done without ever being seen running.
//
// Schedules (run_at) follow the service's clock, which may be shifted to
// rehearse them. Leases follow the database's clock, which all processes share.
//
// Start reading at Queue in queue.go. Packages declare their kinds (handle.go) and
// enqueue (enqueue.go). Each lane looks for due jobs (lane.go) and its workers run
// them (runNextJob in work.go, settle.go). lease.go and sweep.go take over the jobs of
// processes that died. The package knows no resource.
package job

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// ID names a job. Zero is no job.
type ID int64

// Job is one run of a job, as its handler sees it.
type Job struct {
	ID           ID
	Kind         string
	Organization id.ID  // empty for work that belongs to no organization
	Key          string // the unique key, or empty
	Attempt      int    // 1 for the first
	MaxAttempts  int
	RunAt        clock.Time // when it was due
	CreatedAt    clock.Time

	args    db.JSON
	fence   int64 // grows with every change of hands; a statement with an old one changes nothing
	queue   *Queue
	handler *handler
}

// IsLastAttempt reports whether an error now ends the job as failed, so that the handler can
// tell somebody.
func (j Job) IsLastAttempt() bool { return j.Attempt >= j.MaxAttempts }

// Outcome writes the result of a flow's call, in the transaction that completes
// the job: both are kept or neither is, and neither when the lease was lost in
// the meantime. Like every write it may run more than once.
type Outcome = db.Func

// Permanent marks an error that retrying cannot fix.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanent{err}
}

type permanent struct{ err error }

func (e *permanent) Error() string { return e.err.Error() }
func (e *permanent) Unwrap() error { return e.err }

// RunAgainAfter is returned by a handler whose job shall run again after d. It is no
// failure: what the handler wrote is committed, and no attempt is used up.
func RunAgainAfter(d time.Duration) error { return &runAgain{d} }

type runAgain struct{ after time.Duration }

func (e *runAgain) Error() string { return "job: will run again after " + e.after.String() }

// ErrLeaseLost says that a running job no longer belongs to this worker: it was
// cancelled, or its lease expired and another worker has it.
var ErrLeaseLost = errors.New("job: the lease was lost")

// RenewLease is for flows of several steps. In the transaction that saves a step it
// checks that the job still belongs to this worker, and renews the lease. It
// returns ErrLeaseLost when it does not; the handler then gives up.
func (j Job) RenewLease(ctx context.Context, tx *db.Tx) error {
	n, err := db.Exec(ctx, tx, j.queue.statementTexts().keep, j.ID, j.fence, j.queue.leaseMicros(j.handler))
	if err == nil && n == 0 {
		err = ErrLeaseLost
	}
	return err
}
