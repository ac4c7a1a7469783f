package task

import (
	"context"

	"frontdesk/internal/kernel/db"
)

// findActivity finds the entries whose changes mention a person, including those
// of tasks that were about them once.
func findActivity(ctx context.Context, tx *db.Tx, e *db.Erasure) error {
	return e.Each(ctx, tx, "task_activity", "organization_id = $1 AND "+tx.Mentions("changes"), e.Names())
}
