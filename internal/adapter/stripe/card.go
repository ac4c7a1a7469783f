package stripe

import (
	"context"
	"errors"
	"fmt"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"

	"github.com/stripe/stripe-go/v85"
)

var _ account.CardReader = (*Client)(nil)

// Card reads a card that a customer saved at Stripe.
func (c *Client) Card(ctx context.Context, customer, card string) (*account.Card, error) {
	db.Outside(ctx)
	method, err := c.api.V1PaymentMethods.Retrieve(ctx, card, nil)
	var e *stripe.Error
	switch {
	case errors.As(err, &e) && e.Type == stripe.ErrorTypeInvalidRequest && e.HTTPStatusCode != 401:
		return nil, fault.Field("card", "Stripe knows no such payment method")
	case err != nil:
		return nil, fmt.Errorf("stripe: %w", err)
	case method.Card == nil:
		return nil, fault.Field("card", "Is not a card")
	case method.Customer == nil || method.Customer.ID != customer:
		return nil, fault.Field("customer", "Is not the customer that the card is saved for")
	}
	return &account.Card{Brand: string(method.Card.Brand), Last4: method.Card.Last4, ExpMonth: int(method.Card.ExpMonth), ExpYear: int(method.Card.ExpYear),
		Provider: Name, ProviderID: card, ProviderCustomer: &customer}, nil
}
