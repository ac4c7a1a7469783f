package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/resource/message/messagetest"
)

// mailCrashes is how often the server is killed while it sends: 2 times in a
// normal run, more when FRONTDESK_TEST_CRASHES says so.
func mailCrashes(t *testing.T) int {
	s := os.Getenv("FRONTDESK_TEST_CRASHES")
	if s == "" {
		return 2
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Killed between queueing and sending, again and again, the service sends every
// message that it acknowledged, and none again whose answer it had written down.
func TestMailSIGKILL(t *testing.T) {
	if testing.Short() {
		t.Skip("crashes are not for the race detector")
	}
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		relay := messagetest.NewRelay(t, nil)
		relay.Answer = func(step, _ string) error { // so that there is something to be killed in
			if step == "DATA" {
				time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond)
			}
			return nil
		}
		s, v := prepare(t, e)
		s.settings.Mail.Provider, s.settings.SMTP.Host, s.settings.SMTP.Port, s.settings.SMTP.TLS = "smtp", relay.Host,
			relay.Port, "none"
		s.start()
		var acked sync.Map
		var next, known atomic.Int64
		stop := make(chan struct{})
		var wg sync.WaitGroup
		client := &http.Client{Timeout: 5 * time.Second}
		for range 3 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(10 * time.Millisecond):
					}
					if id, ok := postMail(t, client, s.url, v.Key, next.Add(1)); ok {
						acked.Store(id, true)
						known.Add(1)
					}
				}
			})
		}
		type kill struct {
			at       time.Time
			answered []string // whose answer was written down before
		}
		var kills []kill
		for range mailCrashes(t) {
			grows(t, "messages", 10, known.Load)
			time.Sleep(time.Duration(rand.IntN(700)) * time.Millisecond)
			s.kill()
			expireLeases(t, s)
			kills = append(kills, kill{time.Now(),
				rowsOf(t, s, "SELECT message_id FROM message_recipients WHERE status = 'sent'")})
			s.start()
		}
		grows(t, "messages", 5, known.Load)
		close(stop)
		wg.Wait()
		for end := time.Now().Add(3 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
			res, err := http.DefaultClient.Do(get(t, s.url+"/v1/messages?status=queued,sending", v.Key))
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(res.Body)
			drain(res)
			if strings.HasPrefix(string(text), `{"data":[]`) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("still queued: %s", text)
			}
		}
		s.kill()
		arrived := map[string][]time.Time{}
		for _, g := range relay.Accepted() {
			name, _, _ := strings.Cut(g.ID(t), ".") // the message's id
			arrived[name] = append(arrived[name], g.At)
		}
		total, twice := 0, 0
		acked.Range(func(id, _ any) bool {
			total++
			if len(arrived[id.(string)]) == 0 {
				t.Errorf("%s was acknowledged and never left", id)
			}
			return true
		})
		for name, times := range arrived {
			if len(times) > 1 {
				twice++
				t.Logf("%s left %d times: the answer was on its way when the process died", name, len(times))
			}
		}
		for _, k := range kills {
			for _, name := range k.answered {
				for _, at := range arrived[name] {
					if at.After(k.at) {
						t.Errorf("%s left again although its answer was written down", name)
					}
				}
			}
		}
		if open := rowsOf(t, s, "SELECT id FROM messages WHERE status <> 'sent'"); len(open) > 0 {
			t.Errorf("not sent in the end: %v", open)
		}
		if twice > 4*len(kills) { // as many as are under way at a time
			t.Errorf("%d messages left twice", twice)
		}
		if total < 10 {
			t.Errorf("only %d messages were acknowledged", total)
		}
		t.Logf("%d kills, %d messages, %d of them twice", len(kills), total, twice)
	})
}

func get(t *testing.T, url, key string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	return req
}

func postMail(t *testing.T, client *http.Client, url, key string, n int64) (string, bool) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url+"/v1/messages",
		strings.NewReader(fmt.Sprintf(`{"to": "n%d@example.com", "subject": "n%d", "text": "x"}`, n, n)))
	if err != nil {
		t.Error(err)
		return "", false
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return "", false
	}
	defer res.Body.Close()
	var out struct{ Data struct{ ID string } }
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode != http.StatusCreated {
		return "", false
	}
	return out.Data.ID, true
}

// expireLeases lets the time pass that PostgreSQL's servers leave each other
// to come back.
func expireLeases(t *testing.T, s *server) {
	t.Helper()
	a, err := app.Open(t.Context(), s.settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	time.Sleep(2 * time.Second) // whoever lives renews or ends
	err = a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, "UPDATE jobs SET leased_until = 1 WHERE state = 'running'")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// rowsOf reads the database of a server that is down.
func rowsOf(t *testing.T, s *server, text string) (rows []string) {
	t.Helper()
	a, err := app.Open(t.Context(), s.settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	err = a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		rows, err = db.QueryAll[string](ctx, tx, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
