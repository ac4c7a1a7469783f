package invoice

import (
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/resource/business"
)

// sheet is what a document says, in the words and figures that are printed. The PDF and the
// public page show the same sheet.
type sheet struct {
	title  string // of the file and the footer
	word   string // INVOICE or CREDIT NOTE
	number string
	mark   string     // DRAFT or VOID across the page; empty for none
	at     clock.Time // when it was issued, or drafted
	to     *Invoice   // whose bill-to is printed

	facts      [][2]string // label and value; the last one is emphasized
	heads      []string    // of the table's columns
	rows       []row
	sums       []sum // the last one is emphasized
	paragraphs []paragraph
}

type row struct {
	description string
	figures     []string
	remark      string
}

type sum struct {
	label, value string
	strong       bool
	aside        bool // it is contained in another figure, like a tax in the prices
}

type paragraph struct {
	heading, text string
	facts         [][2]string // below the text
}

// writer formats what a sheet says: in a locale and a currency, with or without a column for
// taxes.
type writer struct {
	*locale.Format
	currency string
	taxed    bool
	included bool
}

func (w *writer) money(cents int64) string { return printable(w.Money(cents, w.currency)) }

// date is a fact with a date; none for nil.
func (w *writer) date(label string, t *clock.Time) [][2]string {
	if t == nil {
		return nil
	}
	return [][2]string{{label, w.Date(t.Std())}}
}

func (w *writer) heads() []string {
	if w.taxed {
		return []string{"Description", "Quantity", "Unit price", "Tax", "Amount"}
	}
	return []string{"Description", "Quantity", "Unit price", "Amount"}
}

// figures are the columns beside a description.
func (w *writer) figures(quantity, unit string, rate *string, cents int64) []string {
	out := []string{quantity, unit}
	if w.taxed {
		tax := ""
		if rate != nil {
			tax = w.percent(*rate)
		}
		out = append(out, tax)
	}
	return append(out, w.money(cents))
}

func (w *writer) percent(rate string) string { return w.Number(rate) + "%" }

// add lists how lines, discount and taxes become the total. Where prices include the taxes,
// these come after the total.
func (w *writer) add(subtotal, discount int64, taxes []Tax, total int64) (out []sum) {
	if discount > 0 || len(taxes) > 0 {
		out = append(out, sum{label: "Subtotal", value: w.money(subtotal)})
	}
	if discount > 0 {
		out = append(out, sum{label: "Discount", value: w.money(-discount)})
	}
	whole := sum{label: "Total", value: w.money(total), strong: true}
	if w.included {
		out = append(out, whole)
	}
	for _, t := range taxes {
		name := "Tax"
		if t.Name != nil {
			name = clip(*t.Name, 40)
		}
		s := sum{label: name + " " + w.percent(t.Rate) + " on " + w.money(t.BaseCents), value: w.money(t.AmountCents),
			aside: w.included}
		if w.included {
			s.label = "Includes " + s.label
		}
		out = append(out, s)
	}
	if !w.included {
		out = append(out, whole)
	}
	return out
}

// clip cuts a name that would leave no room for the figures.
func clip(name string, runes int) string {
	if r := []rune(name); len(r) > runes {
		return strings.TrimSpace(string(r[:runes])) + "…"
	}
	return name
}

// writer creates the writer for the documents of an invoice.
func (v *Invoice) writer(f *locale.Format) *writer {
	w := &writer{Format: f, currency: v.Currency, included: v.PricesIncludeTax && len(v.Taxes) > 0}
	for i := range v.LineItems {
		w.taxed = w.taxed || v.LineItems[i].TaxRate != nil
	}
	return w
}

func (v *Invoice) title() string {
	if v.InvoiceNumber != nil {
		return "Invoice " + *v.InvoiceNumber
	}
	return "Invoice (draft)"
}

// sheet is the invoice as it is printed.
func (v *Invoice) sheet(from *business.Letterhead, f *locale.Format) *sheet {
	w := v.writer(f)
	s := &sheet{title: v.title(), word: "INVOICE", number: "Draft", at: v.CreatedAt, to: v, heads: w.heads(),
		mark: map[Status]string{draft: "DRAFT", void: "VOID"}[v.Status]}
	if v.InvoiceNumber != nil {
		s.number = *v.InvoiceNumber
	}
	if v.IssuedAt != nil {
		s.at = *v.IssuedAt
	}
	s.facts = append(w.date("Issued", v.IssuedAt), w.date("Due", v.DueAt)...)
	s.facts = append(s.facts, [2]string{"Amount due", w.money(v.AmountDueCents)})
	for i := range v.LineItems {
		l := &v.LineItems[i]
		r := row{description: l.Description,
			figures: w.figures(w.Number(l.Quantity), w.money(l.UnitAmountCents), l.TaxRate, l.AmountCents)}
		if l.DiscountCents > 0 {
			r.remark = "Discount " + w.money(-l.DiscountCents)
			if l.DiscountPercent != nil {
				r.remark = "Discount " + w.percent(*l.DiscountPercent) + ": " + w.money(-l.DiscountCents)
			}
		}
		s.rows = append(s.rows, r)
	}
	s.sums = w.add(v.SubtotalCents, v.DiscountCents, v.Taxes, v.TotalAmountCents)
	if v.AmountPaidCents > 0 {
		s.sums = append(s.sums, sum{label: "Paid", value: w.money(-v.AmountPaidCents)})
	}
	if v.AmountCreditedCents > 0 {
		s.sums = append(s.sums, sum{label: "Credited", value: w.money(-v.AmountCreditedCents)})
	}
	last, amount := "Amount due", v.AmountDueCents
	if v.AmountToRefundCents > 0 { // an amount due of zero would not be what the figures above add up to
		last, amount = "To be paid back", v.AmountToRefundCents
	}
	s.sums = append(s.sums, sum{label: last + " (" + strings.ToUpper(v.Currency) + ")", value: w.money(amount)})
	if text := v.howToPay(w); text != "" {
		if from.Payable != nil {
			text += "\n" + strings.TrimSpace(*from.Payable)
		}
		s.paragraphs = append(s.paragraphs, paragraph{"How to pay", text, from.BankFacts})
	}
	s.say("Notes", v.Notes)
	s.say("Terms", v.Terms)
	return s
}

// howToPay asks for what is due; empty if nothing is, or the invoice is not issued.
func (v *Invoice) howToPay(w *writer) string {
	if v.AmountDueCents == 0 || v.Status == draft || v.InvoiceNumber == nil {
		return ""
	}
	text := "Please pay " + w.money(v.AmountDueCents)
	if v.DueAt != nil {
		text += " by " + w.Date(v.DueAt.Std())
	}
	return text + " and give " + *v.InvoiceNumber + " as the reference."
}

// say adds a paragraph, if there is any text.
func (s *sheet) say(heading string, text *string) {
	if text != nil && strings.TrimSpace(*text) != "" {
		s.paragraphs = append(s.paragraphs, paragraph{heading: heading, text: *text})
	}
}

// sheet is the credit note as it is printed, made out like its invoice.
func (n *CreditNote) sheet(v *Invoice, f *locale.Format) *sheet {
	w := v.writer(f)
	s := &sheet{title: "Credit note " + n.CreditNoteNumber, word: "CREDIT NOTE", number: n.CreditNoteNumber,
		at: n.CreatedAt, to: v, heads: w.heads()}
	s.facts = w.date("Issued", &n.CreatedAt)
	if v.InvoiceNumber != nil {
		s.facts = append(s.facts, [2]string{"For invoice", *v.InvoiceNumber})
	}
	s.facts = append(s.facts, [2]string{"Amount credited", w.money(n.TotalCents)})
	for _, l := range n.LineItems {
		quantity, unit := "", ""
		if l.Quantity != nil {
			quantity = w.Number(*l.Quantity)
			if of := v.line(l.LineItemID); of != nil {
				unit = w.money(of.UnitAmountCents)
			}
		}
		s.rows = append(s.rows,
			row{description: l.Description, figures: w.figures(quantity, unit, l.TaxRate, l.AmountCents)})
	}
	s.sums = w.add(n.SubtotalCents, n.DiscountCents, n.Taxes, n.TotalCents)
	s.sums = append(s.sums,
		sum{label: "Amount credited (" + strings.ToUpper(n.Currency) + ")", value: w.money(n.TotalCents)})
	s.say("Reason", n.Reason)
	return s
}
