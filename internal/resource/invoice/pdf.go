package invoice

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/business"
)

// TooLong refuses to draw what nobody would read.
var TooLong = fault.Define("INVOICE_TOO_LONG", 422, fmt.Sprintf("The descriptions, notes and terms of this invoice fill more than %d pages. Make them shorter.", maxPages))

// rendering bounds how many documents are drawn at once: each takes a core,
// for milliseconds as a rule and for seconds at worst.
var rendering = make(chan struct{}, 2)

func pdfOperations() []*op.Op {
	return []*op.Op{
		op.Bytes(op.Spec{Name: "invoices.pdf", Route: "GET /v1/invoices/{id}/pdf", Summary: "Get an invoice as a PDF.",
			Description: "Dates and money are written as the business's locale and time zone have them. A draft and a void invoice are marked as such.",
			Media:       "application/pdf", Errors: []*fault.Kind{TooLong}, Example: `{"id": ` + exampleID + `}`}, getPDF),
	}
}

func getPDF(ctx context.Context, c *op.Call, in invoiceRef, _ *op.Stream) (*op.Content, error) {
	var v *Invoice
	var from *business.Letterhead
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if v, err = whole(ctx, tx, c.Org, in.ID, invoices.Get); err != nil {
			return err
		}
		from, err = business.LetterheadOf(ctx, tx, c.Org, v.BusinessID)
		return err
	})
	if err != nil {
		return nil, err
	}
	text, err := v.pdf(ctx, from)
	if err != nil {
		return nil, err
	}
	return &op.Content{Name: v.fileName(), Type: "application/pdf", ETag: fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(text))), ReadSeekCloser: file{bytes.NewReader(text)}}, nil
}

// pdf draws the invoice when a place is free.
func (v *Invoice) pdf(ctx context.Context, from *business.Letterhead) ([]byte, error) {
	select {
	case rendering <- struct{}{}:
		defer func() { <-rendering }()
	case <-ctx.Done():
		return nil, fault.Unavailable.Because(ctx.Err())
	}
	text, err := Render(v, from)
	if errors.Is(err, errTooLong) {
		return nil, TooLong.New()
	}
	return text, err
}

func (v *Invoice) fileName() string {
	if v.InvoiceNumber != nil {
		return *v.InvoiceNumber + ".pdf"
	}
	return "invoice-draft.pdf"
}

type file struct{ *bytes.Reader }

func (file) Close() error { return nil }
