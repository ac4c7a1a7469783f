package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/listen/listentest"
)

// told is an endpoint that notes who it was told of, and how often.
type told struct {
	*httptest.Server
	mu    sync.Mutex
	times map[string]int      // by the contact's last name
	ids   map[string]struct{} // by webhook-id
}

func newTold(t *testing.T) *told {
	t.Helper()
	e := &told{times: map[string]int{}, ids: map[string]struct{}{}}
	e.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var event struct {
			Data struct{ LastName string }
		}
		if err != nil || json.Unmarshal(body, &event) != nil {
			return // killed in the middle of a request
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.times[event.Data.LastName]++
		e.ids[r.Header.Get("Webhook-Id")] = struct{}{}
	}))
	t.Cleanup(e.Close)
	return e
}

// heard is how many different events arrived.
func (e *told) heard() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.ids)
}

// counts is how often each contact was told of.
func (e *told) counts() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.times)
}

func (e *told) missing(names []string) (out []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range names {
		if e.times[n] == 0 {
			out = append(out, n)
		}
	}
	return out
}

// hearing makes a database with a tenant and two webhooks, and returns the
// settings to serve it.
func hearing(t *testing.T, e db.Engine, urls ...string) (*server, apptest.Tenant) {
	t.Helper()
	s := apptest.Settings(t, e)
	var v apptest.Tenant
	t.Run("prepare", func(t *testing.T) {
		a := apptest.StartWith(t, s)
		v = a.Tenant
		for _, url := range urls {
			a.SendREST(t, a.Key, "POST", "/v1/webhooks",
				fmt.Sprintf(`{"url": %q, "events": ["contact.created"]}`, url)).OK(t, 201)
		}
	})
	s.Listen, s.MCPListen = listentest.FreeAddress(t), ""
	return &server{t: t, settings: s, url: "http://" + s.Listen}, v
}

// write posts contacts to the servers in turn until stop, and returns the
// names of those that were acknowledged. It counts them meanwhile.
func write(t *testing.T, v apptest.Tenant, n *atomic.Int64, stop <-chan struct{}, urls ...string) []string {
	t.Helper()
	var mu sync.Mutex
	var acked []string
	client := &http.Client{Timeout: 5 * time.Second}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				name := fmt.Sprintf("w%d-%d", w, i)
				url := urls[i%len(urls)] + "/v1/contacts"
				req, _ := http.NewRequest(http.MethodPost, url, //nolint:noctx // the client has a time-out
					strings.NewReader(`{"lastName": "`+name+`"}`))
				req.Header.Set("Authorization", "Bearer "+v.Key)
				req.Header.Set("Content-Type", "application/json")
				res, err := client.Do(req)
				if err != nil {
					time.Sleep(10 * time.Millisecond)
					continue
				}
				drain(res)
				if res.StatusCode == http.StatusCreated {
					mu.Lock()
					acked = append(acked, name)
					mu.Unlock()
					n.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return acked
}

// Killed while it sends, the service tells every endpoint of every event that
// was committed, once it runs again.
func TestWebhooksAfterSIGKILL(t *testing.T) {
	if testing.Short() {
		t.Skip("crashes are not for the race detector")
	}
	kills := 2
	if text := os.Getenv("FRONTDESK_TEST_CRASHES"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dbtest.EachEngineParallel(t, func(t *testing.T, engine db.Engine) {
		one, two := newTold(t), newTold(t)
		s, v := hearing(t, engine, one.URL, two.URL)
		s.start()
		stop, done := make(chan struct{}), make(chan []string)
		var written atomic.Int64
		go func() { done <- write(t, v, &written, stop, s.url) }()
		for range kills {
			grows(t, "contacts", 20, written.Load)
			s.kill()
			expire(t, s)
			s.start()
		}
		grows(t, "contacts", 20, written.Load)
		close(stop)
		acked := <-done
		for deadline := time.Now().Add(3 * time.Minute); len(one.missing(acked))+
			len(two.missing(acked)) > 0; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("of %d, never told of %v and %v", len(acked), one.missing(acked), two.missing(acked))
			}
		}
		again := 0
		for _, n := range one.counts() {
			again += n - 1
		}
		if again > kills {
			t.Errorf("%d were sent again after %d kills", again, kills)
		}
		t.Logf("%d kills, %d events for two endpoints, %d sent again to the first", kills, len(acked), again)
		if len(acked) < 20 {
			t.Errorf("only %d were acknowledged", len(acked))
		}
	})
}

// expire ends the leases of a server that was killed, which on PostgreSQL
// would take half a minute.
func expire(t *testing.T, s *server) {
	t.Helper()
	if s.settings.DatabaseURL == "" {
		return
	}
	a, err := app.Open(t.Context(), s.settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	err = a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, "UPDATE jobs SET leased_until = 0 WHERE state = 'running'")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Two servers over one PostgreSQL send each event once, and miss none.
func TestWebhooksOfTwoServers(t *testing.T) {
	dbtest.EachEngineParallel(t, func(t *testing.T, engine db.Engine) {
		if engine != db.Postgres {
			t.Skip("one process owns a SQLite file")
		}
		e := newTold(t)
		s, v := hearing(t, engine, e.URL)
		other := &server{t: t, settings: s.settings}
		other.settings.Listen = listentest.FreeAddress(t)
		other.url = "http://" + other.settings.Listen
		s.start()
		other.start()
		stop, done := make(chan struct{}), make(chan []string)
		var written atomic.Int64
		go func() { done <- write(t, v, &written, stop, s.url, other.url) }()
		time.Sleep(3 * time.Second)
		close(stop)
		acked := <-done
		for deadline := time.Now().Add(3 * time.Minute); len(e.missing(acked)) > 0; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("of %d, never told of %v", len(acked), e.missing(acked))
			}
		}
		for name, n := range e.counts() {
			if n != 1 {
				t.Errorf("told of %s %d times", name, n)
			}
		}
		t.Logf("%d events of two servers, each told once", len(acked))
	})
}

// Deliveries end after their retention, by themselves, and their attempts with
// them.
func TestDeliveriesExpire(t *testing.T) {
	dbtest.EachEngineParallel(t, func(t *testing.T, engine db.Engine) {
		s := apptest.Settings(t, engine)
		s.Retention.Deliveries = 30 * 24 * time.Hour
		a := apptest.StartWith(t, s)
		hook := a.SendREST(t, a.Key, "POST", "/v1/webhooks",
			`{"url": "https://example.com/", "events": ["webhook.disabled"]}`).OK(t, 201).ID("id")
		old, young := fixtures{"/v1/webhooks": hook}, fixtures{"/v1/webhooks": hook}
		deliver(t, a, a.Tenant, old)
		deliver(t, a, a.Tenant, young)
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			if _, err := db.Exec(ctx, tx, "UPDATE webhook_deliveries SET created_at = $1 WHERE id = $2",
				a.Clock.Now().Add(-31*24*time.Hour), old["/v1/webhooks/{id}/deliveries"]); err != nil {
				return err
			}
			for _, d := range []fixtures{old, young} {
				if _, err := db.Exec(ctx, tx, `
					INSERT INTO webhook_attempts (organization_id, delivery_id, attempted_at)
					VALUES ($1, $2, 0)`, a.Org, d["/v1/webhooks/{id}/deliveries"]); err != nil {
					return err
				}
			}
			_, err := a.Jobs.Enqueue(ctx, tx, "webhook_deliveries.expire", struct{}{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer a.Jobs.Stop(context.Background()) //nolint:errcheck // the test is over
		get := func(d id.ID) int {
			return a.SendREST(t, a.Key, "GET", "/v1/webhooks/"+string(hook)+"/deliveries/"+string(d), "").Status
		}
		deadline := time.Now().Add(time.Minute)
		for ; get(old["/v1/webhooks/{id}/deliveries"]) != 404; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the old delivery is still there")
			}
		}
		if status := get(young["/v1/webhooks/{id}/deliveries"]); status != 200 {
			t.Errorf("the young delivery: %d", status)
		}
		if n := figures(t, a.App, a.Tenant,
			"SELECT count(*) FROM webhook_attempts WHERE organization_id = $1")[0]; n != 1 {
			t.Errorf("%d attempts are left", n)
		}
	})
}
