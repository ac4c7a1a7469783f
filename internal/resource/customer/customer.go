// Package customer holds whom a business sells to, or hopes to, and the ledger
// of what each of them owes (transaction.go).
package customer

import (
	"context"
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Customer is a person or a company that a business has a relationship with.
type Customer struct {
	op.Record
	BusinessID    id.ID       `json:"businessId"`
	ContactID     *id.ID      `json:"contactId"`
	Type          string      `json:"type" enum:"individual,business" doc:"whether the customer is a person or a company"`
	Name          string      `json:"name"`
	Email         *string     `json:"email" format:"email"`
	Phone         *string     `json:"phone"`
	Notes         *string     `json:"notes" max:"10000"`
	Status        string      `json:"status" enum:"prospect,active,inactive" doc:"where the relationship stands"`
	CustomerSince *clock.Time `json:"customerSince"`

	Seq    int64  `json:"-" db:"seq"`
	Search string `json:"-" db:"search"`
}

var customers = db.NewTable[Customer]("customers", "customer")

// Operations lists everything that can be done with customers.
func Operations() []*op.Op {
	const ref = `"id": "8e0d2b51-6a3f-4c0e-9b7a-2f1c5d4e6a90"`
	return slices.Concat([]*op.Op{
		op.Read(op.Spec{Name: "customers.list", Route: "GET /v1/customers", Summary: "List customers, newest first.",
			Example: `{"status": "active", "limit": 20}`}, listCustomers),
		op.Write(op.Spec{Name: "customers.create", Route: "POST /v1/customers", Summary: "Create a customer.",
			Description: "Without businessId the customer is the caller's business's.", Events: []string{"customer.created"},
			Example: `{"name": "Analytical Engines Ltd", "type": "business", "email": "office@example.com", "customerSince": "2026-01-31T12:00:00Z"}`}, createCustomer),
		op.Read(op.Spec{Name: "customers.get", Route: "GET /v1/customers/{id}", Summary: "Get a customer.",
			Example: `{` + ref + `}`}, getCustomer),
		op.Write(op.Spec{Name: "customers.update", Route: "PATCH /v1/customers/{id}", Summary: "Change fields of a customer.", Events: []string{"customer.updated"},
			Example: `{` + ref + `, "status": "active", "notes": null}`}, updateCustomer),
		op.Write(op.Spec{Name: "customers.delete", Route: "DELETE /v1/customers/{id}", Summary: "Delete a customer.", Events: []string{"customer.deleted"},
			Example: `{` + ref + `}`}, deleteCustomer),
	}, transactionOperations())
}

type customerRef struct {
	ID id.ID `path:"id" doc:"the customer"`
}

type customerList struct {
	op.Page
	Query      *string `query:"query" max:"200" doc:"part of a name, email or phone number; one or two characters match word beginnings"`
	Status     *string `query:"status" enum:"prospect,active,inactive"`
	Type       *string `query:"type" enum:"individual,business"`
	BusinessID *id.ID  `query:"businessId"`
	ContactID  *id.ID  `query:"contactId"`
}

func listCustomers(ctx context.Context, c *op.Call, in customerList) (*op.List[Customer], error) {
	w := db.In(c.Org)
	db.Equal(w, "contact_id", in.ContactID)
	db.Choice(w, "status", in.Status, "active")
	db.Choice(w, "type", in.Type, "individual")
	db.Equal(w, "business_id", in.BusinessID)
	rows, err := customers.Search(ctx, c.Tx, in.Query, w, in.DB())
	return op.ListOf(in.Page, rows), err
}

type customerCreate struct {
	BusinessID    *id.ID      `json:"businessId" ref:"businesses" doc:"by default the caller's"`
	ContactID     *id.ID      `json:"contactId" ref:"contacts"`
	Type          string      `json:"type" default:"individual" enum:"individual,business"`
	Name          string      `json:"name" min:"1"`
	Email         *string     `json:"email" format:"email"`
	Phone         *string     `json:"phone"`
	Notes         *string     `json:"notes" max:"10000"`
	Status        string      `json:"status" default:"prospect" enum:"prospect,active,inactive"`
	CustomerSince *clock.Time `json:"customerSince"`
}

func createCustomer(ctx context.Context, c *op.Call, in customerCreate) (*Customer, error) {
	v := &Customer{Record: c.NewRecord(), BusinessID: c.Caller.Business, ContactID: in.ContactID, Type: in.Type, Name: in.Name, Email: in.Email,
		Phone: in.Phone, Notes: in.Notes, Status: in.Status, CustomerSince: in.CustomerSince}
	if in.BusinessID != nil {
		v.BusinessID = *in.BusinessID
	}
	if v.BusinessID == "" {
		return nil, fault.Field("businessId", "Required") // the operator acts for no business
	}
	if err := op.References(ctx, c, v.business(), v.contact()); err != nil {
		return nil, err
	}
	v.Search = v.words()
	if err := customers.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	db.Index(c.Tx, customers.Name(), v.Seq, v.Search)
	return v, c.Emit("customer.created", v.ID, v)
}

func (v *Customer) business() op.Ref {
	return op.Ref{Field: "businessId", Table: "businesses", ID: &v.BusinessID}
}

func (v *Customer) contact() op.Ref {
	return op.Ref{Field: "contactId", Table: "contacts", ID: v.ContactID}
}

// words are what a customer is found by.
func (v *Customer) words() string { return db.SearchText(&v.Name, v.Email, v.Phone) }

func getCustomer(ctx context.Context, c *op.Call, in customerRef) (*Customer, error) {
	return customers.Get(ctx, c.Tx, c.Org, in.ID)
}

type customerUpdate struct {
	customerRef
	BusinessID    op.Maybe[id.ID]    `json:"businessId" ref:"businesses"`
	ContactID     op.Opt[id.ID]      `json:"contactId" ref:"contacts"`
	Type          op.Maybe[string]   `json:"type" enum:"individual,business"`
	Name          op.Maybe[string]   `json:"name" min:"1"`
	Email         op.Opt[string]     `json:"email" format:"email"`
	Phone         op.Opt[string]     `json:"phone"`
	Notes         op.Opt[string]     `json:"notes" max:"10000"`
	Status        op.Maybe[string]   `json:"status" enum:"prospect,active,inactive"`
	CustomerSince op.Opt[clock.Time] `json:"customerSince"`
}

func updateCustomer(ctx context.Context, c *op.Call, in customerUpdate) (*Customer, error) {
	v, err := customers.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	before := *v
	if !op.Apply(v, &in) {
		return v, nil
	}
	business, contact := v.business(), v.contact()
	business.Was, contact.Was = &before.BusinessID, before.ContactID
	if err := op.References(ctx, c, business, contact); err != nil {
		return nil, err
	}
	v.UpdatedAt = c.Now
	if v.Search = v.words(); v.Search != before.Search {
		db.Index(c.Tx, customers.Name(), v.Seq, v.Search)
	}
	if err := customers.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("customer.updated", v.ID, v)
}

func deleteCustomer(ctx context.Context, c *op.Call, in customerRef) (op.Nothing, error) {
	v, err := customers.Remove(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	db.Index(c.Tx, customers.Name(), v.Seq, "")
	return op.Nothing{}, c.Emit("customer.deleted", v.ID, v)
}
