package op

import (
	"context"
	"errors"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// PlaceTaken refuses to restore a row when a unique value of it, such as a name, belongs to another row by now.
var PlaceTaken = fault.DefineKind("PLACE_TAKEN", 409,
	"Something else has taken its place. Change or delete that first.")

type restoreInput struct {
	ID id.ID `path:"id" doc:"what was deleted"`
}

// RestoreRow declares the operation that brings back a soft-deleted row of a noun, until it is purged. Restoring a row
// that is not deleted changes nothing and emits no event. finish, if not nil, completes the row as GET shows it; its
// last argument says whether the row was deleted.
func RestoreRow[T any](collection, resource string, t *db.Table[T],
	finish func(context.Context, *Call, *T, bool) error) *Op {
	noun := t.Life().Noun
	event := db.EventName(noun) + ".restored"
	return Write(Spec{
		Name:        strings.ReplaceAll(collection, "-", "_") + ".restore",
		Route:       "POST /v1/" + collection + "/{id}/restore",
		Summary:     "Restore a deleted " + noun + ".",
		Description: "Works until deleted rows are purged. References to it that the deletion cleared come back too.",
		Resource:    resource,
		Status:      200,
		Errors:      []*fault.Kind{PlaceTaken},
		Events:      []string{event},
		Example:     `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`,
	}, func(ctx context.Context, c *Call, in restoreInput) (*T, error) {
		v, wasDeleted, err := t.Undelete(ctx, c.Tx, c.Org, in.ID, c.Now)
		if errors.Is(err, db.ErrNotUnique) {
			return nil, PlaceTaken.Because(err)
		}
		if err != nil {
			return nil, err
		}
		if finish != nil {
			if err := finish(ctx, c, v, wasDeleted); err != nil {
				return nil, err
			}
		}
		if !wasDeleted {
			return v, nil
		}
		return v, c.Emit(event, in.ID, v)
	})
}
