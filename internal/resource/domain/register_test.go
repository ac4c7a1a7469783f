package domain_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
)

// A name is searched, quoted and registered: charged once, with a zone, a lock
// and a contact.
func TestRegister(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		found := w.get("/v1/domain-registrations/search?query=Engines.com").OK(t, 200)
		found.Same("query", "Engines.com")
		found.Same("results.0.domain", "engines.com")
		found.Same("results.0.available", true)
		found.Same("results.0.registrationPriceCents", 1200)
		found.Same("results.0.renewalPriceCents", 1500)
		if n := found.At("results").Len(); n != 10 {
			t.Errorf("%d results", n)
		}
		quote := w.get("/v1/domain-registrations/quote?domain=engines.com&periodYears=3").OK(t, 200)
		quote.Same("amountCents", 1200+2*1500)
		quote.Same("currency", "usd")

		body := `{"domain": "Engines.com", "periodYears": 3, "maxAmountCents": 4200, "contact": ` + registrant + `}`
		r := w.post("/v1/domain-registrations", body, "Idempotency-Key", "first")
		accepted := r.OK(t, 202)
		accepted.Same("status", "queued")
		accepted.Same("domain", "engines.com")
		again := w.post("/v1/domain-registrations", body, "Idempotency-Key", "first")
		if again.Header.Get("Idempotency-Replay") != "true" || string(again.Body) != string(r.Body) {
			t.Errorf("not replayed: %s", again.Body)
		}
		w.post("/v1/domain-registrations", order("other.com", registrant, 5000), "Idempotency-Key", "first").
			Refused(t, 422, "IDEMPOTENCY_KEY_REUSED")
		w.post("/v1/domain-registrations", body).Refused(t, 400, "INVALID_INPUT")

		o := w.ended(accepted.Text("operationId"))
		o.Same("status", "succeeded")
		o.Same("type", "domain_registration")
		o.Same("resourceType", "domain")
		o.Same("resourceName", "engines.com")
		if !strings.HasPrefix(o.Text("paymentIntentId"), "pi_") || o.Text("workflowId") == "" ||
			o.Text("completedAt") == "" {
			t.Errorf("the operation: %s", o)
		}
		d := w.get("/v1/domains/"+o.Text("resourceId")).OK(t, 200)
		for path, want := range map[string]any{"name": "engines.com", "kind": "apex", "status": "active",
			"source": "registered", "purpose": "general", "email.enabled": true, "email.dkimSelector": "fd-rsa",
			"email.spf": "published", "email.dkim": "published", "email.dmarc": "published",
			"registration.registrar": "sandbox", "registration.transferLock": true, "registration.whoisPrivacy": true,
			"registration.autoRenew":           true,
			"registration.contactVerification": "verified"} {
			d.Same(path, want)
		}
		for _, path := range []string{"verification", "parentDomainId", "registration.transfer"} {
			if !d.At(path).Null() {
				t.Errorf("%s is %s", path, d.At(path))
			}
		}
		w.get("/v1/domain-contacts/"+d.Text("registration.contactId")).OK(t, 200).Same("lastName", "Lovelace")
		if rows, err := w.dns.Records(t.Context(), "engines.com"); err != nil || len(rows) == 0 {
			t.Errorf("the zone: %v, %v", rows, err)
		}
		if n := w.count("SELECT count(*) FROM sandbox_registrations WHERE name = 'engines.com' AND locked"); n != 1 {
			t.Errorf("%d locked registrations", n)
		}
		if n := w.count("SELECT coalesce(sum(amount_cents), 0) FROM sandbox_charges"); n != 4200 {
			t.Errorf("charged %d", n)
		}
		w.get("/v1/domain-registrations/search?query=engines.com").OK(t, 200).Same("results.0.available", false)
		w.get("/v1/domain-registrations/quote?domain=engines.com").OK(t, 200).Same("available", false)
		list := w.get("/v1/operations?type=domain_registration&status=succeeded").OK(t, 200)
		if list.Len() != 1 || w.get("/v1/operations?type=domain_renewal").OK(t, 200).Len() != 0 ||
			w.get("/v1/operations?status=failed").OK(t, 200).Len() != 0 {
			t.Errorf("operations: %s", list)
		}
		want := "operation.created operation.started domain_contact.created domain.created operation.succeeded"
		if got := w.Events(t, "operation", "domain"); got != want {
			t.Errorf("events %s, want %s", got, want)
		}
	})
}

// Every refusal of a registration, in order: each body also has all the faults
// that come after its own.
func TestRegisterRefusals(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		poor := w.NewTenant(t, "enterprise")
		try := func(key, body string) apptest.Result {
			return w.SendREST(t, key, "POST", "/v1/domain-registrations", body, "Idempotency-Key", string(id.New()))
		}
		f := try(poor.Key, `{}`).Refused(t, 403, "DOMAIN_AGREEMENTS_REQUIRED")
		if !strings.Contains(f.Text("details.url"), "/agreements") {
			t.Errorf("no page: %s", f)
		}
		w.AsOperator(t, "agreements.accept", "business", poor.Business,
			fmt.Sprintf(`{"businessId": %q, "kind": "domain", "by": %q}`, poor.Business, poor.Owner))
		try(poor.Key, `{"domain": "a.com", "maxAmountCents": 1}`).Issues(t, "contact")
		try(poor.Key, `{"domain": "bad name.com", "maxAmountCents": 1, "contact": `+registrant+`}`).Issues(t, "domain")
		try(poor.Key, `{"domain": "shop.example.com", "maxAmountCents": 1, "contact": `+registrant+
			`}`).Issues(t, "domain")
		try(poor.Key, `{"domain": "a.com", "maxAmountCents": 1, "periodYears": 11, "contact": `+registrant+`}`).
			Issues(t, "periodYears")
		try(poor.Key, `{"domain": "a.com", "contact": `+registrant+`}`).Issues(t, "maxAmountCents")
		try(poor.Key, `{"domain": "a.com", "maxAmountCents": 1, "contactId": "`+string(id.New())+
			`"}`).Issues(t, "contactId")
		untitled := strings.Replace(company, `"jobTitle": "Director", `, "", 1)
		try(poor.Key, `{"domain": "a.com", "maxAmountCents": 1, "contact": `+untitled+`}`).Issues(t, "contact.jobTitle")
		for _, ending := range strings.Fields("ai co io me") {
			try(poor.Key, order("taken."+ending, registrant, 1)).Refused(t, 422, "CONTACT_ORGANIZATION_REQUIRED")
			try(poor.Key, order("taken."+ending, strings.Replace(registrant, `{`, `{"organizationName": "", `, 1), 1)).
				Refused(t, 422, "CONTACT_ORGANIZATION_REQUIRED")
		}
		try(poor.Key, order("taken.com", registrant, 1)).Refused(t, 409, "DOMAIN_UNAVAILABLE")
		try(poor.Key, order("a.xyz", registrant, 1)).Refused(t, 409, "DOMAIN_UNAVAILABLE")
		try(poor.Key, order("premium-a.com", registrant, 1)).Refused(t, 422, "PREMIUM_DOMAIN_NOT_SUPPORTED")
		try(poor.Key, order("a.com", registrant, 1199)).Refused(t, 409, "PRICE_EXCEEDS_MAXIMUM").
			Same("details.amountCents", 1200)
		try(poor.Key, order("a.com", registrant, 1200)).Refused(t, 402, "PAYMENT_METHOD_REQUIRED")
		for _, card := range []string{"declined", "insufficient"} {
			w.pay(poor, card)
			key := string(id.New())
			send := func() apptest.Result {
				return w.SendREST(t, poor.Key, "POST", "/v1/domain-registrations", order("a.com", registrant, 1200),
					"Idempotency-Key", key)
			}
			f := send().Refused(t, 402, "PAYMENT_FAILED")
			f.Same("details.useNewKey", true)
			again := send()
			again.Refused(t, 402, "PAYMENT_FAILED")
			if again.Header.Get("Idempotency-Replay") != "true" {
				t.Error("the old key does not replay the failed payment")
			}
		}
		if n := w.count("SELECT count(*) FROM sandbox_charges"); n != 2 {
			t.Errorf("%d charges were tried", n)
		}
		if n := w.SendREST(t, poor.Key, "GET", "/v1/operations", "").OK(t, 200).Len(); n != 0 {
			t.Errorf("%d operations are seen that were never paid", n)
		}
		w.pay(poor, "visa")
		try(poor.Key, order("a.com", registrant, 1200)).OK(t, 202)

		key, _ := w.NewKey(t, w.Tenant, "domains:write")
		w.SendREST(t, key, "POST", "/v1/domain-registrations", order("b.com", registrant, 1200), "Idempotency-Key",
			"x").
			Refused(t, 403, "INSUFFICIENT_PERMISSIONS").Same("details.permission", "domains:read")
		key, _ = w.NewKey(t, w.Tenant, "domains:read")
		w.SendREST(t, key, "POST", "/v1/domain-registrations", order("b.com", registrant, 1200), "Idempotency-Key",
			"x").
			Refused(t, 403, "INSUFFICIENT_PERMISSIONS").Same("details.permission", "domains:write")

		w.get("/v1/domain-registrations/search").Refused(t, 400, "MISSING_QUERY")
		w.get("/v1/domain-registrations/search?query=a%20b").Refused(t, 400, "INVALID_INPUT")
		w.get("/v1/domain-registrations/quote").Refused(t, 400, "MISSING_QUERY")
		w.get("/v1/domain-registrations/quote?domain=a.com&periodYears=0").Refused(t, 400, "INVALID_INPUT")
		w.get("/v1/domain-registrations/quote?domain=a.xyz").Refused(t, 409, "DOMAIN_UNAVAILABLE")
		w.get("/v1/domain-registrations/quote?domain=premium.com").Refused(t, 422, "PREMIUM_DOMAIN_NOT_SUPPORTED")
		premium := w.get("/v1/domain-registrations/search?query=premium").OK(t, 200)
		premium.Same("results.0.premium", true)
		premium.Same("results.0.available", false)
		if v := premium.At("results.0"); !v.Has("registrationPriceCents") || !v.At("registrationPriceCents").Null() {
			t.Errorf("prices of a premium name: %s", v)
		}
		unknown := w.get("/v1/domain-registrations/search?query=a.xyz").OK(t, 200).At("results.0")
		unknown.Same("status", "unsupported_tld")
		if unknown.Has("available") || unknown.Has("registrationPriceCents") || unknown.Text("domain") != "a.xyz" {
			t.Errorf("an ending that is not offered: %s", unknown)
		}
	})
}

// A name that somebody here has is not offered, whatever the registrar says,
// and is refused before any charge.
func TestRegisterHeldName(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		poor := w.NewTenant(t, "enterprise")
		w.AsOperator(t, "agreements.accept", "business", poor.Business,
			fmt.Sprintf(`{"businessId": %q, "kind": "domain", "by": %q}`, poor.Business, poor.Owner))
		w.external("theirs.com", "general")
		own := w.SendREST(t, poor.Key, "POST", "/v1/domains", `{"name": "theirs.net"}`).OK(t, 201).Text("id")
		found := w.SendREST(t, poor.Key, "GET", "/v1/domain-registrations/search?query=theirs", "").OK(t, 200)
		for i, free := range []bool{false, false, true} { // com, net, org
			v := found.At(fmt.Sprintf("results.%d", i))
			v.Same("available", free)
			if v.At("registrationPriceCents").Null() == free {
				t.Errorf("the price of %s", v)
			}
		}
		for _, name := range []string{"theirs.com", "theirs.net"} {
			w.SendREST(t, poor.Key, "GET", "/v1/domain-registrations/quote?domain="+name,
				"").OK(t, 200).Same("available", false)
		}
		w.get("/v1/domain-registrations/quote?domain=theirs.net").OK(t, 200).Same("available", true)
		try := func(name string) apptest.Result {
			return w.SendREST(t, poor.Key, "POST", "/v1/domain-registrations", order(name, registrant, 1),
				"Idempotency-Key", string(id.New()))
		}
		try("theirs.com").Refused(t, 409, "DOMAIN_UNAVAILABLE")
		try("theirs.net").Refused(t, 409, "DOMAIN_EXISTS").Same("details.domainId", own)
		try("theirs.org").Refused(t, 409, "PRICE_EXCEEDS_MAXIMUM")
	})
}

// What fails after the charge is refunded, and the name is free again. A
// registrar that did its work and lost the answer is asked, not called again.
func TestRegisterOutcomes(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		o := w.ended(w.register("failing.com").OK(t, 202).Text("operationId"))
		o.Same("status", "failed")
		o.Same("errorCode", "REGISTRATION_FAILED")
		if !strings.Contains(o.Text("errorMessage"), "$12.00 was refunded") || !o.At("resourceId").Null() {
			t.Errorf("the operation: %s", o)
		}
		if n := w.count(`
			SELECT count(*) FROM sandbox_refunds r
			JOIN sandbox_charges c ON c.reference = r.charge AND c.amount_cents = r.amount_cents`); n != 1 {
			t.Errorf("%d refunds", n)
		}
		if n := w.count("SELECT count(*) FROM domain_holds"); n != 0 {
			t.Errorf("%d names are still held", n)
		}
		want := "operation.created operation.started operation.failed"
		if got := w.Events(t, "operation", "domain"); got != want {
			t.Errorf("events %s, want %s", got, want)
		}
		o = w.ended(w.register("flaky-name.com").OK(t, 202).Text("operationId"))
		o.Same("status", "succeeded")
		if n := w.count(`
			SELECT count(*) FROM jobs
			WHERE kind = 'domain.register' AND last_error LIKE '%no answer in time%'`); n != 1 {
			t.Errorf("%d jobs lost an answer", n)
		}
		if n := w.count("SELECT count(*) FROM sandbox_registrations"); n != 1 {
			t.Errorf("%d registrations", n)
		}
	})
}

// Of twenty that want one name at once, one gets it and is charged.
func TestRegisterAtOnce(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		rival := w.NewTenant(t, "enterprise")
		w.trusted(rival, "visa")
		var won atomic.Int64
		apptest.RunAtOnce(20, func(i int) {
			key := []string{w.Key, rival.Key}[i%2]
			r := w.SendREST(t, key, "POST", "/v1/domain-registrations", order("wanted.com", registrant, 1200),
				"Idempotency-Key", string(id.New()))
			if r.Status == 202 {
				won.Add(1)
			} else if r.Code() != "DOMAIN_UNAVAILABLE" && r.Code() != "DOMAIN_EXISTS" {
				t.Errorf("%d %s", r.Status, r.Body)
			}
		})
		if won.Load() != 1 || w.count("SELECT count(*) FROM sandbox_charges") != 1 {
			t.Errorf("%d won, %d charges", won.Load(), w.count("SELECT count(*) FROM sandbox_charges"))
		}
	})
}

// An agent registers with its key as an argument, and a saved contact.
func TestRegisterByAgent(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		contact := w.post("/v1/domain-contacts", company).OK(t, 201).Text("id")
		call := w.Door("agent", w.Tenant)
		call(t, "domains.register", `{"domain": "agents.io", "maxAmountCents": 3900, "contactId": "`+contact+`"}`).
			Refused(t, 400, "INVALID_INPUT")
		in := `{"domain": "agents.io", "maxAmountCents": 3900, "autoRenew": false, "contactId": "` + contact +
			`", "idempotencyKey": "one"}`
		first := call(t, "domains.register", in).OK(t, 202)
		call(t, "domains.register", in).OK(t, 202).Same("operationId", first.Text("operationId"))
		o := w.ended(first.Text("operationId"))
		d := call(t, "domains.get", `{"id": "`+o.Text("resourceId")+`"}`).OK(t, 200)
		d.Same("registration.contactId", contact)
		d.Same("registration.autoRenew", false)
		w.remove("/v1/domain-contacts/"+contact).Refused(t, 409, "DOMAIN_CONTACT_IN_USE")
	})
}

// An automation that orders again what failed or succeeded is stopped by the
// chain like any other: each round would be another charge.
func TestOrdersOfAutomations(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		automate := func(event, operation, input string) string {
			return w.post("/v1/automations", fmt.Sprintf(`{"name": "Again", "trigger": {"kind": "event", "event": %q},
				"steps": [{"operation": %q, "input": %s}]}`, event, operation, input)).OK(t, 201).Text("id")
		}
		stopped := func(automation string) {
			t.Helper()
			for range 3000 {
				if e := w.get("/v1/automations/"+automation+"/executions?status=failed").OK(t, 200); e.Len() > 0 {
					if e.Len() != 1 || !strings.Contains(e.Text("0.errorMessage"), "own start") {
						t.Errorf("%s", e)
					}
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
			t.Fatalf("it goes on: %d charges", w.count("SELECT count(*) FROM sandbox_charges"))
		}
		stubborn := automate("operation.failed", "domains.register",
			order("{{ event.data.resourceName }}", company, 100_000))
		w.ended(w.register("failing.com").OK(t, 202).Text("operationId")).Same("status", "failed")
		stopped(stubborn)
		if n := w.count("SELECT count(*) FROM sandbox_charges"); n != 2 {
			t.Errorf("%d charges", n)
		}
		generous := automate("domain.renewed", "domains.renew",
			`{"id": "{{ event.resourceId }}", "maxAmountCents": 100000}`)
		v := w.registered("lasting.com")
		w.post("/v1/domains/"+v+"/registration/renew", `{"maxAmountCents": 100000}`, "Idempotency-Key",
			"renew").OK(t, 202)
		stopped(generous)
		if n := w.count("SELECT count(*) FROM sandbox_renewals"); n != 2 {
			t.Errorf("%d renewals", n)
		}
	})
}
