package invoice

import (
	"context"

	"frontdesk/internal/kernel/db"
)

// TaxSum is what was taxed at one rate in a span, and the tax. Rate is empty for what
// has no tax.
type TaxSum struct {
	Span                 int
	Rate, Name, Currency string

	Invoiced, InvoicedTax int64 // of the invoices issued in the span; without and of the tax
	Credited, CreditedTax int64 // of the credit notes written in it
	Received, ReceivedTax int64 // the parts of the payments received in it

	External bool // outsiders may have written the name of the tax
}

// taxSums adds up taxes by span, currency, rate and name.
type taxSums struct {
	at  map[TaxSum]int // by those fields alone
	all []TaxSum
}

func (t *taxSums) of(m *taxedMovement, key taxKey) *TaxSum {
	k := TaxSum{Span: m.Span, Rate: key.rate, Name: key.name, Currency: m.Currency}
	at, ok := t.at[k]
	if !ok {
		at = len(t.all)
		t.at[k], t.all = at, append(t.all, k)
	}
	t.all[at].External = t.all[at].External || m.External && key.name != ""
	return &t.all[at]
}

// taxedMovement is a movement of money, and the taxes of its invoice or credit note.
type taxedMovement struct {
	Span     int    `db:"span"`
	Currency string `db:"currency"`
	Cents    int64  `db:"cents"`
	Taxes    []Tax  `db:"taxes"`
	Total    int64  `db:"total"`
	Before   int64  `db:"before"` // what was paid earlier of the same invoice
	External bool   `db:"external"`
}

// SumTaxes adds up taxes by rate.
func (s *SumOver) SumTaxes(ctx context.Context, tx *db.Tx) ([]TaxSum, error) {
	sums := taxSums{at: map[TaxSum]int{}}
	for _, read := range []struct {
		movement
		taxes, before string
		add           func(m *taxedMovement)
	}{
		{issuing, "i.taxes", "0", sums.addInvoice},
		{crediting, "m.taxes", "0", sums.addCreditNote},
		{paying, "i.taxes", `(
			SELECT COALESCE(SUM(x.amount_cents - x.refunded_cents), 0) FROM invoice_payments x
			WHERE x.organization_id = m.organization_id AND x.invoice_id = m.invoice_id AND x.deleted_at IS NULL
				AND x.voided_at IS NULL AND (x.paid_at < m.paid_at OR x.paid_at = m.paid_at AND x.seq < m.seq))`,
			sums.addPayment},
	} {
		with, where, args := s.sql(read.movement)
		rows, err := db.QueryAll[taxedMovement](ctx, tx, with+"SELECT s.span, i.currency, "+read.cents+" AS cents, "+
			read.taxes+" AS taxes, i.total_amount_cents AS total, CAST("+read.before+" AS BIGINT) AS before, "+
			"i.external"+where, args...)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			read.add(&rows[i])
		}
	}
	return sums.all, nil
}

func (t *taxSums) addInvoice(m *taxedMovement) {
	t.addDocument(m, func(s *TaxSum) (base, tax *int64) { return &s.Invoiced, &s.InvoicedTax })
}

func (t *taxSums) addCreditNote(m *taxedMovement) {
	t.addDocument(m, func(s *TaxSum) (base, tax *int64) { return &s.Credited, &s.CreditedTax })
}

// addDocument adds the taxes of an invoice or a credit note.
func (t *taxSums) addDocument(m *taxedMovement, to func(*TaxSum) (base, tax *int64)) {
	taxes, untaxed := indexTaxes(m.Taxes, m.Cents)
	for key, tax := range taxes {
		baseSum, taxSum := to(t.of(m, key))
		*baseSum += tax.BaseCents
		*taxSum += tax.AmountCents
	}
	if untaxed != 0 {
		base, _ := to(t.of(m, taxKey{}))
		*base += untaxed
	}
}

// addPayment divides a payment among the taxes of its invoice. Each gets its part of all
// that was paid so far less its part of what was paid before, so that the parts of all
// payments add up to the tax when the invoice is paid.
func (t *taxSums) addPayment(m *taxedMovement) {
	if m.Total <= 0 {
		return
	}
	so, given := int64(0), int64(0)
	part := func(cents int64) int64 {
		so += cents
		upTo := mulDivRound(m.Before+m.Cents, so, m.Total) - mulDivRound(m.Before, so, m.Total)
		share := upTo - given
		given = upTo
		return share
	}
	untaxed := m.Total
	for _, tax := range m.Taxes {
		key := taxKey{rate: tax.Rate}
		if tax.Name != nil {
			key.name = *tax.Name
		}
		sum := t.of(m, key)
		sum.Received += part(tax.BaseCents)
		sum.ReceivedTax += part(tax.AmountCents)
		untaxed -= tax.BaseCents + tax.AmountCents
	}
	if untaxed != 0 {
		t.of(m, taxKey{}).Received += part(untaxed)
	}
}
