package stripe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"frontdesk/internal/account/card"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

var _ card.Provider = (*Client)(nil)

// Card reads a card that a customer saved at Stripe.
func (c *Client) Card(ctx context.Context, customer, cardID string) (*card.Card, error) {
	var found paymentMethod
	err := c.getJSON(ctx, "/v1/payment_methods/"+url.PathEscape(cardID), nil, &found)
	switch {
	case isRefusal(err):
		return nil, fault.Field("card", "Stripe knows no such payment method")
	case err != nil:
		return nil, fmt.Errorf("stripe: %w", err)
	case found.Card == nil:
		return nil, fault.Field("card", "Is not a card")
	case found.Customer == "" || found.Customer != customer:
		return nil, fault.Field("customer", "Is not the customer that the card is saved for")
	}
	return toCard(&found, customer), nil
}

func toCard(m *paymentMethod, customer string) *card.Card {
	return &card.Card{
		Brand:            m.Card.Brand,
		Last4:            m.Card.Last4,
		ExpMonth:         m.Card.ExpMonth,
		ExpYear:          m.Card.ExpYear,
		Provider:         Name,
		ProviderID:       m.ID,
		ProviderCustomer: &customer,
	}
}

// isRefusal reports whether Stripe understood the request and refused it. A
// rejected API key does not count.
func isRefusal(err error) bool {
	var e *apiError
	return errors.As(err, &e) && e.Type == invalidRequest && e.Status != http.StatusUnauthorized
}

// CreateCustomer creates the customer that holds an organization's cards.
func (c *Client) CreateCustomer(ctx context.Context, key, name string) (string, error) {
	var made struct {
		ID string `json:"id"`
	}
	if err := c.postForm(ctx, "/v1/customers", key, form{"name": name, metadataKey: key}, &made); err != nil {
		return "", fmt.Errorf("stripe: customer: %w", err)
	}
	return made.ID, nil
}

// OpenCardPage creates a Checkout Session in setup mode, which charges nothing
// and attaches the card to the customer.
func (c *Client) OpenCardPage(ctx context.Context, key string, q card.PageRequest) (*card.Page, error) {
	var made checkoutSession
	err := c.postForm(ctx, "/v1/checkout/sessions", key, form{
		"mode":                    "setup",
		"payment_method_types[0]": "card",
		"customer":                q.Customer,
		"client_reference_id":     string(q.Setup),
		"success_url":             q.Done + "{CHECKOUT_SESSION_ID}", // Stripe fills that in
		"cancel_url":              q.Canceled,
		metadataKey:               key,
	}, &made)
	var e *apiError
	switch {
	case isRefusal(err) && errors.As(err, &e) && e.Code == "resource_missing" && e.Param == "customer":
		return nil, card.ErrNoCustomer
	case err != nil:
		return nil, fmt.Errorf("stripe: checkout: %w", err)
	}
	// A browser is sent there, so the address must be the one the operator set.
	if !sameOrigin(made.URL, c.checkout) {
		return nil, fmt.Errorf("stripe: the page for cards is at %s, not at %s; set --stripe-checkout-url",
			originOf(made.URL), c.checkout)
	}
	return &card.Page{ID: made.ID, URL: made.URL}, nil
}

// ReadCardPage reads a Checkout Session and the card that was saved on it.
func (c *Client) ReadCardPage(ctx context.Context, page string) (*card.PageState, error) {
	var found setupSession
	err := c.getJSON(ctx, "/v1/checkout/sessions/"+url.PathEscape(page),
		form{"expand[0]": "setup_intent.payment_method"}, &found)
	if isRefusal(err) {
		return &card.PageState{}, nil // unknown to Stripe: the caller finds that it is not its own
	}
	if err != nil {
		return nil, fmt.Errorf("stripe: checkout: %w", err)
	}
	out := &card.PageState{Setup: id.ID(found.ClientReferenceID), Customer: found.Customer}
	setup := found.SetupIntent
	if found.Mode != "setup" || found.Status != "complete" || setup == nil || setup.Status != "succeeded" ||
		setup.PaymentMethod == nil || setup.PaymentMethod.Card == nil {
		return out, nil
	}
	if setup.Customer == "" || setup.Customer != out.Customer {
		return nil, fmt.Errorf("stripe: the card of %s is saved for another customer", page)
	}
	out.Card = toCard(setup.PaymentMethod, out.Customer)
	return out, nil
}

// DetachCard removes a card from its customer, so that Stripe no longer charges it.
// A card that is already detached, or unknown, is left alone.
func (c *Client) DetachCard(ctx context.Context, cardID string) error {
	err := c.postForm(ctx, "/v1/payment_methods/"+url.PathEscape(cardID)+"/detach", "", nil, nil)
	if err != nil && !isRefusal(err) {
		return fmt.Errorf("stripe: detach: %w", err)
	}
	return nil
}

func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "nowhere"
	}
	return u.Scheme + "://" + u.Host
}

func sameOrigin(a, b string) bool { return strings.EqualFold(originOf(a), originOf(b)) }
