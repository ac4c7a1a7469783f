package task

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
)

// findActivityOfPerson finds the entries whose changes mention a person, including those
// of tasks that were about them once.
func findActivityOfPerson(ctx context.Context, tx *db.Tx, e *life.Erasure) error {
	return e.ScanEach(ctx, tx, "task_activity", "organization_id = $1 AND "+tx.ContainsSQL("changes"), e.PersonIDs())
}
