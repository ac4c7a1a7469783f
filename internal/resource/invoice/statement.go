package invoice

import (
	"context"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/customer"
)

// A statement is a customer's ledger over some days as a document: what was carried over, each
// invoice, payment, credit and charge with what was owed after it, and what is owed at the end. Amounts of
// different currencies stand in tables of their own.

// StatementTooLong refuses a statement that nobody would read.
var StatementTooLong = fault.DefineKind("STATEMENT_TOO_LONG", 422,
	"There is too much for one statement in this time. Choose a shorter one.")

// maxStatementRows bounds a statement.
const maxStatementRows = 5000

func (s *Service) statementOperations() []*op.Op {
	return []*op.Op{
		op.Bytes(op.Spec{
			Name:    "customers.statement",
			Doors:   op.RESTDoor | op.ConsoleDoor,
			Route:   "GET /v1/customers/{id}/statement.pdf",
			Summary: "Get a customer's statement as a PDF.",
			Description: "It lists the customer's transactions of a time, with the balance before, after each and at " +
				"the end, by currency. The first and the last day are days of the business's time zone.",
			MediaType: "application/pdf",
			Errors:    []*fault.Kind{StatementTooLong},
			Example:   `{"id": "8e0d2b51-6a3f-4c0e-9b7a-2f1c5d4e6a90", "from": "2026-01-01", "to": "2026-03-31"}`,
		}, s.getStatement),
	}
}

type statementAsk struct {
	ID   id.ID   `path:"id" doc:"the customer"`
	From *string `query:"from" format:"date" doc:"the first day; by default the beginning"`
	To   *string `query:"to" format:"date" doc:"the last day; by default today"`
}

// statement is what a statement tells of.
type statement struct {
	billed   *Invoice // only its bill-to
	from, to *time.Time
	now      clock.Time
	before   []customer.CurrencyBalance
	rows     []customer.Transaction
}

func (s *Service) getStatement(ctx context.Context, c *op.Call, in statementAsk, _ *op.Stream) (*op.Content, error) {
	var from *business.Letterhead
	t := &statement{billed: &Invoice{}, now: c.Now}
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		billing, err := customer.BillingOf(ctx, tx, c.Org, in.ID)
		if err != nil {
			return db.AsNotFound(err, "customer")
		}
		t.billed.fillBillTo(billing, &invoiceFields{})
		if from, err = business.LetterheadOf(ctx, tx, c.Org, billing.BusinessID); err != nil {
			return err
		}
		begin, end, err := t.setDays(in, from.Timezone)
		if err != nil {
			return err
		}
		t.before, t.rows, err = customer.LedgerOf(ctx, tx, c.Org, in.ID, begin, end, maxStatementRows+1)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(t.rows) > maxStatementRows {
		return nil, StatementTooLong.New()
	}
	f := locale.New(from.Locale, from.Timezone)
	text, err := s.drawInSlot(ctx, renderSlots, c.Org, from,
		func() ([]byte, error) { return renderSheet(t.buildSheet(f), from, f) })
	if fault.IsKind(err, TooLong) {
		return nil, StatementTooLong.New()
	}
	if err != nil {
		return nil, err
	}
	return pdfContent("statement.pdf", text), nil
}

// setDays reads the first and the last day in the business's time zone, and returns the times
// between which the statement's transactions lie.
func (t *statement) setDays(in statementAsk, timezone string) (begin, end clock.Time, err error) {
	zone, err := time.LoadLocation(timezone)
	if err != nil {
		zone = time.UTC
	}
	day := func(text string) *time.Time {
		at, _ := time.ParseInLocation(time.DateOnly, text, zone) // the format was checked
		return &at
	}
	last := t.now.Std().In(zone).Format(time.DateOnly)
	if in.To != nil {
		last = *in.To
	}
	t.to = day(last)
	if in.From != nil {
		t.from = day(*in.From)
		if t.from.After(*t.to) {
			return 0, 0, (*fault.Tree)(nil).At([]any{"to"}, "Must not be before the first day").Fault(fault.BadInput)
		}
		begin = clock.FromStd(*t.from)
	}
	return begin, clock.FromStd(t.to.AddDate(0, 0, 1)), nil
}

// buildSheet is the statement as it is printed.
func (t *statement) buildSheet(f *locale.Format) *sheet {
	s := &sheet{title: "Statement", heading: "STATEMENT", date: clock.FromStd(*t.to), billed: t.billed}
	if t.from != nil {
		s.facts = append(s.facts, [2]string{"From", f.Date(*t.from)})
	}
	s.facts = append(s.facts, [2]string{"To", f.Date(*t.to)})
	balances := map[string]int64{}
	currencies := []string{}
	meet := func(code string) {
		if _, ok := balances[code]; !ok {
			balances[code] = 0
			currencies = append(currencies, code)
		}
	}
	for _, b := range t.before {
		meet(b.Currency)
	}
	for i := range t.rows {
		meet(t.rows[i].Currency)
	}
	for _, code := range currencies {
		part, left := t.buildTable(f, code)
		s.tables = append(s.tables, part)
		s.facts = append(s.facts, [2]string{"Balance " + strings.ToUpper(code), toPrintable(f.Money(left, code))})
	}
	if len(currencies) == 0 {
		s.paragraphs = []paragraph{{heading: "Nothing happened", text: "Nothing was billed in this time, and nothing " +
			"is owed."}}
	}
	return s
}

// statementWidths are those of the columns beside the description.
var statementWidths = []float64{26, 30, 30, 30}

// buildTable is the part of a statement that is in one currency, and what is owed at its end.
func (t *statement) buildTable(f *locale.Format, code string) (sheetTable, int64) {
	money := func(cents int64) string { return toPrintable(f.Money(cents, code)) }
	out := sheetTable{heads: []string{"In " + strings.ToUpper(code), "Date", "Charged", "Paid or credited", "Balance"},
		widths: statementWidths}
	balance, charged, paid := int64(0), int64(0), int64(0)
	for _, b := range t.before {
		if b.Currency == code {
			balance = b.BalanceCents
		}
	}
	if t.from != nil {
		out.rows = append(out.rows, sheetRow{description: "Balance carried over",
			figures: []string{f.Date(*t.from), "", "", money(balance)}})
		out.sums = []sheetSum{{label: "Carried over", value: money(balance)}}
	}
	for i := range t.rows {
		r := &t.rows[i]
		if r.Currency != code {
			continue
		}
		row := sheetRow{description: r.Words(), figures: []string{f.Date(r.OccurredAt.Std()), "", "", ""}}
		if r.RaisesDebt() {
			balance, charged = balance+r.AmountCents, charged+r.AmountCents
			row.figures[1] = money(r.AmountCents)
		} else {
			balance, paid = balance-r.AmountCents, paid+r.AmountCents
			row.figures[2] = money(r.AmountCents)
		}
		row.figures[3] = money(balance)
		out.rows = append(out.rows, row)
	}
	out.sums = append(out.sums, sheetSum{label: "Charged", value: money(charged)},
		sheetSum{label: "Paid or credited", value: money(-paid)})
	label := "Still to be paid ("
	if balance < 0 {
		label = "In your favor ("
	}
	out.sums = append(out.sums, sheetSum{label: label + strings.ToUpper(code) + ")", value: money(balance)})
	return out, balance
}
