package invoice

import (
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/resource/business"
)

// sheet is what a document says, in the words and figures that are printed. The PDF and the
// public page show the same sheet.
type sheet struct {
	title     string // of the file and the footer
	heading   string // INVOICE or CREDIT NOTE
	number    string
	watermark string     // DRAFT or VOID across the page; empty for none
	date      clock.Time // when it was issued, or drafted
	billed    *Invoice   // whose bill-to is printed

	facts [][2]string // label and value; the last one is emphasized
	sheetTable
	tables     []sheetTable // in its place, where there are several
	paragraphs []paragraph
}

// sheetTable is a table of a document, and what it adds up to.
type sheetTable struct {
	heads  []string  // of its columns
	widths []float64 // of the columns beside the description, in millimetres
	rows   []sheetRow
	sums   []sheetSum // the last one is emphasized
}

type sheetRow struct {
	description string
	figures     []string
	remark      string
}

type sheetSum struct {
	label, value    string
	strong          bool
	includedInOther bool // it is contained in another figure, like a tax in the prices
}

type paragraph struct {
	heading, text string
	facts         [][2]string // below the text
}

// sheetWriter formats what a sheet says: in a locale and a currency, with or without a column for
// taxes.
type sheetWriter struct {
	*locale.Format
	currency    string
	showsTax    bool
	taxIncluded bool
}

func (w *sheetWriter) formatMoney(cents int64) string { return toPrintable(w.Money(cents, w.currency)) }

// dateFact is a fact with a date; none for nil.
func (w *sheetWriter) dateFact(label string, t *clock.Time) [][2]string {
	if t == nil {
		return nil
	}
	return [][2]string{{label, w.Date(t.Std())}}
}

// newTable is the table of lines, still empty.
func (w *sheetWriter) newTable() sheetTable {
	if w.showsTax {
		return sheetTable{heads: []string{"Description", "Quantity", "Unit price", "Tax", "Amount"},
			widths: []float64{22, 32, 16, 34}}
	}
	return sheetTable{heads: []string{"Description", "Quantity", "Unit price", "Amount"},
		widths: []float64{22, 32, 34}}
}

// columnFigures are the columns beside a description.
func (w *sheetWriter) columnFigures(quantity, unit string, rate *string, cents int64) []string {
	out := []string{quantity, unit}
	if w.showsTax {
		tax := ""
		if rate != nil {
			tax = w.formatPercent(*rate)
		}
		out = append(out, tax)
	}
	return append(out, w.formatMoney(cents))
}

func (w *sheetWriter) formatPercent(rate string) string { return w.Number(rate) + "%" }

// buildSums lists how lines, discount and taxes become the total. Where prices include the taxes,
// these come after the total.
func (w *sheetWriter) buildSums(subtotal, discount int64, taxes []Tax, total int64) (out []sheetSum) {
	if discount > 0 || len(taxes) > 0 {
		out = append(out, sheetSum{label: "Subtotal", value: w.formatMoney(subtotal)})
	}
	if discount > 0 {
		out = append(out, sheetSum{label: "Discount", value: w.formatMoney(-discount)})
	}
	whole := sheetSum{label: "Total", value: w.formatMoney(total), strong: true}
	if w.taxIncluded {
		out = append(out, whole)
	}
	for _, t := range taxes {
		name := "Tax"
		if t.Name != nil {
			name = clipName(*t.Name, 40)
		}
		s := sheetSum{label: name + " " + w.formatPercent(t.Rate) + " on " + w.formatMoney(t.BaseCents),
			value: w.formatMoney(t.AmountCents), includedInOther: w.taxIncluded}
		if w.taxIncluded {
			s.label = "Includes " + s.label
		}
		out = append(out, s)
	}
	if !w.taxIncluded {
		out = append(out, whole)
	}
	return out
}

// clipName cuts a name that would leave no room for the figures.
func clipName(name string, runes int) string {
	if short := cut.Runes(name, runes); len(short) < len(name) {
		return strings.TrimSpace(short) + "…"
	}
	return name
}

// newSheetWriter creates the writer for the documents of an invoice.
func (v *Invoice) newSheetWriter(f *locale.Format) *sheetWriter {
	w := &sheetWriter{Format: f, currency: v.Currency, taxIncluded: v.PricesIncludeTax && len(v.Taxes) > 0}
	for i := range v.LineItems {
		w.showsTax = w.showsTax || v.LineItems[i].TaxRate != nil
	}
	return w
}

func (v *Invoice) documentTitle() string {
	if v.InvoiceNumber != nil {
		return "Invoice " + *v.InvoiceNumber
	}
	return "Invoice (draft)"
}

// buildSheet is the invoice as it is printed.
func (v *Invoice) buildSheet(from *business.Letterhead, f *locale.Format) *sheet {
	w := v.newSheetWriter(f)
	s := &sheet{title: v.documentTitle(), heading: "INVOICE", number: "Draft", date: v.CreatedAt, billed: v,
		sheetTable: w.newTable(), watermark: map[Status]string{statusDraft: "DRAFT", statusVoid: "VOID"}[v.Status]}
	if v.InvoiceNumber != nil {
		s.number = *v.InvoiceNumber
	}
	if v.IssuedAt != nil {
		s.date = *v.IssuedAt
	}
	s.facts = append(w.dateFact("Issued", v.IssuedAt), w.dateFact("Due", v.DueAt)...)
	s.facts = append(s.facts, [2]string{"Amount due", w.formatMoney(v.AmountDueCents)})
	for i := range v.LineItems {
		l := &v.LineItems[i]
		r := sheetRow{description: l.Description,
			figures: w.columnFigures(w.Number(l.Quantity), w.formatMoney(l.UnitAmountCents), l.TaxRate, l.AmountCents)}
		if l.DiscountCents > 0 {
			r.remark = "Discount " + w.formatMoney(-l.DiscountCents)
			if l.DiscountPercent != nil {
				r.remark = "Discount " + w.formatPercent(*l.DiscountPercent) + ": " + w.formatMoney(-l.DiscountCents)
			}
		}
		s.rows = append(s.rows, r)
	}
	s.sums = w.buildSums(v.SubtotalCents, v.DiscountCents, v.Taxes, v.TotalAmountCents)
	if v.AmountPaidCents > 0 {
		s.sums = append(s.sums, sheetSum{label: "Paid", value: w.formatMoney(-v.AmountPaidCents)})
	}
	if v.AmountCreditedCents > 0 {
		s.sums = append(s.sums, sheetSum{label: "Credited", value: w.formatMoney(-v.AmountCreditedCents)})
	}
	last, amount := "Amount due", v.AmountDueCents
	if v.AmountToRefundCents > 0 { // an amount due of zero would not be what the figures above add up to
		last, amount = "To be paid back", v.AmountToRefundCents
	}
	s.sums = append(s.sums, sheetSum{label: last + " (" + strings.ToUpper(v.Currency) + ")",
		value: w.formatMoney(amount)})
	if text := v.paymentRequest(w); text != "" {
		if from.PaymentText != nil {
			text += "\n" + strings.TrimSpace(*from.PaymentText)
		}
		s.paragraphs = append(s.paragraphs, paragraph{"How to pay", text, from.BankFacts})
	}
	s.addParagraph("Notes", v.Notes)
	s.addParagraph("Terms", v.Terms)
	return s
}

// paymentRequest asks for what is due; empty if nothing is, or the invoice is not issued.
func (v *Invoice) paymentRequest(w *sheetWriter) string {
	if v.AmountDueCents == 0 || v.Status == statusDraft || v.InvoiceNumber == nil {
		return ""
	}
	text := "Please pay " + w.formatMoney(v.AmountDueCents)
	if v.DueAt != nil {
		text += " by " + w.Date(v.DueAt.Std())
	}
	return text + " and give " + *v.InvoiceNumber + " as the reference."
}

// addParagraph adds a paragraph, if there is any text.
func (s *sheet) addParagraph(heading string, text *string) {
	if text != nil && strings.TrimSpace(*text) != "" {
		s.paragraphs = append(s.paragraphs, paragraph{heading: heading, text: *text})
	}
}

// buildSheet is the credit note as it is printed, made out like its invoice.
func (n *CreditNote) buildSheet(v *Invoice, f *locale.Format) *sheet {
	w := v.newSheetWriter(f)
	s := &sheet{title: "Credit note " + n.CreditNoteNumber, heading: "CREDIT NOTE", number: n.CreditNoteNumber,
		date: n.CreatedAt, billed: v, sheetTable: w.newTable()}
	s.facts = w.dateFact("Issued", &n.CreatedAt)
	if v.InvoiceNumber != nil {
		s.facts = append(s.facts, [2]string{"For invoice", *v.InvoiceNumber})
	}
	s.facts = append(s.facts, [2]string{"Amount credited", w.formatMoney(n.TotalCents)})
	for _, l := range n.LineItems {
		quantity, unit := "", ""
		if l.Quantity != nil {
			quantity = w.Number(*l.Quantity)
			if of := v.findLine(l.LineItemID); of != nil {
				unit = w.formatMoney(of.UnitAmountCents)
			}
		}
		s.rows = append(s.rows,
			sheetRow{description: l.Description, figures: w.columnFigures(quantity, unit, l.TaxRate, l.AmountCents)})
	}
	s.sums = w.buildSums(n.SubtotalCents, n.DiscountCents, n.Taxes, n.TotalCents)
	s.sums = append(s.sums,
		sheetSum{label: "Amount credited (" + strings.ToUpper(n.Currency) + ")", value: w.formatMoney(n.TotalCents)})
	s.addParagraph("Reason", n.Reason)
	return s
}
