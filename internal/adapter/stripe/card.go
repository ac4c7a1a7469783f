package stripe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"

	"github.com/stripe/stripe-go/v85"
)

var _ account.CardProvider = (*Client)(nil)

// Card reads a card that a customer saved at Stripe.
func (c *Client) Card(ctx context.Context, customer, card string) (*account.Card, error) {
	db.Outside(ctx)
	method, err := c.api.V1PaymentMethods.Retrieve(ctx, card, nil)
	switch {
	case isRefusal(err):
		return nil, fault.Field("card", "Stripe knows no such payment method")
	case err != nil:
		return nil, fmt.Errorf("stripe: %w", err)
	case method.Card == nil:
		return nil, fault.Field("card", "Is not a card")
	case method.Customer == nil || method.Customer.ID != customer:
		return nil, fault.Field("customer", "Is not the customer that the card is saved for")
	}
	return saved(method, customer), nil
}

func saved(method *stripe.PaymentMethod, customer string) *account.Card {
	return &account.Card{Brand: string(method.Card.Brand), Last4: method.Card.Last4, ExpMonth: int(method.Card.ExpMonth), ExpYear: int(method.Card.ExpYear),
		Provider: Name, ProviderID: method.ID, ProviderCustomer: &customer}
}

// isRefusal reports whether Stripe understood the request and says no, which a
// key that it does not take is not.
func isRefusal(err error) bool {
	var e *stripe.Error
	return errors.As(err, &e) && e.Type == stripe.ErrorTypeInvalidRequest && e.HTTPStatusCode != http.StatusUnauthorized
}

// Customer makes the customer that an organization's cards are saved for.
func (c *Client) Customer(ctx context.Context, key, name string) (string, error) {
	db.Outside(ctx)
	p := &stripe.CustomerCreateParams{Name: stripe.String(name), Metadata: map[string]string{keyName: key}}
	p.SetIdempotencyKey(key)
	customer, err := c.api.V1Customers.Create(ctx, p)
	if err != nil {
		return "", fmt.Errorf("stripe: customer: %w", err)
	}
	return customer.ID, nil
}

// OpenCardPage makes a Checkout Session in setup mode, which charges nothing
// and attaches the card to the customer.
func (c *Client) OpenCardPage(ctx context.Context, key string, q account.CardPageRequest) (*account.CardPage, error) {
	db.Outside(ctx)
	// The braces are Stripe's, and must reach it as they are.
	p := &stripe.CheckoutSessionCreateParams{Mode: stripe.String(string(stripe.CheckoutSessionModeSetup)), PaymentMethodTypes: []*string{stripe.String("card")},
		Customer: stripe.String(q.Customer), ClientReferenceID: stripe.String(string(q.Setup)), Metadata: map[string]string{keyName: key},
		SuccessURL: stripe.String(q.Done + "{CHECKOUT_SESSION_ID}"), CancelURL: stripe.String(q.Canceled)}
	p.SetIdempotencyKey(key)
	session, err := c.api.V1CheckoutSessions.Create(ctx, p)
	var e *stripe.Error
	switch {
	case isRefusal(err) && errors.As(err, &e) && e.Code == stripe.ErrorCodeResourceMissing && e.Param == "customer":
		return nil, account.ErrNoCustomer
	case err != nil:
		return nil, fmt.Errorf("stripe: checkout: %w", err)
	}
	// A browser is sent there, so it must be where the operator said.
	if !sameOrigin(session.URL, c.checkout) {
		return nil, fmt.Errorf("stripe: the page for cards is at %s, not at %s; set --stripe-checkout-url", origin(session.URL), c.checkout)
	}
	return &account.CardPage{ID: session.ID, URL: session.URL}, nil
}

// CardPage looks at a Checkout Session, with the card that was saved on it.
func (c *Client) CardPage(ctx context.Context, page string) (*account.CardPageState, error) {
	db.Outside(ctx)
	p := &stripe.CheckoutSessionRetrieveParams{}
	p.AddExpand("setup_intent.payment_method")
	session, err := c.api.V1CheckoutSessions.Retrieve(ctx, page, p)
	if isRefusal(err) {
		return &account.CardPageState{}, nil // nobody's
	}
	if err != nil {
		return nil, fmt.Errorf("stripe: checkout: %w", err)
	}
	out := &account.CardPageState{Setup: id.ID(session.ClientReferenceID)}
	if session.Customer != nil {
		out.Customer = session.Customer.ID
	}
	intent := session.SetupIntent
	if session.Mode != stripe.CheckoutSessionModeSetup || session.Status != stripe.CheckoutSessionStatusComplete || intent == nil ||
		intent.Status != stripe.SetupIntentStatusSucceeded || intent.PaymentMethod == nil || intent.PaymentMethod.Card == nil {
		return out, nil
	}
	if intent.Customer == nil || intent.Customer.ID != out.Customer {
		return nil, fmt.Errorf("stripe: the card of %s is saved for another customer", page)
	}
	out.Card = saved(intent.PaymentMethod, out.Customer)
	return out, nil
}

// Detach takes a card from its customer: Stripe then charges it no more. One
// that is detached already, or unknown, is left alone.
func (c *Client) Detach(ctx context.Context, card string) error {
	db.Outside(ctx)
	_, err := c.api.V1PaymentMethods.Detach(ctx, card, nil)
	if err != nil && !isRefusal(err) {
		return fmt.Errorf("stripe: detach: %w", err)
	}
	return nil
}

func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "nowhere"
	}
	return u.Scheme + "://" + u.Host
}

func sameOrigin(a, b string) bool { return strings.EqualFold(origin(a), origin(b)) }
