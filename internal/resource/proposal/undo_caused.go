package proposal

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/automation"
)

// importEventsSQL is the SQL condition for the events of an import, with the arguments of
// undoWork.eventsCondition: those of its rows, and those of automations that these
// started. So a task that an automation created for a row is taken back too.
var importEventsSQL = "created_at >= $3 AND (request_id = $2 OR request_id IN (" +
	automation.StartedBySQL(event.SelectIDsOfRequest) + "))"

// causedUntil is when the last of these events was written: an automation goes on
// after the import has ended.
func causedUntil(ctx context.Context, tx *db.Tx, org, row id.ID, from, to clock.Time) (int64, error) {
	last, err := automation.LastStartedBy(ctx, tx, event.SelectIDsOfRequest, org, string(row), from)
	if err != nil || last == nil {
		return int64(to), err
	}
	return int64(max(to, *last)), nil
}
