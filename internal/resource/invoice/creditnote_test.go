package invoice_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"frontdesk/internal/apptest"
)

func credit(t testing.TB, call apptest.Door, invoice string, more ...string) apptest.Result {
	t.Helper()
	return call(t, "invoices.credit_notes.create", ref(invoice, more...))
}

func TestCreditNotes(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		customer := newCustomer(t, call)
		v := call(t, "invoices.create",
			fmt.Sprintf(`{"customerId": %q, "discountPercent": "10", "lineItems": [
				{"description": "Hours", "quantity": "3", "unitAmountCents": 3333, "taxRate": "20"},
				{"description": "Part", "unitAmountCents": 1000, "discountCents": 100},
				{"description": "Rebate", "unitAmountCents": -200}]}`, customer)).OK(t, 201)
		invoice, line := v.Text("id"), func(i int, more string) string {
			return fmt.Sprintf(`"lineItems": [{"lineItemId": %q%s}]`, v.Text(fmt.Sprint("lineItems.", i, ".id")), more)
		}
		// 9999 and 700, less 10 %: 8999 and 630; tax 1800.
		v.Same("totalCents", 11429)
		credit(t, call, invoice).Refused(t, 409, "INVOICE_NOT_CREDITABLE")
		call(t, "invoices.issue", ref(invoice)).OK(t, 200)

		one := credit(t, call, invoice, line(0, `, "quantity": "1"`), `"reason": "Late"`).OK(t, 201)
		for field, want := range map[string]any{"creditNoteNumber": "CN-000001", "invoiceId": invoice,
			"businessId": a.Business, "currency": "usd", "reason": "Late", "pricesIncludeTax": false,
			"lineItems.0.amountCents": 3333, "lineItems.0.quantity": "1", "lineItems.0.description": "Hours",
			"lineItems.0.taxRate": "20", "lineItems.0.lineItemId": v.Text("lineItems.0.id"),
			"subtotalCents": 3333, "discountCents": 333, "taxCents": 600, "totalCents": 3600,
			"taxes.0.rate": "20", "taxes.0.baseCents": 3000, "taxes.0.amountCents": 600} {
			one.Same(field, want)
		}
		got := call(t, "invoices.get", ref(invoice)).OK(t, 200)
		got.Same("amountCreditedCents", 3600)
		got.Same("amountDueCents", 11429-3600)
		got.Same("status", "issued")
		ofNote := `"creditNoteId": "` + one.Text("id") + `"`
		if got := call(t, "invoices.credit_notes.get", ref(invoice, ofNote)).OK(t, 200); got.String() != one.String() {
			t.Errorf("get differs from create:\n%s\n%s", got, one)
		}

		pdf := a.SendREST(t, a.Key, "GET", "/v1/invoices/"+invoice+"/credit-notes/"+one.Text("id")+"/pdf", "")
		if printed := read(t, pdf.Body); !strings.Contains(printed, "CREDIT NOTE") ||
			!strings.Contains(printed, "$36.00") || !strings.Contains(printed, "Late") ||
			!strings.Contains(pdf.Header.Get("Content-Disposition"), "CN-000001.pdf") {
			t.Errorf("%v: %s", pdf.Header, printed)
		}
		a.SendREST(t, a.Key, "GET", "/v1/invoices/"+invoice+"/credit-notes/"+customer+"/pdf", "").Refused(t, 404,
			"NOT_FOUND")

		for _, bad := range []struct{ fields, place string }{
			{`"lineItems": []`, "lineItems"}, {`"lineItems": null`, "lineItems"},
			{line(0, `, "quantity": "2.000001"`), "lineItems.0.quantity"},
			{line(0, `, "quantity": "0"`), "lineItems.0.quantity"},
			{line(0, `, "quantity": "-1"`), "lineItems.0.quantity"},
			{line(0, `, "amountCents": 6667`), "lineItems.0.amountCents"},
			{line(0, `, "amountCents": 0`), "lineItems.0.amountCents"},
			{line(0, `, "amountCents": 1, "quantity": "1"`), "lineItems.0.amountCents"},
			{line(1, `, "amountCents": 901`), "lineItems.0.amountCents"},
			{line(1, `, "amountCents": 701`), "lineItems"}, // the rebate lowers it
			{line(2, ``), "lineItems.0.lineItemId"},
			{`"lineItems": [{"lineItemId": "` + customer + `"}]`, "lineItems.0.lineItemId"},
			{fmt.Sprintf(`"lineItems": [{"lineItemId": %[1]q}, {"lineItemId": %[1]q}]`, v.Text("lineItems.0.id")),
				"lineItems.1.lineItemId"},
			{`"totalCents": 1`, ""},
		} {
			credit(t, call, invoice, bad.fields).Issues(t, bad.place)
		}

		// Part of it is paid; then all that is left is credited. What was paid
		// is too much now, and can be given back.
		payment := pay(t, call, invoice, "k", 1000).OK(t, 201).Text("id")
		pay(t, call, invoice, "k2", 11429-3600-1000+1).Refused(t, 422, "PAYMENT_EXCEEDS_BALANCE")
		rest := credit(t, call, invoice).OK(t, 201)
		rest.Same("creditNoteNumber", "CN-000002")
		rest.Same("totalCents", 11429-3600)
		rest.Same("lineItems.0.quantity", "2")
		rest.Same("lineItems.2.amountCents", -200)
		got = call(t, "invoices.get", ref(invoice)).OK(t, 200)
		got.Same("amountCreditedCents", 11429)
		got.Same("amountDueCents", 0)
		got.Same("status", "paid")
		if b := balance(t, call, customer); b != -1000 {
			t.Errorf("balance %v", b)
		}
		credit(t, call, invoice).Refused(t, 422, "CREDIT_EXCEEDS_BALANCE")
		credit(t, call, invoice, line(0, ``)).Issues(t, "lineItems.0.lineItemId")
		ofPayment := `"paymentId": "` + payment + `"`
		call(t, "invoices.payments.refund", ref(invoice, ofPayment)).OK(t, 200).Same("refundedCents", 1000)
		call(t, "invoices.get", ref(invoice)).OK(t, 200).Same("status", "paid")
		if b := balance(t, call, customer); b != 0 {
			t.Errorf("balance %v", b)
		}
		call(t, "invoices.void", ref(invoice)).Refused(t, 409, "INVOICE_TRANSITION_INVALID")
		if got, want := ledger(t, call, customer),
			"invoice:11429 credit:3600 payment:1000 credit:7829 charge:1000"; got != want {
			t.Errorf("ledger %q, want %q", got, want)
		}
		list := call(t, "invoices.credit_notes.list", ref(invoice)).OK(t, 200)
		if list.Len() != 2 || list.At("1").String() != one.String() {
			t.Errorf("list: %s", list)
		}
		credits := call(t, "customers.transactions.list", ref(customer, `"type": "credit"`)).OK(t, 200)
		credits.Same("1.creditNoteId", one.Text("id"))
		credits.Same("1.description", "Credit note CN-000001 for invoice INV-000001")

		// A note belongs to its invoice, and void invoices have none.
		other := newInvoice(t, call, customer, 5)
		call(t, "invoices.credit_notes.get", ref(other, ofNote)).Refused(t, 404, "NOT_FOUND")
		call(t, "invoices.issue", ref(other)).OK(t, 200)
		call(t, "invoices.void", ref(other)).OK(t, 200)
		credit(t, call, other).Refused(t, 409, "INVOICE_NOT_CREDITABLE")
		if events, want := a.Events(t, "invoice.credit_note", "invoice.paid"),
			"invoice.credit_note.created invoice.credit_note.created"; events != want {
			t.Errorf("events %q, want %q", events, want)
		}
	})
}

func TestRefunds(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		customer := newCustomer(t, call)
		invoice := newInvoice(t, call, customer, 1000, `"dueAt": "2020-01-01T00:00:00Z"`)
		call(t, "invoices.issue", ref(invoice)).OK(t, 200)
		payment := pay(t, call, invoice, "k", 1000).OK(t, 201)
		payment.Same("refundedCents", 0)
		one := `"paymentId": "` + payment.Text("id") + `"`
		refund := func(more ...string) apptest.Result {
			return call(t, "invoices.payments.refund", ref(invoice, append(more, one)...))
		}
		for _, bad := range []string{`"amountCents": 0`, `"amountCents": -1`, `"amountCents": "1,5"`} {
			refund(bad).Issues(t, "amountCents")
		}
		refund(`"amountCents": 1001`).Refused(t, 422, "REFUND_EXCEEDS_PAYMENT")
		// Repeating it under the same key gives nothing back twice.
		for range 2 {
			refund(`"amountCents": 300, "idempotencyKey": "r"`).OK(t, 200).Same("refundedCents", 300)
		}
		v := call(t, "invoices.get", ref(invoice)).OK(t, 200)
		v.Same("status", "overdue")
		v.Same("amountPaidCents", 700)
		v.Same("amountDueCents", 300)
		call(t, "invoices.payments.void", ref(invoice, one)).Refused(t, 409, "PAYMENT_REFUNDED")
		refund(`"amountCents": 701`).Refused(t, 422, "REFUND_EXCEEDS_PAYMENT")
		last := refund().OK(t, 200)
		last.Same("refundedCents", 1000)
		refund().Refused(t, 422, "REFUND_EXCEEDS_PAYMENT")
		if got := call(t, "invoices.payments.get", ref(invoice, one)).OK(t, 200); got.String() != last.String() {
			t.Errorf("get differs: %s", got)
		}
		v = call(t, "invoices.get", ref(invoice)).OK(t, 200)
		v.Same("amountDueCents", 1000)
		if got, want := ledger(t, call, customer), "invoice:1000 payment:1000 charge:300 charge:700"; got != want {
			t.Errorf("ledger %q, want %q", got, want)
		}
		second := pay(t, call, invoice, "k2", 5).OK(t, 201).Text("id")
		call(t, "invoices.payments.void", ref(invoice, `"paymentId": "`+second+`"`)).OK(t, 200)
		call(t, "invoices.payments.refund", ref(invoice, `"paymentId": "`+second+`"`)).Refused(t, 409, "PAYMENT_VOIDED")
		// Everything was given back, so it can be voided.
		call(t, "invoices.void", ref(invoice)).OK(t, 200)
		if b := balance(t, call, customer); b != 0 {
			t.Errorf("balance %v", b)
		}
		if events, want := a.Events(t, "invoice.payment", "invoice.overdue"), "invoice.payment.created "+
			"invoice.payment.refunded invoice.overdue invoice.payment.refunded invoice.payment.created "+
			"invoice.payment.voided"; events != want {
			t.Errorf("events %q, want %q", events, want)
		}
	})
}

// Many at once credit no more than the invoice, refund no more than the payment,
// and the numbers have no gap.
func TestCreditAtOnce(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		customer := newCustomer(t, call)
		v := call(t, "invoices.create",
			fmt.Sprintf(`{"customerId": %q, "lineItems": [{"description": "x", "quantity": "4", "unitAmountCents": 333,
				"taxRate": "19"}]}`, customer)).OK(t, 201)
		invoice, line := v.Text("id"), v.Text("lineItems.0.id")
		call(t, "invoices.issue", ref(invoice)).OK(t, 200)
		payment := pay(t, call, invoice, "all", int(v.Number("totalCents"))).OK(t, 201).Text("id")
		var mu sync.Mutex
		var numbers []string
		apptest.RunAtOnce(12, func(i int) {
			if i%2 == 0 {
				r := call(t, "invoices.payments.refund", ref(invoice, `"paymentId": "`+payment+`", "amountCents": 500`))
				if r.Status != 200 && r.Code() != "REFUND_EXCEEDS_PAYMENT" {
					t.Errorf("%d %s", r.Status, r.Body)
				}
				return
			}
			r := credit(t, call, invoice, fmt.Sprintf(`"lineItems": [{"lineItemId": %q, "quantity": "1"}]`, line))
			if r.Status == 201 {
				mu.Lock()
				defer mu.Unlock()
				numbers = append(numbers, r.OK(t, 201).Text("creditNoteNumber"))
			} else if r.Code() != "VALIDATION_ERROR" {
				t.Errorf("%d %s", r.Status, r.Body)
			}
		})
		slices.Sort(numbers)
		if want := []string{"CN-000001", "CN-000002", "CN-000003", "CN-000004"}; !slices.Equal(numbers, want) {
			t.Errorf("numbers %v", numbers)
		}
		got := call(t, "invoices.get", ref(invoice)).OK(t, 200)
		got.Same("amountCreditedCents", 1585)
		got.Same("amountPaidCents", 1585-1500)
		if b := balance(t, call, customer); b != -85 {
			t.Errorf("balance %v", b)
		}
	})
}
