package invoice

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/business"
)

// TooLong refuses to draw a document that nobody would read.
var TooLong = fault.DefineKind("INVOICE_TOO_LONG", 422,
	fmt.Sprintf("The descriptions, notes and terms of this invoice fill more than %d pages. Make them shorter.",
		maxPages))

// renderSlots bounds how many documents are drawn at once. Each takes a core, usually for
// milliseconds and at worst for seconds.
var renderSlots = make(chan struct{}, 2)

func (s *Service) pdfOperations() []*op.Op {
	return []*op.Op{
		op.Bytes(op.Spec{
			Name:    "invoices.pdf",
			Doors:   op.RESTDoor | op.ConsoleDoor,
			Route:   "GET /v1/invoices/{id}/pdf",
			Summary: "Get an invoice as a PDF.",
			Description: "Dates and amounts follow the business's locale and time zone. A draft or void invoice is " +
				"marked as such.",
			MediaType: "application/pdf",
			Errors:    []*fault.Kind{TooLong},
			Example:   `{"id": ` + exampleID + `}`,
		}, s.getInvoicePDF),
		op.Bytes(op.Spec{
			Name:      "invoices.credit_notes.pdf",
			Doors:     op.RESTDoor | op.ConsoleDoor,
			Route:     "GET /v1/invoices/{id}/credit-notes/{creditNoteId}/pdf",
			Summary:   "Get a credit note as a PDF.",
			MediaType: "application/pdf",
			Errors:    []*fault.Kind{TooLong},
			Example:   `{"id": ` + exampleID + `, "creditNoteId": "b0c1f3a7-52d4-4c89-8e1d-6f7a90b2c3d4"}`,
		}, s.getCreditNotePDF),
	}
}

func (s *Service) getInvoicePDF(ctx context.Context, c *op.Call, in invoiceRef, _ *op.Stream) (*op.Content, error) {
	var v *Invoice
	var from *business.Letterhead
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if v, err = readInvoice(ctx, tx, c.Org, in.ID, invoices.Get); err != nil {
			return err
		}
		from, err = business.LetterheadOf(ctx, tx, c.Org, v.BusinessID)
		return err
	})
	if err != nil {
		return nil, err
	}
	text, err := s.drawInvoice(ctx, v, from)
	if err != nil {
		return nil, err
	}
	return pdfContent(v.pdfFileName(), text), nil
}

// pdfContent is a PDF as the answer of an operation. Its ETag is the hash of its bytes, which
// are the same for the same invoice.
func pdfContent(name string, text []byte) *op.Content {
	return &op.Content{Name: name, Type: "application/pdf",
		ETag:           fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(text))),
		ReadSeekCloser: pdfFile{bytes.NewReader(text)}}
}

func (s *Service) getCreditNotePDF(ctx context.Context, c *op.Call, in creditNoteRef,
	_ *op.Stream) (*op.Content, error) {
	var v *Invoice
	var n *CreditNote
	var from *business.Letterhead
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if v, err = readInvoice(ctx, tx, c.Org, in.ID, invoices.Get); err != nil {
			return err
		}
		n, err = creditNotes.Rows.Find(ctx, tx, db.InOrganization(c.Org).And("invoice_id = ?", v.ID).And("id = ?",
			in.CreditNoteID))
		if err != nil {
			return err
		}
		n.fillComputed()
		from, err = business.LetterheadOf(ctx, tx, c.Org, v.BusinessID)
		return err
	})
	if err != nil {
		return nil, err
	}
	text, err := s.drawInSlot(ctx, renderSlots, c.Org, from,
		func() ([]byte, error) { return RenderCreditNote(n, v, from) })
	if err != nil {
		return nil, err
	}
	return pdfContent(n.CreditNoteNumber+".pdf", text), nil
}

// drawInvoice draws an invoice once a slot is free.
func (s *Service) drawInvoice(ctx context.Context, v *Invoice, from *business.Letterhead) ([]byte, error) {
	return s.drawInSlot(ctx, renderSlots, v.OrganizationID, from,
		func() ([]byte, error) { return RenderInvoice(v, from) })
}

// drawInSlot adds the logo and draws a document once a slot is free. The logo waits for the slot
// too, because reading it takes more memory than all the rest.
func (s *Service) drawInSlot(ctx context.Context, slots chan struct{}, org id.ID, from *business.Letterhead,
	render func() ([]byte, error)) ([]byte, error) {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return nil, fault.Unavailable.Because(ctx.Err())
	}
	if err := s.addLogo(ctx, org, from); err != nil {
		return nil, err
	}
	text, err := render()
	if errors.Is(err, errTooLong) {
		return nil, TooLong.New()
	}
	return text, err
}

func (v *Invoice) pdfFileName() string {
	if v.InvoiceNumber != nil {
		return *v.InvoiceNumber + ".pdf"
	}
	return "invoice-draft.pdf"
}

// pdfFile adds the Close that op.Content needs to bytes in memory.
type pdfFile struct{ *bytes.Reader }

func (pdfFile) Close() error { return nil }
