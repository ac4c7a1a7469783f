package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/listen/listentest"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// each runs fn on a service per engine whose jobs run.
func each(t *testing.T, fn func(t *testing.T, a *apptest.App)) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		a := apptest.Start(t, e)
		begin(t, a)
		fn(t, a)
	})
}

func begin(t testing.TB, a *apptest.App) {
	t.Helper()
	if err := a.Jobs.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Jobs.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// arrival is a request that reached an endpoint.
type arrival struct {
	at     time.Time
	header http.Header
	body   []byte
	id     string
	event  apptestEvent
}

type apptestEvent struct {
	Type       string
	Timestamp  string
	ID         string
	ResourceID string
	Data       map[string]any
}

// endpoint is a receiver on this machine. A nil answer means 204.
type endpoint struct {
	t      testing.TB
	server *httptest.Server
	answer func(w http.ResponseWriter, r *http.Request)

	mu       sync.Mutex
	arrivals []arrival
}

func newEndpoint(t testing.TB, answer http.HandlerFunc) *endpoint {
	t.Helper()
	e := &endpoint{t: t, answer: answer}
	e.server = httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(e.server.Close)
	return e
}

func (e *endpoint) serve(w http.ResponseWriter, r *http.Request) {
	a := arrival{at: time.Now(), header: r.Header, id: r.Header.Get("Webhook-Id")}
	a.body, _ = io.ReadAll(r.Body)
	if err := json.Unmarshal(a.body, &a.event); err != nil {
		e.t.Errorf("%s: %v", a.body, err)
	}
	e.mu.Lock()
	e.arrivals = append(e.arrivals, a)
	e.mu.Unlock()
	if e.answer == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	e.answer(w, r)
}

func (e *endpoint) all() []arrival {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]arrival(nil), e.arrivals...)
}

// of is the event that a request told of.
func (e *endpoint) of(r *http.Request) apptestEvent {
	for _, a := range e.all() {
		if a.id == r.Header.Get("Webhook-Id") {
			return a.event
		}
	}
	return apptestEvent{}
}

// wait returns the arrivals once there are n of them.
func (e *endpoint) wait(n int) []arrival {
	e.t.Helper()
	until(e.t, 2*time.Minute, func() bool { return len(e.all()) >= n },
		func() string { return fmt.Sprintf("%d of %d arrived", len(e.all()), n) })
	return e.all()
}

func until(t testing.TB, patience time.Duration, done func() bool, say func() string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(say())
		}
	}
}

// verify checks the signature as a receiver would, with the library.
func (a *arrival) verify(t testing.TB, secret string) error {
	t.Helper()
	wh, err := standard.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return wh.Verify(a.body, a.header)
}

// subscribe creates a webhook and returns its id and secret.
func subscribe(t testing.TB, call apptest.Door, url string, events ...string) (id, secret string) {
	t.Helper()
	list, _ := json.Marshal(events)
	v := call(t, "webhooks.create", fmt.Sprintf(`{"url": %q, "events": %s}`, url, list)).OK(t, 201)
	return v.Text("id"), v.Text("secret")
}

// settled waits until all of a webhook's deliveries have this status.
func settled(t testing.TB, call apptest.Door, webhook, status string, n int) apptest.Value {
	t.Helper()
	var v apptest.Value
	until(t, 2*time.Minute, func() bool {
		v = call(t, "webhooks.deliveries.list",
			fmt.Sprintf(`{"id": %q, "status": %q, "limit": 100}`, webhook, status)).OK(t, 200)
		return v.Len() == n
	}, func() string { return fmt.Sprintf("%d deliveries are %s, want %d: %s", v.Len(), status, n, v) })
	return v
}

// blackhole accepts connections and never answers.
func blackhole(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return "http://" + l.Addr().String()
}

// refusing is an address that nobody listens on.
func refusing(t testing.TB) string {
	t.Helper()
	return "http://" + listentest.FreeAddress(t)
}
