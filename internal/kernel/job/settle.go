package job

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
)

// verdict is the new state of a job after a run.
type verdict struct {
	state    string
	runAt    clock.Time
	attempt  int
	err      error // of the attempt, or nil
	finished *clock.Time
}

// decideVerdict turns a handler's result into the new state of its job.
func (q *Queue) decideVerdict(j *Job, err error) verdict {
	now := q.clock.Now()
	v := verdict{state: "ready", runAt: j.RunAt, attempt: j.Attempt, err: err}
	var again *runAgain
	var hopeless *permanent
	switch {
	// Run again later: no attempt was used up.
	case errors.As(err, &again):
		v.runAt, v.attempt, v.err = now.Add(again.after), j.Attempt-1, nil
	case err != nil && q.base.Err() != nil:
		// Stop timed out; that is not the job's failure.
		v.attempt = j.Attempt - 1
	case err != nil && !errors.As(err, &hopeless) && !j.IsLastAttempt():
		v.runAt = now.Add(q.jittered(j.handler.backoff(j.Attempt)))
	// A periodic job never ends. Even after its last attempt it waits for its next
	// period.
	case j.Key == periodKey && j.handler.every > 0:
		v.runAt, v.attempt = nextPeriod(max(now, j.RunAt), j.handler.every), 0
	case err != nil:
		v.state, v.finished = "failed", &now
	default:
		v.state, v.finished = "done", &now
	}
	return v
}

// settleJob writes the verdict, or returns ErrLeaseLost when the job has changed since
// it was claimed.
func (q *Queue) settleJob(ctx context.Context, tx *db.Tx, j *Job, v verdict) error {
	from := "ready"
	if j.handler.flow != nil {
		from = "running"
	}
	text, args := settleText, []any{j.ID, j.fence, from, v.state, v.runAt, v.attempt, errorText(v.err), v.finished}
	if v.state == "done" && j.handler.forget {
		text, args = forgetText, args[:3]
	}
	n, err := db.Exec(ctx, tx, text, args...)
	if err == nil && n == 0 {
		err = ErrLeaseLost
	}
	return err
}

const maxErrorText = 2000

// errorText returns an error as the row keeps it: bounded, valid text, no stack.
func errorText(err error) *string {
	if err == nil {
		return nil
	}
	s := err.Error()
	var p *db.PanicError
	if errors.As(err, &p) {
		s = fmt.Sprintf("panic: %v", p.Value)
	}
	if len(s) > maxErrorText {
		s = s[:maxErrorText]
	}
	// PostgreSQL refuses NUL in text, and half a character.
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "")
	return &s
}

// reportRun counts and logs how a run ended.
func (q *Queue) reportRun(ctx context.Context, j *Job, v verdict) {
	q.ran.Add(1)
	if v.err == nil {
		return
	}
	q.errs.Add(1)
	fields := []any{"kind", j.Kind, "job", j.ID, "attempt", j.Attempt, "err", *errorText(v.err)}
	var p *db.PanicError
	if errors.As(v.err, &p) {
		q.panics.Add(1)
		fields = append(fields, "stack", string(p.Stack))
	}
	switch {
	case v.state == "failed":
		q.log.ErrorContext(ctx, "a job failed permanently", fields...)
	case p != nil:
		q.log.ErrorContext(ctx, "a job panicked", fields...)
	default:
		fields = append(fields, "again", v.runAt.Sub(q.clock.Now()).Round(time.Millisecond))
		q.log.WarnContext(ctx, "a job failed and will be tried again", fields...)
	}
}
