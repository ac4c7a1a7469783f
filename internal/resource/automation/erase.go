package automation

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
)

var _ = db.Declare("automation_allowances", db.Life{Unexported: []string{"until"}})

// findExecutionsOfPerson finds the executions that an event about a person started, and
// those whose input or output mentions the person.
func findExecutionsOfPerson(ctx context.Context, tx *db.Tx, e *life.Erasure) error {
	err := e.ScanAny(ctx, tx, "automation_executions", "organization_id = $1 AND event_id = ANY($2)",
		e.RowIDs("events"))
	if err != nil {
		return err
	}
	mentions := tx.ContainsSQL("steps") + " OR " + tx.ContainsSQL("input") + " OR " + tx.ContainsSQL("saved")
	return e.ScanEach(ctx, tx, "automation_executions", "organization_id = $1 AND ("+mentions+")", e.PersonIDs())
}
