package contact

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// longAgo is when a file of an erased person counts as deleted, so that the
// next purge ends it and its bytes.
const longAgo = clock.Time(1)

// eraseReceived ends what came in with messages of a person: their files, the
// originals among them, and the identifiers that somebody's mail program made
// of whatever it liked.
func eraseReceived(ctx context.Context, c *op.Call, ids []id.ID) error {
	type row struct {
		Seq int64 `db:"seq"`
		ID  id.ID `db:"id"`
	}
	files, err := db.All[row](ctx, c.Tx, `SELECT f.seq, f.id FROM files f WHERE f.organization_id = $1 AND f.id IN (SELECT x.file_id FROM message_attachments x
		JOIN messages m ON m.organization_id = x.organization_id AND m.id = x.message_id WHERE x.organization_id = $1 AND x.message_id = ANY($2) AND m.direction = 'inbound')`, c.Org, ids)
	if err != nil {
		return err
	}
	for _, f := range files {
		if _, err := db.Exec(ctx, c.Tx, "UPDATE files SET name = 'erased', search = '', deleted_at = $3, updated_at = $4 WHERE organization_id = $1 AND seq = $2", c.Org, f.Seq, longAgo, c.Now); err != nil {
			return err
		}
		if _, err := db.Exec(ctx, c.Tx, "UPDATE events SET data = NULL WHERE organization_id = $1 AND resource_id = $2 AND data IS NOT NULL", c.Org, f.ID); err != nil {
			return err
		}
		db.Index(c.Tx, "files", f.Seq, "")
	}
	_, err = db.Exec(ctx, c.Tx, `UPDATE messages SET reference_ids = $3, internet_id = CASE WHEN direction = 'inbound' THEN CAST(id AS text) ELSE internet_id END
		WHERE organization_id = $1 AND id = ANY($2)`, c.Org, ids, db.JSON("[]"))
	return err
}
