package invoice

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/locale"
)

// This file has all the arithmetic of an invoice, in whole numbers of the
// currency's smallest unit. It rounds in three places and nowhere else: a line's
// amount (lineitem.go), a discount in per cent, and the tax of one rate over the
// whole invoice.

// percent is a share in ten-thousandths of one per cent.
type percent int64

const hundredPercent percent = 100_0000

var percentForm = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,4})?$`)

const percentIssue = "Invalid percentage; write a decimal from 0 to 100 like 20 or 7.5, with at most 4 digits after " +
	"the point"

// parsePercent reads a decimal from 0 to 100.
func parsePercent(text string) (percent, bool) {
	if !percentForm.MatchString(text) {
		return 0, false
	}
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+(fraction + "0000")[:4], 10, 64)
	return percent(n), err == nil && percent(n) <= hundredPercent
}

// String writes a percentage without trailing zeros.
func (p percent) String() string {
	text := fmt.Sprintf("%d.%04d", p/1_0000, p%1_0000)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// mulDivRound is n × part ÷ whole, rounded half up. No argument is negative. The product may be
// larger than an int64.
func mulDivRound(n, part, whole int64) int64 {
	quotient, remainder := mulDivDown(n, part, whole)
	if remainder >= whole-remainder {
		quotient++
	}
	return quotient
}

// mulDivDown is n × part ÷ whole, rounded down, and the remainder. part is at most whole, so the
// quotient is at most n.
func mulDivDown(n, part, whole int64) (quotient, remainder int64) {
	product := new(big.Int).Mul(big.NewInt(n), big.NewInt(part))
	q, r := product.QuoRem(product, big.NewInt(whole), new(big.Int))
	return q.Int64(), r.Int64()
}

// ofCents is the percentage of an amount, rounded half up.
func (p percent) ofCents(cents int64) int64 {
	return mulDivRound(cents, int64(p), int64(hundredPercent))
}

// Tax is one tax of an invoice: all lines with the same rate and name.
type Tax struct {
	Rate        string  `json:"rate" doc:"per cent, a decimal without trailing zeros"`
	Name        *string `json:"name" max:"100"`
	BaseCents   int64   `json:"baseCents" doc:"what is taxed, without the tax"`
	AmountCents int64   `json:"amountCents" doc:"the tax, rounded once over the whole invoice"`
}

// taxKey identifies the tax of a line: lines with the same rate and name are taxed together.
// Lines without a tax form a group too.
type taxKey struct {
	rate, name string // the rate is empty without a tax
}

func (l *LineItem) taxKey() (t taxKey) {
	if l.TaxRate == nil {
		return t
	}
	t.rate = *l.TaxRate
	if l.TaxName != nil {
		t.name = *l.TaxName
	}
	return t
}

// netCents is what a line costs after its own discount.
func (l *LineItem) netCents() int64 { return l.AmountCents - l.DiscountCents }

// taxGroup is the lines of an invoice with the same tax, added up.
type taxGroup struct {
	tax      taxKey
	net      int64 // the sum of its lines, after their discounts
	discount int64 // its part of the invoice's own discount
}

// afterDiscounts is what a group costs after all discounts. It includes the tax if the prices do.
func (g *taxGroup) afterDiscounts() int64 { return g.net - g.discount }

// groupByTax adds up the lines by tax, in the order in which the taxes first
// appear.
func groupByTax(lines []LineItem) (groups []taxGroup) {
	at := map[taxKey]int{}
	for i := range lines {
		t := lines[i].taxKey()
		n, ok := at[t]
		if !ok {
			n = len(groups)
			at[t], groups = n, append(groups, taxGroup{tax: t})
		}
		groups[n].net += lines[i].netCents() // at most 100 lines, so it cannot overflow
	}
	return groups
}

// computeTotals fills in what follows from the lines: the discount, the taxes and the total. They add
// up to the cent, and none of them is negative.
func (v *Invoice) computeTotals() error {
	groups := groupByTax(v.LineItems)
	v.Taxes, v.DiscountCents, v.TotalAmountCents = []Tax{}, 0, 0
	net := int64(0)
	for _, g := range groups {
		if g.net < 0 {
			return fault.Field("lineItems", g.negativeIssue(len(groups)))
		}
		net += g.net
	}
	for i := range v.LineItems {
		v.DiscountCents += v.LineItems[i].DiscountCents
	}
	// The subtotal is bounded too, so that a client can compute with it exactly.
	if net+v.DiscountCents > maxCents {
		return fault.Field("lineItems", "The line items are too large; their sum must be at most "+
			locale.AmountWithCode(maxCents, v.Currency))
	}
	if v.DiscountPercent != nil {
		p, ok := parsePercent(*v.DiscountPercent)
		if !ok {
			return fault.Field("discountPercent", percentIssue)
		}
		discount := p.ofCents(net)
		spreadDiscount(groups, p, discount)
		v.DiscountCents += discount
	}
	for i := range groups {
		g := &groups[i]
		v.TotalAmountCents += g.afterDiscounts()
		if g.tax.rate == "" {
			continue
		}
		t, err := g.computeTax(v.PricesIncludeTax)
		if err != nil {
			return err
		}
		v.Taxes = append(v.Taxes, t)
		if !v.PricesIncludeTax {
			v.TotalAmountCents += t.AmountCents
		}
	}
	if v.TotalAmountCents > maxCents {
		return fault.Field("lineItems", "The total is too large; it must be at most "+
			locale.AmountWithCode(maxCents, v.Currency))
	}
	return nil
}

// negativeIssue is the issue of a group that adds up to less than zero. groups is how many there
// are.
func (g *taxGroup) negativeIssue(groups int) string {
	switch {
	case groups == 1:
		return "The total is negative; a discount must not exceed the other line items"
	case g.tax.rate == "":
		return "The line items without a tax add up to less than zero; give the discount the taxRate of what it is " +
			"taken from"
	}
	return fmt.Sprintf("The line items taxed at %s %% add up to less than zero; a discount must not exceed the other "+
		"line items with its tax", g.tax.rate)
}

// computeTax computes the tax of a group. included is whether the prices already contain it.
func (g *taxGroup) computeTax(included bool) (t Tax, err error) {
	rate, ok := parsePercent(g.tax.rate)
	if !ok {
		return t, fmt.Errorf("invoice: %q is not a rate", g.tax.rate)
	}
	t = Tax{Rate: g.tax.rate, BaseCents: g.afterDiscounts()}
	if included {
		t.AmountCents = mulDivRound(g.afterDiscounts(), int64(rate), int64(hundredPercent+rate))
		t.BaseCents -= t.AmountCents
	} else {
		t.AmountCents = rate.ofCents(g.afterDiscounts())
	}
	if g.tax.name != "" {
		t.Name = &g.tax.name
	}
	return t, nil
}

// spreadDiscount divides the invoice's discount among the groups. Each gets its share rounded down;
// the cents that are left go one by one to the groups with the largest remainders.
func spreadDiscount(groups []taxGroup, p percent, discount int64) {
	remainders := make([]int64, len(groups))
	for i := range groups {
		groups[i].discount, remainders[i] = mulDivDown(groups[i].net, int64(p), int64(hundredPercent))
		discount -= groups[i].discount
	}
	for ; discount > 0; discount-- {
		largest := 0
		for i, r := range remainders {
			if r > remainders[largest] {
				largest = i
			}
		}
		groups[largest].discount++
		remainders[largest] = 0
	}
}
