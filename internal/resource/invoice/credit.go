package invoice

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/locale"
)

// This file has the arithmetic of credit notes.
//
// A credit note takes back a part of some lines. Discount and tax follow in
// proportion. They are computed for all credit notes of the invoice together,
// and this one gets the sum less what the earlier ones had. So rounding errors
// do not add up, and once all lines are taken back exactly nothing is left. When
// a caller asks for an amount that no part of the lines comes to, because of
// rounding, the tax is a cent more or less.

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
	Quantity    *string `json:"quantity" format:"decimal" doc:"or amountCents; without both, all that is left"`
	AmountCents *int64  `json:"amountCents" min:"1" max:"99999999999999" doc:"of the line's amount after its discount"`

	quantity int64 // in millionths
}

// parseQuantity reads the quantity, and returns the field and the issue if something is wrong.
func (f *creditLineFields) parseQuantity() (field, issue string) {
	if f.Quantity == nil {
		return "", ""
	}
	if f.AmountCents != nil {
		return "amountCents", "Give either quantity or amountCents"
	}
	if !quantityForm.MatchString(*f.Quantity) || strings.Trim(*f.Quantity, "0.") == "" {
		return "quantity", "Invalid quantity; write a decimal above 0 like 2 or 1.5"
	}
	f.quantity = toMillionths(*f.Quantity)
	return "", ""
}

// toMillionths reads a quantity, which has at most 12 digits before the point and 6 after it, so
// it fits an int64.
func toMillionths(quantity string) int64 {
	whole, fraction, _ := strings.Cut(quantity, ".")
	n, err := strconv.ParseInt(whole+(fraction + "000000")[:6], 10, 64)
	if err != nil {
		panic(fmt.Sprintf("invoice: quantity %q", quantity)) // cannot fail: quantityForm was checked
	}
	return n
}

// formatMillionths writes a quantity without trailing zeros.
func formatMillionths(millionths int64) string {
	text := fmt.Sprintf("%d.%06d", millionths/1e6, millionths%1e6)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// creditedPart is how much of a line earlier credit notes took back. A note that credits an amount
// has no quantity.
type creditedPart struct{ cents, quantity int64 }

// sumCredited adds up earlier credit notes by line item.
func sumCredited(notes []CreditNote) map[id.ID]creditedPart {
	out := map[id.ID]creditedPart{}
	for _, n := range notes {
		for _, l := range n.LineItems {
			c := out[l.LineItemID]
			c.cents += l.AmountCents
			if l.Quantity != nil {
				c.quantity += toMillionths(*l.Quantity)
			}
			out[l.LineItemID] = c
		}
	}
	return out
}

// creditRemaining takes back all that is left of every line.
func (v *Invoice) creditRemaining(before map[id.ID]creditedPart) (lines []CreditNoteLine) {
	lines = []CreditNoteLine{}
	for i := range v.LineItems {
		l := &v.LineItems[i]
		if was := before[l.ID]; l.netCents() != was.cents {
			lines = append(lines, l.creditLine(l.netCents()-was.cents, toMillionths(l.Quantity)-was.quantity))
		}
	}
	return lines
}

// creditLine is a line of a credit note for this line item. Without a quantity it only has an
// amount.
func (l *LineItem) creditLine(cents, quantity int64) CreditNoteLine {
	out := CreditNoteLine{LineItemID: l.ID, Description: l.Description, AmountCents: cents, TaxRate: l.TaxRate,
		TaxName: l.TaxName}
	if quantity > 0 {
		text := formatMillionths(quantity)
		out.Quantity = &text
	}
	return out
}

// creditLines takes back what was asked for, line by line.
func (v *Invoice) creditLines(before map[id.ID]creditedPart, asked []creditLineFields) ([]CreditNoteLine, error) {
	var tree *fault.Tree
	var lines []CreditNoteLine
	seen := map[id.ID]bool{}
	for i := range asked {
		f := &asked[i]
		l := v.findLine(f.LineItemID)
		field, issue := "lineItemId", ""
		switch {
		case l == nil:
			issue = "There is no such line item in the invoice"
		case seen[l.ID]:
			issue = "This line item is named twice"
		case l.netCents() < 0:
			issue = "This line item lowers the others; credit those, with amountCents"
		default:
			seen[l.ID] = true
			var line CreditNoteLine
			if line, field, issue = f.computeLine(l, before[l.ID], v.Currency); issue == "" {
				lines = append(lines, line)
			}
		}
		if issue != "" {
			tree = tree.At([]any{"lineItems", i, field}, issue)
		}
	}
	if tree != nil {
		tree.Properties["lineItems"] = tree.Properties["lineItems"].PadItems(len(asked))
	}
	return lines, tree.Fault(fault.Invalid)
}

func (v *Invoice) findLine(ref id.ID) *LineItem {
	for i := range v.LineItems {
		if v.LineItems[i].ID == ref {
			return &v.LineItems[i]
		}
	}
	return nil
}

// computeLine computes a line of a credit note. was is what earlier notes took back of the same line
// item.
func (f *creditLineFields) computeLine(l *LineItem, was creditedPart, currency string) (line CreditNoteLine, field,
	issue string) {
	left, whole := l.netCents()-was.cents, toMillionths(l.Quantity)
	leftQuantity := max(0, whole-was.quantity)
	switch {
	case left == 0:
		return line, "lineItemId", "Nothing is left to credit of this line item"
	case f.AmountCents != nil:
		if *f.AmountCents > left {
			return line, "amountCents", "Too large: " + locale.AmountWithCode(left, currency) +
				" is left to credit of this line item"
		}
		return l.creditLine(*f.AmountCents, 0), "", ""
	case f.Quantity == nil, f.quantity == leftQuantity: // the last of the quantity takes all cents that are left
		return l.creditLine(left, leftQuantity), "", ""
	case f.quantity > leftQuantity:
		return line, "quantity", "Too large: " + formatMillionths(leftQuantity) + " is left to credit of this line item"
	}
	cents := mulDivRound(l.netCents(), was.quantity+f.quantity, whole) - mulDivRound(l.netCents(), was.quantity, whole)
	if cents > left {
		return line, "quantity", fmt.Sprintf("Too large: %s is left to credit of this line item, and this quantity "+
			"comes to %s", locale.AmountWithCode(left, currency), locale.AmountWithCode(cents, currency))
	}
	return l.creditLine(cents, f.quantity), "", ""
}

// computeTotals fills in what follows from the lines of a credit note: discount, taxes and total.
// before is what earlier notes took back of each line.
func (n *CreditNote) computeTotals(v *Invoice, groups []chargedGroup, before map[id.ID]creditedPart) error {
	taken := map[taxKey]int64{}
	for _, l := range n.LineItems {
		taken[v.findLine(l.LineItemID).taxKey()] += l.AmountCents
	}
	n.Taxes = []Tax{}
	for i := range groups {
		g := &groups[i]
		from := v.creditedAtTax(g.tax, before)
		to := from + taken[g.tax]
		if to < 0 || to > g.net {
			return fault.Field("lineItems", fmt.Sprintf("Too large: %s is left to credit of the line items with this "+
				"tax, because others lower them", locale.AmountWithCode(g.net-from, v.Currency)))
		}
		rest, tax := g.nextCredit(to)
		// Nothing of this group is credited now, unless all its lines were and only tax is left.
		if tax += g.taxAdjustment; to == from && (to < g.net || tax == 0) {
			continue
		}
		n.SubtotalCents += to - from
		n.DiscountCents += to - from - rest
		n.TotalCents += rest
		if g.tax.rate == "" {
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
	n.fillComputed()
	return nil
}

// creditedAtTax is what earlier credit notes took back of the lines of one tax.
func (v *Invoice) creditedAtTax(of taxKey, before map[id.ID]creditedPart) (cents int64) {
	for i := range v.LineItems {
		if l := &v.LineItems[i]; l.taxKey() == of {
			cents += before[l.ID].cents
		}
	}
	return cents
}

// spreadCredit takes an amount, tax included, back from all lines, in proportion to what is
// left of them. It is less than all that is left. Where the lines do not come to the amount
// exactly, it sets the group's taxAdjustment.
func (v *Invoice) spreadCredit(groups []chargedGroup, before map[id.ID]creditedPart,
	amount int64) (lines []CreditNoteLine) {
	left := int64(0)
	for i := range groups {
		left += groups[i].creditableCents(v.PricesIncludeTax)
	}
	passed, given := int64(0), int64(0)
	for i := range groups {
		g := &groups[i]
		passed += g.creditableCents(v.PricesIncludeTax)
		part := mulDivRound(amount, passed, left) - given
		given += part
		switch from := v.creditedAtTax(g.tax, before); {
		case from == g.net:
			g.taxAdjustment = part - g.creditableCents(v.PricesIncludeTax)
		case part > 0:
			lines = append(lines, v.creditTaxGroup(g, before, g.linesForAmount(from, part, v.PricesIncludeTax)-from)...)
		}
	}
	return lines
}

// linesForAmount finds how much of the group's lines must be taken back in total, so that a credit note
// over amount results; from is what earlier notes took back. The lines may come to slightly
// less; the tax makes up the difference.
func (g *chargedGroup) linesForAmount(from, amount int64, included bool) int64 {
	gross := func(to int64) int64 {
		rest, tax := g.nextCredit(to)
		if included {
			return rest
		}
		return rest + tax
	}
	to := from + int64(sort.Search(int(g.net-from), func(n int) bool { return gross(from+1+int64(n)) > amount }))
	to = max(to, from+1) // a credit note needs at least one line
	g.taxAdjustment = amount - gross(to)
	return to
}

// creditTaxGroup takes so many cents back of the lines of one tax, in proportion to what is left
// of them. Lines with a negative amount are left alone.
func (v *Invoice) creditTaxGroup(g *chargedGroup, before map[id.ID]creditedPart, cents int64) (lines []CreditNoteLine) {
	left := int64(0)
	open := func(l *LineItem) int64 {
		if l.taxKey() != g.tax {
			return 0
		}
		return max(0, l.netCents()-before[l.ID].cents)
	}
	for i := range v.LineItems {
		left += open(&v.LineItems[i])
	}
	passed, given := int64(0), int64(0)
	for i := range v.LineItems {
		l := &v.LineItems[i]
		passed += open(l)
		if part := mulDivRound(cents, passed, left) - given; open(l) > 0 && part > 0 {
			given += part
			lines = append(lines, l.creditLine(part, 0))
		}
	}
	return lines
}

// chargedGroup is a group with what the issued invoice charges for it. These figures come from
// the stored invoice and are not computed again, so that a later change of the arithmetic does
// not change old invoices.
type chargedGroup struct {
	taxGroup
	chargedCents int64 // what the lines cost after all discounts
	chargedTax   int64 // the tax

	creditedBefore, creditedTaxBefore int64 // what earlier credit notes took back of the two

	taxAdjustment int64 // added to the tax, so that a credit note comes to exactly the amount asked for
}

// chargedGroups groups the lines of an issued invoice by tax, with what was charged and what
// earlier credit notes took back.
func (v *Invoice) chargedGroups(earlier []CreditNote) (out []chargedGroup) {
	charged, untaxed := indexTaxes(v.Taxes, v.TotalAmountCents)
	for _, g := range groupByTax(v.LineItems) {
		c := chargedGroup{taxGroup: g, chargedCents: untaxed}
		if g.tax.rate != "" {
			c.chargedCents, c.chargedTax = charged[g.tax].chargedBase(v.PricesIncludeTax), charged[g.tax].AmountCents
		}
		for _, n := range earlier {
			credited, untaxed := indexTaxes(n.Taxes, n.TotalCents)
			if g.tax.rate == "" {
				c.creditedBefore += untaxed
				continue
			}
			c.creditedBefore += credited[g.tax].chargedBase(v.PricesIncludeTax)
			c.creditedTaxBefore += credited[g.tax].AmountCents
		}
		out = append(out, c)
	}
	return out
}

// indexTaxes finds the taxes of a total by rate and name, and the part of the total that has no
// tax.
func indexTaxes(taxes []Tax, total int64) (by map[taxKey]Tax, untaxed int64) {
	by, untaxed = map[taxKey]Tax{}, total
	for _, t := range taxes {
		key := taxKey{rate: t.Rate}
		if t.Name != nil {
			key.name = *t.Name
		}
		by[key] = t
		untaxed -= t.BaseCents + t.AmountCents
	}
	return by, untaxed
}

// chargedBase is what the lines of this tax cost after all discounts, with the tax where prices
// include it.
func (t Tax) chargedBase(included bool) int64 {
	if included {
		return t.BaseCents + t.AmountCents
	}
	return t.BaseCents
}

// creditableCents is what can still be credited of a group, with its tax.
func (g *chargedGroup) creditableCents(included bool) int64 {
	if included {
		return g.chargedCents - g.creditedBefore
	}
	return g.chargedCents - g.creditedBefore + g.chargedTax - g.creditedTaxBefore
}

// nextCredit is what a new credit note has once so many cents of the group's lines are taken back in
// total: their cost after all discounts, and the tax. Earlier notes have the rest.
func (g *chargedGroup) nextCredit(cents int64) (rest, tax int64) {
	rest, tax = g.proportionAt(cents)
	return rest - g.creditedBefore, max(0, tax-g.creditedTaxBefore)
}

// proportionAt is what belongs to so many cents of the group's lines: their cost after all discounts,
// and the tax. Both grow with cents, and for all lines they are exactly what was charged.
func (g *chargedGroup) proportionAt(cents int64) (rest, tax int64) {
	if g.net > 0 {
		rest = mulDivRound(g.chargedCents, cents, g.net)
	}
	if g.chargedCents > 0 {
		tax = mulDivRound(g.chargedTax, rest, g.chargedCents)
	}
	return rest, tax
}
