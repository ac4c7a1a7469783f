package event

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// Behind reports whether an event before seq is still to be told of, and when to
// look again. Fan-outs run at the same time and end in any order; whoever acts
// in the order of the log waits while one is behind, also for one that failed
// and is tried again.
func Behind(ctx context.Context, tx *db.Tx, org id.ID, seq int64) (again time.Duration, behind bool, err error) {
	number := "CAST(args->>'seq' AS INTEGER)" // as the index jobs_fan_out has it
	if tx.Engine() == db.Postgres {
		number = "CAST(args->>'seq' AS bigint)"
	}
	attempt, err := db.One[int](ctx, tx, `
		SELECT attempt FROM jobs
		WHERE organization_id = $1 AND `+number+` < $2 AND kind = 'event.fan_out' AND state = 'ready'
		ORDER BY organization_id, `+number+` LIMIT 1`, org, seq)
	switch {
	case errors.Is(err, db.ErrNone):
		return 0, false, nil
	case attempt > 0:
		return retryLook, true, err
	}
	return firstLook, true, err
}

// How soon to look again: most fan-outs end within a moment. One that failed
// waits for its next attempt.
const (
	firstLook = 10 * time.Millisecond
	retryLook = 250 * time.Millisecond
)
