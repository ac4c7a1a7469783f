package outbound_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/outbound"
)

func TestPrivateAddresses(t *testing.T) {
	c := outbound.New(outbound.Options{Timeout: time.Minute, MaxBytes: 100, MaxConcurrent: 2})
	for _, host := range []string{"127.0.0.1", "127.1.2.3", "localhost", "[::1]", "10.0.0.1", "172.16.0.1",
		"192.168.1.1",
		"169.254.169.254", "100.64.0.1", "0.0.0.0",
		"[::ffff:10.0.0.1]", "[::ffff:127.0.0.1]", "[fe80::1]", "[fc00::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
		"224.0.0.1", "255.255.255.255"} {
		_, err := c.Get(t.Context(), "https://"+host+"/x")
		if err == nil || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "prohibited") {
			t.Errorf("%s: %v", host, err)
		}
	}
	if _, err := c.Get(t.Context(), "http://example.com/"); !errors.Is(err, outbound.ErrScheme) {
		t.Errorf("plain http: %v", err)
	}
	if _, err := c.Get(t.Context(), "file:///etc/passwd"); !errors.Is(err, outbound.ErrScheme) {
		t.Errorf("a file: %v", err)
	}
}

func TestBounds(t *testing.T) {
	began, hold := make(chan struct{}, 2), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/large":
			w.Write([]byte(strings.Repeat("x", 101))) //nolint:errcheck // the client leaves
		case "/slow":
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			began <- struct{}{}
			<-hold
		default:
			w.Write([]byte("fine")) //nolint:errcheck // the client leaves
		}
	}))
	defer s.Close()
	defer close(hold)
	c := outbound.New(outbound.Options{Timeout: time.Minute, MaxBytes: 100, MaxConcurrent: 1, AllowInsecure: true})
	if a, err := c.Get(t.Context(), s.URL); err != nil || string(a.Body) != "fine" || a.Status != 200 {
		t.Errorf("plain: %v %v", a, err)
	}
	if a, err := c.Get(t.Context(), s.URL+"/away"); err != nil || a.Status != 302 {
		t.Errorf("a redirect is not followed: %v %v", a, err)
	}
	if _, err := c.Get(t.Context(), s.URL+"/large"); !errors.Is(err, outbound.ErrTooLarge) {
		t.Errorf("large: %v", err)
	}
	done := make(chan error)
	leave, cancel := context.WithCancel(t.Context())
	go func() { _, err := c.Get(leave, s.URL+"/slow"); done <- err }()
	<-began
	if _, err := c.Get(t.Context(), s.URL); !errors.Is(err, outbound.ErrBusy) {
		t.Errorf("one too many: %v", err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("left: %v", err)
	}
	c = outbound.New(outbound.Options{Timeout: time.Second, MaxBytes: 100, AllowInsecure: true})
	if _, err := c.Get(t.Context(), s.URL+"/slow"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("slow: %v", err)
	}
}

// A client that cuts has the beginning of whatever comes, and its status.
func TestCut(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		w.Write([]byte(strings.Repeat("x", 1<<20))) //nolint:errcheck // the client leaves
	}))
	defer s.Close()
	c := outbound.New(outbound.Options{Timeout: time.Minute, MaxBytes: 100, TruncateBody: true, AllowInsecure: true})
	if a, err := c.Get(t.Context(), s.URL); err != nil || a.Status != 202 || len(a.Body) != 100 {
		t.Errorf("%v %v", a, err)
	}
}

// An address is judged by its look where it can be.
func TestReaches(t *testing.T) {
	public := outbound.New(outbound.Options{Timeout: time.Second})
	here := outbound.New(outbound.Options{Timeout: time.Second, AllowInsecure: true})
	for host, want := range map[string][2]bool{"example.com": {true, true}, "localhost": {true, true},
		"93.184.216.34": {true, true}, "2606:4700::1": {true, true},
		"127.0.0.1": {false, true}, "::1": {false, true}, "10.0.0.1": {false, false}, "169.254.169.254": {false, false},
		"fd00::1": {false, false}, "::ffff:10.0.0.1": {false, false}} {
		if got := [2]bool{public.CheckHost(host) == nil, here.CheckHost(host) == nil}; got != want {
			t.Errorf("%s: %v, want %v", host, got, want)
		}
	}
}

func TestNotInsideATransaction(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	c := outbound.New(outbound.Options{Timeout: time.Second, MaxBytes: 1, AllowInsecure: true})
	err := d.Read(t.Context(), func(ctx context.Context, _ *db.Tx) error {
		_, err := c.Get(ctx, "http://127.0.0.1:1/")
		return err
	})
	var p *db.PanicError
	if !errors.As(err, &p) {
		t.Errorf("it called: %v", err)
	}
}

// A session keeps its connection, and gets a new one in the place of one that
// the other side closed. Without a session there is none to keep.
func TestSession(t *testing.T) {
	var dials atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			dials.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	c := outbound.New(outbound.Options{Timeout: time.Minute, MaxBytes: 100, MaxConcurrent: 2, AllowInsecure: true})
	post := func(c *outbound.Client, want int64) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header["Idempotency-Key"] = []string{}
		if a, err := c.Do(req); err != nil || a.Status != 200 {
			t.Fatalf("%v: %v", a, err)
		}
		if n := dials.Load(); n != want {
			t.Errorf("%d connections, want %d", n, want)
		}
	}
	post(c, 1)
	post(c, 2)
	kept, end := c.Session()
	post(kept, 3)
	post(kept, 3)
	s.CloseClientConnections()
	post(kept, 4)
	post(kept, 4)
	end()
	post(kept, 5)
}
