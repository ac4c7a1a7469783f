package op

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// Ref is a field of a body that names a row of another table.
type Ref struct {
	Field, Table string
	ID           *id.ID // nil names nothing
	Was          *id.ID // what is stored already: it may stay although its target is gone
}

// References refuses every field that names a row which is missing, foreign or
// deleted, all alike. A target is not held: it is no root, and a reference
// stays when its target is deleted later, so a deletion at the same moment
// changes nothing that a deletion a moment later would not.
func References(ctx context.Context, c *Call, refs ...Ref) error {
	var tree *fault.Tree
	for _, r := range refs {
		if r.ID == nil || r.Was != nil && *r.Was == *r.ID {
			continue
		}
		err := visible(ctx, c, r.Table, *r.ID)
		if err != nil && !errors.Is(err, db.ErrNone) {
			return err
		}
		if err != nil {
			tree = tree.At([]any{r.Field}, unseen)
		}
	}
	return tree.Fault(fault.Invalid)
}

const unseen = "There is no such record in this organization"

// Unseen refuses a reference that another check found to lead nowhere.
func Unseen(field string) error { return fault.Field(field, unseen) }

// visible is nil for a live row of the organization, else db.ErrNone.
func visible(ctx context.Context, c *Call, table string, row id.ID) error {
	_, err := db.One[int](ctx, c.Tx, "SELECT 1 FROM "+table+" WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL", c.Org, row)
	return err
}
