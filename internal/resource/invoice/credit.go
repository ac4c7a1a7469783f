package invoice

import (
	"fmt"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// This file has the arithmetic of credit notes.
//
// A credit note takes back a part of some lines. Discount and tax follow in
// proportion, and are computed from the sum of all credit notes so far: what
// this one has is that sum less what the earlier ones had. So rounding never
// adds up, and once all lines are taken back exactly nothing is left.

// CreditNoteLine is what a credit note takes back of one line item.
type CreditNoteLine struct {
	LineItemID  id.ID   `json:"lineItemId" doc:"the line item of the invoice"`
	Description string  `json:"description" max:"10000"`
	Quantity    *string `json:"quantity" doc:"null if only an amount was credited"`
	AmountCents int64   `json:"amountCents" doc:"before the invoice's discount; before tax unless prices include it"`
	TaxRate     *string `json:"taxRate"`
	TaxName     *string `json:"taxName" max:"100"`
}

type creditLineFields struct {
	LineItemID  id.ID   `json:"lineItemId" ref:"invoices" doc:"a line item of the invoice"`
	Quantity    *string `json:"quantity" doc:"how much of it; or amountCents. Without both, all that is left"`
	AmountCents *int64  `json:"amountCents" min:"1" max:"99999999999999" doc:"of the line's amount after its discount"`

	quantity int64 // in millionths
}

// parse reads the quantity.
func (f *creditLineFields) parse() (field, issue string) {
	if f.Quantity == nil {
		return "", ""
	}
	if f.AmountCents != nil {
		return "amountCents", "Give either quantity or amountCents"
	}
	if !quantityForm.MatchString(*f.Quantity) || strings.Trim(*f.Quantity, "0.") == "" {
		return "quantity", "Invalid quantity; write a decimal above 0 like 2 or 1.5"
	}
	f.quantity = millionths(*f.Quantity)
	return "", ""
}

// millionths reads a quantity, which has at most 18 digits.
func millionths(quantity string) int64 {
	whole, fraction, _ := strings.Cut(quantity, ".")
	n, err := strconv.ParseInt(whole+(fraction + "000000")[:6], 10, 64)
	if err != nil {
		panic(fmt.Sprintf("invoice: quantity %q", quantity)) // quantityForm was checked
	}
	return n
}

func decimalOf(millionths int64) string {
	text := fmt.Sprintf("%d.%06d", millionths/1e6, millionths%1e6)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// credited is how much of a line was taken back.
type credited struct{ cents, quantity int64 }

// creditedOf adds up earlier credit notes by line.
func creditedOf(notes []CreditNote) map[id.ID]credited {
	out := map[id.ID]credited{}
	for _, n := range notes {
		for _, l := range n.LineItems {
			c := out[l.LineItemID]
			c.cents += l.AmountCents
			if l.Quantity != nil {
				c.quantity += millionths(*l.Quantity)
			}
			out[l.LineItemID] = c
		}
	}
	return out
}

// creditAll takes back all that is left of every line.
func (v *Invoice) creditAll(before map[id.ID]credited) (lines []CreditNoteLine) {
	for i := range v.LineItems {
		l := &v.LineItems[i]
		if was := before[l.ID]; l.net() != was.cents {
			lines = append(lines, l.credit(l.net()-was.cents, millionths(l.Quantity)-was.quantity))
		}
	}
	return lines
}

func (l *LineItem) credit(cents, quantity int64) CreditNoteLine {
	out := CreditNoteLine{LineItemID: l.ID, Description: l.Description, AmountCents: cents, TaxRate: l.TaxRate,
		TaxName: l.TaxName}
	if quantity > 0 {
		text := decimalOf(quantity)
		out.Quantity = &text
	}
	return out
}

// creditLines takes back what was asked for.
func (v *Invoice) creditLines(before map[id.ID]credited, asked []creditLineFields) ([]CreditNoteLine, error) {
	var tree *fault.Tree
	var lines []CreditNoteLine
	seen := map[id.ID]bool{}
	for i := range asked {
		f := &asked[i]
		l := v.line(f.LineItemID)
		field, issue := "lineItemId", ""
		switch {
		case l == nil:
			issue = "There is no such line item in the invoice"
		case seen[l.ID]:
			issue = "This line item is named twice"
		case l.net() < 0:
			issue = "This line item lowers the others; credit those, with amountCents"
		default:
			seen[l.ID] = true
			var line CreditNoteLine
			if line, field, issue = f.take(l, before[l.ID]); issue == "" {
				lines = append(lines, line)
			}
		}
		if issue != "" {
			tree = tree.At([]any{"lineItems", i, field}, issue)
		}
	}
	if tree != nil {
		tree.Properties["lineItems"] = tree.Properties["lineItems"].Sized(len(asked))
	}
	return lines, tree.Fault(fault.Invalid)
}

func (v *Invoice) line(ref id.ID) *LineItem {
	for i := range v.LineItems {
		if v.LineItems[i].ID == ref {
			return &v.LineItems[i]
		}
	}
	return nil
}

// take computes what a line of a credit note comes to.
func (f *creditLineFields) take(l *LineItem, was credited) (line CreditNoteLine, field, issue string) {
	left, whole := l.net()-was.cents, millionths(l.Quantity)
	leftQuantity := max(0, whole-was.quantity)
	switch {
	case left == 0:
		return line, "lineItemId", "Nothing is left to credit of this line item"
	case f.AmountCents != nil:
		if *f.AmountCents > left {
			return line, "amountCents", fmt.Sprintf("Too large: %d is left to credit of this line item", left)
		}
		return l.credit(*f.AmountCents, 0), "", ""
	case f.Quantity == nil, f.quantity == leftQuantity: // the last unit takes what is left
		return l.credit(left, leftQuantity), "", ""
	case f.quantity > leftQuantity:
		return line, "quantity", "Too large: " + decimalOf(leftQuantity) + " is left to credit of this line item"
	}
	cents := share(l.net(), was.quantity+f.quantity, whole) - share(l.net(), was.quantity, whole)
	if cents > left {
		return line, "quantity", fmt.Sprintf("Too large: %d is left to credit of this line item, and this quantity "+
			"comes to %d", left, cents)
	}
	return l.credit(cents, f.quantity), "", ""
}

// total fills in what follows from the lines of a credit note. before is what
// earlier ones took back of each line.
func (n *CreditNote) total(v *Invoice, before map[id.ID]credited) error {
	taken := map[tax]int64{}
	for _, l := range n.LineItems {
		taken[v.line(l.LineItemID).tax()] += l.AmountCents
	}
	earlier := map[tax]int64{}
	for i := range v.LineItems {
		l := &v.LineItems[i]
		earlier[l.tax()] += before[l.ID].cents
	}
	n.Taxes = []Tax{}
	for _, g := range v.chargedGroups() {
		from, to := earlier[g.tax], earlier[g.tax]+taken[g.tax]
		if to < 0 || to > g.net {
			return fault.Field("lineItems", fmt.Sprintf("Too large: %d is left to credit of the line items with this "+
				"tax, because others lower them", g.net-from))
		}
		rest, tax := g.at(to)
		restBefore, taxBefore := g.at(from)
		rest, tax = rest-restBefore, tax-taxBefore
		n.SubtotalCents += to - from
		n.DiscountCents += to - from - rest
		n.TotalCents += rest
		if g.tax.rate == "" || to == from {
			continue
		}
		t := Tax{Rate: g.tax.rate, BaseCents: rest, AmountCents: tax}
		if g.tax.name != "" {
			t.Name = &g.tax.name
		}
		if v.PricesIncludeTax {
			t.BaseCents -= tax
		} else {
			n.TotalCents += tax
		}
		n.Taxes = append(n.Taxes, t)
	}
	n.derive()
	return nil
}

// chargedGroup is a group with the tax that an issued invoice charges for it.
// The invoice tells it, so that no later change of a rule does.
type chargedGroup struct {
	group
	after int64 // what the lines cost after all discounts
	due   int64 // the tax
}

func (v *Invoice) chargedGroups() (out []chargedGroup) {
	charged := map[tax]Tax{}
	untaxed := v.TotalAmountCents
	for _, t := range v.Taxes {
		key := tax{rate: t.Rate}
		if t.Name != nil {
			key.name = *t.Name
		}
		charged[key] = t
		untaxed -= t.BaseCents + t.AmountCents
	}
	for _, g := range groupLines(v.LineItems) {
		t := charged[g.tax]
		c := chargedGroup{group: g, after: t.BaseCents, due: t.AmountCents}
		switch {
		case g.tax.rate == "":
			c.after = untaxed
		case v.PricesIncludeTax:
			c.after += t.AmountCents
		}
		out = append(out, c)
	}
	return out
}

// at is what belongs to so much of the group's lines: their cost after all
// discounts, and the tax. Both grow with cents and end at the whole.
func (g *chargedGroup) at(cents int64) (rest, tax int64) {
	if g.net > 0 {
		rest = share(g.after, cents, g.net)
	}
	if g.after > 0 {
		tax = share(g.due, rest, g.after)
	}
	return rest, tax
}
