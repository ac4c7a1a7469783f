package business

import (
	"context"
	"errors"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// Letterhead is what a business prints at the top of its documents.
type Letterhead struct {
	Name     string
	Lines    []string // legal name, address, and contact details
	Address  *string  // of the head office
	Phone    *string
	Email    *string
	Website  *string
	Locale   string
	Timezone string

	LogoFileID *id.ID
	Logo       []byte // a PNG, where the one who draws has read it
}

// LetterheadOf also reads that of a deleted business: sent documents still name
// their sender.
func LetterheadOf(ctx context.Context, tx *db.Tx, org, business id.ID) (*Letterhead, error) {
	b, err := account.BusinessOf(ctx, tx, org, business)
	if err != nil {
		return nil, err
	}
	l := &Letterhead{Name: b.Name, LogoFileID: b.LogoFileID, Locale: b.Locale, Timezone: b.Timezone}
	if b.LegalName != nil && *b.LegalName != b.Name {
		l.Lines = append(l.Lines, *b.LegalName)
	}
	address, err := db.One[string](ctx, tx, `
		SELECT address FROM business_physical_presences
		WHERE organization_id = $1 AND business_id = $2 AND deleted_at IS NULL AND address IS NOT NULL
		ORDER BY created_at, seq LIMIT 1`, org, business)
	if err == nil {
		l.Lines, l.Address = append(l.Lines, address), &address // the first one is the head office
	} else if !errors.Is(err, db.ErrNone) {
		return nil, err
	}
	p, err := db.One[BusinessProfile](ctx, tx, "SELECT "+profiles.Columns()+` FROM business_profiles
		WHERE organization_id = $1 AND business_id = $2`, org, business)
	if errors.Is(err, db.ErrNone) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	l.Phone, l.Email, l.Website = p.Phone, p.Email, p.Website
	for _, line := range []*string{p.Phone, p.Email, p.Website} {
		if line != nil {
			l.Lines = append(l.Lines, *line)
		}
	}
	if p.TaxID != nil {
		l.Lines = append(l.Lines, "Tax ID "+*p.TaxID)
	}
	return l, nil
}
