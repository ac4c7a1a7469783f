package automation_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
)

// A step that anybody who may read automations may take, with everything in the
// event as its input.
const eavesdrop = `{"name": "Ear", "status": "paused", "trigger": {"kind": "event", "event": %q},
	"steps": [{"operation": "automations.list", "input": {"limit": 1, "offset": "{{ event.data }}"}}]}`

// A key for automations alone learns nothing about the rest of the organization
// through an automation: not by writing one, not by redirecting somebody
// else's, and not by testing one.
func TestAttackReadThroughAutomations(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		const secret = "Xanthippe"
		a.SendREST(t, a.Key, "POST", "/v1/contacts", fmt.Sprintf(`{"firstName": %q}`, secret)).OK(t, 201)
		only, _ := a.NewKey(t, a.Tenant, "automations:read", "automations:write")
		refused := func(method, path, body, permission string) {
			t.Helper()
			res := a.SendREST(t, only, method, path, body)
			if strings.Contains(string(res.Body), secret) {
				t.Errorf("%s %s tells: %s", method, path, res.Body)
			}
			v := res.Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
			if permission != "" {
				v.Same("details.permission", permission)
			}
		}
		for event, permission := range map[string]string{
			"contact.created": "contacts:read", "message.created": "messages:read", "message.received": "messages:read",
			"invoice.overdue": "invoices:read", "operation.failed": "domains:read",
			"contact.property.created": "properties:read",
			"api_key.created":          "", "invite.created": "", "agent.connected": "", "user.password_changed": "",
		} {
			refused("POST", "/v1/automations", fmt.Sprintf(eavesdrop, event), permission)
		}
		// Keys get no account events, whatever their permissions.
		a.SendREST(t, a.Key, "POST", "/v1/automations", fmt.Sprintf(eavesdrop, "api_key.created")).
			Refused(t, 403, "INSUFFICIENT_PERMISSIONS")

		mine := automate(t, a, only, fmt.Sprintf(eavesdrop, "automation.created"))
		trigger := `{"trigger": {"kind": "event", "event": "contact.created"}}`
		refused("PATCH", "/v1/automations/"+string(mine), trigger, "contacts:read")

		theirs := automate(t, a, a.Key, fmt.Sprintf(eavesdrop, "contact.created"))
		a.SendREST(t, a.Key, "POST", "/v1/automations/"+string(theirs)+"/test", "{}").OK(t, 200)
		refused("POST", "/v1/automations/"+string(theirs)+"/test", "{}", "contacts:read")
		// A condition reveals data by what it skips.
		refused("PATCH", "/v1/automations/"+string(theirs), `{"condition": "event.data.firstName > 'N'"}`,
			"contacts:read")
		a.SendREST(t, only, "PATCH", "/v1/automations/"+string(theirs), `{"name": "Renamed"}`).OK(t, 200)
	})
}

// What an automation worked with is visible only to those who may read it.
func TestAttackReadThroughExecutions(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		const secret = "Xanthippe"
		v := automate(t, a, a.Key, `{"name": "Look", "trigger": {"kind": "event", "event": "contact.created"},
			"steps": [{"operation": "contacts.get", "input": {"id": "{{ event.resourceId }}"}, "saveAs": "who"},
				{"operation": "tasks.create", "input": {"title": "Call {{ who.firstName }}"}}]}`)
		a.SendREST(t, a.Key, "POST", "/v1/contacts", fmt.Sprintf(`{"firstName": %q}`, secret)).OK(t, 201)
		e := ends(t, a, v, "succeeded", "")
		if !strings.Contains(e.String(), secret) {
			t.Fatalf("the owner's key does not see what happened: %s", e)
		}
		key, _ := a.NewKey(t, a.Tenant, "automations:read", "automations:write")
		for _, path := range []string{"/v1/automation-executions/" + e.Text("id"), "/v1/automation-executions",
			"/v1/automations/" + string(v) + "/executions"} {
			res := a.SendREST(t, key, "GET", path, "")
			res.OK(t, 200)
			if strings.Contains(string(res.Body), secret) {
				t.Errorf("%s tells a key for automations alone: %s", path, res.Body)
			}
		}
		got := a.SendREST(t, key, "GET", "/v1/automation-executions/"+e.Text("id"), "").OK(t, 200)
		got.Same("status", "succeeded")
		got.Same("steps.0.operation", "contacts.get")
		got.Same("steps.0.outputOmitted", true)
		got.Same("steps.1.inputOmitted", true)
	})
}

// A permission that is lost is lost for steps that were signed with it.
func TestAttackRunWithLostRight(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		agent := a.NewAgent(t, a.Tenant, "all")
		_, access, _ := a.ConnectAgent(t, a.Tenant, agent)
		made := a.SendRPC(t, access,
			`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "automations_create", "arguments":
			{"name": "Copy", "trigger": {"kind": "event", "event": "contact.created"},
			"steps": [{"operation": "tasks.create", "input": {"title": "{{ event.data.firstName }}"}}]}}}`)
		v := id.ID(made.ParseJSON(t).Text("result.structuredContent.data.id"))
		a.AsOperator(t, "agents.set_permissions", "agent", agent,
			fmt.Sprintf(`{"id": %q, "permissions": {"contacts.read": "deny"}}`, agent))
		a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Xanthippe"}`).OK(t, 201)
		ends(t, a, v, "failed", "contacts:read")
		if list := a.SendREST(t, a.Key, "GET", "/v1/tasks", "").OK(t, 200); list.Len() != 0 {
			t.Errorf("it ran all the same: %s", list)
		}
	})
}

// The events of executions reveal no more than an execution does: anybody who
// may read automations may receive them.
func TestAttackReadThroughExecutionEvents(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		const secret = "Xanthippe"
		v := automate(t, a, a.Key, `{"name": "Look", "trigger": {"kind": "event", "event": "contact.created"},
			"steps": [{"operation": "contacts.get", "input": {"id": "{{ event.resourceId }}"}, "saveAs": "who"},
				{"operation": "tasks.get", "input": {"id": "{{ who.firstName }}"}}]}`)
		a.SendREST(t, a.Key, "POST", "/v1/contacts", fmt.Sprintf(`{"firstName": %q}`, secret)).OK(t, 201)
		e := ends(t, a, v, "failed", "tasks.get")
		key, _ := a.NewKey(t, a.Tenant, "automations:read", "automations:write")
		a.SendREST(t, key, "POST", "/v1/automation-executions/"+e.Text("id")+"/retry", "{}").OK(t, 200)
		ends(t, a, v, "failed", "tasks.get")
		for _, event := range []string{"automation_execution.failed", "automation_execution.retried"} {
			ear := automate(t, a, key, fmt.Sprintf(eavesdrop, event))
			res := a.SendREST(t, key, "POST", "/v1/automations/"+string(ear)+"/test", "{}")
			res.OK(t, 200).Same("runs.0.eventType", event)
			if strings.Contains(string(res.Body), secret) {
				t.Errorf("%s tells a key for automations alone: %s", event, res.Body)
			}
		}
	})
}

// Whatever a user made through an agent stops with the user, like their
// webhooks.
func TestAttackAutomationOfDisabledUser(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		eve := a.Tenant
		eve.OwnerID = a.AsOperator(t, "users.create", "organization", a.Org,
			`{"email": "eve@example.com", "name": "Eve", "role": "member", "password": "a long password"}`).ID("id")
		_, access, _ := a.ConnectAgent(t, eve, a.NewAgent(t, a.Tenant, "all"))
		made := a.SendRPC(t, access,
			`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "automations_create", "arguments":
			{"name": "Copy", "trigger": {"kind": "event", "event": "contact.created"},
			"steps": [{"operation": "tasks.create", "input": {"title": "{{ event.data.firstName }}"}}]}}}`)
		v := id.ID(made.ParseJSON(t).Text("result.structuredContent.data.id"))
		a.AsOperator(t, "users.disable", "", "", `{"email": "eve@example.com"}`)
		a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Xanthippe"}`).OK(t, 201)
		ends(t, a, v, "failed", "disabled")
		if list := a.SendREST(t, a.Key, "GET", "/v1/tasks", "").OK(t, 200); list.Len() != 0 {
			t.Errorf("it ran all the same: %s", list)
		}
	})
}

// An answer kept under a key is only for those who may make the request.
func TestAttackReplayedTest(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		const secret = "Xanthippe"
		a.SendREST(t, a.Key, "POST", "/v1/contacts", fmt.Sprintf(`{"firstName": %q}`, secret)).OK(t, 201)
		path := "/v1/automations/" + string(automate(t, a, a.Key, fmt.Sprintf(eavesdrop, "contact.created"))) + "/test"
		a.SendREST(t, a.Key, "POST", path, "{}", "Idempotency-Key", "1").OK(t, 200)
		key, _ := a.NewKey(t, a.Tenant, "automations:read", "automations:write")
		res := a.SendREST(t, key, "POST", path, "{}", "Idempotency-Key", "1")
		res.Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		if again := a.SendREST(t, a.Key, "POST", path, "{}", "Idempotency-Key",
			"1"); again.Header.Get("Idempotency-Replay") != "true" {
			t.Errorf("it is not replayed to who may read it: %s", again.Body)
		}
		a.SendREST(t, a.Key, "POST", path, `{"limit": 0}`, "Idempotency-Key", "1").Refused(t, 422,
			"IDEMPOTENCY_KEY_REUSED")
	})
}

// What an execution saved for its later steps goes when there are none any more, and
// all of it has a bound, since no storage limit counts it.
func TestAttackSaved(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		row := `{"firstName": "x", "notes": "` + strings.Repeat("x", 10000) + `"}`
		a.SendREST(t, a.Key, "POST", "/v1/contacts/batch",
			`{"rows": [`+strings.TrimSuffix(strings.Repeat(row+",", 90), ",")+`]}`).OK(t, 200)
		lists := func(n int) id.ID {
			var steps []string
			for i := range n {
				steps = append(steps, fmt.Sprintf(`{"operation": "contacts.list", "input": {"limit": 100},
					"saveAs": "s%d"}`, i))
			}
			return automate(t, a, a.Key, `{"name": "x", "trigger": {"kind": "manual"}, "steps": [`+
				strings.Join(steps, ",")+`]}`)
		}
		few, many := lists(2), lists(5)
		executionRun(t, a, few, `{}`)
		ends(t, a, few, "succeeded", "")
		if n := count(t, a, "automation_executions", "saved IS NOT NULL"); n != 0 {
			t.Error("an execution that succeeded keeps the answers of its steps")
		}
		executionRun(t, a, many, `{}`)
		ends(t, a, many, "failed", "can be saved in all")
	})
}
