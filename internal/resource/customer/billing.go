package customer

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/contact"
)

// Billing is the bill-to of a customer's invoice: the customer's name and
// email, or else the contact's primary email, and the contact's primary
// address.
type Billing struct {
	BusinessID id.ID
	Name       string
	Email      *string
	Line1      *string
	Line2      *string
	City       *string
	State      *string
	PostalCode *string
	Country    *string
}

// LockCustomer locks a customer, so that it cannot be deleted before the transaction ends.
func LockCustomer(ctx context.Context, c *op.Call, ref id.ID) error {
	_, err := customers.Lock(ctx, c.Tx, c.Org, ref)
	return err
}

// BillingOf finds how to bill a customer. A missing, foreign or deleted
// customer is db.ErrNoRow.
func BillingOf(ctx context.Context, tx *db.Tx, org, customer id.ID) (*Billing, error) {
	type row struct {
		BusinessID id.ID   `db:"business_id"`
		ContactID  *id.ID  `db:"contact_id"`
		Name       string  `db:"name"`
		Email      *string `db:"email"`
	}
	v, err := db.QueryOne[row](ctx, tx, `
		SELECT business_id, contact_id, name, email FROM customers
		WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL`, org, customer)
	if err != nil {
		return nil, err
	}
	out := &Billing{BusinessID: v.BusinessID, Name: v.Name, Email: v.Email}
	if v.ContactID == nil {
		return out, nil
	}
	email, address, err := contact.PrimaryReachOf(ctx, tx, org, *v.ContactID)
	if err != nil {
		return nil, err
	}
	if out.Email == nil {
		out.Email = email
	}
	if address != nil {
		out.Line1, out.Line2, out.City = &address.Line1, address.Line2, address.City
		out.State, out.PostalCode, out.Country = address.State, address.PostalCode, address.Country
	}
	return out, nil
}

// ListOfContact lists the customers that a contact stands for.
func ListOfContact(ctx context.Context, tx *db.Tx, org, person id.ID) ([]id.ID, error) {
	return db.QueryAll[id.ID](ctx, tx, `
		SELECT id FROM customers
		WHERE organization_id = $1 AND contact_id = $2 AND deleted_at IS NULL LIMIT 100`, org, person)
}

// EmailAddresses lists the email addresses of a customer and of its contact.
func EmailAddresses(ctx context.Context, tx *db.Tx, org, row id.ID) ([]string, error) {
	return listEmailAddresses(ctx, tx, org, row, false)
}

// OwnEmailAddresses lists only those that the organization itself wrote down: not an
// address that came from outside, or from an agent that had just read outsiders'
// text.
func OwnEmailAddresses(ctx context.Context, tx *db.Tx, org, row id.ID) ([]string, error) {
	return listEmailAddresses(ctx, tx, org, row, true)
}

func listEmailAddresses(ctx context.Context, tx *db.Tx, org, row id.ID, own bool) (out []string, err error) {
	v, err := customers.Get(ctx, tx, org, row)
	if err != nil {
		return nil, err
	}
	if v.ContactID != nil {
		if out, err = contact.EmailsOf(ctx, tx, org, *v.ContactID, own); err != nil {
			return nil, err
		}
	}
	if v.Email != nil && (!own || !v.External) {
		out = append(out, *v.Email)
	}
	return out, nil
}
