package invoice

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/message"
)

var _ message.Invoices = (*Service)(nil)

// States tells the package message how the invoices stand that messages are about. It
// implements message.Invoices.
func (s *Service) States(ctx context.Context, tx *db.Tx, org id.ID, ids []id.ID) (map[id.ID]message.InvoiceState,
	error) {
	rows, err := db.QueryAll[Invoice](ctx, tx, "SELECT "+invoices.Columns()+` FROM invoices
		WHERE organization_id = $1 AND id = ANY($2) AND deleted_at IS NULL`, org, ids)
	out := map[id.ID]message.InvoiceState{}
	for i := range rows {
		v := &rows[i]
		v.fillComputed()
		tx.TraceVersion(v.ID, v.UpdatedAt) // the message will hold the PDF of this version
		state := message.InvoiceState{Void: v.Status == statusVoid, Due: v.AmountDueCents > 0}
		if v.InvoiceNumber != nil {
			state.Number = *v.InvoiceNumber
		}
		out[v.ID] = state
	}
	return out, err
}

// PDF draws an invoice for a message that encloses it. It implements message.Invoices.
func (s *Service) PDF(ctx context.Context, org, invoice id.ID) (name string, pdf []byte, err error) {
	var v *Invoice
	var from *business.Letterhead
	err = s.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if v, err = readInvoice(ctx, tx, org, invoice, invoices.Get); err != nil {
			return err
		}
		from, err = business.LetterheadOf(ctx, tx, org, v.BusinessID)
		return err
	})
	if err != nil {
		return "", nil, err
	}
	pdf, err = s.drawInvoice(ctx, v, from)
	return v.pdfFileName(), pdf, err
}
