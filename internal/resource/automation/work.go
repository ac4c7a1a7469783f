package automation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

const (
	workTimeout = 3 * time.Minute // for one run of the job
	maxRunTime  = time.Minute     // after this no further step begins; the last one may take until workTimeout
)

// errEnded means that the execution was canceled or belongs to another worker
// now.
var errEnded = errors.New("automation: the execution has ended")

// executionRun is one run of an execution's job.
type executionRun struct {
	service *Service
	job     job.Job
	e       *Execution
	values  map[string]any
	who     *op.Caller // looked up by admitExecution for the first step; nil afterwards
	first   bool       // the current step did not begin in an earlier run
	// pending is the outcome of the last step, to be saved together with the
	// beginning of the next one.
	pending func(e *Execution, now clock.Time)
}

// executeSteps takes the steps of an execution. Each begins with a transaction that
// records its input, and ends with the one that begins the next step or ends
// the execution. The process may die in between: the step is then repeated with
// the same input under the same key, which does nothing twice.
func (s *Service) executeSteps(ctx context.Context, j job.Job, args executeArgs) (job.Outcome, error) {
	t := &executionRun{service: s, job: j}
	ended, err := t.loadExecution(ctx, args)
	if ended != nil || err != nil || t.e == nil {
		return ended, err
	}
	if t.e.Status == queued {
		if out, err := t.admitExecution(ctx); out != nil || err != nil {
			return out, ignoreEnded(err)
		}
	}
	for began := time.Now(); ; { //nolint:forbidigo // a duration, not a time
		i := t.e.completedSteps()
		if t.pending != nil {
			i++ // done but not saved yet
		}
		switch {
		case i == len(t.e.Plan.Steps):
			return t.finishWith(func(e *Execution, now clock.Time) { e.endWith(succeeded, now, "") }), nil
		case time.Since(began) > maxRunTime:
			return t.finishWith(func(*Execution, clock.Time) {}), job.RunAgainAfter(0)
		}
		if out, err := t.beginStep(ctx, i); out != nil || err != nil {
			return out, ignoreEnded(err)
		}
		if out, err := t.takeStep(ctx, i); out != nil || err != nil {
			return out, err
		}
	}
}

// ignoreEnded ends the job quietly when somebody else ended the execution.
func ignoreEnded(err error) error {
	if errors.Is(err, errEnded) || errors.Is(err, job.ErrLeaseLost) {
		return nil
	}
	return err
}

// loadExecution reads the execution and what it works with. If t.e stays nil, nothing is
// left to do. An outcome ends an execution whose automation was deleted or paused.
func (t *executionRun) loadExecution(ctx context.Context, args executeArgs) (job.Outcome, error) {
	var status Status // of the automation; empty if it is gone
	var ev *event.Event
	var e *Execution
	err := t.service.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if e, err = executions.Rows.Get(ctx, tx, args.Organization, args.Execution); err != nil {
			return err
		}
		status, err = db.QueryOne[Status](ctx, tx, `
			SELECT status FROM automations
			WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL`,
			args.Organization, e.AutomationID)
		if errors.Is(err, db.ErrNoRow) {
			status, err = "", nil
		}
		if err != nil || e.EventID == nil {
			return err
		}
		found, err := event.GetByID(ctx, tx, args.Organization, *e.EventID)
		if errors.Is(err, db.ErrNoRow) {
			return nil
		}
		ev = &found
		return err
	})
	if fault.IsKind(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if e.Run != args.Run || !e.isUnfinished() || e.Plan == nil {
		return nil, nil
	}
	if t.values, err = e.placeholderValues(ev); err != nil {
		return nil, err
	}
	switch {
	case status == "":
		t.e = e
		return t.finishWith(func(e *Execution, now clock.Time) {
			e.endWith(canceled, now,
				"The automation was deleted.")
		}), nil
	case status == statusPaused && e.Status == queued:
		t.e = e
		return t.finishWith(func(e *Execution, now clock.Time) {
			e.endWith(canceled, now,
				"The automation was paused.")
		}), nil
	}
	t.e = e
	return nil, nil
}

// admitExecution decides whether a waiting execution runs: its maker must still be allowed
// to act, and its condition must hold.
func (t *executionRun) admitExecution(ctx context.Context) (job.Outcome, error) {
	var err error
	if t.who, err = t.stepCaller(ctx); err != nil {
		return t.failRefused(err)
	}
	if t.e.StartedAt != nil || t.e.Plan.Condition == nil {
		return nil, nil
	}
	// A condition that was not decided at once takes time, so it counts against the limit as steps do.
	if err := t.awaitTurn(ctx); err != nil {
		return nil, err
	}
	c, issue := compileCondition(*t.e.Plan.Condition)
	holds := false
	if issue == "" {
		holds, issue = c.evaluateFully(ctx, t.values)
	}
	if issue != "" {
		return t.failExecution(issue, nil), nil
	}
	if !holds {
		return t.finishWith(func(e *Execution, now clock.Time) { e.endWith(skipped, now, "") }), nil
	}
	return nil, nil
}

// awaitTurn reserves the turn of the execution in the plan's limit. An error says
// how long to wait for it.
func (t *executionRun) awaitTurn(ctx context.Context) error {
	var wait time.Duration
	err := t.service.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		e, now, err := t.lockOwned(ctx, tx)
		if err != nil {
			return err
		}
		had := e.AdmittedAt != nil
		if wait, err = t.turnDelay(ctx, tx, e, now); err != nil || had {
			return err
		}
		t.e.AdmittedAt, e.UpdatedAt = e.AdmittedAt, now
		return executions.Rows.Save(ctx, tx, e)
	})
	if err == nil && wait > 0 {
		err = job.RunAgainAfter(wait)
	}
	return err
}

// turnDelay says how long a waiting execution has to wait for its turn, which is
// reserved once and kept in AdmittedAt.
func (t *executionRun) turnDelay(ctx context.Context, tx *db.Tx, e *Execution, now clock.Time) (time.Duration, error) {
	if e.AdmittedAt == nil {
		at, err := t.takeAllowance(ctx, tx, t.who, now)
		if err != nil {
			return 0, err
		}
		e.AdmittedAt = &at
	}
	return e.AdmittedAt.Sub(now), nil
}

// lockOwned locks the execution, or returns an error if it no longer belongs to this
// worker.
func (t *executionRun) lockOwned(ctx context.Context, tx *db.Tx) (*Execution, clock.Time, error) {
	if err := t.job.RenewLease(ctx, tx); err != nil {
		return nil, 0, err
	}
	e, err := executions.Rows.Lock(ctx, tx, t.e.OrganizationID, t.e.ID)
	if fault.IsKind(err, fault.NotFound) {
		return nil, 0, errEnded
	}
	if err == nil && (e.Run != t.e.Run || e.Plan == nil) {
		err = errEnded
	}
	return e, t.service.clock.Now(), err
}

// startInTurn lets a waiting execution run when its turn comes, in the
// transaction that begins its first step; otherwise it says how long to wait.
func (t *executionRun) startInTurn(
	ctx context.Context, tx *db.Tx, e *Execution, now clock.Time,
) (wait time.Duration, err error) {
	if e.Status != queued {
		return 0, nil
	}
	if wait, err = t.turnDelay(ctx, tx, e, now); err != nil || wait > 0 {
		return wait, err
	}
	e.Status = running
	if e.StartedAt == nil {
		e.StartedAt = &now
	}
	return 0, nil
}

// failRefused fails an execution whose maker may not act. Any other error is returned,
// so that the job is tried again.
func (t *executionRun) failRefused(err error) (job.Outcome, error) {
	var f *fault.Fault
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &f) && !isTemporary(f.Code):
		return t.failExecution("The automation may no longer act: "+f.Sentence(), nil), nil
	case t.job.IsLastAttempt():
		return t.failExecution("The automation could not be run.", nil), nil
	}
	return nil, err
}

// saveOwned writes to the execution while it still belongs to this worker. An
// execution whose turn has not come is left waiting.
func (t *executionRun) saveOwned(
	ctx context.Context, fn func(ctx context.Context, tx *db.Tx, e *Execution, now clock.Time) error,
) error {
	var saved *Execution
	var ended bool
	var wait time.Duration
	err := t.service.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		e, now, err := t.lockOwned(ctx, tx)
		if err != nil {
			return err
		}
		if t.pending != nil {
			t.pending(e, now)
		}
		if ended = !e.isUnfinished(); !ended {
			if wait, err = t.startInTurn(ctx, tx, e, now); err == nil && wait <= 0 {
				err = fn(ctx, tx, e, now)
			}
			if err != nil {
				return err
			}
		}
		e.UpdatedAt, saved = now, e
		if err := executions.Rows.Save(ctx, tx, e); err != nil || e.Status != failed {
			return err
		}
		return t.service.emitFailure(ctx, tx, e)
	})
	if err != nil {
		return err
	}
	t.e, t.pending = saved, nil
	switch {
	case ended:
		return errEnded
	case wait > 0:
		return job.RunAgainAfter(wait)
	}
	return nil
}

// finishWith returns the outcome by which the execution changes in the transaction
// that ends this run of the job.
func (t *executionRun) finishWith(change func(e *Execution, now clock.Time)) job.Outcome {
	return func(ctx context.Context, tx *db.Tx) error {
		e, err := executions.Rows.Lock(ctx, tx, t.e.OrganizationID, t.e.ID)
		if fault.IsKind(err, fault.NotFound) {
			return nil
		}
		if err != nil || e.Run != t.e.Run || e.Plan == nil {
			return err
		}
		now := t.service.clock.Now()
		if t.pending != nil {
			t.pending(e, now)
		}
		if e.isUnfinished() {
			change(e, now)
		}
		e.UpdatedAt = now
		if err := executions.Rows.Save(ctx, tx, e); err != nil || e.Status != failed {
			return err
		}
		return t.service.emitFailure(ctx, tx, e)
	}
}

// failExecution returns the outcome that fails the execution. If it is about a step, the
// message says which.
func (t *executionRun) failExecution(why string, step *StepError) job.Outcome {
	return t.finishWith(func(e *Execution, now clock.Time) {
		said := why // a transaction may run again
		if i := e.completedSteps(); step != nil && i < len(e.Steps) {
			e.Steps[i].Error, e.Steps[i].CompletedAt = step, &now
			said = fmt.Sprintf("Step %d, %s: %s", i+1, e.Steps[i].Operation, why)
		}
		e.endWith(failed, now, said)
	})
}
