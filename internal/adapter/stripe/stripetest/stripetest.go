// Package stripetest is a fake of Stripe for tests. It keeps state: it knows
// idempotency keys, declines by the name of the card, has a page on which a
// card can be saved (checkout.go), and can lose its answer after the work is done. It
// says on its page that it is not Stripe. A request that the real Stripe would not
// expect from this program is reported, and fails the test. Start reading at New and
// Fake.ServeHTTP.
package stripetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"frontdesk/internal/adapter/stripe"
)

// SecretKey is the API key that the fake accepts.
const SecretKey = "sk_test_123"

// Fake is the server. Its fields are set before it serves, or with Set.
type Fake struct {
	URL           string                           // its own address
	Report        func(format string, args ...any) // called with what a client did wrong
	AnswersToLose int                              // how many answers to POST are lost after the work
	Down          bool                             // everything is answered 503
	Charges       int                              // payments that succeeded

	mu        sync.Mutex
	intents   []string                // as JSON, the newest first
	refunds   map[string]string       // by payment
	answers   map[string]storedAnswer // by idempotency key
	customers map[string]bool         // false when it was deleted
	sessions  map[string]*checkoutSession
	methods   map[string]*paymentMethod
}

// storedAnswer is the answer to the first request with an idempotency key.
type storedAnswer struct {
	asked  string // the path and the form
	status int
	body   string
}

// New makes a fake that knows one customer, cus_1, with the card pm_1.
func New(url string, report func(format string, args ...any)) *Fake {
	return &Fake{URL: url, Report: report, refunds: map[string]string{}, answers: map[string]storedAnswer{},
		customers: map[string]bool{"cus_1": true},
		sessions:  map[string]*checkoutSession{}, methods: map[string]*paymentMethod{
			"pm_1": {customer: "cus_1",
				body: `"type": "card", "card": {"brand": "visa", "last4": "4242", "exp_month": 12, "exp_year": 2030}`},
			"pm_bank": {customer: "cus_1", body: `"type": "sepa_debit"`}}}
}

// Start serves a fake until the test ends.
func Start(t testing.TB) *Fake {
	t.Helper()
	f := New("", t.Errorf)
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.URL = server.URL
	return f
}

// Update changes the fake while it serves.
func (f *Fake) Update(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// ServeHTTP is the API, and below /checkout/ the pages for people.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := r.ParseForm(); err != nil {
		f.Report("%v", err)
	}
	if page, ok := strings.CutPrefix(r.URL.Path, "/checkout/"); ok {
		f.serveCheckout(w, r, page)
		return
	}
	if !strings.HasPrefix(r.URL.Path, "/v1/") {
		http.NotFound(w, r) // browsers look for an icon
		return
	}
	switch {
	case f.Down:
		writeJSON(w, http.StatusServiceUnavailable, `{"error": {"type": "api_error", "message": "Stripe is down."}}`)
	case r.Header.Get("Authorization") != "Bearer "+SecretKey:
		writeJSON(w, http.StatusUnauthorized,
			`{"error": {"type": "invalid_request_error", "message": "Invalid API Key provided"}}`)
	case r.Method == http.MethodPost:
		f.servePost(w, r)
	default:
		f.serveGet(w, r)
	}
	if version := r.Header.Get("Stripe-Version"); version != stripe.APIVersion {
		f.Report("%s is asked in the version %q", r.URL.Path, version)
	}
}

func writeJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprint(w, body)
}

// missingError is Stripe's error for an object that does not exist.
func missingError(noun, param string) string {
	return fmt.Sprintf(`{"error": {"type": "invalid_request_error", "code": "resource_missing", "param": %q, `+
		`"message": "No such %s"}}`, param, noun)
}

func (f *Fake) serveGet(w http.ResponseWriter, r *http.Request) {
	list := func(rows []string) {
		writeJSON(w, http.StatusOK, fmt.Sprintf(`{"object": "list", "has_more": false, "url": %q, "data": [%s]}`,
			r.URL.Path, strings.Join(rows, ",")))
	}
	noun, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
	switch {
	case r.URL.Path == "/v1/balance":
		writeJSON(w, http.StatusOK, `{"object": "balance"}`)
	case r.URL.Path == "/v1/payment_intents":
		if !f.customers[r.Form.Get("customer")] {
			f.Report("the list is of customer %q", r.Form.Get("customer"))
		}
		list(f.intents)
	case r.URL.Path == "/v1/refunds":
		if row, ok := f.refunds[r.Form.Get("payment_intent")]; ok {
			list([]string{row})
		} else {
			list(nil)
		}
	case noun == "payment_methods":
		if m := f.methods[name]; m != nil {
			writeJSON(w, http.StatusOK, m.jsonText(name))
		} else {
			writeJSON(w, http.StatusNotFound, missingError("PaymentMethod", "payment_method"))
		}
	case noun == "checkout":
		name = strings.TrimPrefix(name, "sessions/")
		if s := f.sessions[name]; s != nil {
			writeJSON(w, http.StatusOK, f.sessionJSON(name, s,
				r.Form.Get("expand[0]") == "setup_intent.payment_method"))
		} else {
			writeJSON(w, http.StatusNotFound, missingError("checkout.session", "session"))
		}
	default:
		f.Report("%s %s", r.Method, r.URL.Path)
		http.NotFound(w, r)
	}
}

// servePost carries out a request once, and gives the same answer to every further one with
// its key.
func (f *Fake) servePost(w http.ResponseWriter, r *http.Request) {
	if name, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/v1/payment_methods/"), "/detach"); ok {
		f.detachMethod(w, name)
		return
	}
	key, asked := r.Header.Get("Idempotency-Key"), r.URL.Path+"?"+r.Form.Encode()
	if key == "" || key != r.Form.Get("metadata[frontdesk_key]") {
		f.Report("%s: the key %q, in the metadata %q", r.URL.Path, key, r.Form.Get("metadata[frontdesk_key]"))
	}
	a, ok := f.answers[key]
	switch {
	case ok && a.asked != asked:
		writeJSON(w, http.StatusBadRequest,
			`{"error": {"type": "idempotency_error", "message": "Keys for idempotent requests can only be used with `+
				`the same `+
				`parameters they were first used with."}}`)
		return
	case !ok:
		a = f.carryOut(r, key)
		a.asked = asked
		f.answers[key] = a
	}
	if f.AnswersToLose > 0 {
		f.AnswersToLose--
		panic(http.ErrAbortHandler)
	}
	writeJSON(w, a.status, a.body)
}

// carryOut carries out a request. The functions below return a status and a body, separated
// by a space.
func (f *Fake) carryOut(r *http.Request, key string) storedAnswer {
	var text string
	switch r.URL.Path {
	case "/v1/payment_intents":
		text = f.createIntent(r, key)
	case "/v1/refunds":
		text = f.createRefund(r, key)
	case "/v1/customers":
		text = f.createCustomer(r)
	case "/v1/checkout/sessions":
		text = f.openSession(r, key)
	default:
		f.Report("POST %s", r.URL.Path)
		text = "404 {}"
	}
	status, body, _ := strings.Cut(text, " ")
	code, err := strconv.Atoi(status)
	if err != nil {
		f.Report("%v", err)
	}
	return storedAnswer{status: code, body: body}
}
