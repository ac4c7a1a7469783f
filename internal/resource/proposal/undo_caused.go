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

// includeCaused goes on to when the last of these events was written: an automation goes
// on after the import has ended.
func (w *undoWork) includeCaused(ctx context.Context, tx *db.Tx, org id.ID) error {
	last, err := automation.LastStartedBy(ctx, tx, event.SelectIDsOfRequest, org, string(*w.Of.ImportID),
		clock.Time(w.From))
	if err == nil && last != nil {
		w.At = max(w.At, int64(*last))
	}
	return err
}
