package invoice

import (
	"context"
	"fmt"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// The numbers of invoices and of credit notes. Each business has its own series, without gaps, as tax
// law in many countries demands.
var (
	invoiceNumbers    = newNumberSeries("invoice_counters", "INV")
	creditNoteNumbers = newNumberSeries("credit_note_counters", "CN")
)

// numberSeries is one of them: the table with the last number of each business, and the prefix.
type numberSeries struct{ table, prefix string }

func newNumberSeries(table, prefix string) numberSeries {
	return numberSeries{db.Declare(table, db.Life{Refs: []db.Ref{db.RefTo("business_id", "businesses", db.Keeps)}}),
		prefix}
}

// takeNextNumber takes the next number of a business. The counter's row stays locked until the
// transaction ends: another one that needs a number waits and gets the one after it, and a
// rollback gives the number back.
func (s numberSeries) takeNextNumber(ctx context.Context, c *op.Call, business id.ID) (string, error) {
	n, err := db.QueryOne[int64](ctx, c.Tx,
		"INSERT INTO "+s.table+` (organization_id, business_id, last) VALUES ($1, $2, 1)
		ON CONFLICT (organization_id, business_id) DO UPDATE SET last = `+s.table+`.last + 1
		RETURNING last`, c.Org, business)
	return fmt.Sprintf("%s-%06d", s.prefix, n), err
}
