package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/op"
)

// at sends a message to an address of the door, with further headers.
func at(t *testing.T, a *apptest.App, access, query, message string, headers ...string) apptest.Result {
	t.Helper()
	headers = append(headers, "Authorization", "Bearer "+access, "Content-Type", "application/json",
		"Accept", "application/json, text/event-stream")
	return a.Agents(t, http.MethodPost, "/mcp"+query, message, headers...)
}

// A client asks for a part of the tools by its address or by headers. What it did not
// ask for is unknown to it.
func TestViews(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	_, access, _ := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "all"))
	listed := func(query string, headers ...string) string {
		t.Helper()
		one := at(t, a, access, query, list, headers...)
		if again := at(t, a, access, query, list, headers...); string(again.Body) != string(one.Body) {
			t.Errorf("%s: two lists differ", query)
		}
		return names(fine(t, query, one))
	}
	for _, c := range []struct {
		query   string
		headers []string
		has     string
		hasNot  string
	}{
		{"", nil, "contacts_list contacts_create invoices_list me_get",
			"tools_search tools_describe tools_read tools_write"},
		{"?toolsets=mail,%20invoices", nil, "messages_create threads_list email_templates_get invoices_send me_get",
			"contacts_list tasks_list tools_search"},
		{"", []string{"X-MCP-Toolsets", "tasks"}, "tasks_create me_get", "contacts_list"},
		{"?readonly=1", nil, "contacts_list invoices_get", "contacts_create invoices_send"},
		{"", []string{"X-MCP-Readonly", "true"}, "contacts_list", "contacts_create"},
		{"?toolsets=contacts&readonly=1", nil, "contacts_list contacts_emails_list", "contacts_create invoices_list"},
		{"?tools=compact", nil, "contacts_list messages_create tools_search tools_describe tools_read tools_write",
			"domains_register contacts_emails_list"},
		{"?tools=compact&readonly=1", nil, "contacts_list tools_read", "messages_create tools_write"},
	} {
		got := listed(c.query, c.headers...)
		for name := range strings.FieldsSeq(c.has) {
			if !strings.Contains(got, " "+name+" ") {
				t.Errorf("%s %v: no %s", c.query, c.headers, name)
			}
		}
		for name := range strings.FieldsSeq(c.hasNot) {
			if strings.Contains(got, " "+name+" ") {
				t.Errorf("%s %v: %s is there", c.query, c.headers, name)
			}
		}
	}
	single := len(at(t, a, access, "", list).ParseJSON(t).At("result.tools").String())
	both := a.SendRPC(t, access, "["+list+","+strings.Replace(list, "7", "8", 1)+"]",
		a.InitializeSession(t, access)[:2]...)
	for _, part := range []string{"0.result.tools", "1.result.tools"} {
		if got := len(both.ParseJSON(t).At(part).String()); got != single {
			t.Errorf("%s of a batch has %d bytes, alone it has %d", part, got, single)
		}
	}
	for query, says := range map[string]string{"?toolsets=post": "mail", "?readonly=maybe": "1 or 0",
		"?tools=some": "compact"} {
		r := at(t, a, access, query, list)
		if r.Status != 400 || !strings.Contains(string(r.Body), says) {
			t.Errorf("%s: %d %s", query, r.Status, r.Body)
		}
	}
	contact := `{"firstName": "Ada"}`
	wrapped := fmt.Sprintf(`{"name": "contacts_create", "arguments": %s}`, contact)
	const invalid = badParams
	for query, message := range map[string]string{
		"?readonly=1":                   call("contacts_create", contact),
		"?toolsets=tasks":               call("contacts_create", contact),
		"?tools=compact&readonly=1":     call("tools_write", wrapped),
		"?tools=compact&toolsets=tasks": call("tools_write", wrapped),
		"":                              call("tools_write", wrapped), // it is there in a compact list alone
		"?tools=compact":                call("tools_write", `{"name": "tools_write", "arguments": `+wrapped+`}`),
		"?tools=compact&toolsets=":      call("tools_write", `{"tool": "contacts_create"}`),
	} {
		failed(t, query, at(t, a, access, query, message), invalid)
	}
	if n := a.SendREST(t, a.Key, http.MethodGet, "/v1/contacts?query=ada", "").OK(t, 200).Len(); n != 0 {
		t.Errorf("%d contacts", n)
	}
	agent := a.NewAgent(t, a.Tenant, "all")
	_, access, _ = a.ConnectAgent(t, a.Tenant, agent)
	a.AsOperator(t, "agents.configure", "agent", agent, fmt.Sprintf(`{"id": %q, "toolList": "compact"}`, agent))
	if got := listed(""); !strings.Contains(got, " tools_search ") || strings.Contains(got, " contacts_update ") {
		t.Errorf("compact by default: %s", got)
	}
	got := listed("?tools=all")
	if strings.Contains(got, " tools_search ") || !strings.Contains(got, " contacts_update ") {
		t.Errorf("all of them: %s", got)
	}
	_, reader, _ := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "read"))
	failed(t, "hidden from a reader", at(t, a, reader, "", call("tools_describe", `{"names": ["contacts_create"]}`)),
		invalid)
	failed(t, "a write through tools_read", at(t, a, access, "?tools=compact", call("tools_read", wrapped)), invalid)
	read := call("tools_read", `{"name": "contacts_list", "arguments": {"limit": 1}}`)
	if got := fine(t, "tools_read", at(t, a, access, "?tools=compact", read)); got.At("structuredContent.data").Null() {
		t.Errorf("tools_read: %s", got)
	}
	failed(t, "without the right", at(t, a, reader, "?tools=compact", call("tools_write", wrapped)), invalid)
	search := call("tools_search", `{"query": "create a contact"}`)
	found := fine(t, "search", at(t, a, reader, "?tools=compact", search))
	if strings.Contains(found.String(), `"contacts_create"`) {
		t.Error("a reader finds a tool that creates")
	}
}

// Through a compact list an agent reaches every tool there is, with the same result.
func TestCompactReachesAll(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	_, access, _ := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "all"))
	n := 0
	for _, o := range a.Catalog.All() {
		if o.Doors&op.AgentDoor == 0 || o.TakesStream() {
			continue
		}
		n++
		name := strings.ReplaceAll(o.Name, ".", "_")
		var input map[string]any
		if err := json.Unmarshal([]byte(o.Example), &input); err != nil {
			t.Fatal(err)
		}
		if o.TakesIdempotencyKey() { // so that the second call answers what the first did
			input["idempotencyKey"] = "one key for " + name
		}
		for _, in := range []any{input, map[string]any{"noSuchField": 1}} {
			text, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			direct := at(t, a, access, "", call(name, string(text))).ParseJSON(t)
			through := at(t, a, access, "?tools=compact", call("tools_write",
				fmt.Sprintf(`{"name": %q, "arguments": %s}`, name, text))).ParseJSON(t)
			for _, part := range []string{"result.structuredContent", "result.isError", "error"} {
				now := regexp.MustCompile(`"now":"[^"]*"`)
				x := now.ReplaceAllString(direct.At(part).String(), "")
				y := now.ReplaceAllString(through.At(part).String(), "")
				if x != y {
					t.Errorf("%s %s:\n%s\n%s", name, part, x, y)
				}
			}
			if direct.At("result").Null() {
				t.Errorf("%s: %s", name, direct)
			}
		}
		described := fine(t, name, at(t, a, access, "?tools=compact", call("tools_describe",
			fmt.Sprintf(`{"names": [%q]}`, name)))).At("structuredContent")
		if described.Text("tools.0.name") != name || described.At("tools.0.inputSchema").Null() {
			t.Errorf("%s is described as %s", name, described)
		}
	}
	if n < 200 {
		t.Errorf("%d tools", n)
	}
}

// Words of a job lead to the tool that does it.
func TestSearchForTools(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	_, access, _ := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "all"))
	found := 0
	for job, want := range map[string]string{
		"which invoices are unpaid":                         "invoices_list",
		"record that Acme paid its bill":                    "invoices_record_payment",
		"give a customer money back for an invoice payment": "invoices_payments_refund",
		"send the invoice to the customer":                  "invoices_send",
		"credit part of an invoice":                         "invoices_credit_notes_create",
		"buy a domain name":                                 "domains_register",
		"how much does it cost to renew example.com":        "domains_renew_quote",
		"add a TXT record to the DNS of our domain":         "domains_dns_records_create",
		"who of my colleagues can I assign a task to":       "members_list",
		"assign a task to somebody":                         "tasks_assignees_create",
		"add a phone number to a contact":                   "contacts_phone_numbers_create",
		"two contacts are the same person, combine them":    "contacts_merge",
		"make a public download link for a file":            "files_access_links_create",
		"has this address agreed to marketing mail":         "email_opt_ins_list",
		"what was changed yesterday":                        "events_list",
		"run an automation now":                             "automations_run",
		"tell our server about new invoices with a webhook": "webhooks_create",
		"send a failed webhook delivery again":              "webhooks_deliveries_redeliver",
		"see how a template looks with values filled in":    "email_templates_preview",
		"close a conversation in the inbox":                 "threads_update",
	} {
		text, err := json.Marshal(map[string]string{"query": job})
		if err != nil {
			t.Fatal(err)
		}
		answer := fine(t, job, at(t, a, access, "?tools=compact", call("tools_search", string(text))))
		got := names(answer.At("structuredContent"))
		if n := answer.At("structuredContent.tools").Len(); n > 5 {
			t.Errorf("%s: %d tools", job, n)
		}
		if strings.Contains(got, " "+want+" ") {
			found++
		} else {
			t.Logf("%q finds %s, not %s", job, got, want)
		}
	}
	if found < 19 {
		t.Errorf("%d of 20 jobs find their tool", found)
	}
	for _, bad := range []string{`{}`, `{"query": " "}`, `{"query": "` + strings.Repeat("long ", 100) + `"}`} {
		failed(t, bad, at(t, a, access, "?tools=compact", call("tools_search", bad)), -32602)
	}
}
