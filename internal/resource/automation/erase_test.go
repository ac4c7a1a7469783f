package automation_test

import (
	"bytes"
	"fmt"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// found lists the values in all tables that contain a text.
func found(t testing.TB, a *apptest.App, text string) (where []string) {
	t.Helper()
	err := a.DB.Snapshot(t.Context(), func(s *db.Snapshot) error {
		for i := range s.Tables {
			r := &s.Tables[i]
			err := s.EachRow(t.Context(), r, "", nil, func(cells []db.Cell) error {
				for j, c := range cells {
					if bytes.Contains(bytes.ToLower(c.Text), []byte(text)) {
						where = append(where, r.Name+"."+r.Columns[j].Name)
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return where
}

// Erasing a person blanks what automations did about them, and only that.
func TestErasedExecutions(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		// The opt-in is refused for the second of the two contacts: its address
		// is taken.
		v := automate(t, a, a.Key, `{"name": "x", "trigger": {"kind": "event", "event": "contact.created"}, "steps": [
			{"operation": "tasks.create", "input": {"title": "Call {{ event.data.firstName }}",
				"contactId": "{{ event.resourceId }}"}, "saveAs": "task"},
			{"operation": "tasks.activity.create", "input": {"id": "{{ task.id }}",
				"body": "{{ event.data.firstName }} is new"}},
			{"operation": "contacts.update", "input": {"id": "{{ event.resourceId }}",
				"notes": "{{ event.data.firstName }}"}},
			{"operation": "contacts.get", "input": {"id": "{{ event.resourceId }}"}},
			{"operation": "tasks.update", "input": {"id": "{{ event.data.emails.0.id }}",
				"title": "{{ event.data.firstName }}"}}]}`)
		xantippe := contact(t, a, "Xantippe")
		contact(t, a, "Diotima")
		settle(t, a)
		named := automate(t, a, a.Key,
			`{"name": "x", "trigger": {"kind": "manual"}, "steps": [{"operation": "contacts.get", "input": {"id": "{{ `+
				`input.id }}"}}]}`)
		e := executionRun(t, a, named, fmt.Sprintf(`{"input": {"id": %q, "text": "xantippe"}}`, xantippe))
		settle(t, a)
		if n := count(t, a, "automation_executions", "automation_id = $2 AND status = 'failed'", v); n != 2 {
			t.Fatalf("%d failed: %v", n, executionsOf(t, a, v))
		}
		others := len(found(t, a, "diotima"))
		if n := len(found(t, a, "xantippe")); n < 15 {
			t.Errorf("only %d traces", n)
		}
		out := a.AsOperator(t, "contacts.erase", "contact", xantippe, fmt.Sprintf(`{"id": %q}`, xantippe))
		out.Same("rows.automation_executions", 2)
		if where := found(t, a, "xantippe"); len(where) > 0 {
			t.Errorf("still in %v", where)
		}
		if n := len(found(t, a, "diotima")); n != others {
			t.Errorf("somebody else lost %d of %d values", others-n, others)
		}
		post(t, a, e, "retry").Refused(t, 409, "AUTOMATION_EXECUTION_NOT_RETRYABLE")
		a.SendREST(t, a.Key, "GET", "/v1/automation-executions/"+string(e), "").OK(t, 200).Same("status", "succeeded")
	})
}
