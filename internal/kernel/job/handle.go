package job

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"time"

	"frontdesk/internal/kernel/db"

	"github.com/go-json-experiment/json"
)

// handler is a declared kind with its types erased. Either tx or flow is set.
type handler struct {
	kind     string
	args     reflect.Type
	lane     string
	timeout  time.Duration
	attempts int
	backoff  func(attempt int) time.Duration
	every    time.Duration // zero unless periodic
	forget   bool          // remove the row of a job that succeeded
	tx       func(ctx context.Context, tx *db.Tx, j Job) error
	flow     func(ctx context.Context, j Job) (Outcome, error)
}

// Setting changes how a kind is run.
type Setting func(q *Queue, h *handler)

// RunTimeout bounds one run. The default is 10 seconds for a Tx job, which should
// take milliseconds because on SQLite all other writes wait for it, and a minute
// for a Flow.
func RunTimeout(d time.Duration) Setting { return func(_ *Queue, h *handler) { h.timeout = d } }

// Attempts bounds how often a job is tried before it fails. The default is 20,
// over about nine hours.
func Attempts(n int) Setting { return func(_ *Queue, h *handler) { h.attempts = n } }

// RetryBackoff says how long to wait after a failed attempt, before jitter. The first
// attempt is 1.
func RetryBackoff(wait func(attempt int) time.Duration) Setting {
	return func(_ *Queue, h *handler) { h.backoff = wait }
}

// Every makes the kind periodic: it runs once per period d, in one of all
// processes, with zero arguments. Periods begin at multiples of d since 1970.
// Periods missed while nothing ran are not made up for.
func Every(d time.Duration) Setting {
	return func(_ *Queue, h *handler) {
		if d <= 0 {
			panic("job: " + h.kind + " has no period")
		}
		h.every = d
	}
}

// InLane runs the kind among others of the same lane, at most workers at once in
// this process, so that a slow provider holds up only its own jobs.
func InLane(name string, workers int) Setting {
	return func(q *Queue, h *handler) { h.lane = q.openLane(name, workers).name }
}

// ForgetWhenDone removes the row of a job that succeeds, for kinds so frequent that
// keeping the rows would cost more than they are worth.
func ForgetWhenDone() Setting { return func(_ *Queue, h *handler) { h.forget = true } }

// kindName is the form of a kind. It also makes a kind safe in SQL (sql.go).
var kindName = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$`)

// HandleTx declares a kind whose work is all in the database. The handler's
// transaction is the one that claims and completes the job.
func HandleTx[T any](q *Queue, kind string, fn func(ctx context.Context, tx *db.Tx, j Job, args T) error,
	settings ...Setting) {
	if fn == nil {
		panic("job: " + kind + " has no handler")
	}
	declareKind[T](q, &handler{kind: kind, lane: laneTx, timeout: 10 * time.Second,
		tx: func(ctx context.Context, tx *db.Tx, j Job) error {
			args, err := decodeArgs[T](j)
			if err != nil {
				return err
			}
			return fn(ctx, tx, j, args)
		}}, settings)
}

// HandleFlow declares a kind that calls the outside world. The handler runs
// outside any transaction and returns what to write, which may be nil. It is
// written on success, on failure and on RunAgainAfter.
func HandleFlow[T any](q *Queue, kind string, fn func(ctx context.Context, j Job, args T) (Outcome, error),
	settings ...Setting) {
	if fn == nil {
		panic("job: " + kind + " has no handler")
	}
	declareKind[T](q, &handler{kind: kind, lane: laneFlow, timeout: time.Minute,
		flow: func(ctx context.Context, j Job) (Outcome, error) {
			args, err := decodeArgs[T](j)
			if err != nil {
				return nil, err
			}
			return fn(ctx, j, args)
		}}, settings)
}

// declareKind adds a kind to the queue. It panics on a mistake, which is then found at
// start.
func declareKind[T any](q *Queue, h *handler, settings []Setting) {
	switch {
	case !kindName.MatchString(h.kind):
		panic("job: a kind is noun.verb, not " + h.kind)
	case q.handlers[h.kind] != nil:
		panic("job: " + h.kind + " is declared twice")
	case q.texts != nil:
		panic("job: " + h.kind + " is declared after the start")
	}
	h.args, h.attempts, h.backoff = reflect.TypeFor[T](), 20, defaultBackoff
	for _, set := range settings {
		set(q, h)
	}
	if h.timeout <= 0 || h.attempts <= 0 || h.backoff == nil {
		panic("job: " + h.kind + " has no timeout, attempts or backoff")
	}
	if _, err := json.Marshal(*new(T)); err != nil {
		panic(fmt.Sprintf("job: the arguments of %s cannot be encoded: %v", h.kind, err))
	}
	q.handlers[h.kind] = h
}

// decodeArgs reads a job's arguments. A failure is permanent: they will not change.
func decodeArgs[T any](j Job) (args T, err error) {
	if err := json.Unmarshal(j.args, &args); err != nil {
		return args, Permanent(fmt.Errorf("job: arguments: %w", err))
	}
	return args, nil
}

// defaultBackoff doubles from one second to one hour.
func defaultBackoff(attempt int) time.Duration {
	return min(time.Second<<min(attempt-1, 12), time.Hour)
}
