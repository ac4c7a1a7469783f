// Package domaintest holds the suites that every registrar and every payment
// provider passes, the embedded ones and the real ones. They call an adapter as
// orders do: a call, the same call again with the same key, and the question what
// became of it.
//
// An adapter's test calls ExerciseRegistrar or ExercisePayments with names and
// cards that its provider knows.
package domaintest

import (
	"errors"
	"testing"

	"frontdesk/internal/resource/domain"
)

// TestCards are the cards that a payment provider is tested with, and the customer they belong to.
type TestCards struct{ Good, Declined, Customer string }

// ExercisePayments is the suite of payment providers: no key charges or refunds twice, and a charge
// that is declined stays so.
func ExercisePayments(t *testing.T, p domain.Payments, c TestCards) {
	t.Helper()
	ctx := t.Context()
	good := domain.Charge{Card: c.Good, Customer: c.Customer, AmountCents: 1200, Currency: "usd",
		Description: "Registration of example.com"}
	if _, err := p.Charged(ctx, "never", good); !errors.Is(err, domain.ErrUnknownToProvider) {
		t.Errorf("asked about what never was: %v", err)
	}
	payment, err := p.Charge(ctx, "one", good)
	if err != nil || payment == "" {
		t.Fatalf("charge: %q, %v", payment, err)
	}
	for what, ask := range map[string]func() (string, error){
		"charged again":  func() (string, error) { return p.Charge(ctx, "one", good) },
		"asked about it": func() (string, error) { return p.Charged(ctx, "one", good) },
	} {
		if again, err := ask(); again != payment || err != nil {
			t.Errorf("%s: %q, %v; want %q", what, again, err, payment)
		}
	}
	if other, err := p.Charge(ctx, "two", good); err != nil || other == payment {
		t.Errorf("another key: %q, %v", other, err)
	}
	bad := good
	bad.Card = c.Declined
	for range 2 {
		var no *domain.Refusal
		if _, err := p.Charge(ctx, "bad", bad); !errors.As(err, &no) || no.Message == "" {
			t.Errorf("a card that is declined: %v", err)
		}
		if _, err := p.Charged(ctx, "bad", bad); !errors.As(err, &no) {
			t.Errorf("asked about a card that was declined: %v", err)
		}
	}
	if _, err := p.Refunded(ctx, "back", payment); !errors.Is(err, domain.ErrUnknownToProvider) {
		t.Errorf("asked about a refund that never was: %v", err)
	}
	refund, err := p.Refund(ctx, "back", payment, 1200)
	if err != nil || refund == "" {
		t.Fatalf("refund: %q, %v", refund, err)
	}
	if again, err := p.Refund(ctx, "back", payment, 1200); again != refund || err != nil {
		t.Errorf("refunded again: %q, %v", again, err)
	}
	if again, err := p.Refunded(ctx, "back", payment); again != refund || err != nil {
		t.Errorf("asked about the refund: %q, %v", again, err)
	}
	var no *domain.Refusal
	if _, err := p.Refund(ctx, "twice", payment, 1200); !errors.As(err, &no) {
		t.Errorf("a second refund of one payment: %v", err)
	}
}

// TestNames are the names that a registrar is tested with; it does not offer the ending of
// Unoffered.
type TestNames struct{ Free, Taken, Unoffered string }

// Registrant is a person that every registrar accepts.
func Registrant() domain.Registrant {
	company, title := "Analytical Engines", "Director"
	return domain.Registrant{FirstName: "Ada", LastName: "Lovelace", OrganizationName: &company, JobTitle: &title,
		Address1: "12 St James's Square", City: "London",
		StateProvince: "London", PostalCode: "SW1Y 4JH", Country: "GB",
		Email: "ada@example.com", Phone: "+442079460018"}
}

// ExerciseRegistrar is the suite of registrars: no key registers or renews twice, and every change can
// be repeated.
func ExerciseRegistrar(t *testing.T, r domain.Registrar, n TestNames) {
	t.Helper()
	ctx := t.Context()
	if r.Name() == "" || len(r.Endings()) == 0 {
		t.Error("it has no name or no endings")
	}
	offer, err := r.Check(ctx, n.Free)
	if err != nil || offer == nil || !offer.Available || offer.Premium || offer.FirstYearPrice <= 0 ||
		offer.RenewalPrice <= 0 {
		t.Fatalf("a free name: %+v, %v", offer, err)
	}
	if offer, err := r.Check(ctx, n.Taken); err != nil || offer == nil || offer.Available {
		t.Errorf("a taken name: %+v, %v", offer, err)
	}
	if offer, err := r.Check(ctx, n.Unoffered); err != nil || offer != nil {
		t.Errorf("an ending that is not offered: %+v, %v", offer, err)
	}
	a := domain.RegistrationRequest{Name: n.Free, Years: 2, Registrant: Registrant()}
	if _, err := r.Registered(ctx, "one", a); !errors.Is(err, domain.ErrUnknownToProvider) {
		t.Errorf("asked about what never was: %v", err)
	}
	held, err := r.Register(ctx, "one", a)
	if err != nil || held.ExpiresAt.Std().Year() != held.RegisteredAt.Std().Year()+2 {
		t.Fatalf("register: %+v, %v", held, err)
	}
	if again, err := r.Register(ctx, "one", a); err != nil || *again != *held {
		t.Errorf("registered again: %+v, %v; want %+v", again, err, held)
	}
	if again, err := r.Registered(ctx, "one", a); err != nil || *again != *held {
		t.Errorf("asked about it: %+v, %v", again, err)
	}
	if offer, err := r.Check(ctx, n.Free); err != nil || offer.Available {
		t.Errorf("it is still offered: %+v, %v", offer, err)
	}
	if _, err := r.Renewed(ctx, "more", n.Free, held.ExpiresAt); !errors.Is(err, domain.ErrUnknownToProvider) {
		t.Errorf("asked about a renewal that never was: %v", err)
	}
	longer, err := r.Renew(ctx, "more", n.Free, 3, held.ExpiresAt)
	if err != nil || longer.ExpiresAt.Std() != held.ExpiresAt.Std().AddDate(3, 0, 0) {
		t.Fatalf("renew: %+v, %v", longer, err)
	}
	if again, err := r.Renew(ctx, "more", n.Free, 3, held.ExpiresAt); err != nil ||
		again.ExpiresAt != longer.ExpiresAt {
		t.Errorf("renewed again: %+v, %v", again, err)
	}
	if again, err := r.Renewed(ctx, "more", n.Free, held.ExpiresAt); err != nil || again.ExpiresAt != longer.ExpiresAt {
		t.Errorf("asked about the renewal: %+v, %v", again, err)
	}
	var no *domain.Refusal
	if _, err := r.Renew(ctx, "none", n.Taken, 1, held.ExpiresAt); !errors.As(err, &no) {
		t.Errorf("renewed somebody else's: %v", err)
	}
	for _, on := range []bool{true, true, false, false} {
		if err := r.SetTransferLock(ctx, n.Free, on); err != nil {
			t.Errorf("lock %t: %v", on, err)
		}
	}
	changed := Registrant()
	changed.Email = "grace@example.com"
	if err := r.ChangeContact(ctx, n.Free, changed); err != nil {
		t.Errorf("the registrant: %v", err)
	}
	if _, err := r.BeginTransfer(ctx, n.Free); err != nil {
		t.Errorf("begin a transfer: %v", err)
	}
	if left, err := r.Left(ctx, n.Free); left || err != nil {
		t.Errorf("it left at once: %t, %v", left, err)
	}
	if err := r.EndTransfer(ctx, n.Free); err != nil {
		t.Errorf("end a transfer: %v", err)
	}
}
