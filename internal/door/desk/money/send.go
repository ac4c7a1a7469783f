package money

import (
	"net/http"
	"net/url"
	"slices"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/invoice"
	"frontdesk/internal/resource/message"
)

// sending completes an action that mails an invoice to its customer: with the mail beside the
// form, and a moment in which it can be taken back.
func sending(a desk.Action[invoice.Invoice]) desk.Action[invoice.Invoice] {
	a.Icon, a.Op, a.Form, a.Adjust = "send", "invoices.send", sendForm, adjustSending
	if a.DoneKey == "" {
		a.DoneKey = "sent"
	}
	if a.Explain == nil {
		a.Explain = sendWords
	}
	a.Beside = func(v *desk.Visit, i *invoice.Invoice, in desk.Fields) (*desk.Section, error) {
		return mailBeside(v, &a, i, in)
	}
	a.Then = func(v *desk.Visit, i *invoice.Invoice) (string, []string, error) {
		m, err := newestMail(v, i)
		if err != nil || m == nil || !v.IsHeld(m) {
			return a.DoneKey, nil, err
		}
		return a.DoneKey + "-held", []string{desk.HeldMark(m.ID)}, nil
	}
	return a
}

var _ = desk.AddDoneTexts(map[string]string{
	"issued-sent":      "Issued and sent.",
	"issued-sent-held": "Issued. The mail leaves in ten seconds; Undo keeps it back.",
	"sent-held":        "Sent. It leaves in ten seconds.",
})

var sendForm = []desk.Field{
	{Field: "to", Label: "To", Kind: "email", StartField: "billToEmail", Required: true},
	{Field: "message", Label: "A few words", Help: "Above the invoice, in the mail."},
	{Field: "scheduledAt", Label: "Send later", Help: "Empty means now."},
}

// adjustSending leaves the customer's own address to the operation, which needs no right to write mail then.
func adjustSending(v *desk.Visit, i *invoice.Invoice, in desk.Fields) {
	if i.BillToEmail != nil && in["to"] == *i.BillToEmail {
		delete(in, "to")
	}
	if text, _ := in["message"].(string); text == "" {
		delete(in, "message")
	}
	v.HoldMail(in)
}

func sendWords(*desk.Visit, *invoice.Invoice) string {
	return "The customer gets a mail with the invoice as a PDF and a link to it."
}

func issueAndSendWords(v *desk.Visit, i *invoice.Invoice) string {
	return "The invoice for " + v.Money(i.TotalCents, i.Currency) + " gets the next number, its lines stay as they " +
		"are for good, and the customer gets it as a PDF with a link. Until then you can change everything."
}

// mailShown is the mail of an invoice as the template "invoice-mail" shows it.
type mailShown struct {
	Subject, To, Paper string
}

// mailBeside is the mail that an action would send, without words that nobody has typed yet.
func mailBeside(v *desk.Visit, a *desk.Action[invoice.Invoice], i *invoice.Invoice, in desk.Fields) (*desk.Section,
	error) {
	if i.BillToEmail == nil && in["to"] == nil { // the form asks for an address
		return nil, nil
	}
	m, _, err := rehearsedMail(v, a, i, in)
	if err != nil || m == nil {
		return nil, err
	}
	q := url.Values{}
	if text, ok := in["message"].(string); ok {
		q.Set("message", text)
	}
	d := &mailShown{Subject: m.Subject, Paper: "/invoices/" + string(i.ID) + "/" + a.Key + "/mail?" + q.Encode()}
	if len(m.To) > 0 {
		d.To = m.To[0]
	}
	return &desk.Section{Name: "invoice-mail", Data: d}, nil
}

// rehearsedMail is the mail that an action would send, and how its readers would see it, found by
// doing it and taking it back. There is none for a reader who may not see mail.
func rehearsedMail(v *desk.Visit, a *desk.Action[invoice.Invoice], i *invoice.Invoice, in desk.Fields) (
	m *message.Message, seen *message.Preview, err error) {
	if !v.May("messages.list") {
		return nil, nil, nil
	}
	var found []message.Message
	seen = &message.Preview{}
	steps := []desk.Step{{Operation: a.Op, Input: func() desk.Fields { return in }},
		{Operation: "messages.list", Input: newestFirst, Out: &found},
		{Operation: "messages.preview_stored", Out: seen, Input: func() desk.Fields {
			if m = mailOf(found, i); m == nil {
				return desk.Fields{}
			}
			return desk.Fields{"id": m.ID}
		}}}
	if a.First != "" {
		steps = slices.Insert(steps, 0, desk.Step{Operation: a.First,
			Input: func() desk.Fields { return desk.Fields{"id": i.ID} }})
	}
	err = v.Rehearse(steps...)
	return m, seen, err
}

func newestFirst() desk.Fields { return desk.Fields{"direction": []string{"outbound"}, "limit": 10} }

// newestMail is the last mail about an invoice, or nil.
func newestMail(v *desk.Visit, i *invoice.Invoice) (*message.Message, error) {
	if !v.May("messages.list") {
		return nil, nil
	}
	rows, _, err := desk.List[message.Message](v, "messages.list", newestFirst())
	return mailOf(rows, i), err
}

func mailOf(newest []message.Message, i *invoice.Invoice) *message.Message {
	n := slices.IndexFunc(newest, func(m message.Message) bool { return slices.Contains(m.InvoiceIDs, i.ID) })
	if n < 0 {
		return nil
	}
	return &newest[n]
}

// showMail shows the mail of an action as a page of its own, which stands beside its form.
func showMail(v *desk.Visit) error {
	n := slices.IndexFunc(invoices.Actions, func(a desk.Action[invoice.Invoice]) bool {
		return a.Key == v.R.PathValue("action") && a.Beside != nil
	})
	if n < 0 {
		return fault.NotFound.New()
	}
	a := &invoices.Actions[n]
	i, err := invoiceOf(v)
	if err != nil {
		return err
	}
	in := desk.Fields{"id": i.ID}
	if a.FixedInput != nil {
		in["templateKey"] = a.FixedInput(v, i)["templateKey"]
	}
	if text := v.R.URL.Query().Get("message"); text != "" {
		in["message"] = text
	}
	if i.BillToEmail == nil {
		in["to"] = "customer@example.com" // the mail is the same whoever gets it
	}
	m, seen, err := rehearsedMail(v, a, i, in)
	if err != nil {
		return err
	}
	if m == nil {
		return fault.NotFound.New()
	}
	return v.MailPaper(http.StatusOK, seen.HTML, seen.Text)
}

// invoiceOf is the invoice that the path names.
func invoiceOf(v *desk.Visit) (*invoice.Invoice, error) {
	ref, err := v.PathID("id")
	if err != nil {
		return nil, err
	}
	var i invoice.Invoice
	return &i, v.Do("invoices.get", desk.Fields{"id": ref}, &i)
}
