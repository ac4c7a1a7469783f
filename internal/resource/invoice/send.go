package invoice

import (
	"bytes"
	"context"
	"crypto/rand"
	"html"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/placeholder"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/customer"
	store "frontdesk/internal/resource/file"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/template"
)

// NoRecipient refuses to send an invoice that has no address.
var NoRecipient = fault.DefineKind("INVOICE_RECIPIENT_MISSING", 422,
	"The invoice has no billToEmail. Set to to an address.")

func (s *Service) sendOperations() []*op.Op {
	return []*op.Op{
		op.Flow(op.Spec{
			Name: "invoices.send",
			Words: "mail invoice, mail bill, remind, remind pay, reminder, chase, nudge, dun, email invoice, " +
				"ask to pay, late paying",
			Outward:   true,
			Rehearses: true,
			Route:     "POST /v1/invoices/{id}/send",
			Status:    200,
			Summary:   "Mail an issued invoice as a PDF, or a reminder of it.",
			Description: "The text is the organization's active template with the templateKey, or a built-in one. An " +
				"invoice can be sent again. With scheduledAt the mail is written now, as the invoice is now, and " +
				"leaves then; until then the message can be canceled.",
			Errors: []*fault.Kind{
				TransitionInvalid, NoRecipient, TooLong, template.VariableMissing, store.LimitReached,
			},
			Events:  []string{"invoice.sent"},
			Example: `{"id": ` + exampleID + `, "message": "It was a pleasure."}`,
		}, s.sendInvoice),
	}
}

type invoiceSend struct {
	ID id.ID   `path:"id" doc:"the invoice"`
	To *string `json:"to" format:"email" doc:"by default billToEmail"`

	TemplateKey string      `json:"templateKey" default:"invoice" enum:"invoice,invoice_reminder"`
	Message     *string     `json:"message" max:"10000" doc:"a text of yours in the mail"`
	ScheduledAt *clock.Time `json:"scheduledAt" doc:"when to send it; within a year"`
}

// Prepare refuses a time that is too far ahead, and a text or an address of the caller's own
// to callers who may not write mail.
func (in *invoiceSend) Prepare(_ context.Context, c *op.Call) error {
	if in.To != nil || in.Message != nil {
		err := c.RequirePermission("messages", op.ActionCreate, "An invoice with a text or to an address of your own")
		if err != nil {
			return err
		}
	}
	return message.CheckScheduledAt(in.ScheduledAt, c.Now)
}

// sendInvoice draws and stores the PDF before the transaction that writes the message and the new
// status. If the invoice changed in between, the PDF is out of date, and all of it is done
// again.
func (s *Service) sendInvoice(ctx context.Context, c *op.Call, in invoiceSend) (*Invoice, error) {
	if c.Rehearsing() {
		return s.rehearseSend(ctx, c, in)
	}
	for {
		l, err := s.composeWithPDF(ctx, c.Read, c.Org, in)
		if err != nil {
			return nil, err
		}
		saved, err := s.files.Save(ctx, c.Org, l.invoice.pdfFileName(), bytes.NewReader(l.pdf))
		if err != nil {
			return nil, err
		}
		current := true
		v, err := op.Finish(ctx, c, func(ctx context.Context) (*Invoice, error) {
			v, err := lockInvoice(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			if current = v.UpdatedAt == l.invoice.UpdatedAt; !current {
				return nil, fault.Unavailable.New()
			}
			if err := s.attachAndPost(ctx, c, v, l, saved); err != nil {
				return nil, err
			}
			return l.answer(c, v), nil
		})
		if err != nil {
			saved.Discard(ctx)
		}
		if current || ctx.Err() != nil {
			return v, err
		}
	}
}

// rehearseSend writes the same mail in the rehearsal's transaction, with a file that stands
// for the PDF.
func (s *Service) rehearseSend(ctx context.Context, c *op.Call, in invoiceSend) (*Invoice, error) {
	l, err := s.composeMail(ctx, c.Read, c.Org, in)
	if err != nil {
		return nil, err
	}
	v, err := lockInvoice(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	attached, err := store.InsertRehearsed(ctx, c, l.invoice.pdfFileName(), "application/pdf")
	if err != nil {
		return nil, err
	}
	if err := s.postMail(ctx, c, v, l, attached); err != nil {
		return nil, err
	}
	return l.answer(c, v), nil
}

// InvoiceMail is the mail that an invoice was sent with.
type InvoiceMail struct {
	ID          id.ID          `json:"id"`
	To          []string       `json:"to"`
	Subject     string         `json:"subject" max:"1000"`
	Status      message.Status `json:"status" enum:"scheduled,queued"`
	ScheduledAt *clock.Time    `json:"scheduledAt"`
}

// answer is what send answers with: the invoice, to agents with the mail. It is a copy, because the event of the
// invoice tells of the invoice alone.
func (l *invoiceMail) answer(c *op.Call, v *Invoice) *Invoice {
	if c.Door != op.AgentDoor {
		return v
	}
	sent := *v
	sent.Message = &InvoiceMail{l.posted.ID, l.posted.To, l.posted.Subject, l.posted.Status, l.posted.ScheduledAt}
	return &sent
}

// invoiceMail is the mail with an invoice, before it becomes a message.
type invoiceMail struct {
	invoice *Invoice
	from    *business.Letterhead
	to      string
	pdf     []byte
	mail    *template.Rendered
	at      *clock.Time // when it leaves; nil for at once
	link    string      // to the public page
	posted  *message.Message
}

// composeWithPDF composes the mail and draws its PDF.
func (s *Service) composeWithPDF(ctx context.Context, read func(context.Context, db.Func) error, org id.ID,
	in invoiceSend) (*invoiceMail, error) {
	l, err := s.composeMail(ctx, read, org, in)
	if err != nil {
		return nil, err
	}
	l.pdf, err = s.drawInvoice(ctx, l.invoice, l.from)
	return l, err
}

// composeMail composes the mail without its PDF: it checks that the invoice may be sent, finds the
// recipient and renders the template.
func (s *Service) composeMail(ctx context.Context, read func(context.Context, db.Func) error, org id.ID,
	in invoiceSend) (*invoiceMail, error) {
	l := &invoiceMail{}
	var content template.Content
	err := read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if l.invoice, err = readInvoice(ctx, tx, org, in.ID, invoices.Get); err != nil {
			return err
		}
		if l.from, err = business.LetterheadOf(ctx, tx, org, l.invoice.BusinessID); err != nil {
			return err
		}
		content, err = template.ContentForKey(ctx, tx, org, in.TemplateKey)
		return err
	})
	if err != nil {
		return nil, err
	}
	v := l.invoice
	switch {
	case v.Status == statusDraft:
		return nil, v.moveFault(statusSent, "issue it first")
	case v.Status == statusVoid:
		return nil, v.moveFault(statusSent, "it is void")
	case in.TemplateKey == template.InvoiceReminder && v.AmountDueCents == 0:
		return nil, TransitionInvalid.Say("Nothing is due, so there is nothing to remind of.")
	case in.To != nil:
		l.to = *in.To
	case v.BillToEmail != nil:
		l.to = *v.BillToEmail
	default:
		return nil, NoRecipient.Say("The invoice has no billToEmail. Send it with `to`, an email address.")
	}
	l.link = s.publicLink(v)
	if l.mail, err = renderWithMessage(content, v.templateValues(l.from, l.link), in.Message); err != nil {
		return nil, err
	}
	l.at = in.ScheduledAt
	return l, nil
}

// attachAndPost writes the stored PDF, the message and the new status in the open transaction.
func (s *Service) attachAndPost(ctx context.Context, c *op.Call, v *Invoice, l *invoiceMail, saved *store.Saved) error {
	attached, err := saved.Insert(ctx, c.Tx, c.Now, nil)
	if err != nil {
		return err
	}
	return s.postMail(ctx, c, v, l, attached)
}

// postMail writes the message with its PDF, and marks the invoice as sent.
func (s *Service) postMail(ctx context.Context, c *op.Call, v *Invoice, l *invoiceMail, attached *store.File) error {
	var err error
	if l.posted, err = s.messages.Post(ctx, c.Tx, c.EventCause(), l.toMessage(attached)); err != nil {
		return err
	}
	if v.SentAt == nil {
		v.SentAt = &c.Now
		if l.at != nil && *l.at > c.Now {
			v.SentAt = l.at
		}
	}
	v.Status = v.currentStatus()
	if err := v.saveAndIndex(ctx, c); err != nil {
		return err
	}
	return c.Emit("invoice.sent", v.ID, v)
}

// renderWithMessage renders a template with a text of the caller's own. The text goes where the template
// names message, or else above everything. It is not markup, and keeps its line breaks.
func renderWithMessage(content template.Content, values map[string]any, own *string) (*template.Rendered, error) {
	if own == nil || strings.TrimSpace(*own) == "" {
		values["message"] = ""
		return content.Render(placeholder.LookupIn(values))
	}
	// The template may be Markdown, which would read the text as markup. So a random word stands for it,
	// and the text replaces the word in the finished HTML.
	mark := "message" + strings.ToLower(rand.Text())
	values["message"] = mark
	out, err := content.Render(placeholder.LookupIn(values))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(html.EscapeString(strings.TrimSpace(*own)), "\n")
	text := strings.Join(lines, "<br>\n")
	body := strings.ReplaceAll(out.HTML, mark, text)
	if body == out.HTML {
		body = "<p>" + text + "</p>\n" + body
	}
	made, err := template.CleanHTML(body)
	if err != nil {
		return nil, fault.Field("message", template.IntricateHTML)
	}
	made.Own = out.Own
	made.Subject = strings.TrimSpace(strings.ReplaceAll(out.Subject, mark, ""))
	return made, nil
}

// templateValues are the values that a template can use, with money and dates in the business's
// locale.
func (v *Invoice) templateValues(from *business.Letterhead, link string) map[string]any {
	f := locale.New(from.Locale, from.Timezone)
	date := func(t *clock.Time) any {
		if t == nil {
			return nil
		}
		return f.Date(t.Std())
	}
	text := func(s *string) any {
		if s == nil {
			return nil
		}
		return *s
	}
	return map[string]any{
		"business": map[string]any{
			"name":    from.Name,
			"email":   text(from.Email),
			"phone":   text(from.Phone),
			"website": text(from.Website),
		},
		"customer": map[string]any{"name": text(v.BillToName), "email": text(v.BillToEmail)},
		"invoice": map[string]any{
			"number":     text(v.InvoiceNumber),
			"total":      f.Money(v.TotalAmountCents, v.Currency),
			"amountPaid": f.Money(v.AmountPaidCents, v.Currency),
			"amountDue":  f.Money(v.AmountDueCents, v.Currency),
			"issuedDate": date(v.IssuedAt),
			"dueDate":    date(v.DueAt),
			"notes":      text(v.Notes),
			"terms":      text(v.Terms),
			"url":        link,
		},
	}
}

// OwnAddresses lists the addresses of an invoice's customer that somebody of the organization
// entered, rather than people outside.
func OwnAddresses(ctx context.Context, tx *db.Tx, org, row id.ID) ([]string, error) {
	v, err := invoices.Get(ctx, tx, org, row)
	if err != nil || v.CustomerID == nil {
		return nil, err
	}
	out, err := customer.OwnEmailAddresses(ctx, tx, org, *v.CustomerID)
	if fault.IsKind(err, fault.NotFound) {
		return nil, nil // deleted
	}
	return out, err
}
