package app_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// stuckEnv makes the child's work spin without end: of a job, or of a request
// inside of its transaction, which on SQLite holds up every write.
const stuckEnv = "FRONTDESK_TEST_STUCK"

func spin() {
	os.Stderr.WriteString("spins\n") //nolint:errcheck // the test misses it
	for i := 0; ; i++ {              //nolint:revive // as a bad text would have it
		_ = i
	}
}

func stuck() app.Extra {
	if os.Getenv(stuckEnv) != "request" {
		return app.Extra{}
	}
	spec := op.Spec{
		Name:    "contacts.spin",
		Route:   "POST /v1/contacts/spin",
		Summary: "Never end.",
		Status:  204,
		Events:  []string{"contact.spun"},
		Example: `{}`,
	}
	return app.Extra{Operations: []*op.Op{op.Write(spec,
		func(context.Context, *op.Call, struct{}) (op.Nothing, error) { spin(); return op.Nothing{}, nil })}}
}

// getStuck declares the job that spins and enqueues it, and lets no stop wait
// long.
func getStuck(ctx context.Context, a *app.App) error {
	if os.Getenv(stuckEnv) != "" {
		app.Hurry(2 * time.Second)
	}
	if os.Getenv(stuckEnv) == "body" {
		context.AfterFunc(ctx, func() { os.Stderr.WriteString("stops\n") }) //nolint:errcheck // the test misses it
		return tick(ctx, a)
	}
	if os.Getenv(stuckEnv) != "job" {
		return nil
	}
	job.HandleFlow(a.Jobs, "test.spin",
		func(context.Context, job.Job, struct{}) (job.Outcome, error) { spin(); return nil, nil })
	return a.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := a.Jobs.Enqueue(ctx, tx, "test.spin", struct{}{})
		return err
	})
}

// tick has one job after the other say that it is run.
func tick(ctx context.Context, a *app.App) error {
	run := func(context.Context, job.Job, struct{}) (job.Outcome, error) {
		os.Stderr.WriteString("tick\n") //nolint:errcheck // the test misses it
		time.Sleep(100 * time.Millisecond)
		return nil, nil
	}
	job.HandleFlow(a.Jobs, "test.tick", run, job.InLane("ticks", 1))
	return a.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		for range 200 {
			if _, err := a.Jobs.Enqueue(ctx, tx, "test.tick", struct{}{}); err != nil {
				return err
			}
		}
		return nil
	})
}

// safeBuffer is what a process says.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// wait returns once the process has said something.
func (s *safeBuffer) wait(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(s.String(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never says %q: %s", text, s)
		}
	}
}

// Whatever spins, SIGTERM ends the process, which says what it left.
func TestAttackStop(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		for what, named := range map[string]string{"job": "job test.spin", "request": "POST /v1/contacts"} {
			t.Run(what, func(t *testing.T) {
				s, v := prepare(t, e)
				said := &safeBuffer{}
				s.env, s.stderr = []string{stuckEnv + "=" + what}, said
				t.Cleanup(func() {
					if t.Failed() {
						t.Log(said)
					}
				})
				s.start()
				if what == "request" {
					go func() {
						req, _ := http.NewRequest(http.MethodPost, s.url+"/v1/contacts/spin", //nolint:noctx // ends
							strings.NewReader("{}"))
						req.Header.Set("Authorization", "Bearer "+v.Key)
						req.Header.Set("Content-Type", "application/json")
						if res, err := http.DefaultClient.Do(req); err == nil {
							drain(res)
						}
					}()
				}
				said.wait(t, "spins")
				ended := make(chan struct{})
				cmd := s.cmd
				go func() { cmd.Wait(); close(ended) }() //nolint:errcheck // it says what was left
				if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
				select {
				case <-ended:
				case <-time.After(time.Minute):
					t.Fatal("it runs a minute after SIGTERM")
				}
				if !strings.Contains(said.String(), named) {
					t.Errorf("it does not say that %s was running", named)
				}
			})
		}
	})
}

// A request whose body never comes does not have jobs taken up, to be cut off,
// by a process that is stopping.
func TestAttackStopWhileRequestHangs(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s, v := prepare(t, e)
		said := &safeBuffer{}
		s.env, s.stderr = []string{stuckEnv + "=body"}, said
		s.start()
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /v1/contacts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n", v.Key)
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, " 100 ") {
			t.Fatalf("nobody waits for the body: %q, %v", line, err)
		}
		said.wait(t, "tick")
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		s.cmd.Wait() //nolint:errcheck // it says what was left
		// In the two seconds that the stop waits there would be twenty.
		_, after, ok := strings.Cut(said.String(), "stops\n")
		if n := strings.Count(after, "tick"); !ok || n > 7 {
			t.Errorf("%d jobs were taken up after the stop: %s", n, said)
		}
	})
}
