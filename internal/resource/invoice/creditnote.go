package invoice

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/customer"
)

// CreditNote takes back an issued invoice, all of it or a part. It never changes after it is
// written.
type CreditNote struct {
	op.Record
	InvoiceID        id.ID            `json:"invoiceId"`
	BusinessID       id.ID            `json:"businessId"`
	CreditNoteNumber string           `json:"creditNoteNumber" doc:"per business and without gaps"`
	Currency         string           `json:"currency"`
	Reason           *string          `json:"reason" max:"10000"`
	PricesIncludeTax bool             `json:"pricesIncludeTax"`
	SubtotalCents    int64            `json:"subtotalCents" doc:"sum of the lines"`
	DiscountCents    int64            `json:"discountCents" doc:"the part of the invoice's discount"`
	TaxCents         int64            `json:"taxCents" db:"-" doc:"sum of the taxes"`
	Taxes            []Tax            `json:"taxes"`
	TotalCents       int64            `json:"totalCents" doc:"what is credited"`
	LineItems        []CreditNoteLine `json:"lineItems"`
}

var creditNotes = op.NewNested[CreditNote]("invoice_credit_notes", db.Life{
	Noun:         "credit note",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("invoice_id", "invoices", db.EndsAtPurge), // only drafts can be deleted, and they have none
	Refs:         []db.Ref{db.RefTo("business_id", "businesses", db.Keeps)},
	Permanent:    true,
})

// maxCreditNotes bounds the credit notes of an invoice, because each new one
// reads all earlier ones.
const maxCreditNotes = 100

// The refusals of credit notes.
var (
	NotCreditable = fault.DefineKind("INVOICE_NOT_CREDITABLE", 409, "A draft or void invoice cannot be credited.")
	NothingLeft   = fault.DefineKind("CREDIT_EXCEEDS_BALANCE", 422, "There is nothing left to credit.")
	TooManyNotes  = fault.DefineKind("CREDIT_NOTE_LIMIT_REACHED", 409, "An invoice has at most 100 credit notes.")
)

func creditNoteOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{
			Name:      "invoices.credit_notes.list",
			NounWords: "credit, correction",
			Route:     "GET /v1/invoices/{id}/credit-notes",
			Summary:   "List an invoice's credit notes, newest first.",
			Example:   `{"id": ` + exampleID + `}`,
		}, listCreditNotes),
		op.Write(op.Spec{
			Name: "invoices.credit_notes.create",
			Words: "take off, went out, line off, discount afterwards, reduce, already sent, complaint, rebate, " +
				"too much",
			Route:   "POST /v1/invoices/{id}/credit-notes",
			Summary: "Credit an issued invoice: all that is left of it, an amount, or some lines.",
			Description: "Without lineItems and amountCents, all that is left is credited, whether it was paid or " +
				"not. amountCents is credited of all lines in proportion. Discount and tax follow in proportion. A " +
				"credit in the customer's ledger takes it back, and less is due; an invoice of which nothing is due " +
				"is paid. What was paid before can be refunded: the invoice's amountToRefundCents says how much.",
			Errors:  []*fault.Kind{NotCreditable, NothingLeft, TooManyNotes},
			Events:  []string{"invoice.credit_note.created"},
			Example: `{"id": ` + exampleID + `, "reason": "Returned"}`,
		}, createCreditNote),
		op.GetChild(op.Spec{Name: "invoices.credit_notes.get"}, creditNotes,
			func(_ context.Context, _ *op.Call, n *CreditNote) error {
				n.fillComputed()
				return nil
			}),
	}
}

// fillComputed fills in the fields that are not stored.
func (n *CreditNote) fillComputed() {
	n.TaxCents = 0
	for _, t := range n.Taxes {
		n.TaxCents += t.AmountCents
	}
}

type creditNoteList struct {
	op.Page
	ID id.ID `path:"id" doc:"the invoice"`
}

func listCreditNotes(ctx context.Context, c *op.Call, in creditNoteList) (*op.List[CreditNote], error) {
	out, err := creditNotes.List(ctx, c, in.ID, in.Page)
	if err != nil {
		return nil, err
	}
	for i := range out.Data {
		out.Data[i].fillComputed()
	}
	return out, nil
}

type creditNoteRef struct {
	ID           id.ID `path:"id" doc:"the invoice"`
	CreditNoteID id.ID `path:"creditNoteId"`
}

type creditNoteCreate struct {
	ID        id.ID                           `path:"id" doc:"the invoice"`
	LineItems op.Optional[[]creditLineFields] `json:"lineItems" min:"1" doc:"by default all that is left of every line"`
	Reason    *string                         `json:"reason" max:"10000"`

	AmountCents *int64 `json:"amountCents" min:"1" max:"99999999999999" doc:"with tax; in place of lineItems"`
}

// Prepare parses the quantities.
func (in *creditNoteCreate) Prepare(context.Context, *op.Call) error {
	var tree *fault.Tree
	if in.LineItems.Set && in.AmountCents != nil {
		return fault.Field("amountCents", "Give either lineItems or amountCents")
	}
	for i := range in.LineItems.Value {
		if field, issue := in.LineItems.Value[i].parseQuantity(); issue != "" {
			tree = tree.At([]any{"lineItems", i, field}, issue)
		}
	}
	if tree != nil {
		tree.Properties["lineItems"] = tree.Properties["lineItems"].PadItems(len(in.LineItems.Value))
	}
	return tree.Fault(fault.Invalid)
}

// createCreditNote credits some lines, an amount, or all that is left.
func createCreditNote(ctx context.Context, c *op.Call, in creditNoteCreate) (*CreditNote, error) {
	v, err := lockInvoice(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Status == statusDraft || v.Status == statusVoid {
		return nil, NotCreditable.Say("A %s invoice cannot be credited.", v.Status)
	}
	earlier, err := db.QueryAll[CreditNote](ctx, c.Tx, "SELECT "+creditNotes.Rows.Columns()+` FROM invoice_credit_notes
		WHERE organization_id = $1 AND invoice_id = $2 AND deleted_at IS NULL`, c.Org, v.ID)
	if err != nil {
		return nil, err
	}
	if len(earlier) >= maxCreditNotes {
		return nil, TooManyNotes.New()
	}
	n := &CreditNote{Record: c.NewRecord(), InvoiceID: v.ID, BusinessID: v.BusinessID, Currency: v.Currency,
		Reason: in.Reason, PricesIncludeTax: v.PricesIncludeTax}
	before := sumCredited(earlier)
	left := v.TotalAmountCents - v.AmountCreditedCents
	groups := v.chargedGroups(earlier)
	n.LineItems = v.creditRemaining(before)
	switch {
	case in.LineItems.Set:
		if n.LineItems, err = v.creditLines(before, in.LineItems.Value); err != nil {
			return nil, err
		}
	case in.AmountCents != nil && *in.AmountCents > left:
		return nil, v.nothingLeftFault(*in.AmountCents, left)
	case in.AmountCents != nil && *in.AmountCents < left:
		n.LineItems = v.spreadCredit(groups, before, *in.AmountCents)
	}
	if err := n.computeTotals(v, groups, before); err != nil {
		return nil, err
	}
	if n.TotalCents <= 0 || n.TotalCents > left {
		return nil, v.nothingLeftFault(n.TotalCents, left)
	}
	if n.CreditNoteNumber, err = creditNoteNumbers.takeNextNumber(ctx, c, v.BusinessID); err != nil {
		return nil, err
	}
	if err := creditNotes.Rows.Insert(ctx, c.Tx, n); err != nil {
		return nil, err
	}
	v.AmountCreditedCents += n.TotalCents
	v.Status = v.currentStatus()
	if err := v.saveAndIndex(ctx, c); err != nil {
		return nil, err
	}
	if err := v.enterLedger(ctx, c, customer.Transaction{Type: customer.TypeCredit, AmountCents: n.TotalCents,
		OccurredAt: c.Now, CreditNoteID: &n.ID}, "Credit note "+n.CreditNoteNumber+" for invoice %s"); err != nil {
		return nil, err
	}
	return n, c.Emit("invoice.credit_note.created", n.ID, n)
}

// nothingLeftFault refuses a credit note that comes to nothing, or to more than what is left.
func (v *Invoice) nothingLeftFault(amount, left int64) error {
	f := NothingLeft.Say("The credit note comes to %s, and %s is left to credit.",
		locale.AmountWithCode(amount, v.Currency), locale.AmountWithCode(left, v.Currency))
	f.Details = map[string]int64{"creditableCents": left}
	return f
}
