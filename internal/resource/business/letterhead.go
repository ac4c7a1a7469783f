package business

import (
	"context"
	"errors"
	"slices"
	"strings"

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
	Logo       []byte // a PNG; LetterheadOf leaves it nil, and whoever draws the document reads it
	Accent     *Color // of headings and lines; nil for the default

	PaymentText *string     // how to pay, in words
	BankFacts   [][2]string // where to pay, like {"IBAN", "GB33 BUKB 2020 1555 5555 55"}
}

// LetterheadOf reads the letterhead of a business, also of a deleted one: documents that were
// sent still name their sender.
func LetterheadOf(ctx context.Context, tx *db.Tx, org, business id.ID) (*Letterhead, error) {
	b, err := account.LoadBusinessEvenDeleted(ctx, tx, org, business)
	if err != nil {
		return nil, err
	}
	var office *string // the first one is the head office
	address, err := db.QueryOne[string](ctx, tx, `
		SELECT address FROM business_physical_presences
		WHERE organization_id = $1 AND business_id = $2 AND deleted_at IS NULL AND address IS NOT NULL
		ORDER BY created_at, seq LIMIT 1`, org, business)
	if err == nil {
		office = &address
	} else if !errors.Is(err, db.ErrNoRow) {
		return nil, err
	}
	p, err := db.QueryOne[BusinessProfile](ctx, tx, "SELECT "+profiles.Columns()+` FROM business_profiles
		WHERE organization_id = $1 AND business_id = $2`, org, business)
	if err != nil && !errors.Is(err, db.ErrNoRow) {
		return nil, err
	}
	return NewLetterhead(b, office, &p), nil
}

// NewLetterhead is the letterhead of a business with the address of its head office, if it has one, and its profile.
func NewLetterhead(b *Business, office *string, p *BusinessProfile) *Letterhead {
	l := &Letterhead{Name: b.Name, LogoFileID: b.LogoFileID, Locale: b.Locale, Timezone: b.Timezone,
		Accent: accentColorOf(b), PaymentText: b.PaymentInstructions, BankFacts: bankFacts(b),
		Address: office, Phone: p.Phone, Email: p.Email, Website: p.Website}
	if b.LegalName != nil && *b.LegalName != b.Name {
		l.Lines = append(l.Lines, *b.LegalName)
	}
	for _, line := range []*string{office, p.Phone, p.Email, p.Website} {
		if line != nil {
			l.Lines = append(l.Lines, *line)
		}
	}
	if p.TaxID != nil {
		l.Lines = append(l.Lines, "Tax ID "+*p.TaxID)
	}
	return l
}

// bankFacts lists what a customer's bank asks for, as label and value.
func bankFacts(b *Business) (out [][2]string) {
	add := func(label string, text *string) {
		if text != nil && *text != "" {
			out = append(out, [2]string{label, *text})
		}
	}
	if b.IBAN != nil {
		holder, iban := b.Name, formatIBAN(*b.IBAN)
		if b.LegalName != nil && *b.LegalName != "" {
			holder = *b.LegalName
		}
		add("Account holder", &holder)
		add("IBAN", &iban)
	}
	add("BIC", b.BIC)
	add("Bank", b.BankName)
	return out
}

// formatIBAN writes an IBAN in groups of four, as it is printed.
func formatIBAN(iban string) string {
	var groups []string
	for chunk := range slices.Chunk([]byte(iban), 4) {
		groups = append(groups, string(chunk))
	}
	return strings.Join(groups, " ")
}
