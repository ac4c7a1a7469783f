package app_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/listen/listentest"
)

// late makes commits to a PostgreSQL database take a random time after their
// last statement: numbers are given out in one order and seen in another.
func late(t *testing.T, a *app.App, tables map[string]time.Duration) {
	t.Helper()
	err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		if _, err := db.Exec(ctx, tx, `CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS
			'BEGIN PERFORM pg_sleep(random() * CAST(TG_ARGV[0] AS float8)); RETURN NULL; END'`); err != nil {
			return err
		}
		for table, most := range tables {
			if _, err := db.Exec(ctx, tx, fmt.Sprintf(`CREATE CONSTRAINT TRIGGER %s_late AFTER INSERT ON %s
				DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late('%g')`,
				table, table, most.Seconds())); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// heard notes the order in which an endpoint is told of what happened to whom.
type heard struct {
	*httptest.Server
	mu    sync.Mutex
	times map[string]int      // by webhook-id
	types map[string][]string // by contact
}

func newHeard(t *testing.T) *heard {
	t.Helper()
	h := &heard{times: map[string]int{}, types: map[string][]string{}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e struct {
			Type, ResourceID string
			Data             struct{ ContactID string }
		}
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			t.Error(err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.times[r.Header.Get("Webhook-Id")]++
		who := cmp.Or(e.Data.ContactID, e.ResourceID)
		h.types[who] = append(h.types[who], e.Type)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *heard) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.times)
}

// Two processes over one PostgreSQL whose commits come late and out of order:
// no event is skipped, none is told twice, what happened to one contact is told
// in its order, and every automation runs once for every event. There are 1,000
// of them, or more for a larger FRONTDESK_TEST_EVENTS.
func TestLateCommits(t *testing.T) {
	if testing.Short() {
		t.Skip("processes are not for the race detector")
	}
	contacts := 750
	if s := os.Getenv("FRONTDESK_TEST_EVENTS"); s != "" {
		var err error
		if contacts, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	events := contacts + contacts/3
	dbtest.EachEngineParallel(t, func(t *testing.T, engine db.Engine) {
		if engine != db.Postgres {
			t.Skip("one process owns a SQLite file, and commits in order")
		}
		first, v := prepare(t, engine)
		second := &server{t: t, settings: first.settings}
		second.settings.Listen = listentest.FreeAddress(t)
		second.url = "http://" + second.settings.Listen
		a, err := app.Open(t.Context(), first.settings, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		late(t, a, map[string]time.Duration{"events": 40 * time.Millisecond, "webhook_deliveries": 2 * time.Millisecond,
			"automation_executions": 5 * time.Millisecond})
		first.start()
		second.start()
		c := sender{t, v.Key}
		h := newHeard(t)
		if !c.post(first.url, "/v1/webhooks",
			fmt.Sprintf(`{"url": %q, "events": ["contact.created", "contact.phone_number.created"]}`,
				h.URL), "webhook") {
			t.Fatal("no webhook")
		}
		for i, condition := range []string{"event.data.lastName.startsWith('n')", "event.data.lastName.size() > 0"} {
			if !c.post(second.url, "/v1/automations",
				fmt.Sprintf(`{"name": "x", "trigger": {"kind": "event", "event": "contact.created"}, "condition": %q,
				"steps": [{"operation": "tasks.create", "input": {"title": "%d {{ event.data.lastName }}",
					"contactId": "{{ event.resourceId }}"}}]}`, condition, i), fmt.Sprint("automation", i)) {
				t.Fatal("no automation")
			}
		}
		began := time.Now()
		var next, failed atomic.Int64
		apptest.RunAtOnce(24, func(w int) {
			url := []string{first.url, second.url}[w%2]
			for n := next.Add(1); n <= int64(contacts); n = next.Add(1) {
				name := fmt.Sprintf("n%04d", n)
				who := c.made(url, "/v1/contacts", fmt.Sprintf(`{"lastName": %q}`, name), name)
				if who == "" || n%3 == 0 &&
					!c.post(url, "/v1/contacts/"+who+"/phone-numbers", `{"phoneNumber": "+14155550100"}`,
						name+"/phone") {
					failed.Add(1)
				}
			}
		})
		if failed.Load() > 0 {
			t.Fatalf("%d of %d contacts were not made", failed.Load(), contacts)
		}
		left := []string{
			"SELECT count(*) FROM jobs WHERE organization_id = $1 AND kind = 'event.fan_out'",
			"SELECT count(*) FROM automation_executions WHERE organization_id = $1 AND status IN ('queued', 'running')",
			"SELECT count(*) FROM webhook_deliveries WHERE organization_id = $1 AND status = 'pending'",
		}
		for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
			n := figures(t, a, v, left...)
			if n[0]+n[1]+n[2] == 0 && h.count() >= events {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%v fan-outs, executions and deliveries are left; %d were told", n, h.count())
			}
		}
		took := time.Since(began)
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.times) != events || len(h.types) != contacts {
			t.Errorf("told of %d events about %d contacts, want %d about %d", len(h.times), len(h.types), events,
				contacts)
		}
		for who, types := range h.types {
			if types[0] != "contact.created" {
				t.Errorf("of %s it was told %v", who, types)
			}
		}
		for id, n := range h.times {
			if n != 1 {
				t.Errorf("told %d times of %s", n, id)
			}
		}
		names := []string{"executions that succeeded", "tasks", "pairs of event and automation"}
		for i, n := range figures(t, a, v, `
			SELECT count(*)
			FROM automation_executions
			WHERE organization_id = $1 AND status = 'succeeded'`,
			"SELECT count(DISTINCT title) FROM tasks WHERE organization_id = $1",
			`
				SELECT count(*)
				FROM (SELECT DISTINCT event_id,
					automation_id FROM automation_executions WHERE organization_id = $1) AS pairs`) {
			if n != 2*contacts {
				t.Errorf("%s: %d, want %d", names[i], n, 2*contacts)
			}
		}
		if n := figures(t, a, v, "SELECT count(*) FROM tasks WHERE organization_id = $1")[0]; n != 2*contacts {
			t.Errorf("%d tasks, want %d", n, 2*contacts)
		}
		t.Logf("%d events of two processes in %v, two automations and one endpoint", events,
			took.Round(time.Millisecond))
	})
}
