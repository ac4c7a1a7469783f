package job

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
)

// A job whose arguments mention an erased person is removed. Finished jobs end by
// their age in purge.go, so they need no Expire.
var _ = db.Declare("jobs", db.Life{Erase: life.WholeRow.AlsoFind(findMentioningJobs)})

// findMentioningJobs finds the jobs that mention a person, or a row about that person.
func findMentioningJobs(ctx context.Context, tx *db.Tx, e *life.Erasure) error {
	const ours = "(organization_id = $1 OR organization_id IS NULL)"
	mentions := tx.ContainsSQL("args") + " OR " + tx.ContainsSQL("unique_key") + " OR " + tx.ContainsSQL("last_error")
	if err := e.ScanEach(ctx, tx, "jobs", ours+" AND ("+mentions+")", e.PersonIDs()); err != nil {
		return err
	}
	return e.ScanAny(ctx, tx, "jobs", ours+" AND unique_key = ANY($2)", e.TracedIDs())
}
