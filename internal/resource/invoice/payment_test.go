package invoice_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

// forget removes the answers that are kept for a day, as time would.
func forget(t testing.TB, a *apptest.App) {
	t.Helper()
	err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, "DELETE FROM idempotency WHERE organization_id = $1", a.Org)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A payment's key stays bound to it for good, at every door.
func TestPaymentKeys(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		rest, agent, action := a.Door("rest", a.Tenant), a.Door("agent", a.Tenant), a.Door("action", a.Tenant)
		customer := newCustomer(t, rest)
		invoice, other := newInvoice(t, rest, customer, 1000), newInvoice(t, rest, customer, 1000)
		for _, v := range []string{invoice, other} {
			rest(t, "invoices.issue", ref(v)).OK(t, 200)
		}
		first := pay(t, rest, invoice, "k", 300, `"note": "n"`)
		original := first.OK(t, 201)
		if first.Header.Get("Idempotency-Replay") != "" {
			t.Error("a new payment calls itself a replay")
		}
		same := func(call apptest.Door, more ...string) {
			t.Helper()
			r := pay(t, call, invoice, "k", 300, append(more, `"note": "n"`)...)
			if got := r.OK(t, 201); got.String() != original.String() {
				t.Errorf("not the original payment: %s", got)
			}
			if r.Header != nil && r.Header.Get("Idempotency-Replay") != "true" {
				t.Error("a replay does not say so")
			}
		}
		differs := func(call apptest.Door) {
			t.Helper()
			reused := func(r apptest.Result) { t.Helper(); r.Refused(t, 422, "IDEMPOTENCY_KEY_REUSED") }
			reused(pay(t, call, invoice, "k", 301, `"note": "n"`))
			reused(pay(t, call, invoice, "k", 300))
			reused(pay(t, call, invoice, "k", 300, `"note": "m"`))
			reused(pay(t, call, invoice, "k", 300, `"note": null`))
			reused(pay(t, call, invoice, "k", 300, `"note": "n", "paidAt": "2020-01-01T00:00:00Z"`))
			reused(pay(t, call, other, "k", 300, `"note": "n"`))
			reused(pay(t, call, string(a.Business), "k", 300, `"note": "n"`)) // there is no such invoice
			reused(pay(t, call, invoice, "k", 0, `"note": "n"`))              // invalid, so a different request
			reused(pay(t, call, invoice, "k", 300, `"nope": "n"`))
		}
		for range 2 {
			for _, call := range []apptest.Door{rest, agent, action} {
				same(call)
				same(call, `"method": "card"`) // the method is not compared
				same(call, `"paidAt": "`+original.Text("paidAt")+`"`)
				same(call, `"paidAt": null`)
				differs(call)
			}
			forget(t, a)
			// After a day other operations may use the key; the payment keeps
			// it.
			a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "x"}`, "Idempotency-Key", "k").OK(t, 201)
		}
		// Somebody else's key with the same text is another key.
		stranger := a.NewTenant(t, "enterprise")
		theirs := a.Door("rest", stranger)
		yours := newInvoice(t, theirs, newCustomer(t, theirs), 1000)
		theirs(t, "invoices.issue", ref(yours)).OK(t, 200)
		pay(t, theirs, yours, "k", 5).OK(t, 201)
		// Any other use of the key is refused for as long as other keys last.
		pay(t, rest, other, "fresh", 1).OK(t, 201)
		a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "x"}`, "Idempotency-Key", "fresh").Refused(t, 422,
			"IDEMPOTENCY_KEY_REUSED")
		a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "x"}`, "Idempotency-Key", "contact").OK(t, 201)
		pay(t, rest, other, "contact", 1).Refused(t, 422, "IDEMPOTENCY_KEY_REUSED")
		// The permission is checked before anything is revealed.
		weak, _ := a.NewKey(t, a.Tenant, "invoices:read")
		a.SendREST(t, weak, "POST", "/v1/invoices/"+invoice+"/payments", `{"amountCents": 300, "note": "n"}`,
			"Idempotency-Key",
			"k").Refused(t, 403, "INSUFFICIENT_PERMISSIONS")

		// A voided payment stays bound to its key.
		voided := rest(t, "invoices.payments.void", ref(invoice, `"paymentId": "`+original.Text("id")+`"`)).OK(t, 200)
		forget(t, a)
		if got := pay(t, agent, invoice, "k", 300, `"note": "n"`).OK(t, 201); got.String() != voided.String() {
			t.Errorf("not the void payment: %s", got)
		}
		rest(t, "invoices.get", ref(invoice)).OK(t, 200).Same("amountPaidCents", 0)
		if n := rest(t, "invoices.payments.list", ref(invoice)).OK(t, 200).Len(); n != 1 {
			t.Errorf("%d payments", n)
		}
		if got, want := ledger(t, rest, customer),
			"invoice:1000 invoice:1000 payment:300 payment:1 charge:300"; got != want {
			t.Errorf("ledger %q, want %q", got, want)
		}
		if events := a.Events(t,
			"invoice.payment"); events != "invoice.payment.created invoice.payment.created invoice.payment.voided" {
			t.Errorf("events %q", events)
		}
	})
}

// 50 identical payments at once under one key make one payment. Afterwards all
// answer with it, even when nothing but the payment remembers the key.
func TestOneKeyAtOnce(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		a := apptest.Start(t, e)
		call, action := a.Door("rest", a.Tenant), a.Door("action", a.Tenant)
		customer := newCustomer(t, call)
		for round := range 4 {
			invoice := newInvoice(t, call, customer, 1000)
			call(t, "invoices.issue", ref(invoice)).OK(t, 200)
			key := fmt.Sprint("k", round)
			var made, replays, waiting atomic.Int64
			apptest.RunAtOnce(50, func(i int) {
				door := call
				if i%2 == 1 {
					door = action
				}
				switch r := pay(t, door, invoice, key, 1000); {
				case r.Status == 201 && r.Header.Get("Idempotency-Replay") == "true":
					replays.Add(1)
				case r.Status == 201:
					made.Add(1)
				case r.Code() == "IDEMPOTENCY_KEY_IN_FLIGHT":
					waiting.Add(1)
				default:
					t.Errorf("%d %s", r.Status, r.Body)
				}
			})
			if n := call(t, "invoices.payments.list", ref(invoice)).OK(t, 200).Len(); n != 1 ||
				made.Load()+replays.Load()+waiting.Load() != 50 {
				t.Errorf("%d payments; made %d, replays %d, waiting %d", n, made.Load(), replays.Load(), waiting.Load())
			}
			forget(t, a)
			pay(t, call, invoice, key, 1000).OK(t, 201)
			call(t, "invoices.get", ref(invoice)).OK(t, 200).Same("amountPaidCents", 1000)
		}
	})
}

// 50 payments at once, each under its own key, never pay more than is due.
func TestNeverOverpaid(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		a := apptest.Start(t, e)
		call := a.Door("rest", a.Tenant)
		customer := newCustomer(t, call)
		invoice := newInvoice(t, call, customer, 1000)
		call(t, "invoices.issue", ref(invoice)).OK(t, 200)
		var ok, refused atomic.Int64
		apptest.RunAtOnce(50, func(i int) {
			switch r := pay(t, call, invoice, fmt.Sprint("k", i), 90); {
			case r.Status == 201:
				ok.Add(1)
			case r.Code() == "PAYMENT_EXCEEDS_BALANCE":
				refused.Add(1)
			default:
				t.Errorf("%d %s", r.Status, r.Body)
			}
		})
		if ok.Load() != 11 || refused.Load() != 39 {
			t.Errorf("%d were taken, %d refused", ok.Load(), refused.Load())
		}
		v := call(t, "invoices.get", ref(invoice)).OK(t, 200)
		v.Same("amountPaidCents", 990)
		v.Same("amountDueCents", 10)
		if b := balance(t, call, customer); b != 10 {
			t.Errorf("balance %v", b)
		}
		// Voiding one payment races with paying the rest: either order adds up.
		payments := call(t, "invoices.payments.list", ref(invoice)).OK(t, 200)
		apptest.RunAtOnce(2, func(i int) {
			if i == 0 {
				call(t, "invoices.payments.void", ref(invoice, `"paymentId": "`+payments.Text("0.id")+`"`)).OK(t, 200)
			} else if r := pay(t, call, invoice, "rest", 50); r.Status != 201 && r.Code() != "PAYMENT_EXCEEDS_BALANCE" {
				t.Errorf("%d %s", r.Status, r.Body)
			}
		})
		due := call(t, "invoices.get", ref(invoice)).OK(t, 200).Number("amountDueCents")
		if b := balance(t, call, customer); b != due {
			t.Errorf("balance %v, due %v", b, due)
		}
	})
}
