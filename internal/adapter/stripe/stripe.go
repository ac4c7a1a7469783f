// Package stripe saves cards on Stripe's own pages (card.go) and charges them
// through its PaymentIntents, while their owner is away. Every charge and refund carries our key twice: as the
// request's idempotency key, which makes a repeated request the same one, and
// in its metadata, by which it is found again when no answer came.
package stripe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/resource/domain"

	"github.com/stripe/stripe-go/v85"
)

// Name is the provider of the cards.
const Name = "stripe"

// keyName is where the metadata keeps our key.
const keyName = "frontdesk_key"

// timeout bounds one request, retries by the caller excluded.
const timeout = 40 * time.Second

// lookBack is how many payments of a customer are looked through for a key.
const lookBack = 300

// Config is the account and where Stripe is, which differs in tests.
type Config struct {
	SecretKey   string
	URL         string // of the API
	CheckoutURL string // of the pages on which cards are saved
}

// Client saves and charges cards of one Stripe account.
type Client struct {
	api      *stripe.Client
	checkout string
}

var _ domain.Payments = (*Client)(nil)

// New prepares a client.
func New(cfg Config) *Client {
	backends := stripe.NewBackendsWithConfig(&stripe.BackendConfig{URL: stripe.String(cfg.URL), HTTPClient: &http.Client{Timeout: timeout},
		EnableTelemetry: stripe.Bool(false),
		// Whether to try again is decided where the order is kept.
		MaxNetworkRetries: stripe.Int64(0), LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull}})
	return &Client{stripe.NewClient(cfg.SecretKey, stripe.WithBackends(backends)), cfg.CheckoutURL}
}

// Name is the provider of the cards.
func (c *Client) Name() string { return Name }

// Check asks for the account's balance, which any working key may see.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.api.V1Balance.Retrieve(ctx, nil)
	return err
}

// Charge confirms a PaymentIntent off session.
func (c *Client) Charge(ctx context.Context, key string, ch domain.Charge) (string, error) {
	db.Outside(ctx)
	p := &stripe.PaymentIntentCreateParams{Amount: stripe.Int64(ch.AmountCents), Currency: stripe.String(ch.Currency), Customer: stripe.String(ch.Customer),
		PaymentMethod: stripe.String(ch.Card), PaymentMethodTypes: []*string{stripe.String("card")}, Confirm: stripe.Bool(true), OffSession: stripe.Bool(true),
		Description: stripe.String(ch.Description), Metadata: map[string]string{keyName: key}}
	p.SetIdempotencyKey(key)
	intent, err := c.api.V1PaymentIntents.Create(ctx, p)
	if err != nil {
		return "", outcome(err)
	}
	return settled(intent)
}

// Charged looks for the customer's PaymentIntent with our key. Listing is
// consistent at once; Stripe's search is not.
func (c *Client) Charged(ctx context.Context, key string, ch domain.Charge) (string, error) {
	db.Outside(ctx)
	p := &stripe.PaymentIntentListParams{Customer: stripe.String(ch.Customer)}
	p.Limit = stripe.Int64(100)
	seen := 0
	for intent, err := range c.api.V1PaymentIntents.List(ctx, p).All(ctx) {
		if err != nil {
			return "", fmt.Errorf("stripe: list payments: %w", err)
		}
		if intent.Metadata[keyName] == key {
			return settled(intent)
		}
		if seen++; seen == lookBack {
			break
		}
	}
	return "", domain.ErrNothing
}

// settled tells what a PaymentIntent came to.
func settled(intent *stripe.PaymentIntent) (string, error) {
	switch intent.Status {
	case stripe.PaymentIntentStatusSucceeded:
		return intent.ID, nil
	case stripe.PaymentIntentStatusRequiresPaymentMethod, stripe.PaymentIntentStatusRequiresAction, stripe.PaymentIntentStatusCanceled:
		if intent.LastPaymentError != nil {
			return "", refusal(intent.LastPaymentError)
		}
		return "", &domain.Refusal{Code: string(intent.Status), Message: "The card's bank asks for a confirmation that only its owner can give."}
	}
	return "", fmt.Errorf("stripe: the payment %s is %s", intent.ID, intent.Status)
}

// outcome tells a definitive no from an error after which nobody knows.
func outcome(err error) error {
	var e *stripe.Error
	if errors.As(err, &e) && (e.Type == stripe.ErrorTypeCard || e.Type == stripe.ErrorTypeInvalidRequest && e.HTTPStatusCode < 409) && e.HTTPStatusCode != http.StatusUnauthorized {
		return refusal(e)
	}
	return fmt.Errorf("stripe: %w", err)
}

func refusal(e *stripe.Error) *domain.Refusal {
	r := &domain.Refusal{Code: string(e.Code), Message: "The card was declined."}
	switch {
	case e.Code == stripe.ErrorCodeAuthenticationRequired:
		r.Message = "The card's bank asks for a confirmation that only its owner can give."
	case e.Type == stripe.ErrorTypeCard && e.Msg != "":
		r.Message = e.Msg
	case e.Type == stripe.ErrorTypeInvalidRequest:
		r.Message = "The payment provider does not accept the saved card. Save it again."
	}
	if e.DeclineCode != "" {
		r.Code += "/" + string(e.DeclineCode)
	}
	return r
}

// Refund gives a payment back.
func (c *Client) Refund(ctx context.Context, key, payment string, amountCents int64) (string, error) {
	db.Outside(ctx)
	p := &stripe.RefundCreateParams{PaymentIntent: stripe.String(payment), Amount: stripe.Int64(amountCents), Metadata: map[string]string{keyName: key}}
	p.SetIdempotencyKey(key)
	refund, err := c.api.V1Refunds.Create(ctx, p)
	if err != nil {
		var e *stripe.Error
		if errors.As(err, &e) && e.Type == stripe.ErrorTypeInvalidRequest && e.HTTPStatusCode == http.StatusBadRequest {
			return "", &domain.Refusal{Code: string(e.Code), Message: e.Msg}
		}
		return "", fmt.Errorf("stripe: refund: %w", err)
	}
	return returned(refund)
}

// Refunded looks for the payment's refund with our key.
func (c *Client) Refunded(ctx context.Context, key, payment string) (string, error) {
	db.Outside(ctx)
	p := &stripe.RefundListParams{PaymentIntent: stripe.String(payment)}
	for refund, err := range c.api.V1Refunds.List(ctx, p).All(ctx) {
		if err != nil {
			return "", fmt.Errorf("stripe: list refunds: %w", err)
		}
		if refund.Metadata[keyName] == key {
			return returned(refund)
		}
	}
	return "", domain.ErrNothing
}

func returned(r *stripe.Refund) (string, error) {
	if r.Status == stripe.RefundStatusFailed || r.Status == stripe.RefundStatusCanceled {
		return "", &domain.Refusal{Code: string(r.FailureReason), Message: "The bank did not take the refund."}
	}
	return r.ID, nil // pending ones arrive
}
