package automation_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// work runs the service's jobs until the test ends.
func work(t testing.TB, a *apptest.App) {
	t.Helper()
	if err := a.Jobs.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := a.Jobs.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
}

// settle waits until no event is left to deliver and no execution left to run.
func settle(t testing.TB, a *apptest.App) {
	t.Helper()
	left := 0
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			left, err = db.QueryOne[int](ctx, tx, `
				SELECT count(*)
				FROM jobs
				WHERE kind IN ('event.fan_out', 'automation.execute') AND state IN ('ready', 'running')`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if left == 0 {
			return
		}
	}
	t.Fatalf("%d jobs are left", left)
}

// automate creates an automation with a key and returns its id.
func automate(t testing.TB, a *apptest.App, key, body string) id.ID {
	t.Helper()
	return a.SendREST(t, key, "POST", "/v1/automations", body).OK(t, 201).ID("id")
}

// onCreated is an automation that creates a task for every new contact.
const onCreated = `{"name": "Call", "trigger": {"kind": "event", "event": "contact.created"}, "steps": ` +
	`[{"operation": "tasks.create", "input": {"title": "Call {{ event.data.firstName }}", "contactId": "{{ ` +
	`event.resourceId }}"}}]}`

// executionsOf lists an automation's executions, newest first.
func executionsOf(t testing.TB, a *apptest.App, automation id.ID) apptest.Value {
	t.Helper()
	return a.SendREST(t, a.Key, "GET", "/v1/automations/"+string(automation)+"/executions?limit=100", "").OK(t, 200)
}

// only is the single execution of an automation.
func only(t testing.TB, a *apptest.App, automation id.ID) apptest.Value {
	t.Helper()
	list := executionsOf(t, a, automation)
	if list.Len() != 1 {
		t.Fatalf("%d executions: %v", list.Len(), list)
	}
	return list.At("0")
}

// ends asserts how the single execution of an automation ended.
func ends(t testing.TB, a *apptest.App, automation id.ID, status, why string) apptest.Value {
	t.Helper()
	settle(t, a)
	e := only(t, a, automation)
	if e.Text("status") != status || !strings.Contains(e.Text("errorMessage"), why) {
		t.Fatalf("it ended %s: %s, want %s: %s (%.2000s)", e.Text("status"), e.Text("errorMessage"), status, why,
			e.String())
	}
	return e
}

// count counts the organization's rows that match.
func count(t testing.TB, a *apptest.App, table, where string, args ...any) (n int) {
	t.Helper()
	err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.QueryOne[int](ctx, tx, "SELECT count(*) FROM "+table+" WHERE organization_id = $1 AND "+where,
			append([]any{a.Org}, args...)...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func contact(t testing.TB, a *apptest.App, name string) id.ID {
	t.Helper()
	return a.SendREST(t, a.Key, "POST", "/v1/contacts",
		fmt.Sprintf(`{"firstName": %q, "emails": [{"email": %q}]}`, name,
			strings.ToLower(name)+"@example.com")).OK(t, 201).ID("id")
}
