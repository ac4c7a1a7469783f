package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/listen/listentest"
)

// Of 100 calls that carry out one proposal, sent to two processes of which one is
// killed, one has an effect: for a plan in one transaction, and for one whose
// steps reach outside. SQLite has one process, which is killed and comes back.
func TestProposalSIGKILL(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e db.Engine) {
		one, v := prepare(t, e)
		one.start()
		all := []*server{one}
		if e == db.Postgres {
			two := &server{t: t, settings: one.settings}
			two.settings.Listen = listentest.FreeAddress(t)
			two.url = "http://" + two.settings.Listen
			two.start()
			all = append(all, two)
		}
		for round := range crashes(t) {
			for _, plan := range []string{
				`{"operation": "contacts.create", "input": {"firstName": "Round %d"}}`,
				`{"operation": "contacts.create", "input": {"firstName": "Round %d"}},
				{"operation": "domain_contacts.create", "saveAs": "dc", "input": {
					"firstName": "A", "lastName": "B", "address1": "1 St", "city": "London", "stateProvince": "London",
					"postalCode": "SW1Y 4JH", "country": "GB", "email": "ada@example.com", "phone": "+442079460018"}},
				{"operation": "domain_contacts.update", "input": {"id": "{{ dc.id }}", "city": "Paris"}}`,
			} {
				carryOutOnce(t, all, v, fmt.Sprintf(plan, round), fmt.Sprintf("Round %d", round))
			}
		}
	})
}

// carryOutOnce makes a plan that creates a contact, and has it carried out by many.
func carryOutOnce(t *testing.T, all []*server, v apptest.Tenant, steps, name string) {
	t.Helper()
	send := func(s *server, method, path, body string) (int, any) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+v.Key)
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, nil // it was killed
		}
		defer res.Body.Close()
		var out struct {
			Data any `json:"data"`
		}
		if json.NewDecoder(res.Body).Decode(&out) != nil {
			return 0, nil
		}
		return res.StatusCode, out.Data
	}
	contacts := func() int {
		status, out := send(all[0], "GET", "/v1/contacts?limit=100&query="+url.QueryEscape(name), "")
		list, ok := out.([]any)
		if status != 200 || !ok {
			t.Fatalf("%d %v", status, out)
		}
		return len(list)
	}
	before := contacts()
	status, made := send(all[0], "POST", "/v1/proposals", `{"title": "x", "steps": [`+steps+`]}`)
	p, ok := made.(map[string]any)
	if status != 201 || !ok {
		t.Fatalf("%d %v", status, made)
	}
	path := fmt.Sprintf("/v1/proposals/%s", p["id"])
	last := all[len(all)-1]
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() { send(all[i%len(all)], "POST", path+"/execute", "") })
	}
	wg.Go(func() { last.kill(); last.start() })
	wg.Wait()
	deadline := time.Now().Add(3 * time.Minute)
	for {
		_, out := send(all[0], "GET", path+"?waitSeconds=1", "")
		p, _ = out.(map[string]any)
		if p != nil && p["status"] == "planned" { // nobody came through before the kill
			send(all[0], "POST", path+"/execute", "")
		}
		if p != nil && p["status"] == "executed" {
			break
		}
		if time.Now().After(deadline) || p != nil && (p["status"] == "failed" || p["status"] == "stale") {
			t.Fatalf("it ended as %v", p)
		}
	}
	if n := contacts() - before; n != 1 {
		t.Errorf("%d contacts", n)
	}
}
