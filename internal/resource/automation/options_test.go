package automation_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

// The options name what the caller may use, and nothing else.
func TestAutomationOptions(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		all := call(t, "automations.options", `{}`).OK(t, 200)
		if all.At("events").Len() < 80 || all.At("operations").Len() < 100 || all.At("placeholders").Len() == 0 {
			t.Errorf("%d events, %d operations", all.At("events").Len(), all.At("operations").Len())
		}
		some := call(t, "automations.options", `{"query": "contact.updated"}`).OK(t, 200)
		some.Same("events.0.type", "contact.updated")
		if !strings.Contains(some.At("events.0.fields").String(), `"firstName"`) {
			t.Errorf("%s", some)
		}
		one := call(t, "automations.options", `{"query": "tasks.create"}`).OK(t, 200)
		one.Same("operations.0.name", "tasks.create")
		one.Same("operations.0.required.0", "title")
		key, _ := a.NewKey(t, a.Tenant, "automations:read", "tasks:read")
		few := a.SendREST(t, key, "GET", "/v1/automations/options", "").OK(t, 200).String()
		if strings.Contains(few, "contact.created") || strings.Contains(few, "invoices.") ||
			!strings.Contains(few, "tasks.list") || !strings.Contains(few, "task.created") {
			t.Errorf("%s", few)
		}
	})
}

// By hand an automation can be run for an event that happened.
func TestRunForAnEvent(t *testing.T) {
	apptest.EachDoorAlone(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201)
		// Its maker signs the steps; the door for callers inside has none.
		v := a.Door("rest", a.Tenant)(t, "automations.create", `{"name": "x",
			"trigger": {"kind": "event", "event": "contact.created"},
			"steps": [{"operation": "tasks.create", "input": {"title": "Call {{ event.data.firstName }}"}}]}`).
			OK(t, 201).Text("id")
		events := call(t, "events.list", `{"limit": 100}`).OK(t, 200)
		found := map[string]string{}
		for i := range events.Len() {
			found[events.Text(fmt.Sprintf("%d.type", i))] = events.Text(fmt.Sprintf("%d.id", i))
		}
		run := func(event string) apptest.Result {
			return call(t, "automations.run", fmt.Sprintf(`{"id": %q, "eventId": %q}`, v, event))
		}
		run(found["contact.created"]).OK(t, 200).Same("eventId", found["contact.created"])
		run(found["automation.created"]).Issues(t, "eventId")
		run("2b9e6f0c-41d7-4d0b-8a55-7c3f1e9d2a64").Issues(t, "eventId")
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		settle(t, a)
		if n := call(t, "tasks.list", `{"query": "Call Ada"}`).OK(t, 200).Len(); n != 1 {
			t.Errorf("%d tasks", n)
		}
		key, _ := a.NewKey(t, a.Tenant, "automations:write", "automations:read", "webhooks:read")
		a.SendREST(t, key, "POST", "/v1/automations/"+v+"/run",
			fmt.Sprintf(`{"eventId": %q}`, found["contact.created"])).
			Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
	})
}
