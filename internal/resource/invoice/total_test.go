package invoice

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// parseLines reads lines like "2.5x1001 @20 VAT -10% | 500 -c50": quantity,
// unit, tax and discount.
func parseLines(t testing.TB, text string) (lines []lineItemFields) {
	t.Helper()
	for _, part := range strings.Split(text, "|") {
		var f lineItemFields
		for i, word := range strings.Fields(part) {
			rest := word[1:]
			switch {
			case i == 0:
				unit := word
				if q, u, ok := strings.Cut(word, "x"); ok {
					f.Quantity, unit = &q, u
				}
				if _, err := fmt.Sscan(unit, &f.UnitAmountCents); err != nil {
					t.Fatal(err)
				}
			case word[0] == '@':
				f.TaxRate = &rest
			case strings.HasPrefix(word, "-c"):
				cents := int64(0)
				if _, err := fmt.Sscan(word[2:], &cents); err != nil {
					t.Fatal(err)
				}
				f.DiscountCents = &cents
			case word[0] == '-':
				p := strings.TrimSuffix(rest, "%")
				f.DiscountPercent = &p
			default:
				f.TaxName = &word
			}
		}
		lines = append(lines, f)
	}
	return lines
}

// priced is an invoice with these lines, added up.
func priced(lines []lineItemFields, discount string, included bool) (*Invoice, error) {
	v := &Invoice{PricesIncludeTax: included}
	if discount != "" {
		v.DiscountPercent = &discount
	}
	if err := computeLineAmounts(lines); err != nil {
		return nil, err
	}
	for _, f := range lines {
		v.LineItems = append(v.LineItems, LineItem{AmountCents: f.amount, DiscountCents: f.discount,
			TaxRate: f.TaxRate, TaxName: f.TaxName, Quantity: f.quantity, UnitAmountCents: f.UnitAmountCents})
	}
	err := v.computeTotals()
	v.fillComputed()
	return v, err
}

func figures(v *Invoice) string {
	text := fmt.Sprint(v.SubtotalCents, " ", v.DiscountCents, " ", v.TaxCents, " ", v.TotalCents)
	for _, t := range v.Taxes {
		text += fmt.Sprintf(" %s:%d+%d", t.Rate, t.BaseCents, t.AmountCents)
	}
	return text
}

// Computed by hand: subtotal, discount, tax and total, then each tax with its
// base. The figures mean the same in yen, in cents and in fils.
func TestTotals(t *testing.T) {
	for _, c := range []struct {
		lines, discount string
		included        bool
		want            string
	}{
		{"2.5x1001 | 500", "", false, "3003 0 0 3003"},
		{"1000 @20", "", false, "1000 0 200 1200 20:1000+200"},
		{"1000 @20.00", "", false, "1000 0 200 1200 20:1000+200"},
		{"1000 @0", "", false, "1000 0 0 1000 0:1000+0"},
		{"1000 @100", "", false, "1000 0 1000 2000 100:1000+1000"},
		{"1000 @20 | 500", "", false, "1500 0 200 1700 20:1000+200"},
		{"1000 @20 | 500 @7.5", "", false, "1500 0 238 1738 20:1000+200 7.5:500+38"}, // 37.5 rounds up
		{"33 @5 | 33 @5 | 34 @5", "", false, "100 0 5 105 5:100+5"},                  // once, not 1.65 + 1.65 + 1.7
		{"10 @5 | 10 @5", "", false, "20 0 1 21 5:20+1"},                             // each alone would be 0.5
		{"10 @5 A | 10 @5 B", "", false, "20 0 2 22 5:10+1 5:10+1"},                  // two taxes, each half up
		{"999 @8.875", "", false, "999 0 89 1088 8.875:999+89"},                      // 88.66
		{"1 @50", "", false, "1 0 1 2 50:1+1"},                                       // 0.5
		{"1 @49.9999", "", false, "1 0 0 1 49.9999:1+0"},
		{"1200 @20", "", true, "1200 0 200 1200 20:1000+200"},
		{"1000 @20", "", true, "1000 0 167 1000 20:833+167"}, // 166.67
		{"1 @100", "", true, "1 0 1 1 100:0+1"},              // 0.5 rounds up
		{"1190 @19 | 107 @7 | 50", "", true, "1347 0 197 1347 19:1000+190 7:100+7"},
		{"1000 @20 -10%", "", false, "1000 100 180 1080 20:900+180"},
		{"1000 @20 -c1000", "", false, "1000 1000 0 0 20:0+0"},
		{"1000 -c1", "", false, "1000 1 0 999"},
		{"5 -10%", "", false, "5 1 0 4"},                                          // 0.5 rounds up
		{"1000 @20 -10% | 200 -c50", "10", false, "1200 255 162 1107 20:810+162"}, // 10% of 900 + 150
		{"1000 @20 | 1000 @10", "50", false, "2000 1000 150 1150 20:500+100 10:500+50"},
		// 1% of 150 is 1.5, so 2: half a unit of each remains, and the first gets it.
		{"50 @20 | 50 @10 | 50", "1", false, "150 2 15 163 20:49+10 10:49+5"},
		{"1200 @20", "25", true, "1200 300 150 900 20:750+150"},
		{"1000 @20", "100", false, "1000 1000 0 0 20:0+0"},
		{"1000 @20 | -200 @20", "", false, "800 0 160 960 20:800+160"},
		{"0 | 0 @20", "10", false, "0 0 0 0 20:0+0"},
		{"50000000000000 @99.9999", "", false, "50000000000000 0 49999950000000 99999950000000 " +
			"99.9999:50000000000000+49999950000000"},
		{"0.333333x3000 @19 -33.3333%", "12.5", true, "1000 416 93 584 19:491+93"}, // 1000 - 333 - 83
	} {
		v, err := priced(parseLines(t, c.lines), c.discount, c.included)
		if err != nil {
			t.Errorf("%s: %v", c.lines, err)
			continue
		}
		if got := figures(v); got != c.want {
			t.Errorf("%s less %s%%, included %v: %s, want %s", c.lines, c.discount, c.included, got, c.want)
		}
	}
	for _, lines := range []string{"99999999999999 -100% | 1 -100%", "100 @20 | -1", "100 | -1 @20", "-1",
		"50000000000000 @100 | 50000000000000"} {
		if _, err := priced(parseLines(t, lines), "", false); err == nil {
			t.Errorf("%s is accepted", lines)
		}
	}
	for text, want := range map[string]string{"20": "20", "020.500": "20.5", "0": "0", "100.0000": "100", "10": "10",
		"0.0001": "0.0001"} {
		if p, ok := parsePercent(text); !ok || p.String() != want {
			t.Errorf("%s is read as %s", text, p)
		}
	}
	for _, text := range []string{"", "100.0001", "101", "-1", "+1", "1e1", ".5", "5.", "1.23456", "1,5", " 1", "999",
		"1000", "١"} {
		if p, ok := parsePercent(text); ok {
			t.Errorf("%q is read as %s", text, p)
		}
	}
}

// randomLines is an invoice that nobody chose.
func randomLines(r *rand.Rand) (lines []lineItemFields, discount string, included bool) {
	rates := []string{"0", "5", "7", "7.5", "8.875", "19", "20", "21", "25.5", "100", "0.0001", "33.3333"}
	names := []string{"VAT", "GST"}
	size := []int64{10, 1000, 100_000, 900_000_000_000}[r.IntN(4)]
	for range 1 + r.IntN(8) {
		f := lineItemFields{Description: "Work", UnitAmountCents: r.Int64N(size)}
		if r.IntN(2) == 0 {
			q := fmt.Sprintf("%d.%d", r.IntN(9), r.IntN(1000))
			f.Quantity = &q
		}
		if r.IntN(4) > 0 {
			f.TaxRate = &rates[r.IntN(len(rates))]
			if r.IntN(2) == 0 {
				f.TaxName = &names[r.IntN(len(names))]
			}
		}
		switch r.IntN(4) {
		case 0:
			p := percent(r.Int64N(int64(hundredPercent) + 1)).String()
			f.DiscountPercent = &p
		case 1:
			if field, _ := f.computeAmount(); field == "" {
				cents := r.Int64N(f.amount + 1)
				f.DiscountCents = &cents
			}
		}
		lines = append(lines, f)
	}
	if r.IntN(2) == 0 {
		discount = percent(r.Int64N(int64(hundredPercent) + 1)).String()
	}
	return lines, discount, r.IntN(2) == 0
}

// isHalfUp reports whether got is n × part ÷ whole, rounded half up.
func isHalfUp(got, n, part, whole int64) bool {
	twice := new(big.Int).Mul(big.NewInt(2*n), big.NewInt(part))
	below := new(big.Int).Mul(big.NewInt(2*got-1), big.NewInt(whole))
	above := new(big.Int).Mul(big.NewInt(2*got+1), big.NewInt(whole))
	return below.Cmp(twice) <= 0 && twice.Cmp(above) < 0
}

// check finds what is wrong with the figures of an invoice.
func check(v *Invoice) error {
	lines, discounts, net := int64(0), int64(0), int64(0)
	taxed := map[taxKey]bool{}
	for _, l := range v.LineItems {
		lines, discounts, net = lines+l.AmountCents, discounts+l.DiscountCents, net+l.netCents()
		taxed[l.taxKey()] = true
		if l.DiscountCents < 0 || l.DiscountCents > l.AmountCents {
			return fmt.Errorf("a line of %d has a discount of %d", l.AmountCents, l.DiscountCents)
		}
	}
	untaxed := v.TotalCents
	bases, taxes := int64(0), int64(0)
	for _, t := range v.Taxes {
		rate, _ := parsePercent(t.Rate)
		bases, taxes, untaxed = bases+t.BaseCents, taxes+t.AmountCents, untaxed-t.BaseCents-t.AmountCents
		name := ""
		if t.Name != nil {
			name = *t.Name
		}
		exact := isHalfUp(t.AmountCents, t.BaseCents, int64(rate), int64(hundredPercent))
		if v.PricesIncludeTax {
			exact = isHalfUp(t.AmountCents, t.BaseCents+t.AmountCents, int64(rate), int64(hundredPercent+rate))
		}
		if t.BaseCents < 0 || t.AmountCents < 0 || !exact || !taxed[taxKey{t.Rate, name}] {
			return fmt.Errorf("the tax %+v is not exact", t)
		}
		delete(taxed, taxKey{t.Rate, name})
	}
	delete(taxed, taxKey{})
	whole := int64(0)
	if v.DiscountPercent != nil {
		p, _ := parsePercent(*v.DiscountPercent)
		if whole = v.DiscountCents - discounts; !isHalfUp(whole, net, int64(p), int64(hundredPercent)) {
			return fmt.Errorf("%d is not %s %% of %d", whole, p, net)
		}
	}
	before := bases + untaxed // what the lines cost after all discounts
	if v.PricesIncludeTax {
		before += taxes
	}
	switch {
	case untaxed < 0 || v.TotalCents < 0 || v.DiscountCents < 0:
		return fmt.Errorf("something is negative")
	case len(taxed) > 0:
		return fmt.Errorf("%v are not charged", taxed)
	case v.SubtotalCents != lines || v.TaxCents != taxes || v.TotalAmountCents != v.TotalCents:
		return fmt.Errorf("the sums do not add up")
	case v.DiscountCents != discounts+whole || lines-v.DiscountCents != before:
		return fmt.Errorf("lines less discounts are %d, and the bases %d", lines-v.DiscountCents, before)
	case bases+untaxed+taxes != v.TotalCents:
		return fmt.Errorf("bases and taxes are not the total")
	}
	return nil
}

func TestRandomTotals(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 15))
	for i := range 10_000 {
		lines, discount, included := randomLines(r)
		v, err := priced(lines, discount, included)
		if err == nil {
			err = check(v)
		}
		if err != nil {
			t.Fatalf("invoice %d, %+v: %v", i, v, err)
		}
	}
}
