package money

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/resource/invoice"
	"frontdesk/internal/resource/report"
)

// moneyData is what the template "money" shows: each section from a report, of which
// the file has the same figures.
type moneyData struct {
	Ranges   []desk.Option
	Range    string
	Basis    string // paid or invoiced: when a tax counts
	From, To string // days, of a range that the reader chose
	Issue    string
	Span     string // in words
	Figures  []moneyFigure
	Charts   []*desk.Chart
	Files    map[string]string // the addresses of the files, by report
	Note     string
	Ages     []ageBar
	AgeHeads []string
	Debtors  []debtor
	AllOwing int
	Taxes    []taxTable
	Expected *desk.Section

	heads   []string
	span    desk.Fields // from and to
	totals  []report.Row
	started string // the first day
}

type moneyFigure struct {
	Word, Sum, Also, More, Href string
	Bad                         bool
}

type ageBar struct {
	Currency, Sum, Count string
	Parts                []agePart
	Cells                []ageCell
}

type agePart struct{ Class, X, Width, Title string }

type ageCell struct{ Sum, Count string }

type debtor struct {
	Name, Href, Sum, Width string
	Avatar                 *desk.Avatar
	Pill                   desk.Pill
}

type taxTable struct {
	Head    string
	Rows    []taxRow
	Net     string
	Tax     string
	Earlier []desk.Option // quarters and their tax
}

type taxRow struct{ Name, Net, Tax, Width string }

var ranges = []desk.Option{{Value: "", Text: "Last 12 months"}, {Value: "year", Text: "This year"},
	{Value: "last-year", Text: "Last year"}, {Value: "quarter", Text: "This quarter"},
	{Value: "days", Text: "From … to …"}}

func showMoney(v *desk.Visit) error {
	q := v.R.URL.Query()
	d := &moneyData{Ranges: ranges, Range: q.Get("range"), Basis: cmp.Or(q.Get("basis"), "paid"),
		Files: map[string]string{}}
	d.readRange(v, q)
	for _, part := range []func(*desk.Visit) error{d.revenue, d.receivables, d.debtors, d.taxes, d.expected} {
		if err := part(v); err != nil {
			return err
		}
	}
	status := http.StatusOK
	if d.Issue != "" {
		status = http.StatusBadRequest
	}
	now := v.When(v.Now())
	view := desk.View{Title: "Money", Section: "money", Own: true, Data: d, Watch: "invoice", Sub: "as of " + now.Text}
	if v.May("invoices.create") {
		view.Main = &desk.Button{Text: "New invoice", Href: "/invoices/new", Icon: "plus"}
	}
	return v.Show(status, "money", view)
}

// readRange reads which time the page is about. What cannot be read is said, and the
// last twelve months are shown.
func (d *moneyData) readRange(v *desk.Visit, q url.Values) {
	now := v.Now().Std().In(v.Zone())
	month := time.Month((int(now.Month())-1)/3*3 + 1)
	from, to := time.Date(now.Year(), now.Month()-11, 1, 0, 0, 0, 0, v.Zone()), now
	switch d.Range {
	case "year":
		from = time.Date(now.Year(), 1, 1, 0, 0, 0, 0, v.Zone())
	case "last-year":
		from, to = time.Date(now.Year()-1, 1, 1, 0, 0, 0, 0, v.Zone()), time.Date(now.Year()-1, 12, 31, 0, 0, 0, 0,
			v.Zone())
	case "quarter":
		from = time.Date(now.Year(), month, 1, 0, 0, 0, 0, v.Zone())
	case "days":
		first, errFirst := time.ParseInLocation(time.DateOnly, q.Get("from"), v.Zone())
		last, errLast := time.ParseInLocation(time.DateOnly, q.Get("to"), v.Zone())
		switch {
		case q.Get("from") == "" && q.Get("to") == "":
			from, to = from.AddDate(0, 9, 0), now // a beginning
		case errFirst != nil || errLast != nil:
			d.Issue = "Choose the first and the last day."
		case last.Before(first):
			d.Issue = "The last day must not be before the first."
		case last.After(first.AddDate(3, 0, 0)):
			d.Issue = "Choose at most three years."
		default:
			from, to = first, last
		}
	default:
		d.Range = ""
	}
	d.From, d.To = from.Format(time.DateOnly), to.Format(time.DateOnly)
	d.Span, d.started = v.Day(from)+" to "+v.Day(to), v.Day(from)
	d.span = desk.Fields{"from": d.From, "to": d.To}
	if to.Equal(now) {
		delete(d.span, "to")
	}
}

// ask reads a report of the chosen business, and where its file is.
func (d *moneyData) ask(v *desk.Visit, name string, in desk.Fields) (r report.Report, err error) {
	in["name"] = name
	err = v.Do("reports.get", v.Chosen("reports.get", in), &r)
	file := url.Values{}
	for key, value := range in {
		if text, ok := value.(string); ok && key != "name" {
			file.Set(key, text)
		}
	}
	d.Files[name] = "/money/" + name + ".csv?" + file.Encode()
	return r, err
}

// by returns the fields of a question about the chosen time, grouped.
func (d *moneyData) by(group string) desk.Fields {
	in := desk.Fields{"groupBy": group}
	for name, value := range d.span {
		in[name] = value
	}
	return in
}

// revenue is the bars of each currency, with the figures above them.
func (d *moneyData) revenue(v *desk.Visit) error {
	first, _ := time.Parse(time.DateOnly, d.From)
	last, _ := time.Parse(time.DateOnly, d.To)
	group := "month"
	if last.After(first.AddDate(1, 0, 0)) {
		group = "quarter"
	}
	r, err := d.ask(v, "revenue", d.by(group))
	if err != nil {
		return err
	}
	d.totals = r.Totals
	for _, total := range desk.OwnFirst(v, r.Totals, currencyOf) {
		c := revenueChart(v, &total, r.Rows)
		c.Says = "Invoiced and received in " + strings.ToUpper(total.Currency) + " by " + group + ", " + d.Span
		c.Total = desk.Count(len(c.Heads), group, group+"s")
		d.Charts, d.heads = append(d.Charts, c), c.Heads
	}
	in := "in " + desk.Count(len(d.heads), group, group+"s")
	if d.heads == nil {
		in = "nothing in this time"
	}
	d.Figures = append(d.Figures,
		figureOf(v, "Invoiced", in, "#invoiced", r.Totals, func(r *report.Row) int64 { return *r.InvoicedCents }),
		figureOf(v, "Received", in, "#invoiced", r.Totals, func(r *report.Row) int64 { return *r.ReceivedCents }))
	return nil
}

func currencyOf(r *report.Row) string { return r.Currency }

// revenueChart is the bars of one currency.
func revenueChart(v *desk.Visit, total *report.Row, rows []report.Row) *desk.Chart {
	invoiced := desk.Series{Word: "Invoiced", Class: "pale"}
	received := desk.Series{Word: "Received", Class: "full"}
	credited := desk.Series{Word: "Credited", Class: "out"}
	heads := []string{}
	for _, row := range rows {
		if row.Currency != total.Currency {
			continue
		}
		heads = append(heads, periodHead(*row.Group, len(heads) == 0))
		invoiced.Cents = append(invoiced.Cents, *row.InvoicedCents)
		received.Cents = append(received.Cents, *row.ReceivedCents)
		credited.Cents = append(credited.Cents, *row.CreditedCents)
	}
	if *total.CreditedCents > 0 {
		return v.NewChart(total.Currency, heads, invoiced, received, credited)
	}
	return v.NewChart(total.Currency, heads, invoiced, received)
}

// figureOf is a figure with the sums of a report, the business's own currency large.
func figureOf(v *desk.Visit, word, more, href string, totals []report.Row, of func(*report.Row) int64) moneyFigure {
	own := v.CurrentBusiness().Currency
	f := moneyFigure{Word: word, Sum: v.Money(0, own), More: more, Href: href}
	var also []string
	for _, t := range totals {
		switch {
		case t.Currency == own:
			f.Sum = v.Money(of(&t), own)
		case of(&t) != 0:
			also = append(also, v.Money(of(&t), t.Currency))
		}
	}
	f.Also = strings.Join(also, " + ")
	return f
}

// periodHead is the head of a month or quarter: the year stands with the first and in
// January.
func periodHead(group string, first bool) string {
	if t, err := time.Parse("2006-01", group); err == nil {
		if first || t.Month() == time.January {
			return t.Format("Jan 2006")
		}
		return t.Format("Jan")
	}
	year, quarter, _ := strings.Cut(group, "-")
	return quarter + " " + year
}

// ages are the groups of the report, the youngest first.
var ages = []string{"not_due", "1-30", "31-60", "61-90", "over_90"}

// receivables is what is owed, by age.
func (d *moneyData) receivables(v *desk.Visit) error {
	r, err := d.ask(v, "receivables", desk.Fields{"groupBy": "age"})
	if err != nil {
		return err
	}
	d.AgeHeads = []string{"Not due", "1–30 days", "31–60 days", "61–90 days", "Over 90 days"}
	count, late := 0, 0
	var oldest *clock.Time
	for _, row := range r.Rows {
		count += row.Count
		if *row.Group != ages[0] {
			late += row.Count
			if oldest == nil || *row.OldestDueAt < *oldest {
				oldest = row.OldestDueAt
			}
		}
	}
	for _, total := range desk.OwnFirst(v, r.Totals, currencyOf) {
		d.Ages = append(d.Ages, newAgeBar(v, &total, r.Rows))
	}
	overdue := figureOf(v, "Overdue", "nothing is late", "/invoices?status=overdue", r.Totals,
		func(r *report.Row) int64 { return *r.OverdueCents })
	if late > 0 {
		days := int(v.Now().Sub(*oldest) / (24 * time.Hour))
		overdue.More = desk.Count(late, "invoice", "invoices") + ", oldest " + desk.Count(max(1, days), "day", "days")
		overdue.Bad = true
	}
	d.Figures = append(d.Figures, figureOf(v, "Owed to you", desk.Count(count, "invoice", "invoices"),
		"/invoices?unpaid=true", r.Totals, func(r *report.Row) int64 { return *r.AmountDueCents }), overdue)
	d.Note = d.howOwed(v, r.Totals)
	return nil
}

// newAgeBar is what is owed in one currency, by age.
func newAgeBar(v *desk.Visit, total *report.Row, rows []report.Row) ageBar {
	bar := ageBar{Currency: strings.ToUpper(total.Currency), Sum: v.Money(*total.AmountDueCents, total.Currency),
		Count: desk.Count(total.Count, "invoice", "invoices"), Cells: make([]ageCell, len(ages))}
	at := int64(0)
	for _, row := range rows {
		if row.Currency != total.Currency {
			continue
		}
		n, sum := slices.Index(ages, *row.Group), v.Money(*row.AmountDueCents, row.Currency)
		bar.Cells[n] = ageCell{sum, desk.Count(row.Count, "invoice", "invoices")}
		bar.Parts = append(bar.Parts, agePart{Class: []string{"pale", "g1", "g2", "g3", "g4"}[n],
			X: desk.PerCent(at, *total.AmountDueCents), Width: desk.PerCent(*row.AmountDueCents, *total.AmountDueCents),
			Title: *row.Name + ": " + sum})
		at += *row.AmountDueCents
	}
	return bar
}

// howOwed says how what is owed now came about, where the time shown ends now.
func (d *moneyData) howOwed(v *desk.Visit, owed []report.Row) string {
	own := v.CurrentBusiness().Currency
	find := func(rows []report.Row) *report.Row {
		if i := slices.IndexFunc(rows, func(r report.Row) bool { return r.Currency == own }); i >= 0 {
			return &rows[i]
		}
		return nil
	}
	moved, due := find(d.totals), int64(0)
	if moved == nil || d.span["to"] != nil {
		return ""
	}
	if o := find(owed); o != nil {
		due = *o.AmountDueCents
	}
	before := due - *moved.InvoicedCents + *moved.ReceivedCents + *moved.CreditedCents
	if before < 0 {
		return "" // more was paid back or credited than was owed
	}
	less := v.Money(*moved.ReceivedCents, own) + " received"
	if *moved.CreditedCents > 0 {
		less += " and " + v.Money(*moved.CreditedCents, own) + " credited"
	}
	return v.Money(before, own) + " was owed on " + d.started + "; plus " + v.Money(*moved.InvoicedCents, own) +
		" invoiced, less " + less + ", is the " + v.Money(due, own) + " owed now."
}

const debtorRows = 8

// debtors are the customers who owe most.
func (d *moneyData) debtors(v *desk.Visit) error {
	r, err := d.ask(v, "receivables", desk.Fields{"groupBy": "customer", "limit": 500})
	if err != nil {
		return err
	}
	d.AllOwing = len(r.Rows)
	most, currency := int64(0), ""
	for _, row := range desk.OwnFirst(v, r.Rows, currencyOf) {
		if len(d.Debtors) == debtorRows {
			break
		}
		if row.Currency != currency { // bars compare within a currency
			currency, most = row.Currency, *row.AmountDueCents
		}
		one := debtor{Name: "A customer who was deleted", Sum: v.Money(*row.AmountDueCents, row.Currency),
			Width: desk.PerCent(*row.AmountDueCents, most), Href: "/invoices?unpaid=true"}
		if row.Name != nil {
			one.Name, one.Href = *row.Name, "/customers/"+url.PathEscape(*row.Group)
		}
		one.Avatar = desk.AvatarOf(one.Name, "co")
		if at := row.OldestDueAt; at != nil {
			one.Pill = desk.Pill{Text: "due " + v.Day(at.Std().In(v.Zone()))}
			if days := int(v.Now().Sub(*at) / (24 * time.Hour)); *at <= v.Now() {
				one.Pill = desk.Pill{Text: desk.Count(max(1, days), "day", "days") + " late", Tone: "bad"}
			}
		}
		d.Debtors = append(d.Debtors, one)
	}
	return nil
}

// taxes is the tax of the last quarter of the time, by rate, and that of the quarters
// before.
func (d *moneyData) taxes(v *desk.Visit) error {
	r, err := d.ask(v, "taxes", d.by("quarter"))
	if err != nil || len(r.Rows) == 0 {
		return err
	}
	last := *r.Rows[len(r.Rows)-1].Group
	for _, total := range desk.OwnFirst(v, r.Totals, currencyOf) {
		t := d.newTaxTable(v, total.Currency, last, r.Rows)
		if len(r.Totals) > 1 {
			t.Head += ", " + strings.ToUpper(total.Currency)
		}
		d.Taxes = append(d.Taxes, t)
	}
	return nil
}

// newTaxTable is the taxes of one currency in the last quarter, and those of the quarters before.
func (d *moneyData) newTaxTable(v *desk.Visit, currency, last string, rows []report.Row) taxTable {
	t := taxTable{Head: quarterWords(last)}
	sums := func(row *report.Row) (net, tax int64) {
		if d.Basis == "invoiced" {
			return *row.InvoicedCents - *row.CreditedCents, *row.TaxCents
		}
		return *row.ReceivedCents, *row.ReceivedTaxCents
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(r report.Row) bool { return r.Currency != currency })
	net, tax, most := int64(0), int64(0), int64(1)
	for _, row := range rows {
		if rowNet, _ := sums(&row); *row.Group == last {
			most = max(most, rowNet)
		}
	}
	earlier := map[string]int64{}
	for _, row := range rows {
		rowNet, rowTax := sums(&row)
		if *row.Group != last {
			earlier[*row.Group] += rowTax
			continue
		}
		net, tax = net+rowNet, tax+rowTax
		t.Rows = append(t.Rows, taxRow{Name: taxName(&row), Net: v.Money(rowNet, currency), Tax: v.Money(rowTax,
			currency),
			Width: desk.PerCent(max(0, rowNet), most)})
	}
	t.Net, t.Tax = v.Money(net, currency), v.Money(tax, currency)
	for _, quarter := range slices.Backward(slices.Sorted(maps.Keys(earlier))) {
		t.Earlier = append(t.Earlier, desk.Option{Value: v.Money(earlier[quarter], currency),
			Text: quarterWords(quarter)})
	}
	return t
}

func taxName(row *report.Row) string {
	if row.Rate == nil || strings.Contains(*row.Name, "%") {
		return *row.Name
	}
	return *row.Name + " " + *row.Rate + " %"
}

// quarterWords says 2026-Q4 in words.
func quarterWords(group string) string {
	year, quarter, _ := strings.Cut(group, "-")
	return map[string]string{"Q1": "January to March", "Q2": "April to June", "Q3": "July to September",
		"Q4": "October to December"}[quarter] + " " + year
}

const expectedDays = 30

// expected is what falls due in the next days.
func (d *moneyData) expected(v *desk.Visit) error {
	rows, page, err := desk.List[invoice.Invoice](v, "invoices.list", v.Chosen("invoices.list", desk.Fields{
		"unpaid": true, "dueAfter": v.Now().String(), "dueBefore": v.Later(expectedDays), "sortBy": "dueAt",
		"sortOrder": "asc", "limit": 50, "include": includeCustomer(v)}))
	if err != nil {
		return err
	}
	sums, lines := map[string]int64{}, []desk.Line{}
	for i := range rows {
		r := &rows[i]
		sums[r.Currency] += r.AmountDueCents
		line := desk.Line{Href: "/invoices/" + string(r.ID), Icon: "invoice", Text: *r.InvoiceNumber,
			Sum: v.Money(r.AmountDueCents, r.Currency), Time: v.When(*r.DueAt)}
		if r.BillToName != nil {
			line.Who = *r.BillToName
		}
		lines = append(lines, line)
	}
	d.Expected = &desk.Section{Head: "Expected in the next 30 days", Name: "lines",
		Data: desk.LinesOr("No open invoice is due in the next 30 days.", lines...)}
	if len(lines) > 0 {
		d.Expected.Count = v.MoneyOfEach(sums)
	}
	if page.HasMore {
		d.Expected.Count, d.Expected.All = "more than "+d.Expected.Count, "/invoices?unpaid=true"
	}
	return nil
}

func includeCustomer(v *desk.Visit) []string {
	if v.May("customers.list") {
		return []string{"customer"}
	}
	return []string{}
}

// moneyFile answers with a report as a file.
func moneyFile(name string) func(*desk.Visit) error {
	return func(v *desk.Visit) error { return v.Export("reports."+name+".export", v.R.URL.Query()) }
}
