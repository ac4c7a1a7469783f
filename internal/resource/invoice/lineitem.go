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

// LineItem is one thing that an invoice asks money for.
type LineItem struct {
	op.Record
	InvoiceID       id.ID  `json:"invoiceId"`
	Description     string `json:"description" max:"10000"`
	Quantity        string `json:"quantity" doc:"a decimal, written without zeros that say nothing"`
	UnitAmountCents int64  `json:"unitAmountCents" doc:"in the currency's smallest unit; negative is a discount"`
	AmountCents     int64  `json:"amountCents" doc:"quantity times unitAmountCents, rounded half away from zero"`
	Currency        string `json:"currency"`
	Position        int    `json:"position" doc:"counts from 0"`
}

var lineItems = db.NewTable[LineItem]("invoice_line_items", "line item")

// maxCents bounds every amount of an invoice: far above any that is meant, and
// small enough that all sums are exact, here and in a client's floating point.
const maxCents = 99_999_999_999_999

type lineItemFields struct {
	Description     string  `json:"description" min:"1" max:"10000"`
	Quantity        *string `json:"quantity" doc:"a decimal of at most 12 digits before the point and 6 after it, by default 1"`
	UnitAmountCents int64   `json:"unitAmountCents" min:"-99999999999999" max:"99999999999999" doc:"in the currency's smallest unit; negative is a discount"`

	quantity string
	amount   int64
}

// Exponents, signs and more digits are refused before any arithmetic, which
// would take them and round or wrap without a word.
var quantityForm = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,6})?$`)

// price reads the quantity and works the amount out, exactly.
func (f *lineItemFields) price() (field, issue string) {
	text := "1"
	if f.Quantity != nil {
		text = *f.Quantity
	}
	if !quantityForm.MatchString(text) {
		return "quantity", "Invalid quantity; write a decimal like 2 or 1.5, with at most 12 digits before the point and 6 after it"
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
	return "", ""
}

// priceAll prices the lines and sums them up.
func priceAll(lines []lineItemFields) (total int64, err error) {
	var tree *fault.Tree
	for i := range lines {
		if field, issue := lines[i].price(); issue != "" {
			tree = tree.At([]any{"lineItems", i, field}, issue)
		}
		total += lines[i].amount // at most 100 of them: it cannot wrap
	}
	if tree != nil {
		tree.Properties["lineItems"] = tree.Properties["lineItems"].Sized(len(lines))
		return 0, tree.Fault(fault.Invalid)
	}
	switch {
	case total < 0:
		return 0, fault.Field("lineItems", "The total is negative; a discount may be as large as what it is taken from")
	case total > maxCents:
		return 0, fault.Field("lineItems", fmt.Sprintf("The total is too large; it must be at most %d", maxCents))
	}
	return total, nil
}

// setLines adds the lines to an invoice that has none.
func (v *Invoice) setLines(ctx context.Context, c *op.Call, lines []lineItemFields) error {
	v.LineItems = make([]LineItem, len(lines))
	for i, f := range lines {
		v.LineItems[i] = LineItem{Record: c.NewRecord(), InvoiceID: v.ID, Description: f.Description, Quantity: f.quantity,
			UnitAmountCents: f.UnitAmountCents, AmountCents: f.amount, Currency: v.Currency, Position: i}
		if err := lineItems.Insert(ctx, c.Tx, &v.LineItems[i]); err != nil {
			return err
		}
	}
	return nil
}

// hasLines reports whether an invoice says the same already.
func (v *Invoice) hasLines(lines []lineItemFields) bool {
	if len(lines) != len(v.LineItems) {
		return false
	}
	for i, f := range lines {
		if l := v.LineItems[i]; l.Description != f.Description || l.Quantity != f.quantity || l.UnitAmountCents != f.UnitAmountCents {
			return false
		}
	}
	return true
}

// removeLines soft-deletes the lines.
func (v *Invoice) removeLines(ctx context.Context, c *op.Call) error {
	_, err := db.Exec(ctx, c.Tx, "UPDATE invoice_line_items SET deleted_at = $3, updated_at = $3 WHERE organization_id = $1 AND invoice_id = $2 AND deleted_at IS NULL", c.Org, v.ID, c.Now)
	return err
}

// convertLines follows a change of the invoice's currency.
func (v *Invoice) convertLines(ctx context.Context, c *op.Call) error {
	for i := range v.LineItems {
		v.LineItems[i].Currency, v.LineItems[i].UpdatedAt = v.Currency, c.Now
	}
	_, err := db.Exec(ctx, c.Tx, "UPDATE invoice_line_items SET currency = $3, updated_at = $4 WHERE organization_id = $1 AND invoice_id = $2 AND deleted_at IS NULL", c.Org, v.ID, v.Currency, c.Now)
	return err
}

// load fills in the lines of a page of invoices, in one statement, and what is
// derived.
func load(ctx context.Context, tx *db.Tx, org id.ID, rows []Invoice) error {
	at := map[id.ID]*Invoice{}
	var parents []id.ID
	for i := range rows {
		v := &rows[i]
		v.derive()
		v.LineItems = []LineItem{}
		at[v.ID] = v
		parents = append(parents, v.ID)
	}
	if len(parents) == 0 {
		return nil
	}
	lines, err := db.All[LineItem](ctx, tx, "SELECT "+lineItems.Columns()+" FROM invoice_line_items WHERE organization_id = $1 AND invoice_id = ANY($2) AND deleted_at IS NULL ORDER BY invoice_id, position", org, parents)
	if err != nil {
		return err
	}
	for _, l := range lines {
		at[l.InvoiceID].LineItems = append(at[l.InvoiceID].LineItems, l)
	}
	return nil
}
