package invoice

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/op"
)

// Totals are what invoices add up to.
type Totals struct {
	Totals []CurrencyTotal `json:"totals" doc:"one for each currency that the invoices have"`

	op.NoExternalText
}

// CurrencyTotal is what the invoices of one currency add up to. Pages that show a
// sum of invoices take it from here, so that no two of them differ.
type CurrencyTotal struct {
	Currency   string `json:"currency"`
	Count      int    `json:"count" doc:"how many invoices"`
	TotalCents int64  `json:"totalCents"`

	AmountDueCents      int64 `json:"amountDueCents" doc:"still to be paid of issued ones"`
	AmountToRefundCents int64 `json:"amountToRefundCents" doc:"paid and credited above the total, to be paid back"`
}

type totalsOf struct {
	op.CommonFilters
	invoiceFilter
}

// addUpInvoices adds up what the list with the same filters shows. It repeats in SQL how
// fillComputed computes what is due.
func addUpInvoices(ctx context.Context, c *op.Call, in totalsOf) (*Totals, error) {
	unpaid := in.Unpaid != nil && *in.Unpaid
	if unpaid {
		in.Unpaid = nil // the index of all totals knows it: no other needs to lead
	}
	w := in.whereClause(c)
	if unpaid {
		w.And(openSQL)
	}
	in.Filter(w)
	w.And("status <> 'void'")
	const left = "total_amount_cents - amount_paid_cents - amount_credited_cents"
	sum := func(column string) string { return "CAST(SUM(" + column + ") AS BIGINT) AS " }
	by := db.Grouping{
		By:    "currency",
		Query: in.Query,
		Columns: "currency, CAST(COUNT(*) AS BIGINT) AS count, " +
			sum("total_amount_cents") + "total_cents, " +
			sum("CASE WHEN status <> 'draft' AND "+left+" > 0 THEN "+left+" ELSE 0 END") + "amount_due_cents, " +
			sum("CASE WHEN "+left+" < 0 THEN -("+left+") ELSE 0 END") + "amount_to_refund_cents",
	}
	asked, err := w.Fingerprint()
	if err != nil {
		return nil, err
	}
	if in.Query != nil {
		asked += "\x00" + *in.Query
	}
	rows, err := keptTotals.Recall(ctx, c.Tx, c.Org, c.Now, asked, func() ([]CurrencyTotal, bool, error) {
		rows, err := db.AggregateBy[CurrencyTotal](ctx, c.Tx, invoices, by, w)
		return rows, true, err
	})
	return &Totals{Totals: rows}, err
}

var keptTotals event.Memo[[]CurrencyTotal]
