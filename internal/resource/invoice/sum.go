package invoice

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// This file adds up money over time, for reports. What counts, and when, is what the
// lists show today: an issued invoice that is not void on the day of its issue, a
// payment that is not void, less what was given back of it, on the day it was paid,
// and a credit note on the day it was written.

// Span is the time from From until before To.
type Span struct{ From, To clock.Time }

// SumOver says what is added up: the movements of money within the spans, which do not
// overlap.
type SumOver struct {
	Organization id.ID
	Spans        []Span
	BusinessID   *id.ID
	Currency     *string
}

// MoneySum is what the movements of one group add up to.
type MoneySum struct {
	Span     int    `db:"span"`    // its place in SumOver.Spans
	Group    *id.ID `db:"grouped"` // the customer, the invoice, or nil
	Currency string `db:"currency"`
	Cents    int64  `db:"cents"`
	Count    int    `db:"count"`
}

// SumGroup is what the sums of a SumOver are grouped by, besides span and currency.
type SumGroup string

// The groups.
const (
	BySpan     SumGroup = "NULL"
	ByCustomer SumGroup = "i.customer_id"
	byInvoice  SumGroup = "i.id"
)

// movement is one kind of movement of money, in SQL. The invoice is i, and the row
// that has the money m.
type movement struct{ table, invoice, at, cents, counts string }

var (
	issuing = movement{"invoices i", "", "i.issued_at", "i.total_amount_cents", issuedSQL}
	paying  = movement{"invoice_payments m", ofInvoice, "m.paid_at", "m.amount_cents - m.refunded_cents",
		"m.voided_at IS NULL"}
	crediting = movement{"invoice_credit_notes m", ofInvoice, "m.created_at", "m.total_cents", "i.status <> 'void'"}
)

const ofInvoice = " JOIN invoices i ON i.id = m.invoice_id"

const issuedSQL = "i.issued_at IS NOT NULL AND i.deleted_at IS NULL AND i.status NOT IN ('draft', 'void')"

// SumInvoiced adds up what was invoiced.
func (s *SumOver) SumInvoiced(ctx context.Context, tx *db.Tx, by SumGroup) ([]MoneySum, error) {
	return s.sum(ctx, tx, issuing, by)
}

// SumReceived adds up what was paid.
func (s *SumOver) SumReceived(ctx context.Context, tx *db.Tx, by SumGroup) ([]MoneySum, error) {
	return s.sum(ctx, tx, paying, by)
}

// SumCredited adds up what was credited.
func (s *SumOver) SumCredited(ctx context.Context, tx *db.Tx, by SumGroup) ([]MoneySum, error) {
	return s.sum(ctx, tx, crediting, by)
}

func (s *SumOver) sum(ctx context.Context, tx *db.Tx, m movement, by SumGroup) ([]MoneySum, error) {
	with, where, args := s.sql(m)
	return db.QueryAll[MoneySum](ctx, tx, with+"SELECT s.span, "+string(by)+` AS grouped, i.currency,
		CAST(SUM(`+m.cents+") AS BIGINT) AS cents, CAST(COUNT(*) AS BIGINT) AS count"+where+
		" GROUP BY 1, 2, 3 ORDER BY 1, 3, 2", args...)
}

// sql is the two ends of a statement about the movements of one kind.
func (s *SumOver) sql(m movement) (with, where string, args []any) {
	var spans []string
	for i, p := range s.Spans {
		spans = append(spans, fmt.Sprintf("(%d, %d, %d)", i, int64(p.From), int64(p.To)))
	}
	row, _, _ := strings.Cut(m.at, ".")
	where = " FROM spans s JOIN " + m.table + " ON " + m.at + " >= s.starts AND " + m.at + " < s.ends" + m.invoice +
		" WHERE " + row + ".organization_id = $1 AND " + m.counts
	args = []any{s.Organization}
	if s.BusinessID != nil {
		args = append(args, *s.BusinessID)
		where += fmt.Sprintf(" AND i.business_id = $%d", len(args))
	}
	if s.Currency != nil {
		args = append(args, *s.Currency)
		where += fmt.Sprintf(" AND i.currency = $%d", len(args))
	}
	return "WITH spans (span, starts, ends) AS (VALUES " + strings.Join(spans, ", ") + ") ", where, args
}

// LineSum is what the lines of one group add up to, with their parts of taxes,
// discounts, payments and credit notes of their invoices.
type LineSum struct {
	Group, Currency              string
	Invoiced, Received, Credited int64
}

// SumLines divides what was invoiced, received and credited among the lines of the
// invoices, in proportion to what they cost. groupOf says which lines belong
// together.
func (s *SumOver) SumLines(ctx context.Context, tx *db.Tx, groupOf func(description string) string) ([]LineSum, error) {
	type moved struct {
		currency string
		cents    [3]int64
	}
	moves, ids := map[id.ID]*moved{}, []id.ID{}
	for i, m := range []movement{issuing, paying, crediting} {
		sums, err := s.sum(ctx, tx, m, byInvoice)
		if err != nil {
			return nil, err
		}
		for _, sum := range sums {
			if moves[*sum.Group] == nil {
				moves[*sum.Group] = &moved{currency: sum.Currency}
				ids = append(ids, *sum.Group)
			}
			moves[*sum.Group].cents[i] += sum.Cents
		}
	}
	type group struct{ name, currency string }
	groups, out := map[group]int{}, []LineSum{}
	for some := range slices.Chunk(ids, 1000) {
		lines, err := linesOf(ctx, tx, s.Organization, some)
		if err != nil {
			return nil, err
		}
		for ; len(lines) > 0; lines = lines[countSame(lines):] {
			of := lines[:countSame(lines)]
			m := moves[of[0].InvoiceID]
			shares := [3][]int64{splitAmong(m.cents[0], of), splitAmong(m.cents[1], of), splitAmong(m.cents[2], of)}
			for i, line := range of {
				g := group{groupOf(line.Description), m.currency}
				at, ok := groups[g]
				if !ok {
					at = len(out)
					groups[g], out = at, append(out, LineSum{Group: g.name, Currency: g.currency})
				}
				out[at].Invoiced += shares[0][i]
				out[at].Received += shares[1][i]
				out[at].Credited += shares[2][i]
			}
		}
	}
	return out, nil
}

// billedLine is what a line costs.
type billedLine struct {
	InvoiceID   id.ID  `db:"invoice_id"`
	Description string `db:"description"`
	Net         int64  `db:"net"`
}

// linesOf reads the lines of invoices, those of one invoice together and the dearest first.
func linesOf(ctx context.Context, tx *db.Tx, org id.ID, invoices []id.ID) ([]billedLine, error) {
	return db.QueryAll[billedLine](ctx, tx, `
		SELECT invoice_id, description, amount_cents - discount_cents AS net FROM invoice_line_items
		WHERE organization_id = $1 AND invoice_id = ANY($2) AND deleted_at IS NULL
		ORDER BY invoice_id, 3 DESC, position`, org, invoices)
}

// countSame is how many lines at the beginning are of one invoice.
func countSame(lines []billedLine) int {
	n := slices.IndexFunc(lines, func(l billedLine) bool { return l.InvoiceID != lines[0].InvoiceID })
	if n < 0 {
		return len(lines)
	}
	return n
}

// splitAmong divides an amount among the lines of an invoice so that the parts add up to
// it. Lines that take something off come last, so no sum on the way is negative.
func splitAmong(amount int64, lines []billedLine) []int64 {
	parts, whole, so, given := make([]int64, len(lines)), int64(0), int64(0), int64(0)
	for _, l := range lines {
		whole += l.Net
	}
	if whole <= 0 {
		parts[0] = amount
		return parts
	}
	for i, l := range lines {
		so += l.Net
		upTo := mulDivRound(amount, so, whole)
		parts[i], given = upTo-given, upTo
	}
	return parts
}

// Receivable is what is due of the open invoices of one group.
type Receivable struct {
	Age        int         `db:"age"` // its place in ages
	CustomerID *id.ID      `db:"customer_id"`
	Currency   string      `db:"currency"`
	Due        int64       `db:"due"`
	Overdue    int64       `db:"overdue"`
	OldestDue  *clock.Time `db:"oldest_due"`
	Count      int         `db:"count"`
}

// SumReceivables adds up what is due now, by age or by customer. Ages are the times
// before which an invoice was due to be of that age or older, the youngest first.
// The spans bound when the invoices were issued.
func (s *SumOver) SumReceivables(ctx context.Context, tx *db.Tx, now clock.Time, ages []clock.Time) ([]Receivable,
	error) {
	_, where, args := s.sql(issuing)
	_, where, _ = strings.Cut(where, " WHERE ")
	age, customer := "0", "i.customer_id"
	if ages != nil {
		age, customer = "CASE", "NULL"
		for i, before := range slices.Backward(ages) {
			age += fmt.Sprintf(" WHEN i.due_at <= %d THEN %d", int64(before), i+1)
		}
		age += " ELSE 0 END"
	}
	const due = "i.total_amount_cents - i.amount_paid_cents - i.amount_credited_cents"
	late := fmt.Sprintf("i.due_at <= %d", int64(now))
	issued := ""
	if len(s.Spans) > 0 {
		issued = fmt.Sprintf(" AND +i.issued_at >= %d AND +i.issued_at < %d", int64(s.Spans[0].From),
			int64(s.Spans[len(s.Spans)-1].To))
	}
	return db.QueryAll[Receivable](ctx, tx, "SELECT "+age+" AS age, "+customer+` AS customer_id, i.currency,
			CAST(SUM(`+due+`) AS BIGINT) AS due,
			CAST(SUM(CASE WHEN `+late+" THEN "+due+` ELSE 0 END) AS BIGINT) AS overdue,
			MIN(i.due_at) AS oldest_due, CAST(COUNT(*) AS BIGINT) AS count
		FROM invoices i WHERE i.`+openSQL+issued+" AND "+where+`
		GROUP BY 1, 2, 3 ORDER BY 4 DESC, 2`, args...)
}
