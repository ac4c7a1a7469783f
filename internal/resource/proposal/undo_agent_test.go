package proposal_test

import (
	"fmt"
	"testing"

	"frontdesk/internal/apptest"
)

// An agent that may do everything alone still cannot undo without a person, not even its own work.
func TestAgentUndoWaits(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent, call := asking(t, a, "all")
		call("tasks_create", `{"title": "Call Ada"}`)
		v := call("undo_create", fmt.Sprintf(`{"agentId": %q, "view": "full"}`, agent)).At("structuredContent.data")
		v.Same("status", "pending")
		v.Same("because", "ask")
		v.Same("effects.0.kind", "delete")
		if v.Text("approvalUrl") == "" {
			t.Errorf("no link for a person: %s", v)
		}
		ref := fmt.Sprintf(`{"id": %q}`, v.Text("id"))
		call("proposals_execute", ref).Same("structuredContent.error.code", "PROPOSAL_NEEDS_APPROVAL")
		if n := count(t, a, "tasks", "deleted_at IS NULL"); n != 1 {
			t.Errorf("%d tasks", n)
		}
		person(t, a, "proposals.approve", fmt.Sprintf(`{"id": %q, "sha256": %q}`, v.Text("id"), v.Text("sha256"))).
			OK(t, 200).Same("status", "executed")
		if n := count(t, a, "tasks", "deleted_at IS NULL"); n != 0 {
			t.Errorf("%d tasks are left", n)
		}

		// What it may not delete stays, and is named.
		call("tasks_create", `{"title": "Call Bob"}`)
		configure(t, a, agent, `"tasks.delete": "deny"`)
		v = call("undo_create", fmt.Sprintf(`{"agentId": %q, "view": "full"}`, agent)).At("structuredContent.data")
		v.Same("status", "pending")
		if v.At("skipped").Len() == 0 {
			t.Errorf("nothing is skipped: %s", v)
		}
		call("undo_create", `{}`).Same("structuredContent.error.code", "VALIDATION_ERROR")
	})
}
