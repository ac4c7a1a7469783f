package customer

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Find finds the customers that have one of the externalIds. Several customers may
// have the same address, so none is found by it.
func Find(ctx context.Context, tx *db.Tx, org id.ID, externals, _ []string) ([]op.Known, error) {
	if len(externals) == 0 {
		return nil, nil
	}
	return op.KnownAs(ctx, tx, customers.Name(), org, externals)
}
