package domain_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/resource/domain"
)

// unreliable is a payment provider whose answers get lost.
type unreliable struct {
	domain.Payments
	lost  atomic.Int64 // this many charges succeed, but their answer is lost
	never atomic.Int64 // this many charges do not even arrive
	calls atomic.Int64
}

func (u *unreliable) Charge(ctx context.Context, key string, c domain.Charge) (string, error) {
	u.calls.Add(1)
	if u.never.Add(-1) >= 0 {
		return "", errors.New("test: connection refused")
	}
	payment, err := u.Payments.Charge(ctx, key, c)
	if u.lost.Add(-1) >= 0 {
		return "", errors.New("test: no answer in time")
	}
	return payment, err
}

// A charge with an unknown outcome keeps its key, and is asked about.
func TestUnknownCharge(t *testing.T) {
	u := &unreliable{}
	each(t, func(w *world) {
		t := w.t
		try := func(name string) apptest.Result {
			return w.post("/v1/domain-registrations", order(name, registrant, 1200), "Idempotency-Key", name)
		}
		charges := func() int { return w.count("SELECT count(*) FROM sandbox_charges") }
		soon := func() { w.exec("UPDATE jobs SET run_at = 0 WHERE kind = 'operations.settle' AND state = 'ready'") }

		// The answer is lost after the charge: the same key finds it.
		u.calls.Store(0)
		u.lost.Store(1)
		try("lost.com").Refused(t, 503, "SERVICE_UNAVAILABLE")
		w.register("lost.com").Refused(t, 409, "DOMAIN_UNAVAILABLE")
		w.ended(try("lost.com").OK(t, 202).Text("operationId")).Same("status", "succeeded")
		if charges() != 1 || u.calls.Load() != 1 {
			t.Errorf("%d charges in %d calls", charges(), u.calls.Load())
		}

		// It never arrived: the provider has not heard of it, and is called again.
		u.never.Store(1)
		try("never.com").Refused(t, 503, "SERVICE_UNAVAILABLE")
		w.ended(try("never.com").OK(t, 202).Text("operationId")).Same("status", "succeeded")
		if charges() != 2 {
			t.Errorf("%d charges", charges())
		}

		// Nobody comes back: the order is still settled, and the key then
		// answers with it.
		u.lost.Store(1)
		try("silent.com").Refused(t, 503, "SERVICE_UNAVAILABLE")
		if n := w.get("/v1/operations").OK(t, 200).Len(); n != 2 {
			t.Errorf("%d operations are seen before the payment is sure", n)
		}
		soon()
		w.eventually("it is settled", func() bool { return w.get("/v1/operations").OK(t, 200).Len() == 3 })
		o := w.get("/v1/operations?limit=1").OK(t, 200)
		try("silent.com").OK(t, 202).Same("operationId", o.Text("0.id"))
		w.ended(o.Text("0.id")).Same("status", "succeeded")

		// Nobody comes back and nothing was charged: the name is free again,
		// and the key starts over.
		u.never.Store(1)
		try("gone.com").Refused(t, 503, "SERVICE_UNAVAILABLE")
		w.exec("UPDATE operations SET charged_at = charged_at - 3600000000 WHERE resource_name = 'gone.com'")
		soon()
		w.eventually("it is given up", func() bool {
			return w.count("SELECT count(*) FROM operations WHERE status = 'abandoned'") == 1
		})
		if n := w.count("SELECT count(*) FROM domain_holds WHERE name = 'gone.com'"); n != 0 {
			t.Error("the name is still held")
		}
		w.ended(try("gone.com").OK(t, 202).Text("operationId")).Same("status", "succeeded")

		// A refusal whose answer was lost is a refusal.
		w.pay(w.Tenant, "declined")
		u.lost.Store(1)
		try("refused.com").Refused(t, 503, "SERVICE_UNAVAILABLE")
		try("refused.com").Refused(t, 402, "PAYMENT_FAILED")
		u.lost.Store(1)
		try("refused-alone.com").Refused(t, 503, "SERVICE_UNAVAILABLE")
		soon()
		w.eventually("it is settled", func() bool {
			return w.count("SELECT count(*) FROM operations WHERE status = 'refused'") == 2
		})
		try("refused-alone.com").Refused(t, 402, "PAYMENT_FAILED").Same("details.useNewKey", true)

		if n := w.count("SELECT count(*) FROM sandbox_charges WHERE declined IS NULL"); n != 4 ||
			w.count("SELECT count(*) FROM sandbox_registrations") != 4 {
			t.Errorf("%d charges for 4 names", n)
		}
	}, func(c *domain.Config) {
		u.Payments = c.Payments
		c.Payments = u
	})
}

// A domain that is renewed automatically and loses the answer to its charge is
// settled like any other order, and not charged by the next sweep.
func TestUnknownAutoRenewal(t *testing.T) {
	u := &unreliable{}
	each(t, func(w *world) {
		t := w.t
		u.lost.Store(0)
		ref := w.registered("renewing.com")
		soon := w.Clock.Now().Add(10*formatDay) / 1e6 * 1e6
		w.exec("UPDATE domains SET expires_at = $1 WHERE id = $2", soon, ref)
		w.exec("UPDATE sandbox_registrations SET expires_at = $1", soon)
		sweep := func() {
			w.exec("UPDATE jobs SET run_at = 0 WHERE kind = 'domains.renew_due' AND state = 'ready'")
			w.eventually("the sweep ran", func() bool {
				return w.count("SELECT count(*) FROM jobs WHERE kind = 'domains.renew_due' AND run_at > 0") == 1
			})
		}
		u.lost.Store(1)
		sweep()
		w.eventually("it is ordered", func() bool { return w.count("SELECT count(*) FROM sandbox_charges") == 2 })
		sweep()
		w.exec("UPDATE jobs SET run_at = 0 WHERE kind = 'operations.settle' AND state = 'ready'")
		w.eventually("it is renewed", func() bool {
			return w.count("SELECT count(*) FROM events WHERE type = 'domain.renewed'") == 1
		})
		sweep()
		if n := w.count("SELECT count(*) FROM operations WHERE automatic"); n != 1 ||
			w.count("SELECT count(*) FROM sandbox_charges") != 2 ||
			w.count("SELECT count(*) FROM sandbox_renewals") != 1 {
			t.Errorf("%d renewals were ordered, %d charges", n, w.count("SELECT count(*) FROM sandbox_charges"))
		}
		if got, want := w.Events(t, "domain.r"), "domain.renewed"; got != want {
			t.Errorf("events %s", got)
		}
	}, func(c *domain.Config) {
		u.Payments = c.Payments
		c.Payments = u
	})
}

// Twenty requests with one key are one order.
func TestOneKey(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		var accepted atomic.Int64
		apptest.RunAtOnce(20, func(int) {
			r := w.post("/v1/domain-registrations", order("once.com", registrant, 1200), "Idempotency-Key", "once")
			switch {
			case r.Status == 202:
				accepted.Add(1)
			case r.Code() != "IDEMPOTENCY_KEY_IN_FLIGHT":
				t.Errorf("%d %s", r.Status, r.Body)
			}
		})
		if accepted.Load() == 0 || w.count("SELECT count(*) FROM sandbox_charges") != 1 ||
			w.count("SELECT count(*) FROM operations") != 1 {
			t.Errorf("%d accepted, %d charges", accepted.Load(), w.count("SELECT count(*) FROM sandbox_charges"))
		}
	})
}

// slowProvider answers when the test lets it.
type slowProvider struct {
	domain.Payments
	began, hold chan struct{}
}

func (p *slowProvider) Charge(ctx context.Context, key string, c domain.Charge) (string, error) {
	p.began <- struct{}{}
	<-p.hold
	return p.Payments.Charge(ctx, key, c)
}

// A request that is turned away before it ordered anything releases its key.
func TestTurnedAway(t *testing.T) {
	p := &slowProvider{began: make(chan struct{}, 100), hold: make(chan struct{})}
	each(t, func(w *world) {
		p.hold = make(chan struct{})
		try := func(key, name string) apptest.Result {
			return w.post("/v1/domain-registrations", order(name, registrant, 1200), "Idempotency-Key", key)
		}
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() { try(fmt.Sprint("k", i), fmt.Sprintf("many%d.com", i)) })
		}
		for range 64 {
			<-p.began
		}
		try("late", "late.com").Refused(w.t, 503, "SERVICE_UNAVAILABLE")
		try("late", "later.com").Refused(w.t, 503, "SERVICE_UNAVAILABLE")
		close(p.hold)
		wg.Wait()
		try("late", "latest.com").OK(w.t, 202)
	}, func(c *domain.Config) {
		p.Payments = c.Payments
		c.Payments = p
	})
}

// elsewhere charges the cards of another provider.
type elsewhere struct{ domain.Payments }

func (elsewhere) Name() string { return "elsewhere" }

// A default card that this server cannot charge is not reported as missing.
func TestCardOfAnotherProvider(t *testing.T) {
	each(t, func(w *world) {
		f := w.register("paid.com").Refused(w.t, 402, "PAYMENT_METHOD_REQUIRED")
		const want = "The default card is of sandbox, which this server does not charge. " +
			"An owner or admin saves another in the console."
		if text := f.Text("message"); text != want {
			w.t.Error(text)
		}
	}, func(c *domain.Config) { c.Payments = elsewhere{c.Payments} })
}

// The database fails at the very end, when the card is already charged: the key
// keeps its order, and a retry after the order was settled and carried out does
// not order again.
func TestChargedAndNotWritten(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		if e != db.Postgres {
			return // whose locks can be held by another process
		}
		var charged atomic.Pointer[func()]
		w := &world{t: t, txt: &texts{by: map[string][]string{}}}
		s := apptest.Settings(t, e)
		s.DatabaseURL = dbtest.DirectURL(t, s.DatabaseURL) // a pooler takes no settings
		s.DatabaseURL += map[bool]string{true: "&", false: "?"}[strings.Contains(s.DatabaseURL, "?")] +
			"lock_timeout=2s"
		w.App = apptest.StartWith(t, s, w.extra(func(c *domain.Config) {
			c.Pause = func(step string) {
				if step == "charged" {
					once(&charged)
				}
			}
		}))
		w.trusted(w.Tenant, "visa")
		w.work()
		path := "/v1/domains/" + w.registered("twice.com") + "/registration/renew"
		renew := func() apptest.Result { return w.post(path, `{"maxAmountCents": 1500}`, "Idempotency-Key", "once") }

		held, letGo, gone := make(chan struct{}), make(chan struct{}), make(chan struct{})
		lock := func() {
			go func() {
				defer close(gone)
				if err := w.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
					_, err := db.QueryAll[string](ctx, tx,
						"SELECT id FROM operations WHERE type = 'domain_renewal' FOR UPDATE")
					close(held)
					<-letGo
					return err
				}); err != nil {
					t.Error(err)
				}
			}()
			<-held
		}
		charged.Store(&lock)
		renew().Refused(t, 503, "SERVICE_UNAVAILABLE")
		close(letGo)
		<-gone
		w.exec("UPDATE jobs SET run_at = 0 WHERE kind = 'operations.settle' AND state = 'ready'")
		w.eventually("it is renewed", func() bool {
			return w.count("SELECT count(*) FROM events WHERE type = 'domain.renewed'") == 1
		})
		first := w.get("/v1/operations?type=domain_renewal").OK(t, 200).Text("0.id")
		renew().OK(t, 202).Same("operationId", first)
		if n := w.count("SELECT count(*) FROM sandbox_charges WHERE amount_cents = 1500"); n != 1 {
			t.Errorf("the renewal was charged %d times", n)
		}
	})
}
