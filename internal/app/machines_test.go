package app_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/listen/listentest"
)

// machines are several processes over one PostgreSQL.
func machines(t *testing.T, n int, change func(*server)) ([]*server, apptest.Tenant) {
	t.Helper()
	first, v := prepare(t, db.Postgres)
	var all []*server
	for i := range n {
		s := *first
		if i > 0 {
			s.settings.Listen = listentest.FreeAddress(t)
			s.url = "http://" + s.settings.Listen
		}
		change(&s)
		all = append(all, &s)
	}
	return all, v
}

// balancer sends requests to the processes that say they are ready, each to the
// next, and never repeats one.
type balancer struct {
	*httptest.Server
	targets []*url.URL
	ready   []atomic.Bool
	next    atomic.Int64
}

func newBalancer(t *testing.T, servers []*server) *balancer {
	t.Helper()
	b := &balancer{ready: make([]atomic.Bool, len(servers))}
	ctx, cancel := context.WithCancel(context.Background())
	var checks sync.WaitGroup
	for i, s := range servers {
		u, err := url.Parse(s.url)
		if err != nil {
			t.Fatal(err)
		}
		b.targets = append(b.targets, u)
		checks.Go(func() {
			for ctx.Err() == nil {
				if ready, answered := isReady(ctx, s.url); answered {
					b.ready[i].Store(ready)
				}
				time.Sleep(50 * time.Millisecond)
			}
		})
	}
	b.Server = httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		turn := int(b.next.Add(1))
		for n := range b.targets {
			if i := (turn + n) % len(b.targets); b.ready[i].Load() {
				r.SetURL(b.targets[i])
				return
			}
		}
		r.Out.URL.Host = "" // nobody is ready
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}})
	t.Cleanup(func() { b.Close(); cancel(); checks.Wait() })
	return b
}

// wait returns when the balancer sees a process as ready, or as gone.
func (b *balancer) wait(t *testing.T, i int, ready bool) {
	t.Helper()
	for range 6000 {
		if b.ready[i].Load() == ready {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("process %d: a minute later the balancer still does not see ready = %v", i, ready)
}

// isReady asks a process. One that gives no answer in time is only busy; one that
// refuses the connection is gone.
func isReady(ctx context.Context, url string) (ready, answered bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return false, true
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, !errors.Is(err, context.DeadlineExceeded)
	}
	drain(res)
	return res.StatusCode == http.StatusOK, true
}

// Each process is stopped and started again under load behind a balancer that
// retries nothing. No request fails.
func TestRollingRestart(t *testing.T) {
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		if e == db.Postgres { // one process owns a SQLite file
			rollingRestart(t)
		}
	})
}

func rollingRestart(t *testing.T) {
	servers, v := machines(t, 2, func(s *server) { s.settings.Drain = 12 * time.Second })
	for _, s := range servers {
		s.start()
	}
	front := newBalancer(t, servers)
	for i := range servers {
		front.wait(t, i, true)
	}
	var done atomic.Int64
	stop := make(chan struct{})
	var load sync.WaitGroup
	for range 6 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := createContact(front.URL, v.Key); err != nil {
					t.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	for i, s := range servers {
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		front.wait(t, i, false)
		if res, err := http.Get(s.url + "/healthz"); err != nil { //nolint:noctx // it stops within seconds
			t.Errorf("a process that is leaving does not answer: %v", err)
		} else if drain(res); !res.Close {
			t.Error("a process that is leaving keeps connections open")
		}
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
		s.cmd = nil
		s.start()
		front.wait(t, i, true)
	}
	close(stop)
	load.Wait()
	if done.Load() == 0 {
		t.Error("no request was answered")
	}
	t.Logf("%d requests during two restarts", done.Load())
}

func createContact(base, key string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/contacts",
		strings.NewReader(`{"lastName": "n"}`))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusCreated {
		return fmt.Errorf("status %d: %s", res.StatusCode, body)
	}
	return err
}

// A process whose settings do not fit those of the others says what differs and
// does not start. One that fits does, and so does any once the others are gone.
func TestNeighboursMustFit(t *testing.T) {
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		if e == db.Postgres { // one process owns a SQLite file
			neighboursMustFit(t)
		}
	})
}

func neighboursMustFit(t *testing.T) {
	servers, _ := machines(t, 2, func(*server) {})
	servers[0].start()
	for what, change := range map[string]func(*config.Settings){
		"--base-url": func(s *config.Settings) { s.BaseURL = "https://other.example" },
		"--mcp-url":  func(s *config.Settings) { s.MCPURL = "https://agents.example" },
		"--files-s3-bucket": func(s *config.Settings) {
			key := s.SealingKeyPath()
			s.Data = t.TempDir()
			copyFile(t, key, s.SealingKeyPath())
		},
	} {
		s := servers[1].settings
		change(&s)
		a, err := app.Open(t.Context(), s, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err = a.Serve(ctx, func(string) { cancel() })
		cancel()
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("a different %s: %v", what, err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	servers[1].start()
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Processes whose machines disagree about the time by a minute agree all the same:
// updatedAt never goes backwards, and events are in order.
func TestClockSkew(t *testing.T) {
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		if e == db.Postgres { // one process owns a SQLite file
			clockSkew(t)
		}
	})
}

func clockSkew(t *testing.T) {
	s := apptest.Settings(t, db.Postgres)
	var all []*apptest.App
	for _, skew := range []time.Duration{0, -time.Minute, time.Minute} {
		machine := func() time.Time { return time.Now().Add(skew) }
		all = append(all, apptest.StartWith(t, s, app.Extra{Clock: clock.NewFromSource(machine, 0)}))
	}
	key := all[0].Key
	path := "/v1/contacts/" + all[0].SendREST(t, key, "POST", "/v1/contacts", `{"firstName": "Ada"}`).OK(t,
		201).Text("id")
	last := ""
	var notes []string
	for i := range 30 {
		note := fmt.Sprint("change ", i)
		v := all[i%len(all)].SendREST(t, key, "PATCH", path, `{"notes": "`+note+`"}`).OK(t, 200)
		if at := v.Text("updatedAt"); at < last {
			t.Errorf("change %d is at %s, after %s", i, at, last)
		} else {
			last = at
		}
		notes = append(notes, note)
	}
	if at, err := clock.ParseTime(last); err != nil || time.Since(at.Std()).Abs() > 30*time.Second {
		t.Errorf("the time is %s: %v", last, err)
	}
	var seen []string
	events := all[1].SendREST(t, key, "GET", "/v1/events?type=contact.updated&limit=100", "").OK(t, 200)
	for i := range notes {
		seen = append(seen, events.Text(fmt.Sprintf("%d.data.notes", i)))
	}
	slices.Reverse(seen) // the newest came first
	if !slices.Equal(seen, notes) {
		t.Errorf("events came as %q", seen)
	}
}
