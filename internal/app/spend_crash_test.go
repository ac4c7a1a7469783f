package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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

// charges is how many orders an agent sends: 300 in a normal run, as
// FRONTDESK_TEST_CHARGES says otherwise.
func charges(t *testing.T) int {
	n := 300
	if s := os.Getenv("FRONTDESK_TEST_CHARGES"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// An agent that orders without end, on two processes of which one is killed again
// and again, is charged up to its limit and not a cent more. SQLite has one
// process, which is killed and comes back.
func TestSpendSIGKILL(t *testing.T) {
	if testing.Short() {
		t.Skip("crashes are not for the race detector")
	}
	const price, limit = 1200, 40*1200 + 700
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		settings := apptest.Settings(t, e)
		settings.MCPListen = listentest.FreeAddress(t)
		settings.MCPURL = "http://" + settings.MCPListen
		var access string
		t.Run("prepare", func(t *testing.T) {
			a := apptest.StartWith(t, settings)
			a.SetMiddayTimezone(t, a.Tenant)
			a.AsOperator(t, "agreements.accept", "business", a.Business,
				fmt.Sprintf(`{"businessId": %q, "kind": "domain", "by": %q}`, a.Business, a.Owner))
			a.AsOperator(t, "payment_methods.create_test", "organization", a.Org, `{"test": "visa"}`)
			agent := a.NewAgent(t, a.Tenant, "all")
			a.AsOperator(t, "agents.configure", "agent", agent,
				fmt.Sprintf(`{"id": %q, "limits": {"spendCents": %d}}`, agent, limit))
			_, access, _ = a.ConnectAgent(t, a.Tenant, agent)
		})
		var all []*server
		for range map[db.Engine]int{db.SQLite: 1, db.Postgres: 2}[e] {
			s := &server{t: t, settings: settings}
			s.settings.Listen, s.settings.MCPListen = listentest.FreeAddress(t), listentest.FreeAddress(t)
			s.url = "http://" + s.settings.MCPListen + "/mcp"
			s.start()
			all = append(all, s)
		}
		var next, accepted, refused atomic.Int64
		n := int64(charges(t))
		client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for i := next.Add(1); i <= n; i = next.Add(1) {
					switch code := orderOnce(t, client, all, access, i); code {
					case "":
						accepted.Add(1)
					case "AGENT_LIMIT_REACHED":
						refused.Add(1)
					default:
						t.Errorf("order %d: %s", i, code)
					}
				}
			})
		}
		killed := 0
		for range crashes(t) {
			for before := next.Load(); next.Load() < min(before+n/10, n); {
				time.Sleep(5 * time.Millisecond)
			}
			last := all[len(all)-1]
			last.kill()
			killed++
			last.start()
		}
		wg.Wait()
		for _, s := range all {
			s.kill()
		}
		d, err := db.Open(t.Context(), app.DatabaseOptions(settings))
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		err = d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			for text, want := range map[string]int64{
				"SELECT coalesce(sum(amount_cents), 0) FROM sandbox_charges": limit / price * price,
				"SELECT spend_cents FROM agent_use":                          limit / price * price,
				"SELECT count(*) FROM operations":                            limit / price,
			} {
				got, err := db.QueryOne[int64](ctx, tx, text)
				if err != nil {
					return err
				}
				if got != want {
					t.Errorf("%d, want %d: %s", got, want, text)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d accepted, %d refused, killed %d times", accepted.Load(), refused.Load(), killed)
		if accepted.Load() != limit/price || accepted.Load()+refused.Load() != n {
			t.Errorf("%d accepted and %d refused of %d", accepted.Load(), refused.Load(), n)
		}
	})
}

// orderOnce orders a domain under a key of its own until it is answered, and returns
// the code of a refusal.
func orderOnce(t *testing.T, client *http.Client, all []*server, access string, i int64) string {
	message := fmt.Sprintf(`{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "domains_register",
		"arguments": {"domain": "spend%d.com", "maxAmountCents": 1200, "idempotencyKey": "order-%d", "contact": {
		"firstName": "Ada", "lastName": "Lovelace", "address1": "12 St James's Square", "city": "London",
		"stateProvince": "London", "postalCode": "SW1Y 4JH", "country": "GB", "email": "ada@example.com",
		"phone": "+442079460018"}}}}`, i, i)
	for try := range 1200 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, all[(int(i)+try)%len(all)].url,
			bytes.NewReader([]byte(message)))
		if err != nil {
			return err.Error()
		}
		r.Header.Set("Authorization", "Bearer "+access)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		var out struct {
			Result struct {
				Structured struct {
					Data  any
					Error struct{ Code string }
				} `json:"structuredContent"`
			}
		}
		res, err := client.Do(r)
		if err == nil {
			err = json.NewDecoder(res.Body).Decode(&out)
			drain(res)
		}
		answer := &out.Result.Structured
		switch code := answer.Error.Code; {
		case err == nil && answer.Data != nil:
			return ""
		case err == nil && code == "AGENT_LIMIT_REACHED":
			return code
		case err == nil && res.StatusCode == http.StatusOK && code != "IDEMPOTENCY_KEY_IN_FLIGHT" &&
			code != "OUTCOME_UNKNOWN" && code != "INTERNAL_ERROR" && code != "SERVICE_UNAVAILABLE":
			return "answered " + code
		}
		time.Sleep(100 * time.Millisecond) // it was killed, or works on what another began
	}
	return "no answer"
}
