package limit

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"frontdesk/internal/kernel/db"
)

// Several processes over PostgreSQL share their allowances in the table allowances. A row has the moment when the whole
// allowance will be back, by the database's clock, as Limiter has it in memory. One statement moves that moment, so
// that no race spends more than there is. The table is unlogged, which makes writes cheap: a crash empties it and gives
// every caller a fresh allowance.
var _ = db.Declare("allowances", db.Life{Permanent: true})

// Ledger is where processes share allowances. It is nil on SQLite, where there is only one process.
type Ledger struct{ db *db.DB }

// NewLedger returns the ledger of a database; nil for SQLite.
func NewLedger(d *db.DB) *Ledger {
	if d.Engine() == db.SQLite {
		return nil
	}
	return &Ledger{d}
}

const (
	nowText   = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)"
	spendText = `
		INSERT INTO allowances AS a (key, spent_until) VALUES ($1, ` + nowText + ` + $2)
		ON CONFLICT (key) DO UPDATE SET spent_until = greatest(a.spent_until, ` + nowText + `) + $2
		WHERE greatest(a.spent_until, ` + nowText + `) + $2 <= ` + nowText + ` + $3
		RETURNING spent_until - ` + nowText
	debtText   = `SELECT greatest(spent_until - ` + nowText + `, 0) FROM allowances WHERE key = $1`
	returnText = `UPDATE allowances SET spent_until = spent_until - $2 WHERE key = $1`
	purgeText  = `DELETE FROM allowances WHERE spent_until < ` + nowText + ` - 3600000000`
)

// allowanceKey is the name of an allowance in the table. k may be a person's address, so only a hash is stored.
func allowanceKey[K comparable](name string, k K) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %v", name, k))
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

// spendCost takes cost from an allowance of per, both as durations, unless more would be spent than there is. It
// returns how much is spent afterwards, and whether cost was taken.
func (l *Ledger) spendCost(ctx context.Context, key string, cost, per time.Duration) (spent time.Duration, ok bool,
	err error) {
	err = l.db.Write(db.WithoutOutcome(ctx), func(ctx context.Context, tx *db.Tx) error {
		after, err := db.QueryOne[int64](ctx, tx, spendText, key, cost.Microseconds(), per.Microseconds())
		if ok = err == nil; errors.Is(err, db.ErrNoRow) {
			spent, err = readSpent(ctx, tx, key)
			return err
		}
		spent = time.Duration(after) * time.Microsecond
		return err
	})
	return spent, ok, err
}

// readSpent reads how much of an allowance is spent; nothing of one that has no row.
func readSpent(ctx context.Context, tx *db.Tx, key string) (time.Duration, error) {
	spent, err := db.QueryOne[int64](ctx, tx, debtText, key)
	if errors.Is(err, db.ErrNoRow) {
		err = nil
	}
	return time.Duration(spent) * time.Microsecond, err
}

// refundCost gives back what was spent and should not count.
func (l *Ledger) refundCost(ctx context.Context, key string, cost time.Duration) error {
	return l.db.Write(db.WithoutOutcome(ctx), func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, returnText, key, cost.Microseconds())
		return err
	})
}

// Purge deletes the rows of allowances that have been whole for an hour.
func (l *Ledger) Purge(ctx context.Context, tx *db.Tx) error {
	if l == nil {
		return nil
	}
	_, err := db.Exec(ctx, tx, purgeText)
	return err
}

// ExactLimiter is an allowance that all processes share to the last request, such as that of wrong passwords: every
// request is a query. Without a ledger it is a Limiter.
type ExactLimiter[K comparable] struct {
	Name   string // tells its keys from those of other limiters in the ledger
	Ledger *Ledger
	Local  Limiter[K] // what counts without a ledger
}

// Spend takes one request from the key's allowance of n per time. When the database does not answer, it returns an
// error and the request must be refused: otherwise an outage would lift the limit on guessing.
func (e *ExactLimiter[K]) Spend(ctx context.Context, k K, n int, per time.Duration, now time.Time) (Verdict, error) {
	if e.Ledger == nil {
		return e.Local.Spend(k, n, per, now), nil
	}
	step := per / time.Duration(max(n, 1))
	spent, ok, err := e.Ledger.spendCost(ctx, allowanceKey(e.Name, k), step, per)
	return newVerdict(n, step, per, spent, ok), err
}

// Refund gives back one request that was spent and should not count.
func (e *ExactLimiter[K]) Refund(ctx context.Context, k K, n int, per time.Duration) error {
	if e.Ledger == nil {
		e.Local.Refund(k, n, per)
		return nil
	}
	return e.Ledger.refundCost(ctx, allowanceKey(e.Name, k), per/time.Duration(max(n, 1)))
}

// newVerdict is the Verdict for what the ledger said. step is the time that the request costs.
func newVerdict(n int, step, per, spent time.Duration, ok bool) Verdict {
	if !ok {
		return Verdict{Limit: n, Reset: spent, Retry: spent + step - per}
	}
	return Verdict{Limit: n, Remaining: int((per - spent) / step), Reset: spent, OK: true}
}
