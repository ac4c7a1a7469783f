package desk_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/adapter/stripe"
	"frontdesk/internal/adapter/stripe/stripetest"
	"frontdesk/internal/apptest"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

func withStripe(t *testing.T, e db.Engine) (*apptest.App, *stripetest.Fake) {
	t.Helper()
	f := stripetest.Start(t)
	s := apptest.Settings(t, e)
	s.PaymentsProvider, s.Stripe = stripe.Name,
		config.Stripe{SecretKey: stripetest.SecretKey, URL: f.URL, CheckoutURL: f.URL}
	return apptest.StartWith(t, s), f
}

// startSetup presses the button and returns which of the provider's pages opens.
func startSetup(t *testing.T, b *browser, f *stripetest.Fake) (page string) {
	t.Helper()
	p := b.post("/settings/cards")
	page, ok := strings.CutPrefix(p.Header.Get("Location"), f.URL+"/checkout/")
	if p.Status != http.StatusSeeOther || !ok {
		t.Fatalf("%d to %q: %s", p.Status, p.Header.Get("Location"), p.text())
	}
	return page
}

// sitePath is the path on this site that the provider sends the browser to.
func sitePath(a *apptest.App, address string) string {
	return strings.TrimPrefix(address, a.Settings.BaseURL)
}

// A card is saved at Stripe: only by whoever started it, only once, and only
// when Stripe confirms it.
func TestCardsAtStripe(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		a, f := withStripe(t, e)
		b := owner(t, a)
		p := b.get("/settings/cards").at("/settings/cards", "Add a card at Stripe",
			strings.TrimPrefix(f.URL, "http://")).hasNot("sandbox", `name="test"`)
		if policy := p.Header.Get("Content-Security-Policy"); !strings.HasSuffix(policy, "form-action 'self' "+f.URL) {
			t.Errorf("the form may not lead there: %s", policy)
		}
		if policy := b.get("/settings/plan").Header.Get("Content-Security-Policy"); strings.Contains(policy, f.URL) {
			t.Errorf("another page may lead there as well: %s", policy)
		}

		// Started and not finished; canceled; expired.
		first := startSetup(t, b, f)
		b.get("/settings/cards/saved?page="+first).refused(409, "The card is not saved",
			"No card was saved at the payment provider")
		b.get("/settings/cards?done=nocard").at("/settings/cards", "No card was added.", "No card yet")
		f.ExpireSession(first)
		b.get("/settings/cards/saved?page="+first).refused(409, "Back to the cards")

		// Saved, and loaded again.
		second := startSetup(t, b, f)
		to := sitePath(a, f.SaveCard(second))
		if to != "/settings/cards/saved?page="+second {
			t.Fatalf("Stripe leads back to %s", to)
		}
		b.get(to).at("/settings/cards", "Card saved. It is the default now.", "Mastercard ending in 4444", "07/2031",
			"default")
		p = b.get(to).at("/settings/cards", "This card is already saved.")
		if n := strings.Count(p.Body, "Mastercard ending in 4444"); n != 1 {
			t.Errorf("%d cards", n)
		}

		// Somebody else's page, an unknown page, no page.
		other := a.NewTenant(t, "free")
		o := visit(t, a.URL)
		o.signIn(other.Owner, "a long password").at("/")
		theirs := sitePath(a, f.SaveCard(startSetup(t, o, f)))
		for _, page := range []string{theirs, "/settings/cards/saved?page=cs_test_99"} {
			b.get(page).refused(404, "The card is not saved", "No card setup was started here")
		}
		b.get("/settings/cards/saved").refused(400, "The card is not saved")
		o.get(to).refused(404, "No card setup was started here")
		o.get(theirs).at("/settings/cards", "Card saved")
		visit(t, a.URL).get(theirs).at("/sign-in?next=%2Fsettings%2Fcards%2Fsaved%3Fpage%3D", "Sign in")

		// A page that was opened here, but that Stripe says belongs elsewhere.
		for _, give := range [][2]string{{"cus_1", ""}, {"", "another setup"}} {
			third := startSetup(t, b, f)
			f.ReassignPage(third, give[0], give[1])
			b.get(sitePath(a, f.SaveCard(third))).refused(404, "No card setup was started here")
		}

		// Members may not do this.
		a.AsOperator(t, "users.create", "organization", a.Org,
			`{"email": "member@example.com", "name": "Member", "role": "member", "password": "a long password"}`)
		m := visit(t, a.URL)
		m.signIn("member@example.com", "a long password")
		m.post("/settings/cards").refused(403, "Owners and admins only")
		m.get(to).refused(403, "Owners and admins only")

		if got := a.Events(t, "payment_method."); got != strings.Repeat("payment_method.setup_started ", 2)+
			"payment_method.created"+strings.Repeat(" payment_method.setup_started", 2) {
			t.Errorf("events: %s", got)
		}
	})
}

// Several returns at once save one card.
func TestCardOnce(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		a, f := withStripe(t, e)
		b := owner(t, a)
		to := sitePath(a, f.SaveCard(startSetup(t, b, f)))
		shown := make([]string, 6)
		apptest.RunAtOnce(len(shown), func(i int) { shown[i] = b.get(to).Path })
		slices.Sort(shown)
		if shown[0] != "/settings/cards?done=card" || shown[1] != "/settings/cards?done=samecard" {
			t.Errorf("%v", shown)
		}
		if n := strings.Count(b.get("/settings/cards").Body, "ending in 4444 <"); n != 1 {
			t.Errorf("%d cards", n)
		}
	})
}

// Failures of Stripe are reported as such, and lose nothing.
func TestStripeDown(t *testing.T) {
	a, f := withStripe(t, db.SQLite)
	b := owner(t, a)
	down := func(yes bool) { f.Update(func() { f.Down = yes }) }

	// An answer about the customer is lost; the next request has the same key.
	f.Update(func() { f.AnswersToLose = 1 })
	b.post("/settings/cards").refused(503)
	startSetup(t, b, f)
	if n := f.CountCustomers(); n != 2 { // with cus_1
		t.Errorf("%d customers", n)
	}
	down(true)
	b.post("/settings/cards").refused(503, "The payment provider does not answer as it should", "Add a card at Stripe")
	down(false)
	to := sitePath(a, f.SaveCard(startSetup(t, b, f)))
	down(true)
	p := b.get(to).refused(503, "it is not lost", "Try again")
	down(false)
	b.get(p.find(`class="btn main" href="([^"]*)">Try again`)).at("/settings/cards", "Card saved")
	if logs := a.Logs.String(); !strings.Contains(logs, "Stripe is down") {
		t.Error("the operator cannot find out why")
	}

	// A customer that no longer exists at Stripe is replaced.
	f.ForgetCustomers()
	b.get(sitePath(a, f.SaveCard(startSetup(t, b, f)))).at("/settings/cards", "Card saved")
}

// A card that was saved here is detached. One that the operator named is not
// ours to detach.
func TestDetach(t *testing.T) {
	a, f := withStripe(t, db.SQLite)
	if err := a.Jobs.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer a.Jobs.Stop(context.Background()) //nolint:errcheck // the test is over
	b := owner(t, a)
	page := startSetup(t, b, f)
	to := sitePath(a, f.SaveCard(page))
	b.get(to).at("/settings/cards", "Card saved")
	_, err := a.Admin.Do(t.Context(),
		admin.Request{Operation: "payment_methods.create", Noun: "organization", Ref: string(a.Org),
			Input: []byte(`{"customer": "cus_1", "card": "pm_1"}`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, last4 := range []string{"4444", "4242"} {
		p := b.get("/settings/cards")
		b.post(p.find(`href="(/settings/cards/[^"]*/delete)">Delete<span class="hide"> the card ending in `+
			last4)).at("/settings/cards", "Deleted.")
	}
	for i := 0; f.IsAttached("pm_" + page); i++ {
		if i == 3000 {
			t.Fatal("the card was not detached")
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.get(to).refused(409, "deleted since")
	if !f.IsAttached("pm_1") {
		t.Error("a card that is somebody else's was detached")
	}
}

// There are at most 20 cards, and attempts are limited.
func TestCardBounds(t *testing.T) {
	a, f := withStripe(t, db.SQLite)
	b := owner(t, a)
	to := sitePath(a, f.SaveCard(startSetup(t, b, f)))
	for range 20 {
		exec(t, a,
			`
				INSERT INTO payment_methods (id, organization_id, created_at, updated_at, brand, last4, exp_month,
					exp_year, is_default, provider, provider_id)
				SELECT lower(hex(randomblob(16))), id, 0, 0, 'visa', '1111', 1, 2030, FALSE, 'stripe', 'pm_x'
				FROM organizations
				WHERE id = $1`, a.Org)
	}
	b.post("/settings/cards").refused(409, "at most 20 saved cards")
	b.get(to).refused(409, "at most 20 saved cards", "Try again")
	exec(t, a, "UPDATE payment_methods SET deleted_at = 1 WHERE last4 = '1111'")
	b.get(to).at("/settings/cards", "Card saved")
	for range 30 {
		if p := b.post("/settings/cards"); p.Status == 429 {
			if p.has("Too many card setups were started"); p.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			return
		}
	}
	t.Error("Stripe is asked as often as anybody likes")
}
