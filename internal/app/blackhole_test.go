package app_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/listen/listentest"
)

// hole is a network to PostgreSQL that can stop carrying anything, and says
// nothing about it.
type hole struct {
	mu     sync.Mutex
	closed chan struct{} // while it swallows, a channel to wait for
}

func (h *hole) swallow() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = make(chan struct{})
}

func (h *hole) carry() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.closed)
	h.closed = nil
}

// pass waits while the network swallows.
func (h *hole) pass() {
	h.mu.Lock()
	wait := h.closed
	h.mu.Unlock()
	if wait != nil {
		<-wait
	}
}

// through listens in front of PostgreSQL and returns its URL by that way.
func (h *hole) through(t *testing.T, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	to := u.Host
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				h.pass()
				server, err := net.Dial("tcp", to) //nolint:noctx // on this machine
				if err != nil {
					t.Error(errors.Join(err, from.Close()))
					return
				}
				go h.copy(server, from)
				h.copy(from, server)
			}()
		}
	}()
	u.Host = l.Addr().String()
	return u.String()
}

func (h *hole) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		h.pass()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// While the network to the database swallows everything, requests are refused in
// seconds and none of them is done; afterwards the service is as before.
func TestBlackHole(t *testing.T) {
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		if e == db.Postgres { // SQLite needs no network
			blackHole(t)
		}
	})
}

func blackHole(t *testing.T) {
	var h hole
	s := apptest.Settings(t, db.Postgres)
	s.DatabaseURL = h.through(t, s.DatabaseURL)
	s.Database.Wait = time.Second
	a := apptest.StartWith(t, s)
	create := func() (int, time.Duration) {
		began := time.Now()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL+"/v1/contacts",
			strings.NewReader(`{"lastName": "n"}`))
		if err != nil {
			t.Error(err)
			return 0, 0
		}
		req.Header.Set("Authorization", "Bearer "+a.Key)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return 0, 0
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") == "" {
			t.Error("a 503 without Retry-After")
		}
		if err != nil || res.StatusCode >= 500 && res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("status %d, %v: %s", res.StatusCode, err, body)
		}
		return res.StatusCode, time.Since(began)
	}
	if status, _ := create(); status != http.StatusCreated {
		t.Fatalf("before: %d", status)
	}
	h.swallow()
	var wg sync.WaitGroup
	var longest time.Duration
	var mu sync.Mutex
	for range 40 {
		wg.Go(func() {
			status, took := create()
			if status != http.StatusServiceUnavailable {
				t.Errorf("in the hole: %d", status)
			}
			mu.Lock()
			longest = max(longest, took)
			mu.Unlock()
		})
	}
	wg.Wait()
	if longest > 45*time.Second { // 15, and some for a busy machine; without an end it would be minutes
		t.Errorf("a request waited %s", longest)
	}
	t.Logf("the longest of 40 requests waited %s", longest)
	h.carry()
	recovered := time.Now()
	for {
		if status, _ := create(); status == http.StatusCreated {
			break
		}
		if time.Since(recovered) > time.Minute {
			t.Fatal("it does not recover")
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("recovered after %s", time.Since(recovered))
}

// When a process dies in the middle of a delivery, another one continues within
// seconds.
func TestTakeover(t *testing.T) {
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		if e == db.Postgres { // one process owns a SQLite file
			takeover(t)
		}
	})
}

func takeover(t *testing.T) {
	var calls atomic.Int64
	first, second := make(chan struct{}), make(chan struct{})
	leave := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		switch calls.Add(1) {
		case 1:
			close(first)
			select {
			case <-leave:
			case <-r.Context().Done():
			}
		case 2:
			close(second)
		}
	}))
	t.Cleanup(receiver.Close)
	t.Cleanup(func() { close(leave) })
	s, v := hearing(t, db.Postgres, receiver.URL)
	other := &server{t: t, settings: s.settings}
	other.settings.Listen = listentest.FreeAddress(t)
	other.url = "http://" + other.settings.Listen
	s.start()
	if err := createContact(s.url, v.Key); err != nil {
		t.Fatal(err)
	}
	<-first
	other.start()
	s.kill()
	died := time.Now()
	select {
	case <-second:
		t.Logf("the other process continued after %s", time.Since(died))
	case <-time.After(90 * time.Second): // 20, and some for a busy machine
		t.Error("the other process did not continue")
	}
}
