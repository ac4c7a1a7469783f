package app_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/listen/listentest"
)

// childEnv makes the test binary a server of its own, to be killed.
const childEnv = "FRONTDESK_TEST_SERVE"

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		if err := serveChild(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func serveChild(text string) error {
	var s config.Settings
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	a, err := app.Open(ctx, s, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		pausing(), stuck())
	if err != nil {
		return err
	}
	if err := getStuck(ctx, a); err != nil {
		return err
	}
	return errors.Join(a.Serve(ctx, nil), a.Close())
}

// server is the service in a process of its own.
type server struct {
	t        *testing.T
	settings config.Settings
	cmd      *exec.Cmd
	url      string
	wrap     []string // a command to run it under
	env      []string
	stderr   io.Writer // nil for the test's own
}

// start runs the process and returns how long it took to be ready.
func (s *server) start() time.Duration {
	s.t.Helper()
	text, err := json.Marshal(s.settings)
	if err != nil {
		s.t.Fatal(err)
	}
	args := append(append([]string(nil), s.wrap...), os.Args[0])
	s.cmd = exec.Command(args[0], args[1:]...) //nolint:noctx // it is killed by hand
	s.cmd.Env = append(append(os.Environ(), childEnv+"="+string(text)), s.env...)
	if s.cmd.Stderr = os.Stderr; s.stderr != nil {
		s.cmd.Stderr = s.stderr
	}
	// The whole group is killed, so that nothing is left under a wrapper.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.kill)
	for time.Since(began) < time.Minute {
		res, err := http.Get("http://" + s.settings.Listen + "/readyz") //nolint:noctx // bounded by the loop
		if err == nil {
			drain(res)
			if res.StatusCode == http.StatusOK {
				return time.Since(began)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	s.t.Fatal("not ready after a minute")
	return 0
}

// drain reads an answer to its end, so that the connection is used again.
func drain(res *http.Response) {
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body) //nolint:errcheck // only the status counts
}

func (s *server) kill() {
	if s.cmd != nil && s.cmd.Process != nil {
		syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may be gone
		s.cmd.Wait()                                      //nolint:errcheck // it was killed
		s.cmd = nil
	}
}

// prepare makes a database with a tenant and returns the settings to serve it.
func prepare(t *testing.T, e db.Engine) (*server, apptest.Tenant) {
	t.Helper()
	s := apptest.Settings(t, e)
	var v apptest.Tenant
	t.Run("prepare", func(t *testing.T) { v = apptest.StartWith(t, s).Tenant })
	s.Listen = listentest.FreeAddress(t)
	return &server{t: t, settings: s, url: "http://" + s.Listen}, v
}

// grows waits until a figure has grown by so much, so that what follows does not
// depend on how fast the machine is.
func grows(t *testing.T, what string, by int64, n func() int64) {
	t.Helper()
	from := n()
	for end := time.Now().Add(3 * time.Minute); n() < from+by; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: %d in three minutes, want %d", what, n()-from, by)
		}
	}
}

// crashes is how often the server is killed: 3 times in a normal run, 20 when
// FRONTDESK_TEST_CRASHES says so.
func crashes(t *testing.T) int {
	n := 3
	if s := os.Getenv("FRONTDESK_TEST_CRASHES"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// Killed under load, the service keeps every write that it acknowledged, does
// nothing twice under one key, and is ready again within 5 seconds.
func TestSIGKILL(t *testing.T) {
	if testing.Short() {
		t.Skip("crashes are not for the race detector")
	}
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		s, v := prepare(t, e)
		s.start()
		var acked sync.Map // name → id, of writes that were answered 2xx
		var next, answered, retried atomic.Int64
		stop := make(chan struct{})
		var wg sync.WaitGroup
		client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
		post := func(name string, keyed bool) (string, bool) {
			req, _ := http.NewRequest(http.MethodPost, s.url+"/v1/contacts", //nolint:noctx // the client has a time-out
				strings.NewReader(`{"lastName": "`+name+`"}`))
			req.Header.Set("Authorization", "Bearer "+v.Key)
			req.Header.Set("Content-Type", "application/json")
			if keyed {
				req.Header.Set("Idempotency-Key", name)
			}
			res, err := client.Do(req)
			if err != nil {
				return "", false
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != http.StatusCreated {
				return "", false
			}
			var out struct{ Data struct{ ID string } }
			if err := json.Unmarshal(body, &out); err != nil {
				t.Errorf("%s: %v", body, err)
			}
			return out.Data.ID, true
		}
		for range 16 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					n := next.Add(1)
					keyed := n%2 == 0
					name := fmt.Sprintf("n%06d-%t", n, keyed)
					for {
						if id, ok := post(name, keyed); ok {
							answered.Add(1)
							acked.Store(name, id)
							break
						}
						if !keyed {
							break // unknown: it may be there or not, but never in half
						}
						retried.Add(1)
						time.Sleep(20 * time.Millisecond)
					}
				}
			})
		}
		kills, slowest, fastest := crashes(t), time.Duration(0), time.Hour
		for range kills {
			grows(t, "writes", 30, answered.Load)
			time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
			s.kill()
			took := s.start()
			slowest, fastest = max(slowest, took), min(fastest, took)
		}
		grows(t, "writes", 30, answered.Load)
		close(stop)
		wg.Wait()
		s.kill()
		verify(t, s.settings, v, &acked)
		t.Logf("%d kills, %d writes acknowledged, %d retries under a key, ready again within %v to %v", kills,
			answered.Load(), retried.Load(), fastest.Round(time.Millisecond), slowest.Round(time.Millisecond))
		if fastest > 5*time.Second || slowest > 20*time.Second { // 5, and some for a moment of a busy machine
			t.Errorf("ready again after %v to %v", fastest, slowest)
		}
		if answered.Load() < 100 {
			t.Errorf("only %d writes were acknowledged", answered.Load())
		}
	})
}

// verify opens the database again and looks for every acknowledged write.
func verify(t *testing.T, s config.Settings, v apptest.Tenant, acked *sync.Map) {
	t.Helper()
	a, err := app.Open(t.Context(), s, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	type row struct {
		ID     string `db:"id"`
		Name   string `db:"last_name"`
		Events int    `db:"events"`
	}
	var rows []row
	err = a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		rows, err = db.QueryAll[row](ctx, tx, `
			SELECT c.id, c.last_name, coalesce(e.n, 0) FROM contacts c
				LEFT
			JOIN (SELECT resource_id,
				count(*) AS n FROM events WHERE organization_id = $1 GROUP BY resource_id) e ON e.resource_id = c.id
			WHERE c.organization_id = $1`, v.Org)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string][]row{}
	for _, r := range rows {
		byName[r.Name] = append(byName[r.Name], r)
		if r.Events != 1 {
			t.Errorf("%s has %d events", r.Name, r.Events)
		}
	}
	acked.Range(func(name, id any) bool {
		found := byName[name.(string)]
		if len(found) != 1 || found[0].ID != id {
			t.Errorf("%s was acknowledged as %s; found %v", name, id, found)
		}
		return true
	})
	for name, found := range byName {
		if len(found) > 1 {
			t.Errorf("%s is there %d times", name, len(found))
		}
	}
}

// On SQLite a 2xx leaves only after a sync that followed the request.
func TestSyncBeforeAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("not for the race detector")
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed; `make check` installs it")
	}
	s, v := prepare(t, db.SQLite)
	trace := filepath.Join(t.TempDir(), "trace")
	s.wrap = []string{strace, "-f", "-qq", "-s", "60", "-e", "trace=fsync,fdatasync,read,write", "-o", trace}
	s.start()
	const n = 20
	for i := range n {
		req, _ := http.NewRequest(http.MethodPost, s.url+"/v1/contacts", //nolint:noctx // bounded
			strings.NewReader(fmt.Sprintf(`{"lastName": "n%d"}`, i)))
		req.Header.Set("Authorization", "Bearer "+v.Key)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		drain(res)
		if res.StatusCode != http.StatusCreated {
			t.Fatal(res.Status)
		}
	}
	// A client has its answer before strace has written of it.
	var text []byte
	for end := time.Now().Add(time.Minute); bytes.Count(text, []byte(`"HTTP/1.1 201`)) < n && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		if text, err = os.ReadFile(trace); err != nil {
			t.Fatal(err)
		}
	}
	s.kill()
	// Between two requests net/http reads one byte ahead, so the P may be missing.
	request := regexp.MustCompile(`read(\(\d+, | resumed>)"P?OST /v1/contacts`)
	sync := regexp.MustCompile(`(fsync|fdatasync)(\(\d+\)| resumed>\)) *= 0`)
	answer := regexp.MustCompile(`write\(\d+, "HTTP/1.1 201`)
	waiting, synced, answers := false, false, 0
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		switch line := lines.Text(); {
		case request.MatchString(line):
			waiting, synced = true, false
		case sync.MatchString(line):
			synced = true
		case answer.MatchString(line):
			answers++
			if !waiting || !synced {
				t.Errorf("answer %d left without a sync after its request", answers)
			}
			waiting = false
		}
	}
	if answers != n {
		t.Errorf("the trace shows %d answers of %d", answers, n)
	}
	t.Logf("%d answers looked at", answers)
}

// unanswered is what a client hears of a request that was never taken.
var unanswered = regexp.MustCompile(`refused|EOF|reset|broken pipe|closed idle connection`)

// Told to stop, the server answers what it has begun and takes nothing new.
func TestGracefulStop(t *testing.T) {
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		s, v := prepare(t, e)
		s.start()
		var ok, refused atomic.Int64
		var wg sync.WaitGroup
		stop := make(chan struct{})
		for range 8 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					req, _ := http.NewRequest(http.MethodPost, s.url+"/v1/contacts", //nolint:noctx // bounded
						strings.NewReader(`{"lastName": "n"}`))
					req.Header.Set("Authorization", "Bearer "+v.Key)
					req.Header.Set("Content-Type", "application/json")
					res, err := http.DefaultClient.Do(req)
					if err != nil {
						refused.Add(1)
						if !unanswered.MatchString(err.Error()) {
							t.Errorf("%v", err)
						}
						time.Sleep(5 * time.Millisecond)
						continue
					}
					drain(res)
					if res.StatusCode == http.StatusCreated {
						ok.Add(1)
					} else {
						t.Errorf("status %d", res.StatusCode)
					}
				}
			})
		}
		grows(t, "answers", 20, ok.Load)
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
		s.cmd = nil
		close(stop)
		wg.Wait()
		a, err := app.Open(t.Context(), s.settings, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		err = a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			n, err := db.QueryOne[int64](ctx, tx, "SELECT count(*) FROM contacts WHERE organization_id = $1", v.Org)
			if n < ok.Load() {
				t.Errorf("%d rows for %d answers", n, ok.Load())
			}
			return err
		})
		if err != nil || ok.Load() == 0 {
			t.Fatalf("%v, %d answers", err, ok.Load())
		}
	})
}
