package webhook_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/webhook"
)

// Retries go on for three days, and no longer.
func TestSchedule(t *testing.T) {
	total := time.Duration(0)
	for _, d := range webhook.Schedule() {
		total += d
	}
	if total < 72*time.Hour || total > 80*time.Hour {
		t.Errorf("%v in all", total)
	}
}

// First attempts follow the order of events, while many things happen at once.
func TestOrder(t *testing.T) {
	each(t, func(t *testing.T, a *apptest.App) {
		e := newEndpoint(t, nil)
		subscribe(t, a.Door("action", a.Tenant), e.server.URL, "contact.created", "contact.updated")
		const writers, rounds = 8, 25
		apptest.RunAtOnce(writers, func(i int) {
			call := a.Door("action", a.Tenant)
			id := call(t, "contacts.create",
				fmt.Sprintf(`{"firstName": "w%d", "lastName": "0"}`, i)).OK(t, 201).Text("id")
			for n := 1; n < rounds; n++ {
				call(t, "contacts.update", fmt.Sprintf(`{"id": %q, "lastName": "%d"}`, id, n)).OK(t, 200)
			}
		})
		got := e.wait(writers * rounds)
		next := map[string]int{}
		for _, v := range got {
			who := v.event.Data["firstName"].(string)
			if want := fmt.Sprint(next[who]); v.event.Data["lastName"] != want {
				t.Fatalf("%s: %v came when %s was next", who, v.event.Data["lastName"], want)
			}
			next[who]++
		}
		if len(got) != writers*rounds {
			t.Errorf("%d arrived", len(got))
		}
		if a.DB.Engine() != db.SQLite {
			return // there, simultaneous commits have no order
		}
		var log []string
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			log, err = db.QueryAll[string](ctx, tx, `
				SELECT id
				FROM events
				WHERE organization_id = $1 AND resource_type = 'contact'
				ORDER BY seq`, a.Org)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range log {
			if got[i].id != id {
				t.Fatalf("what arrived as number %d is not that of the log", i)
			}
		}
	})
}

// Later events wait for earlier ones whose fan-out is still under way, however
// long it takes: here the first event's fan-out is held up.
func TestOrderOfSlowFanOuts(t *testing.T) {
	each(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		call(t, "contacts.create", `{"firstName": "First"}`).OK(t, 201)
		e := newEndpoint(t, nil)
		subscribe(t, call, e.server.URL, "contact.created")
		write := func(text string, args ...any) {
			t.Helper()
			err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := db.Exec(ctx, tx, text, args...)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		var seq int64
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			seq, err = db.QueryOne[int64](ctx, tx, `
				SELECT seq
				FROM events
				WHERE organization_id = $1 AND type = 'contact.created'`,
				a.Org)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		now := a.Clock.Now()
		write(`
			INSERT INTO jobs (organization_id, lane, kind, args, state, run_at, attempt, max_attempts, fence,
				created_at)
			VALUES ($1, 'tx', 'event.fan_out', $2, 'ready', $3, 0, 20, 0, $4)`,
			a.Org, db.JSON(fmt.Sprintf(`{"organization": %q, "seq": %d}`, a.Org, seq)), now.Add(time.Hour), now)
		call(t, "contacts.create", `{"firstName": "Second"}`).OK(t, 201)
		time.Sleep(500 * time.Millisecond)
		if n := len(e.all()); n != 0 {
			t.Fatalf("%d came before the first", n)
		}
		write("UPDATE jobs SET run_at = $2 WHERE organization_id = $1 AND kind = 'event.fan_out'", a.Org, now)
		for i, v := range e.wait(2) {
			if want := []string{"First", "Second"}[i]; v.event.Data["firstName"] != want {
				t.Errorf("%v came when %s was next", v.event.Data["firstName"], want)
			}
		}
	})
}

// A fan-out that meets a locked row is retried, and nothing overtakes it in the
// meantime: here somebody holds the webhook's row until the first give up waiting.
// The receiver ends on the last state.
func TestOrderAfterFailedFanOuts(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, engine db.Engine) {
		if engine != db.Postgres {
			t.Skip("writes take turns on SQLite, so no row is held")
		}
		a := apptest.Start(t, engine)
		begin(t, a)
		call := a.Door("action", a.Tenant)
		e := newEndpoint(t, nil)
		hook, _ := subscribe(t, call, e.server.URL, "contact.updated")
		contact := call(t, "contacts.create", `{"firstName": "0"}`).OK(t, 201).Text("id")
		const states = 30
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			if err := db.Lock(ctx, tx, "webhooks", a.Org, id.ID(hook)); err != nil {
				return err
			}
			if _, err := db.Exec(ctx, tx, "SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
				return err
			}
			for i := 1; i <= states; i++ {
				call(t, "contacts.update", fmt.Sprintf(`{"id": %q, "firstName": "%d"}`, contact, i)).OK(t, 200)
				time.Sleep(30 * time.Millisecond)
			}
			met := func() bool { g, err := a.Jobs.ReadGauges(t.Context()); return err != nil || g.Locked > 0 }
			until(t, 2*time.Minute, met, func() string { return "no fan-out met the locked row" })
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range e.wait(states) {
			if v.event.Data["firstName"] != strconv.Itoa(i+1) {
				t.Fatalf("state %v came as number %d", v.event.Data["firstName"], i+1)
			}
		}
		if g, err := a.Jobs.ReadGauges(t.Context()); err != nil || g.Locked == 0 {
			t.Errorf("no fan-out met the locked row, so nothing was tried: %+v, %v", g, err)
		}
	})
}

// A worker stops whenever nothing is left, and whatever arrives at that very
// moment is still sent.
func TestNothingIsLeft(t *testing.T) {
	each(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		e := newEndpoint(t, nil)
		subscribe(t, call, e.server.URL, "contact.created")
		const writers, rounds = 4, 50
		apptest.RunAtOnce(writers, func(int) {
			for range rounds {
				call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201)
				time.Sleep(rand.N(20 * time.Millisecond))
			}
		})
		e.wait(writers * rounds)
		time.Sleep(100 * time.Millisecond)
		if n := len(e.all()); n != writers*rounds {
			t.Errorf("%d arrived of %d", n, writers*rounds)
		}
	})
}

// A failed delivery is retried under the same id, and the next event does not
// wait for it.
func TestRetries(t *testing.T) {
	webhook.Shorten(t, time.Minute, time.Minute, 100*time.Millisecond, 100*time.Millisecond, 50*time.Millisecond)
	each(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		var calls atomic.Int64
		again := make(chan struct{}) // closed when the first event may be answered
		e := newEndpoint(t, nil)
		e.answer = func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) == 1 {
				w.WriteHeader(http.StatusInternalServerError)
			} else if e.of(r).Data["firstName"] == "First" {
				<-again
			}
		}
		hook, secret := subscribe(t, call, e.server.URL, "contact.created")
		call(t, "contacts.create", `{"firstName": "First"}`).OK(t, 201)
		failed := settled(t, call, hook, "retrying", 1).At("0")
		failed.Same("errorMessage", "The endpoint answered 500.")
		if failed.Text("nextAttemptAt") == "" || !failed.At("completedAt").Null() {
			t.Errorf("retrying: %s", failed)
		}
		call(t, "contacts.create", `{"firstName": "Second"}`).OK(t, 201)
		settled(t, call, hook, "succeeded", 1).At("0").Same("eventType", "contact.created")
		settled(t, call, hook, "retrying", 1).At("0").Same("id", failed.Text("id"))
		close(again)
		settled(t, call, hook, "succeeded", 2)
		got := e.all()
		var ids []string
		for _, v := range got {
			if v.event.Data["firstName"] == "First" {
				ids = append(ids, v.id)
			}
			if err := v.verify(t, secret); err != nil {
				t.Error(err)
			}
		}
		if len(got) != 3 || len(ids) != 2 || ids[0] != ids[1] {
			t.Errorf("%d arrived, of the first %v", len(got), ids)
		}
	})
}

// A delivery that fails to the end disables its endpoint, unless another
// succeeded.
func TestGivingUp(t *testing.T) {
	webhook.Shorten(t, time.Minute, time.Minute, 30*time.Millisecond, 30*time.Millisecond)
	each(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		witness := newEndpoint(t, nil)
		subscribe(t, call, witness.server.URL, "webhook.disabled")

		// Grace's events fail, others succeed.
		mixed := newEndpoint(t, nil)
		var dead atomic.Bool
		var graces atomic.Int64
		succeeded := make(chan struct{}) // closed when another event has
		mixed.answer = func(w http.ResponseWriter, r *http.Request) {
			grace := mixed.of(r).Data["firstName"] == "Grace"
			if grace && graces.Add(1) > 1 {
				<-succeeded
			}
			if dead.Load() || grace {
				w.WriteHeader(http.StatusBadGateway)
			}
		}
		hook, _ := subscribe(t, call, mixed.server.URL, "contact.created")
		ref := fmt.Sprintf(`{"id": %q}`, hook)
		call(t, "contacts.create", `{"firstName": "Grace"}`).OK(t, 201)
		mixed.wait(1)
		call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201)
		settled(t, call, hook, "succeeded", 1)
		close(succeeded)
		lost := settled(t, call, hook, "failed", 1).At("0")
		lost.Same("attempts", 3)
		call(t, "webhooks.get", ref).OK(t, 200).Same("status", "active")

		dead.Store(true)
		call(t, "contacts.create", `{"firstName": "Nobody"}`).OK(t, 201)
		settled(t, call, hook, "failed", 2)
		v := call(t, "webhooks.get", ref).OK(t, 200)
		v.Same("status", "disabled")
		v.Same("disabledReason", "failing")
		told := witness.wait(1)[0]
		if told.event.ResourceID != hook || told.event.Data["disabledReason"] != "failing" {
			t.Errorf("told %s", told.body)
		}
		// A person sends it again; once it succeeds, it is no longer failed.
		dead.Store(false)
		one := fmt.Sprintf(`{"id": %q, "deliveryId": %q}`, hook, settled(t, call, hook, "failed", 2).Text("0.id"))
		call(t, "webhooks.deliveries.redeliver", one).OK(t, 200).Same("status", "succeeded")
		v = call(t, "webhooks.update", fmt.Sprintf(`{"id": %q, "status": "active"}`, hook)).OK(t, 200)
		v.Same("disabledReason", nil)

		// 410 means: never again.
		mixed.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }
		call(t, "contacts.create", `{"firstName": "Hedy"}`).OK(t, 201)
		witness.wait(2)
		v = call(t, "webhooks.get", ref).OK(t, 200)
		v.Same("status", "disabled")
		v.Same("disabledReason", "gone")
		settled(t, call, hook, "failed", 2)
		if events := a.Events(t, "webhook.disabled"); events != "webhook.disabled webhook.disabled" {
			t.Errorf("events %s", events)
		}
	})
}

// Disabling and deleting cancel everything that is waiting, however much there
// is.
func TestCanceled(t *testing.T) {
	webhook.Shorten(t, time.Minute, time.Minute, time.Hour)
	each(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		e := newEndpoint(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
		hook, _ := subscribe(t, call, e.server.URL, "contact.created")
		for range 3 {
			call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201)
		}
		settled(t, call, hook, "retrying", 3)
		call(t, "webhooks.update", fmt.Sprintf(`{"id": %q, "status": "disabled"}`, hook)).OK(t, 200)
		call(t, "webhooks.update", fmt.Sprintf(`{"id": %q, "status": "active"}`, hook)).OK(t, 200)
		if v := settled(t, call, hook, "canceled", 3); !v.At("0.nextAttemptAt").Null() {
			t.Errorf("canceled, and yet to come: %s", v)
		}
		e.answer = nil
		call(t, "contacts.create", `{"firstName": "New"}`).OK(t, 201)
		if got := e.wait(4); len(got) != 4 || got[3].event.Data["firstName"] != "New" {
			t.Errorf("%d arrived", len(got))
		}
	})
}

// Dead or slow endpoints do not delay others, even when they outnumber the
// places.
func TestOthersDoNotWait(t *testing.T) {
	const attempt, slowTime = 8 * time.Second, 2 * time.Second
	webhook.Shorten(t, attempt, slowTime, time.Minute)
	each(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		healthy := newEndpoint(t, nil)
		subscribe(t, call, healthy.server.URL, "contact.created")
		call(t, "contacts.create", `{"firstName": "Hello"}`).OK(t, 201)
		healthy.wait(1)

		other := a.NewTenant(t, "enterprise")
		theirs := a.Door("action", other)
		for range 90 {
			subscribe(t, theirs, blackhole(t), "contact.created")
		}
		subscribe(t, call, refusing(t), "contact.created")
		subscribe(t, call, blackhole(t), "contact.created")
		const slowly = slowTime + 500*time.Millisecond
		slow := newEndpoint(t, func(http.ResponseWriter, *http.Request) { time.Sleep(slowly) })
		subscribe(t, call, slow.server.URL, "contact.created")
		var lags []time.Duration
		for i := range 20 {
			theirs(t, "contacts.create", `{"firstName": "Theirs"}`).OK(t, 201)
			began := time.Now()
			call(t, "contacts.create", fmt.Sprintf(`{"firstName": "n%d"}`, i)).OK(t, 201)
			got := healthy.wait(i + 2)
			lags = append(lags, got[i+1].at.Sub(began))
		}
		slices.Sort(lags)
		t.Logf("a healthy endpoint beside 91 that never answer, one that refuses and one that takes %v: lag "+
			"median %v, worst %v", slowly,
			lags[len(lags)/2].Round(time.Millisecond), lags[len(lags)-1].Round(time.Millisecond))
		// Behind one that never answers it would wait for an attempt, and in each round.
		if lags[len(lags)/2] > attempt/4 || lags[len(lags)-1] > attempt-time.Second {
			t.Errorf("a healthy endpoint waited %v", lags)
		}
		if n := len(slow.wait(2)); n > 21 {
			t.Errorf("%d arrived at the slow one", n)
		}
	})
}

// A test whose answer could not be kept is the same test when it is sent again.
func TestTestUnderAKey(t *testing.T) {
	refuse := map[db.Engine][]string{
		db.SQLite: {"CREATE TRIGGER full BEFORE INSERT ON webhook_deliveries BEGIN SELECT RAISE(ABORT, 'no room'); " +
			"END"},
		db.Postgres: {"CREATE FUNCTION full_up() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION USING " +
			"ERRCODE = ''53100''; END'",
			"CREATE TRIGGER full_up BEFORE INSERT ON webhook_deliveries FOR EACH ROW EXECUTE FUNCTION full_up()"},
	}
	accept := map[db.Engine][]string{db.SQLite: {"DROP TRIGGER full"},
		db.Postgres: {"DROP TRIGGER full_up ON webhook_deliveries"}}
	each(t, func(t *testing.T, a *apptest.App) {
		change := func(statements []string) {
			err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				for _, text := range statements {
					if _, err := db.Exec(ctx, tx, text); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		e := newEndpoint(t, nil)
		hook := a.SendREST(t, a.Key, "POST", "/v1/webhooks",
			fmt.Sprintf(`{"url": %q, "events": ["contact.created"]}`, e.server.URL)).OK(t, 201).Text("id")
		send := func() apptest.Result {
			return a.SendREST(t, a.Key, "POST", "/v1/webhooks/"+hook+"/test", "", "Idempotency-Key", "k")
		}
		change(refuse[a.DB.Engine()])
		if r := send(); r.Status != 503 {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
		change(accept[a.DB.Engine()])
		first := send().OK(t, 200).Text("eventId")
		if again := send().OK(t, 200).Text("eventId"); again != first {
			t.Errorf("%s, then %s", first, again)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(e.arrivals) != 2 || e.arrivals[0].id != first || e.arrivals[1].id != first {
			t.Errorf("%d arrivals, not of one event", len(e.arrivals))
		}
	})
}
