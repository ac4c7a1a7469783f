package invoice

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
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
	var business account.Business
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if v, err = whole(ctx, tx, c.Org, in.ID, invoices.Get); err != nil {
			return err
		}
		// Deleted or not: the invoice still says who asks for the money.
		business, err = db.One[account.Business](ctx, tx, "SELECT "+account.Businesses.Columns()+" FROM businesses WHERE organization_id = $1 AND id = $2", c.Org, v.BusinessID)
		return err
	})
	if err != nil {
		return nil, err
	}
	select {
	case rendering <- struct{}{}:
		defer func() { <-rendering }()
	case <-ctx.Done():
		return nil, fault.Unavailable.Because(ctx.Err())
	}
	text, err := Render(v, &business)
	if errors.Is(err, errTooLong) {
		return nil, TooLong.New()
	}
	if err != nil {
		return nil, err
	}
	name := "invoice-draft.pdf"
	if v.InvoiceNumber != nil {
		name = *v.InvoiceNumber + ".pdf"
	}
	return &op.Content{Name: name, Type: "application/pdf", ETag: fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(text))), ReadSeekCloser: file{bytes.NewReader(text)}}, nil
}

type file struct{ *bytes.Reader }

func (file) Close() error { return nil }
