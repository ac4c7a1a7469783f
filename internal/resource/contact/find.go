package contact

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json/jsontext"
)

// FindKnown finds the contacts that have one of the externalIds or folded addresses,
// each with the one it was found by. A contact may be in the list several times.
func FindKnown(ctx context.Context, tx *db.Tx, org id.ID, externals, folded []string) ([]op.KnownRow, error) {
	var found []op.KnownRow
	if len(externals) > 0 {
		var err error
		if found, err = op.FindByExternalIDs(ctx, tx, contacts.Name(), org, externals); err != nil {
			return nil, err
		}
	}
	if len(folded) == 0 {
		return found, nil
	}
	more, err := db.QueryAll[op.KnownRow](ctx, tx, `
		SELECT c.id, c.tags, NULL AS external_id, e.email_folded AS email
		FROM contact_emails e
		JOIN contacts c ON c.organization_id = e.organization_id AND c.id = e.contact_id
		WHERE e.organization_id = $1 AND e.email_folded = ANY($2) AND e.deleted_at IS NULL AND c.deleted_at IS NULL
		ORDER BY e.seq`, org, folded)
	return append(found, more...), err
}

// LoadAsJSON loads some contacts as their answers show them, without what belongs to them.
func LoadAsJSON(ctx context.Context, tx *db.Tx, org id.ID, ids []id.ID) (map[id.ID]jsontext.Value, error) {
	return op.LoadAsJSON(ctx, tx, contacts, org, ids)
}
