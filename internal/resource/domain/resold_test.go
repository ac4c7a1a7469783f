package domain_test

import (
	"strings"
	"testing"
	"time"
)

// A registration that ended long ago holds a name from nobody who got it
// elsewhere since. One that can still be renewed does.
func TestAttackNameAfterItsRegistration(t *testing.T) {
	eachWild(t, func(w *wild) {
		t := w.t
		former := "/v1/domains/" + w.registered("resold.com")
		w.record(w.Tenant, former, "A", "www", "203.0.113.66")
		buyer := w.NewTenant(t, "enterprise")
		path, record, value := w.claim(buyer, "resold.com")
		w.net.publish(record, value)
		w.as(buyer, "POST", path+"/verify", "").Refused(t, 409, "DOMAIN_UNAVAILABLE")
		ended := func(days int) {
			w.exec("UPDATE domains SET status = 'expired', expires_at = $1 WHERE source = 'registered'",
				w.Clock.Now().Add(-time.Duration(days)*24*time.Hour))
		}
		ended(60)
		w.as(buyer, "POST", path+"/verify", "").Refused(t, 409, "DOMAIN_UNAVAILABLE")
		ended(91)
		w.exec("UPDATE operations SET type = 'domain_renewal', status = 'running'")
		w.as(buyer, "POST", path+"/verify", "").Refused(t, 409, "DOMAIN_UNAVAILABLE")
		w.exec("UPDATE operations SET status = 'failed'")
		w.as(buyer, "POST", path+"/verify", "").OK(t, 200).Same("status", "active")
		if rows := w.as(buyer, "GET", path+"/dns-records?limit=100", "").OK(t, 200).String(); strings.Contains(rows,
			"203.0.113.66") {
			t.Errorf("the zone begins with the former holder's records: %s", rows)
		}
		lost := w.get(former).OK(t, 200)
		lost.Same("status", "transferred")
		lost.Same("email.enabled", false)
		w.notified(w.Tenant, "resold.com belongs to somebody else")
		w.get(former+"/dns-records").Refused(t, 409, "DNS_ZONE_MISSING")
		w.post(former+"/registration/renew", `{"maxAmountCents": 9999}`, "Idempotency-Key", "late").
			Refused(t, 422, "REGISTRAR_UNSUPPORTED_OPERATION")
		w.remove(former).OK(t, 204)
		w.as(buyer, "GET", path, "").OK(t, 200).Same("status", "active")
		if !strings.Contains(w.Events(t, "domain."), "domain.transferred") {
			t.Errorf("events %s", w.Events(t, "domain."))
		}
	})
}
