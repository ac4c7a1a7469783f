package job

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json"
)

// enqueueRequest is what the options of one job say.
type enqueueRequest struct {
	runAt    *clock.Time
	key      *string
	org      *id.ID
	attempts int
}

// Option changes one job.
type Option func(*enqueueRequest)

// RunAt runs the job at a time of the service's clock instead of at once.
func RunAt(t clock.Time) Option { return func(r *enqueueRequest) { r.runAt = &t } }

// UniqueKey enqueues nothing while a job of the same kind and key is ready or running.
// Enqueue waits for a running Tx job to end. It does not wait for a running flow,
// which may have read the data already: if a flow means "look again", its next run
// needs another key.
func UniqueKey(s string) Option { return func(r *enqueueRequest) { r.key = &s } }

// MaxAttempts overrides the kind's.
func MaxAttempts(n int) Option { return func(r *enqueueRequest) { r.attempts = n } }

// ForOrganization names the organization that the job belongs to. Lanes that are behind share
// their workers fairly between organizations.
func ForOrganization(org id.ID) Option { return func(r *enqueueRequest) { r.org = &org } }

// Enqueue adds a job in the caller's transaction. This process looks for it as
// soon as that commits. The arguments must have the type that the kind's handler
// takes. The zero ID means that a job with the same key is waiting or running.
func (q *Queue) Enqueue(ctx context.Context, tx *db.Tx, kind string, args any, options ...Option) (ID, error) {
	h := q.handlers[kind]
	if h == nil {
		return 0, fmt.Errorf("job: nobody handles %q", kind)
	}
	if t := reflect.TypeOf(args); t != h.args {
		return 0, fmt.Errorf("job: %s takes %v, not %v", kind, h.args, t)
	}
	r := enqueueRequest{attempts: h.attempts}
	for _, o := range options {
		o(&r)
	}
	if r.attempts < 1 {
		return 0, fmt.Errorf("job: %s needs at least one attempt", kind)
	}
	if r.key != nil && (*r.key == "" || *r.key == periodKey) {
		return 0, fmt.Errorf("job: %s cannot have the key %q", kind, *r.key)
	}
	now := q.clock.Now()
	if r.runAt == nil {
		r.runAt = &now
	}
	text, err := json.Marshal(args)
	if err != nil {
		return 0, fmt.Errorf("job: arguments of %s: %w", kind, err)
	}
	n, err := db.QueryOne[ID](ctx, tx, insertText, r.org, h.lane, kind, r.key, db.JSON(text), r.runAt, r.attempts, now)
	if errors.Is(err, db.ErrNoRow) {
		return 0, nil
	}
	if err == nil {
		tx.AddToTrace(Enqueued{Kind: kind, At: *r.runAt})
		tx.OnCommit(q.lanes[h.lane].wakeDispatcher)
	}
	return n, err
}

// Enqueued is a new job in the trace of a transaction (db.Trace).
type Enqueued struct {
	Kind string
	At   clock.Time
}

// Cancel ends a job that has not ended, and reports whether it did. A running
// flow can then no longer write its outcome. Cancel waits for a running Tx job,
// which has then ended.
func (q *Queue) Cancel(ctx context.Context, tx *db.Tx, job ID) (bool, error) {
	n, err := db.Exec(ctx, tx, cancelText+`id = $1`, job, q.clock.Now())
	return n > 0, err
}

// CancelByKey cancels the waiting or running job of a kind and key.
func (q *Queue) CancelByKey(ctx context.Context, tx *db.Tx, kind, key string) (bool, error) {
	n, err := db.Exec(ctx, tx, cancelText+`kind = $1 AND unique_key = $3`, kind, q.clock.Now(), key)
	return n > 0, err
}
