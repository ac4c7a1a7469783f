// Package invoice holds what a business asks its customers to pay: invoices
// with their line items, the payments of them, and the PDF.
//
// An invoice is a draft until it is issued; from then on it says what it says,
// and only its status moves (move.go). Every move and every payment writes the
// customer's ledger in the same transaction. Start reading at Invoice, then
// move.go and payment.go.
package invoice

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/customer"

	"github.com/go-json-experiment/json/jsontext"
)

// Invoice is a request for payment.
type Invoice struct {
	op.Record
	BusinessID         id.ID       `json:"businessId"`
	CustomerID         *id.ID      `json:"customerId"`
	Status             string      `json:"status" enum:"draft,issued,sent,partially_paid,paid,overdue,void"`
	InvoiceNumber      *string     `json:"invoiceNumber" doc:"given at issue, per business and without gaps"`
	BillToName         *string     `json:"billToName"`
	BillToEmail        *string     `json:"billToEmail"`
	BillToAddressLine1 *string     `json:"billToAddressLine1"`
	BillToAddressLine2 *string     `json:"billToAddressLine2"`
	BillToCity         *string     `json:"billToCity"`
	BillToState        *string     `json:"billToState"`
	BillToPostalCode   *string     `json:"billToPostalCode"`
	BillToCountry      *string     `json:"billToCountry"`
	TotalAmountCents   int64       `json:"totalAmountCents" doc:"the sum of the line items, in the currency's smallest unit"`
	AmountPaidCents    int64       `json:"amountPaidCents" doc:"the sum of the payments that are not void"`
	AmountDueCents     int64       `json:"amountDueCents" db:"-" doc:"what is still to be paid; nothing on a void invoice"`
	Currency           string      `json:"currency"`
	IssuedAt           *clock.Time `json:"issuedAt"`
	SentAt             *clock.Time `json:"sentAt"`
	DueAt              *clock.Time `json:"dueAt"`
	OverdueAt          *clock.Time `json:"overdueAt"`
	Notes              *string     `json:"notes" max:"10000"`
	Terms              *string     `json:"terms" max:"10000"`
	Data               db.JSON     `json:"data" kinds:"object" doc:"whatever the caller keeps with the invoice"`
	LineItems          []LineItem  `json:"lineItems" db:"-"`

	Seq    int64  `json:"-" db:"seq"`
	Search string `json:"-" db:"search"`

	BillToSent []string `json:"-" db:"bill_to_sent"` // the bill-to fields that were sent, and not filled in from the customer
}

var invoices = db.NewTable[Invoice]("invoices", "invoice")

// NotDraft refuses to change what was issued.
var NotDraft = fault.Define("INVOICE_NOT_DRAFT", 409, "Only a draft can be changed or deleted. Void this invoice and make a new one.")

const exampleID = `"c2b7a7de-2f0e-4f0b-8d5c-9a4b1f6e7d20"`

// Operations lists everything that can be done with invoices.
func Operations(post Post) []*op.Op {
	return slices.Concat(invoiceOperations(), moveOperations(), post.operations(), paymentOperations(), pdfOperations())
}

func invoiceOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{Name: "invoices.list", Route: "GET /v1/invoices", Summary: "List invoices, newest first.",
			Example: `{"status": "overdue", "limit": 20}`}, listInvoices),
		op.Write(op.Spec{Name: "invoices.create", Route: "POST /v1/invoices", Summary: "Draft an invoice.",
			Description: "What billTo fields leave out is filled in from the customer and its contact; an address is taken as a whole or not at all. A negative unitAmountCents is a discount.",
			Events:      []string{"invoice.created"},
			Example: `{"customerId": "8e0d2b51-6a3f-4c0e-9b7a-2f1c5d4e6a90", "dueAt": "2026-03-02T00:00:00Z", "notes": "Thank you.",
				"lineItems": [{"description": "Repair of an engine", "quantity": "2.5", "unitAmountCents": 12000}]}`}, createInvoice),
		op.Read(op.Spec{Name: "invoices.get", Route: "GET /v1/invoices/{id}", Summary: "Get an invoice with its line items.",
			Example: `{"id": ` + exampleID + `}`}, getInvoice),
		op.Write(op.Spec{Name: "invoices.update", Route: "PATCH /v1/invoices/{id}", Summary: "Change fields of a draft.",
			Description: "lineItems replaces all of them. With another customerId, billTo fields that were never sent are filled in anew.",
			Errors:      []*fault.Kind{NotDraft}, Events: []string{"invoice.updated"},
			Example: `{"id": ` + exampleID + `, "terms": "Net 30", "notes": null}`}, updateInvoice),
		op.Write(op.Spec{Name: "invoices.delete", Route: "DELETE /v1/invoices/{id}", Summary: "Delete a draft.",
			Errors: []*fault.Kind{NotDraft}, Events: []string{"invoice.deleted"},
			Example: `{"id": ` + exampleID + `}`}, deleteInvoice),
	}
}

type invoiceRef struct {
	ID id.ID `path:"id" doc:"the invoice"`
}

type invoiceList struct {
	op.Page
	Query      *string `query:"query" max:"200" doc:"part of a number, or of a name or email in the bill-to; one or two characters match word beginnings"`
	Status     *string `query:"status" enum:"draft,issued,sent,partially_paid,paid,overdue,void"`
	CustomerID *id.ID  `query:"customerId"`
	BusinessID *id.ID  `query:"businessId"`
}

func listInvoices(ctx context.Context, c *op.Call, in invoiceList) (*op.List[Invoice], error) {
	w := db.In(c.Org)
	db.Equal(w, "customer_id", in.CustomerID)
	db.Choice(w, "status", in.Status, "paid")
	db.Equal(w, "business_id", in.BusinessID)
	rows, err := invoices.Search(ctx, c.Tx, in.Query, w, in.DB())
	if err != nil {
		return nil, err
	}
	return op.ListOf(in.Page, rows), load(ctx, c.Tx, c.Org, rows)
}

// invoiceFields are what a caller says of an invoice, at creation and later.
type invoiceFields struct {
	Currency           op.Maybe[string]   `json:"currency" format:"currency" doc:"by default the business's"`
	DueAt              op.Opt[clock.Time] `json:"dueAt"`
	BillToName         op.Opt[string]     `json:"billToName"`
	BillToEmail        op.Opt[string]     `json:"billToEmail" format:"email"`
	BillToAddressLine1 op.Opt[string]     `json:"billToAddressLine1"`
	BillToAddressLine2 op.Opt[string]     `json:"billToAddressLine2"`
	BillToCity         op.Opt[string]     `json:"billToCity"`
	BillToState        op.Opt[string]     `json:"billToState"`
	BillToPostalCode   op.Opt[string]     `json:"billToPostalCode"`
	BillToCountry      op.Opt[string]     `json:"billToCountry"`
	Notes              op.Opt[string]     `json:"notes" max:"10000"`
	Terms              op.Opt[string]     `json:"terms" max:"10000"`
	Data               op.Maybe[db.JSON]  `json:"data" kinds:"object"`
}

// billTo is a bill-to field of an invoice: what is sent for it, where it is
// stored, and what the customer has for it.
type billTo struct {
	name    string
	sent    op.Opt[string]
	stored  **string
	theirs  *string
	address bool
}

func (v *Invoice) billTo(sent *invoiceFields, b *customer.Billing) []billTo {
	return []billTo{
		{"name", sent.BillToName, &v.BillToName, &b.Name, false},
		{"email", sent.BillToEmail, &v.BillToEmail, b.Email, false},
		{"line1", sent.BillToAddressLine1, &v.BillToAddressLine1, b.Line1, true},
		{"line2", sent.BillToAddressLine2, &v.BillToAddressLine2, b.Line2, true},
		{"city", sent.BillToCity, &v.BillToCity, b.City, true},
		{"state", sent.BillToState, &v.BillToState, b.State, true},
		{"postal_code", sent.BillToPostalCode, &v.BillToPostalCode, b.PostalCode, true},
		{"country", sent.BillToCountry, &v.BillToCountry, b.Country, true},
	}
}

// bill makes an invoice out to its customer, but for what a caller sends now or
// has sent before. Half of one address and half of another is none.
func (v *Invoice) bill(b *customer.Billing, sent *invoiceFields) {
	fields := v.billTo(sent, b)
	own := func(f billTo) bool { return f.sent.Set || slices.Contains(v.BillToSent, f.name) }
	ownAddress := slices.ContainsFunc(fields, func(f billTo) bool { return f.address && own(f) })
	for _, f := range fields {
		switch {
		case own(f):
		case f.address && ownAddress:
			*f.stored = nil
		default:
			*f.stored = f.theirs
		}
	}
}

// apply copies what was sent and reports whether anything changed.
func (v *Invoice) apply(sent invoiceFields) bool {
	before := len(v.BillToSent)
	for _, f := range v.billTo(&sent, &customer.Billing{}) {
		if f.sent.Set && !slices.Contains(v.BillToSent, f.name) {
			v.BillToSent = append(v.BillToSent, f.name)
		}
	}
	if sent.Data.Set && bytes.Equal(plain(sent.Data.Value), plain(v.Data)) {
		sent.Data.Set = false // the engines write an object in ways of their own
	}
	return op.Apply(v, &sent) || len(v.BillToSent) > before
}

func plain(object db.JSON) db.JSON {
	out := object.Clone()
	if err := out.Format(jsontext.ReorderRawObjects(true), jsontext.SpaceAfterColon(false), jsontext.SpaceAfterComma(false)); err != nil {
		return object
	}
	return out
}

type invoiceCreate struct {
	CustomerID id.ID            `json:"customerId" ref:"customers"`
	BusinessID *id.ID           `json:"businessId" ref:"businesses" doc:"by default the customer's"`
	LineItems  []lineItemFields `json:"lineItems" optional:"yes"`
	invoiceFields

	total int64
}

func (in *invoiceCreate) Prepare(context.Context, *op.Call) (err error) {
	in.total, err = priceAll(in.LineItems)
	return err
}

func createInvoice(ctx context.Context, c *op.Call, in invoiceCreate) (*Invoice, error) {
	billing, err := customer.BillingOf(ctx, c, in.CustomerID)
	if errors.Is(err, db.ErrNone) {
		return nil, op.Unseen("customerId")
	}
	if err != nil {
		return nil, err
	}
	v := &Invoice{Record: c.NewRecord(), BusinessID: billing.BusinessID, CustomerID: &in.CustomerID, Status: draft, TotalAmountCents: in.total, Data: db.JSON("{}"),
		BillToSent: []string{}}
	if in.BusinessID != nil {
		v.BusinessID = *in.BusinessID
	}
	business, err := account.Businesses.Get(ctx, c.Tx, c.Org, v.BusinessID)
	if fault.Has(err, fault.NotFound) {
		return nil, op.Unseen("businessId")
	}
	if err != nil {
		return nil, err
	}
	v.Currency = business.Currency
	v.bill(billing, &in.invoiceFields)
	v.apply(in.invoiceFields)
	v.Search = v.words()
	if err := invoices.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	if err := v.setLines(ctx, c, in.LineItems); err != nil {
		return nil, err
	}
	v.derive()
	db.Index(c.Tx, invoices.Name(), v.Seq, v.Search)
	return v, c.Emit("invoice.created", v.ID, v)
}

// words are what an invoice is found by.
func (v *Invoice) words() string {
	return db.SearchText(v.InvoiceNumber, v.BillToName, v.BillToEmail)
}

// derive fills in what follows from the row.
func (v *Invoice) derive() {
	v.AmountDueCents = v.TotalAmountCents - v.AmountPaidCents
	if v.Status == void {
		v.AmountDueCents = 0
	}
}

// lock holds an invoice, the root of its line items and payments.
func lock(ctx context.Context, c *op.Call, ref id.ID) (*Invoice, error) {
	return whole(ctx, c.Tx, c.Org, ref, invoices.Lock)
}

func getInvoice(ctx context.Context, c *op.Call, in invoiceRef) (*Invoice, error) {
	return whole(ctx, c.Tx, c.Org, in.ID, invoices.Get)
}

// whole reads an invoice together with its line items.
func whole(ctx context.Context, tx *db.Tx, org, ref id.ID, read func(context.Context, *db.Tx, id.ID, id.ID) (*Invoice, error)) (*Invoice, error) {
	v, err := read(ctx, tx, org, ref)
	if err != nil {
		return nil, err
	}
	one := []Invoice{*v}
	err = load(ctx, tx, org, one)
	return &one[0], err
}

// save writes the row back and keeps the search index true.
func (v *Invoice) save(ctx context.Context, c *op.Call) error {
	v.UpdatedAt = c.Now
	v.derive()
	if words := v.words(); words != v.Search {
		v.Search = words
		db.Index(c.Tx, invoices.Name(), v.Seq, v.Search)
	}
	return invoices.Save(ctx, c.Tx, v)
}

type invoiceUpdate struct {
	invoiceRef
	CustomerID op.Maybe[id.ID]            `json:"customerId" ref:"customers"`
	LineItems  op.Maybe[[]lineItemFields] `json:"lineItems"`
	invoiceFields

	total int64
}

func (in *invoiceUpdate) Prepare(context.Context, *op.Call) (err error) {
	in.total, err = priceAll(in.LineItems.Value)
	return err
}

func updateInvoice(ctx context.Context, c *op.Call, in invoiceUpdate) (*Invoice, error) {
	v, err := lock(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Status != draft {
		return nil, NotDraft.New()
	}
	changed := false
	if to := in.CustomerID; to.Set && (v.CustomerID == nil || *v.CustomerID != to.Value) {
		billing, err := customer.BillingOf(ctx, c, to.Value)
		if errors.Is(err, db.ErrNone) {
			return nil, op.Unseen("customerId")
		}
		if err != nil {
			return nil, err
		}
		v.CustomerID, changed = &to.Value, true
		v.bill(billing, &in.invoiceFields)
	}
	currency := v.Currency
	changed = v.apply(in.invoiceFields) || changed
	replace := in.LineItems.Set && !v.hasLines(in.LineItems.Value)
	if !changed && !replace {
		return v, nil
	}
	switch {
	case replace:
		v.TotalAmountCents = in.total
		if err := v.removeLines(ctx, c); err != nil {
			return nil, err
		}
		if err := v.setLines(ctx, c, in.LineItems.Value); err != nil {
			return nil, err
		}
	case v.Currency != currency:
		if err := v.convertLines(ctx, c); err != nil {
			return nil, err
		}
	}
	if err := v.save(ctx, c); err != nil {
		return nil, err
	}
	return v, c.Emit("invoice.updated", v.ID, v)
}

func deleteInvoice(ctx context.Context, c *op.Call, in invoiceRef) (op.Nothing, error) {
	v, err := lock(ctx, c, in.ID)
	if err != nil {
		return op.Nothing{}, err
	}
	if v.Status != draft {
		return op.Nothing{}, NotDraft.New()
	}
	if err := v.removeLines(ctx, c); err != nil {
		return op.Nothing{}, err
	}
	if _, err := invoices.Remove(ctx, c.Tx, c.Org, v.ID, c.Now); err != nil {
		return op.Nothing{}, err
	}
	v.DeletedAt, v.UpdatedAt = &c.Now, c.Now
	db.Index(c.Tx, invoices.Name(), v.Seq, "")
	return op.Nothing{}, c.Emit("invoice.deleted", v.ID, v)
}
