package op

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	leaseTime       = 15 * time.Second // a claim that was not renewed for so long belongs to a dead process
	leaseRenewEvery = 4 * time.Second  // three renewals may fail before the lease ends
	releaseTimeout  = 3 * time.Second  // short: the caller waits for it, perhaps while the database does not answer
	flowTimeout     = 60 * time.Second // the longest that a Flow runs, unless Runner.FlowTimeout says otherwise
)

// claim is a Flow's hold on its idempotency key: a row that is committed before the first outside call, with a lease
// that renewLease extends. If the process dies, the lease ends and a retry takes the claim over.
type claim struct {
	key *requestKey
	// attempt is sent to the provider as its own idempotency key. It stays the same when the claim is taken over, so
	// that the provider does not act twice.
	attempt id.ID
	// fence grows with every holder. All writes require it, so that a holder which was only slow, and not dead, can no
	// longer write after somebody took its claim over.
	fence    int64
	progress jsontext.Value // what SaveProgress stored last; nil for nothing
}

// UnknownOutcome marks an error after which nobody knows whether the provider acted. The key stays bound to the
// attempt, and a retry with the same key resumes it.
func UnknownOutcome(err error) error { return &unknownOutcome{err} }

type unknownOutcome struct{ error }

func (u *unknownOutcome) Unwrap() error { return u.error }

// IsUnknownOutcome reports whether an error leaves open whether the provider acted, so that only a retry with the same
// key can find out.
func IsUnknownOutcome(err error) bool {
	var u *unknownOutcome
	return errors.As(err, &u)
}

// AttemptID is the id to send to a provider as its idempotency key. It is the same in every retry; when the caller sent
// no key, every call of AttemptID returns a new one.
func (c *Call) AttemptID() id.ID {
	if c.claim == nil {
		return id.New()
	}
	return c.claim.attempt
}

// LoadProgress fills state with what SaveProgress stored in an earlier run of this attempt, and reports whether there
// was anything.
func (c *Call) LoadProgress(state any) (bool, error) {
	if c.claim == nil || c.claim.progress == nil {
		return false, nil
	}
	return true, json.Unmarshal(c.claim.progress, state)
}

// SaveProgress commits how far the attempt has come, before or after an outside call, for a retry to resume from.
// Without a key there is nothing to resume, and it does nothing.
func (c *Call) SaveProgress(ctx context.Context, state any) error {
	if c.claim == nil {
		return nil
	}
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	err = c.runner.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := db.Exec(ctx, tx, `
			UPDATE idempotency
			SET step = $4
			WHERE organization_id = $1 AND key = $2 AND fence = $3 AND status IS NULL`,
			c.claim.key.org, c.claim.key.value, c.claim.fence, jsontext.Value(text))
		return requireFence(n, err)
	})
	if err == nil {
		c.claim.progress = text
	}
	return err
}

// Write commits a part of a Flow's work with its events. It fails when another process has taken over the claim.
func (c *Call) Write(ctx context.Context, fn func(context.Context, *db.Tx) error) error {
	if c.inSeries {
		return fn(ctx, c.Tx) // runStep writes its events
	}
	return c.runner.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		c.Tx, c.pendingEvents = tx, c.pendingEvents[:0]
		tx.SetAuthor(c.textAuthor())
		defer func() { c.Tx = nil }()
		c.startTrace()
		if c.claim != nil {
			if err := c.claim.lockUntilCommit(ctx, tx); err != nil {
				return err
			}
		}
		if err := fn(ctx, tx); err != nil {
			return err
		}
		if err := c.writeEvents(ctx, Nothing{}, nil); err != nil {
			return err
		}
		return c.meterTransaction(ctx)
	})
}

// Finish commits the last part of a Flow's work, its events and the answer to store under the key, in one transaction.
func Finish[Out any](ctx context.Context, c *Call, fn func(context.Context) (Out, error)) (Out, error) {
	if c.inSeries {
		return fn(ctx)
	}
	var k *requestKey
	if c.claim != nil {
		k = c.claim.key
	}
	a, out, err := c.runner.commitWork(ctx, c, k, func(ctx context.Context) (any, error) { return fn(ctx) })
	if err != nil {
		var zero Out
		return zero, err
	}
	c.finishedAnswer = &a
	return out.(Out), nil
}

// runFlow runs a Flow or a Bytes operation. Under a key it claims the key first, renews the claim while the operation
// runs, and ends with the stored answer or with settleFailure.
func (r *Runner) runFlow(ctx context.Context, c *Call, in reflect.Value, k *requestKey, stream *Stream) (Answer,
	error) {
	limit := r.FlowTimeout
	if limit == 0 {
		limit = flowTimeout
	}
	// A client that hangs up must not stop a charge half-way. A stream does end with its client.
	if stream == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
	}
	run := func() (any, error) {
		return recoverPanic(func() (any, error) { return c.op.invoke(ctx, c, in, stream) })
	}
	if k == nil {
		out, err := run()
		if err != nil {
			return Answer{}, err
		}
		if c.finishedAnswer != nil { // Finish has made it
			return *c.finishedAnswer, nil
		}
		a, err := c.newAnswer(out)
		a.Status = cmp.Or(c.status, a.Status)
		return a, err
	}
	if a, done, err := r.claimKey(ctx, c, k); done || err != nil {
		return a, err
	}
	stop := r.renewLease(ctx, c.claim)
	out, err := run()
	stop()
	// The Flow may have used up its time; what is left to do for the key has its own.
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err != nil {
		return r.settleFailure(end, c, err)
	}
	if c.finishedAnswer != nil {
		return *c.finishedAnswer, nil
	}
	// The Flow ended without Finish: only its answer is left to store.
	a, _, err := r.commitWork(end, c, k, func(context.Context) (any, error) { return out, nil })
	return a, err
}

// claimRow is a row of the table idempotency with the columns of a claim.
type claimRow struct {
	storedRow
	Attempt *id.ID         `db:"attempt_id"`
	Fence   int64          `db:"fence"`
	Step    jsontext.Value `db:"step"`
}

// claimKey commits a claim on a key, or takes over one whose holder is gone. done means that there is a stored answer
// or refusal, and nothing is to be run.
func (r *Runner) claimKey(ctx context.Context, c *Call, k *requestKey) (a Answer, done bool, err error) {
	err = r.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		a, done = Answer{}, false
		now, err := db.ReadClock(ctx, tx)
		if err != nil {
			return err
		}
		mine := &claim{key: k, attempt: id.New(), fence: 1}
		insert := func() (int64, error) {
			return db.Exec(ctx, tx, `
				INSERT INTO idempotency (organization_id, key, operation, fingerprint, sealed, created_at, attempt_id,
					fence, lease_until)
				VALUES ($1, $2, $3, $4, FALSE, $5, $6, $7, $8)
				ON CONFLICT (organization_id, key) DO NOTHING`,
				k.org, k.value, c.op.Name, k.fingerprint[:], c.Now, mine.attempt, mine.fence, now.Add(leaseTime))
		}
		n, err := insert()
		if err != nil || n == 1 {
			c.claim = mine
			return err
		}
		// There is a row. Lock it, so that of two retries only one takes it over; SQLite has one writer anyway.
		text := "SELECT " + storedColumns +
			", attempt_id, fence, step FROM idempotency WHERE organization_id = $1 AND key = $2"
		if tx.Engine() == db.Postgres {
			text += " FOR UPDATE"
		}
		row, err := db.QueryOne[claimRow](ctx, tx, text, k.org, k.value)
		if errors.Is(err, db.ErrNoRow) {
			return fault.KeyInFlight.New() // its holder failed and deleted the row just now; a retry will succeed
		}
		if err != nil {
			return err
		}
		if a, done, err = r.answerFromRow(row.storedRow, c, k, now); done || err != nil {
			return err
		}
		mine.fence, c.claim = row.Fence+1, mine
		// An expired row belongs to an old request: a new row for this one. Otherwise its holder is gone, and this
		// process takes the row over.
		if row.isExpired(c.runner.keyLifetime(), c.Now, now) {
			if err := k.deleteExpired(ctx, tx, c); err != nil {
				return err
			}
			_, err := insert()
			return err
		}
		if row.Status == nil && row.Attempt != nil { // resume the attempt of a holder that died or left it open
			mine.attempt, mine.progress = *row.Attempt, row.Step
		}
		_, err = db.Exec(ctx, tx, `
			UPDATE idempotency
			SET operation = $3, fingerprint = $4, status = NULL, body = NULL, sealed = FALSE, created_at = $5,
				attempt_id = $6, fence = $7, lease_until = $8, step = $9
			WHERE organization_id = $1 AND key = $2`,
			k.org, k.value, c.op.Name, k.fingerprint[:], c.Now, mine.attempt, mine.fence, now.Add(leaseTime),
			mine.progress)
		return err
	})
	return a, done, err
}

// renewLease extends the lease every few seconds until stop is called, which waits for the renewal that is under way.
func (r *Runner) renewLease(ctx context.Context, m *claim) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(leaseRenewEvery):
			}
			err := r.DB.Write(db.WithReservedPool(ctx), func(ctx context.Context, tx *db.Tx) error {
				now, err := db.ReadClock(ctx, tx)
				if err != nil {
					return err
				}
				return m.setLease(ctx, tx, now.Add(leaseTime))
			})
			if err != nil && ctx.Err() == nil {
				r.Log.WarnContext(ctx, "a claim could not be renewed", "err", err)
			}
		}
	}()
	return func() { cancel(); <-done }
}

// settleFailure decides what an error means for the key. There are four outcomes: another process has the claim; the
// outcome is open, and a retry with the key must resume it; the refusal is final and is stored as the answer
// (fault.Binding); or nothing happened outside, and the key is released.
func (r *Runner) settleFailure(ctx context.Context, c *Call, err error) (Answer, error) {
	m := c.claim
	var f *fault.Fault
	refused := errors.As(err, &f)
	// Once progress was saved, an outside call may have been made. A failure of the service, or of the database, does
	// not say what became of it; any other refusal is the operation's own word that it did not happen.
	begun := m.progress != nil && (!refused || f.Status == http.StatusServiceUnavailable)
	open := IsUnknownOutcome(err) || begun || errors.Is(err, db.ErrLostCommit)
	switch {
	case errors.Is(err, errFenced):
		return Answer{}, fault.KeyInFlight.Because(err)
	case open:
		// End the lease now, so that the caller's retry need not wait for it.
		soon, cancel := context.WithTimeout(ctx, releaseTimeout)
		defer cancel()
		if e := r.DB.Write(soon, func(ctx context.Context,
			tx *db.Tx) error {
			return m.setLease(ctx, tx, 0)
		}); e != nil {
			r.Log.WarnContext(ctx, "an open attempt keeps its lease", "err", e)
		}
		if refused {
			return Answer{}, err
		}
		return Answer{}, fault.OutcomeUnknown.Because(err)
	case f != nil && f.Binding:
		body, e := ErrorBody(f)
		if e != nil {
			return Answer{}, e
		}
		if e := r.DB.Write(ctx, func(ctx context.Context,
			tx *db.Tx) error {
			return m.storeAnswer(ctx, tx, Answer{Status: f.Status, Body: body}, false)
		}); e != nil {
			return Answer{}, e
		}
		return Answer{Status: f.Status, Body: body}, nil
	}
	// Nothing happened outside. Without its row, the key is free for a retry.
	e := r.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, `
			DELETE FROM idempotency
			WHERE organization_id = $1 AND key = $2 AND fence = $3 AND status IS NULL`, m.key.org, m.key.value, m.fence)
		return err
	})
	if e != nil {
		r.Log.WarnContext(ctx, "a failed request kept its key", "err", e)
	}
	return Answer{}, err
}

var errFenced = errors.New("op: another process took this attempt over")

// requireFence turns an UPDATE that found no row into errFenced: the row has a higher fence, or an answer.
func requireFence(n int64, err error) error {
	if err == nil && n == 0 {
		return errFenced
	}
	return err
}

// lockUntilCommit locks the claim's row for the rest of the transaction, or fails when another process has it. The
// UPDATE changes nothing; it takes the lock on both engines.
func (m *claim) lockUntilCommit(ctx context.Context, tx *db.Tx) error {
	n, err := db.Exec(ctx, tx, `
		UPDATE idempotency
		SET fence = fence
		WHERE organization_id = $1 AND key = $2 AND fence = $3 AND status IS NULL`,
		m.key.org, m.key.value, m.fence)
	return requireFence(n, err)
}

// setLease sets until when others must leave the claim alone.
func (m *claim) setLease(ctx context.Context, tx *db.Tx, until clock.Time) error {
	n, err := db.Exec(ctx, tx, `
		UPDATE idempotency
		SET lease_until = $4
		WHERE organization_id = $1 AND key = $2 AND fence = $3 AND status IS NULL`,
		m.key.org, m.key.value, m.fence, until)
	return requireFence(n, err)
}

// storeAnswer replaces the claim by the answer that the key replays from now on.
func (m *claim) storeAnswer(ctx context.Context, tx *db.Tx, a Answer, sealed bool) error {
	n, err := db.Exec(ctx, tx, `
		UPDATE idempotency SET status = $4, body = $5, sealed = $6, external = $7, step = NULL, lease_until = NULL
		WHERE organization_id = $1 AND key = $2 AND fence = $3 AND status IS NULL`,
		m.key.org, m.key.value, m.fence, a.Status, a.Body, sealed, a.Exposure.External)
	return requireFence(n, err)
}

// ErrorBody is the REST body of a refusal, envelope included.
func ErrorBody(f *fault.Fault) ([]byte, error) {
	content, err := errorContent(f)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte(`{"error":`), content, []byte(`}`)), nil
}

// errorContent is the error object of a refusal.
func errorContent(f *fault.Fault) (jsontext.Value, error) {
	b, err := json.Marshal(struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Details any    `json:"details,omitempty"`
	}{f.Code, f.Sentence(), f.Details})
	if err != nil {
		return nil, fmt.Errorf("op: encode a refusal: %w", err)
	}
	return b, nil
}
