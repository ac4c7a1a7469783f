package message

import (
	"context"
	"fmt"
	"slices"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Invoices is what a message needs to know of the invoices that it is about.
type Invoices interface {
	// States finds invoices by their ids. One that is missing is left out.
	States(ctx context.Context, tx *db.Tx, org id.ID, ids []id.ID) (map[id.ID]InvoiceState, error)
	// PDF draws an invoice. It runs outside of transactions.
	PDF(ctx context.Context, org, invoice id.ID) (name string, pdf []byte, err error)
}

// InvoiceState is what a message needs to know of an invoice.
type InvoiceState struct {
	Number string // empty for a draft
	Void   bool
	Due    bool // something of it is still to be paid
}

// invoicePDF is a PDF that is drawn when the message is sent.
type invoicePDF struct {
	name string
	pdf  []byte
}

// encloseInvoices checks the invoices that a caller names, and notes on the
// message which of them are unpaid: outdatedReason looks at it when the message
// is sent.
func (m *Messages) encloseInvoices(ctx context.Context, c *op.Call, v *Message) error {
	v.EnclosesInvoices = len(v.InvoiceIDs) > 0
	v.DueInvoiceIDs = []id.ID{}
	if !v.EnclosesInvoices {
		return nil
	}
	found, err := m.invoices.States(ctx, c.Tx, c.Org, v.InvoiceIDs)
	if err != nil {
		return err
	}
	var tree *fault.Tree
	for i, ref := range v.InvoiceIDs {
		at := []any{"invoiceIds", i}
		switch s, ok := found[ref]; {
		case !ok:
			tree = tree.At(at, "There is no such record in this organization")
		case s.Number == "":
			tree = tree.At(at, "The invoice is a draft; issue it first")
		case s.Void:
			tree = tree.At(at, "The invoice is void")
		case slices.Contains(v.InvoiceIDs[:i], ref):
			tree = tree.At(at, "Listed twice")
		case s.Due:
			v.DueInvoiceIDs = append(v.DueInvoiceIDs, ref)
		}
	}
	return tree.Fault(fault.Invalid)
}

// listDueInvoices lists the invoices of a message of which something is still to be paid.
func (m *Messages) listDueInvoices(ctx context.Context, tx *db.Tx, v *Message) ([]id.ID, error) {
	out := []id.ID{}
	if len(v.InvoiceIDs) == 0 {
		return out, nil
	}
	found, err := m.invoices.States(ctx, tx, v.OrganizationID, v.InvoiceIDs)
	for _, ref := range v.InvoiceIDs {
		if found[ref].Due {
			out = append(out, ref)
		}
	}
	return out, err
}

// outdatedReason says why a message must no longer be sent, or is empty: an invoice
// that it is about was deleted or voided, or the message was scheduled and the
// invoice, unpaid when it was written, was paid before its time came.
func (m *Messages) outdatedReason(ctx context.Context, tx *db.Tx, v *Message) (string, error) {
	if len(v.InvoiceIDs) == 0 {
		return "", nil
	}
	found, err := m.invoices.States(ctx, tx, v.OrganizationID, v.InvoiceIDs)
	if err != nil {
		return "", err
	}
	for _, ref := range v.InvoiceIDs {
		switch s, ok := found[ref]; {
		case !ok:
			return "An invoice that the message is about was deleted before it was sent.", nil
		case s.Void:
			return fmt.Sprintf("The invoice %s was voided before the message was sent.", s.Number), nil
		case !s.Due && v.ScheduledAt != nil && slices.Contains(v.DueInvoiceIDs, ref):
			return fmt.Sprintf("The invoice %s was paid before the message was sent.", s.Number), nil
		}
	}
	return "", nil
}

// drawInvoicePDFs draws the PDFs that a message encloses.
func (m *Messages) drawInvoicePDFs(ctx context.Context, v *Message) (out []invoicePDF, err error) {
	if !v.EnclosesInvoices {
		return nil, nil
	}
	for _, ref := range v.InvoiceIDs {
		var e invoicePDF
		if e.name, e.pdf, err = m.invoices.PDF(ctx, v.OrganizationID, ref); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}
