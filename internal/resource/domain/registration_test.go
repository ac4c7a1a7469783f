package domain_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/domain"
)

// A registration's lock, renewal setting and registrant.
func TestRegistration(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		path := "/v1/domains/" + w.registered("managed.com")
		reg := path + "/registration"
		w.get(reg).OK(t, 200).Same("transferLock", true)
		w.patch(reg, `{"transferLock": false, "autoRenew": false}`).OK(t, 200).Same("transferLock", false)
		w.patch(reg, `{}`).OK(t, 200).Same("autoRenew", false)
		w.patch(reg, `{"transferLock": null}`).Issues(t, "transferLock")
		w.patch(reg, `{"whoisPrivacy": false}`).Refused(t, 400, "VALIDATION_ERROR")
		if n := w.count("SELECT count(*) FROM sandbox_registrations WHERE locked"); n != 0 {
			t.Error("the registrar was not told")
		}

		contact := reg + "/contact"
		w.get(contact).OK(t, 200).Same("organizationName", "Analytical Engines")
		w.patch(contact, `{"label": "Office"}`).OK(t, 200).Same("label", "Office")
		w.patch(contact, `{"phone": "+442079460019"}`).OK(t, 200)
		w.get(reg).OK(t, 200).Same("contactVerification", "verified")
		w.patch(contact, `{"jobTitle": null}`).Issues(t, "jobTitle")
		w.patch(contact, `{"email": "grace@example.com"}`).OK(t, 200)
		w.get(reg).OK(t, 200).Same("contactVerification", "pending")
		within := map[bool]string{true: "strpos(contact::text, $1)",
			false: "instr(contact, $1)"}[w.DB.Engine() == "postgres"]
		if n := w.count("SELECT count(*) FROM sandbox_registrations WHERE "+within+" > 0",
			"grace@example.com"); n != 1 {
			t.Error("the registrar has the old registrant")
		}
		fixed := "/v1/domains/" + w.registered("fixed.to")
		w.patch(fixed+"/registration/contact", `{"phone": "+442079460019"}`).
			Refused(t, 422, "REGISTRAR_UNSUPPORTED_OPERATION").Same("details.operation", "contact_update")
		w.patch(fixed+"/registration/contact", `{"label": "Office"}`).OK(t, 200)
		company := "/v1/domains/" + w.registered("company.io")
		w.patch(company+"/registration/contact", `{"organizationName": null}`).
			Refused(t, 422, "CONTACT_ORGANIZATION_REQUIRED")
	})
}

// A transfer to another registrar: requested, blocking what must not happen
// meanwhile, and withdrawn.
func TestTransfer(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		path := "/v1/domains/" + w.registered("moving.com")
		reg := path + "/registration"
		w.post(reg+"/transfer", "").Refused(t, 409, "REGISTERED_DOMAIN_LOCKED")
		w.patch(reg, `{"transferLock": false}`).OK(t, 200)
		sub := w.post(path+"/subdomains", `{"name": "www.moving.com"}`).OK(t, 201).Text("id")
		w.post(reg+"/transfer", "").Refused(t, 409, "DOMAIN_SUBDOMAINS_EXIST")
		w.remove(path+"/subdomains/"+sub).OK(t, 204)
		first := w.post(reg+"/transfer", `{}`, "Idempotency-Key", "go")
		code := first.OK(t, 200).Text("authCode")
		if code == "" || first.OK(t, 200).Text("transfer.status") != "requested" {
			t.Errorf("the transfer: %s", first.Body)
		}
		w.post(reg+"/transfer", `{}`, "Idempotency-Key", "go").OK(t, 200).Same("authCode", code)
		w.get(reg).OK(t, 200).Same("transfer.status", "requested")

		w.post(reg+"/transfer", "").Refused(t, 409, "REGISTERED_DOMAIN_TRANSFER_IN_FLIGHT")
		w.patch(reg, `{"transferLock": true}`).Refused(t, 409, "REGISTERED_DOMAIN_TRANSFER_IN_FLIGHT")
		w.patch(reg+"/contact", `{"lastName": "King"}`).Refused(t, 409, "REGISTERED_DOMAIN_TRANSFER_IN_FLIGHT")
		w.patch(reg+"/contact", `{"label": "Office"}`).OK(t, 200)
		w.patch(reg+"/contact", `{"phone": "+442079460019"}`).OK(t, 200)
		w.post(path+"/subdomains", `{"name": "www.moving.com"}`).Refused(t, 409, "REGISTERED_DOMAIN_TRANSFER_IN_FLIGHT")
		w.post(reg+"/renew", `{"maxAmountCents": 1500}`, "Idempotency-Key", "r").
			Refused(t, 409, "REGISTERED_DOMAIN_TRANSFER_IN_FLIGHT")
		w.remove(reg+"/transfer").OK(t, 204)
		w.remove(reg+"/transfer").Refused(t, 404, "NOT_FOUND")
		if !w.get(reg).OK(t, 200).At("transfer").Null() {
			t.Error("the transfer was not withdrawn")
		}
		requested := w.count("SELECT count(*) FROM events WHERE type = 'domain.transfer_requested'")
		if strings.Contains(w.Logs.String(), code) || requested != 1 {
			t.Error("the code is in the log, or the event is not")
		}
		within := map[bool]string{true: "position($1 IN body)", false: "instr(body, $1)"}[w.DB.Engine() == "postgres"]
		if n := w.count("SELECT count(*) FROM idempotency WHERE "+within+" > 0", []byte(code)); n != 0 {
			t.Error("the stored answer shows the code")
		}
	})
}

// A renewal is ordered, charged once and carried out; its refusals.
func TestRenew(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		path := "/v1/domains/" + w.registered("flaky-renewed.com")
		renew := func(body, key string) func(status int, code string) {
			r := w.post(path+"/registration/renew", body, "Idempotency-Key", key)
			return func(status int, code string) { t.Helper(); r.Refused(t, status, code) }
		}
		until := w.get(path+"/registration").OK(t, 200).Text("expiresAt")
		renew(`{}`, "a")(400, "VALIDATION_ERROR")
		renew(`{"periodYears": 2, "maxAmountCents": 2999}`, "a")(409, "PRICE_EXCEEDS_MAXIMUM")
		w.post(path+"/registration/renew", `{"maxAmountCents": 1500}`).Refused(t, 400, "INVALID_INPUT")
		w.pay(w.Tenant, "declined")
		renew(`{"maxAmountCents": 1500}`, "b")(402, "PAYMENT_FAILED")
		renew(`{"maxAmountCents": 1500}`, "b")(402, "PAYMENT_FAILED")
		w.pay(w.Tenant, "visa")
		accepted := w.post(path+"/registration/renew", `{"periodYears": 2, "maxAmountCents": 3000}`, "Idempotency-Key",
			"c").
			OK(t, 202)
		accepted.Same("domain", "flaky-renewed.com")
		o := w.ended(accepted.Text("operationId"))
		o.Same("status", "succeeded")
		o.Same("type", "domain_renewal")
		if o.Text("resourceId") != strings.TrimPrefix(path, "/v1/domains/") {
			t.Errorf("the operation: %s", o)
		}
		now := w.get(path+"/registration").OK(t, 200).Text("expiresAt")
		if now[:4] == until[:4] || now[4:] != until[4:] {
			t.Errorf("from %s to %s", until, now)
		}
		if n := w.count("SELECT count(*) FROM sandbox_renewals"); n != 1 {
			t.Errorf("%d renewals", n)
		}
		if n := w.count("SELECT coalesce(sum(amount_cents), 0) FROM sandbox_charges WHERE declined IS NULL"); n != 1200+
			3000 {
			t.Errorf("charged %d", n)
		}
		slow := "/v1/domains/" + w.registered("slow-renewed.com") + "/registration/renew"
		w.post(slow, `{"maxAmountCents": 1500}`, "Idempotency-Key", string(id.New())).OK(t, 202)
		w.post(slow, `{"maxAmountCents": 1500}`, "Idempotency-Key", string(id.New())).
			Refused(t, 409, "REGISTERED_DOMAIN_RENEWAL_IN_FLIGHT")
		w.post(strings.Replace(slow, "renew", "transfer", 1), "").Refused(t, 409, "REGISTERED_DOMAIN_LOCKED")

		external := w.post("/v1/domains", `{"name": "elsewhere.com"}`).OK(t, 201).Text("id")
		w.post("/v1/domains/"+external+"/registration/renew", `{"maxAmountCents": 1500}`, "Idempotency-Key", "x").
			Refused(t, 422, "REGISTRAR_UNSUPPORTED_OPERATION").Same("details.operation", "renew")
	})
}

// Domain contacts by themselves.
func TestDomainContacts(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		v := w.post("/v1/domain-contacts", strings.Replace(registrant, "{", `{"label": "Home", `, 1)).OK(t, 201)
		v.Same("label", "Home")
		path := "/v1/domain-contacts/" + v.Text("id")
		w.get(path).OK(t, 200).Same("city", "London")
		w.patch(path, `{"city": "Paris", "country": "FR"}`).OK(t, 200).Same("country", "FR")
		w.patch(path, `{"country": "XX"}`).Issues(t, "country")
		w.patch(path, `{"organizationName": "Engines"}`).Issues(t, "jobTitle")
		w.post("/v1/domain-contacts", `{"firstName": "Ada"}`).Issues(t, "lastName")
		w.post("/v1/domain-contacts", strings.Replace(registrant, "ada@example.com", "ada", 1)).Issues(t, "email")
		if n := w.get("/v1/domain-contacts").OK(t, 200).Len(); n != 1 {
			t.Errorf("%d contacts", n)
		}
		w.remove(path).OK(t, 204)
		w.get(path).Refused(t, 404, "NOT_FOUND")
		want := "domain_contact.created domain_contact.updated domain_contact.deleted"
		if got := w.Events(t, "domain_contact"); got != want {
			t.Errorf("events %s, want %s", got, want)
		}
	})
}

// slowLock calls back, once, after the registrar has set the lock.
type slowLock struct {
	domain.Registrar
	after atomic.Pointer[func()]
}

func (s *slowLock) SetTransferLock(ctx context.Context, name string, on bool) error {
	err := s.Registrar.SetTransferLock(ctx, name, on)
	once(&s.after)
	return err
}

// Two who set the lock at once: we show what the registrar has.
func TestLockTurnedAtOnce(t *testing.T) {
	var lock *slowLock
	each(t, func(w *world) {
		reg := "/v1/domains/" + w.registered("locked.com") + "/registration"
		w.patch(reg, `{"transferLock": false}`).OK(w.t, 200)
		other := func() { w.patch(reg, `{"transferLock": false, "autoRenew": false}`).OK(w.t, 200) }
		lock.after.Store(&other)
		w.patch(reg, `{"transferLock": true}`).OK(w.t, 200).Same("autoRenew", false)
		shown := fmt.Sprint(w.get(reg).OK(w.t, 200).At("transferLock"))
		if n := w.count("SELECT count(*) FROM sandbox_registrations WHERE locked"); shown != fmt.Sprint(n == 1) {
			w.t.Errorf("the lock is %s, and %d at the registrar", shown, n)
		}
	}, func(c *domain.Config) {
		lock = &slowLock{Registrar: c.Registrar}
		c.Registrar = lock
	})
}
