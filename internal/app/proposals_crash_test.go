package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/listen/listentest"
)

// Of 100 calls that carry out one proposal, sent to two processes of which one is
// killed, one has an effect: for a plan in one transaction, and for one whose
// steps reach outside. SQLite has one process, which is killed and comes back.
func TestProposalSIGKILL(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		one, v := prepare(t, e)
		all := neighbours(t, one.settings)
		for round := range crashes(t) {
			for _, plan := range []string{
				`{"operation": "contacts.create", "input": {"firstName": "Round %d"}}`,
				`{"operation": "contacts.create", "input": {"firstName": "Round %d"}},
				{"operation": "domain_contacts.create", "saveAs": "dc", "input": {
					"firstName": "A", "lastName": "B", "address1": "1 St", "city": "London", "stateProvince": "London",
					"postalCode": "SW1Y 4JH", "country": "GB", "email": "ada@example.com", "phone": "+442079460018"}},
				{"operation": "domain_contacts.update", "input": {"id": "{{ dc.id }}", "city": "Paris"}}`,
			} {
				name := fmt.Sprintf("Round %d", round)
				before := namedContacts(t, all[0], v, name)
				status, made := sendJSON(t, all[0], v, "POST", "/v1/proposals",
					`{"title": "x", "steps": [`+fmt.Sprintf(plan, round)+`]}`)
				p, ok := made.(map[string]any)
				if status != 201 || !ok {
					t.Fatalf("%d %v", status, made)
				}
				path := fmt.Sprintf("/v1/proposals/%s", p["id"])
				decideOnce(t, all, func(s *server) { sendJSON(t, s, v, "POST", path+"/execute", "") }, func() string {
					_, out := sendJSON(t, all[0], v, "GET", path+"?waitSeconds=1", "")
					p, _ := out.(map[string]any)
					return fmt.Sprint(p["status"])
				})
				if n := namedContacts(t, all[0], v, name) - before; n != 1 {
					t.Errorf("%d contacts", n)
				}
			}
		}
	})
}

// The same for what an agent proposed and a person approves on the page, 100 times
// at once.
func TestApprovalSIGKILL(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		settings := apptest.Settings(t, e)
		var v apptest.Tenant
		var asked []string
		t.Run("prepare", func(t *testing.T) {
			a := apptest.StartWith(t, settings)
			v = a.Tenant
			agent := a.NewAgent(t, v, "helper")
			a.AsOperator(t, "agents.configure", "agent", agent, fmt.Sprintf(`{"id": %q, "askMode": "propose"}`, agent))
			_, access, _ := a.ConnectAgent(t, v, agent)
			for round := range crashes(t) {
				answer := a.SendRPC(t, access,
					fmt.Sprintf(`{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
					"name": "messages_create", "arguments": {"to": "ada@example.com", "subject": "Round %d",
					"text": "x"}}}`, round)).ParseJSON(t).At("result.structuredContent")
				answer.Same("status", "pending_approval")
				asked = append(asked, answer.Text("proposalId"))
			}
		})
		all := neighbours(t, settings)
		form := func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }
		var session []*http.Cookie
		send(t, all[0], "POST", "/sign-in", url.Values{"email": {v.Owner}, "password": {"a long password"}}.Encode(),
			form, func(r *http.Response) { session = r.Cookies() })
		if len(session) == 0 {
			t.Fatal("not signed in")
		}
		page := func(s *server, method, path, body string) string {
			_, answer := send(t, s, method, path, body, func(r *http.Request) { form(r); r.AddCookie(session[0]) })
			return string(answer)
		}
		for round, proposal := range asked {
			path := "/review/" + proposal
			shown := regexp.MustCompile(`name="sha256" value="([0-9a-f]{64})"`).FindStringSubmatch(
				page(all[0], "GET", path, ""))
			if shown == nil {
				t.Fatal("the page has no hash")
			}
			approve := url.Values{"decision": {"approve"}, "sha256": {shown[1]}}.Encode()
			decideOnce(t, all, func(s *server) { page(s, "POST", path, approve) }, func() string {
				text := page(all[0], "GET", path, "")
				for word, status := range map[string]string{">waits for you<": "pending", ">done<": "executed",
					">failed<": "failed", ">out of date<": "stale"} {
					if strings.Contains(text, word) {
						return status
					}
				}
				return ""
			})
			_, out := sendJSON(t, all[0], v, "GET", fmt.Sprintf("/v1/messages?limit=100&query=%s",
				url.QueryEscape(fmt.Sprintf("Round %d", round))), "")
			if list, ok := out.([]any); !ok || len(list) != 1 {
				t.Errorf("round %d: %v", round, out)
			}
		}
	})
}

// neighbours starts two processes on PostgreSQL and one on SQLite.
func neighbours(t *testing.T, settings config.Settings) (all []*server) {
	t.Helper()
	n := 1
	if settings.DatabaseURL != "" {
		n = 2
	}
	for range n {
		s := &server{t: t, settings: settings}
		s.settings.Listen = listentest.FreeAddress(t)
		s.url = "http://" + s.settings.Listen
		s.start()
		all = append(all, s)
	}
	return all
}

// send is a request to a process that may be killed meanwhile: then its status is 0.
func send(t *testing.T, s *server, method, path, body string, change func(*http.Request),
	look ...func(*http.Response)) (int, []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	change(r)
	res, err := http.DefaultTransport.RoundTrip(r) // a redirect is an answer
	if err != nil {
		return 0, nil
	}
	defer res.Body.Close()
	for _, l := range look {
		l(res)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil
	}
	return res.StatusCode, text
}

// sendJSON is a request with a key of the tenant; it returns the data.
func sendJSON(t *testing.T, s *server, v apptest.Tenant, method, path, body string) (int, any) {
	t.Helper()
	status, text := send(t, s, method, path, body, func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+v.Key)
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
	})
	var out struct {
		Data any `json:"data"`
	}
	if status == 0 || json.Unmarshal(text, &out) != nil {
		return 0, nil
	}
	return status, out.Data
}

func namedContacts(t *testing.T, s *server, v apptest.Tenant, name string) int {
	t.Helper()
	status, out := sendJSON(t, s, v, "GET", "/v1/contacts?limit=100&query="+url.QueryEscape(name), "")
	list, ok := out.([]any)
	if status != 200 || !ok {
		t.Fatalf("%d %v", status, out)
	}
	return len(list)
}

// decideOnce has a proposal carried out by 100 calls at once while the last process
// is killed and started, and waits until it is executed.
func decideOnce(t *testing.T, all []*server, decide func(*server), status func() string) {
	t.Helper()
	last := all[len(all)-1]
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() { decide(all[i%len(all)]) })
	}
	wg.Go(func() { last.kill(); last.start() })
	wg.Wait()
	deadline := time.Now().Add(3 * time.Minute)
	for {
		switch is := status(); {
		case is == "executed":
			return
		case is == "failed" || is == "stale" || time.Now().After(deadline):
			t.Fatalf("it ended as %q", is)
		case is == "planned" || is == "pending": // nobody came through before the kill
			decide(all[0])
		default:
			time.Sleep(50 * time.Millisecond) // it is being carried out
		}
	}
}
