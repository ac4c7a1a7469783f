package proposal

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// ofImport is the events of an import, as SQL with the arguments of undoWork.mine:
// those of its rows, and those of automations that these started. A task that an
// automation made of a row goes with the row.
const ofImport = `created_at >= $3 AND (request_id = $2 OR request_id IN (
	SELECT CAST(x.id AS TEXT)
	FROM automation_executions x JOIN events cause ON cause.id = x.event_id
	WHERE x.organization_id = $1 AND x.created_at >= $3 AND cause.organization_id = $1 AND cause.request_id = $2))`

// causedUntil is when the last of these events was written: an automation goes on
// after the import has ended.
func causedUntil(ctx context.Context, tx *db.Tx, org, row id.ID, from, to clock.Time) (int64, error) {
	last, err := db.One[*clock.Time](ctx, tx, `
		SELECT max(x.updated_at)
		FROM automation_executions x JOIN events cause ON cause.id = x.event_id
		WHERE x.organization_id = $1 AND x.created_at >= $3 AND cause.organization_id = $1 AND cause.request_id = $2`,
		org, string(row), from)
	if err != nil || last == nil {
		return int64(to), err
	}
	return int64(max(to, *last)), nil
}
