package automation

import (
	"context"

	"frontdesk/internal/kernel/db"
)

var _ = db.Declare("automation_allowances", db.Life{Unexported: []string{"until"}})

// findExecutions finds the executions that an event about a person started, and
// those whose input or output mentions the person.
func findExecutions(ctx context.Context, tx *db.Tx, e *db.Erasure) error {
	err := e.Any(ctx, tx, "automation_executions", "organization_id = $1 AND event_id = ANY($2)", e.IDs("events"))
	if err != nil {
		return err
	}
	mentions := tx.Mentions("steps") + " OR " + tx.Mentions("input") + " OR " + tx.Mentions("saved")
	return e.Each(ctx, tx, "automation_executions", "organization_id = $1 AND ("+mentions+")", e.Names())
}
