package invoice

import (
	"context"
	"fmt"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/op"
)

// number gives the invoice the next number of its business. The row of the
// counter is held until the transaction ends: a rival waits and gets the one
// after, and a transaction that is undone gives its number back.
func (v *Invoice) number(ctx context.Context, c *op.Call) error {
	n, err := db.One[int64](ctx, c.Tx, `
		INSERT INTO invoice_counters (organization_id, business_id, last) VALUES ($1, $2, 1)
		ON CONFLICT (organization_id, business_id) DO UPDATE SET last = invoice_counters.last + 1
		RETURNING last`, c.Org, v.BusinessID)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("INV-%06d", n)
	v.InvoiceNumber = &text
	return nil
}
