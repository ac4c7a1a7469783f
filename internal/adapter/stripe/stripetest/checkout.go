package stripetest

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"strings"
)

// checkoutSession is a Checkout Session in setup mode.
type checkoutSession struct {
	customer, reference, key string
	success, cancel          string
	status                   string // open, complete or expired
	method                   string // the payment method that was saved; empty before
}

// paymentMethod is a payment method; one that was detached has no customer.
type paymentMethod struct{ customer, body string }

func (m *paymentMethod) jsonText(name string) string {
	customer := "null"
	if m.customer != "" {
		customer = fmt.Sprintf("%q", m.customer)
	}
	return fmt.Sprintf(`{"id": %q, "object": "payment_method", "customer": %s, %s}`, name, customer, m.body)
}

func (f *Fake) createCustomer(r *http.Request) string {
	if r.Form.Get("name") == "" {
		f.Report("a customer without a name")
	}
	name := fmt.Sprintf("cus_%d", len(f.customers)+1)
	f.customers[name] = true
	return fmt.Sprintf(`200 {"id": %q, "object": "customer"}`, name)
}

func (f *Fake) openSession(r *http.Request, key string) string {
	if !f.customers[r.Form.Get("customer")] {
		return "400 " + missingError("customer", "customer")
	}
	for field, want := range map[string]string{"mode": "setup", "payment_method_types[0]": "card"} {
		if r.Form.Get(field) != want {
			f.Report("%s is %q", field, r.Form.Get(field))
		}
	}
	name := fmt.Sprintf("cs_test_%d", len(f.sessions)+1)
	f.sessions[name] = &checkoutSession{customer: r.Form.Get("customer"), reference: r.Form.Get("client_reference_id"),
		key:     key,
		success: r.Form.Get("success_url"), cancel: r.Form.Get("cancel_url"), status: "open"}
	return "200 " + f.sessionJSON(name, f.sessions[name], false)
}

func (f *Fake) sessionJSON(name string, s *checkoutSession, expanded bool) string {
	intent, address := "null", fmt.Sprintf("%q", f.URL+"/checkout/"+name)
	if s.status != "open" {
		address = "null"
	}
	if s.method != "" {
		card := fmt.Sprintf("%q", s.method)
		if expanded {
			card = f.methods[s.method].jsonText(s.method)
		}
		intent = fmt.Sprintf(`{"id": "seti_%s", "object": "setup_intent", "status": "succeeded", "customer": %q, `+
			`"payment_method": %s}`, name, s.customer, card)
	}
	return fmt.Sprintf(`{"id": %q, "object": "checkout.session", "mode": "setup", "status": %q, "customer": %q,
		"client_reference_id": %q, "metadata": {"frontdesk_key": %q},
		"setup_intent": %s, "url": %s}`, name, s.status, s.customer, s.reference, s.key, intent, address)
}

func (f *Fake) detachMethod(w http.ResponseWriter, name string) {
	m := f.methods[name]
	if m == nil || m.customer == "" {
		writeJSON(w, http.StatusBadRequest,
			`{"error": {"type": "invalid_request_error", "message": "The payment method you provided is not `+
				`attached to a `+
				`customer so detachment is impossible."}}`)
		return
	}
	m.customer = ""
	writeJSON(w, http.StatusOK, m.jsonText(name))
}

// IsAttached reports whether a card belongs to a customer, so that it could be charged.
func (f *Fake) IsAttached(card string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.methods[card] != nil && f.methods[card].customer != ""
}

// CountCustomers counts the customers that were ever created, deleted ones too.
func (f *Fake) CountCustomers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.customers)
}

// ForgetCustomers deletes all customers, as somebody may do at Stripe.
func (f *Fake) ForgetCustomers() {
	f.Update(func() {
		for name := range f.customers {
			f.customers[name] = false
		}
	})
}

// ExpireSession ends a session that is open.
func (f *Fake) ExpireSession(name string) { f.Update(func() { f.sessions[name].status = "expired" }) }

// ReassignPage makes the API report another customer or reference for a page; an empty one
// stays as it is.
func (f *Fake) ReassignPage(page, customer, reference string) {
	f.Update(func() {
		s := f.sessions[page]
		s.customer, s.reference = cmp.Or(customer, s.customer), cmp.Or(reference, s.reference)
	})
}

// SaveCard saves a card on a page as a person would, and returns where the browser goes
// next.
func (f *Fake) SaveCard(page string) (to string) {
	f.Update(func() { to = f.saveCard(page, f.sessions[page]) })
	return to
}

func (f *Fake) saveCard(name string, s *checkoutSession) string {
	if s.status == "open" {
		s.status, s.method = "complete", "pm_"+name
		f.methods[s.method] = &paymentMethod{customer: s.customer,
			body: `"type": "card", "card": {"brand": "mastercard", "last4": "4444", "exp_month": 7, "exp_year": 2031}`}
	}
	return strings.ReplaceAll(s.success, "{CHECKOUT_SESSION_ID}", name)
}

var checkoutPage = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport"
	content="width=device-width, initial-scale=1"><title>Not Stripe</title></head>
<body><main><h1>This is not Stripe</h1><p>It is a fake for tests. It saves a card that does not exist.</p>
<form method="post"><button id="save" name="do" value="save">Save card</button> <button id="cancel" name="do"
	value="cancel">Cancel</button></form>
</main></body></html>`))

// serveCheckout is the page on which a card is saved.
func (f *Fake) serveCheckout(w http.ResponseWriter, r *http.Request, name string) {
	s := f.sessions[name]
	switch {
	case s == nil || s.status == "expired":
		http.NotFound(w, r)
	case r.Method != http.MethodPost:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := checkoutPage.Execute(w, nil); err != nil {
			f.Report("%v", err)
		}
	case r.Form.Get("do") == "save":
		http.Redirect(w, r, f.saveCard(name, s), http.StatusSeeOther)
	default:
		http.Redirect(w, r, s.cancel, http.StatusSeeOther)
	}
}
