package invoice_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

// history is one customer's random life, and the amounts it should lead to.
type history struct {
	*rand.Rand
	t        testing.TB
	call     apptest.Door
	customer string
	invoices []*expected
	adjusted map[string]int // credits and charges by currency
	keys     int
	seed     [2]uint64
}

type expected struct {
	id, currency, status string
	total, paid, lines   int
	credited             int
	payments             []payment // only those that are not void
}

type payment struct {
	id       string
	cents    int // what was not refunded
	refunded bool
}

func (h *history) do(op, input string) apptest.Result { h.t.Helper(); return h.call(h.t, op, input) }

func (h *history) step() {
	h.t.Helper()
	if len(h.invoices) == 0 || h.IntN(6) == 0 {
		h.draft()
		return
	}
	e := h.invoices[h.IntN(len(h.invoices))]
	switch h.IntN(10) {
	case 0, 1:
		want := e.status == "draft" && e.lines > 0
		if r := h.do("invoices.issue", ref(e.id)); (r.Status == 200) != want {
			h.t.Fatalf("seed %v: issue of %+v: %d %s", h.seed, e, r.Status, r.Body)
		}
		if want {
			e.status = "issued"
		}
	case 2:
		want := e.status != "draft" && e.status != "void" && e.paid == 0 && e.credited == 0
		if r := h.do("invoices.void", ref(e.id)); (r.Status == 200) != want {
			h.t.Fatalf("seed %v: void of %+v: %d %s", h.seed, e, r.Status, r.Body)
		}
		if want {
			e.status = "void"
		}
	case 3, 4, 5:
		h.pay(e)
	case 6:
		if n := len(e.payments); n > 0 {
			i := h.IntN(n)
			if e.payments[i].refunded {
				h.do("invoices.payments.void", ref(e.id, `"paymentId": "`+e.payments[i].id+`"`)).Refused(h.t, 409,
					"PAYMENT_REFUNDED")
				return
			}
			h.do("invoices.payments.void", ref(e.id, `"paymentId": "`+e.payments[i].id+`"`)).OK(h.t, 200)
			e.paid -= e.payments[i].cents
			e.payments = slices.Delete(e.payments, i, i+1)
		}
	case 7:
		kind, cents, currency := "credit", 1+h.IntN(500), []string{"usd", "eur"}[h.IntN(2)]
		sign := -1
		if h.IntN(2) == 0 {
			kind, sign = "charge", 1
		}
		h.do("customers.transactions.create",
			ref(h.customer,
				fmt.Sprintf(`"type": %q, "amountCents": %d, "currency": %q`, kind, cents, currency))).OK(h.t, 201)
		h.adjusted[currency] += sign * cents
	case 8:
		h.credit(e)
	case 9:
		h.refund(e)
	}
}

func (h *history) credit(e *expected) {
	h.t.Helper()
	more, want := []string{}, e.status != "draft" && e.status != "void" && e.credited < e.total
	if h.IntN(2) == 0 && want { // something of the first line of which something is left
		v := h.do("invoices.get", ref(e.id)).OK(h.t, 200)
		more = append(more,
			fmt.Sprintf(`"lineItems": [{"lineItemId": %q, "amountCents": 1}]`, v.Text("lineItems.0.id")))
	}
	r := credit(h.t, h.call, e.id, more...)
	switch {
	case r.Status == 201:
		e.credited += int(r.OK(h.t, 201).Number("totalCents"))
	case len(more) == 0 && want:
		h.t.Fatalf("seed %v: credit of %+v: %d %s", h.seed, e, r.Status, r.Body)
	}
	if r.Status == 201 && !want || e.credited > e.total || len(more) == 0 && want && e.credited != e.total {
		h.t.Fatalf("seed %v: credit of %+v: %d %s", h.seed, e, r.Status, r.Body)
	}
}

func (h *history) refund(e *expected) {
	h.t.Helper()
	if len(e.payments) == 0 {
		return
	}
	p := &e.payments[h.IntN(len(e.payments))]
	cents := 1 + h.IntN(p.cents+2)
	r := h.do("invoices.payments.refund", ref(e.id, fmt.Sprintf(`"paymentId": %q, "amountCents": %d`, p.id, cents)))
	if (r.Status == 200) != (cents <= p.cents) {
		h.t.Fatalf("seed %v: refund of %d of %+v: %d %s", h.seed, cents, p, r.Status, r.Body)
	}
	if r.Status == 200 {
		p.cents, p.refunded, e.paid = p.cents-cents, true, e.paid-cents
	}
}

func (h *history) draft() {
	e := &expected{currency: []string{"usd", "eur"}[h.IntN(2)], status: "draft"}
	lines := ""
	for i := range h.IntN(4) {
		cents := h.IntN(1000)
		if i > 0 {
			lines += ", "
		}
		lines += fmt.Sprintf(`{"description": "x", "unitAmountCents": %d, "quantity": "%d"}`, cents, i+1)
		e.total += cents * (i + 1)
		e.lines++
	}
	due := "2099-01-01T00:00:00Z"
	if h.IntN(3) == 0 {
		due = "2020-01-01T00:00:00Z"
	}
	e.id = h.do("invoices.create",
		fmt.Sprintf(`{"customerId": %q, "currency": %q, "dueAt": %q, "lineItems": [%s]}`, h.customer, e.currency, due,
			lines)).OK(h.t, 201).Text("id")
	h.invoices = append(h.invoices, e)
}

func (h *history) pay(e *expected) {
	h.t.Helper()
	open := max(0, e.total-e.paid-e.credited)
	cents := 1 + h.IntN(max(1, 2*open))
	if h.IntN(3) == 0 {
		cents = max(1, open)
	}
	h.keys++
	key := fmt.Sprintf("%s-%d", h.customer, h.keys)
	want := e.status != "draft" && e.status != "void" && cents <= open
	r := pay(h.t, h.call, e.id, key, cents)
	if (r.Status == 201) != want {
		h.t.Fatalf("seed %v: payment of %d for %+v: %d %s", h.seed, cents, e, r.Status, r.Body)
	}
	if !want {
		return
	}
	if h.IntN(4) == 0 {
		pay(h.t, h.call, e.id, key, cents).OK(h.t, 201) // repeating it adds no payment
	}
	e.payments = append(e.payments, payment{r.OK(h.t, 201).Text("id"), cents, false})
	e.paid += cents
}

// check compares the ledger with the invoices and payments behind it.
func (h *history) check() {
	h.t.Helper()
	want := map[string]int{}
	for currency, cents := range h.adjusted {
		want[currency] += cents
	}
	for _, e := range h.invoices {
		v := h.do("invoices.get", ref(e.id)).OK(h.t, 200)
		status, due := e.status, max(0, e.total-e.paid-e.credited)
		switch {
		case status == "draft":
		case status == "void":
			due = 0
		case due == 0:
			status = "paid"
		case v.At("overdueAt").Null() && e.paid > 0:
			status = "partially_paid"
		case !v.At("overdueAt").Null():
			status = "overdue"
		}
		if v.Text("status") != status || int(v.Number("amountPaidCents")) != e.paid ||
			int(v.Number("amountDueCents")) != due {
			h.t.Fatalf("seed %v: %s, want %s with %+v", h.seed, v, status, e)
		}
		if status != "draft" && status != "void" {
			want[e.currency] += e.total - e.paid - e.credited // the customer's, if below zero
		}
	}
	balances := h.do("customers.balance.get", ref(h.customer)).OK(h.t, 200).At("balances")
	for i := range balances.Len() {
		currency := balances.Text(fmt.Sprint(i, ".currency"))
		if got := int(balances.Number(fmt.Sprint(i, ".balanceCents"))); got != want[currency] {
			h.t.Fatalf("seed %v: the ledger says %d %s, invoices and payments %d", h.seed, got, currency,
				want[currency])
		}
		delete(want, currency)
	}
	for currency, cents := range want {
		if cents != 0 {
			h.t.Fatalf("seed %v: the ledger has no %s, it should say %d", h.seed, currency, cents)
		}
	}
}

// Whatever happens, a customer owes what the invoices and payments say.
func TestLedgerFollows(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		a := apptest.Start(t, e)
		histories := 1000
		if testing.Short() {
			histories = 50
		}
		seed := uint64(time.Now().UnixNano())
		apptest.RunAtOnce(4, func(worker int) {
			call := a.Door("action", a.Tenant)
			for i := worker; i < histories && !t.Failed(); i += 4 {
				h := &history{Rand: rand.New(rand.NewPCG(seed, uint64(i))), t: t, call: call,
					adjusted: map[string]int{},
					seed:     [2]uint64{seed, uint64(i)}}
				h.customer = call(t, "customers.create", `{"name": "x"}`).OK(t, 201).Text("id")
				for range 6 + h.IntN(10) {
					h.step()
				}
				if i%10 == 0 {
					sweep(t, a, a.Clock.Now())
				}
				h.check()
			}
		})
	})
}
