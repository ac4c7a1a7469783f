package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
)

// An agent does what people ask for with few calls of its tools, and finds all that
// it needs to know in their list.
func TestAgentsJobs(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		rest := a.Door("rest", a.Tenant)
		acme := rest(t, "customers.create",
			`{"name": "Acme Ltd", "email": "office@acme.example"}`).OK(t, 201).Text("id")
		for i := range 3 {
			v := rest(t, "invoices.create", fmt.Sprintf(`{"customerId": %q, "lineItems": [
				{"description": "Work", "quantity": "1", "unitAmountCents": 1000}]}`, acme)).OK(t, 201).Text("id")
			rest(t, "invoices.issue", fmt.Sprintf(`{"id": %q}`, v)).OK(t, 200)
			if i == 0 {
				rest(t, "invoices.record_payment", fmt.Sprintf(
					`{"id": %q, "amountCents": 1000, "method": "card", "idempotencyKey": "paid"}`, v)).OK(t, 201)
			}
		}
		a.AsOperator(t, "users.create", "organization", a.Org,
			`{"email": "grace@example.com", "name": "Grace Hopper", "role": "member", "password": "a long password"}`)

		_, access, _ := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "all"))
		session := a.InitializeSession(t, access)
		known := tools(t, a, access, session)
		calls := 0
		call := func(tool, input string) apptest.Value {
			t.Helper()
			calls++
			for name := range fieldsOf(t, input) {
				if !strings.Contains(known[tool], `"`+name+`"`) {
					t.Errorf("the tool list does not tell of %s of %s", name, tool)
				}
			}
			r := a.SendRPC(t, access, fmt.Sprintf(
				`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": %q, "arguments": %s}}`, tool,
				input), session...).ParseJSON(t)
			if r.At("result").Has("isError") && r.Text("result.isError") == "true" {
				t.Fatalf("%s: %s", tool, r)
			}
			return r.At("result.structuredContent")
		}
		within := func(most int) {
			t.Helper()
			if calls > most {
				t.Errorf("%d calls, want at most %d", calls, most)
			}
			t.Logf("%d calls of at most %d", calls, most)
			calls = 0
		}

		// The unpaid invoices of Acme: a reminder with the PDFs, on Monday at 9 in Berlin.
		due := call("invoices_list", `{"query": "Acme", "unpaid": true}`)
		if n := due.At("data").Len(); n != 2 {
			t.Fatalf("%d unpaid invoices: %s", n, due)
		}
		now, err := time.Parse(time.RFC3339, call("me_get", `{}`).Text("data.now"))
		if err != nil {
			t.Fatal(err)
		}
		berlin, err := time.LoadLocation("Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		monday := now.In(berlin).AddDate(0, 0, 1+(7-int(now.In(berlin).AddDate(0, 0, 1).Weekday())+1)%7)
		monday = time.Date(monday.Year(), monday.Month(), monday.Day(), 9, 0, 0, 0, berlin)
		sent := call("messages_create", fmt.Sprintf(`{"to": %q, "subject": "A reminder", "text": "Two are open.",
			"customerId": %q, "invoiceIds": [%q, %q], "scheduledAt": %q}`, due.Text("data.0.billToEmail"), acme,
			due.Text("data.0.id"), due.Text("data.1.id"), monday.Format(time.RFC3339)))
		sent.Same("data.status", "scheduled")
		sent.Same("data.scheduledAt", monday.UTC().Format("2006-01-02T15:04:05.000Z"))
		within(4)

		// A task for a member who is known by name.
		grace := call("members_list", `{"query": "Grace"}`)
		task := call("tasks_create",
			fmt.Sprintf(`{"title": "Call Acme", "assigneeIds": [%q]}`, grace.Text("data.0.id")))
		within(2)
		rest(t, "tasks.assignees.list", fmt.Sprintf(`{"id": %q}`, task.Text("data.id"))).OK(t, 200).
			Same("0.userId", grace.Text("data.0.id"))
		rest(t, "tasks.create", `{"title": "x", "assigneeIds": ["7d2b9e40-8c1f-4a3d-b5e6-0f9a8c7d6e51"]}`).
			Issues(t, "assigneeIds.0")

		// A contact is taken in, tagged and written to.
		contact := call("contacts_put_by_email",
			`{"address": "ada@example.com", "firstName": "Ada", "lastName": "Lovelace", "tags": ["newsletter"]}`)
		rest(t, "contacts.get", fmt.Sprintf(`{"id": %q}`, contact.Text("data.id"))).OK(t, 200).
			Same("tags.0", "newsletter")
		call("messages_create", `{"to": "ada@example.com", "subject": "Welcome", "text": "Dear Ada"}`)
		within(3)
	})
}

// tools are the listed tools by their names, each as the list shows it.
func tools(t *testing.T, a *apptest.App, access string, session []string) map[string]string {
	t.Helper()
	out := map[string]string{}
	cursor := ""
	for {
		list := a.SendRPC(t, access, `{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {`+cursor+`}}`,
			session...).ParseJSON(t).At("result")
		for i := range list.At("tools").Len() {
			tool := list.At(fmt.Sprintf("tools.%d", i))
			out[tool.Text("name")] = tool.String()
		}
		if !list.Has("nextCursor") {
			return out
		}
		cursor = fmt.Sprintf(`"cursor": %q`, list.Text("nextCursor"))
	}
}

// fieldsOf are the fields of an input.
func fieldsOf(t *testing.T, input string) map[string]json.RawMessage {
	t.Helper()
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(input), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
