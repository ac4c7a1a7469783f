package mcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	schema "github.com/google/jsonschema-go/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Every operation for agents is a tool that says what it does, accepts the
// operation's own example, and refuses what no operation accepts.
func TestTools(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	_, access, _ := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "all"))
	type tool struct {
		Name, Description string
		InputSchema       json.RawMessage
		OutputSchema      json.RawMessage
		Annotations       map[string]bool
	}
	var answer struct{ Result struct{ Tools []tool } }
	full := a.SendRPC(t, access, list)
	if err := json.Unmarshal(full.Body, &answer); err != nil {
		t.Fatal(err)
	}
	found := map[string]tool{}
	for _, v := range answer.Result.Tools {
		found[v.Name] = v
	}
	agents := 0
	var told []string
	for _, o := range a.Catalog.All() {
		v, ok := found[strings.ReplaceAll(o.Name, ".", "_")]
		if wanted := o.Doors&op.AgentDoor != 0 && !o.TakesStream(); wanted != ok {
			t.Errorf("%s: a tool: %t, want %t", o.Name, ok, wanted)
		}
		if !ok {
			continue
		}
		agents++
		if len(v.Name) > 64 || !strings.HasPrefix(v.Description, strings.ReplaceAll(o.Summary, ", newest first", "")) {
			t.Errorf("%s: %s: %q", o.Name, v.Name, v.Description)
		}
		if v.OutputSchema != nil {
			told = append(told, v.Name)
		}
		checkHints(t, o, v.Annotations)
		schema := compiled(t, o.Name, v.InputSchema)
		example := parsed(t, []byte(o.Example)).(map[string]any)
		if o.KeyRequired {
			example["idempotencyKey"] = "a key" // REST has it in a header
		}
		if err := schema.Validate(example); err != nil {
			t.Errorf("%s: the example: %v", o.Name, err)
		}
		_, takes := schema.Properties["idempotencyKey"]
		if takes != o.TakesIdempotencyKey() {
			t.Errorf("%s: takes a key: %t, want %t", o.Name, takes, o.TakesIdempotencyKey())
		}
		for _, f := range o.PathFields() {
			if !strings.Contains(fmt.Sprint(schema.Required), f) {
				t.Errorf("%s: %s is not required", o.Name, f)
			}
		}
	}
	want := "[businesses_get contacts_get customers_get domains_get invoices_get messages_get tasks_get]"
	if fmt.Sprint(slices.Sorted(slices.Values(told))) != want {
		t.Errorf("%v tell their answers, want %s", told, want)
	}
	session := a.InitializeSession(t, access)
	answers := func(name, arguments string) apptest.Value {
		t.Helper()
		got := fine(t, name, a.SendRPC(t, access, call(name, arguments), session...)).At("structuredContent")
		describe := call("tools_describe", fmt.Sprintf(`{"names": [%q]}`, name))
		shown := fine(t, name, at(t, a, access, "", describe))
		schema := shown.At("structuredContent.tools.0.outputSchema").String()
		if !strings.Contains(schema, `"createdAt":{"type":"string"}`) || strings.Contains(schema, ":true") {
			t.Errorf("%s: answers as %s", name, schema)
		}
		if err := compiled(t, name+"/answers", []byte(schema)).Validate(parsed(t, []byte(got.String()))); err != nil {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
		return got
	}
	ada := fine(t, "contacts_create",
		a.SendRPC(t, access, call("contacts_create", `{"firstName": "Ada", "emails": [{"email": "ada@example.com"}]}`),
			session...)).Text("structuredContent.data.id")
	answers("contacts_get", fmt.Sprintf(`{"id": %q}`, ada)).Same("data.firstName", "Ada")
	answers("contacts_get", fmt.Sprintf(`{"id": %q}`, id.New())).Same("error.code", "NOT_FOUND")
	answers("businesses_get", fmt.Sprintf(`{"id": %q}`, a.Business))
	_, readOnly, _ := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "read"))
	some := a.SendRPC(t, readOnly, list)
	reads := strings.Count(string(some.Body), `"inputSchema"`)
	compact := at(t, a, access, "?tools=compact", list)
	t.Logf("tools/list: %d tools in %d bytes; read-only: %d tools in %d bytes; compact: %d bytes", agents,
		len(full.Body), reads, len(some.Body), len(compact.Body))
	// `make bench` counts tokens; about four bytes are one.
	if len(full.Body) > 508*agents || len(compact.Body) > 10_000 {
		t.Errorf("the lists are long: %d bytes for %d tools, compact %d; shorten what a doc says, or raise the limit "+
			"for a new noun or field", len(full.Body), agents, len(compact.Body))
	}
}

// checkHints requires every tool to say what it is: one that changes something,
// whether it destroys; one that stays inside, that it does. By default, MCP
// assumes that a tool destroys and reaches outside.
func checkHints(t *testing.T, o *op.Op, hints map[string]bool) {
	t.Helper()
	destroys, says := hints["destructiveHint"]
	outside, saysWorld := hints["openWorldHint"]
	reads := o.Method == http.MethodGet || o.ReadOnly()
	harmless := o.Action == op.ActionCreate && !slices.Contains(outward, o.Name)
	if len(hints) == 0 && !o.ReachesOutside() || hints["readOnlyHint"] != reads || says == reads || says &&
		destroys == harmless || saysWorld && outside {
		t.Errorf("%s: %v", o.Name, hints)
	}
	if slices.Contains(outward, o.Name) && saysWorld {
		t.Errorf("%s reaches outside: %v", o.Name, hints)
	}
}

// outward are the tools that charge, send or publish although they only add.
var outward = []string{"messages.create", "messages.send", "invoices.send", "domains.register", "domains.renew",
	"domains.dns_records.create",
	"domains.email.enable", "domains.subdomains.create", "files.access_links.create", "webhooks.create",
	"webhooks.test",
	"webhooks.deliveries.redeliver", "automations.create", "automations.run"}

func parsed(t *testing.T, text []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func compiled(t *testing.T, name string, text []byte) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("https://frontdesk.example/"+name, parsed(t, text)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	s, err := c.Compile("https://frontdesk.example/" + name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}

// Server time of the two methods that clients use most. Only the handler runs,
// so the CPU time is the server's.
func BenchmarkAgent(b *testing.B) {
	a := apptest.Start(b, db.SQLite)
	_, access, _ := a.ConnectAgent(b, a.Tenant, a.NewAgent(b, a.Tenant, "all"))
	session := a.InitializeSession(b, access)
	contact := a.SendREST(b, a.Key, http.MethodPost, "/v1/contacts",
		`{"firstName": "Ada", "emails": [{"email": "ada@example.com"}]}`).OK(b, 201).Text("id")
	var rows []string
	for i := range 100 {
		rows = append(rows, fmt.Sprintf(`{"firstName": "Ada", "lastName": "N%d",
			"emails": [{"email": "ada%d@example.com"}],
			"phoneNumbers": [{"phoneNumber": "+44 20 7946 %04d"}]}`, i, i, i))
	}
	a.SendREST(b, a.Key, http.MethodPost, "/v1/contacts/batch", `{"rows": [`+strings.Join(rows, ",")+`]}`).OK(b, 200)
	handler := a.AgentHandler()
	for _, c := range []struct{ name, path, message string }{
		{"list", "/mcp", list}, {"compact", "/mcp?tools=compact", list}, {"ping", "/mcp", ping},
		{"get", "/mcp", call("contacts_get", fmt.Sprintf(`{"id": %q}`, contact))},
		{"contacts", "/mcp", call("contacts_list", `{"limit": 100}`)},
	} {
		b.Run(c.name, func(b *testing.B) {
			before := cpu()
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, c.path, strings.NewReader(c.message))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Accept", "application/json, text/event-stream")
				r.Header.Set("Authorization", "Bearer "+access)
				for i := 0; i < len(session); i += 2 {
					r.Header.Set(session[i], session[i+1])
				}
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				if w.Code != 200 || strings.Contains(w.Body.String(), `"error":`) {
					b.Fatalf("%d %s", w.Code, w.Body)
				}
			}
			b.ReportMetric(float64(cpu()-before)/float64(b.N)/1000, "cpu-µs/op")
		})
	}
}

// cpu is what this process has used, in nanoseconds.
func cpu() int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return r.Utime.Nano() + r.Stime.Nano()
}

// idOrTime are the names of ids and times.
var idOrTime = regexp.MustCompile(`(^id|Id|At|Before|After)$`)

// saysItself are further fields that need no description.
const saysItself = `address address2 addresses autoRenew bankName bcc bic billToAddressLine1 billToAddressLine2
	billToCity billToCountry billToEmail billToName billToPostalCode billToState birthday body cc city currency
	customerSince description domain email emails firstName industry isActive isPrimary jobTitle label lastName
	legalName line1 line2 lineItems locale middleName name note notes organizationName periodYears phone
	phoneNumbers postalCode priceCents reason replyTo state stateProvince steps tags terms text title trigger
	unread url`

// Every field of a tool says what it is, by its name, its choices or a description.
func TestFieldsExplained(t *testing.T) {
	var unexplained []string
	var look func(at string, s *schema.Schema)
	look = func(at string, s *schema.Schema) {
		for name, p := range s.Properties {
			chosen := p.Enum != nil || p.Items != nil && p.Items.Enum != nil
			if !chosen && p.Description == "" && !idOrTime.MatchString(name) &&
				!slices.Contains(strings.Fields(saysItself), name) {
				unexplained = append(unexplained, at+"."+name)
			}
			look(at+"."+name, p)
			if p.Items != nil {
				look(at+"."+name, p.Items)
			}
		}
	}
	for _, o := range app.Describe().All() {
		if o.Doors&op.AgentDoor != 0 && !o.Changes() { // an update takes what the tool that creates explains
			look(o.Name, o.InputSchema())
		}
	}
	slices.Sort(unexplained)
	if len(unexplained) > 0 {
		t.Errorf("describe, or add to saysItself:\n%s", strings.Join(unexplained, "\n"))
	}
}
