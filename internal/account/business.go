package account

import (
	"context"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Business belongs to an organization, which starts with one. Keys, agents and
// agreements belong to a business. Its row is declared here because an
// organization is created with it; the operations on businesses are in
// resource/business.
type Business struct {
	op.Record
	BusinessFields
}

// BusinessFields are what callers set of a business.
type BusinessFields struct {
	Name        string  `json:"name" min:"1"`
	LegalName   *string `json:"legalName"`
	Description *string `json:"description" max:"10000"`
	Industry    *string `json:"industry"`
	Timezone    string  `json:"timezone" default:"UTC" format:"timezone" doc:"an IANA name, like Europe/Berlin"`
	Locale      string  `json:"locale" default:"en-US" format:"locale"`
	Currency    string  `json:"currency" default:"usd" format:"currency"`
	LogoFileID  *id.ID  `json:"logoFileId" ref:"files"`
	Stationery
}

// Stationery is how the documents of a business look, and how customers pay
// them.
type Stationery struct {
	AccentColor         *string `json:"accentColor" format:"color" doc:"of documents and mail, like #1f4e79"`
	PaymentInstructions *string `json:"paymentInstructions" max:"2000" doc:"how to pay, in words, on invoices"`
	BankName            *string `json:"bankName"`
	IBAN                *string `json:"iban" format:"iban" doc:"printed on unpaid invoices"`
	BIC                 *string `json:"bic" format:"bic"`
}

// NormalizeBankDetails writes IBAN and BIC as banks store them.
func (s *Stationery) NormalizeBankDetails() {
	for _, field := range []**string{&s.IBAN, &s.BIC} {
		if *field != nil {
			text := strings.ToUpper(strings.ReplaceAll(**field, " ", ""))
			*field = &text
		}
	}
}

// BusinessActors are what acts for a business: its API keys that still work, and its agents. A
// business that has any cannot be deleted.
type BusinessActors struct {
	APIKeys []id.ID `json:"apiKeyIds"`
	Agents  []id.ID `json:"agentIds"`
}

// None reports whether nothing acts for the business.
func (u *BusinessActors) None() bool { return len(u.APIKeys)+len(u.Agents) == 0 }

// FindBusinessActors finds what acts for a business, at most a hundred of each.
func FindBusinessActors(ctx context.Context, c *op.Call, business id.ID) (u BusinessActors, err error) {
	u.APIKeys, err = db.QueryAll[id.ID](ctx, c.Tx, `
		SELECT id FROM api_keys
		WHERE organization_id = $1 AND business_id = $2 AND revoked_at IS NULL
			AND (expires_at IS NULL OR expires_at > $3)
		ORDER BY seq LIMIT 100`, c.Org, business, c.Now)
	if err != nil {
		return u, err
	}
	u.Agents, err = db.QueryAll[id.ID](ctx, c.Tx, `
		SELECT id FROM agents WHERE organization_id = $1 AND business_id = $2 AND deleted_at IS NULL
		ORDER BY seq LIMIT 100`, c.Org, business)
	return u, err
}

// LoadBusinessEvenDeleted reads a business, even a deleted one, or returns db.ErrNoRow.
func LoadBusinessEvenDeleted(ctx context.Context, tx *db.Tx, org, business id.ID) (*Business, error) {
	b, err := db.QueryOne[Business](ctx, tx, "SELECT "+Businesses.Columns()+
		" FROM businesses WHERE organization_id = $1 AND id = $2",
		org, business)
	return &b, err
}

// OldestBusiness finds the oldest live business of an organization, or returns
// db.ErrNoRow.
func OldestBusiness(ctx context.Context, tx *db.Tx, org id.ID) (id.ID, error) {
	return db.QueryOne[id.ID](ctx, tx, `
		SELECT id FROM businesses
		WHERE organization_id = $1 AND deleted_at IS NULL
		ORDER BY created_at, seq LIMIT 1`, org)
}

// OrganizationOfBusiness finds the organization of a live business, or returns db.ErrNoRow.
func OrganizationOfBusiness(ctx context.Context, tx *db.Tx, business id.ID) (id.ID, error) {
	return db.QueryOne[id.ID](ctx, tx, "SELECT organization_id FROM businesses WHERE id = $1 AND deleted_at IS NULL",
		business)
}

// OldestBusinessOfAll finds the oldest live business of all organizations.
func OldestBusinessOfAll(ctx context.Context, tx *db.Tx) (id.ID, error) {
	return db.QueryOne[id.ID](ctx, tx, "SELECT id FROM businesses WHERE deleted_at IS NULL ORDER BY seq LIMIT 1")
}

// Businesses is the table of businesses.
var Businesses = db.NewTable[Business]("businesses", db.Life{
	Noun:         "business",
	ExternalText: db.NoExternalText,
	Refs:         []db.Ref{db.RefTo("logo_file_id", "files")},
	Permanent:    true, // keys and agreements refer to deleted ones
})
