package job

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
)

// runNextJob claims one job and runs it. Jobs are claimed one at a time: a batch would
// wait in this process while another process is idle, and on SQLite the writer
// groups the claims of all workers into one commit anyway.
func (q *Queue) runNextJob(l *lane) (found bool, err error) {
	var j *Job
	var v verdict
	ctx := db.WithoutOutcome(db.WithLabel(q.base, "jobs in lane "+l.name))
	err = q.db.Write(db.WithLockWait(ctx, lockWait), func(ctx context.Context, tx *db.Tx) error {
		j = nil
		r, err := q.claimNext(ctx, tx, l)
		if errors.Is(err, db.ErrNoRow) {
			return nil
		}
		if err != nil {
			return err
		}
		j = q.newClaimedJob(r)
		l.wakeDispatcher()
		if j.handler.flow != nil {
			return q.leaseFlow(ctx, tx, j)
		}
		if err := holdUniqueKey(ctx, tx, j); err != nil {
			return err
		}
		if v, err = q.runTxJob(ctx, tx, j); err != nil {
			return err
		}
		return q.settleJob(ctx, tx, j, v)
	})
	switch {
	case j == nil || errors.Is(err, db.ErrLostCommit):
		// After a lost commit a Tx job is either done or still ready, and needs nothing.
		if j != nil && j.handler.flow != nil {
			q.giveBackFlow(j)
		}
		return false, err
	case j.handler.flow != nil:
		if err != nil {
			return false, err
		}
		v, err = q.runFlowJob(j)
	case db.IsLockTimeout(err) && j.Organization != "":
		q.locked.Add(1)
		l.restOrganization(j.Organization) // nothing happened, and the job is ready as before
		return true, nil
	case err != nil:
		// The effect is undone and the job is ready as before. Until the failure
		// is recorded another worker may try it too; the fence lets one count.
		v = q.decideVerdict(j, err)
		err = q.db.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx *db.Tx) error {
			return q.settleJob(ctx, tx, j, v)
		})
	}
	if errors.Is(err, ErrLeaseLost) {
		q.log.WarnContext(ctx, "a job no longer belonged to this worker when it ended", "kind", j.Kind, "job", j.ID,
			"attempt", j.Attempt)
		return true, nil
	}
	if err == nil {
		q.reportRun(ctx, j, v)
		if v.state == "ready" {
			l.wakeDispatcher() // so that the lane notes when the job is due
		}
	}
	return true, err
}

// claimNext finds the next job of a lane: the one that is due for longest. While a lane
// is behind, some of its claims are for organizations that were not served just
// now, so that the burst of one does not hold up the others.
func (q *Queue) claimNext(ctx context.Context, tx *db.Tx, l *lane) (row, error) {
	now, resting := q.clock.Now(), l.restingOrganizations()
	if served := l.organizationsToSkip(); len(served) > 0 {
		fresh, err := db.QueryAll[ID](ctx, tx, q.statementTexts().findFresh, l.name, now, append(served, resting...))
		if err != nil {
			return row{}, err
		}
		for _, n := range fresh {
			r, err := db.QueryOne[row](ctx, tx, q.statementTexts().claimOne, n, now)
			if !errors.Is(err, db.ErrNoRow) { // else another worker has it
				l.noteServed(r)
				return r, err
			}
		}
	}
	text, args := q.statementTexts().claim, []any{l.name, now}
	if len(resting) > 0 {
		text, args = q.statementTexts().claimExcept, append(args, resting)
	}
	r, err := db.QueryOne[row](ctx, tx, text, args...)
	if err == nil {
		l.behind.Store(now.Sub(r.RunAt) > behindTime)
		l.noteServed(r)
	}
	return r, err
}

// newClaimedJob is the job of a row, as its handler sees it.
func (q *Queue) newClaimedJob(r row) *Job {
	j := &Job{ID: r.ID, Kind: r.Kind, Attempt: r.Attempt + 1, MaxAttempts: r.MaxAttempts, RunAt: r.RunAt,
		CreatedAt: r.CreatedAt,
		args:      r.Args, fence: r.Fence, queue: q, handler: q.handlers[r.Kind]}
	if r.OrganizationID != nil {
		j.Organization = *r.OrganizationID
	}
	if r.UniqueKey != nil {
		j.Key = *r.UniqueKey
	}
	return j
}

// holdUniqueKey makes whoever enqueues the same key wait until this job has ended.
// Otherwise their job would be dropped in favour of this one, which may have
// read the data already. PostgreSQL waits for a changed row, not for a locked
// one.
func holdUniqueKey(ctx context.Context, tx *db.Tx, j *Job) error {
	if j.Key == "" || j.Key == periodKey || tx.Engine() != db.Postgres {
		return nil
	}
	_, err := db.Exec(ctx, tx, `UPDATE jobs SET fence = fence WHERE id = $1`, j.ID)
	return err
}

// runTxJob runs a Tx job. An error undoes its work.
func (q *Queue) runTxJob(ctx context.Context, tx *db.Tx, j *Job) (verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, j.handler.timeout)
	defer cancel()
	defer q.trackRunning(j)()
	err := j.handler.tx(ctx, tx, *j)
	var again *runAgain
	if err != nil && !errors.As(err, &again) {
		return verdict{}, err
	}
	return q.decideVerdict(j, err), nil
}

// leaseFlow marks a flow as running by this process, and takes its next fence.
func (q *Queue) leaseFlow(ctx context.Context, tx *db.Tx, j *Job) error {
	n, err := db.Exec(ctx, tx, q.statementTexts().lease, j.ID, j.fence, q.leaseMicros(j.handler),
		q.presence.HeldNumber())
	if err == nil && n == 0 {
		err = ErrLeaseLost
	}
	j.fence++
	return err
}

// runFlowJob makes the call and writes its outcome.
func (q *Queue) runFlowJob(j *Job) (verdict, error) {
	outcome, err := q.callHandler(j)
	v := q.decideVerdict(j, err)
	// The call was made, so its outcome is worth a few tries. After a lost commit
	// the fence decides: either it is written now, or it was written then.
	for try := 1; ; try++ {
		err = q.db.Write(context.WithoutCancel(q.base), func(ctx context.Context, tx *db.Tx) error {
			if err := q.settleJob(ctx, tx, j, v); err != nil || outcome == nil {
				return err
			}
			return outcome(ctx, tx)
		})
		switch {
		case err == nil, errors.Is(err, ErrLeaseLost):
			return v, err
		case errors.Is(err, db.ErrLostCommit) || fault.IsKind(err, fault.Unavailable):
			if try == 5 {
				q.giveBackFlow(j)
				return v, err
			}
			time.Sleep(time.Duration(try*try) * 50 * time.Millisecond)
		case outcome == nil:
			return v, err
		default:
			outcome, v = nil, q.decideVerdict(j, err)
		}
	}
}

// callHandler runs the handler of a flow outside any transaction. A panic is an error.
func (q *Queue) callHandler(j *Job) (outcome Outcome, err error) {
	ctx, cancel := context.WithTimeout(db.WithLabel(q.base, "job "+j.Kind), j.handler.timeout)
	defer cancel()
	defer q.trackRunning(j)()
	defer func() {
		if v := recover(); v != nil {
			outcome, err = nil, &db.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return j.handler.flow(ctx, *j)
}
