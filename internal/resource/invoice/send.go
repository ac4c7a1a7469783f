package invoice

import (
	"bytes"
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/placeholder"
	"frontdesk/internal/resource/business"
	store "frontdesk/internal/resource/file"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/template"
)

// NoRecipient refuses to send an invoice to nobody.
var NoRecipient = fault.Define("INVOICE_RECIPIENT_MISSING", 422, "The invoice has no billToEmail. Say in to where it is to go.")

// Post is what carries invoices to customers.
type Post struct {
	Files    *store.Store
	Messages *message.Messages
}

func (p Post) operations() []*op.Op {
	return []*op.Op{
		op.Flow(op.Spec{Name: "invoices.send", Outward: true, Route: "POST /v1/invoices/{id}/send", Status: 200, Summary: "Mail an issued invoice as a PDF.",
			Description: "The text is the organization's active template with the key invoice, or a built-in one. An invoice can be sent again.",
			Errors:      []*fault.Kind{TransitionInvalid, NoRecipient, TooLong, template.VariableMissing, store.LimitReached}, Events: []string{"invoice.sent"},
			Example: `{"id": ` + exampleID + `}`}, p.send),
	}
}

type invoiceSend struct {
	ID id.ID   `path:"id" doc:"the invoice"`
	To *string `json:"to" format:"email" doc:"by default billToEmail"`
}

// send draws and stores the PDF before the transaction that writes the message
// and the move. An invoice that changed meanwhile is drawn anew.
func (p Post) send(ctx context.Context, c *op.Call, in invoiceSend) (*Invoice, error) {
	for {
		l, err := p.letter(ctx, c, in)
		if err != nil {
			return nil, err
		}
		saved, err := p.Files.Save(ctx, c.Org, l.invoice.fileName(), bytes.NewReader(l.pdf))
		if err != nil {
			return nil, err
		}
		current := true
		v, err := op.Finish(ctx, c, func(ctx context.Context) (*Invoice, error) {
			v, err := lock(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			if current = v.UpdatedAt == l.invoice.UpdatedAt; !current {
				return nil, fault.Unavailable.New()
			}
			return v, p.post(ctx, c, v, l, saved)
		})
		if err != nil {
			saved.Discard(ctx)
		}
		if current || ctx.Err() != nil {
			return v, err
		}
	}
}

// letter is what goes into the post.
type letter struct {
	invoice *Invoice
	from    *business.Letterhead
	to      string
	pdf     []byte
	mail    *template.Rendered
}

func (p Post) letter(ctx context.Context, c *op.Call, in invoiceSend) (*letter, error) {
	l := &letter{}
	var content template.Content
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if l.invoice, err = whole(ctx, tx, c.Org, in.ID, invoices.Get); err != nil {
			return err
		}
		if l.from, err = business.LetterheadOf(ctx, tx, c.Org, l.invoice.BusinessID); err != nil {
			return err
		}
		content, err = template.ForKey(ctx, tx, c.Org, template.Invoice)
		return err
	})
	if err != nil {
		return nil, err
	}
	v := l.invoice
	switch {
	case v.Status == draft:
		return nil, v.refuseMove(sent, "issue it first")
	case v.Status == void:
		return nil, v.refuseMove(sent, "it is void")
	case in.To != nil:
		l.to = *in.To
	case v.BillToEmail != nil:
		l.to = *v.BillToEmail
	default:
		return nil, NoRecipient.New()
	}
	if l.mail, err = content.Render(placeholder.In(v.placeholders(l.from))); err != nil {
		return nil, err
	}
	l.pdf, err = v.pdf(ctx, l.from)
	return l, err
}

// post writes the message and the move in the transaction that is open.
func (p Post) post(ctx context.Context, c *op.Call, v *Invoice, l *letter, saved *store.Saved) error {
	attached, err := saved.Insert(ctx, c.Tx, c.Now, nil)
	if err != nil {
		return err
	}
	if _, err := p.Messages.Post(ctx, c.Tx, c.Cause(), message.Outgoing{To: []string{l.to}, ReplyTo: l.from.Email, Content: l.mail,
		Files: []*store.File{attached}, CustomerID: v.CustomerID}); err != nil {
		return err
	}
	if v.SentAt == nil {
		v.SentAt = &c.Now
	}
	v.Status = v.standing()
	if err := v.save(ctx, c); err != nil {
		return err
	}
	return c.Emit("invoice.sent", v.ID, v)
}

// placeholders are what a template can say about an invoice, as the business
// writes money and dates.
func (v *Invoice) placeholders(from *business.Letterhead) map[string]any {
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
		"business": map[string]any{"name": from.Name, "email": text(from.Email), "phone": text(from.Phone), "website": text(from.Website)},
		"customer": map[string]any{"name": text(v.BillToName), "email": text(v.BillToEmail)},
		"invoice": map[string]any{"number": text(v.InvoiceNumber), "total": f.Money(v.TotalAmountCents, v.Currency), "amountPaid": f.Money(v.AmountPaidCents, v.Currency),
			"amountDue": f.Money(v.AmountDueCents, v.Currency), "issuedDate": date(v.IssuedAt), "dueDate": date(v.DueAt), "notes": text(v.Notes), "terms": text(v.Terms)},
	}
}
