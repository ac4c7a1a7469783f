package customer

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Billing is whom an invoice to a customer is made out to: the customer's name
// and email, or else the contact's primary email, and the contact's primary
// address.
type Billing struct {
	BusinessID id.ID   `db:"business_id"`
	Name       string  `db:"name"`
	Email      *string `db:"email"`
	Line1      *string `db:"line1"`
	Line2      *string `db:"line2"`
	City       *string `db:"city"`
	State      *string `db:"state"`
	PostalCode *string `db:"postal_code"`
	Country    *string `db:"country"`
}

// Hold locks a customer, so that it is not deleted in this transaction.
func Hold(ctx context.Context, c *op.Call, ref id.ID) error {
	_, err := customers.Lock(ctx, c.Tx, c.Org, ref)
	return err
}

// BillingOf finds how to bill a customer. One that is missing, foreign or
// deleted is db.ErrNone.
func BillingOf(ctx context.Context, c *op.Call, customer id.ID) (*Billing, error) {
	v, err := db.One[Billing](ctx, c.Tx, `
		SELECT c.business_id, c.name, coalesce(c.email, e.email) AS email, a.line1, a.line2, a.city, a.state, a.postal_code, a.country
		FROM customers c
		LEFT JOIN contact_emails e ON e.organization_id = c.organization_id AND e.contact_id = c.contact_id AND e.is_primary AND e.deleted_at IS NULL
		LEFT JOIN contact_addresses a ON a.organization_id = c.organization_id AND a.contact_id = c.contact_id AND a.is_primary AND a.deleted_at IS NULL
		WHERE c.organization_id = $1 AND c.id = $2 AND c.deleted_at IS NULL`, c.Org, customer)
	return &v, err
}
