// Package stripe saves cards on Stripe's own pages (card.go, the card.Provider)
// and charges them off session, without their owner present, through PaymentIntents
// (this file, the domain.Payments). Every charge and refund carries our key
// twice: as the idempotency key, so that repeating a request does nothing new,
// and in the metadata, so that it can be found when no answer came. api.go has
// the few requests this needs; Stripe's own library has a thousand more and
// would be a tenth of the binary.
//
// A definite refusal is a domain.Refusal. Any other error leaves the outcome unknown,
// and the caller asks with Charged or Refunded; the client never retries by itself. No
// card number ever passes through here. Start reading at Client.Charge.
package stripe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"frontdesk/internal/kernel/outbound"
	"frontdesk/internal/resource/domain"
)

// Name is the provider of the cards.
const Name = "stripe"

// keyName is our key's name in the metadata, and metadataKey the form field
// that sets it.
const (
	keyName     = "frontdesk_key"
	metadataKey = "metadata[" + keyName + "]"
)

// requestTimeout bounds one request, not counting the caller's retries.
const requestTimeout = 40 * time.Second

// maxPaymentsSearched is how many of a customer's newest payments are searched for a key.
const maxPaymentsSearched = 300

// Config is the account and Stripe's address, which differs in tests.
type Config struct {
	SecretKey   string
	URL         string // of the API
	CheckoutURL string // of the pages on which cards are saved
}

// Client saves and charges cards of one Stripe account.
type Client struct {
	api      *outbound.Provider
	checkout string
}

var _ domain.Payments = (*Client)(nil)

// New prepares a client. It never retries: package domain, which keeps the order,
// decides about that.
func New(cfg Config) *Client {
	return &Client{checkout: cfg.CheckoutURL, api: outbound.NewProvider(outbound.ProviderConfig{
		Name:    "stripe",
		URL:     cfg.URL,
		Headers: map[string]string{"Authorization": "Bearer " + cfg.SecretKey, "Stripe-Version": APIVersion},
		Timeout: requestTimeout,
	})}
}

// Name is the provider of the cards.
func (c *Client) Name() string { return Name }

// Check asks for the account's balance, which any working key may see.
func (c *Client) Check(ctx context.Context) error { return c.getJSON(ctx, "/v1/balance", nil, nil) }

// Charge confirms a PaymentIntent off session.
func (c *Client) Charge(ctx context.Context, key string, ch domain.Charge) (string, error) {
	var made paymentIntent
	err := c.postForm(ctx, "/v1/payment_intents", key, form{
		"amount":                  strconv.FormatInt(ch.AmountCents, 10),
		"currency":                ch.Currency,
		"customer":                ch.Customer,
		"payment_method":          ch.Card,
		"payment_method_types[0]": "card",
		"confirm":                 "true",
		"off_session":             "true",
		"description":             ch.Description,
		metadataKey:               key,
	}, &made)
	if err != nil {
		return "", classifyChargeError(err)
	}
	return intentOutcome(&made)
}

// Charged looks for the customer's PaymentIntent with our key. Listing is
// consistent at once; Stripe's search is not.
func (c *Client) Charged(ctx context.Context, key string, ch domain.Charge) (string, error) {
	seen := 0
	for made, err := range listPages[paymentIntent](ctx, c, "/v1/payment_intents", form{"customer": ch.Customer}) {
		if err != nil {
			return "", fmt.Errorf("stripe: list payments: %w", err)
		}
		if made.Metadata[keyName] == key {
			return intentOutcome(&made)
		}
		if seen++; seen == maxPaymentsSearched {
			break
		}
	}
	return "", domain.ErrUnknownToProvider
}

const needsConfirmation = "The card's bank asks for a confirmation that only its owner can give."

// intentOutcome tells how a PaymentIntent ended.
func intentOutcome(v *paymentIntent) (string, error) {
	switch v.Status {
	case "succeeded":
		return v.ID, nil
	case "requires_payment_method", "requires_action", "canceled":
		if v.LastPaymentError != nil {
			return "", declineRefusal(v.LastPaymentError)
		}
		return "", &domain.Refusal{Code: v.Status, Message: needsConfirmation}
	}
	return "", fmt.Errorf("stripe: the payment %s is %s", v.ID, v.Status)
}

// classifyChargeError turns a definite refusal into a domain.Refusal; any other error leaves the
// outcome unknown. A rejected API key, a conflict or a rate limit says nothing about
// the card.
func classifyChargeError(err error) error {
	var e *apiError
	if errors.As(err, &e) && e.Status != http.StatusUnauthorized &&
		(e.Type == cardError || e.Type == invalidRequest && e.Status < http.StatusConflict) {
		return declineRefusal(e)
	}
	return fmt.Errorf("stripe: %w", err)
}

// declineRefusal is what the customer reads when a card is not charged.
func declineRefusal(e *apiError) *domain.Refusal {
	r := &domain.Refusal{Code: e.Code, Message: "The card was declined."}
	switch {
	case e.Code == "authentication_required":
		r.Message = needsConfirmation
	case e.Type == cardError && e.Message != "":
		r.Message = e.Message
	case e.Type == invalidRequest:
		r.Message = "The payment provider does not accept the saved card. Save it again."
	}
	if e.DeclineCode != "" {
		r.Code += "/" + e.DeclineCode
	}
	return r
}

// Refund pays a payment back.
func (c *Client) Refund(ctx context.Context, key, payment string, amountCents int64) (string, error) {
	var made refundObject
	err := c.postForm(ctx, "/v1/refunds", key, form{
		"payment_intent": payment,
		"amount":         strconv.FormatInt(amountCents, 10),
		metadataKey:      key,
	}, &made)
	if err != nil {
		var e *apiError
		if errors.As(err, &e) && e.Type == invalidRequest && e.Status == http.StatusBadRequest {
			return "", &domain.Refusal{Code: e.Code, Message: e.Message}
		}
		return "", fmt.Errorf("stripe: refund: %w", err)
	}
	return refundOutcome(&made)
}

// Refunded looks for the payment's refund with our key.
func (c *Client) Refunded(ctx context.Context, key, payment string) (string, error) {
	for made, err := range listPages[refundObject](ctx, c, "/v1/refunds", form{"payment_intent": payment}) {
		if err != nil {
			return "", fmt.Errorf("stripe: list refunds: %w", err)
		}
		if made.Metadata[keyName] == key {
			return refundOutcome(&made)
		}
	}
	return "", domain.ErrUnknownToProvider
}

// refundOutcome tells how a Refund ended.
func refundOutcome(r *refundObject) (string, error) {
	if r.Status == "failed" || r.Status == "canceled" {
		return "", &domain.Refusal{Code: r.FailureReason, Message: "The bank refused the refund."}
	}
	return r.ID, nil // a pending refund counts as done: the bank pays it out later
}
