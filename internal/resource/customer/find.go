package customer

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// FindKnown finds the customers that have one of the externalIds. The folded addresses
// are ignored: several customers may rightly have the same one. It has the
// signature of contact.FindKnown, so that an import can call either.
func FindKnown(ctx context.Context, tx *db.Tx, org id.ID, externals, _ []string) ([]op.KnownRow, error) {
	if len(externals) == 0 {
		return nil, nil
	}
	return op.FindByExternalIDs(ctx, tx, customers.Name(), org, externals)
}
