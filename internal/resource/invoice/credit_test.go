package invoice

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"frontdesk/internal/kernel/id"
)

// Whatever is credited in whatever order, nothing is negative, each note adds
// up, and in the end exactly the invoice was taken back.
func TestRandomCredits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 2000 {
		lines, discount, included := randomLines(r)
		v, err := priced(lines, discount, included)
		if err != nil {
			t.Fatal(err)
		}
		for i := range v.LineItems {
			v.LineItems[i].ID = id.New()
		}
		if err := creditRandomly(r, v); err != nil {
			t.Fatalf("invoice %d, %+v: %v", i, v, err)
		}
	}
}

func creditRandomly(r *rand.Rand, v *Invoice) error {
	var notes []CreditNote
	add := func(lines []CreditNoteLine, groups []chargedGroup) error {
		n := CreditNote{LineItems: lines}
		if err := n.computeTotals(v, groups, sumCredited(notes)); err != nil {
			return err
		}
		notes = append(notes, n)
		sum := n.SubtotalCents - n.DiscountCents
		if !v.PricesIncludeTax {
			sum += n.TaxCents
		}
		if sum != n.TotalCents || n.DiscountCents < 0 || n.TaxCents < 0 || n.TotalCents < 0 {
			return fmt.Errorf("the note %+v does not add up", n)
		}
		for _, t := range n.Taxes {
			if t.BaseCents < 0 || t.AmountCents < 0 {
				return fmt.Errorf("the note %+v is negative", n)
			}
		}
		return nil
	}
	for range r.IntN(6) {
		before := sumCredited(notes)
		groups := v.chargedGroups(notes)
		left := v.TotalAmountCents
		for _, n := range notes {
			left -= n.TotalCents
		}
		if left > 1 && r.IntN(3) == 0 { // an amount, to the cent
			amount := 1 + r.Int64N(left-1)
			if err := add(v.spreadCredit(groups, before, amount), groups); err != nil {
				return err
			}
			if got := notes[len(notes)-1].TotalCents; got != amount {
				return fmt.Errorf("a note of %d comes to %d", amount, got)
			}
			continue
		}
		l := v.LineItems[r.IntN(len(v.LineItems))]
		f := creditLineFields{LineItemID: l.ID}
		if r.IntN(2) == 0 {
			cents := 1 + r.Int64N(l.netCents()+1)
			f.AmountCents = &cents
		} else {
			q := formatMillionths(1 + r.Int64N(toMillionths(l.Quantity)+1))
			f.Quantity = &q
		}
		if _, issue := f.parseQuantity(); issue != "" {
			return fmt.Errorf("%s", issue)
		}
		lines, err := v.creditLines(before, []creditLineFields{f})
		if err != nil {
			continue // more than what is left
		}
		if err := add(lines, groups); err != nil {
			return err
		}
	}
	if err := add(v.creditRemaining(sumCredited(notes)), v.chargedGroups(notes)); err != nil {
		return err
	}
	total, discount, taxes := int64(0), v.DiscountCents, map[taxKey]Tax{}
	for _, l := range v.LineItems {
		discount -= l.DiscountCents
	}
	for _, n := range notes {
		total, discount = total+n.TotalCents, discount-n.DiscountCents
		for _, one := range n.Taxes {
			key := taxKey{rate: one.Rate}
			if one.Name != nil {
				key.name = *one.Name
			}
			sum := taxes[key]
			sum.BaseCents += one.BaseCents
			sum.AmountCents += one.AmountCents
			taxes[key] = sum
		}
	}
	if total != v.TotalCents || discount != 0 {
		return fmt.Errorf("%d was credited of %d, and %d of the discount is left", total, v.TotalCents, discount)
	}
	for _, one := range v.Taxes {
		key := taxKey{rate: one.Rate}
		if one.Name != nil {
			key.name = *one.Name
		}
		if sum := taxes[key]; sum.BaseCents != one.BaseCents || sum.AmountCents != one.AmountCents {
			return fmt.Errorf("of the tax %+v, %+v was credited", one, sum)
		}
	}
	for _, l := range v.LineItems {
		if c := sumCredited(notes)[l.ID]; c.cents != l.netCents() {
			return fmt.Errorf("of the line %+v, %+v was credited", l, c)
		}
	}
	return nil
}
