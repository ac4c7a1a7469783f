package customer_test

import (
	"fmt"
	"testing"

	"frontdesk/internal/apptest"
)

func TestTransactions(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		shop := call(t, "businesses.create", `{"name": "Shop", "currency": "eur"}`).OK(t, 201).Text("id")
		customer := call(t, "customers.create",
			fmt.Sprintf(`{"name": "Ada", "businessId": %q}`, shop)).OK(t, 201).Text("id")
		ref := func(more string) string { return fmt.Sprintf(`{"id": %q%s}`, customer, more) }
		none := call(t, "customers.balance.get", ref("")).OK(t, 200)
		none.Same("customerId", customer)
		if none.At("balances").Len() != 0 || !none.Has("balances") {
			t.Errorf("balance %s", none)
		}
		charge := call(t, "customers.transactions.create",
			ref(`, "type": "charge", "amountCents": 1000, "description": "Set-up", "occurredAt": `+
				`"2026-01-31T12:00:00Z"`)).OK(t,
			201)
		for field, want := range map[string]any{"customerId": customer, "type": "charge", "amountCents": 1000,
			"currency": "eur", "occurredAt": "2026-01-31T12:00:00.000Z",
			"description": "Set-up", "organizationId": a.Org} {
			charge.Same(field, want)
		}
		for _, field := range []string{"invoiceId", "paymentId", "deletedAt"} {
			if !charge.Has(field) || !charge.At(field).Null() {
				t.Errorf("%s is %v", field, charge.At(field))
			}
		}
		call(t, "customers.transactions.create", ref(`, "type": "credit", "amountCents": 1500`)).OK(t, 201)
		call(t, "customers.transactions.create",
			ref(`, "type": "charge", "amountCents": 7, "currency": "usd"`)).OK(t, 201)
		b := call(t, "customers.balance.get", ref("")).OK(t, 200)
		for path, want := range map[string]any{"balances.0.currency": "eur", "balances.0.balanceCents": -500,
			"balances.1.currency": "usd", "balances.1.balanceCents": 7} {
			b.Same(path, want)
		}
		got := call(t, "customers.transactions.get",
			ref(fmt.Sprintf(`, "transactionId": %q`, charge.Text("id")))).OK(t, 200)
		if got.String() != charge.String() {
			t.Errorf("get differs from create: %s", got)
		}
		invoice := call(t, "invoices.create",
			fmt.Sprintf(`{"customerId": %q, "lineItems": [{"description": "x", "unitAmountCents": 9}]}`,
				customer)).OK(t, 201).Text("id")
		issued := call(t, "invoices.issue", fmt.Sprintf(`{"id": %q}`, invoice)).OK(t, 200)
		for filter, want := range map[string]int{``: 4, `, "type": "charge"`: 2, `, "type": "payment"`: 0,
			`, "type": "invoice"`: 1, `, "invoiceId": "` + invoice + `"`: 1, `, "invoiceId": "` + shop + `"`: 0} {
			list := call(t, "customers.transactions.list", ref(filter))
			if n := list.OK(t, 200).Len(); n != want {
				t.Errorf("%s finds %d, want %d", filter, n, want)
			}
			list.Page(t).Same("total", want)
		}
		row := call(t, "customers.transactions.list", ref(`, "type": "invoice"`)).OK(t, 200).At("0")
		row.Same("description", "Invoice "+issued.Text("invoiceNumber"))
		row.Same("occurredAt", issued.Text("issuedAt"))

		for _, c := range []struct{ fields, place string }{
			{`, "type": "invoice", "amountCents": 1`, "type"}, {`, "type": "payment", "amountCents": 1`, "type"},
			{`, "amountCents": 1`, "type"},
			{`, "type": "credit"`, "amountCents"}, {`, "type": "credit", "amountCents": 0`, "amountCents"},
			{`, "type": "credit", "amountCents": -5`, "amountCents"},
			{`, "type": "credit", "amountCents": 100000000000000`, "amountCents"},
			{`, "type": "credit", "amountCents": 1, "currency": "EU"`, "currency"},
			{`, "type": "credit", "amountCents": 1, "occurredAt": "x"`, "occurredAt"},
			{`, "type": "credit", "amountCents": 1, "invoiceId": "` + invoice + `"`, ""},
		} {
			call(t, "customers.transactions.create", ref(c.fields)).Issues(t, c.place)
		}
		// Each customer has its own ledger; a deleted customer's cannot be
		// seen.
		other := call(t, "customers.create", `{"name": "Bob"}`).OK(t, 201).Text("id")
		call(t, "customers.transactions.get",
			fmt.Sprintf(`{"id": %q, "transactionId": %q}`, other, charge.Text("id"))).Refused(t, 404, "NOT_FOUND")
		call(t, "customers.delete", ref("")).OK(t, 204)
		for _, gone := range []string{"customers.transactions.list", "customers.balance.get"} {
			call(t, gone, ref("")).Refused(t, 404, "NOT_FOUND")
		}
		call(t, "customers.transactions.create",
			ref(`, "type": "credit", "amountCents": 1`)).Refused(t, 404, "NOT_FOUND")
		// Its invoices carry on.
		call(t, "invoices.record_payment",
			fmt.Sprintf(`{"id": %q, "amountCents": 9, "idempotencyKey": "k"}`, invoice)).OK(t, 201)
		if events := a.Events(t,
			"customer.transaction"); events != "customer.transaction.created customer.transaction.created "+
			"customer.transaction.created" {
			t.Errorf("events %q", events)
		}
	})
}
