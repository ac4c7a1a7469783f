package invoice_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/resource/invoice"
)

func pay(t testing.TB, call apptest.Door, invoice, key string, cents int, more ...string) apptest.Result {
	t.Helper()
	return call(t, "invoices.record_payment",
		ref(invoice, append(more, fmt.Sprintf(`"amountCents": %d, "idempotencyKey": %q`, cents, key))...))
}

// ledger lists a customer's ledger, oldest first, as "type:amount".
func ledger(t testing.TB, call apptest.Door, customer string) string {
	t.Helper()
	rows := call(t, "customers.transactions.list", ref(customer, `"sortOrder": "asc", "limit": 100`)).OK(t, 200)
	var out []string
	for i := range rows.Len() {
		out = append(out, fmt.Sprintf("%s:%.0f", rows.Text(fmt.Sprint(i, ".type")),
			rows.Number(fmt.Sprint(i, ".amountCents"))))
	}
	return strings.Join(out, " ")
}

func balance(t testing.TB, call apptest.Door, customer string) float64 {
	t.Helper()
	b := call(t, "customers.balance.get", ref(customer)).OK(t, 200)
	if b.At("balances").Len() == 0 {
		return 0
	}
	return b.Number("balances.0.balanceCents")
}

// From draft to paid, back by voiding, and then void; the ledger follows.
func TestMoves(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		customer := newCustomer(t, call)
		invoice := newInvoice(t, call, customer, 1000, `"dueAt": "2099-01-01T00:00:00Z"`)
		is := func(status string, paid int) {
			t.Helper()
			v := call(t, "invoices.get", ref(invoice)).OK(t, 200)
			v.Same("status", status)
			v.Same("amountPaidCents", paid)
		}
		move := func(name string) apptest.Result { return call(t, "invoices."+name, ref(invoice)) }
		refused := func(name, from, to string) {
			t.Helper()
			e := move(name).Refused(t, 409, "INVOICE_TRANSITION_INVALID")
			if m := e.Text("message"); !strings.Contains(m, "from "+from+" to "+to) {
				t.Errorf("says %q", m)
			}
		}
		refused("void", "draft", "void")
		pay(t, call, invoice, "early", 1).Refused(t, 409, "INVOICE_NOT_PAYABLE")
		v := move("issue").OK(t, 200)
		v.Same("status", "issued")
		v.Same("invoiceNumber", "INV-000001")
		if v.At("issuedAt").Null() || v.At("lineItems").Len() != 1 {
			t.Errorf("issued: %s", v)
		}
		refused("issue", "issued", "issued")

		first := pay(t, call, invoice, "k1", 400,
			`"method": "cash", "note": "in coins", "paidAt": "2026-01-31T12:00:00Z"`).OK(t, 201)
		for field, want := range map[string]any{"invoiceId": invoice, "amountCents": 400, "method": "cash",
			"note": "in coins", "paidAt": "2026-01-31T12:00:00.000Z"} {
			first.Same(field, want)
		}
		if !first.At("voidedAt").Null() || first.Has("idempotencyKey") || first.Has("key") {
			t.Errorf("a payment is %s", first)
		}
		is("partially_paid", 400)
		refused("void", "partially_paid", "void")
		e := pay(t, call, invoice, "k2", 601).Refused(t, 422, "PAYMENT_EXCEEDS_BALANCE")
		e.Same("details.amountDueCents", 600)
		second := pay(t, call, invoice, "k2", 600).OK(t, 201) // a refusal releases its key
		second.Same("method", "other")
		is("paid", 1000)
		refused("void", "paid", "void")
		pay(t, call, invoice, "k3", 1).Refused(t, 422, "PAYMENT_EXCEEDS_BALANCE").Same("details.amountDueCents", 0)

		list := call(t, "invoices.payments.list", ref(invoice))
		list.OK(t, 200).Same("0.id", second.Text("id"))
		list.Page(t).Same("total", 2)
		one := func(p apptest.Value) string { return `"paymentId": "` + p.Text("id") + `"` }
		if got := call(t, "invoices.payments.get",
			ref(invoice, one(first))).OK(t, 200); got.String() != first.String() {
			t.Errorf("get differs: %s", got)
		}
		back := call(t, "invoices.payments.void", ref(invoice, one(second))).OK(t, 200)
		if back.At("voidedAt").Null() {
			t.Errorf("voided: %s", back)
		}
		is("partially_paid", 400)
		call(t, "invoices.payments.void", ref(invoice, one(second))).Refused(t, 409, "PAYMENT_VOIDED")
		call(t, "invoices.payments.void", ref(invoice, one(first))).OK(t, 200)
		is("issued", 0)
		v = move("void").OK(t, 200)
		v.Same("status", "void")
		v.Same("amountDueCents", 0)
		v.Same("invoiceNumber", "INV-000001")
		refused("void", "void", "void")
		refused("issue", "void", "issued")
		pay(t, call, invoice, "late", 1).Refused(t, 409, "INVOICE_NOT_PAYABLE")

		if got, want := ledger(t, call, customer),
			"invoice:1000 payment:400 payment:600 charge:600 charge:400 credit:1000"; got != want {
			t.Errorf("ledger %q, want %q", got, want)
		}
		if b := balance(t, call, customer); b != 0 {
			t.Errorf("balance %v", b)
		}
		want := "invoice.created invoice.issued invoice.payment.created invoice.payment.created invoice.paid " +
			"invoice.payment.voided invoice.payment.voided invoice.voided"
		if events := a.Events(t, "invoice"); events != want {
			t.Errorf("events %q, want %q", events, want)
		}

		// A payment belongs to its invoice.
		other := newInvoice(t, call, customer, 5)
		call(t, "invoices.payments.get", ref(other, one(first))).Refused(t, 404, "NOT_FOUND")
		call(t, "invoices.payments.void", ref(other, one(first))).Refused(t, 404, "NOT_FOUND")
		for _, bad := range []struct{ fields, place string }{{`"amountCents": 0`, "amountCents"},
			{`"amountCents": -1`, "amountCents"}, {`"amountCents": "1,5"`, "amountCents"},
			{`"amountCents": 1, "method": "gold"`, "method"}, {`"amountCents": 1, "paidAt": "now"`, "paidAt"},
			{`"amountCents": 1, "currency": "usd"`, ""}, {`"method": "cash"`, "amountCents"}} {
			call(t, "invoices.record_payment", ref(other, bad.fields, `"idempotencyKey": "bad"`)).Issues(t, bad.place)
		}
		call(t, "invoices.record_payment", ref(other, `"amountCents": 1`)).Refused(t, 400, "INVALID_INPUT")

		// One without lines is not issued. One for nothing is paid at once, and
		// not in the ledger.
		before := ledger(t, call, customer)
		nothing := call(t, "invoices.create", fmt.Sprintf(`{"customerId": %q}`, customer)).OK(t, 201).Text("id")
		call(t, "invoices.issue", ref(nothing)).Refused(t, 409, "INVOICE_EMPTY")
		for _, lines := range []string{`[{"description": "free", "unitAmountCents": 0}]`,
			`[{"description": "a", "unitAmountCents": 5}, {"description": "b", "unitAmountCents": -5}]`} {
			free := call(t, "invoices.create",
				fmt.Sprintf(`{"customerId": %q, "lineItems": %s}`, customer, lines)).OK(t, 201).Text("id")
			call(t, "invoices.issue", ref(free)).OK(t, 200).Same("status", "paid")
			call(t, "invoices.void", ref(free)).OK(t, 200).Same("status", "void")
		}
		if got := ledger(t, call, customer); got != before {
			t.Errorf("the ledger tells of nothing: %s", got)
		}
		want += " invoice.created invoice.created" + strings.Repeat(
			" invoice.created invoice.issued invoice.paid invoice.voided", 2)
		if events := a.Events(t, "invoice"); events != want {
			t.Errorf("events %q, want %q", events, want)
		}
	})
}

func sweep(t testing.TB, a *apptest.App, at clock.Time) {
	t.Helper()
	for more := true; more; {
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			more, err = invoice.MarkDueOverdue(ctx, tx, a.App.Events, at, 2)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestOverdue(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		customer := newCustomer(t, call)
		due := func(at string) string { return newInvoice(t, call, customer, 1000, `"dueAt": "`+at+`"`) }
		is := func(invoice, status string) apptest.Value {
			t.Helper()
			v := call(t, "invoices.get", ref(invoice)).OK(t, 200)
			v.Same("status", status)
			return v
		}
		draft, future, never := due("2020-01-01T00:00:00Z"), due("2099-01-01T00:00:00Z"),
			newInvoice(t, call, customer, 1000)
		late, part, done, voided := due("2020-01-01T00:00:00Z"), due("2020-01-01T00:00:00Z"),
			due("2020-01-01T00:00:00Z"),
			due("2020-01-01T00:00:00Z")
		for _, v := range []string{future, never, late, part, done, voided} {
			call(t, "invoices.issue", ref(v)).OK(t, 200)
		}
		pay(t, call, part, "part", 400).OK(t, 201)
		full := pay(t, call, done, "done", 1000).OK(t, 201).Text("id")
		call(t, "invoices.void", ref(voided)).OK(t, 200)
		now := a.Clock.Now()
		sweep(t, a, now)
		is(late, "overdue").Same("overdueAt", now)
		is(part, "overdue")
		for v, status := range map[string]string{draft: "draft", future: "issued", never: "issued", done: "paid",
			voided: "void"} {
			if !is(v, status).At("overdueAt").Null() {
				t.Errorf("%s has a time of overdue", status)
			}
		}
		sweep(t, a, now) // it happens only once
		if events := a.Events(t, "invoice.overdue"); events != "invoice.overdue invoice.overdue" {
			t.Errorf("events %q", events)
		}
		if n := call(t, "invoices.list", `{"status": "overdue"}`).OK(t, 200).Len(); n != 2 {
			t.Errorf("%d are overdue", n)
		}
		data := ""
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			data, err = db.QueryOne[string](ctx, tx, `
				SELECT CAST(data AS TEXT)
				FROM events
				WHERE organization_id = $1 AND type = 'invoice.overdue' AND resource_id = $2`, a.Org, late)
			return err
		})
		if err != nil || !strings.Contains(data, `"lineItems"`) || !strings.Contains(data, `"overdue"`) {
			t.Errorf("%v: the event tells %s", err, data)
		}

		// A partial payment leaves it overdue; the rest pays it; voiding leads
		// back.
		pay(t, call, late, "l1", 400).OK(t, 201)
		is(late, "overdue")
		rest := pay(t, call, late, "l2", 600).OK(t, 201).Text("id")
		is(late, "paid")
		call(t, "invoices.payments.void", ref(late, `"paymentId": "`+rest+`"`)).OK(t, 200)
		is(late, "overdue")
		// It was paid in time; without the payment it is overdue.
		call(t, "invoices.payments.void", ref(done, `"paymentId": "`+full+`"`)).OK(t, 200)
		if is(done, "overdue").At("overdueAt").Null() {
			t.Error("no time of overdue")
		}
		if events := a.Events(t, "invoice.overdue"); strings.Count(events, "invoice.overdue") != 3 {
			t.Errorf("events %q", events)
		}
		// Nothing is paid now, so it can be voided.
		call(t, "invoices.void", ref(done)).OK(t, 200)
	})
}

// 100 drafts issued at once get the numbers 1 to 100, and a refused issue uses
// none.
func TestNumbers(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		a := apptest.Start(t, e)
		call := a.Door("rest", a.Tenant)
		customer := newCustomer(t, call)
		n := 100
		if testing.Short() {
			n = 20
		}
		drafts := make([]string, n)
		for i := range drafts {
			drafts[i] = newInvoice(t, call, customer, 100)
		}
		empty := call(t, "invoices.create", fmt.Sprintf(`{"customerId": %q}`, customer)).OK(t, 201).Text("id")
		var mu sync.Mutex
		var numbers []string
		apptest.RunAtOnce(n+10, func(i int) {
			if i >= n {
				call(t, "invoices.issue", ref(empty)).Refused(t, 409, "INVOICE_EMPTY")
				return
			}
			v := call(t, "invoices.issue", ref(drafts[i])).OK(t, 200).Text("invoiceNumber")
			mu.Lock()
			defer mu.Unlock()
			numbers = append(numbers, v)
		})
		slices.Sort(numbers)
		for i, v := range numbers {
			if want := fmt.Sprintf("INV-%06d", i+1); v != want {
				t.Fatalf("number %d is %s", i+1, v)
			}
		}
		// A draft issued by many at once gets one number.
		last := newInvoice(t, call, customer, 100)
		apptest.RunAtOnce(8, func(int) {
			if r := call(t, "invoices.issue", ref(last)); r.Status != 200 && r.Code() != "INVOICE_TRANSITION_INVALID" {
				t.Errorf("%d %s", r.Status, r.Body)
			}
		})
		call(t, "invoices.get", ref(last)).OK(t, 200).Same("invoiceNumber", fmt.Sprintf("INV-%06d", n+1))
		if got := strings.Count(ledger(t, call, customer), "invoice:"); got != min(n+1, 100) {
			t.Errorf("%d invoices in the ledger", got)
		}
	})
}
