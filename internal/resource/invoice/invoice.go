// Package invoice holds what a business asks its customers to pay: invoices with
// their line items, payments, credit notes and reminders, and the PDF that
// customers get.
//
// An invoice is a draft until it is issued. From then on its content is fixed, and
// only its status moves (move.go). Every move, payment (payment.go), refund and
// credit note writes the customer's ledger in the same transaction, so that ledger
// and invoices always agree. total.go has the arithmetic of invoices and credit.go
// that of credit notes, both in whole cents.
//
// A document is made in two stages: sheet.go writes what it says, document.go and
// parts.go place that on pages. Drawing takes time, so it happens outside of
// transactions; send.go and remind.go draw first, and then check under a lock that
// the invoice has not changed. public.go shows an invoice to whoever has the link
// of its mail.
//
// Start reading at Invoice, then move.go and payment.go.
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
	BusinessID         id.ID   `json:"businessId"`
	CustomerID         *id.ID  `json:"customerId"`
	Status             Status  `json:"status" enum:"draft,issued,sent,partially_paid,paid,overdue,void"`
	InvoiceNumber      *string `json:"invoiceNumber" doc:"assigned on issue, per business and without gaps"`
	BillToName         *string `json:"billToName"`
	BillToEmail        *string `json:"billToEmail"`
	BillToAddressLine1 *string `json:"billToAddressLine1"`
	BillToAddressLine2 *string `json:"billToAddressLine2"`
	BillToCity         *string `json:"billToCity"`
	BillToState        *string `json:"billToState"`
	BillToPostalCode   *string `json:"billToPostalCode"`
	BillToCountry      *string `json:"billToCountry"`
	DiscountPercent    *string `json:"discountPercent" doc:"taken from all lines, after their own discounts"`
	PricesIncludeTax   bool    `json:"pricesIncludeTax" doc:"whether unitAmountCents includes the tax"`
	SubtotalCents      int64   `json:"subtotalCents" db:"-" doc:"sum of the lines, before discounts"`
	DiscountCents      int64   `json:"discountCents" doc:"all discounts, of lines and of the invoice"`
	TaxCents           int64   `json:"taxCents" db:"-" doc:"sum of the taxes"`
	Taxes              []Tax   `json:"taxes" doc:"one for each rate and name"`
	TotalCents         int64   `json:"totalCents" db:"-" doc:"subtotal less discount, with the taxes"`
	TotalAmountCents   int64   `json:"totalAmountCents" doc:"totalCents, in the currency's smallest unit"`
	// AmountPaidCents and AmountCreditedCents together may exceed the total: a
	// paid invoice can be credited. AmountToRefundCents is the excess.
	AmountPaidCents     int64 `json:"amountPaidCents" doc:"payments that are not void, less refunds"`
	AmountCreditedCents int64 `json:"amountCreditedCents" doc:"the sum of the credit notes"`
	AmountDueCents      int64 `json:"amountDueCents" db:"-" doc:"still to be paid; 0 on a void invoice"`
	AmountToRefundCents int64 `json:"amountToRefundCents" db:"-" doc:"paid and credited above the total"`

	Currency  string      `json:"currency"`
	IssuedAt  *clock.Time `json:"issuedAt"`
	SentAt    *clock.Time `json:"sentAt"`
	DueAt     *clock.Time `json:"dueAt"`
	OverdueAt *clock.Time `json:"overdueAt"`
	Notes     *string     `json:"notes" max:"10000"`
	Terms     *string     `json:"terms" max:"10000"`
	Data      db.JSON     `json:"data" kinds:"object" doc:"anything the caller wants to keep with the invoice"`
	LineItems []LineItem  `json:"lineItems" db:"-"`

	Customer op.Nullable[customer.Customer] `json:"customer,omitzero" db:"-" doc:"include=customer; null if deleted"`
	// Message is in the answer of send to an agent, which would otherwise have to look for it.
	Message *InvoiceMail `json:"message,omitzero" db:"-" doc:"to agents that sent it: the mail"`

	Seq    int64  `json:"-" db:"seq"`
	Search string `json:"-" db:"search"`

	// BillToSent names the bill-to fields that a caller sent. The others are
	// filled in from the customer, again when the customer changes.
	BillToSent []string `json:"-" db:"bill_to_sent"`
}

var invoices = db.NewTable[Invoice]("invoices", db.Life{
	Noun:         "invoice",
	ExternalText: db.NoExternalText,
	Refs: []db.Ref{
		db.RefTo("business_id", "businesses", db.Keeps),
		// A draft must still be able to say that its customer was deleted.
		db.RefTo("customer_id", "customers", db.ClearsAtPurge),
	},
})

// NotDraft refuses to change an issued invoice.
var NotDraft = fault.DefineKind("INVOICE_NOT_DRAFT", 409,
	"Only a draft can be changed or deleted. Void this invoice and create a new one.")

const exampleID = `"c2b7a7de-2f0e-4f0b-8d5c-9a4b1f6e7d20"`

func invoiceOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{
			Name:      "invoices.list",
			NounWords: "bill, receipt",
			Words:     "owe, owes money, unpaid, overdue, late, debtor, outstanding, open, paid yet, not paid, settle",
			Route:     "GET /v1/invoices",
			Summary:   "List invoices, newest first.",
			Example:   `{"unpaid": true, "dueBefore": "2026-03-02T00:00:00Z", "limit": 20}`,
		}, listInvoices),
		op.Read(op.Spec{
			Name:    "invoices.totals",
			Words:   "total, sum, add up, how much, altogether, outstanding, invoiced, together",
			Route:   "GET /v1/invoices/totals",
			Summary: "Add up invoices, by currency.",
			Description: "The filters are those of the list. All invoices that match are added up, void ones left " +
				"out. Amounts of different currencies are never added.",
			Example: `{"unpaid": true}`,
		}, addUpInvoices),
		op.Write(op.Spec{
			Name:    "invoices.create",
			Words:   "bill, hour, charge for, work, prepare",
			Route:   "POST /v1/invoices",
			Summary: "Draft an invoice.",
			Description: "Missing billTo fields are filled in from the customer and its contact; an address is taken " +
				"as a whole or not at all. Amounts are in the currency's smallest unit; a negative unitAmountCents " +
				"is a discount. Line items take a taxRate, and a discount in per cent or in cents. Each tax is " +
				"rounded once, over the whole invoice.",
			Events: []string{"invoice.created"},
			Example: `{"customerId": "8e0d2b51-6a3f-4c0e-9b7a-2f1c5d4e6a90", "dueAt": "2026-03-02T00:00:00Z",
				"notes": "Thank you.",
				"lineItems": [{"description": "Repair of an engine", "quantity": "2.5", "unitAmountCents": 12000,
					"taxRate": "20", "taxName": "VAT"}]}`,
			FieldExceptions: []string{"businessId"}, // it never changes
		}, createInvoice),
		op.Read(op.Spec{
			Name:    "invoices.get",
			Words:   "line items",
			Route:   "GET /v1/invoices/{id}",
			Summary: "Get an invoice with its line items.",
			Example: `{"id": ` + exampleID + `}`,
		}, getInvoice),
		op.Write(op.Spec{
			Name:    "invoices.update",
			Words:   "line, another line, due date, draft",
			Route:   "PATCH /v1/invoices/{id}",
			Summary: "Change fields of a draft.",
			Description: "lineItems replaces all line items. With another customerId, billTo fields that were never " +
				"sent are filled in again.",
			Errors:  []*fault.Kind{NotDraft},
			Events:  []string{"invoice.updated"},
			Example: `{"id": ` + exampleID + `, "terms": "Net 30", "notes": null}`,
		}, updateInvoice),
		op.Write(op.Spec{
			Name:    "invoices.delete",
			Words:   "unfinished, draft",
			Route:   "DELETE /v1/invoices/{id}",
			Summary: "Delete a draft.",
			Errors:  []*fault.Kind{NotDraft},
			Events:  []string{"invoice.deleted"},
			Example: `{"id": ` + exampleID + `}`,
		}, deleteInvoice),
		op.RestoreRow("invoices", "invoices", invoices, showRestored),
	}
}

type invoiceRef struct {
	ID id.ID `path:"id" doc:"the invoice"`
}

type invoiceList struct {
	op.Browse
	SortBy  string   `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt,dueAt,totalCents"`
	Include []string `query:"include" enum:"customer" doc:"customer: also show it"`
	invoiceFilter
}

// invoiceFilter says which invoices are listed, or added up.
type invoiceFilter struct {
	Query      *string  `query:"query" max:"200" doc:"part of number, name or email; 1-2 letters match word starts"`
	Status     []Status `query:"status" enum:"draft,issued,sent,partially_paid,paid,overdue,void"`
	CustomerID *id.ID   `query:"customerId"`
	BusinessID *id.ID   `query:"businessId"`

	DueBefore *clock.Time `query:"dueBefore" doc:"invoices due before this time"`
	DueAfter  *clock.Time `query:"dueAfter" doc:"invoices due after this time"`
	Unpaid    *bool       `query:"unpaid" doc:"true: issued, with something still due; false: all others"`
}

// openSQL selects issued invoices of which something is due. The index invoices_unpaid has the
// same text, or else no query would use it.
const openSQL = "status IN ('issued', 'sent', 'partially_paid', 'overdue')"

// whereClause is the condition of the filter, without the text search.
func (in *invoiceFilter) whereClause(c *op.Call) *db.Where {
	w := db.InOrganization(c.Org)
	if in.CustomerID != nil {
		w.AmongRows(db.IndexedRows{Where: "customer_id = ?", Args: []any{*in.CustomerID}})
	}
	db.FilterChoice(w, "status", in.Status, statusPaid)
	db.FilterEqual(w, "business_id", in.BusinessID)
	due := db.IndexedRows{Where: "due_at IS NOT NULL AND deleted_at IS NULL"}
	if in.DueBefore != nil {
		due.Where, due.Args = due.Where+" AND due_at < ?", append(due.Args, *in.DueBefore)
	}
	if in.DueAfter != nil {
		due.Where, due.Args = due.Where+" AND due_at > ?", append(due.Args, *in.DueAfter)
	}
	if len(due.Args) > 0 {
		w.AmongRows(due)
	}
	switch {
	case in.Unpaid == nil:
	case *in.Unpaid:
		w.AmongRows(db.IndexedRows{Where: openSQL + " AND deleted_at IS NULL"})
	default:
		w.And("NOT " + openSQL)
	}
	return w
}

func listInvoices(ctx context.Context, c *op.Call, in invoiceList) (*op.List[Invoice], error) {
	if in.SortBy == "totalCents" {
		in.SortBy = "totalAmountCents"
	}
	q := op.ListQuery{Browse: in.Browse, SortBy: in.SortBy, Query: in.Query}
	list, err := op.BrowseRows(ctx, c, invoices, q, in.whereClause(c))
	if err != nil {
		return nil, err
	}
	if err := loadLineItems(ctx, c.Tx, c.Org, list.Data); err != nil {
		return nil, err
	}
	if len(in.Include) == 0 {
		return list, nil
	}
	return list, fillCustomers(ctx, c, list.Data)
}

// fillCustomers puts the customers into a page of invoices, with one statement for all of
// them.
func fillCustomers(ctx context.Context, c *op.Call, rows []Invoice) error {
	if err := c.RequirePermission("customers", op.ActionRead, "include=customer"); err != nil {
		return err
	}
	ids := []id.ID{}
	for _, v := range rows {
		if v.CustomerID != nil {
			ids = append(ids, *v.CustomerID)
		}
	}
	found, err := customer.LoadShown(ctx, c, ids)
	if err != nil {
		return err
	}
	for i := range rows {
		v := &rows[i]
		v.Customer = op.Nullable[customer.Customer]{Set: true, Null: true}
		if v.CustomerID == nil {
			continue
		}
		if who, ok := found[*v.CustomerID]; ok {
			v.Customer = op.Nullable[customer.Customer]{Set: true, Value: who}
		}
	}
	return nil
}

// invoiceFields are the fields that a caller can set, on creation and later.
type invoiceFields struct {
	Currency           op.Optional[string]     `json:"currency" format:"currency" doc:"by default the business's"`
	DueAt              op.Nullable[clock.Time] `json:"dueAt"`
	BillToName         op.Nullable[string]     `json:"billToName"`
	BillToEmail        op.Nullable[string]     `json:"billToEmail" format:"email"`
	BillToAddressLine1 op.Nullable[string]     `json:"billToAddressLine1"`
	BillToAddressLine2 op.Nullable[string]     `json:"billToAddressLine2"`
	BillToCity         op.Nullable[string]     `json:"billToCity"`
	BillToState        op.Nullable[string]     `json:"billToState"`
	BillToPostalCode   op.Nullable[string]     `json:"billToPostalCode"`
	BillToCountry      op.Nullable[string]     `json:"billToCountry"`
	DiscountPercent    op.Nullable[string]     `json:"discountPercent" format:"decimal" doc:"of all lines; 0 to 100"`
	PricesIncludeTax   op.Optional[bool]       `json:"pricesIncludeTax" doc:"by default taxes are added to the prices"`
	Notes              op.Nullable[string]     `json:"notes" max:"10000"`
	Terms              op.Nullable[string]     `json:"terms" max:"10000"`
	Data               op.Optional[db.JSON]    `json:"data" kinds:"object" doc:"anything to keep with the invoice"`
}

// prepareAmounts checks the discount and each line by itself, and computes the amounts of the lines.
// computeTotals adds them up.
func (in *invoiceFields) prepareAmounts(lines []lineItemFields) error {
	if p := in.DiscountPercent.PtrOrNil(); p != nil {
		discount, ok := parsePercent(*p)
		if !ok {
			return fault.Field("discountPercent", percentIssue)
		}
		in.DiscountPercent.Value = discount.String()
	}
	return computeLineAmounts(lines)
}

// billToField is a bill-to field of an invoice: its name in BillToSent, the value sent for it,
// where it is stored, and the customer's value.
type billToField struct {
	name         string
	sent         op.Nullable[string]
	stored       **string
	fromCustomer *string
	address      bool
}

// billToFields lists the bill-to fields of an invoice.
func (v *Invoice) billToFields(sent *invoiceFields, b *customer.Billing) []billToField {
	return []billToField{
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

// fillBillTo makes an invoice out to its customer, except for fields that the caller sends now or
// sent before. If any part of the address was sent, none of it is the customer's: an address
// must not be half one and half another.
func (v *Invoice) fillBillTo(b *customer.Billing, sent *invoiceFields) {
	fields := v.billToFields(sent, b)
	own := func(f billToField) bool { return f.sent.Set || slices.Contains(v.BillToSent, f.name) }
	ownAddress := slices.ContainsFunc(fields, func(f billToField) bool { return f.address && own(f) })
	for _, f := range fields {
		switch {
		case own(f):
		case f.address && ownAddress:
			*f.stored = nil
		default:
			*f.stored = f.fromCustomer
		}
	}
}

// applyFields copies the fields that were sent, and reports whether anything changed.
func (v *Invoice) applyFields(sent invoiceFields) bool {
	before := len(v.BillToSent)
	for _, f := range v.billToFields(&sent, &customer.Billing{}) {
		if f.sent.Set && !slices.Contains(v.BillToSent, f.name) {
			v.BillToSent = append(v.BillToSent, f.name)
		}
	}
	if sent.Data.Set && bytes.Equal(canonicalJSON(sent.Data.Value), canonicalJSON(v.Data)) {
		sent.Data.Set = false // the same object, which each engine formats differently
	}
	return op.Apply(v, &sent) || len(v.BillToSent) > before
}

// canonicalJSON writes a JSON object with sorted names and without spaces, for comparison.
func canonicalJSON(object db.JSON) db.JSON {
	out := object.Clone()
	if err := out.Format(jsontext.ReorderRawObjects(true), jsontext.SpaceAfterColon(false),
		jsontext.SpaceAfterComma(false)); err != nil {
		return object
	}
	return out
}

type invoiceCreate struct {
	CustomerID id.ID            `json:"customerId" ref:"customers"`
	BusinessID *id.ID           `json:"businessId" ref:"businesses" doc:"by default the customer's"`
	LineItems  []lineItemFields `json:"lineItems" optional:"yes"`
	invoiceFields
}

// Prepare prices the lines.
func (in *invoiceCreate) Prepare(context.Context, *op.Call) error {
	return in.prepareAmounts(in.LineItems)
}

// createInvoice drafts an invoice: made out to the customer, in the business's currency, with
// its lines added up.
func createInvoice(ctx context.Context, c *op.Call, in invoiceCreate) (*Invoice, error) {
	billing, err := customer.BillingOf(ctx, c.Tx, c.Org, in.CustomerID)
	if errors.Is(err, db.ErrNoRow) {
		return nil, op.NoSuchReference("customerId")
	}
	if err != nil {
		return nil, err
	}
	v := &Invoice{Record: c.NewRecord(), BusinessID: billing.BusinessID, CustomerID: &in.CustomerID,
		Status: statusDraft, Data: db.JSON("{}"), BillToSent: []string{}}
	if in.BusinessID != nil {
		v.BusinessID = *in.BusinessID
	}
	business, err := account.Businesses.Get(ctx, c.Tx, c.Org, v.BusinessID)
	if fault.IsKind(err, fault.NotFound) {
		return nil, op.NoSuchReference("businessId")
	}
	if err != nil {
		return nil, err
	}
	v.Currency = business.Currency
	v.fillBillTo(billing, &in.invoiceFields)
	v.applyFields(in.invoiceFields)
	v.setLineItems(c, in.LineItems)
	if err := v.computeTotals(); err != nil {
		return nil, err
	}
	v.Search = v.searchWords()
	if err := invoices.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	if err := v.insertLineItems(ctx, c); err != nil {
		return nil, err
	}
	v.fillComputed()
	return v, c.Emit("invoice.created", v.ID, v)
}

// searchWords is the text that a search finds an invoice by.
func (v *Invoice) searchWords() string {
	return db.SearchText(v.InvoiceNumber, v.BillToName, v.BillToEmail)
}

// fillComputed fills in the fields that are not stored but follow from others.
func (v *Invoice) fillComputed() {
	v.TaxCents = 0
	for _, t := range v.Taxes {
		v.TaxCents += t.AmountCents
	}
	v.TotalCents = v.TotalAmountCents
	v.SubtotalCents = v.TotalAmountCents + v.DiscountCents
	if !v.PricesIncludeTax {
		v.SubtotalCents -= v.TaxCents
	}
	open := v.TotalAmountCents - v.AmountPaidCents - v.AmountCreditedCents
	v.AmountDueCents, v.AmountToRefundCents = max(0, open), max(0, -open)
	if v.Status == statusVoid {
		v.AmountDueCents = 0
	}
}

// isSettled reports whether nothing is due any more, because all was paid or credited.
func (v *Invoice) isSettled() bool {
	return v.AmountPaidCents+v.AmountCreditedCents >= v.TotalAmountCents
}

// lockInvoice locks an invoice and reads it with its line items. Every change of its lines, payments
// and credit notes holds this lock.
func lockInvoice(ctx context.Context, c *op.Call, ref id.ID) (*Invoice, error) {
	return readInvoice(ctx, c.Tx, c.Org, ref, invoices.Lock)
}

func getInvoice(ctx context.Context, c *op.Call, in invoiceRef) (*Invoice, error) {
	return readInvoice(ctx, c.Tx, c.Org, in.ID, invoices.Get)
}

// readInvoice reads an invoice with its line items. read is invoices.Get, or invoices.Lock for
// a change.
func readInvoice(ctx context.Context, tx *db.Tx, org, ref id.ID,
	read func(context.Context, *db.Tx, id.ID, id.ID) (*Invoice, error)) (*Invoice, error) {
	v, err := read(ctx, tx, org, ref)
	if err != nil {
		return nil, err
	}
	one := []Invoice{*v}
	err = loadLineItems(ctx, tx, org, one)
	return &one[0], err
}

// saveAndIndex computes what follows from the other fields, and writes the row back.
func (v *Invoice) saveAndIndex(ctx context.Context, c *op.Call) error {
	v.UpdatedAt = c.Now
	v.fillComputed()
	v.Search = v.searchWords()
	return invoices.Save(ctx, c.Tx, v)
}

type invoiceUpdate struct {
	invoiceRef
	CustomerID op.Optional[id.ID]            `json:"customerId" ref:"customers"`
	LineItems  op.Optional[[]lineItemFields] `json:"lineItems"`
	invoiceFields
}

// Prepare prices the lines.
func (in *invoiceUpdate) Prepare(context.Context, *op.Call) error {
	return in.prepareAmounts(in.LineItems.Value)
}

func updateInvoice(ctx context.Context, c *op.Call, in invoiceUpdate) (*Invoice, error) {
	v, err := lockInvoice(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Status != statusDraft {
		return nil, NotDraft.New()
	}
	changed := false
	if to := in.CustomerID; to.Set && (v.CustomerID == nil || *v.CustomerID != to.Value) {
		billing, err := customer.BillingOf(ctx, c.Tx, c.Org, to.Value)
		if errors.Is(err, db.ErrNoRow) {
			return nil, op.NoSuchReference("customerId")
		}
		if err != nil {
			return nil, err
		}
		v.CustomerID, changed = &to.Value, true
		v.fillBillTo(billing, &in.invoiceFields)
	}
	currency := v.Currency
	changed = v.applyFields(in.invoiceFields) || changed
	replace := in.LineItems.Set && !v.hasSameLineItems(in.LineItems.Value)
	if !changed && !replace {
		return v, nil
	}
	if err := v.changeLineItems(ctx, c, in.LineItems.Value, replace, v.Currency != currency); err != nil {
		return nil, err
	}
	if err := v.saveAndIndex(ctx, c); err != nil {
		return nil, err
	}
	return v, c.Emit("invoice.updated", v.ID, v)
}

// changeLineItems replaces the lines or gives them the invoice's new currency, and computes the
// totals again.
func (v *Invoice) changeLineItems(
	ctx context.Context, c *op.Call, lines []lineItemFields, replace, newCurrency bool,
) error {
	if replace {
		v.setLineItems(c, lines)
	}
	if err := v.computeTotals(); err != nil {
		return err
	}
	switch {
	case replace:
		if err := v.removeLineItems(ctx, c); err != nil {
			return err
		}
		return v.insertLineItems(ctx, c)
	case newCurrency:
		return v.setLineCurrency(ctx, c)
	}
	return nil
}

func deleteInvoice(ctx context.Context, c *op.Call, in invoiceRef) (op.Nothing, error) {
	v, err := lockInvoice(ctx, c, in.ID)
	if err != nil {
		return op.Nothing{}, err
	}
	if v.Status != statusDraft {
		return op.Nothing{}, NotDraft.New()
	}
	if _, err := invoices.SoftDelete(ctx, c.Tx, c.Org, v.ID, c.Now); err != nil {
		return op.Nothing{}, err
	}
	v.DeletedAt, v.UpdatedAt = &c.Now, c.Now
	return op.Nothing{}, c.Emit("invoice.deleted", v.ID, v)
}

// showRestored fills in the lines of a restored invoice, for the answer.
func showRestored(ctx context.Context, c *op.Call, v *Invoice, _ bool) error {
	one := []Invoice{*v}
	if err := loadLineItems(ctx, c.Tx, c.Org, one); err != nil {
		return err
	}
	*v = one[0]
	return nil
}
