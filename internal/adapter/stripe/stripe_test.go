package stripe_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"frontdesk/internal/account/card"
	"frontdesk/internal/adapter/stripe"
	"frontdesk/internal/adapter/stripe/stripetest"
	"frontdesk/internal/apptest"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/domain/domaintest"
)

func start(t *testing.T) (*stripetest.Fake, *stripe.Client) {
	f := stripetest.Start(t)
	return f, client(f.URL, stripetest.SecretKey)
}

func client(url, key string) *stripe.Client {
	return stripe.New(stripe.Config{SecretKey: key, URL: url, CheckoutURL: url})
}

func TestConformance(t *testing.T) {
	f, c := start(t)
	domaintest.ExercisePayments(t, c, domaintest.TestCards{Good: "pm_1", Declined: "pm_declined", Customer: "cus_1"})
	if f.Charges != 2 {
		t.Errorf("%d charges", f.Charges)
	}
}

// An answer that was lost after the charge is asked for, and a repeated
// request is the same charge.
func TestLostAnswer(t *testing.T) {
	f, c := start(t)
	charge := domain.Charge{Card: "pm_1", Customer: "cus_1", AmountCents: 1200, Currency: "usd"}
	f.AnswersToLose = 1
	var no *domain.Refusal
	if _, err := c.Charge(t.Context(), "k", charge); err == nil || errors.As(err, &no) {
		t.Fatalf("a lost answer: %v", err)
	}
	if id, err := c.Charged(t.Context(), "k", charge); id != "pi_1" || err != nil {
		t.Errorf("asked: %q, %v", id, err)
	}
	if id, err := c.Charge(t.Context(), "k", charge); id != "pi_1" || err != nil || f.Charges != 1 {
		t.Errorf("again: %q, %v, %d charges", id, err, f.Charges)
	}
	f.AnswersToLose = 2 // net/http itself repeats a request with a key on a used connection
	if _, err := c.Refund(t.Context(), "r", "pi_1", 1200); err == nil || errors.As(err, &no) {
		t.Fatalf("a lost answer: %v", err)
	}
	if id, err := c.Refunded(t.Context(), "r", "pi_1"); id != "re_1" || err != nil {
		t.Errorf("asked: %q, %v", id, err)
	}
}

func TestRefusals(t *testing.T) {
	f, c := start(t)
	for card, want := range map[string]string{"pm_confirm": "only its owner", "pm_declined": "insufficient funds",
		"pm_gone": "Save it again"} {
		var no *domain.Refusal
		if _, err := c.Charge(t.Context(), card,
			domain.Charge{Card: card, Customer: "cus_1", AmountCents: 1200, Currency: "usd"}); !errors.As(err, &no) ||
			!strings.Contains(no.Message, want) {
			t.Errorf("%s: %v", card, err)
		}
	}
	// What is not over, and a key that the operator mistyped, refuse nothing.
	var no *domain.Refusal
	if _, err := c.Charge(t.Context(), "busy",
		domain.Charge{Card: "pm_busy", Customer: "cus_1", AmountCents: 1200, Currency: "usd"}); err == nil ||
		errors.As(err, &no) {
		t.Errorf("a payment that is not over: %v", err)
	}
	if _, err := client(f.URL, "sk_wrong").Charge(t.Context(), "x", domain.Charge{}); err == nil ||
		errors.As(err, &no) {
		t.Errorf("a wrong key: %v", err)
	}
}

// The service with Stripe: an operator saves a card that Stripe knows, and a
// registration charges it.
func TestService(t *testing.T) {
	f := stripetest.Start(t)
	s := apptest.Settings(t, db.SQLite)
	s.PaymentsProvider, s.Stripe = stripe.Name,
		config.Stripe{SecretKey: stripetest.SecretKey, URL: f.URL, CheckoutURL: f.URL}
	a := apptest.StartWith(t, s)
	a.AsOperator(t, "agreements.accept", "business", a.Business,
		fmt.Sprintf(`{"businessId": %q, "kind": "domain", "by": %q}`, a.Business, a.Owner))
	save := func(operation, input string) error {
		_, err := a.Admin.Do(t.Context(),
			admin.Request{Operation: operation, Noun: "organization", Ref: string(a.Org), Input: []byte(input)})
		return err
	}
	for _, input := range []string{`{"customer": "cus_2", "card": "pm_1"}`, `{"customer": "cus_1", "card": "pm_gone"}`,
		`{"customer": "cus_1", "card": "pm_bank"}`} {
		if err := save("payment_methods.create", input); !fault.IsKind(err, fault.Invalid) {
			t.Errorf("%s: %v", input, err)
		}
	}
	if err := save("payment_methods.create_test", `{"test": "visa"}`); !fault.IsKind(err, fault.Invalid) {
		t.Errorf("a sandbox card: %v", err)
	}
	order := func(key string) apptest.Result {
		return a.SendREST(t, a.Key, "POST", "/v1/domain-registrations",
			`{"domain": "a.com", "maxAmountCents": 1200, "contact": {"firstName": "Ada", "lastName": "Lovelace",
				"address1": "1", "city": "London",
			"stateProvince": "London", "postalCode": "1", "country": "GB", "email": "ada@example.com",
				"phone": "+442079460018"}}`, "Idempotency-Key", key)
	}
	order("none").Refused(t, 402, "PAYMENT_METHOD_REQUIRED")
	if err := save("payment_methods.create", `{"customer": "cus_1", "card": "pm_1"}`); err != nil {
		t.Fatal(err)
	}
	f.AnswersToLose = 2
	order("one").Refused(t, 503, "SERVICE_UNAVAILABLE")
	id := order("one").OK(t, 202).Text("operationId")
	a.SendREST(t, a.Key, "GET", "/v1/operations/"+id, "").OK(t, 200).Same("paymentIntentId", "pi_1")
	if f.Charges != 1 {
		t.Errorf("%d charges", f.Charges)
	}
}

// What Stripe's own mock, made from their description, takes and answers.
// scripts/judge-stripe starts it.
func TestShapes(t *testing.T) {
	url := os.Getenv("FRONTDESK_TEST_STRIPE_MOCK")
	if url == "" {
		t.Skip("FRONTDESK_TEST_STRIPE_MOCK is not set; scripts/judge-stripe sets it")
	}
	c := stripe.New(stripe.Config{SecretKey: stripetest.SecretKey, URL: url,
		CheckoutURL: "https://checkout.stripe.com"})
	if err := c.Check(t.Context()); err != nil {
		t.Error(err)
	}
	charge := domain.Charge{Card: "pm_card_visa", Customer: "cus_1", AmountCents: 1200, Currency: "usd",
		Description: "Registration"}
	// The mock answers every intent as not paid yet: the shape is what counts.
	var no *domain.Refusal
	if _, err := c.Charge(t.Context(), "k", charge); err != nil && !errors.As(err, &no) {
		t.Errorf("charge: %v", err)
	}
	if _, err := c.Charged(t.Context(), "k", charge); !errors.Is(err, domain.ErrUnknownToProvider) {
		t.Errorf("charged: %v", err)
	}
	if _, err := c.Refund(t.Context(), "r", "pi_1", 1200); err != nil {
		t.Errorf("refund: %v", err)
	}
	if _, err := c.Refunded(t.Context(), "r", "pi_1"); !errors.Is(err, domain.ErrUnknownToProvider) {
		t.Errorf("refunded: %v", err)
	}
	if name, err := c.CreateCustomer(t.Context(), "c", "Analytical Engines"); name == "" || err != nil {
		t.Errorf("customer: %q, %v", name, err)
	}
	opened, err := c.OpenCardPage(t.Context(), "s-1",
		card.PageRequest{Setup: "s", Customer: "cus_1", Done: "https://desk.example/settings/cards/saved?page=",
			Canceled: "https://desk.example/"})
	if err != nil || opened.ID == "" {
		t.Errorf("a page for a card: %+v, %v", opened, err)
	}
	if state, err := c.ReadCardPage(t.Context(), "cs_1"); err != nil || state.Card != nil {
		t.Errorf("the page of the mock's own session, which is for a payment: %+v, %v", state, err)
	}
	if err := c.DetachCard(t.Context(), "pm_1"); err != nil {
		t.Errorf("detach: %v", err)
	}
}

// A payment is found on whichever page of the list it stands.
func TestPages(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch after := r.FormValue("starting_after"); {
		case r.FormValue("customer") != "cus_1" || r.FormValue("limit") != "100":
			t.Errorf("asked for %s", r.URL.RawQuery)
		case after == "":
			fmt.Fprint(w,
				`{"has_more": true, "data": [{"id": "pi_3", "metadata": {}}, {"id": "pi_2", "metadata": {}}]}`)
		case after == "pi_2":
			fmt.Fprint(w, `{"has_more": false, "data": [
				{"id": "pi_1", "status": "succeeded", "metadata": {"frontdesk_key": "k"}}]}`)
		default:
			t.Errorf("asked for what comes after %s", after)
		}
	}))
	defer s.Close()
	c := client(s.URL, stripetest.SecretKey)
	if id, err := c.Charged(t.Context(), "k", domain.Charge{Customer: "cus_1"}); id != "pi_1" || err != nil {
		t.Errorf("%q, %v", id, err)
	}
	_, err := c.Charged(t.Context(), "another", domain.Charge{Customer: "cus_1"})
	if !errors.Is(err, domain.ErrUnknownToProvider) {
		t.Errorf("a key that no payment has: %v", err)
	}
}
