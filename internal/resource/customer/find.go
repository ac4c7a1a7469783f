package customer

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json/jsontext"
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

// LoadAsJSON loads some customers as their answers show them, without what belongs to them.
func LoadAsJSON(ctx context.Context, tx *db.Tx, org id.ID, ids []id.ID) (map[id.ID]jsontext.Value, error) {
	return op.LoadAsJSON(ctx, tx, customers, org, ids)
}
