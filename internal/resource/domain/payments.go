package domain

import "context"

// Payments is a provider that charges saved cards.
type Payments interface {
	// Name is the provider of the cards that it can charge.
	Name() string
	// Charge takes the money. The same key twice is one charge. A declined
	// card is a *Refusal.
	Charge(ctx context.Context, key string, c Charge) (paymentID string, err error)
	// Charged asks for the outcome of a Charge: the payment, a *Refusal, or
	// ErrUnknownToProvider if it never arrived.
	Charged(ctx context.Context, key string, c Charge) (paymentID string, err error)
	// Refund gives a payment back, all of it. The same key twice is one refund.
	Refund(ctx context.Context, key, paymentID string, amountCents int64) (refundID string, err error)
	// Refunded asks for the outcome of a Refund: the refund, or
	// ErrUnknownToProvider.
	Refunded(ctx context.Context, key, paymentID string) (refundID string, err error)
}

// Charge is an amount and the card that pays it.
type Charge struct {
	Card        string // the provider's id of the card
	Customer    string // the provider's id of its owner, where it has one
	AmountCents int64
	Currency    string // lower case
	Description string
}
