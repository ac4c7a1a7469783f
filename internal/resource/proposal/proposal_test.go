package proposal_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// person calls an operation as the owner does in the console.
func person(t testing.TB, a *apptest.App, operation, input string) apptest.Result {
	t.Helper()
	return personIn(t, a, a.OwnerID, operation, input)
}

func personIn(t testing.TB, a *apptest.App, user id.ID, operation, input string) apptest.Result {
	t.Helper()
	c := &op.Caller{Kind: op.UserActor, ID: user, User: user, Organization: a.Org, Business: a.Business,
		Plan: "enterprise", Role: "owner", Agreements: []string{op.EveryAgreement},
		Permissions: op.Everything().With(op.Account, op.ActionUpdate), MaySpend: true, MayApprove: true}
	answer, err := a.Runner.Do(context.Background(), a.Catalog.Named(operation), op.Request{Caller: c,
		Door: op.ConsoleDoor, ID: string(id.New()), Body: func() ([]byte, error) { return []byte(input), nil }})
	return apptest.ResultOf(t, answer, err)
}

// asking connects a client to an agent that proposes what it may not do alone.
func asking(t testing.TB, a *apptest.App, preset string) (agent id.ID,
	call func(tool, arguments string) apptest.Value) {
	t.Helper()
	agent = a.NewAgent(t, a.Tenant, preset)
	a.AsOperator(t, "agents.configure", "agent", agent, fmt.Sprintf(`{"id": %q, "askMode": "propose"}`, agent))
	_, access, _ := a.ConnectAgent(t, a.Tenant, agent)
	session := a.InitializeSession(t, access)
	return agent, func(tool, arguments string) apptest.Value {
		t.Helper()
		r := a.SendRPC(t, access,
			fmt.Sprintf(`{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": %q,
			"arguments": %s}}`, tool, arguments), session...)
		if r.Status != 200 {
			t.Fatalf("%s: %d %s", tool, r.Status, r.Body)
		}
		return r.ParseJSON(t).At("result")
	}
}

// count counts rows of the organization.
func count(t testing.TB, a *apptest.App, table, where string) (n int) {
	t.Helper()
	err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.QueryOne[int](ctx, tx, "SELECT count(*) FROM "+table+" WHERE organization_id = $1 AND "+where,
			a.Org)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// An agent's call waits for a person, is carried out once, and answers with what
// came of it.
func TestAskApproveResult(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent, call := asking(t, a, "helper")
		asked := call("messages_create", `{"to": "ada@example.com", "subject": "Hello", "text": "How are you?"}`)
		if asked.Has("isError") {
			t.Errorf("waiting is not an error: %s", asked)
		}
		s := asked.At("structuredContent")
		s.Same("status", "pending_approval")
		s.Same("summary", "Send a mail to ada@example.com: “Hello”.")
		s.Same("effects.0.kind", "send")
		s.Same("effects.0.recipients.0", "ada@example.com")
		if !strings.HasSuffix(s.Text("approvalUrl"), "/review/"+s.Text("proposalId")) {
			t.Errorf("%s", s)
		}
		if n := count(t, a, "messages", "TRUE"); n != 0 {
			t.Fatalf("%d messages before anybody decided", n)
		}
		again := call("messages_create", `{"text": "How are you?", "subject": "Hello", "to": "ada@example.com"}`)
		again.At("structuredContent").Same("proposalId", s.Text("proposalId"))
		ref := fmt.Sprintf(`{"id": %q}`, s.Text("proposalId"))
		p := person(t, a, "proposals.get", ref).OK(t, 200)
		p.Same("status", "pending")
		p.Same("totals.mails", 1)
		person(t, a, "proposals.approve", fmt.Sprintf(`{"id": %q, "sha256": %q}`, p.Text("id"),
			strings.Repeat("0", 64))).Refused(t, 409, "PROPOSAL_STALE")
		approve := fmt.Sprintf(`{"id": %q, "sha256": %q}`, p.Text("id"), p.Text("sha256"))
		person(t, a, "proposals.approve", approve).OK(t, 200).Same("status", "executed")
		person(t, a, "proposals.approve", approve).OK(t, 200).Same("status", "executed")
		if n := count(t, a, "messages", "TRUE"); n != 1 {
			t.Errorf("%d messages", n)
		}
		got := call("proposals_get", fmt.Sprintf(`{"id": %q, "waitSeconds": 45}`, p.Text("id")))
		got.At("structuredContent.data").Same("steps.0.result.subject", "Hello")
		done := call("messages_create", `{"to": "ada@example.com", "subject": "Hello", "text": "How are you?"}`)
		done.At("structuredContent.data").Same("subject", "Hello")
		if n := count(t, a, "messages", "TRUE"); n != 1 {
			t.Errorf("%d messages after the same call", n)
		}
		if n := count(t, a, "events", fmt.Sprintf(`type = 'message.created' AND actor_kind = 'agent'
			AND actor_id = '%s' AND proposal_id = '%s' AND approved_by = '%s'`,
			agent, p.Text("id"), a.OwnerID)); n != 1 {
			t.Error("the event does not tell who proposed and who approved")
		}
		if got := a.Events(t, "proposal."); got != "proposal.created proposal.approved proposal.executed" {
			t.Errorf("%s", got)
		}
	})
}

// A plan of several steps is shown whole, and carried out as one.
func TestPlan(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		body := `{"title": "Ada", "steps": [{"operation": "contacts.create", "input": {"firstName": "Ada"}, "saveAs":
			"ada"}, {"operation": "tasks.create", "input": {"title": "Call {{ ada.firstName }}", "contactId":
			"{{ ada.id }}"}}]}`
		p := a.SendREST(t, a.Key, "POST", "/v1/proposals", body).OK(t, 201)
		p.Same("status", "planned")
		p.Same("effects.0.summary", "Create the contact “Ada”.")
		p.Same("effects.1.after.title", "Call Ada")
		p.Same("effects.1.after.contactId", "new:1")
		if count(t, a, "contacts", "TRUE")+count(t, a, "tasks", "TRUE") != 0 {
			t.Fatal("a rehearsal left rows")
		}
		at := "/v1/proposals/" + p.Text("id")
		other, _ := a.NewKey(t, a.Tenant, "*")
		a.SendREST(t, other, "GET", at, "").Refused(t, 404, "NOT_FOUND")
		done := a.SendREST(t, a.Key, "POST", at+"/execute", "").OK(t, 200)
		done.Same("status", "executed")
		done.Same("steps.1.result.contactId", done.Text("steps.0.result.id"))
		a.SendREST(t, a.Key, "POST", at+"/execute", "").OK(t, 200)
		if count(t, a, "contacts", "TRUE") != 1 || count(t, a, "tasks", "TRUE") != 1 {
			t.Error("not carried out once")
		}

		// Somebody changed what was shown.
		ada := done.Text("steps.0.result.id")
		p = a.SendREST(t, a.Key, "POST", "/v1/proposals", fmt.Sprintf(`{"title": "x", "steps": [{"operation":
			"contacts.update", "input": {"id": %q, "firstName": "Augusta"}}]}`, ada)).OK(t, 201)
		p.Same("effects.0.before.firstName", "Ada")
		a.SendREST(t, a.Key, "PATCH", "/v1/contacts/"+ada, `{"firstName": "Countess"}`).OK(t, 200)
		stale := a.SendREST(t, a.Key, "POST", "/v1/proposals/"+p.Text("id")+"/execute", "")
		details := stale.Refused(t, 409, "PROPOSAL_STALE")
		if !strings.Contains(details.String(), `it was \"Ada\", now it is \"Countess\"`) {
			t.Errorf("%s", stale.Body)
		}
		a.SendREST(t, a.Key, "GET", "/v1/contacts/"+ada, "").OK(t, 200).Same("firstName", "Countess")
		a.SendREST(t, a.Key, "GET", "/v1/proposals/"+p.Text("id"), "").OK(t, 200).Same("status", "stale")

		// Even far behind what the effect shows of it.
		long := strings.Repeat("word ", 30_000)
		at = a.SendREST(t, a.Key, "POST", "/v1/email-templates",
			fmt.Sprintf(`{"name": "Long", "subject": "x", "body": %q}`, long+"the end")).OK(t, 201).Text("id")
		p = a.SendREST(t, a.Key, "POST", "/v1/proposals", fmt.Sprintf(`{"title": "x", "steps": [{"operation":
			"messages.create", "input": {"to": "ada@example.com", "templateId": %q}}]}`, at)).OK(t, 201)
		if text := p.Text("effects.0.after.text"); !strings.HasPrefix(text, "word word") || len(text) > 50_000 {
			t.Errorf("%d letters of a mail", len(text))
		}
		a.SendREST(t, a.Key, "PATCH", "/v1/email-templates/"+at, fmt.Sprintf(`{"body": %q}`, long+"another")).OK(t, 200)
		a.SendREST(t, a.Key, "POST", "/v1/proposals/"+p.Text("id")+"/execute", "").Refused(t, 409, "PROPOSAL_STALE")

		for steps, code := range map[string]string{
			``: "VALIDATION_ERROR",
			`{"operation": "proposals.create", "input": {}}`:                                "VALIDATION_ERROR",
			`{"operation": "contacts.update", "input": {"id": "` + string(id.New()) + `"}}`: "PROPOSAL_STEP_REFUSED",
			`{"operation": "contacts.create", "input": {"firstName": "A"}, "saveAs": "a"},
				{"operation": "tasks.create", "input": {"title": "{{ no.id }}"}}`: "VALIDATION_ERROR",
		} {
			r := a.SendREST(t, a.Key, "POST", "/v1/proposals", `{"title": "x", "steps": [`+steps+`]}`)
			if r.Code() != code {
				t.Errorf("%s: %s", steps, r.Body)
			}
		}
		narrow, _ := a.NewKey(t, a.Tenant, "proposals:write", "proposals:read", "contacts:read")
		a.SendREST(t, narrow, "POST", "/v1/proposals", fmt.Sprintf(`{"title": "x", "steps": [{"operation":
			"contacts.delete", "input": {"id": %q}}]}`, ada)).Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
	})
}

// Nothing happens after a rejection, a pause, a deactivation or the approver's leave.
func TestNoEffectAfter(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent, call := asking(t, a, "helper")
		n := 0
		propose := func() (ref, approve string) {
			n++
			s := call("files_delete", fmt.Sprintf(`{"id": %q}`, id.New()))
			s.Same("structuredContent.error.code", "NOT_FOUND") // a rehearsal refuses as the call would
			s = call("messages_create", fmt.Sprintf(`{"to": "ada@example.com", "subject": "No %d", "text": "x"}`, n))
			p := person(t, a, "proposals.get",
				fmt.Sprintf(`{"id": %q}`, s.Text("structuredContent.proposalId"))).OK(t, 200)
			return p.Text("id"), fmt.Sprintf(`{"id": %q, "sha256": %q}`, p.Text("id"), p.Text("sha256"))
		}
		ref, approve := propose()
		person(t, a, "proposals.reject", fmt.Sprintf(`{"id": %q, "reason": "We do not write to Ada."}`, ref)).OK(t, 200)
		person(t, a, "proposals.approve", approve).Refused(t, 409, "PROPOSAL_NOT_OPEN")
		said := call("messages_create", `{"to": "ada@example.com", "subject": "No 1", "text": "x"}`)
		said.Same("structuredContent.status", "rejected")
		said.Same("structuredContent.reason", "We do not write to Ada.")

		_, approve = propose()
		person(t, a, "agents.pause_all", `{}`).OK(t, 200)
		person(t, a, "proposals.approve", approve).Refused(t, 403, "AGENTS_PAUSED")
		call("me_get", `{}`).Same("structuredContent.error.code", "AGENTS_PAUSED")
		person(t, a, "agents.resume_all", `{}`).OK(t, 200)
		call("me_get", `{}`).Same("structuredContent.data.actorKind", "agent")

		colleague := a.AsOperator(t, "users.create", "organization", a.Org,
			`{"email": "colleague@example.com", "name": "C", "role": "member", "password": "a long password"}`).ID("id")
		a.AsOperator(t, "users.disable", "", "", `{"email": "colleague@example.com"}`)
		personIn(t, a, colleague, "proposals.approve", approve).Refused(t, 403, "INSUFFICIENT_PERMISSIONS")

		a.AsOperator(t, "agents.deactivate", "agent", agent, fmt.Sprintf(`{"id": %q}`, agent))
		person(t, a, "proposals.approve", approve).Refused(t, 401, "UNAUTHORIZED")
		if n := count(t, a, "messages", "TRUE"); n != 0 {
			t.Errorf("%d messages", n)
		}
	})
}

// Of 100 people who approve at once, one carries it out.
func TestApprovedOnce(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		_, call := asking(t, a, "helper")
		s := call("messages_create", `{"to": "ada@example.com", "subject": "Hello", "text": "x"}`)
		p := person(t, a, "proposals.get", fmt.Sprintf(`{"id": %q}`, s.Text("structuredContent.proposalId"))).OK(t, 200)
		approve := fmt.Sprintf(`{"id": %q, "sha256": %q}`, p.Text("id"), p.Text("sha256"))
		apptest.RunAtOnce(100, func(int) {
			if r := person(t, a, "proposals.approve", approve); r.Status != 200 && r.Status != 503 {
				t.Errorf("%d %s", r.Status, r.Body)
			}
		})
		if n := count(t, a, "messages", "TRUE"); n != 1 {
			t.Errorf("%d messages", n)
		}
		if got := a.Events(t, "proposal."); got != "proposal.created proposal.approved proposal.executed" {
			t.Errorf("%s", got)
		}
	})
}
