package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/customer"
	"frontdesk/internal/resource/invoice"
)

// cents are the sums of one group and currency.
type cents struct{ invoiced, received, credited int64 }

func (m *cents) row(currency string) Row {
	return Row{Currency: currency, InvoicedCents: &m.invoiced, ReceivedCents: &m.received, CreditedCents: &m.credited}
}

// revenue is what was invoiced, received and credited.
func revenue(ctx context.Context, c *op.Call, q *question) (*Report, error) {
	switch q.groupBy {
	case "customer":
		return revenueByCustomer(ctx, c, q)
	case "offering":
		return revenueByOffering(ctx, c, q)
	}
	periods := q.periods()
	sums, err := sumMoney(ctx, c, q.over(c, spansOf(periods)), invoice.BySpan)
	if err != nil {
		return nil, err
	}
	t := newTotals()
	for _, currency := range currenciesOf(sums) {
		for i, p := range periods { // months without any money too
			m := cmp.Or(sums[moneyKey{span: i, currency: currency}], &cents{})
			t.add(m.row(currency), p.key, &p.name, 0)
		}
	}
	return t.report(), nil
}

// moneyKey is what sums are grouped by.
type moneyKey struct {
	span     int
	of       id.ID
	currency string
}

// sumMoney adds up the three kinds of movement.
func sumMoney(ctx context.Context, c *op.Call, over *invoice.SumOver, by invoice.SumGroup) (map[moneyKey]*cents,
	error) {
	sums := map[moneyKey]*cents{}
	for _, kind := range []struct {
		sum func(context.Context, *db.Tx, invoice.SumGroup) ([]invoice.MoneySum, error)
		to  func(m *cents) *int64
	}{
		{over.SumInvoiced, func(m *cents) *int64 { return &m.invoiced }},
		{over.SumReceived, func(m *cents) *int64 { return &m.received }},
		{over.SumCredited, func(m *cents) *int64 { return &m.credited }},
	} {
		rows, err := kind.sum(ctx, c.Tx, by)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			key := moneyKey{span: r.Span, currency: r.Currency}
			if r.Group != nil {
				key.of = *r.Group
			}
			if sums[key] == nil {
				sums[key] = &cents{}
			}
			*kind.to(sums[key]) += r.Cents
		}
	}
	return sums, nil
}

func currenciesOf(sums map[moneyKey]*cents) (out []string) {
	for key := range sums {
		if !slices.Contains(out, key.currency) {
			out = append(out, key.currency)
		}
	}
	slices.Sort(out)
	return out
}

func revenueByCustomer(ctx context.Context, c *op.Call, q *question) (*Report, error) {
	sums, err := sumMoney(ctx, c, q.over(c, q.whole()), invoice.ByCustomer)
	if err != nil {
		return nil, err
	}
	t := newTotals()
	for key, m := range sums {
		t.add(m.row(key.currency), string(key.of), nil, 0)
	}
	r := t.report()
	sortByMoney(r.Rows, func(r *Row) int64 { return *r.InvoicedCents })
	return r, r.nameCustomers(ctx, c)
}

// nameCustomers finds what the customers of a report's rows are called. A deleted one has no name here.
func (r *Report) nameCustomers(ctx context.Context, c *op.Call) error {
	ids := []id.ID{}
	for i := range r.Rows {
		if r.Rows[i].Group != nil {
			ids = append(ids, id.ID(*r.Rows[i].Group))
		}
	}
	names, external, err := customer.Names(ctx, c.Tx, c.Org, ids)
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Group != nil {
			if name, ok := names[id.ID(*row.Group)]; ok {
				row.Name = &name
			}
		}
	}
	r.External = external
	return err
}

// sortByMoney puts the largest sums first, currency by currency.
func sortByMoney(rows []Row, of func(*Row) int64) {
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(strings.Compare(a.Currency, b.Currency), cmp.Compare(of(&b), of(&a)),
			strings.Compare(*cmp.Or(a.Group, new("")), *cmp.Or(b.Group, new(""))))
	})
}

// revenueByOffering divides money among what was sold: a line belongs to the offering
// that is called like its description. Lines of no offering are together the rest.
func revenueByOffering(ctx context.Context, c *op.Call, q *question) (*Report, error) {
	offerings, err := business.OfferingNames(ctx, c.Tx, c.Org, q.BusinessID)
	if err != nil {
		return nil, err
	}
	plain := func(name string) string { return strings.ToLower(strings.TrimSpace(name)) }
	known := map[string]business.OfferingName{}
	for _, o := range offerings {
		known[plain(o.Name)] = o
	}
	sums, err := q.over(c, q.whole()).SumLines(ctx, c.Tx, func(description string) string {
		return string(known[plain(description)].ID)
	})
	if err != nil {
		return nil, err
	}
	t := newTotals()
	for _, s := range sums {
		m := cents{s.Invoiced, s.Received, s.Credited}
		name := "Everything else"
		for _, o := range offerings {
			if string(o.ID) == s.Group {
				name = o.Name
			}
		}
		t.add(m.row(s.Currency), s.Group, &name, 0)
	}
	r := t.report()
	r.External = slices.ContainsFunc(offerings, func(o business.OfferingName) bool { return o.External })
	sortByMoney(r.Rows, func(r *Row) int64 { return *r.InvoicedCents })
	return r, nil
}

// ages are the groups of receivables, and how many days an invoice of each is late.
var ages = []struct {
	key, name string
	days      int
}{
	{"not_due", "Not due yet", 0}, {"1-30", "1 to 30 days late", 0}, {"31-60", "31 to 60 days late", 31},
	{"61-90", "61 to 90 days late", 61}, {"over_90", "More than 90 days late", 91},
}

// receivables is what is owed now.
func receivables(ctx context.Context, c *op.Call, q *question) (*Report, error) {
	over := q.over(c, q.whole())
	byAge := q.groupBy == "age"
	var before []clock.Time
	if byAge {
		for _, a := range ages[1:] {
			before = append(before, c.Now.Add(-time.Duration(a.days)*24*time.Hour))
		}
	}
	sums, err := over.SumReceivables(ctx, c.Tx, c.Now, before)
	if err != nil {
		return nil, err
	}
	if byAge {
		slices.SortFunc(sums, func(a, b invoice.Receivable) int {
			return cmp.Or(strings.Compare(a.Currency, b.Currency), cmp.Compare(a.Age, b.Age))
		})
	}
	t := newTotals()
	for _, s := range sums {
		r := Row{Currency: s.Currency, AmountDueCents: &s.Due, OverdueCents: &s.Overdue, OldestDueAt: s.OldestDue}
		switch {
		case byAge:
			t.add(r, ages[s.Age].key, &ages[s.Age].name, s.Count)
		case s.CustomerID != nil:
			t.add(r, string(*s.CustomerID), nil, s.Count)
		default:
			t.add(r, "", nil, s.Count)
		}
	}
	out := t.report()
	if byAge {
		return out, nil
	}
	sortByMoney(out.Rows, func(r *Row) int64 { return *r.AmountDueCents })
	return out, out.nameCustomers(ctx, c)
}

// taxes is what was taxed, by rate and period.
func taxes(ctx context.Context, c *op.Call, q *question) (*Report, error) {
	periods := q.periods()
	sums, err := q.over(c, spansOf(periods)).SumTaxes(ctx, c.Tx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(sums, func(a, b invoice.TaxSum) int {
		return cmp.Or(cmp.Compare(a.Span, b.Span), strings.Compare(a.Currency, b.Currency),
			cmp.Compare(rateOf(b.Rate), rateOf(a.Rate)), strings.Compare(a.Name, b.Name))
	})
	t := newTotals()
	for _, s := range sums {
		tax := s.InvoicedTax - s.CreditedTax
		r := Row{Currency: s.Currency, InvoicedCents: &s.Invoiced, CreditedCents: &s.Credited,
			ReceivedCents: &s.Received, TaxCents: &tax, ReceivedTaxCents: &s.ReceivedTax}
		name := s.Name
		switch {
		case s.Rate == "":
			name = "No tax"
		case name == "":
			name = s.Rate + " %"
		}
		if s.Rate != "" {
			r.Rate = &s.Rate
		}
		t.add(r, periods[s.Span].key, &name, 0)
	}
	out := t.report()
	out.External = slices.ContainsFunc(sums, func(s invoice.TaxSum) bool { return s.External })
	return out, nil
}

func rateOf(text string) float64 {
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return -1 // no tax
	}
	return rate
}

// period is a month or a quarter, as far as the report reaches into it.
type period struct {
	invoice.Span
	key, name string
}

// periods divides the time of the question.
func (q *question) periods() (out []period) {
	t := q.from.Std().In(q.zone)
	day := func(month time.Month, day int) time.Time { return time.Date(t.Year(), month, day, 0, 0, 0, 0, q.zone) }
	months, days, start := 1, 0, day(t.Month(), 1)
	switch q.groupBy {
	case "quarter":
		months, start = 3, day((t.Month()-1)/3*3+1, 1)
	case "week":
		months, days, start = 0, 7, day(t.Month(), t.Day()-(int(t.Weekday())+6)%7) // Monday
	}
	for clock.FromStd(start) < q.to {
		end := start.AddDate(0, months, days)
		p := period{Span: invoice.Span{From: max(*q.from, clock.FromStd(start)), To: min(q.to, clock.FromStd(end))},
			key: start.Format("2006-01"), name: start.Format("January 2006")}
		switch q.groupBy {
		case "quarter":
			n := (int(start.Month())-1)/3 + 1
			p.key, p.name = fmt.Sprintf("%d-Q%d", start.Year(), n), fmt.Sprintf("Quarter %d of %d", n, start.Year())
		case "week":
			year, n := start.ISOWeek()
			p.key, p.name = fmt.Sprintf("%d-W%02d", year, n), fmt.Sprintf("Week %d of %d", n, year)
		}
		out, start = append(out, p), end
	}
	return out
}

func spansOf(periods []period) (out []invoice.Span) {
	for _, p := range periods {
		out = append(out, p.Span)
	}
	return out
}

// totals collects the rows of a report and adds them up by currency.
type totals struct {
	rows []Row
	by   map[string]*Row
}

func newTotals() *totals { return &totals{by: map[string]*Row{}} }

// add adds a row. An empty group is the rest of a report: what no group has.
func (t *totals) add(r Row, group string, name *string, count int) {
	if group != "" {
		r.Group = &group
	}
	r.Name, r.Count = name, count
	t.rows = append(t.rows, r)
	sum := t.by[r.Currency]
	if sum == nil {
		sum = &Row{Currency: r.Currency}
		t.by[r.Currency] = sum
	}
	sum.Count += count
	for _, f := range []struct {
		to *(*int64)
		of *int64
	}{{&sum.InvoicedCents, r.InvoicedCents}, {&sum.ReceivedCents, r.ReceivedCents},
		{&sum.CreditedCents, r.CreditedCents}, {&sum.AmountDueCents, r.AmountDueCents},
		{&sum.OverdueCents, r.OverdueCents}, {&sum.TaxCents, r.TaxCents},
		{&sum.ReceivedTaxCents, r.ReceivedTaxCents}} {
		if f.of == nil {
			continue
		}
		if *f.to == nil {
			*f.to = new(int64)
		}
		**f.to += *f.of
	}
	if r.OldestDueAt != nil && (sum.OldestDueAt == nil || *r.OldestDueAt < *sum.OldestDueAt) {
		sum.OldestDueAt = r.OldestDueAt
	}
}

// report is what was added.
func (t *totals) report() *Report {
	r := &Report{Rows: t.rows}
	for _, sum := range t.by {
		r.Totals = append(r.Totals, *sum)
	}
	slices.SortFunc(r.Totals, func(a, b Row) int { return strings.Compare(a.Currency, b.Currency) })
	return r
}

// The columns of the files.
var (
	groupColumn    = column{"group", func(r *Row) string { return *cmp.Or(r.Group, new("")) }}
	nameColumn     = column{"name", func(r *Row) string { return *cmp.Or(r.Name, new("")) }}
	currencyColumn = column{"currency", func(r *Row) string { return r.Currency }}
	countColumn    = column{"count", func(r *Row) string { return strconv.Itoa(r.Count) }}
	invoiced       = amountColumn("invoicedCents", func(r *Row) *int64 { return r.InvoicedCents })
	received       = amountColumn("receivedCents", func(r *Row) *int64 { return r.ReceivedCents })
	credited       = amountColumn("creditedCents", func(r *Row) *int64 { return r.CreditedCents })

	revenueColumns    = []column{groupColumn, nameColumn, currencyColumn, invoiced, received, credited}
	receivableColumns = []column{groupColumn, nameColumn, currencyColumn, countColumn,
		amountColumn("amountDueCents", func(r *Row) *int64 { return r.AmountDueCents }),
		amountColumn("overdueCents", func(r *Row) *int64 { return r.OverdueCents }),
		{"oldestDueAt", func(r *Row) string {
			if r.OldestDueAt == nil {
				return ""
			}
			return r.OldestDueAt.String()
		}}}
	taxColumns = []column{groupColumn, {"rate", func(r *Row) string { return *cmp.Or(r.Rate, new("")) }}, nameColumn,
		currencyColumn, invoiced, credited, received,
		amountColumn("taxCents", func(r *Row) *int64 { return r.TaxCents }),
		amountColumn("receivedTaxCents", func(r *Row) *int64 { return r.ReceivedTaxCents })}
)

func amountColumn(name string, of func(r *Row) *int64) column {
	return column{name, func(r *Row) string { return strconv.FormatInt(*cmp.Or(of(r), new(int64)), 10) }}
}
