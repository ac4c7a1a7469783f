package job

import (
	"context"

	"frontdesk/internal/kernel/db"
)

// A job whose arguments mention an erased person is removed. Finished jobs end by
// their age in purge.go, so they need no Expire.
var _ = db.Declare("jobs", db.Life{Erase: db.WholeRow.Find(findJobs)})

// findJobs finds the jobs that mention a person, or a row about that person.
func findJobs(ctx context.Context, tx *db.Tx, e *db.Erasure) error {
	const ours = "(organization_id = $1 OR organization_id IS NULL)"
	mentions := tx.Mentions("args") + " OR " + tx.Mentions("unique_key") + " OR " + tx.Mentions("last_error")
	if err := e.Each(ctx, tx, "jobs", ours+" AND ("+mentions+")", e.Names()); err != nil {
		return err
	}
	return e.Any(ctx, tx, "jobs", ours+" AND unique_key = ANY($2)", e.Traced())
}
