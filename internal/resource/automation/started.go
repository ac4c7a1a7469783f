package automation

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
)

// StartedBy is the executions that some events started, by the requestId of what
// they do, as SQL. events is a subquery of ids; its $1 is the organization and $3
// when the events begin.
func StartedBy(events string) string {
	return "SELECT CAST(x.id AS TEXT) FROM automation_executions x " + startedWhere(events)
}

func startedWhere(events string) string {
	return "WHERE x.organization_id = $1 AND x.created_at >= $3 AND x.event_id IN (" + events + ")"
}

// LastStartedBy is when the last of these executions did something, or nil.
func LastStartedBy(ctx context.Context, tx *db.Tx, events string, args ...any) (*clock.Time, error) {
	return db.One[*clock.Time](ctx, tx, "SELECT max(x.updated_at) FROM automation_executions x "+startedWhere(events),
		args...)
}
