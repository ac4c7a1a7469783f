package money

import (
	"strconv"
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
	Hint     string // in an empty price
	Wrong    string // what is wrong with the lines as a whole
	Catalog  []desk.Option
	GoesTo   string // the address that the invoice is mailed to
	Page     string // what the customer sees in the browser
}

type line struct {
	Description, Quantity, Price, Tax, Amount string
	N                                         int
	Wrong                                     string // what is wrong with the line
	At                                        string // the name of the field that it is about
	Focus                                     bool   // the first field that is wrong
}

// Says is the line when a field of it is wrong, and nothing when it is another.
func (x line) Says(field string) *line {
	if x.Wrong == "" || x.At != field {
		return nil
	}
	return &x
}

type totalLine struct{ Word, Sum string }

func editorData(v *desk.Visit, i *invoice.Invoice) (any, error) {
	at := "/invoices/" + string(i.ID)
	d := &editor{Draft: i.Status == "draft", To: at + "/lines", PDF: at + "/pdf?v=" + i.UpdatedAt.String(),
		Currency: strings.ToUpper(i.Currency), Hint: desk.Plain(0, i.Currency)}
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
	d.Totals = totals(v, i)
	d.Page = at + "/preview"
	if !d.Draft {
		return d, nil
	}
	if i.BillToEmail != nil {
		d.GoesTo = *i.BillToEmail
	}
	var err error
	d.Catalog, err = catalogOptions(v, i)
	return d, err
}

// totals are what the lines come to and what happened to it since. They add up:
// what was paid and credited beyond the total is to be paid back.
func totals(v *desk.Visit, i *invoice.Invoice) (out []totalLine) {
	money := func(cents int64) string { return v.Money(cents, i.Currency) }
	if len(i.Taxes) > 0 || i.DiscountCents != 0 {
		out = append(out, totalLine{"Subtotal", money(i.SubtotalCents)})
	}
	if i.DiscountCents != 0 {
		out = append(out, totalLine{"Discount", money(-i.DiscountCents)})
	}
	for _, t := range i.Taxes {
		name := "Tax"
		if t.Name != nil && *t.Name != "" {
			name = *t.Name
		}
		out = append(out, totalLine{name + " " + t.Rate + " %", money(t.AmountCents)})
	}
	out = append(out, totalLine{"Total", money(i.TotalCents)})
	if i.AmountPaidCents > 0 {
		out = append(out, totalLine{"Paid", money(-i.AmountPaidCents)})
	}
	if i.AmountCreditedCents > 0 {
		out = append(out, totalLine{"Credited", money(-i.AmountCreditedCents)})
	}
	switch {
	case i.AmountToRefundCents > 0:
		out = append(out, totalLine{"To pay back", money(i.AmountToRefundCents)})
	case i.AmountPaidCents > 0 || i.AmountCreditedCents > 0:
		out = append(out, totalLine{"Left to pay", money(i.AmountDueCents)})
	}
	return out
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
	When       *desk.TimeText
	Sum, How   string
	Note, Void string
	Back, Sent string // the sum that is to be paid back of it, and where that is said
	Refunded   string
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
		at := "/invoices/" + string(i.ID) + "/payments/" + string(p.ID)
		if p.RefundedCents > 0 {
			r.Refunded = v.Money(p.RefundedCents, i.Currency)
		}
		back := min(i.AmountToRefundCents, p.AmountCents-p.RefundedCents)
		switch {
		case p.VoidedAt != nil:
		case back > 0 && v.May("invoices.payments.refund"):
			r.Back, r.Sent = v.Money(back, i.Currency), at+"/refund?amount="+strconv.FormatInt(back, 10)
		case p.RefundedCents == 0 && v.May("invoices.payments.void"):
			r.Void = at + "/void"
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

// refundPayment records that what was paid too much was given back: the sum that
// the button names, and no more than is still to be paid back.
func refundPayment(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	payment, err := v.PathID("payment")
	if err != nil {
		return err
	}
	at := "/invoices/" + string(ref)
	amount, err := strconv.ParseInt(v.R.URL.Query().Get("amount"), 10, 64)
	if err != nil {
		return fault.NotFound.New()
	}
	var now invoice.Invoice
	if err := v.Do("invoices.get", desk.Fields{"id": ref}, &now); err != nil {
		return err
	}
	if now.AmountToRefundCents < amount { // pressed twice, or somebody else was faster
		return v.Redirect(at)
	}
	err = v.Do("invoices.payments.refund", desk.Fields{"id": ref, "paymentId": payment, "amountCents": amount}, nil)
	if err != nil {
		return v.Explain(err, "invoices", at)
	}
	return v.Done(at, "refunded", nil)
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
