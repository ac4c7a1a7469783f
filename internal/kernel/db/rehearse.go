package db

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"reflect"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
)

// Trace is what a transaction did, for a rehearsal that shows it to a person, and
// for comparing two runs.
type Trace struct {
	Entries []any // what the packages above noted: events, jobs

	// Versions are the updated_at of the rows that it relied on, before it changed
	// them. Another run with other versions may do something else.
	Versions map[id.ID]clock.Time

	inserted map[id.ID]bool // the rows that it inserted
}

// Inserted reports whether the transaction inserted the row with this id.
func (t *Trace) Inserted(row id.ID) bool { return t.inserted[row] }

// InsertedIDs are the ids of the rows that the transaction inserted.
func (t *Trace) InsertedIDs() iter.Seq[id.ID] { return maps.Keys(t.inserted) }

// entryCount is how many entries there are, 0 without a trace.
func (t *Trace) entryCount() int {
	if t == nil {
		return 0
	}
	return len(t.Entries)
}

// truncateEntries drops all entries but the first n, when a savepoint undoes what they tell of.
func (t *Trace) truncateEntries(n int) {
	if t != nil {
		t.Entries = t.Entries[:n]
	}
}

// StartTrace begins to trace what the transaction does, or goes on.
func (tx *Tx) StartTrace() *Trace {
	if tx.trace == nil {
		tx.trace = &Trace{Versions: map[id.ID]clock.Time{}, inserted: map[id.ID]bool{}}
	}
	return tx.trace
}

// RestartTrace begins a new trace. What was traced so far stays with the former one,
// which the caller has.
func (tx *Tx) RestartTrace() *Trace {
	tx.trace = nil
	return tx.StartTrace()
}

// StopTrace ends the trace.
func (tx *Tx) StopTrace() { tx.trace = nil }

// AddToTrace adds an entry to the trace, if there is one.
func (tx *Tx) AddToTrace(v any) {
	if tx.trace != nil {
		tx.trace.Entries = append(tx.trace.Entries, v)
	}
}

// ForgetRowsBefore forgets how rows were before. In a series of operations in one
// transaction, each is compared with what the one before it has made of the rows.
func (tx *Tx) ForgetRowsBefore() { tx.rowsBefore = nil }

// TraceInserted says that the row with this id is new, if there is a trace.
func (tx *Tx) TraceInserted(row id.ID) {
	if tx.trace != nil {
		tx.trace.inserted[row] = true
	}
}

// TraceVersion says when a row last changed whose contents the transaction relies on
// without locking it. The first version counts, and a row that the transaction
// inserted itself has none.
func (tx *Tx) TraceVersion(row id.ID, at clock.Time) {
	if tx.trace == nil || tx.trace.inserted[row] {
		return
	}
	if _, ok := tx.trace.Versions[row]; !ok {
		tx.trace.Versions[row] = at
	}
}

// traceInsert notes a row that is about to be inserted.
func (t *layout) traceInsert(tx *Tx, row reflect.Value) {
	if tx.trace != nil {
		tx.TraceInserted(id.ID(t.columnText(row, "id")))
	}
}

// traceVersion notes the version of a row that was just locked.
func (t *layout) traceVersion(tx *Tx, row reflect.Value, key id.ID) {
	if tx.trace != nil {
		tx.TraceVersion(key, clock.Time(t.mapping.fieldValue(row, t.fieldForColumn("updated_at")).Int()))
	}
}

// errRehearsed undoes a rehearsal that went well.
var errRehearsed = errors.New("db: this was a rehearsal")

// Rehearse runs fn like Write, traced, and then undoes everything: nobody else
// sees any of it, no OnCommit runs, and the search index stays as it was. On
// SQLite it takes its turn among the writes and is undone to its own savepoint,
// so that those who share the commit notice nothing. There it ends with
// ErrHeldTooLong once the rehearsals of ctx have kept all others waiting for Options.MaxHold.
func (d *DB) Rehearse(ctx context.Context, fn Func) error {
	if holdBudgetOf(ctx) == nil {
		ctx = WithSharedHold(ctx)
	}
	holdBudgetOf(ctx).open(cmp.Or(d.opts.MaxHold, defaultMaxHold))
	err := d.Write(WithoutOutcome(ctx), func(ctx context.Context, tx *Tx) error {
		tx.StartTrace()
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return errRehearsed
	})
	if errors.Is(err, errRehearsed) {
		return nil
	}
	return err
}

// defaultMaxHold is how long the rehearsals of one request may hold SQLite's writer together,
// unless Options say otherwise. What is undone again must not keep everybody else from writing.
const defaultMaxHold = 250 * time.Millisecond

// ErrHeldTooLong says that a rehearsal was ended because all other writes waited for it.
var ErrHeldTooLong = errors.New("db: a rehearsal held up all other writes for too long")

type holdKey struct{}

// holdBudget is the time that the rehearsals of one request have left to hold the writer.
// The first of them opens it.
type holdBudget struct {
	left   time.Duration
	opened bool
}

func (h *holdBudget) open(limit time.Duration) {
	if !h.opened {
		h.left, h.opened = limit, true
	}
}

// WithSharedHold has all rehearsals of ctx share one budget.
func WithSharedHold(ctx context.Context) context.Context {
	return context.WithValue(ctx, holdKey{}, &holdBudget{})
}

// holdBudgetOf is what the rehearsals of ctx have left, or nil for a real write.
func holdBudgetOf(ctx context.Context) *holdBudget {
	h, _ := ctx.Value(holdKey{}).(*holdBudget)
	return h
}

// startTimer lets every statement of the connection fail once the time is up, also one
// that is running. end reports whether it was up, and must be called before the
// connection is used for anything else.
func (h *holdBudget) startTimer(c *conn) (end func() (over bool)) {
	up, began := make(chan struct{}), time.Now()
	timer := time.AfterFunc(h.left, func() { close(up) })
	c.SetInterrupt(up)
	return func() bool {
		timer.Stop()
		c.SetInterrupt(nil)
		h.left -= time.Since(began)
		return h.left < 0
	}
}
