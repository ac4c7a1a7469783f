package automation

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
)

// StartedBySQL is a subquery, in SQL, of the executions that some events started.
// It gives their ids as text, which is the requestId of the events that they
// cause. events is a subquery of event ids; $1 is the organization and $3 the
// time when the events begin.
func StartedBySQL(events string) string {
	return "SELECT CAST(x.id AS TEXT) FROM automation_executions x " + startedBySource(events)
}

func startedBySource(events string) string {
	return "WHERE x.organization_id = $1 AND x.created_at >= $3 AND x.event_id IN (" + events + ")"
}

// LastStartedBy is when one of these executions last changed, or nil if there is
// none.
func LastStartedBy(ctx context.Context, tx *db.Tx, events string, args ...any) (*clock.Time, error) {
	return db.QueryOne[*clock.Time](ctx, tx,
		"SELECT max(x.updated_at) FROM automation_executions x "+startedBySource(events), args...)
}
