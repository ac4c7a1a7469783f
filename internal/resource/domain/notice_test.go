package domain_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/kernel/db"
)

// mails are the subjects of the mails to the owners, oldest first.
func (w *world) mails() string {
	w.t.Helper()
	var out []string
	err := w.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = db.QueryAll[string](ctx, tx,
			"SELECT subject FROM messages WHERE organization_id = $1 AND direction = 'outbound' ORDER BY seq", w.Org)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Join(out, "; ")
}

// swept runs a periodic job once more.
func (w *world) swept(kind string) {
	w.t.Helper()
	w.eventually("the next run is planned", func() bool {
		return w.count("SELECT count(*) FROM jobs WHERE kind = $1 AND state = 'ready' AND run_at > $2", kind,
			w.Clock.Now()) == 1
	})
	w.exec("UPDATE jobs SET run_at = 0 WHERE kind = $1 AND state = 'ready'", kind)
	w.eventually("it ran", func() bool {
		return w.count("SELECT count(*) FROM jobs WHERE kind = $1 AND state = 'ready' AND run_at > $2", kind,
			w.Clock.Now()) == 1
	})
}

// The owners are told once of each approach to the end of a registration
// without automatic renewal, and of a renewal that failed.
func TestNotices(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		ref := "/v1/domains/" + w.registered("ending.com")
		w.registered("renewing.com")
		w.patch(ref+"/registration", `{"autoRenew": false}`).OK(t, 200)
		end := func(ahead time.Duration) string {
			at := w.Clock.Now().Add(ahead)
			w.exec("UPDATE domains SET expires_at = $1 WHERE name = 'ending.com'", at)
			return at.Std().UTC().Format("2 January 2006")
		}
		was := w.count("SELECT expires_at FROM domains WHERE name = 'ending.com'")
		var want []string
		for _, left := range []time.Duration{31 * formatDay, 29 * formatDay, 8 * formatDay, 6 * formatDay,
			2 * formatDay, 12 * time.Hour} {
			on := end(left)
			if left == 29*formatDay || left == 6*formatDay || left == 12*time.Hour {
				want = append(want, "ending.com expires on "+on)
			}
			w.swept("domains.tell_expiring")
			w.swept("domains.tell_expiring")
			if got := w.mails(); got != strings.Join(want, "; ") {
				t.Fatalf("with %s left: %s", left, got)
			}
		}
		// Renewed, it starts again.
		w.exec("UPDATE domains SET expires_at = $1 WHERE name = 'ending.com'", was)
		o := w.post(ref+"/registration/renew", `{"maxAmountCents": 1500}`, "Idempotency-Key", "more").OK(t, 202)
		w.ended(o.Text("operationId")).Same("status", "succeeded")
		want = append(want, "ending.com expires on "+end(29*formatDay))
		w.swept("domains.tell_expiring")
		if got := w.mails(); got != strings.Join(want, "; ") {
			t.Errorf("after the renewal: %s", got)
		}
		// One whose automatic renewal fails.
		w.pay(w.Tenant, "insufficient")
		w.exec("UPDATE domains SET expires_at = $1 WHERE name = 'renewing.com'", w.Clock.Now().Add(20*formatDay))
		w.swept("domains.renew_due")
		w.eventually("the renewal failed", func() bool {
			return strings.HasSuffix(w.mails(), "renewing.com could not be renewed")
		})
		w.exec("UPDATE domains SET renewal_failed_at = 1 WHERE name = 'renewing.com'")
		w.swept("domains.tell_expiring")
		w.swept("domains.renew_due")
		w.eventually("it failed again", func() bool {
			return w.count("SELECT count(*) FROM events WHERE type = 'domain.renewal_failed'") == 2
		})
		if got := w.mails(); strings.Count(got, "renewing.com") != 1 {
			t.Errorf("the mails: %s", got)
		}
		w.exec("UPDATE domains SET expires_at = $1 WHERE name = 'renewing.com'", w.Clock.Now().Add(3*formatDay))
		w.swept("domains.tell_expiring")
		if got := w.mails(); !strings.Contains(got, "renewing.com expires on") {
			t.Errorf("the mails: %s", got)
		}
		w.eventually("they left", func() bool {
			return w.count("SELECT count(*) FROM messages WHERE organization_id = $1 AND status = 'sent'",
				w.Org) == len(want)+2
		})
		list := w.get("/v1/messages?limit=100").OK(t, 200)
		for i := range list.Len() {
			m := list.At(fmt.Sprint(i))
			m.Same("to.0", w.Owner)
			m.Same("from", "no-reply@frontdesk.example")
			m.Same("autoSubmitted", true)
			t.Logf("%s\n\n%s", m.Text("subject"), m.Text("text"))
		}
	})
}

// A renewal that no registry accepts is refused before anything is charged.
func TestRenewTooFar(t *testing.T) {
	each(t, func(w *world) {
		ref := "/v1/domains/" + w.registered("long.com")
		renew := func(years int, key string) string {
			return w.post(ref+"/registration/renew", fmt.Sprintf(`{"periodYears": %d, "maxAmountCents": 99999}`, years),
				"Idempotency-Key", key).Code()
		}
		charges := "SELECT count(*) FROM sandbox_charges"
		before := w.count(charges)
		if code := renew(10, "a"); code != "VALIDATION_ERROR" || w.count(charges) != before {
			w.t.Errorf("ten more years: %s", code)
		}
		no := w.post(ref+"/registration/renew", `{"periodYears": 10, "maxAmountCents": 99999}`, "Idempotency-Key", "b")
		no.Refused(w.t, 400, "VALIDATION_ERROR")
		no.Issues(w.t, "periodYears")
		if code := renew(9, "c"); code != "" {
			w.t.Errorf("nine more years: %s", code)
		}
	})
}

// The phone of a registrant is kept as E.164, and one that cannot be is
// refused.
func TestRegistrantPhone(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		with := func(phone string) string { return strings.Replace(registrant, "+442079460018", phone, 1) }
		for in, want := range map[string]string{"+44 20 7946 0018": "+442079460018", "020 7946 0018": "+442079460018",
			"+1 (415) 555-0100": "+14155550100"} {
			w.post("/v1/domain-contacts", with(in)).OK(t, 201).Same("phone", want)
		}
		v := w.post("/v1/domain-contacts", with("+442079460018")).OK(t, 201)
		for _, bad := range []string{"call me", "123", "+999123456789", "+44"} {
			no := w.post("/v1/domain-contacts", with(bad))
			no.Refused(t, 400, "VALIDATION_ERROR")
			no.Issues(t, "phone")
			w.patch("/v1/domain-contacts/"+v.Text("id"),
				fmt.Sprintf(`{"phone": %q}`, bad)).Refused(t, 400, "VALIDATION_ERROR")
			r := w.post("/v1/domain-registrations", order("phone.com", with(bad), 9999), "Idempotency-Key", bad).
				Refused(t, 400, "VALIDATION_ERROR")
			if r.At("details.properties.contact.properties.phone.errors").Len() != 1 {
				t.Errorf("%s: %s", bad, r)
			}
		}
		w.patch("/v1/domain-contacts/"+v.Text("id"),
			`{"phone": "020 7946 0019"}`).OK(t, 200).Same("phone", "+442079460019")
	})
}
