package webhook

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
)

var _ = db.Declare("webhook_attempts", db.Life{
	Parent: db.RefTo("delivery_id", "webhook_deliveries", db.EndsAtPurge),
	Erase:  life.BlankColumns("response_body = NULL").OnlyWhere("response_body IS NOT NULL"),
})

// findDeliveries finds, for the erasure of a person, the deliveries of events about them.
func findDeliveries(ctx context.Context, tx *db.Tx, e *life.Erasure) error {
	return e.ScanAny(ctx, tx, "webhook_deliveries", "organization_id = $1 AND event_id = ANY($2)", e.RowIDs("events"))
}
