package op_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/apptest/probe"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

// keyed sends a POST under an idempotency key.
func keyed(t testing.TB, a *apptest.App, key, path, body string) apptest.Result {
	t.Helper()
	return a.SendREST(t, a.Key, http.MethodPost, path, body, "Idempotency-Key", key)
}

func replayed(t testing.TB, r, first apptest.Result) {
	t.Helper()
	if r.Header.Get("Idempotency-Replay") != "true" || r.Status != first.Status ||
		string(r.Body) != string(first.Body) {
		t.Errorf("not the original answer again: %d %v %s, want %d %s", r.Status, r.Header, r.Body, first.Status,
			first.Body)
	}
}

func fresh(t testing.TB, r apptest.Result) {
	t.Helper()
	if r.Header.Get("Idempotency-Replay") != "" {
		t.Errorf("a new answer calls itself a replay: %s", r.Body)
	}
}

func count(t testing.TB, a *apptest.App, table string) int {
	t.Helper()
	var n int
	err := a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.QueryOne[int](ctx, tx, "SELECT count(*) FROM "+table+" WHERE organization_id = $1", a.Org)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestKeysOfWrites(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		body := `{"firstName": "Ada", "emails": [{"email": "a@example.com", "label": "x"}]}`
		first := keyed(t, a, "k1", "/v1/contacts", body)
		first.OK(t, 201)
		fresh(t, first)
		replayed(t, keyed(t, a, "k1", "/v1/contacts", body), first)
		// Another order and spacing is the same request; the number's spelling and the values are not.
		replayed(t, keyed(t, a, "k1", "/v1/contacts",
			`{ "emails":[{"label":"x", "email":"a@example.com"}],  "firstName":"Ad\u0061"}`), first)
		for _, other := range []string{`{"firstName": "Bob"}`, `{"nope": 1}`, `not JSON`, `{}`, `[]`} {
			keyed(t, a, "k1", "/v1/contacts", other).Refused(t, 422, "IDEMPOTENCY_KEY_REUSED")
		}
		id := first.OK(t, 201).Text("id")
		keyed(t, a, "k1", "/v1/contacts/"+id+"/emails", `{"email": "b@example.com"}`).Refused(t, 422,
			"IDEMPOTENCY_KEY_REUSED")
		if n := count(t, a, "contacts"); n != 1 {
			t.Fatalf("%d contacts", n)
		}
		// A failed request releases its key.
		keyed(t, a, "k2", "/v1/contacts", `{}`).Refused(t, 400, "VALIDATION_ERROR")
		keyed(t, a, "k2", "/v1/contacts/00000000-0000-4000-8000-000000000000/emails",
			`{"email": "a@example.com"}`).Refused(t, 404, "NOT_FOUND")
		keyed(t, a, "k2", "/v1/contacts", `{"firstName": "B"}`).OK(t, 201)
		// Keys belong to the organization, not to the API key, and need the permission first.
		other, _ := a.NewKey(t, a.Tenant, "*")
		replayed(t, a.SendREST(t, other, http.MethodPost, "/v1/contacts", body, "Idempotency-Key", "k1"), first)
		weak, _ := a.NewKey(t, a.Tenant, "contacts:read")
		a.SendREST(t, weak, http.MethodPost, "/v1/contacts", body, "Idempotency-Key", "k1").Refused(t, 403,
			"INSUFFICIENT_PERMISSIONS")
		stranger := a.NewTenant(t, "free")
		r := a.SendREST(t, stranger.Key, http.MethodPost, "/v1/contacts", body, "Idempotency-Key", "k1")
		r.OK(t, 201)
		fresh(t, r)
		// PATCH takes no key: it is ignored.
		a.SendREST(t, a.Key, http.MethodPatch, "/v1/contacts/"+id, `{"notes": "x"}`, "Idempotency-Key",
			"k1").OK(t, 200).Same("notes", "x")
	})
}

func TestKeysEndAfterADay(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		a := apptest.StartWith(t, s)
		first := keyed(t, a, "k", "/v1/contacts", `{"firstName": "A"}`)
		age := func(d time.Duration) {
			err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := db.Exec(ctx, tx, "UPDATE idempotency SET created_at = created_at - $1", d.Microseconds())
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		age(24*time.Hour - time.Minute)
		replayed(t, keyed(t, a, "k", "/v1/contacts", `{"firstName": "A"}`), first)
		age(time.Minute)
		second := keyed(t, a, "k", "/v1/contacts", `{"firstName": "B"}`)
		second.OK(t, 201)
		fresh(t, second)
		replayed(t, keyed(t, a, "k", "/v1/contacts", `{"firstName": "B"}`), second)

		a.Runner.KeyLifetime = 48 * time.Hour
		age(48*time.Hour - time.Minute)
		replayed(t, keyed(t, a, "k", "/v1/contacts", `{"firstName": "B"}`), second)
		age(time.Minute)
		fresh(t, keyed(t, a, "k", "/v1/contacts", `{"firstName": "B"}`))

		// Rows lie in the order of their age, which the sweep goes by.
		keyed(t, a, "later", "/v1/contacts", `{"firstName": "C"}`).OK(t, 201)
		age(48 * time.Hour)
		keyed(t, a, "k", "/v1/contacts", `{"firstName": "D"}`).OK(t, 201)
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			keys, err := db.QueryAll[string](ctx, tx,
				"SELECT key FROM idempotency WHERE organization_id = $1 ORDER BY seq", a.Org)
			if len(keys) != 2 || keys[1] != "k" {
				t.Errorf("keys %v", keys)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// A key that a process claimed before it died is free after a day, unless
// something had begun: that stays until somebody knows what became of it.
func TestClaimsEndAfterADay(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		p := &probe.Provider{}
		a := apptest.Start(t, e, probe.NewExtra(p))
		charge := func(key string, amount int) apptest.Result {
			return keyed(t, a, key, "/v1/probe-charges", fmt.Sprintf(`{"amount": %d, "outcome": "flaky"}`, amount))
		}
		for _, key := range []string{"claimed", "begun"} {
			charge(key, 5).Refused(t, 503, "OUTCOME_UNKNOWN")
		}
		change := func(text string, args ...any) {
			err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := db.Exec(ctx, tx, text, args...)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		change("UPDATE idempotency SET step = NULL WHERE key = 'claimed'")
		charge("claimed", 6).Refused(t, 422, "IDEMPOTENCY_KEY_REUSED")
		change("UPDATE idempotency SET created_at = created_at - $1", (24 * time.Hour).Microseconds())
		charge("begun", 6).Refused(t, 422, "IDEMPOTENCY_KEY_REUSED")
		before := p.ChargedCount()
		charge("claimed", 6).Refused(t, 503, "OUTCOME_UNKNOWN")
		if p.ChargedCount() != before+1 {
			t.Error("it went on with the attempt of another request")
		}
		charge("claimed", 6).OK(t, 201)
		charge("begun", 5).OK(t, 201)

		// It is as free for what takes one transaction.
		charge("dead", 5).Refused(t, 503, "OUTCOME_UNKNOWN")
		change(`
			UPDATE idempotency
			SET step = NULL, lease_until = 0, created_at = created_at - $1
			WHERE key = 'dead'`, (24 * time.Hour).Microseconds())
		keyed(t, a, "dead", "/v1/contacts", `{"firstName": "A"}`).OK(t, 201)
	})
}

// A database that is busy when the work is done outside says nothing about
// that work: the key keeps the attempt, and a retry goes on with it.
func TestBusyAfterTheCall(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		p := &probe.Provider{}
		a := apptest.Start(t, e, probe.NewExtra(p))
		charge := func() apptest.Result {
			return keyed(t, a, "k", "/v1/probe-charges", `{"amount": 5, "outcome": "busy"}`)
		}
		charge().Refused(t, 503, "SERVICE_UNAVAILABLE")
		charge().OK(t, 201)
		if n := p.ChargedCount(); n != 1 {
			t.Errorf("charged %d times", n)
		}
	})
}

// What can be done only once is refused the second time; under one key all
// hear of the first.
func TestManyWithOneKeyForOnePlace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		for round := range 20 {
			at(16, func(int) {
				r := keyed(t, a, fmt.Sprint("k", round), "/v1/email-opt-ins",
					fmt.Sprintf(`{"email": "a%d@example.com"}`, round))
				if r.Status != 201 && !strings.Contains(string(r.Body), "IDEMPOTENCY_KEY_IN_FLIGHT") {
					t.Errorf("%d %s", r.Status, r.Body)
				}
			})
		}
	})
}

// Many who fail under one key at once are all told so: the key is released
// while others ask for it.
func TestManyRefusedWithOneKey(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		a := apptest.Start(t, e, probe.NewExtra(&probe.Provider{}))
		at(64, func(int) {
			for range 10 {
				r := keyed(t, a, "k", "/v1/probe-charges", `{"amount": 5, "outcome": "refuse"}`)
				if r.Status != 422 && r.Status != 409 {
					t.Errorf("%d %s", r.Status, r.Body)
				}
			}
		})
	})
}

func TestSecretAnswersAreSealed(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		first := keyed(t, a, "k", "/v1/probe-secrets", `{}`)
		hush := first.OK(t, 201).Text("secret")
		replayed(t, keyed(t, a, "k", "/v1/probe-secrets", ``), first)
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			stored, err := db.QueryOne[[]byte](ctx, tx, "SELECT body FROM idempotency WHERE organization_id = $1",
				a.Org)
			if err == nil && (strings.Contains(string(stored), hush) || strings.Contains(string(stored), "secret")) {
				t.Errorf("stored in the clear: %q", stored)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}, probe.NewExtra(&probe.Provider{}))
}

func TestFlows(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		p := &probe.Provider{}
		a := apptest.Start(t, e, probe.NewExtra(p))
		charge := func(key, body string) apptest.Result { return keyed(t, a, key, "/v1/probe-charges", body) }

		a.SendREST(t, a.Key, http.MethodPost, "/v1/probe-charges", `{"amount": 5}`).Refused(t, 400, "INVALID_INPUT")
		ok := charge("ok", `{"amount": 5}`)
		ok.OK(t, 201)
		fresh(t, ok)
		replayed(t, charge("ok", `{"amount": 5}`), ok)
		charge("ok", `{"amount": 6}`).Refused(t, 422, "IDEMPOTENCY_KEY_REUSED")
		if p.ChargedCount() != 1 || count(t, a, "probe_charges") != 1 {
			t.Fatalf("charged %d", p.ChargedCount())
		}

		// A definitive failure releases the key.
		charge("refuse", `{"amount": 5, "outcome": "refuse"}`).Refused(t, 422, "PROBE_REFUSED")
		charge("refuse", `{"amount": 5, "outcome": "ok"}`).OK(t, 201)

		// One that says to use a new key is replayed.
		declined := charge("declined", `{"amount": 5, "outcome": "decline"}`)
		declined.Refused(t, 402, "PROBE_DECLINED").Same("details.useNewKey", true)
		fresh(t, declined)
		replayed(t, charge("declined", `{"amount": 5, "outcome": "decline"}`), declined)

		// An unknown outcome keeps the key bound; a retry resumes the attempt.
		before := p.ChargedCount()
		charge("flaky", `{"amount": 7, "outcome": "flaky"}`).Refused(t, 503, "OUTCOME_UNKNOWN")
		charge("flaky", `{"amount": 8, "outcome": "flaky"}`).Refused(t, 422, "IDEMPOTENCY_KEY_REUSED")
		again := charge("flaky", `{"amount": 7, "outcome": "flaky"}`)
		again.OK(t, 201)
		replayed(t, charge("flaky", `{"amount": 7, "outcome": "flaky"}`), again)
		if p.ChargedCount() != before+1 {
			t.Errorf("charged %d times", p.ChargedCount()-before)
		}
		// A panic after the charge is unknown as well; before anything, it is a failure.
		charge("panic", `{"amount": 7, "outcome": "panic"}`).Refused(t, 503, "OUTCOME_UNKNOWN")
		charge("panic", `{"amount": 9}`).Refused(t, 422, "IDEMPOTENCY_KEY_REUSED")
		charge("broken", `{"amount": 7, "outcome": "broken"}`).Refused(t, 500, "INTERNAL_ERROR")
		charge("broken", `{"amount": 7}`).OK(t, 201)
	})
}

func TestFlowsInFlight(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		p := &probe.Provider{Hold: make(chan struct{}), Began: make(chan struct{}, 10)}
		a := apptest.Start(t, e, probe.NewExtra(p))
		var wg sync.WaitGroup
		var first apptest.Result
		wg.Go(func() { first = keyed(t, a, "k", "/v1/probe-charges", `{"amount": 5}`) })
		<-p.Began
		keyed(t, a, "k", "/v1/probe-charges", `{"amount": 5}`).Refused(t, 409, "IDEMPOTENCY_KEY_IN_FLIGHT")
		keyed(t, a, "k", "/v1/probe-charges", `{"amount": 6}`).Refused(t, 422, "IDEMPOTENCY_KEY_REUSED")

		// Its process dies: the lease runs out, and a retry takes the attempt over. When the first comes
		// back after all, it is behind the fence and changes nothing.
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "UPDATE idempotency SET lease_until = 1 WHERE key = 'k'")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var second apptest.Result
		wg.Go(func() { second = keyed(t, a, "k", "/v1/probe-charges", `{"amount": 5}`) })
		<-p.Began
		close(p.Hold)
		wg.Wait()
		first.Refused(t, 409, "IDEMPOTENCY_KEY_IN_FLIGHT")
		second.OK(t, 201)
		if p.ChargedCount() != 1 || count(t, a, "probe_charges") != 1 {
			t.Errorf("charged %d, recorded %d", p.ChargedCount(), count(t, a, "probe_charges"))
		}
		replayed(t, keyed(t, a, "k", "/v1/probe-charges", `{"amount": 5}`), second)
	})
}

// 64 identical requests at once: one effect, the others are replays or told to wait.
func TestManyWithOneKey(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		p := &probe.Provider{}
		a := apptest.Start(t, e, probe.NewExtra(p))
		for path, table := range map[string]string{"/v1/probe-boxes": "probe_boxes",
			"/v1/probe-charges": "probe_charges"} {
			rounds := 5
			for round := range rounds {
				body := fmt.Sprintf(`{"name": "n%d"}`, round)
				if table == "probe_charges" {
					body = fmt.Sprintf(`{"amount": %d, "outcome": "slow"}`, round+1)
				}
				results := make([]apptest.Result, 64)
				var wg sync.WaitGroup
				for i := range results {
					wg.Go(func() { results[i] = keyed(t, a, fmt.Sprint(table, round), path, body) })
				}
				wg.Wait()
				made, replays, waiting := 0, 0, 0
				answer := ""
				for _, r := range results {
					switch {
					case r.Status == 201 && r.Header.Get("Idempotency-Replay") == "":
						made++
					case r.Status == 201:
						replays++
					case r.Status == 409 && strings.Contains(string(r.Body), "IDEMPOTENCY_KEY_IN_FLIGHT"):
						waiting++
						continue
					default:
						t.Errorf("%d %s", r.Status, r.Body)
						continue
					}
					if answer != "" && answer != string(r.Body) {
						t.Errorf("two answers: %s %s", answer, r.Body)
					}
					answer = string(r.Body)
				}
				if made != 1 || made+replays+waiting != 64 || count(t, a, table) != round+1 {
					t.Errorf("%s: made %d, replays %d, waiting %d, rows %d", path, made, replays, waiting,
						count(t, a, table))
				}
			}
		}
		if p.ChargedCount() != 5 {
			t.Errorf("charged %d times", p.ChargedCount())
		}
	})
}
