package domain_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/domain"
)

// Domains are found by name, status, source and a part of the name, and shown in
// their own script too.
func TestDomainFilters(t *testing.T) {
	apptest.EachDoorAlone(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		books := call(t, "domains.create", `{"name": "bücher.de."}`).OK(t, 201)
		books.Same("name", "xn--bcher-kva.de")
		books.Same("unicodeName", "bücher.de")
		call(t, "domains.create", `{"name": "engines.com"}`).OK(t, 201).Same("unicodeName", "engines.com")
		call(t, "domains.create", `{"name": "engines.org"}`).OK(t, 201)
		for filter, want := range map[string]string{
			`{}`:                              "engines.org engines.com xn--bcher-kva.de",
			`{"name": "Engines.com."}`:        "engines.com",
			`{"name": "BÜCHER.de"}`:           "xn--bcher-kva.de",
			`{"name": "xn--bcher-kva.de"}`:    "xn--bcher-kva.de",
			`{"name": "engines"}`:             "",
			`{"query": "ENGINES."}`:           "engines.org engines.com",
			`{"query": "e"}`:                  "engines.org engines.com xn--bcher-kva.de",
			`{"query": "bücher"}`:             "xn--bcher-kva.de",
			`{"query": "ÜCH"}`:                "xn--bcher-kva.de",
			`{"query": "ch"}`:                 "xn--bcher-kva.de",
			`{"query": "öl"}`:                 "",
			`{"query": "%"}`:                  "",
			`{"query": "org", "name": "a.b"}`: "",
			`{"status": "active"}`:            "",
			`{"status": ["active", "pending_verification"], "query": ".com"}`: "engines.com",
			`{"source": "external"}`:     "engines.org engines.com xn--bcher-kva.de",
			`{"source": ["registered"]}`: "",
			`{"sortBy": "name", "sortOrder": "asc", "source": ["registered", "external"]}`: "engines.com engines.org " +
				"xn--bcher-kva.de",
		} {
			list := call(t, "domains.list", filter).OK(t, 200)
			var got []string
			for i := range list.Len() {
				got = append(got, list.Text(fmt.Sprintf("%d.name", i)))
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: %v, want %s", filter, got, want)
			}
		}
		for _, bad := range []string{`{"name": "two words"}`, `{"name": ""}`, `{"query": ""}`, `{"status": "gone"}`,
			`{"source": "here"}`} {
			call(t, "domains.list", bad).Refused(t, 400, "INVALID_INPUT")
		}
	})
}

// A renewal is priced as it is charged, and refused as the renewal is.
func TestRenewalQuote(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		ref := w.registered("quoted.com")
		path := "/v1/domains/" + ref + "/registration/renew/quote"
		one := w.get(path).OK(t, 200)
		for field, want := range map[string]any{"domainId": ref, "domain": "quoted.com", "periodYears": 1,
			"amountCents": 1500, "renewalPriceCents": 1500, "currency": "usd"} {
			one.Same(field, want)
		}
		two := w.get(path+"?periodYears=2").OK(t, 200)
		two.Same("amountCents", 3000)
		ends := w.get("/v1/domains/"+ref+"/registration").OK(t, 200).Text("expiresAt")
		if two.Text("expiresAt") != ends || two.Text("renewedUntil")[4:] != ends[4:] {
			t.Errorf("the quote: %s", two)
		}
		renewed := w.ended(w.post(strings.TrimSuffix(path, "/quote"), `{"periodYears": 2, "maxAmountCents": 3000}`,
			"Idempotency-Key", "a").OK(t, 202).Text("operationId"))
		renewed.Same("status", "succeeded")
		now := w.get("/v1/domains/"+ref+"/registration").OK(t, 200).Text("expiresAt")
		if now != two.Text("renewedUntil") {
			t.Errorf("renewed until %s, quoted %s", now, two.Text("renewedUntil"))
		}
		w.get(path+"?periodYears=8").Refused(t, 400, "INVALID_INPUT")
		w.get(path+"?periodYears=11").Refused(t, 400, "INVALID_INPUT")
		other := w.NewTenant(t, "enterprise")
		w.SendREST(t, other.Key, "GET", path, "").Refused(t, 404, "NOT_FOUND")
		external := w.post("/v1/domains", `{"name": "elsewhere.com"}`).OK(t, 201).Text("id")
		w.get(strings.Replace(path, ref, external, 1)).
			Refused(t, 422, "REGISTRAR_UNSUPPORTED_OPERATION").Same("details.operation", "renew")
		w.get(strings.Replace(path, ref, string(id.New()), 1)).Refused(t, 404, "NOT_FOUND")
	})
}

// busyOffers calls back, once, before it tells a price.
type busyOffers struct {
	domain.Registrar
	before atomic.Pointer[func()]
}

func (b *busyOffers) Check(ctx context.Context, name string) (*domain.Offer, error) {
	once(&b.before)
	return b.Registrar.Check(ctx, name)
}

// Of two renewals of which either would do, the second is refused before its
// charge.
func TestRenewTooFarTogether(t *testing.T) {
	var offers *busyOffers
	each(t, func(w *world) {
		path := "/v1/domains/" + w.registered("twice.com") + "/registration/renew"
		first := func() {
			o := w.post(path, `{"periodYears": 6, "maxAmountCents": 99999}`, "Idempotency-Key", "a").OK(w.t, 202)
			w.ended(o.Text("operationId")).Same("status", "succeeded")
		}
		offers.before.Store(&first)
		w.post(path, `{"periodYears": 6, "maxAmountCents": 99999}`, "Idempotency-Key", "b").Issues(w.t, "periodYears")
		if n := w.count("SELECT count(*) FROM sandbox_charges"); n != 2 {
			w.t.Errorf("%d charges", n)
		}
	}, func(c *domain.Config) {
		offers = &busyOffers{Registrar: c.Registrar}
		c.Registrar = offers
	})
}
