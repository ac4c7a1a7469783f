package money

import (
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/invoice"
)

// editor is the lines of an invoice, as the template "invoice" shows them.
type editor struct {
	Draft    bool
	To       string
	Lines    []line
	Totals   []totalLine
	PDF      string
	Currency string
	Wrong    string
}

type line struct {
	Description, Quantity, Price, Tax, Amount string
	N                                         int
}

type totalLine struct{ Word, Sum string }

func editorData(v *desk.Visit, i *invoice.Invoice) (any, error) {
	at := "/invoices/" + string(i.ID)
	d := &editor{Draft: i.Status == "draft", To: at + "/lines", PDF: at + "/pdf?v=" + i.UpdatedAt.String(),
		Currency: strings.ToUpper(i.Currency)}
	for n, l := range i.LineItems {
		x := line{Description: l.Description, Quantity: l.Quantity, Price: desk.Plain(l.UnitAmountCents, i.Currency),
			Amount: v.Money(l.AmountCents, i.Currency), N: n + 1}
		if l.TaxRate != nil {
			x.Tax = *l.TaxRate
		}
		d.Lines = append(d.Lines, x)
	}
	if d.Draft {
		d.Lines = append(d.Lines, line{N: len(d.Lines) + 1})
	}
	money := func(cents int64) string { return v.Money(cents, i.Currency) }
	if len(i.Taxes) > 0 || i.DiscountCents != 0 {
		d.Totals = append(d.Totals, totalLine{"Subtotal", money(i.SubtotalCents)})
	}
	if i.DiscountCents != 0 {
		d.Totals = append(d.Totals, totalLine{"Discount", money(-i.DiscountCents)})
	}
	for _, t := range i.Taxes {
		name := "Tax"
		if t.Name != nil && *t.Name != "" {
			name = *t.Name
		}
		d.Totals = append(d.Totals, totalLine{name + " " + t.Rate + " %", money(t.AmountCents)})
	}
	d.Totals = append(d.Totals, totalLine{"Total", money(i.TotalCents)})
	if i.AmountPaidCents > 0 {
		d.Totals = append(d.Totals, totalLine{"Paid", money(-i.AmountPaidCents)})
	}
	if i.AmountCreditedCents > 0 {
		d.Totals = append(d.Totals, totalLine{"Credited", money(-i.AmountCreditedCents)})
	}
	if i.AmountPaidCents > 0 || i.AmountCreditedCents > 0 {
		d.Totals = append(d.Totals, totalLine{"Left to pay", money(i.AmountDueCents)})
	}
	return d, nil
}

// saveLines replaces the lines of a draft with those of the form. A line without
// a description goes.
func saveLines(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	at := "/invoices/" + string(ref)
	var current invoice.Invoice
	if err := v.Do("invoices.get", desk.Fields{"id": ref}, &current); err != nil {
		return err
	}
	f := v.R.PostForm
	cell := func(name string, i int) string {
		if values := f[name]; i < len(values) {
			return strings.TrimSpace(values[i])
		}
		return ""
	}
	lines := []desk.Fields{}
	for i := range f["description"] {
		text := cell("description", i)
		if text == "" {
			continue
		}
		price := cell("price", i)
		if price == "" {
			price = "0"
		}
		cents, issue := desk.Cents(price, current.Currency)
		if issue != "" {
			return v.Explain(fault.BadInput.Say("The price of “%s”: %s.", text, issue), "invoices", at)
		}
		item := desk.Fields{"description": text, "unitAmountCents": cents}
		if q := strings.ReplaceAll(cell("quantity", i), ",", "."); q != "" {
			item["quantity"] = q
		}
		if t := strings.TrimSuffix(strings.ReplaceAll(cell("tax", i), ",", "."), "%"); strings.TrimSpace(t) != "" {
			item["taxRate"] = strings.TrimSpace(t)
		}
		if i < len(current.LineItems) { // what the table does not show stays
			old := current.LineItems[i]
			if old.TaxName != nil && item["taxRate"] != nil {
				item["taxName"] = *old.TaxName
			}
			if old.DiscountPercent != nil {
				item["discountPercent"] = *old.DiscountPercent
			} else if old.DiscountCents > 0 {
				item["discountCents"] = old.DiscountCents
			}
		}
		lines = append(lines, item)
	}
	if err := v.Do("invoices.update", desk.Fields{"id": ref, "lineItems": lines}, nil); err != nil {
		return v.Explain(err, "invoices", at)
	}
	return v.DoneWith(at, "saved", ref)
}

func pdf(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	return v.Bytes("invoices.pdf", []string{string(ref)}, v.R.URL.Query().Get("save") == "")
}

func creditPDF(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	note, err := v.PathID("note")
	if err != nil {
		return err
	}
	return v.Bytes("invoices.credit_notes.pdf", []string{string(ref), string(note)}, true)
}

// paymentRow is a payment as the template "payments" shows it.
type paymentRow struct {
	When       *desk.Moments
	Sum, How   string
	Note, Void string
	Voided     bool
}

// payments are what was paid of an invoice.
func payments(v *desk.Visit, i *invoice.Invoice) (*desk.Section, error) {
	if i.Status == "draft" || !v.May("invoices.payments.list") {
		return nil, nil
	}
	rows, _, err := desk.List[invoice.Payment](v, "invoices.payments.list", desk.Fields{"id": i.ID, "limit": 50})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	out := []paymentRow{}
	for _, p := range rows {
		r := paymentRow{When: v.When(p.PaidAt), Sum: v.Money(p.AmountCents, i.Currency), How: desk.Choice(p.Method),
			Voided: p.VoidedAt != nil}
		if p.Note != nil {
			r.Note = *p.Note
		}
		if p.VoidedAt == nil && v.May("invoices.payments.void") {
			r.Void = "/invoices/" + string(i.ID) + "/payments/" + string(p.ID) + "/void"
		}
		out = append(out, r)
	}
	return &desk.Section{Head: "Payments", Name: "payments", Data: out}, nil
}

func voidPayment(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	payment, err := v.PathID("payment")
	if err != nil {
		return err
	}
	at := "/invoices/" + string(ref)
	err = v.Do("invoices.payments.void", desk.Fields{"id": ref, "paymentId": payment}, nil)
	if err != nil {
		return v.Explain(err, "invoices", at)
	}
	return v.Done(at, "voided", nil)
}

// creditNotes are the documents that credit an invoice.
func creditNotes(v *desk.Visit, i *invoice.Invoice) (*desk.Section, error) {
	if i.AmountCreditedCents == 0 || !v.May("invoices.credit_notes.list") {
		return nil, nil
	}
	rows, _, err := desk.List[invoice.CreditNote](v, "invoices.credit_notes.list", desk.Fields{"id": i.ID, "limit": 20})
	if err != nil {
		return nil, err
	}
	lines := []desk.Line{}
	for _, n := range rows {
		lines = append(lines, desk.Line{Icon: "invoice", Text: n.CreditNoteNumber, Sum: v.Money(n.TotalCents,
			n.Currency),
			Href: "/invoices/" + string(i.ID) + "/credit-notes/" + string(n.ID) + "/pdf"})
	}
	return &desk.Section{Head: "Credit notes", Name: "lines", Data: desk.LinesOf(lines...)}, nil
}
