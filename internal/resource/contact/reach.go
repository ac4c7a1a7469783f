package contact

import (
	"context"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// PrimaryReachOf finds a contact's primary email and address, nil where there is
// none.
func PrimaryReachOf(ctx context.Context, tx *db.Tx, org, contact id.ID) (email *string, address *Address, err error) {
	const primary = " WHERE organization_id = $1 AND contact_id = $2 AND is_primary AND deleted_at IS NULL"
	found, err := db.QueryAll[string](ctx, tx, "SELECT email FROM contact_emails"+primary, org, contact)
	if err != nil {
		return nil, nil, err
	}
	lines, err := db.QueryAll[Address](ctx, tx, "SELECT "+addresses.Rows.Columns()+" FROM contact_addresses"+primary,
		org, contact)
	if len(found) > 0 {
		email = &found[0]
	}
	if len(lines) > 0 {
		address = &lines[0]
	}
	return email, address, err
}

// NameOf is what people call a contact that is not deleted, or a 404.
func NameOf(ctx context.Context, tx *db.Tx, org, contact id.ID) (string, error) {
	v, err := contacts.Get(ctx, tx, org, contact)
	if err != nil {
		return "", err
	}
	var words []string
	for _, s := range []*string{v.FirstName, v.LastName} {
		if s != nil && *s != "" {
			words = append(words, *s)
		}
	}
	switch {
	case len(words) > 0:
		return strings.Join(words, " "), nil
	case v.OrganizationName != nil:
		return *v.OrganizationName, nil
	}
	return "a contact", nil
}

// LoadShown loads contacts that are not deleted by their ids, as callers see them.
func LoadShown(ctx context.Context, c *op.Call, ids []id.ID) (map[id.ID]Contact, error) {
	rows, err := db.QueryAll[Contact](ctx, c.Tx, "SELECT "+contacts.Columns()+` FROM contacts
		WHERE organization_id = $1 AND id = ANY($2) AND deleted_at IS NULL`, c.Org, ids)
	if err != nil {
		return nil, err
	}
	out := map[id.ID]Contact{}
	if err := loadChildren(ctx, c, rows); err != nil {
		return nil, err
	}
	for _, v := range rows {
		out[v.ID] = v
	}
	return out, nil
}

// Holder is a contact that has a given email address.
type Holder struct {
	ContactID id.ID  `db:"contact_id"`
	Folded    string `db:"email_folded"` // the address, folded
}

// HoldersOf finds the contacts that have any of the folded addresses, at most a
// thousand.
func HoldersOf(ctx context.Context, tx *db.Tx, org id.ID, folded []string) ([]Holder, error) {
	return db.QueryAll[Holder](ctx, tx, `
		SELECT e.contact_id, e.email_folded FROM contact_emails e
		JOIN contacts c ON c.organization_id = e.organization_id AND c.id = e.contact_id
		WHERE e.organization_id = $1 AND e.email_folded = ANY($2) AND e.deleted_at IS NULL AND c.deleted_at IS NULL
		ORDER BY e.seq LIMIT 1000`, org, folded)
}
