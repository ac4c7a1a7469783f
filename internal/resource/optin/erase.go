package optin

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
)

// findOptInsOfPerson finds the rows, including deleted ones, that have one of the
// person's addresses but no contact. The erasure finds rows that name the contact
// by itself.
func findOptInsOfPerson(ctx context.Context, tx *db.Tx, e *life.Erasure) error {
	rows, err := db.QueryAll[int64](ctx, tx, `
		SELECT seq FROM email_opt_ins
		WHERE organization_id = $1 AND contact_id IS NULL AND email_folded = ANY($2)`, e.Organization, e.Addresses)
	if err != nil {
		return err
	}
	if err := e.AddRows(ctx, tx, "email_opt_ins", rows...); err != nil {
		return err
	}
	e.AddPersonIDs(e.RowIDs("email_opt_ins")...)
	return nil
}
