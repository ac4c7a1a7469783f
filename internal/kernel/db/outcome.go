package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/internal/kernel/fault"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// mark is how a transaction is recognized when its connection broke in the
// commit: its id, when its server started, and when it began. Another server,
// or one that recovered from a crash since, may have given the same id to
// somebody else. A server that lost only one of its processes recovers without
// being started; its statistics begin anew then.
type mark struct {
	xid           string
	server, began time.Time
}

const (
	markText    = "SELECT pg_current_xact_id()::text, pg_postmaster_start_time(), clock_timestamp()"
	outcomeText = `SELECT COALESCE(pg_xact_status($1::text::xid8), ''), pg_postmaster_start_time(),
		COALESCE(pg_stat_get_bgwriter_stat_reset_time() >= $2, FALSE)`
)

type withoutOutcome struct{}

// WithoutOutcome is for a Write whose caller needs not know whether it was
// committed when the connection broke: whoever looks for work finds it again.
// It saves a look at PostgreSQL's transaction id, which an idle worker would use up.
func WithoutOutcome(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutOutcome{}, true)
}

// uncertain reports whether a failed COMMIT may have been carried out. The
// server says no with an error; that it ends the connection says nothing,
// since it may do so between the commit and its answer. Nor does
// pgconn.SafeToRetry, which was seen to hold for a commit that was carried out.
func uncertain(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return cmp.Or(refused.SeverityUnlocalized, refused.Severity) != "ERROR"
	}
	return !errors.Is(err, pgx.ErrTxCommitRollback)
}

// certainty is how long an outcome is asked for.
const certainty = 3 * time.Second

// outcome asks on another connection what became of a transaction: nil when it
// was committed, Unavailable when it was not, and ErrLostCommit when nobody can
// tell in time.
func (e *pg) outcome(ctx context.Context, m mark, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), certainty)
	defer cancel()
	for m.xid != "" && ctx.Err() == nil {
		var status string
		var server time.Time
		var crashed bool
		err := e.pool.QueryRow(ctx, outcomeText, m.xid, m.began).Scan(&status, &server, &crashed)
		switch {
		case err != nil || status == "in progress":
			time.Sleep(20 * time.Millisecond) // the server is away, or still at it
			continue
		case server.Equal(m.server) && status == "committed" && !crashed:
			return nil
		case server.Equal(m.server) && status == "aborted":
			return fault.Unavailable.Because(cause)
		}
		m.xid = "" // another's
	}
	return fmt.Errorf("%w: %w", ErrLostCommit, cause)
}
