package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"frontdesk/internal/kernel/fault"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// commitMark identifies a transaction, so that another connection can ask what became of
// it: its id, when its server started, and when it began. Another server, or one
// that has recovered from a crash since, may have given the same id to another
// transaction. A server that lost only one of its processes recovers without a
// restart, but resets its statistics.
type commitMark struct {
	xid           string
	server, began time.Time
}

const (
	markQuery    = "SELECT pg_current_xact_id()::text, pg_postmaster_start_time(), clock_timestamp()"
	outcomeQuery = `
		SELECT COALESCE(pg_xact_status($1::text::xid8), ''), pg_postmaster_start_time(),
			COALESCE(pg_stat_get_bgwriter_stat_reset_time() >= $2, FALSE)`
)

type withoutOutcome struct{}

// WithoutOutcome is for a Write whose caller need not know whether it committed
// when the connection breaks, because the next look for work finds it again. It
// avoids asking PostgreSQL for a transaction id, which an idle worker would
// otherwise use up with every look.
func WithoutOutcome(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutOutcome{}, true)
}

type withReserve struct{}

// WithReservedPool is for transactions that keep leases alive or take them over. On
// PostgreSQL they have connections of their own, so that they do not wait behind a
// burst of requests.
func WithReservedPool(ctx context.Context) context.Context {
	return context.WithValue(ctx, withReserve{}, true)
}

type oneStatement struct{}

// WithSingleStatement is for a Read of a single statement, which needs no snapshot to
// share with others. On PostgreSQL it has no transaction around it: one round trip
// instead of two. A second statement fails.
func WithSingleStatement(ctx context.Context) context.Context {
	return context.WithValue(ctx, oneStatement{}, true)
}

// StatementGuess remembers whether a kind of read takes a single statement. Every kind, such
// as an operation, has its own.
type StatementGuess struct{ singles atomic.Int32 }

type guessKey struct{}

// WithStatementGuess is for a Read that may take a single statement, and that may be run
// again. Once several of its kind took one, the next is sent without a transaction
// around it, which would take PostgreSQL a quarter as long again. When it asks for
// a second statement after all, it runs again on a snapshot.
func WithStatementGuess(ctx context.Context, g *StatementGuess) context.Context {
	return context.WithValue(ctx, guessKey{}, g)
}

const guessAfter = 8 // reads in a row that took one statement

// expectsSingle reports whether the next read is expected to take one statement.
func (g *StatementGuess) expectsSingle() bool { return g != nil && g.singles.Load() >= guessAfter }

// recordStatements notes how many statements a read took. A nil guess notes nothing.
func (g *StatementGuess) recordStatements(statements int) {
	switch {
	case g == nil:
	case statements > 1:
		g.singles.Store(0)
	case g.singles.Load() < guessAfter:
		g.singles.Add(1)
	}
}

type lockWaitKey struct{}

// WithLockWait bounds how long each statement of a Write waits for a row that
// another transaction has locked. On SQLite none ever waits.
func WithLockWait(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, lockWaitKey{}, d)
}

// IsLockTimeout reports whether a Write gave up because another transaction has locked a
// row that it needs: PostgreSQL's lock_not_available.
func IsLockTimeout(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "55P03"
}

// isCommitUncertain reports whether a failed COMMIT may have been carried out. If the
// server refused it with an ERROR, it was not. A closed connection says nothing,
// because it may close between the commit and its answer. Neither does
// pgconn.SafeToRetry, which has been true for a commit that was carried out.
func isCommitUncertain(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return cmp.Or(refused.SeverityUnlocalized, refused.Severity) != "ERROR"
	}
	return !errors.Is(err, pgx.ErrTxCommitRollback)
}

// outcomeWait is how long the outcome of a commit is asked for.
const outcomeWait = 3 * time.Second

// findOutcome asks on another connection what became of a transaction: nil when it
// was committed, Unavailable when it was not, and ErrLostCommit when nobody can
// tell in time. The caller's own context may have ended; the answer matters still.
func (e *postgresEngine) findOutcome(ctx context.Context, m commitMark, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outcomeWait)
	defer cancel()
	for m.xid != "" && ctx.Err() == nil {
		var status string
		var server time.Time
		var crashed bool
		err := e.pool.QueryRow(ctx, outcomeQuery, m.xid, m.began).Scan(&status, &server, &crashed)
		switch {
		case err != nil || status == "in progress":
			time.Sleep(20 * time.Millisecond) // the server is down, or still committing
			continue
		case server.Equal(m.server) && status == "committed" && !crashed:
			return nil
		case server.Equal(m.server) && status == "aborted":
			return fault.Unavailable.Because(cause)
		}
		m.xid = "" // it belongs to another transaction
	}
	return fmt.Errorf("%w: %w", ErrLostCommit, cause)
}
