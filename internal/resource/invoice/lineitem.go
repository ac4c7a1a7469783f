package invoice

import (
	"context"
	"fmt"
	"regexp"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/shopspring/decimal"
)

// LineItem is one thing that an invoice charges for.
type LineItem struct {
	op.Record
	InvoiceID       id.ID  `json:"invoiceId"`
	Description     string `json:"description" max:"10000"`
	Quantity        string `json:"quantity" doc:"a decimal without trailing zeros"`
	UnitAmountCents int64  `json:"unitAmountCents" doc:"in the currency's smallest unit; negative is a discount"`
	AmountCents     int64  `json:"amountCents" doc:"quantity times unitAmountCents, rounded half away from zero"`
	Currency        string `json:"currency"`
	Position        int    `json:"position" doc:"starts at 0"`

	TaxRate         *string `json:"taxRate" doc:"per cent; null is no tax"`
	TaxName         *string `json:"taxName" max:"100"`
	DiscountPercent *string `json:"discountPercent" doc:"null unless it was given in per cent"`
	DiscountCents   int64   `json:"discountCents" doc:"taken from amountCents"`
}

var lineItems = db.NewTable[LineItem]("invoice_line_items", db.Life{
	Noun:         "line item",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("invoice_id", "invoices"),
})

// maxCents bounds every amount of an invoice: far above any real one, and small
// enough that all sums are exact, here and in a client's floating point.
const maxCents = 99_999_999_999_999

type lineItemFields struct {
	Description     string  `json:"description" min:"1" max:"10000"`
	Quantity        *string `json:"quantity" format:"decimal" doc:"12 digits before the point, 6 after; default 1"`
	UnitAmountCents int64   `json:"unitAmountCents" min:"-99999999999999" max:"99999999999999" doc:"negative: discount"`
	TaxRate         *string `json:"taxRate" format:"decimal" doc:"per cent, 0 to 100, like 20 or 7.5; null is no tax"`
	TaxName         *string `json:"taxName" min:"1" max:"100" doc:"as the invoice shall call the tax: VAT"`
	DiscountPercent *string `json:"discountPercent" format:"decimal" doc:"of this line, 0 to 100; or discountCents"`
	DiscountCents   *int64  `json:"discountCents" min:"0" max:"99999999999999" doc:"of this line, at most its amount"`

	quantity string // what computeAmount made of the fields above
	amount   int64
	discount int64
}

// quantityForm refuses exponents, signs and extra digits before any arithmetic, which would
// accept them and silently round or overflow.
var quantityForm = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,6})?$`)

// computeAmount parses the quantity and the percentages, and computes the amount of the line. field
// and issue say what is wrong; issue is empty if nothing is.
func (f *lineItemFields) computeAmount() (field, issue string) {
	text := "1"
	if f.Quantity != nil {
		text = *f.Quantity
	}
	if !quantityForm.MatchString(text) {
		return "quantity",
			"Invalid quantity; write a decimal like 2 or 1.5, with at most 12 digits before the point and 6 after it"
	}
	q, err := decimal.NewFromString(text)
	if err != nil {
		return "quantity", "Invalid quantity; write a decimal like 2 or 1.5"
	}
	amount := q.Mul(decimal.NewFromInt(f.UnitAmountCents)).Round(0)
	if amount.Abs().GreaterThan(decimal.NewFromInt(maxCents)) {
		return "unitAmountCents", fmt.Sprintf("Too large: quantity times unitAmountCents must be at most %d", maxCents)
	}
	f.quantity, f.amount = q.String(), amount.IntPart()
	if field, issue = f.parseTaxRate(); issue == "" {
		field, issue = f.computeDiscount()
	}
	return field, issue
}

// parseTaxRate checks the tax rate and writes it without trailing zeros.
func (f *lineItemFields) parseTaxRate() (field, issue string) {
	if f.TaxRate == nil {
		if f.TaxName != nil {
			return "taxName", "A taxName needs a taxRate; for no tax, leave out both"
		}
		return "", ""
	}
	rate, ok := parsePercent(*f.TaxRate)
	if !ok {
		return "taxRate", percentIssue
	}
	text := rate.String()
	f.TaxRate = &text
	return "", ""
}

// computeDiscount computes the line's own discount, which is given in per cent or in cents.
func (f *lineItemFields) computeDiscount() (field, issue string) {
	const negative = "A line with a negative amount takes no discount"
	switch {
	case f.DiscountPercent != nil && f.DiscountCents != nil:
		return "discountCents", "Give either discountPercent or discountCents"
	case f.DiscountPercent != nil:
		p, ok := parsePercent(*f.DiscountPercent)
		if !ok {
			return "discountPercent", percentIssue
		}
		if f.amount < 0 {
			return "discountPercent", negative
		}
		text := p.String()
		f.DiscountPercent, f.discount = &text, p.ofCents(f.amount)
	case f.DiscountCents != nil && *f.DiscountCents > 0:
		if f.amount < 0 {
			return "discountCents", negative
		}
		if f.discount = *f.DiscountCents; f.discount > f.amount {
			return "discountCents", "Too large: more than the amount of this line"
		}
	}
	return "", ""
}

// computeLineAmounts computes the amounts of the lines, each by itself. Invoice.computeTotals adds them
// up.
func computeLineAmounts(lines []lineItemFields) error {
	var tree *fault.Tree
	for i := range lines {
		if field, issue := lines[i].computeAmount(); issue != "" {
			tree = tree.At([]any{"lineItems", i, field}, issue)
		}
	}
	if tree == nil {
		return nil
	}
	tree.Properties["lineItems"] = tree.Properties["lineItems"].PadItems(len(lines))
	return tree.Fault(fault.Invalid)
}

// setLineItems gives an invoice its lines. insertLineItems stores them.
func (v *Invoice) setLineItems(c *op.Call, lines []lineItemFields) {
	v.LineItems = make([]LineItem, len(lines))
	for i, f := range lines {
		v.LineItems[i] = LineItem{
			Record:          c.NewRecord(),
			InvoiceID:       v.ID,
			Description:     f.Description,
			Quantity:        f.quantity,
			UnitAmountCents: f.UnitAmountCents,
			AmountCents:     f.amount,
			Currency:        v.Currency,
			Position:        i,
			TaxRate:         f.TaxRate,
			TaxName:         f.TaxName,
			DiscountPercent: f.DiscountPercent,
			DiscountCents:   f.discount,
		}
	}
}

func (v *Invoice) insertLineItems(ctx context.Context, c *op.Call) error {
	for i := range v.LineItems {
		if err := lineItems.Insert(ctx, c.Tx, &v.LineItems[i]); err != nil {
			return err
		}
	}
	return nil
}

// hasSameLineItems reports whether an invoice already has exactly these lines.
func (v *Invoice) hasSameLineItems(lines []lineItemFields) bool {
	if len(lines) != len(v.LineItems) {
		return false
	}
	for i, f := range lines {
		l := v.LineItems[i]
		if l.Description != f.Description || l.Quantity != f.quantity || l.UnitAmountCents != f.UnitAmountCents ||
			l.DiscountCents != f.discount || !sameText(l.DiscountPercent, f.DiscountPercent) ||
			!sameText(l.TaxRate, f.TaxRate) || !sameText(l.TaxName, f.TaxName) {
			return false
		}
	}
	return true
}

func sameText(a, b *string) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// removeLineItems soft-deletes the lines.
func (v *Invoice) removeLineItems(ctx context.Context, c *op.Call) error {
	_, err := db.Exec(ctx, c.Tx, `
		UPDATE invoice_line_items
		SET deleted_at = $3, updated_at = $3
		WHERE organization_id = $1 AND invoice_id = $2 AND deleted_at IS NULL`, c.Org, v.ID, c.Now)
	return err
}

// setLineCurrency gives the lines the currency of the invoice. The amounts stay as they are.
func (v *Invoice) setLineCurrency(ctx context.Context, c *op.Call) error {
	for i := range v.LineItems {
		v.LineItems[i].Currency, v.LineItems[i].UpdatedAt = v.Currency, c.Now
	}
	_, err := db.Exec(ctx, c.Tx, `
		UPDATE invoice_line_items
		SET currency = $3, updated_at = $4
		WHERE organization_id = $1 AND invoice_id = $2 AND deleted_at IS NULL`, c.Org, v.ID, v.Currency, c.Now)
	return err
}

// loadLineItems fills in the lines of a page of invoices, with one statement for all of them, and the
// computed fields.
func loadLineItems(ctx context.Context, tx *db.Tx, org id.ID, rows []Invoice) error {
	at := map[id.ID]*Invoice{}
	var parents []id.ID
	for i := range rows {
		v := &rows[i]
		v.fillComputed()
		v.LineItems = []LineItem{}
		at[v.ID] = v
		parents = append(parents, v.ID)
	}
	if len(parents) == 0 {
		return nil
	}
	lines, err := db.QueryAll[LineItem](ctx, tx, "SELECT "+lineItems.Columns()+` FROM invoice_line_items
		WHERE organization_id = $1 AND invoice_id = ANY($2) AND deleted_at IS NULL
		ORDER BY invoice_id, position`, org, parents)
	if err != nil {
		return err
	}
	for _, l := range lines {
		at[l.InvoiceID].LineItems = append(at[l.InvoiceID].LineItems, l)
	}
	return nil
}
