package stripe_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"frontdesk/internal/adapter/stripe"
	"frontdesk/internal/apptest"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/domain/domaintest"
)

// fake is a Stripe that keeps state: it knows idempotency keys, declines by
// the name of the card, and can lose its answer after the work is done.
type fake struct {
	t       *testing.T
	mu      sync.Mutex
	intents []string          // as JSON, the newest first
	refunds map[string]string // by payment
	answers map[string]string // by idempotency key: status and body
	charges int
	lose    int // so many answers to POST are lost after the work
}

func start(t *testing.T) (*fake, *stripe.Client) {
	f := &fake{t: t, refunds: map[string]string{}, answers: map[string]string{}}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return f, stripe.New("sk_test_123", s.URL)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer sk_test_123" {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error": {"type": "invalid_request_error", "message": "Invalid API Key provided"}}`)
		return
	}
	if err := r.ParseForm(); err != nil {
		f.t.Error(err)
	}
	list := func(rows []string) {
		fmt.Fprintf(w, `{"object": "list", "has_more": false, "url": %q, "data": [%s]}`, r.URL.Path, strings.Join(rows, ","))
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /v1/payment_intents":
		if r.Form.Get("customer") != "cus_1" {
			f.t.Errorf("the list is of customer %q", r.Form.Get("customer"))
		}
		list(f.intents)
	case "GET /v1/refunds":
		if row, ok := f.refunds[r.Form.Get("payment_intent")]; ok {
			list([]string{row})
		} else {
			list(nil)
		}
	case "GET /v1/payment_methods/pm_1":
		fmt.Fprint(w, `{"id": "pm_1", "object": "payment_method", "type": "card", "customer": "cus_1", "card": {"brand": "visa", "last4": "4242", "exp_month": 12, "exp_year": 2030}}`)
	case "GET /v1/payment_methods/pm_bank":
		fmt.Fprint(w, `{"id": "pm_bank", "object": "payment_method", "type": "sepa_debit", "customer": "cus_1"}`)
	case "GET /v1/payment_methods/pm_gone":
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error": {"type": "invalid_request_error", "code": "resource_missing", "message": "No such PaymentMethod"}}`)
	case "POST /v1/payment_intents", "POST /v1/refunds":
		f.post(w, r)
	default:
		f.t.Errorf("%s %s", r.Method, r.URL.Path)
	}
}

func (f *fake) post(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	if key == "" || key != r.Form.Get("metadata[frontdesk_key]") {
		f.t.Errorf("the key %q, in the metadata %q", key, r.Form.Get("metadata[frontdesk_key]"))
	}
	answer, ok := f.answers[key]
	if !ok {
		if strings.HasSuffix(r.URL.Path, "refunds") {
			answer = f.refund(r, key)
		} else {
			answer = f.intent(r, key)
		}
		f.answers[key] = answer
	}
	if f.lose > 0 {
		f.lose--
		panic(http.ErrAbortHandler)
	}
	status, body, _ := strings.Cut(answer, " ")
	if code, err := strconv.Atoi(status); err == nil {
		w.WriteHeader(code)
	}
	fmt.Fprint(w, body)
}

func (f *fake) intent(r *http.Request, key string) string {
	for field, want := range map[string]string{"amount": "1200", "currency": "usd", "customer": "cus_1", "confirm": "true", "off_session": "true"} {
		if r.Form.Get(field) != want {
			f.t.Errorf("%s is %q", field, r.Form.Get(field))
		}
	}
	id := fmt.Sprintf("pi_%d", len(f.intents)+1)
	row := func(status, fault string) string {
		return fmt.Sprintf(`{"id": %q, "object": "payment_intent", "status": %q, "metadata": {"frontdesk_key": %q}%s}`, id, status, key, fault)
	}
	fault := ""
	switch r.Form.Get("payment_method") {
	case "pm_declined":
		fault = `{"type": "card_error", "code": "card_declined", "decline_code": "insufficient_funds", "message": "Your card has insufficient funds."}`
	case "pm_confirm":
		fault = `{"type": "card_error", "code": "authentication_required", "message": "This payment requires authentication."}`
	case "pm_gone":
		return `400 {"error": {"type": "invalid_request_error", "code": "resource_missing", "message": "No such PaymentMethod: 'pm_gone'"}}`
	case "pm_busy":
		f.intents = append([]string{row("processing", "")}, f.intents...)
		return "200 " + f.intents[0]
	}
	if fault != "" {
		f.intents = append([]string{row("requires_payment_method", `, "last_payment_error": `+fault)}, f.intents...)
		return `402 {"error": ` + fault + `}`
	}
	f.charges++
	f.intents = append([]string{row("succeeded", "")}, f.intents...)
	return "200 " + f.intents[0]
}

func (f *fake) refund(r *http.Request, key string) string {
	payment := r.Form.Get("payment_intent")
	if _, ok := f.refunds[payment]; ok {
		return `400 {"error": {"type": "invalid_request_error", "code": "charge_already_refunded", "message": "Charge has already been refunded."}}`
	}
	f.refunds[payment] = fmt.Sprintf(`{"id": "re_1", "object": "refund", "status": "succeeded", "metadata": {"frontdesk_key": %q}}`, key)
	return "200 " + f.refunds[payment]
}

func TestConformance(t *testing.T) {
	f, c := start(t)
	domaintest.Payments(t, c, domaintest.Cards{Good: "pm_1", Declined: "pm_declined", Customer: "cus_1"})
	if f.charges != 2 {
		t.Errorf("%d charges", f.charges)
	}
}

// An answer that was lost after the charge is asked for, and a repeated
// request is the same charge.
func TestLostAnswer(t *testing.T) {
	f, c := start(t)
	charge := domain.Charge{Card: "pm_1", Customer: "cus_1", AmountCents: 1200, Currency: "usd"}
	f.lose = 1
	var no *domain.Refusal
	if _, err := c.Charge(t.Context(), "k", charge); err == nil || errors.As(err, &no) {
		t.Fatalf("a lost answer: %v", err)
	}
	if id, err := c.Charged(t.Context(), "k", charge); id != "pi_1" || err != nil {
		t.Errorf("asked: %q, %v", id, err)
	}
	if id, err := c.Charge(t.Context(), "k", charge); id != "pi_1" || err != nil || f.charges != 1 {
		t.Errorf("again: %q, %v, %d charges", id, err, f.charges)
	}
	f.lose = 2 // net/http itself repeats a request with a key on a used connection
	if _, err := c.Refund(t.Context(), "r", "pi_1", 1200); err == nil || errors.As(err, &no) {
		t.Fatalf("a lost answer: %v", err)
	}
	if id, err := c.Refunded(t.Context(), "r", "pi_1"); id != "re_1" || err != nil {
		t.Errorf("asked: %q, %v", id, err)
	}
}

func TestRefusals(t *testing.T) {
	_, c := start(t)
	for card, want := range map[string]string{"pm_confirm": "only its owner", "pm_declined": "insufficient funds", "pm_gone": "Save it again"} {
		var no *domain.Refusal
		if _, err := c.Charge(t.Context(), card, domain.Charge{Card: card, Customer: "cus_1", AmountCents: 1200, Currency: "usd"}); !errors.As(err, &no) || !strings.Contains(no.Message, want) {
			t.Errorf("%s: %v", card, err)
		}
	}
	// What is not over, and a key that the operator mistyped, refuse nothing.
	var no *domain.Refusal
	if _, err := c.Charge(t.Context(), "busy", domain.Charge{Card: "pm_busy", Customer: "cus_1", AmountCents: 1200, Currency: "usd"}); err == nil || errors.As(err, &no) {
		t.Errorf("a payment that is not over: %v", err)
	}
	s := httptest.NewServer(&fake{t: t})
	defer s.Close()
	if _, err := stripe.New("sk_wrong", s.URL).Charge(t.Context(), "x", domain.Charge{}); err == nil || errors.As(err, &no) {
		t.Errorf("a wrong key: %v", err)
	}
}

// The service with Stripe: an operator saves a card that Stripe knows, and a
// registration charges it.
func TestService(t *testing.T) {
	f := &fake{t: t, refunds: map[string]string{}, answers: map[string]string{}}
	server := httptest.NewServer(f)
	defer server.Close()
	s := apptest.Settings(t, db.SQLite)
	s.PaymentsProvider, s.Stripe = stripe.Name, config.Stripe{SecretKey: "sk_test_123", URL: server.URL}
	a := apptest.StartWith(t, s)
	a.Operate(t, "agreements.accept", "business", a.Business, fmt.Sprintf(`{"businessId": %q, "kind": "domain", "by": %q}`, a.Business, a.Owner))
	save := func(operation, input string) error {
		_, err := a.Admin.Do(t.Context(), admin.Request{Operation: operation, Noun: "organization", Ref: string(a.Org), Input: []byte(input)})
		return err
	}
	for _, input := range []string{`{"customer": "cus_2", "card": "pm_1"}`, `{"customer": "cus_1", "card": "pm_gone"}`, `{"customer": "cus_1", "card": "pm_bank"}`} {
		if err := save("payment_methods.create", input); !fault.Has(err, fault.Invalid) {
			t.Errorf("%s: %v", input, err)
		}
	}
	if err := save("payment_methods.create_test", `{"test": "visa"}`); !fault.Has(err, fault.Invalid) {
		t.Errorf("a sandbox card: %v", err)
	}
	order := func(key string) apptest.Result {
		return a.Send(t, a.Key, "POST", "/v1/domain-registrations", `{"domain": "a.com", "maxAmountCents": 1200, "contact": {"firstName": "Ada", "lastName": "Lovelace", "address1": "1", "city": "London",
			"stateProvince": "London", "postalCode": "1", "country": "GB", "email": "ada@example.com", "phone": "+442079460018"}}`, "Idempotency-Key", key)
	}
	order("none").Refused(t, 402, "PAYMENT_METHOD_REQUIRED")
	if err := save("payment_methods.create", `{"customer": "cus_1", "card": "pm_1"}`); err != nil {
		t.Fatal(err)
	}
	f.lose = 2
	order("one").Refused(t, 503, "SERVICE_UNAVAILABLE")
	id := order("one").OK(t, 202).Text("operationId")
	a.Send(t, a.Key, "GET", "/v1/operations/"+id, "").OK(t, 200).Same("paymentIntentId", "pi_1")
	if f.charges != 1 {
		t.Errorf("%d charges", f.charges)
	}
}

// What Stripe's own mock, made from their description, takes and answers.
// scripts/judge-stripe starts it.
func TestShapes(t *testing.T) {
	url := os.Getenv("FRONTDESK_TEST_STRIPE_MOCK")
	if url == "" {
		t.Skip("FRONTDESK_TEST_STRIPE_MOCK is not set; scripts/judge-stripe sets it")
	}
	c := stripe.New("sk_test_123", url)
	if err := c.Check(t.Context()); err != nil {
		t.Error(err)
	}
	charge := domain.Charge{Card: "pm_card_visa", Customer: "cus_1", AmountCents: 1200, Currency: "usd", Description: "Registration"}
	// The mock answers every intent as not paid yet: the shape is what counts.
	var no *domain.Refusal
	if _, err := c.Charge(t.Context(), "k", charge); err != nil && !errors.As(err, &no) {
		t.Errorf("charge: %v", err)
	}
	if _, err := c.Charged(t.Context(), "k", charge); !errors.Is(err, domain.ErrNothing) {
		t.Errorf("charged: %v", err)
	}
	if _, err := c.Refund(t.Context(), "r", "pi_1", 1200); err != nil {
		t.Errorf("refund: %v", err)
	}
	if _, err := c.Refunded(t.Context(), "r", "pi_1"); !errors.Is(err, domain.ErrNothing) {
		t.Errorf("refunded: %v", err)
	}
}
