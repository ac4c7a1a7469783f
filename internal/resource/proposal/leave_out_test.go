package proposal_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// A person leaves a step out of an agent's plan, sees what is left, puts it back, leaves it
// out again and approves: what was shown last is what is done, and the agent is told.
func TestLeaveOut(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent, call := asking(t, a, "helper")
		a.AsOperator(t, "agents.set_permissions", "agent", agent, fmt.Sprintf(
			`{"id": %q, "permissions": {"contacts.create": "ask", "tasks.create": "ask"}}`, agent))
		made := call("proposals_create", `{"title": "Ada", "steps": [
			{"operation": "contacts.create", "input": {"firstName": "Ada"}, "saveAs": "ada"},
			{"operation": "tasks.create", "input": {"title": "Call {{ ada.firstName }}", "contactId": "{{ ada.id }}"}},
			{"operation": "tasks.create", "input": {"title": "Buy paper"}}]}`).At("structuredContent.data")
		ref := made.Text("id")
		refresh := func(positions string) apptest.Result {
			t.Helper()
			return person(t, a, "proposals.refresh", fmt.Sprintf(`{"id": %q, "leaveOut": %s}`, ref, positions))
		}
		for _, wrong := range []string{"[0]", "[0, 1, 2]", "[3]", "[-1]", "[0, 2]"} {
			refresh(wrong).Issues(t, "leaveOut")
		}
		left := refresh("[1]").OK(t, 200)
		left.Same("status", "pending")
		left.Same("leftOut.0.position", 1)
		left.Same("steps.1.input.title", "Buy paper")
		left.Same("effectsTotal", 2)
		if left.Text("sha256") == made.Text("sha256") {
			t.Error("the sum is that of the whole plan")
		}
		back := refresh("[]").OK(t, 200)
		back.Same("effectsTotal", 3)
		back.Same("steps.1.input.title", "Call {{ ada.firstName }}")
		left = refresh("[0, 1]").OK(t, 200)
		left.Same("effectsTotal", 1)

		approve := func(sum string) apptest.Result {
			t.Helper()
			return person(t, a, "proposals.approve", fmt.Sprintf(`{"id": %q, "sha256": %q}`, ref, sum))
		}
		approve(made.Text("sha256")).Refused(t, 409, "PROPOSAL_STALE") // a page that shows the whole plan
		approve(back.Text("sha256")).Refused(t, 409, "PROPOSAL_STALE")
		approve(left.Text("sha256")).OK(t, 200).Same("status", "executed")
		if n := count(t, a, "tasks", "title = 'Buy paper'"); n != 1 {
			t.Errorf("%d tasks", n)
		}
		if n := count(t, a, "contacts", "first_name = 'Ada'") + count(t, a, "tasks", "title LIKE 'Call%'"); n != 0 {
			t.Errorf("%d rows of steps that were left out", n)
		}
		refresh("[2]").Refused(t, 409, "PROPOSAL_NOT_OPEN")
		got := call("proposals_get", fmt.Sprintf(`{"id": %q}`, ref)).At("structuredContent.data")
		got.Same("leftOut.0.operation", "contacts.create")
		got.Same("leftOut.1.position", 1)
	})
}

// A text in braces that is no placeholder stays as it is when the step before it is left out.
func TestLeaveOutKeepsWords(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		_, call := asking(t, a, "helper")
		made := call("proposals_create", `{"title": "Two mails", "steps": [
			{"operation": "messages.create", "input": {"to": "a@example.com", "subject": "One {{ x }}", "text": "1"}},
			{"operation": "messages.create", "input": {"to": "b@example.com", "subject": "Two {{ x }}",
				"text": "2"}}]}`).
			At("structuredContent.data")
		left := person(t, a, "proposals.refresh", fmt.Sprintf(`{"id": %q, "leaveOut": [0]}`, made.Text("id"))).
			OK(t, 200)
		if text := left.Text("effects.0.summary"); !strings.Contains(text, "b@example.com: “Two {{ x }}”") {
			t.Error(text)
		}
		left.Same("totals.mails", 1)
	})
}

// Nothing is left out of a large undo, whose only step is a job, nor of what has expired.
func TestLeaveOutOfProposalThatCannot(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		_, call := asking(t, a, "helper")
		refresh := func(set string, value any) apptest.Result {
			t.Helper()
			ref := call("proposals_create", `{"title": "Two mails", "steps": [
				{"operation": "messages.create", "input": {"to": "a@example.com", "subject": "One", "text": "1"}},
				{"operation": "messages.create", "input": {"to": "b@example.com", "subject": "Two", "text": "2"}}]}`).
				Text("structuredContent.data.id")
			if err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := db.Exec(ctx, tx, "UPDATE proposals SET "+set+" = $1 WHERE id = $2", value, ref)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return person(t, a, "proposals.refresh", fmt.Sprintf(`{"id": %q, "leaveOut": [0]}`, ref))
		}
		refresh("undo", `{"of": {}, "from": 0, "until": 0, "at": 0, "before": 0}`).Issues(t, "leaveOut")
		refresh("expires_at", a.Clock.Now().Add(-time.Second)).Refused(t, 409, "PROPOSAL_NOT_OPEN")
	})
}

// What a deletion takes along is counted for people, and not told to the agent.
func TestDeletions(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent, call := asking(t, a, "helper")
		a.AsOperator(t, "agents.set_permissions", "agent", agent, fmt.Sprintf(
			`{"id": %q, "permissions": {"contacts.delete": "ask"}}`, agent))
		c := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada", "phoneNumbers": [
			{"phoneNumber": "+14155550100"}, {"phoneNumber": "+14155550101"}]}`).OK(t, 201).Text("id")
		a.SendREST(t, a.Key, "POST", "/v1/contacts/"+c+"/notes", `{"body": "Kind"}`).OK(t, 201)
		a.SendREST(t, a.Key, "POST", "/v1/tasks", fmt.Sprintf(`{"title": "Call", "contactId": %q}`, c)).OK(t, 201)
		asked := call("contacts_delete", fmt.Sprintf(`{"id": %q}`, c)).At("structuredContent")
		ref := fmt.Sprintf(`{"id": %q}`, asked.Text("proposalId"))
		d := person(t, a, "proposals.deletions", ref).OK(t, 200)
		d.Same("keptHours", int(a.Settings.Retention.Deleted.Hours()))
		d.Same("deletions.0.resourceId", c)
		d.Same("deletions.0.restorable", true)
		for path, want := range map[string]any{"goes.0.noun": "note", "goes.0.count": 1, "goes.1.noun": "phone number",
			"goes.1.count": 2, "stays.0.noun": "task", "stays.0.count": 1} {
			d.Same("deletions.0."+path, want)
		}
		if strings.Contains(asked.String(), `"task"`) {
			t.Errorf("the agent is told: %s", asked)
		}
	})
}
