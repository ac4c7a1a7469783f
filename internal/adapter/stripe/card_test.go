package stripe_test

import (
	"errors"
	"strings"
	"testing"

	"frontdesk/internal/account/card"
	"frontdesk/internal/adapter/stripe"
	"frontdesk/internal/adapter/stripe/stripetest"
)

func ask(customer string) card.PageRequest {
	return card.PageRequest{Setup: "our-setup", Customer: customer, Done: "https://desk.example/saved?page=",
		Canceled: "https://desk.example/"}
}

// A card is saved on Stripe's page, read back from there, and detached.
func TestCardPage(t *testing.T) {
	f, c := start(t)
	who, err := c.CreateCustomer(t.Context(), "k1", "Analytical Engines")
	if err != nil {
		t.Fatal(err)
	}
	f.AnswersToLose = 2 // net/http itself repeats a request with a key on a used connection
	if _, err := c.OpenCardPage(t.Context(), "k2", ask(who)); err == nil {
		t.Fatal("a lost answer is none")
	}
	f.Update(func() { f.AnswersToLose = 0 })
	page, err := c.OpenCardPage(t.Context(), "k2", ask(who))
	if err != nil || page.ID != "cs_test_1" || page.URL != f.URL+"/checkout/cs_test_1" {
		t.Fatalf("the key of the request makes another page: %+v, %v", page, err)
	}
	if again, err := c.CreateCustomer(t.Context(), "k1", "Analytical Engines"); again != who || err != nil {
		t.Errorf("the same key makes another customer: %q, %v", again, err)
	}
	if s, err := c.ReadCardPage(t.Context(), page.ID); err != nil || s.Card != nil || s.Setup != "our-setup" ||
		s.Customer != who {
		t.Errorf("before: %+v, %v", s, err)
	}
	if to := f.SaveCard(page.ID); to != "https://desk.example/saved?page=cs_test_1" {
		t.Errorf("back to %s", to)
	}
	s, err := c.ReadCardPage(t.Context(), page.ID)
	if err != nil || s.Card == nil {
		t.Fatalf("after: %+v, %v", s, err)
	}
	saved := *s.Card
	if saved.Brand != "mastercard" || saved.Last4 != "4444" || saved.ExpMonth != 7 || saved.ExpYear != 2031 ||
		saved.ProviderID != "pm_cs_test_1" || *saved.ProviderCustomer != who {
		t.Errorf("%+v", saved)
	}
	for range 2 { // the second finds it detached
		if err := c.DetachCard(t.Context(), saved.ProviderID); err != nil || f.IsAttached(saved.ProviderID) {
			t.Errorf("detach: %v", err)
		}
	}
}

func TestCardPageRefusals(t *testing.T) {
	f, c := start(t)
	if _, err := c.OpenCardPage(t.Context(), "k", ask("cus_gone")); !errors.Is(err, card.ErrNoCustomer) {
		t.Errorf("an unknown customer: %v", err)
	}
	if s, err := c.ReadCardPage(t.Context(), "cs_gone"); err != nil || s.Setup != "" || s.Card != nil {
		t.Errorf("an unknown page: %+v, %v", s, err)
	}
	// A browser is sent nowhere but where the operator said.
	elsewhere := stripe.New(stripe.Config{SecretKey: stripetest.SecretKey, URL: f.URL,
		CheckoutURL: "https://checkout.stripe.com"})
	if _, err := elsewhere.OpenCardPage(t.Context(), "e", ask("cus_1")); err == nil ||
		!strings.Contains(err.Error(), "--stripe-checkout-url") {
		t.Errorf("a page elsewhere: %v", err)
	}
	f.Update(func() { f.Down = true })
	if _, err := c.CreateCustomer(t.Context(), "d", "A"); err == nil {
		t.Error("a customer while Stripe is down")
	}
	if err := c.DetachCard(t.Context(), "pm_1"); err == nil || !f.IsAttached("pm_1") {
		t.Errorf("a card was detached while Stripe is down: %v", err)
	}
}
