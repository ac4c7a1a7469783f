package proposal_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// configure changes cells of an agent's table.
func configure(t testing.TB, a *apptest.App, agent id.ID, cells string) {
	t.Helper()
	a.AsOperator(t, "agents.configure", "agent", agent, fmt.Sprintf(`{"id": %q, "permissions": {%s}}`, agent, cells))
}

// Asking a person is no way to read what one may only read after asking.
func TestAttackAskToRead(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"lastName": "Zarathustra"}`).OK(t, 201)
		agent, call := asking(t, a, "all")
		configure(t, a, agent, `"contacts.read": "ask"`)
		steps := `{"operation": "contacts.list", "input": {}, "saveAs": "x"},
			{"operation": "tasks.create", "input": {"title": "T", "description": "{{ x.0.lastName }}"}},
			{"operation": "tasks.list", "input": {}, "saveAs": "y"},
			{"operation": "tasks.create", "input": {"title": "{{ y.0.description }}"}}`
		s := call("proposals_create", `{"title": "x", "steps": [`+steps+`]}`)
		v := s.At("structuredContent.data")
		v.Same("status", "pending")
		v.Same("withheld", true)
		v.Same("effects.0.withheld", true)
		ref := v.Text("id")
		all := []string{s.String(), call("proposals_get", fmt.Sprintf(`{"id": %q}`, ref)).String(),
			call("proposals_list", `{}`).String(), call("events_list", `{"resourceType": "proposal"}`).String()}
		// A refusal tells nothing either.
		bad := call("proposals_create", `{"title": "x", "steps": [{"operation": "contacts.list", "input": {},
			"saveAs": "x"}, {"operation": "tasks.create", "input": {"title": "T",
				"contactId": "{{ x.0.lastName }}"}}]}`)
		if !bad.Has("isError") {
			t.Errorf("%s", bad)
		}
		for _, text := range append(all, bad.String()) {
			if strings.Contains(text, "Zarathustra") {
				t.Errorf("the maker reads %s", text)
			}
		}
		p := person(t, a, "proposals.get", fmt.Sprintf(`{"id": %q}`, ref)).OK(t, 200)
		p.Same("effects.0.after.description", "Zarathustra")
		p.Same("effects.1.after.title", "Zarathustra")
		person(t, a, "proposals.approve", fmt.Sprintf(`{"id": %q, "sha256": %q}`, ref, p.Text("sha256"))).OK(t, 200).
			Same("status", "executed")
		call("proposals_get", fmt.Sprintf(`{"id": %q, "view": "full"}`, ref)).At("structuredContent.data").
			Same("steps.1.result.description", "Zarathustra")

		// A withdrawn one stays withheld, in its event and its former values too.
		s = call("proposals_create", `{"title": "x", "steps": [`+steps+`]}`)
		call("proposals_cancel", fmt.Sprintf(`{"id": %q}`, s.Text("structuredContent.data.id")))
		events := a.SendREST(t, a.Key, "GET", "/v1/events?type=proposal.canceled", "").Body
		if !strings.Contains(string(events), "proposal.canceled") || strings.Contains(string(events), "Zarathustra") {
			t.Errorf("%s", events)
		}
		// A call that asks to change what the maker may not read shows nothing of it.
		configure(t, a, agent, `"contacts.read": "deny", "contacts.update": "ask"`)
		one := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"lastName": "Ecce"}`).OK(t, 201).Text("id")
		s = call("contacts_update", fmt.Sprintf(`{"id": %q, "firstName": "Homo"}`, one))
		s.Same("structuredContent.withheld", true)
		if strings.Contains(s.String(), "Ecce") {
			t.Errorf("%s", s)
		}
	})
}

// A plan that its maker may no longer carry out alone waits for a person.
func TestAttackRaisedCell(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent, call := asking(t, a, "all")
		propose := func() string {
			t.Helper()
			v := call("proposals_create",
				`{"title": "x", "steps": [{"operation": "tasks.create", "input": {"title": "T"}}]}`).
				At("structuredContent.data")
			v.Same("status", "planned")
			return v.Text("id")
		}
		ref := propose()
		configure(t, a, agent, `"tasks.create": "ask"`)
		r := call("proposals_execute", fmt.Sprintf(`{"id": %q}`, ref)).At("structuredContent.error")
		r.Same("code", "PROPOSAL_BECAME_PENDING")
		r.Same("details.status", "pending")
		v := person(t, a, "proposals.get", fmt.Sprintf(`{"id": %q}`, ref)).OK(t, 200)
		v.Same("status", "pending")
		if n := count(t, a, "tasks", "TRUE"); n != 0 {
			t.Errorf("%d tasks", n)
		}
		person(t, a, "proposals.approve", fmt.Sprintf(`{"id": %q, "sha256": %q}`, ref, v.Text("sha256"))).OK(t, 200).
			Same("status", "executed")
		configure(t, a, agent, `"tasks.create": "allow"`)
		ref = propose()
		configure(t, a, agent, `"tasks.create": "deny"`)
		call("proposals_execute", fmt.Sprintf(`{"id": %q}`, ref)).
			Same("structuredContent.error.code", "INSUFFICIENT_PERMISSIONS")
		if n := count(t, a, "tasks", "TRUE"); n != 1 {
			t.Errorf("%d tasks", n)
		}
	})
}

// Undo shows and brings back only what its caller may read, withdraws what has not left,
// and names the call for what has its own way back.
func TestAttackUndoRights(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent, call := asking(t, a, "all")
		undo := func(key string) apptest.Value {
			t.Helper()
			return a.SendREST(t, key, "POST", "/v1/undo", fmt.Sprintf(`{"agentId": %q}`, agent)).OK(t, 201)
		}
		c := call("contacts_create", `{"lastName": "Zarathustra"}`).At("structuredContent.data").Text("id")
		note := call("contacts_notes_create", fmt.Sprintf(`{"id": %q, "body": "Thus spoke"}`, c)).
			At("structuredContent.data").Text("id")
		call("contacts_notes_delete", fmt.Sprintf(`{"id": %q, "noteId": %q}`, c, note))
		call("tasks_create", `{"title": "T"}`)
		blind, _ := a.NewKey(t, a.Tenant, "proposals:write", "proposals:read", "contacts:write", "tasks:write",
			"tasks:read")
		v := undo(blind)
		if s := v.String(); strings.Contains(s, "Thus spoke") || strings.Contains(s, "Zarathustra") {
			t.Errorf("%s", s)
		}
		v.Same("steps.0.operation", "tasks.delete")
		if v.At("steps").Len() != 1 || v.At("skipped").Len() == 0 {
			t.Errorf("%s", v)
		}

		later := a.Clock.Now().Add(48 * time.Hour).String()
		m := call("messages_create", fmt.Sprintf(`{"to": "ada@example.com", "subject": "x", "text": "x", "scheduledAt":
			%q}`, later)).At("structuredContent.data")
		m.Same("status", "scheduled")
		customer := call("customers_create", `{"name": "C"}`).At("structuredContent.data").Text("id")
		invoice := call("invoices_create", fmt.Sprintf(`{"customerId": %q, "currency": "eur", "lineItems":
			[{"description": "x", "quantity": "1", "unitAmountCents": 10000}]}`, customer)).
			At("structuredContent.data").Text("id")
		call("invoices_issue", fmt.Sprintf(`{"id": %q}`, invoice))
		paid := call("invoices_record_payment", fmt.Sprintf(`{"id": %q, "amountCents": 100, "idempotencyKey": "k"}`,
			invoice)).At("structuredContent.data").Text("id")
		v = undo(a.Key)
		if n := v.Number("effectsTotal"); int(n) != v.At("effects").Len() {
			t.Errorf("%v effects", n)
		}
		if s := v.At("steps").String(); !strings.Contains(s, "messages.cancel") {
			t.Errorf("%s", s)
		}
		found := false
		for i := range v.At("skipped").Len() {
			s := v.At(fmt.Sprintf("skipped.%d", i))
			if s.Text("resourceType") == "invoice.payment" {
				found = true
				s.Same("instead.operation", "invoices.payments.void")
				s.Same("instead.input.paymentId", paid)
				s.Same("instead.input.id", invoice)
			}
			if strings.Contains(s.String(), "mail that was sent") {
				t.Errorf("%s", s)
			}
		}
		if !found {
			t.Errorf("%s", v.At("skipped"))
		}
		a.SendREST(t, a.Key, "POST", "/v1/proposals/"+v.Text("id")+"/execute", "").OK(t, 200).Same("status", "executed")
		a.SendREST(t, a.Key, "GET", "/v1/messages/"+m.Text("id"), "").OK(t, 200).Same("status", "canceled")
	})
}

// For a key a plan counts as one request per step, when it is made and when it is
// carried out; a tool call counts as one.
func TestAttackPlanCost(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		left := func(r apptest.Result) (n int) {
			t.Helper()
			if _, err := fmt.Sscan(r.Header.Get("X-RateLimit-Remaining"), &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		free := a.NewTenant(t, "free")
		look := func() int { return left(a.SendREST(t, free.Key, "GET", "/v1/tasks?limit=1", "")) }
		steps := strings.TrimSuffix(strings.Repeat(`{"operation": "tasks.create", "input": {"title": "T"}},`, 20), ",")
		began, before := time.Now(), look()
		r := a.SendREST(t, free.Key, "POST", "/v1/proposals", `{"title": "x", "steps": [`+steps+`]}`)
		v := r.OK(t, 201)
		a.SendREST(t, free.Key, "POST", "/v1/proposals/"+v.Text("id")+"/execute", "").OK(t, 200).Same("status",
			"executed")
		spent := before - look()
		if back := int(time.Since(began).Seconds()) + 1; spent < 41-back || spent > 41 { // one comes back each second
			t.Errorf("a plan of 20 steps cost %d requests in all", spent)
		}
	})
}

// Whoever waits is woken at the end, and is not told the same again and again.
func TestAttackWait(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent, call := asking(t, a, "all")
		configure(t, a, agent, `"messages.create": "ask"`)
		s := call("messages_create", fmt.Sprintf(`{"to": "ada@example.com", "subject": "Hello", "text": %q}`,
			strings.Repeat("word ", 500)))
		ref := s.Text("structuredContent.proposalId")
		short := call("proposals_get", fmt.Sprintf(`{"id": %q, "waitSeconds": 1}`, ref))
		v := short.At("structuredContent.data")
		v.Same("status", "pending")
		v.Same("summary", "Send a mail to ada@example.com: “Hello”.")
		v.Same("effectsTotal", 1)
		v.Same("totals.mails", 1)
		if v.At("effects").Len() != 0 || strings.Contains(short.String(), "word word") {
			t.Errorf("%s", short)
		}
		full := call("proposals_get", fmt.Sprintf(`{"id": %q, "waitSeconds": 1, "view": "full"}`, ref))
		if full.At("structuredContent.data.effects").Len() != 1 {
			t.Errorf("%s", full)
		}
		// Through approved and executing it goes on waiting.
		held := make(chan struct{})
		go func() {
			defer close(held)
			p := person(t, a, "proposals.get", fmt.Sprintf(`{"id": %q, "waitSeconds": 20}`, ref)).OK(t, 200)
			if st := p.Text("status"); st != "rejected" {
				t.Errorf("woken at %s", st)
			}
		}()
		set := func(status string) {
			err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := db.Exec(ctx, tx, "UPDATE proposals SET status = $1 WHERE id = $2", status, ref)
				return err
			})
			if err != nil {
				t.Error(err)
			}
			time.Sleep(600 * time.Millisecond)
		}
		set("approved")
		set("executing")
		set("rejected")
		<-held
	})
}

// A person can look at a plan that is out of date as it would be now, and decide it.
func TestAttackStaleShownAnew(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent, call := asking(t, a, "all")
		configure(t, a, agent, `"contacts.update": "ask"`)
		ada := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		s := call("contacts_update", fmt.Sprintf(`{"id": %q, "firstName": "Augusta"}`, ada))
		ref := s.Text("structuredContent.proposalId")
		this := fmt.Sprintf(`{"id": %q}`, ref)
		a.SendREST(t, a.Key, "PATCH", "/v1/contacts/"+ada, `{"firstName": "Countess"}`).OK(t, 200)
		p := person(t, a, "proposals.get", this).OK(t, 200)
		approve := fmt.Sprintf(`{"id": %q, "sha256": %q}`, ref, p.Text("sha256"))
		person(t, a, "proposals.approve", approve).Refused(t, 409, "PROPOSAL_STALE")
		p = person(t, a, "proposals.refresh", this).OK(t, 200)
		p.Same("status", "pending")
		p.Same("effects.0.before.firstName", "Countess")
		if p.At("difference").Len() != 0 {
			t.Errorf("%s", p)
		}
		// A page that still shows what it was before does not approve it.
		person(t, a, "proposals.approve", approve).Refused(t, 409, "PROPOSAL_STALE")
		person(t, a, "proposals.get", this).OK(t, 200).Same("status", "pending")
		approve = fmt.Sprintf(`{"id": %q, "sha256": %q}`, ref, p.Text("sha256"))
		person(t, a, "proposals.approve", approve).OK(t, 200).Same("status", "executed")
		a.SendREST(t, a.Key, "GET", "/v1/contacts/"+ada, "").OK(t, 200).Same("firstName", "Augusta")
		person(t, a, "proposals.refresh", this).Refused(t, 409, "PROPOSAL_NOT_OPEN")
	})
}

// A cell that is raised while the steps are taken ends the plan at the step that it is for.
func TestAttackRaisedBetweenSteps(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		agent, call := asking(t, a, "all")
		raise := ""
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			configure(t, a, agent, raise)
		}))
		defer server.Close()
		hook := a.SendREST(t, a.Key, "POST", "/v1/webhooks", fmt.Sprintf(`{"url": %q, "events": ["task.created"]}`,
			server.URL)).OK(t, 201).Text("id")
		for _, level := range []string{"ask", "deny"} {
			configure(t, a, agent, `"contacts.create": "allow"`)
			ref := call("proposals_create", fmt.Sprintf(`{"title": "x", "steps": [
				{"operation": "webhooks.test", "input": {"id": %q}},
				{"operation": "contacts.create", "input": {"lastName": "New"}}]}`, hook)).
				Text("structuredContent.data.id")
			raise = fmt.Sprintf(`"contacts.create": %q`, level)
			call("proposals_execute", fmt.Sprintf(`{"id": %q}`, ref))
			v := ended(t, a, ref)
			if v.At("steps.0.completedAt").Null() || !v.At("steps.1.completedAt").Null() {
				t.Errorf("%s: %s", level, v)
			}
			v.Same("status", "failed")
			if n := count(t, a, "contacts", "TRUE"); n != 0 {
				t.Errorf("%s: %d contacts", level, n)
			}
		}
	})
}

// An approver needs the right to do each step by hand, and to spend where it spends.
func TestAttackNarrowApprover(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent, call := asking(t, a, "all")
		configure(t, a, agent, `"contacts.create": "ask", "domains.update": "ask"`)
		ref := call("proposals_create", `{"title": "x", "steps": [
			{"operation": "tasks.create", "input": {"title": "T"}},
			{"operation": "contacts.create", "input": {"lastName": "New"}}]}`).Text("structuredContent.data.id")
		p := person(t, a, "proposals.get", fmt.Sprintf(`{"id": %q}`, ref)).OK(t, 200)
		who := &op.Caller{Kind: op.UserActor, ID: a.OwnerID, User: a.OwnerID, Organization: a.Org, Business: a.Business,
			Plan: "enterprise", Role: "member", Agreements: []string{op.EveryAgreement}, MayApprove: true,
			Permissions: op.Permissions(0).With("proposals", op.ActionRead).With("proposals", op.ActionUpdate).
				With("tasks", op.ActionCreate)}
		approve := func() apptest.Result {
			t.Helper()
			answer, err := a.Runner.Do(t.Context(), a.Catalog.Named("proposals.approve"), op.Request{Caller: who,
				Door: op.ConsoleDoor, ID: string(id.New()), Body: func() ([]byte, error) {
					return fmt.Appendf(nil, `{"id": %q, "sha256": %q}`, ref, p.Text("sha256")), nil
				}})
			return apptest.ResultOf(t, answer, err)
		}
		r := approve().Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		if s := r.String(); !strings.Contains(s, "contacts") {
			t.Errorf("%s", s)
		}
		if n := count(t, a, "tasks", "TRUE") + count(t, a, "contacts", "TRUE"); n != 0 {
			t.Errorf("%d rows", n)
		}
		who.Permissions = who.Permissions.With("contacts", op.ActionCreate)
		approve().OK(t, 200).Same("status", "executed")
	})
}

// Over MCP each call spends one of the agent's allowance, whatever it holds.
func TestAttackToolCost(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		free := a.NewTenant(t, "free") // whose agents have 10 a minute
		_, access, _ := a.ConnectAgent(t, free, a.NewAgent(t, free, "all"))
		call := func(tool, arguments string) apptest.Result {
			t.Helper()
			return a.SendRPC(t, access, fmt.Sprintf(`{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params":
				{"name": %q, "arguments": %s}}`, tool, arguments))
		}
		began := time.Now()
		var steps, rows []string
		for i := range 30 {
			steps = append(steps, `{"operation": "tasks.create", "input": {"title": "T"}}`)
			rows = append(rows, fmt.Sprintf(`{"title": "T%d"}`, i))
		}
		plan := call("proposals_create", `{"title": "x", "steps": [`+strings.Join(steps, ",")+`]}`).ParseJSON(t)
		ref := plan.Text("result.structuredContent.data.id")
		done := call("proposals_execute", fmt.Sprintf(`{"id": %q}`, ref)).ParseJSON(t)
		done.Same("result.structuredContent.data.status", "executed")
		many := call("tasks_batch", `{"rows": [`+strings.Join(rows, ",")+`]}`).ParseJSON(t)
		if many.At("result.structuredContent.data.ids").Len() == 0 {
			t.Errorf("%s", many)
		}
		for i := range 8 {
			r := call("tasks_list", `{"limit": 1}`).ParseJSON(t)
			if over := i == 7; over != r.Has("error") && time.Since(began) < 5*time.Second { // one comes back in 6
				t.Errorf("call %d: %s", i+4, r)
			}
		}
	})
}
