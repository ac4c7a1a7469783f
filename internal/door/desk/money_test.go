package desk_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

// Money adds up what the invoices say, currency by currency, and gives each table as a file.
func TestMoneyPage(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		b.get("/money").at("/money", "No money in this time", "$0.00", "nothing is late")
		call := a.Door("rest", a.Tenant)
		customer := call(t, "customers.create", `{"name": "Böhm & Söhne"}`).OK(t, 201).Text("id")
		for i, currency := range []string{"usd", "usd", "eur"} {
			v := call(t, "invoices.create", fmt.Sprintf(`{"customerId": %q, "currency": %q, "dueAt": %q, "lineItems": [
				{"description": "Work", "unitAmountCents": 1000000, "taxRate": "8.25", "taxName": "Sales tax"}]}`,
				customer,
				currency, a.Clock.Now().Add(240*3600e9))).OK(t, 201).Text("id")
			call(t, "invoices.issue", fmt.Sprintf(`{"id": %q}`, v)).OK(t, 200)
			if i == 0 {
				call(t, "invoices.record_payment", fmt.Sprintf(
					`{"id": %q, "amountCents": 541250, "idempotencyKey": "half"}`, v)).OK(t, 201)
			}
		}
		p := b.get("/money").at("/money", "$21,650.00", "€10,825.00", "$5,412.50", "21,650.00", "Sales tax 8.25 %",
			"$412.50", "Böhm & Söhne", "$16,237.50 owed now", "Expected in the next 30 days", "INV-000002")
		p.find(`aria-label="(Invoiced and received in USD by month)`)
		p.find(`<title>Not due yet: (\$16,237\.50)</title>`)
		b.get("/money?basis=invoiced").at("/money", "Tax in what was invoiced", "$1,650.00")
		for _, path := range []string{"revenue", "receivables", "taxes"} {
			file := b.get(p.find(`href="(/money/` + path + `\.csv[^"]*)"`))
			if file.Status != 200 || !strings.HasPrefix(file.Body, "group,") || strings.Count(file.Body, "\n") < 3 {
				t.Errorf("%s: %d %s", path, file.Status, file.Body)
			}
		}
		b.get("/money?range=last-year").at("/money", "No money in this time").hasNot("owed now.")
		b.get("/money?range=days&from=2026-01-05&to=2026-01-04").refused(400, "must not be before the first")
		b.get("/money?range=days&from=2020-01-05&to=2026-01-04").refused(400, "at most three years")
		b.get("/money?range=days&from=x&to=").refused(400, "Choose the first and the last day")
		b.get("/money?range=days").at("/money", "First day")
		b.get("/money?range=nonsense").at("/money", "in 12 months")
	})
}
