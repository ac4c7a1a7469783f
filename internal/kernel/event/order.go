package event

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// Behind reports whether an event before seq is still to be told of. Fan-outs
// run at the same time and end in any order; whoever acts in the order of the
// log waits while one is behind. One that failed is not waited for.
func Behind(ctx context.Context, tx *db.Tx, org id.ID, seq int64) (bool, error) {
	number := "CAST(args->>'seq' AS INTEGER)" // as the index jobs_fan_out has it
	if tx.Engine() == db.Postgres {
		number = "CAST(args->>'seq' AS bigint)"
	}
	return db.One[bool](ctx, tx, `SELECT EXISTS (SELECT 1 FROM jobs
		WHERE organization_id = $1 AND `+number+` < $2 AND kind = 'event.fan_out' AND state = 'ready' AND attempt = 0)`, org, seq)
}
