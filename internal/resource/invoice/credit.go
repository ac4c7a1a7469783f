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
// proportion, and are computed from the sum of all credit notes so far: what
// this one has is that sum less what the earlier ones had. So rounding never
// adds up, and once all lines are taken back exactly nothing is left. An amount
// that no part of the lines comes to, because of rounding, is met by a unit more
// or less of tax.

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
	lines = []CreditNoteLine{}
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
			if line, field, issue = f.take(l, before[l.ID], v.Currency); issue == "" {
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
func (f *creditLineFields) take(l *LineItem, was credited, currency string) (line CreditNoteLine, field,
	issue string) {
	left, whole := l.net()-was.cents, millionths(l.Quantity)
	leftQuantity := max(0, whole-was.quantity)
	switch {
	case left == 0:
		return line, "lineItemId", "Nothing is left to credit of this line item"
	case f.AmountCents != nil:
		if *f.AmountCents > left {
			return line, "amountCents", "Too large: " + locale.Amount(left, currency) +
				" is left to credit of this line item"
		}
		return l.credit(*f.AmountCents, 0), "", ""
	case f.Quantity == nil, f.quantity == leftQuantity: // the last unit takes what is left
		return l.credit(left, leftQuantity), "", ""
	case f.quantity > leftQuantity:
		return line, "quantity", "Too large: " + decimalOf(leftQuantity) + " is left to credit of this line item"
	}
	cents := share(l.net(), was.quantity+f.quantity, whole) - share(l.net(), was.quantity, whole)
	if cents > left {
		return line, "quantity", fmt.Sprintf("Too large: %s is left to credit of this line item, and this quantity "+
			"comes to %s", locale.Amount(left, currency), locale.Amount(cents, currency))
	}
	return l.credit(cents, f.quantity), "", ""
}

// total fills in what follows from the lines of a credit note. before is what
// earlier ones took back of each line.
func (n *CreditNote) total(v *Invoice, groups []chargedGroup, before map[id.ID]credited) error {
	taken := map[tax]int64{}
	for _, l := range n.LineItems {
		taken[v.line(l.LineItemID).tax()] += l.AmountCents
	}
	n.Taxes = []Tax{}
	for i := range groups {
		g := &groups[i]
		from := v.takenOf(g.tax, before)
		to := from + taken[g.tax]
		if to < 0 || to > g.net {
			return fault.Field("lineItems", fmt.Sprintf("Too large: %s is left to credit of the line items with this "+
				"tax, because others lower them", locale.Amount(g.net-from, v.Currency)))
		}
		rest, tax := g.next(to)
		if tax += g.adjust; to == from && (to < g.net || tax == 0) { // tax alone may be left of a line of one cent
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
	n.derive()
	return nil
}

// takenOf is what earlier credit notes took back of the lines of one tax.
func (v *Invoice) takenOf(of tax, before map[id.ID]credited) (cents int64) {
	for i := range v.LineItems {
		if l := &v.LineItems[i]; l.tax() == of {
			cents += before[l.ID].cents
		}
	}
	return cents
}

// creditAmount takes an amount back of all lines, in proportion to what is left
// of them. The amount is less than what is left.
func (v *Invoice) creditAmount(groups []chargedGroup, before map[id.ID]credited,
	amount int64) (lines []CreditNoteLine) {
	left := int64(0)
	for i := range groups {
		left += groups[i].left(v.PricesIncludeTax)
	}
	passed, given := int64(0), int64(0)
	for i := range groups {
		g := &groups[i]
		passed += g.left(v.PricesIncludeTax)
		part := share(amount, passed, left) - given
		given += part
		switch from := v.takenOf(g.tax, before); {
		case from == g.net:
			g.adjust = part - g.left(v.PricesIncludeTax)
		case part > 0:
			lines = append(lines, v.creditGroup(g, before, g.reach(from, part, v.PricesIncludeTax)-from)...)
		}
	}
	return lines
}

// reach is how much of the group's lines is taken back once a credit note takes
// an amount of it. What they do not come to by themselves is the tax's.
func (g *chargedGroup) reach(from, amount int64, included bool) int64 {
	gross := func(to int64) int64 {
		rest, tax := g.next(to)
		if included {
			return rest
		}
		return rest + tax
	}
	to := from + int64(sort.Search(int(g.net-from), func(n int) bool { return gross(from+1+int64(n)) > amount }))
	to = max(to, from+1) // a note has a line
	g.adjust = amount - gross(to)
	return to
}

// creditGroup takes so much back of the lines of one tax. Lines that lower others
// are left.
func (v *Invoice) creditGroup(g *chargedGroup, before map[id.ID]credited, cents int64) (lines []CreditNoteLine) {
	left := int64(0)
	open := func(l *LineItem) int64 {
		if l.tax() != g.tax {
			return 0
		}
		return max(0, l.net()-before[l.ID].cents)
	}
	for i := range v.LineItems {
		left += open(&v.LineItems[i])
	}
	passed, given := int64(0), int64(0)
	for i := range v.LineItems {
		l := &v.LineItems[i]
		passed += open(l)
		if part := share(cents, passed, left) - given; open(l) > 0 && part > 0 {
			given += part
			lines = append(lines, l.credit(part, 0))
		}
	}
	return lines
}

// chargedGroup is a group with the tax that an issued invoice charges for it.
// The invoice tells it, so that no later change of a rule does.
type chargedGroup struct {
	group
	after int64 // what the lines cost after all discounts
	due   int64 // the tax

	restBefore, taxBefore int64 // what earlier credit notes took back of both

	adjust int64 // of the tax, so that a credit note comes to the amount that was asked for
}

func (v *Invoice) chargedGroups(earlier []CreditNote) (out []chargedGroup) {
	charged, untaxed := taxesOf(v.Taxes, v.TotalAmountCents)
	for _, g := range groupLines(v.LineItems) {
		c := chargedGroup{group: g, after: untaxed}
		if g.tax.rate != "" {
			c.after, c.due = charged[g.tax].rest(v.PricesIncludeTax), charged[g.tax].AmountCents
		}
		for _, n := range earlier {
			credited, untaxed := taxesOf(n.Taxes, n.TotalCents)
			if g.tax.rate == "" {
				c.restBefore += untaxed
				continue
			}
			c.restBefore += credited[g.tax].rest(v.PricesIncludeTax)
			c.taxBefore += credited[g.tax].AmountCents
		}
		out = append(out, c)
	}
	return out
}

// taxesOf finds the taxes of a total by rate and name, and what has none.
func taxesOf(taxes []Tax, total int64) (by map[tax]Tax, untaxed int64) {
	by, untaxed = map[tax]Tax{}, total
	for _, t := range taxes {
		key := tax{rate: t.Rate}
		if t.Name != nil {
			key.name = *t.Name
		}
		by[key] = t
		untaxed -= t.BaseCents + t.AmountCents
	}
	return by, untaxed
}

// rest is what is taxed, with the tax where prices include it.
func (t Tax) rest(included bool) int64 {
	if included {
		return t.BaseCents + t.AmountCents
	}
	return t.BaseCents
}

// left is what can still be credited of a group, with its tax.
func (g *chargedGroup) left(included bool) int64 {
	if included {
		return g.after - g.restBefore
	}
	return g.after - g.restBefore + g.due - g.taxBefore
}

// next is what a credit note takes back once so much of the group's lines is
// taken back: their cost after all discounts, and the tax.
func (g *chargedGroup) next(cents int64) (rest, tax int64) {
	rest, tax = g.at(cents)
	return rest - g.restBefore, max(0, tax-g.taxBefore)
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
