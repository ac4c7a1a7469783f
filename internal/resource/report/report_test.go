package report_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
)

// year is a year of business, as the lists show it.
type year struct {
	t    *testing.T
	a    *apptest.App
	call apptest.Door
	r    *rand.Rand
	zone *time.Location

	customers []string
	invoices  []apptest.Value
	payments  map[string]apptest.Value // by invoice
	credits   map[string]apptest.Value
}

// newYear makes invoices of two customers in two currencies, pays, credits, refunds and
// voids some, and moves their dates over the last fourteen months.
func newYear(t *testing.T, a *apptest.App, call apptest.Door) *year {
	y := &year{t: t, a: a, call: call, r: rand.New(rand.NewPCG(7, 8)), payments: map[string]apptest.Value{},
		credits: map[string]apptest.Value{}}
	y.zone, _ = time.LoadLocation("America/New_York")
	call(t, "businesses.update", fmt.Sprintf(`{"id": %q, "timezone": "America/New_York"}`, a.Business)).OK(t, 200)
	call(t, "businesses.offerings.create", fmt.Sprintf(`{"id": %q, "name": "Repair"}`, a.Business)).OK(t, 201)
	for _, name := range []string{"Ada", "Böhm & Söhne"} {
		made := call(t, "customers.create", fmt.Sprintf(`{"name": %q}`, name)).OK(t, 201)
		y.customers = append(y.customers, made.Text("id"))
	}
	for i := range 24 {
		y.addInvoice(i)
	}
	for offset := 0; offset < 24; offset += 12 { // 24 whole invoices are more than an agent is answered at once
		page := call(t, "invoices.list", fmt.Sprintf(`{"limit": 12, "offset": %d}`, offset)).OK(t, 200)
		for i := range page.Len() {
			v := page.At(fmt.Sprint(i))
			y.invoices = append(y.invoices, v)
			ref := fmt.Sprintf(`{"id": %q}`, v.Text("id"))
			y.payments[v.Text("id")] = call(t, "invoices.payments.list", ref).OK(t, 200)
			y.credits[v.Text("id")] = call(t, "invoices.credit_notes.list", ref).OK(t, 200)
		}
	}
	return y
}

func (y *year) addInvoice(i int) {
	t, call := y.t, y.call
	currency := []string{"usd", "eur"}[y.r.IntN(2)]
	v := call(t, "invoices.create", fmt.Sprintf(`{"customerId": %q, "currency": %q, "discountPercent": "7.5",
		"dueAt": %q, "lineItems": [
		{"description": "Repair", "quantity": "1.5", "unitAmountCents": %d, "taxRate": "8.25", "taxName": "Sales tax"},
		{"description": "Parts no. %d", "unitAmountCents": %d, "taxRate": "3"},
		{"description": "Delivery", "unitAmountCents": %d}]}`, y.customers[y.r.IntN(2)], currency,
		y.daysAgo(y.r.IntN(200)-40), 1+y.r.IntN(100_000), i, y.r.IntN(10_000), y.r.IntN(500))).OK(t, 201).Text("id")
	if i == 0 {
		return // a draft counts nowhere
	}
	ref := func(more string) string { return fmt.Sprintf(`{"id": %q%s}`, v, more) }
	total := int(call(t, "invoices.issue", ref("")).OK(t, 200).Number("totalCents"))
	switch {
	case i%6 == 1:
		call(t, "invoices.void", ref("")).OK(t, 200)
	case i%6 < 5:
		part := 1 + y.r.IntN(total)
		p := y.pay(v, i, part)
		if i%6 == 2 && part < total {
			y.pay(v, i, total-part)
		}
		switch {
		case i == 3:
			call(t, "invoices.payments.void", ref(fmt.Sprintf(`, "paymentId": %q`, p))).OK(t, 200)
		case i == 9:
			call(t, "invoices.payments.refund", ref(fmt.Sprintf(`, "paymentId": %q, "amountCents": 1`, p))).OK(t, 200)
		case i%6 == 4:
			call(t, "invoices.credit_notes.create", ref(fmt.Sprintf(`, "amountCents": %d`, 1+total/3))).OK(t, 201)
		}
	}
	moveInvoice(t, y.a, v, y.a.Clock.Now().Add(-time.Duration(y.r.IntN(420))*24*time.Hour))
}

// pay records a payment some days ago. Agents' calls need no key.
func (y *year) pay(invoice string, i, cents int) string {
	return y.call(y.t, "invoices.record_payment", fmt.Sprintf(`{"id": %q, "amountCents": %d, "paidAt": %q,
		"idempotencyKey": "pay-%s-%d-%d"}`, invoice, cents, y.daysAgo(y.r.IntN(420)), invoice, i, cents)).
		OK(y.t, 201).Text("id")
}

func (y *year) daysAgo(days int) string {
	return y.a.Clock.Now().Add(-time.Duration(days)*24*time.Hour - time.Hour).String()
}

// moveInvoice gives an invoice and its credit notes another date: they are always of now.
func moveInvoice(t testing.TB, a *apptest.App, invoice string, at clock.Time) {
	t.Helper()
	err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		if _, err := db.Exec(ctx, tx, "UPDATE invoices SET issued_at = $2 WHERE organization_id = $1 AND id = $3",
			a.Org, at, invoice); err != nil {
			return err
		}
		_, err := db.Exec(ctx, tx, `
			UPDATE invoice_credit_notes SET created_at = $2 WHERE organization_id = $1 AND invoice_id = $3`,
			a.Org, at.Add(time.Hour), invoice)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// counts calls a function with every amount that counts: what it is, when, its cents and its invoice.
func (y *year) counts(each func(what string, at time.Time, cents int, v apptest.Value)) {
	when := func(v apptest.Value, field string) time.Time {
		at, err := clock.ParseTime(v.Text(field))
		if err != nil {
			y.t.Fatal(err)
		}
		return at.Std().In(y.zone)
	}
	for _, v := range y.invoices {
		if v.Text("status") == "draft" {
			continue
		}
		if v.Text("status") != "void" {
			each("invoiced", when(v, "issuedAt"), int(v.Number("totalCents")), v)
		}
		for i := range y.payments[v.Text("id")].Len() {
			if p := y.payments[v.Text("id")].At(fmt.Sprint(i)); p.At("voidedAt").Null() {
				each("received", when(p, "paidAt"), int(p.Number("amountCents")-p.Number("refundedCents")), v)
			}
		}
		for i := range y.credits[v.Text("id")].Len() {
			n := y.credits[v.Text("id")].At(fmt.Sprint(i))
			each("credited", when(n, "createdAt"), int(n.Number("totalCents")), v)
		}
	}
}

// expect compares the figures of a report with what the lists add up to, by group and
// currency, and the totals with the rows.
func (y *year) expect(report apptest.Value, what string, groupOf func(at time.Time, v apptest.Value) string,
	from, to time.Time) {
	y.t.Helper()
	want, got, sums := map[string]int{}, map[string]int{}, map[string]int{}
	y.counts(func(kind string, at time.Time, cents int, v apptest.Value) {
		if kind == what && !at.Before(from) && at.Before(to) {
			want[groupOf(at, v)+" "+v.Text("currency")] += cents
			sums[v.Text("currency")] += cents
		}
	})
	for i := range report.At("rows").Len() {
		row := report.At(fmt.Sprintf("rows.%d", i))
		if cents := int(row.Number(what + "Cents")); cents != 0 {
			got[row.Text("group")+" "+row.Text("currency")] += cents
		}
	}
	if len(want) == 0 || fmt.Sprint(want) != fmt.Sprint(got) {
		y.t.Errorf("%s: the report has %v, the lists %v", what, got, want)
	}
	for i := range report.At("totals").Len() {
		total := report.At(fmt.Sprintf("totals.%d", i))
		if int(total.Number(what+"Cents")) != sums[total.Text("currency")] {
			y.t.Errorf("%s: the total %s is not %v", what, total, sums)
		}
	}
}

func TestMoney(t *testing.T) {
	apptest.EachDoorAlone(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		y := newYear(t, a, call)
		now := a.Clock.Now().Std().In(y.zone)
		first := time.Date(now.Year(), now.Month()-11, 1, 0, 0, 0, 0, y.zone)
		report := func(more string) apptest.Value {
			return call(t, "reports.get", `{"name": "revenue"`+more+`}`).OK(t, 200)
		}
		month := func(at time.Time, _ apptest.Value) string { return at.Format("2006-01") }
		week := func(at time.Time, _ apptest.Value) string {
			year, n := at.ISOWeek()
			return fmt.Sprintf("%d-W%02d", year, n)
		}
		for _, what := range []string{"invoiced", "received", "credited"} {
			y.expect(report(""), what, month, first, now)
			y.expect(report(`, "groupBy": "week"`), what, week, first, now)
			y.expect(report(fmt.Sprintf(`, "from": %q, "to": %q`, first.AddDate(0, -2, 10).Format(time.DateOnly),
				now.AddDate(0, -2, 0).Format(time.DateOnly))), what, month, first.AddDate(0, -2, 10),
				time.Date(now.Year(), now.Month()-2, now.Day()+1, 0, 0, 0, 0, y.zone))
			y.expect(report(`, "groupBy": "customer"`), what, func(_ time.Time, v apptest.Value) string {
				return v.Text("customerId")
			}, first, now)
		}
		one := report(`, "currency": "eur"`)
		one.Same("totals.0.currency", "eur")
		if one.At("totals").Len() != 1 || report("").At("totals").Len() != 2 {
			t.Errorf("the totals of a currency: %s", one.At("totals"))
		}
		y.checkOfferings(report(`, "groupBy": "offering"`), report("").At("totals"))
		y.checkTaxes(first, now)
		y.checkReceivables()
	})
}

// checkOfferings: one row is the repairs and one the rest, and together they are all.
func (y *year) checkOfferings(report, totals apptest.Value) {
	if report.At("totals").String() != totals.String() {
		y.t.Errorf("by offering %s, by month %s", report.At("totals"), totals)
	}
	for i := range report.At("rows").Len() {
		row := report.At(fmt.Sprintf("rows.%d", i))
		if known := !row.At("group").Null(); known != (row.Text("name") == "Repair") ||
			row.Number("invoicedCents") <= 0 {
			y.t.Errorf("a row by offering: %s", row)
		}
	}
}

// checkTaxes adds up the taxes of the lists, and looks that the parts of the payments add up to
// the payments.
func (y *year) checkTaxes(from, to time.Time) {
	t := y.t
	report := y.call(t, "reports.get", `{"name": "taxes"}`).OK(t, 200)
	want, received := map[string]int{}, map[string]int{}
	y.counts(func(kind string, at time.Time, cents int, v apptest.Value) {
		if at.Before(from) || !at.Before(to) {
			return
		}
		switch kind {
		case "invoiced":
			want[v.Text("currency")] += int(v.Number("taxCents"))
		case "credited":
			want[v.Text("currency")] -= int(y.credits[v.Text("id")].Number("0.taxCents"))
		default:
			received[v.Text("currency")] += cents
		}
	})
	for i := range report.At("totals").Len() {
		total := report.At(fmt.Sprintf("totals.%d", i))
		currency := total.Text("currency")
		if got := int(total.Number("taxCents")); got != want[currency] {
			t.Errorf("taxes of %s: %d, the lists have %d", currency, got, want[currency])
		}
		if got := int(total.Number("receivedCents") + total.Number("receivedTaxCents")); got != received[currency] {
			t.Errorf("received of %s: %d, the lists have %d", currency, got, received[currency])
		}
	}
	if rate := report.At("rows.0").Text("rate"); rate != "8.25" {
		t.Errorf("the first row is of rate %s: %s", rate, report.At("rows.0"))
	}
}

func (y *year) checkReceivables() {
	t := y.t
	want, late := map[string]int{}, map[string]int{}
	for _, v := range y.invoices {
		due := int(v.Number("amountDueCents"))
		if v.Text("status") == "draft" || v.Text("status") == "void" || due == 0 {
			continue
		}
		at, _ := clock.ParseTime(v.Text("dueAt"))
		want[v.Text("currency")] += due
		days, age := int(y.a.Clock.Now().Sub(at).Hours()/24), "over_90"
		switch {
		case at > y.a.Clock.Now():
			age = "not_due"
		case days <= 30:
			age = "1-30"
		case days <= 60:
			age = "31-60"
		case days <= 90:
			age = "61-90"
		}
		late[age+" "+v.Text("currency")] += due
	}
	report := y.call(t, "reports.get", `{"name": "receivables"}`).OK(t, 200)
	got := map[string]int{}
	for i := range report.At("rows").Len() {
		row := report.At(fmt.Sprintf("rows.%d", i))
		got[row.Text("group")+" "+row.Text("currency")] = int(row.Number("amountDueCents"))
	}
	if fmt.Sprint(got) != fmt.Sprint(late) {
		t.Errorf("the report has %v, the lists %v", got, late)
	}
	byCustomer := y.call(t, "reports.get", `{"name": "receivables", "groupBy": "customer"}`).OK(t, 200)
	totals := y.call(t, "invoices.totals", `{"unpaid": true}`).OK(t, 200)
	for i := range totals.At("totals").Len() {
		at := fmt.Sprintf("totals.%d", i)
		byCustomer.Same(at+".amountDueCents", int(totals.Number(at+".amountDueCents")))
		report.Same(at+".amountDueCents", want[totals.Text(at+".currency")])
	}
	byCustomer.Same("hasMore", false)
	before := y.call(t, "reports.get", `{"name": "receivables", "to": "2000-01-01"}`).OK(t, 200)
	if before.At("rows").Len() != 0 {
		t.Errorf("of what was issued before 2000, %s is owed", before)
	}
	y.call(t, "reports.get", `{"name": "receivables", "groupBy": "customer", "limit": 1}`).OK(t, 200).
		Same("hasMore", true)
}

// A name that a stranger's words made is marked, whichever report has it.
func TestReportsKeepTheMark(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		customer := call(t, "customers.create", `{"name": "Ada"}`).OK(t, 201).Text("id")
		v := call(t, "invoices.create", fmt.Sprintf(
			`{"customerId": %q, "lineItems": [{"description": "Work", "unitAmountCents": 100}]}`, customer)).OK(t, 201)
		call(t, "invoices.issue", fmt.Sprintf(`{"id": %q}`, v.Text("id"))).OK(t, 200)
		_, access, _ := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "read"))
		headers := a.InitializeSession(t, access)
		isMarked := func() bool {
			return strings.Contains(string(a.SendRPC(t, access, `{"jsonrpc": "2.0", "id": 7, "method": "tools/call",
				"params": {"name": "reports_get", "arguments": {"name": "revenue", "groupBy": "customer"}}}`,
				headers...).Body), `"attribution"`)
		}
		if isMarked() {
			t.Error("the house's own words are marked")
		}
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "UPDATE customers SET external = TRUE WHERE organization_id = $1", a.Org)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		call(t, "customers.update", fmt.Sprintf(`{"id": %q, "notes": "x"}`, customer)).OK(t, 200) // something new
		if !isMarked() {
			t.Error("a stranger's name is not marked")
		}
	})
}

// What a report says follows every change at once, although answers are kept.
func TestReportsAreOfNow(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		customer := call(t, "customers.create", `{"name": "Ada"}`).OK(t, 201).Text("id")
		for i := range 3 {
			v := call(t, "invoices.create", fmt.Sprintf(
				`{"customerId": %q, "currency": "usd", "lineItems": [{"description": "Work", "unitAmountCents": 100}]}`,
				customer)).OK(t, 201).Text("id")
			call(t, "invoices.issue", fmt.Sprintf(`{"id": %q}`, v)).OK(t, 200)
			call(t, "reports.get", `{"name": "receivables"}`).OK(t, 200).Same("totals.0.amountDueCents", 100*(i+1))
		}
		file := a.SendREST(t, a.Key, "GET", "/v1/reports/revenue.csv", "")
		rows, err := csv.NewReader(bytes.NewReader(file.Body)).ReadAll()
		if err != nil || file.Status != 200 || len(rows) != 13 || rows[12][3] != "300" ||
			rows[0][3] != "invoicedCents" {
			t.Errorf("%d %v: %v", file.Status, err, rows)
		}
		refused := func(field, in string) {
			t.Helper()
			got := call(t, "reports.get", "{"+in+"}").Refused(t, 400, "INVALID_INPUT")
			if !got.At("details.properties").Has(field) {
				t.Errorf("%s: %s", in, got)
			}
		}
		for _, in := range []string{`"name": "taxes", "groupBy": "customer"`, `"name": "mail", "groupBy": "month"`} {
			refused("groupBy", in)
		}
		refused("from", `"name": "revenue", "from": "last week"`)
		refused("from", `"name": "revenue", "from": "2026-02-01", "to": "2026-01-01"`)
		refused("from", `"name": "revenue", "from": "1900-02-01"`)
		refused("from", `"name": "revenue", "groupBy": "week", "from": "2020-01-01"`)
		refused("from", `"name": "mail", "from": "2020-01-01"`)
		refused("name", `"name": "profit"`)
	})
}

// Mail is counted by who answered it, and not by who sent most: an answer to two mails
// answers two, and mail of machines is not counted.
func TestMail(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		ada := a.DeliverMail(t, "Ada <ada@customer.example>", "Bell", "\r\nIt is broken.")
		a.DeliverMail(t, "Bo <bo@customer.example>", "Chain", "\r\nIt is rusty.")
		a.DeliverMail(t, "Robot <robot@machine.example>", "Away", "Auto-Submitted: auto-replied\r\n\r\nI am away.")
		before := call(t, "reports.get", `{"name": "mail"}`).OK(t, 200)
		for field, want := range map[string]int{"count": 2, "answered": 0, "waiting": 3} {
			before.Same("totals.0."+field, want)
		}
		answer := call(t, "messages.create", fmt.Sprintf(`{"to": ["ada@customer.example"], "subject": "Re: Bell",
			"text": "Bring it.", "inReplyToId": %q}`, ada)).OK(t, 201).Text("id")
		call(t, "messages.send", fmt.Sprintf(`{"id": %q}`, answer))
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 200 {
			if call(t, "messages.get", fmt.Sprintf(`{"id": %q}`, answer)).OK(t, 200).Text("status") == "sent" {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		after := call(t, "reports.get", `{"name": "mail"}`).OK(t, 200)
		for field, want := range map[string]int{"count": 2, "answered": 1, "waiting": 2, "medianMinutes": 0} {
			after.Same("totals.0."+field, want)
		}
		after.Same("rows.0.answered", 1)
		after.Same("rows.0.name", "Agents, automations and programs")
	})
}

func TestRightsOfReports(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent := a.NewAgent(t, a.Tenant, "all")
		all := a.SendREST(t, a.Key, "GET", "/v1/reports/agents", "").OK(t, 200)
		all.Same("rows.0.group", string(agent))
		all.Same("rows.0.proposals", 0)
		mail, _ := a.NewKey(t, a.Tenant, "messages:read")
		for path, want := range map[string]int{"revenue": 403, "receivables.csv": 403, "taxes": 403, "mail": 200,
			"mail.csv": 200, "agents": 403, "agents.csv": 403} {
			if got := a.SendREST(t, mail, "GET", "/v1/reports/"+path, ""); got.Status != want {
				t.Errorf("%s: %d, want %d: %s", path, got.Status, want, got.Body)
			}
		}
		money, _ := a.NewKey(t, a.Tenant, "invoices:read")
		a.SendREST(t, money, "GET", "/v1/reports/revenue", "").OK(t, 200)
		a.SendREST(t, money, "GET", "/v1/reports/mail", "").Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		other := a.NewTenant(t, "starter")
		a.SendREST(t, a.Key, "GET", "/v1/reports/revenue?businessId="+string(other.Business), "").Refused(t, 404,
			"NOT_FOUND")
	})
}
