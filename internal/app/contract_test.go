package app_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// Tools refuse a bad id, a bad limit and a missing query with the codes that
// REST gives them.
func TestSameCodesThroughTools(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, _ *apptest.App, call apptest.Door) {
		for _, c := range []struct{ operation, input, code, field string }{
			{"contacts.get", `{"id": "nope"}`, "INVALID_CONTACT_ID", "id"},
			{"contacts.emails.list", `{"id": "nope"}`, "INVALID_CONTACT_ID", "id"},
			{"businesses.get", `{"id": "nope"}`, "INVALID_BUSINESS_ID", "id"},
			{"messages.get", `{"id": "nope"}`, "INVALID_MESSAGE_ID", "id"},
			{"tasks.get", `{"id": "nope"}`, "INVALID_INPUT", "id"},
			{"contacts.update", `{"id": "nope", "firstName": 5}`, "INVALID_CONTACT_ID", "id"},
			{"contacts.list", `{"limit": 101}`, "INVALID_INPUT", "limit"},
			{"contacts.list", `{"limit": 0}`, "INVALID_INPUT", "limit"},
			{"tasks.list", `{"status": "nope"}`, "INVALID_INPUT", "status"},
			{"domains.search", `{}`, "MISSING_QUERY", "query"},
			{"domains.quote", `{"periodYears": 3}`, "MISSING_QUERY", "domain"},
			{"contacts.create", `{"firstName": 5}`, "VALIDATION_ERROR", "firstName"},
		} {
			got := call(t, c.operation, c.input).Refused(t, 400, c.code)
			if !got.Has("details") || got.At("details.properties."+c.field+".errors").Len() != 1 {
				t.Errorf("%s %s: %s", c.operation, c.input, got)
			}
		}
	})
}

// Every place of an object in details has properties, also where nothing below
// it is wrong.
func TestObjectsInDetails(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	for body, path := range map[string]string{
		`{"firstName": "Ada", "nope": 1}`: "details.properties",
		`[]`:                              "details.properties",
		`{`:                               "details.properties",
		`{"firstName": "Ada", "emails": [{"nope": 1}]}`:       "details.properties.emails.items.0.properties",
		`{"firstName": "Ada", "emails": ["ada@example.com"]}`: "details.properties.emails.items.0.properties",
	} {
		got := a.SendREST(t, a.Key, "POST", "/v1/contacts", body).Refused(t, 400, "VALIDATION_ERROR")
		if got.At(path).Null() {
			t.Errorf("%s: %s", body, got)
		}
	}
	got := a.SendREST(t, a.Key, "POST", "/v1/automations",
		`{"name": "x", "trigger": 5, "steps": []}`).Refused(t, 400, "VALIDATION_ERROR")
	if got.At("details.properties.trigger.properties").Null() {
		t.Errorf("%s", got)
	}
}

// A query string that does not parse is told like any other bad parameter.
func TestMalformedQuery(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	for _, query := range []string{"limit=%zz", "a;b=1"} {
		got := a.SendREST(t, a.Key, "GET", "/v1/contacts?"+query, "").Refused(t, 400, "INVALID_INPUT")
		if got.At("details.errors").Len() != 1 || got.At("details.properties").Null() {
			t.Errorf("%s: %s", query, got)
		}
	}
}

// A parameter that means nothing is named, so that a misspelt filter is seen.
func TestIgnoredParameters(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	for query, want := range map[string]string{
		"limit=1": "", "limit=1&staus=open&b%0d%0aSet-Cookie:x=1": "b%0D%0ASet-Cookie%3Ax, staus",
		"Status=open": "Status",
	} {
		res := a.SendREST(t, a.Key, "GET", "/v1/tasks?"+query, "")
		res.OK(t, 200)
		if got := res.Header.Get("X-Ignored-Parameters"); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// A program that asks for a path which nobody serves gets JSON, a browser a page.
func TestUnknownPaths(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	for _, c := range []struct{ path, accept, key, want string }{
		{"/v2/contacts", "", a.Key, "application/json"},
		{"/v2", "text/html", "", "application/json"},
		{"/contacts", "", a.Key, "application/json"},
		{"/contacts", "application/json", "", "application/json"},
		{"/contacts", "*/*", "", "application/json"},
		{"/nowhere", "text/html,application/xhtml+xml", "", "text/html; charset=utf-8"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL+c.path, strings.NewReader("{}"))
		if c.want != "application/json" {
			req.Method = http.MethodGet
		}
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", c.accept)
		if c.key != "" {
			req.Header.Set("Authorization", "Bearer "+c.key)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close() //nolint:errcheck // it was read
		isJSON := strings.Contains(string(body), `"code":"NOT_FOUND"`)
		if res.StatusCode != 404 || res.Header.Get("Content-Type") != c.want ||
			isJSON != (c.want == "application/json") {
			t.Errorf("%+v: %d %s %.80s", c, res.StatusCode, res.Header.Get("Content-Type"), body)
		}
	}
}

// A key works on every POST with JSON, also on one that changes nothing.
func TestKeysOfPreviews(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, _ *apptest.App, call apptest.Door) {
		v := call(t, "email_templates.create",
			`{"name": "Hi", "subject": "Hi", "body": "One {{ name }}"}`).OK(t, 201).Text("id")
		preview := func(name string) apptest.Result {
			return call(t, "email_templates.preview",
				fmt.Sprintf(`{"id": %q, "variables": {"name": %q}, "idempotencyKey": "preview-1"}`, v, name))
		}
		first := preview("Ada").OK(t, 200)
		call(t, "email_templates.update", fmt.Sprintf(`{"id": %q, "body": "Two {{ name }}"}`, v)).OK(t, 200)
		if again := preview("Ada").OK(t, 200); again.String() != first.String() {
			t.Errorf("replayed as %s, first %s", again, first)
		}
		preview("Bob").Refused(t, 422, "IDEMPOTENCY_KEY_REUSED")

		automation := call(t, "automations.create", `{"name": "x", "trigger": {"kind": "manual"},
			"steps": [{"operation": "tasks.create", "input": {"title": "One"}}]}`).OK(t, 201).Text("id")
		test := fmt.Sprintf(`{"id": %q, "idempotencyKey": "test-1"}`, automation)
		first = call(t, "automations.test", test).OK(t, 200)
		call(t, "automations.update",
			fmt.Sprintf(`{"id": %q, "steps": [{"operation": "tasks.create", "input": {"title": "Two"}}]}`,
				automation)).OK(t, 200)
		if again := call(t, "automations.test", test).OK(t, 200); again.String() != first.String() {
			t.Errorf("replayed as %s, first %s", again, first)
		}
	})
}

// The keys of automations' steps can be guessed, and are for them alone.
func TestAttackKeyOfStep(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	a.SendREST(t, a.Key, "POST", "/v1/tasks", `{"title": "x"}`, "Idempotency-Key",
		"automation/5d0c7f1e/0/0").Refused(t, 400, "INVALID_INPUT")
	a.SendREST(t, a.Key, "POST", "/v1/tasks", `{"title": "x"}`, "Idempotency-Key", "automation").OK(t, 201)
}
