package invoice_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

// A statement carries the balance over, currency by currency, and ends with what is owed.
func TestStatement(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		who := call(t, "customers.create", `{"name": "Jacquard & Sons"}`).OK(t, 201).Text("id")
		book := func(kind, currency, day, words string, cents int) {
			call(t, "customers.transactions.create", fmt.Sprintf(`{"id": %q, "type": %q, "amountCents": %d,
				"currency": %q, "occurredAt": %q, "description": %q}`, who, kind, cents, currency, day+"T12:00:00Z",
				words)).OK(t, 201)
		}
		book("charge", "usd", "2024-01-10", "Brought from the old books", 100050)
		book("credit", "usd", "2024-02-01", "For the delay", 25)
		book("charge", "jpy", "2024-02-02", "Cloth from Kyoto", 4200)
		book("credit", "kwd", "2024-02-03", "Paid ahead", 1999)
		book("charge", "usd", "2024-03-01", "After it", 777)
		statement := func(query string) string {
			t.Helper()
			r := a.SendREST(t, a.Key, http.MethodGet, "/v1/customers/"+who+"/statement.pdf"+query, "")
			if r.Status != 200 || r.Header.Get("Content-Type") != "application/pdf" {
				t.Fatalf("%d %.300s", r.Status, r.Body)
			}
			if folder := os.Getenv("FRONTDESK_PDF_FOLDER"); folder != "" {
				if err := os.WriteFile(folder+"/statement.pdf", r.Body, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			return strings.Join(strings.Fields(strings.ReplaceAll(read(t, r.Body), "\u00a0", " ")), " ")
		}
		has := func(text string, parts ...string) {
			t.Helper()
			for _, part := range parts {
				if !strings.Contains(text, part) {
					t.Errorf("%q is not in %s", part, text)
				}
			}
		}
		february := statement("?from=2024-02-01&to=2024-02-28")
		has(february, "STATEMENT", "Jacquard & Sons", "From Feb 1, 2024", "To Feb 28, 2024",
			"Balance carried over Feb 1, 2024 $1,000.50", "For the delay Feb 1, 2024 $0.25 $1,000.25",
			"Still to be paid (USD) $1,000.25", "Cloth from Kyoto Feb 2, 2024 ¥4,200 ¥4,200",
			"Still to be paid (JPY) ¥4,200", "In your favor (KWD)", "1.999")
		if strings.Contains(february, "After it") || strings.Contains(february, "old books") {
			t.Errorf("it has what is not of February: %s", february)
		}
		has(statement(""), "Brought from the old books", "After it Mar 1, 2024 $7.77 $1,008.02")
		has(statement("?from=2019-01-01&to=2019-12-31"), "Nothing was billed in this time")
		// A payment and a credit note stand there with their numbers.
		v := newInvoice(t, call, who, 5000)
		call(t, "invoices.issue", ref(v)).OK(t, 200)
		call(t, "invoices.record_payment", fmt.Sprintf(`{"id": %q, "amountCents": 2000, "idempotencyKey": "p"}`, v)).
			OK(t, 201)
		call(t, "invoices.credit_notes.create", fmt.Sprintf(`{"id": %q, "amountCents": 1000}`, v)).OK(t, 201)
		has(statement(""), "Invoice INV-000001", "Payment of invoice INV-000001",
			"Credit note CN-000001 for invoice", "Still to be paid (USD) $1,028.02")
		for query, code := range map[string]string{"?from=2024-02-01&to=2024-01-01": "INVALID_INPUT",
			"?from=yesterday": "INVALID_INPUT"} {
			a.SendREST(t, a.Key, http.MethodGet, "/v1/customers/"+who+"/statement.pdf"+query, "").Refused(t, 400, code)
		}
		other := a.NewTenant(t, "free")
		a.SendREST(t, other.Key, http.MethodGet, "/v1/customers/"+who+"/statement.pdf", "").Refused(t, 404, "NOT_FOUND")
	})
}
