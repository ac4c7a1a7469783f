package job

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// FanOutKind is the kind of job that passes an event to its listeners. Its argument
// seq is the event's place in the log, and is indexed.
const FanOutKind = "event.fan_out"

// FirstFanOut finds the organization's first pending fan-out for an event before
// seq, and returns how often it was tried. ErrNoRow means that there is none.
// Whoever acts in the order of events waits for it.
func FirstFanOut(ctx context.Context, tx *db.Tx, org id.ID, seq int64) (attempt int, err error) {
	number := "CAST(args->>'seq' AS INTEGER)" // the expression of the index jobs_fan_out, letter by letter
	if tx.Engine() == db.Postgres {
		number = "CAST(args->>'seq' AS bigint)"
	}
	return db.QueryOne[int](ctx, tx, `
		SELECT attempt FROM jobs
		WHERE organization_id = $1 AND `+number+` < $2 AND kind = '`+FanOutKind+`' AND state = 'ready'
		ORDER BY organization_id, `+number+` LIMIT 1`, org, seq)
}
