package report_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/cputest"
	"frontdesk/internal/kernel/db"
)

// BenchmarkReports measures the CPU time of each report over 20,000 invoices of a year, when it is
// asked for the first time and when nothing has happened since. FRONTDESK_BENCH_ENGINE=postgres
// measures PostgreSQL, under scripts/with-postgres, without the time of its server.
func BenchmarkReports(b *testing.B) {
	engine := db.SQLite
	if os.Getenv("FRONTDESK_BENCH_ENGINE") == "postgres" {
		engine = db.Postgres
	}
	a := apptest.Start(b, engine)
	fill(b, a)
	call := a.Door("action", a.Tenant)
	for _, report := range []string{`"revenue"`, `"revenue", "groupBy": "customer"`, `"revenue", "groupBy": "offering"`,
		`"receivables"`, `"receivables", "groupBy": "customer"`, `"taxes"`} {
		for _, again := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/again=%v", report, again), func(b *testing.B) {
				before, changing := cputest.ProcessCPUTime(b), time.Duration(0)
				for range b.N {
					if !again {
						began := cputest.ProcessCPUTime(b)
						call(b, "customers.create", `{"name": "Somebody new"}`).OK(b, 201)
						changing += cputest.ProcessCPUTime(b) - began
					}
					call(b, "reports.get", `{"name": `+report+`}`).OK(b, 200)
				}
				spent := cputest.ProcessCPUTime(b) - before - changing
				b.ReportMetric(float64(spent.Microseconds())/1000/float64(b.N), "cpu-ms")
			})
		}
	}
}

// fill makes invoices: nine of ten are paid, and their dates are spread over a year.
func fill(b *testing.B, a *apptest.App) {
	b.Helper()
	call := a.Door("action", a.Tenant)
	var customers []string
	for i := range 500 {
		made := call(b, "customers.create", fmt.Sprintf(`{"name": "Customer %d"}`, i)).OK(b, 201)
		customers = append(customers, made.Text("id"))
	}
	for i := range 20_000 {
		v := call(b, "invoices.create", fmt.Sprintf(`{"customerId": %q, "currency": %q, "dueAt": %q, "lineItems": [
			{"description": "Repair", "unitAmountCents": %d, "taxRate": "8.25"},
			{"description": "Parts", "unitAmountCents": 500, "taxRate": "3"},
			{"description": "Delivery", "unitAmountCents": 900}]}`, customers[i%500], []string{"usd", "eur"}[i%2],
			a.Clock.Now().Add(time.Duration(i%200-150)*24*time.Hour), 1000+i)).OK(b, 201).Text("id")
		total := int(call(b, "invoices.issue", fmt.Sprintf(`{"id": %q}`, v)).OK(b, 200).Number("totalCents"))
		at := a.Clock.Now().Add(-time.Duration(i%360) * 24 * time.Hour)
		if i%10 > 0 {
			call(b, "invoices.record_payment", fmt.Sprintf(`{"id": %q, "amountCents": %d, "paidAt": %q,
				"idempotencyKey": "pay-%d"}`, v, total, at.Add(time.Hour), i)).OK(b, 201)
		}
		moveInvoice(b, a, v, at)
	}
}
