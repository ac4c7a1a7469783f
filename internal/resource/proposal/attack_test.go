package proposal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
)

// A plan is rehearsed while others wait to write, so it cannot be made to take long.
func TestAttackPlan(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		free := a.NewTenant(t, "free")
		propose := func(steps ...string) apptest.Result {
			t.Helper()
			free = a.NewTenant(t, "free") // a step counts as a request
			return a.SendREST(t, free.Key, "POST", "/v1/proposals",
				fmt.Sprintf(`{"title": "x", "steps": [%s]}`, strings.Join(steps, ",")))
		}
		batch := func(rows int) string {
			return fmt.Sprintf(`{"operation": "contacts.batch", "input": {"rows": [%s]}}`,
				strings.TrimSuffix(strings.Repeat(`{"firstName": "A"},`, rows), ","))
		}
		// Text that placeholders multiply.
		steps := []string{fmt.Sprintf(`{"operation": "contacts.create", "saveAs": "a", "input": {"firstName": "A",
			"notes": %q}}`, strings.Repeat("<b>", 3333))}
		for range 49 {
			steps = append(steps, fmt.Sprintf(`{"operation": "messages.create", "input": {"to": "a@example.com",
				"subject": "x", "draft": true, "html": %q}}`, strings.Repeat("{{ a.notes }}", 49)))
		}
		if r := propose(steps...).Refused(t, 400, "VALIDATION_ERROR"); !strings.Contains(r.String(), "megabyte") {
			t.Errorf("%s", r)
		}
		// Rows count as they do elsewhere, and too many are not even tried.
		propose(batch(400), batch(400), batch(400)).Refused(t, 422, "PROPOSAL_TOO_LARGE")
		left := func(r apptest.Result) (n int) {
			t.Helper()
			if _, err := fmt.Sscan(r.Header.Get("X-RateLimit-Remaining"), &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		began := time.Now()
		propose(batch(250), batch(250)).OK(t, 201)
		spent := 60 - left(a.SendREST(t, free.Key, "GET", "/v1/contacts", ""))
		if back := int(time.Since(began).Seconds()) + 1; spent < 21-back || spent > 21 { // one comes back each second
			t.Errorf("500 rows cost %d requests", spent)
		}
	})
}

// An undo of which much is refused takes two rehearsals more, not one for each step.
func TestAttackUndo(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		const each = 200
		agent, call := asking(t, a, "all")
		rows := func(one string) string {
			return `{"rows": [` + strings.TrimSuffix(strings.Repeat(one+",", each), ",") + `]}`
		}
		call("tasks_batch", rows(`{"title": "T"}`))
		call("contacts_batch", rows(`{"firstName": "C"}`))
		undo := func(permissions ...string) (apptest.Value, time.Duration) {
			t.Helper()
			key, _ := a.NewKey(t, a.Tenant, append(permissions, "proposals:write", "contacts:read", "tasks:read")...)
			began := time.Now()
			v := a.SendREST(t, key, "POST", "/v1/undo", fmt.Sprintf(`{"agentId": %q}`, agent)).OK(t, 201)
			return v, time.Since(began)
		}
		_, whole := undo("contacts:write", "tasks:write")
		v, part := undo("contacts:write")
		for try := 0; try < 2 && part > 10*whole+2*time.Second; try++ { // the machine may have stood still
			v, part = undo("contacts:write")
		}
		// On a slow machine it is one step, which a job takes in parts.
		large := v.At("steps").Len() == 1 && v.Text("steps.0.operation") == "undo.create"
		if steps, skipped := v.At("steps").Len(), v.At("skipped").Len(); !large && (steps != each || skipped != each) {
			t.Errorf("%d steps, %d skipped", steps, skipped)
		}
		if part > 10*whole+2*time.Second {
			t.Errorf("with refusals it took %v, without %v", part, whole)
		}
	})
}
