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
	leaseTime   = 15 * time.Second // a claim that is not renewed this long belongs to a dead process
	leaseRenew  = 4 * time.Second
	releaseTime = 3 * time.Second // the caller waits, perhaps for a database that does not answer
	flowTimeout = 60 * time.Second
)

// claim is a Flow's hold on its key: a row committed before the first outside
// call. The attempt's id is the provider's own idempotency key and stays the
// same when the claim is taken over. The fence grows with every holder, and an
// earlier holder can no longer write.
type claim struct {
	key     *key
	attempt id.ID
	fence   int64
	step    jsontext.Value
}

// Unknown marks an error after which nobody knows whether the provider acted.
// The key stays bound to the attempt, and a retry with it resumes.
func Unknown(err error) error { return &unknown{err} }

type unknown struct{ error }

func (u *unknown) Unwrap() error { return u.error }

// IsUnknown reports whether the outcome of a call is unknown, so that only a retry
// with the same key can find out.
func IsUnknown(err error) bool {
	var u *unknown
	return errors.As(err, &u)
}

// Attempt is the id to give a provider as its idempotency key. Without a key
// of the caller's it is new.
func (c *Call) Attempt() id.ID {
	if c.claim == nil {
		return id.New()
	}
	return c.claim.attempt
}

// Resume fills state with what Save kept for this attempt, and reports
// whether there was anything.
func (c *Call) Resume(state any) (bool, error) {
	if c.claim == nil || c.claim.step == nil {
		return false, nil
	}
	return true, json.Unmarshal(c.claim.step, state)
}

// Save commits how far the attempt has come, before or after an outside call.
func (c *Call) Save(ctx context.Context, state any) error {
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
		return fenced(n, err)
	})
	if err == nil {
		c.claim.step = text
	}
	return err
}

// Write commits a part of a Flow's work with its events, as long as the claim holds.
func (c *Call) Write(ctx context.Context, fn func(context.Context, *db.Tx) error) error {
	if c.within {
		return fn(ctx, c.Tx) // its events follow with the answer
	}
	return c.runner.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		c.Tx, c.emits = tx, c.emits[:0]
		tx.WrittenBy(c.author())
		defer func() { c.Tx = nil }()
		c.follow()
		if c.claim != nil {
			if err := c.claim.hold(ctx, tx); err != nil {
				return err
			}
		}
		if err := fn(ctx, tx); err != nil {
			return err
		}
		if err := c.record(ctx, Nothing{}, nil); err != nil {
			return err
		}
		return c.count(ctx)
	})
}

// Finish commits the last part of a Flow's work, its events and the answer
// that the key will replay, in one transaction.
func Finish[Out any](ctx context.Context, c *Call, fn func(context.Context) (Out, error)) (Out, error) {
	if c.within {
		return fn(ctx)
	}
	var k *key
	if c.claim != nil {
		k = c.claim.key
	}
	a, out, err := c.runner.commit(ctx, c, k, func(ctx context.Context) (any, error) { return fn(ctx) })
	if err != nil {
		var zero Out
		return zero, err
	}
	c.answer = &a
	return out.(Out), nil
}

func (r *Runner) flow(ctx context.Context, o *Op, c *Call, in reflect.Value, k *key, stream *Stream) (Answer, error) {
	// A client that hangs up does not stop a charge half-way.
	limit := r.FlowTimeout
	if limit == 0 {
		limit = flowTimeout
	}
	if stream == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
	}
	run := func() (any, error) { return protect(func() (any, error) { return o.call(ctx, c, in, stream) }) }
	if k == nil {
		out, err := run()
		if err != nil {
			return Answer{}, err
		}
		if c.answer != nil {
			return *c.answer, nil
		}
		a, err := c.answered(out)
		a.Status = cmp.Or(c.status, a.Status)
		return a, err
	}
	if a, done, err := r.claimKey(ctx, o, c, k); done || err != nil {
		return a, err
	}
	stop := r.renew(ctx, c.claim)
	out, err := run()
	stop()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err != nil {
		return r.failed(end, c, err)
	}
	if c.answer != nil {
		return *c.answer, nil
	}
	a, _, err := r.commit(end, c, k, func(context.Context) (any, error) { return out, nil })
	return a, err
}

type claimRow struct {
	storedRow
	Attempt *id.ID         `db:"attempt_id"`
	Fence   int64          `db:"fence"`
	Step    jsontext.Value `db:"step"`
}

// claimKey commits the claim on a key, or takes over one whose holder is gone.
// done means that there already is an answer.
func (r *Runner) claimKey(ctx context.Context, o *Op, c *Call, k *key) (a Answer, done bool, err error) {
	err = r.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		a, done = Answer{}, false
		now, err := db.Now(ctx, tx)
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
				k.org, k.value, o.Name, k.print[:], c.Now, mine.attempt, mine.fence, now.Add(leaseTime))
		}
		n, err := insert()
		if err != nil || n == 1 {
			c.claim = mine
			return err
		}
		text := "SELECT " + storedColumns +
			", attempt_id, fence, step FROM idempotency WHERE organization_id = $1 AND key = $2"
		if tx.Engine() == db.Postgres {
			text += " FOR UPDATE"
		}
		row, err := db.One[claimRow](ctx, tx, text, k.org, k.value)
		if errors.Is(err, db.ErrNone) {
			return fault.KeyInFlight.New() // its holder failed and released it just now
		}
		if err != nil {
			return err
		}
		if a, done, err = r.settle(row.storedRow, c, k, now); done || err != nil {
			return err
		}
		mine.fence, c.claim = row.Fence+1, mine
		if row.expired(c.runner.keyLifetime(), c.Now, now) {
			if err := k.forget(ctx, tx, c); err != nil {
				return err
			}
			_, err := insert()
			return err
		}
		if row.Status == nil && row.Attempt != nil { // a dead or open attempt goes on
			mine.attempt, mine.step = *row.Attempt, row.Step
		}
		_, err = db.Exec(ctx, tx, `
			UPDATE idempotency
			SET operation = $3, fingerprint = $4, status = NULL, body = NULL, sealed = FALSE, created_at = $5,
				attempt_id = $6, fence = $7, lease_until = $8, step = $9
			WHERE organization_id = $1 AND key = $2`,
			k.org, k.value, o.Name, k.print[:], c.Now, mine.attempt, mine.fence, now.Add(leaseTime), mine.step)
		return err
	})
	return a, done, err
}

// renew keeps the lease while the Flow runs.
func (r *Runner) renew(ctx context.Context, m *claim) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(leaseRenew):
			}
			err := r.DB.Write(db.WithReserve(ctx), func(ctx context.Context, tx *db.Tx) error {
				now, err := db.Now(ctx, tx)
				if err != nil {
					return err
				}
				return m.lease(ctx, tx, now.Add(leaseTime))
			})
			if err != nil && ctx.Err() == nil {
				r.Log.WarnContext(ctx, "a claim could not be renewed", "err", err)
			}
		}
	}()
	return func() { cancel(); <-done }
}

// failed decides what an error means for the key: only a definitive failure
// releases it.
func (r *Runner) failed(ctx context.Context, c *Call, err error) (Answer, error) {
	m := c.claim
	var f *fault.Fault
	refused := errors.As(err, &f)
	// A busy or unreachable database says nothing about what was begun outside.
	begun := m.step != nil && (!refused || f.Status == http.StatusServiceUnavailable)
	open := IsUnknown(err) || begun || errors.Is(err, db.ErrLostCommit)
	switch {
	case errors.Is(err, errFenced):
		return Answer{}, fault.KeyInFlight.Because(err)
	case open:
		soon, cancel := context.WithTimeout(ctx, releaseTime)
		defer cancel()
		if e := r.DB.Write(soon, func(ctx context.Context, tx *db.Tx) error { return m.lease(ctx, tx, 0) }); e != nil {
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
			return m.settle(ctx, tx, Answer{Status: f.Status, Body: body}, false)
		}); e != nil {
			return Answer{}, e
		}
		return Answer{Status: f.Status, Body: body}, nil
	}
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

func fenced(n int64, err error) error {
	if err == nil && n == 0 {
		return errFenced
	}
	return err
}

// hold locks the claim for the rest of the transaction, or fails when it is lost.
func (m *claim) hold(ctx context.Context, tx *db.Tx) error {
	n, err := db.Exec(ctx, tx, `
		UPDATE idempotency
		SET fence = fence
		WHERE organization_id = $1 AND key = $2 AND fence = $3 AND status IS NULL`,
		m.key.org, m.key.value, m.fence)
	return fenced(n, err)
}

func (m *claim) lease(ctx context.Context, tx *db.Tx, until clock.Time) error {
	n, err := db.Exec(ctx, tx, `
		UPDATE idempotency
		SET lease_until = $4
		WHERE organization_id = $1 AND key = $2 AND fence = $3 AND status IS NULL`,
		m.key.org, m.key.value, m.fence, until)
	return fenced(n, err)
}

// settle turns the claim into the answer that the key replays.
func (m *claim) settle(ctx context.Context, tx *db.Tx, a Answer, sealed bool) error {
	n, err := db.Exec(ctx, tx, `
		UPDATE idempotency SET status = $4, body = $5, sealed = $6, external = $7, step = NULL, lease_until = NULL
		WHERE organization_id = $1 AND key = $2 AND fence = $3 AND status IS NULL`,
		m.key.org, m.key.value, m.fence, a.Status, a.Body, sealed, a.Sight.External)
	return fenced(n, err)
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
