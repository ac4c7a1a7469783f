package domain_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

// life is one database whose service is started again and again, each time
// later. Its tenant stays.
type life struct {
	t        *testing.T
	settings config.Settings
	tenant   apptest.Tenant
}

// at runs the service with its clock that far ahead.
func (l *life) at(name string, ahead time.Duration, fn func(w *world)) {
	l.t.Run(name, func(t *testing.T) {
		w := &world{t: t, txt: &texts{by: map[string][]string{}}}
		s := l.settings
		s.ClockOffset = ahead
		w.App = apptest.StartWith(t, s, w.extra())
		if l.tenant.Org == "" {
			l.tenant = w.Tenant
			w.trusted(w.Tenant, "visa")
		}
		w.Tenant = l.tenant
		w.work()
		fn(w)
	})
	if l.t.Failed() {
		l.t.FailNow()
	}
}

const formatDay = 24 * time.Hour

// A year with a domain: it is renewed 30 days ahead, retried each day when the
// card is bad, expires, and comes back when it is renewed.
func TestClock(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		l := &life{t: t, settings: apptest.Settings(t, e)}
		l.settings.Retention.Deleted, l.settings.Retention.Events = 90*formatDay, 400*formatDay
		var ref, lapsing, leaving string
		l.at("begin", 0, func(w *world) {
			ref, lapsing, leaving = w.registered("lasting.com"), w.registered("lapsing.com"),
				w.registered("leaving.com")
			w.patch("/v1/domains/"+lapsing+"/registration", `{"autoRenew": false}`).OK(w.t, 200)
			w.patch("/v1/domains/"+leaving+"/registration", `{"transferLock": false}`).OK(w.t, 200)
			w.post("/v1/domains/"+leaving+"/registration/transfer", "").OK(w.t, 200)
		})
		l.at("five days on it has left", 5*formatDay+time.Hour, func(w *world) {
			w.eventually("the transfer ends", func() bool {
				return w.get("/v1/domains/"+leaving).OK(w.t, 200).Text("status") == "transferred"
			})
			d := w.get("/v1/domains/"+leaving).OK(w.t, 200)
			d.Same("registration.transfer.status", "completed")
			w.post("/v1/domains/"+leaving+"/registration/renew", `{"maxAmountCents": 9999}`, "Idempotency-Key", "z").
				Refused(w.t, 422, "REGISTRAR_UNSUPPORTED_OPERATION")
			w.patch("/v1/domains/"+leaving+"/registration", `{"autoRenew": false}`).
				Refused(w.t, 422, "REGISTRAR_UNSUPPORTED_OPERATION")
			w.remove("/v1/domains/"+leaving).OK(w.t, 204)
		})
		l.at("31 days before", (365-31)*formatDay, func(w *world) {
			w.pay(w.Tenant, "insufficient")
			w.eventually("the sweep ran", func() bool {
				return w.count("SELECT count(*) FROM jobs WHERE kind = 'domains.renew_due' AND run_at > $1",
					w.Clock.Now()) == 1
			})
			if n := w.count("SELECT count(*) FROM operations WHERE type = 'domain_renewal'"); n != 0 {
				w.t.Errorf("%d renewals too early", n)
			}
		})
		failures := func(w *world) int {
			return w.count("SELECT count(*) FROM events WHERE type = 'domain.renewal_failed' AND resource_id = $1", ref)
		}
		l.at("29 days before, the card is bad", (365-29)*formatDay, func(w *world) {
			w.eventually("it is told", func() bool { return failures(w) == 1 })
			w.get("/v1/domains/"+ref).OK(w.t, 200).Same("status", "active")
			e := w.get("/v1/events?type=domain.renewal_failed").OK(w.t, 200)
			e.Same("0.data.errorCode", "PAYMENT_FAILED")
			e.Same("0.data.name", "lasting.com")
		})
		l.at("two hours later it is not tried again", (365-29)*formatDay+2*time.Hour, func(w *world) {
			w.eventually("the sweep ran", func() bool {
				return w.count("SELECT count(*) FROM jobs WHERE kind = 'domains.renew_due' AND run_at > $1",
					w.Clock.Now()) == 1
			})
			if n := failures(w); n != 1 {
				w.t.Errorf("told %d times", n)
			}
			for _, c := range rows(w,
				"SELECT id FROM payment_methods WHERE deleted_at IS NULL AND organization_id = $1") {
				w.AsOperator(w.t, "payment_methods.delete", "organization", w.Org, `{"id": "`+c+`"}`)
			}
		})
		l.at("the next day it is, and there is no card", (365-28)*formatDay+time.Hour, func(w *world) {
			w.eventually("it is told", func() bool { return failures(w) == 2 })
			w.get("/v1/events?type=domain.renewal_failed").OK(w.t, 200).Same("0.data.errorCode",
				"PAYMENT_METHOD_REQUIRED")
			w.pay(w.Tenant, "visa")
		})
		l.at("the day after it renews itself", (365-27)*formatDay+2*time.Hour, func(w *world) {
			before := ""
			w.eventually("it is renewed", func() bool {
				v := w.get("/v1/domains/"+ref+"/registration").OK(w.t, 200).Text("expiresAt")
				renewed := before != "" && v != before
				if before == "" {
					before = v
				}
				return renewed || w.count("SELECT count(*) FROM events WHERE type = 'domain.renewed'") == 1
			})
			ops := w.get("/v1/operations?type=domain_renewal").OK(w.t, 200)
			if ops.Len() != 1 || ops.Text("0.status") != "succeeded" {
				w.t.Errorf("operations: %s", ops)
			}
		})
		l.at("a day after the end", 366*formatDay, func(w *world) {
			w.eventually("it expires", func() bool {
				return w.get("/v1/domains/"+lapsing).OK(w.t, 200).Text("status") == "expired"
			})
			w.get("/v1/domains/"+ref).OK(w.t, 200).Same("status", "active")
			renewed := w.post("/v1/domains/"+lapsing+"/registration/renew", `{"maxAmountCents": 1500}`,
				"Idempotency-Key", "back").OK(w.t, 202)
			o := w.ended(renewed.Text("operationId"))
			o.Same("status", "succeeded")
			w.get("/v1/domains/"+lapsing).OK(w.t, 200).Same("status", "active")
			n := w.count("SELECT coalesce(sum(amount_cents), 0) FROM sandbox_charges WHERE declined IS NULL")
			if n != 3*1200+2*1500 {
				w.t.Errorf("charged %d in all", n)
			}
			if got := w.Events(w.t, "domain.expired", "domain.transferred"); strings.Count(got, "domain.") != 2 {
				w.t.Errorf("events %s", got)
			}
		})
	})
}
