package sandbox

import (
	"context"
	"errors"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/domain"
)

// Payments charges cards that are only names: the name says what a charge does.
type Payments struct {
	db    *db.DB
	clock *clock.Clock
}

var _ domain.Payments = (*Payments)(nil)

// NewPayments returns the payment provider. Its ledger is in the database.
func NewPayments(d *db.DB, c *clock.Clock) *Payments { return &Payments{d, c} }

// Name is the provider of the cards.
func (p *Payments) Name() string { return Name }

// declinedCards are the cards that are declined, and the bank's reasons.
var declinedCards = map[string]string{
	"card_declined":     "The card was declined.",
	"card_insufficient": "The card has insufficient funds.",
}

// Charge writes a charge into the ledger, once for a key.
func (p *Payments) Charge(ctx context.Context, key string, c domain.Charge) (string, error) {
	if err := waitIfSlow(ctx, strings.TrimPrefix(c.Card, "card_")); err != nil {
		return "", err
	}
	var declined *string
	if reason := declinedCards[c.Card]; reason != "" {
		declined = &reason
	}
	err := p.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_,
			err := db.Exec(ctx, tx,
			`
				INSERT INTO sandbox_charges (reference, provider_key, card, amount_cents, currency, declined,
					charged_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (provider_key) DO NOTHING`,
			"pi_sandbox_"+string(id.New()), key, c.Card, c.AmountCents, c.Currency, declined, p.clock.Now())
		return err
	})
	if err != nil {
		return "", err
	}
	return p.Charged(ctx, key, c)
}

// Charged tells of the charge that a key made.
func (p *Payments) Charged(ctx context.Context, key string, _ domain.Charge) (payment string, err error) {
	type row struct {
		Reference string  `db:"reference"`
		Declined  *string `db:"declined"`
	}
	err = p.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err := db.QueryOne[row](ctx, tx, "SELECT reference, declined FROM sandbox_charges WHERE provider_key = $1",
			key)
		switch {
		case errors.Is(err, db.ErrNoRow):
			return domain.ErrUnknownToProvider
		case err == nil && v.Declined != nil:
			return &domain.Refusal{Code: "card_declined", Message: *v.Declined}
		}
		payment = v.Reference
		return err
	})
	return payment, err
}

// Refund writes a refund into the ledger, once for a charge.
func (p *Payments) Refund(ctx context.Context, key, payment string, amountCents int64) (string, error) {
	err := p.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, `
			INSERT INTO sandbox_refunds (reference, provider_key, charge, amount_cents, refunded_at)
			VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT DO NOTHING`, "re_sandbox_"+string(id.New()), key, payment, amountCents, p.clock.Now())
		return err
	})
	if err != nil {
		return "", err
	}
	refund, err := p.Refunded(ctx, key, payment)
	if errors.Is(err, domain.ErrUnknownToProvider) {
		return "", &domain.Refusal{Code: "already_refunded", Message: "The charge was refunded before."}
	}
	return refund, err
}

// Refunded tells of the refund that a key made.
func (p *Payments) Refunded(ctx context.Context, key, _ string) (refund string, err error) {
	err = p.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		refund, err = db.QueryOne[string](ctx, tx, "SELECT reference FROM sandbox_refunds WHERE provider_key = $1", key)
		if errors.Is(err, db.ErrNoRow) {
			err = domain.ErrUnknownToProvider
		}
		return err
	})
	return refund, err
}
