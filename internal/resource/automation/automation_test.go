package automation_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
)

// A new contact that meets the condition gets a task and an opt-in; another is
// skipped. The door is that of whoever creates and watches the automation.
func TestStory(t *testing.T) {
	apptest.EachDoorAlone(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		work(t, a)
		maker := call
		if strings.HasSuffix(t.Name(), "/action") {
			maker = a.Door("rest", a.Tenant) // the caller of that door is an automation without a maker
		}
		v := maker(t, "automations.create",
			`{"name": "Welcome", "description": "Call and ask", "trigger": {"kind": "event",
				"event": "contact.created"},
			"condition": "event.data.firstName.startsWith('A') && size(event.data.emails) > 0",
			"steps": [{"operation": "tasks.create",
				"input": {"title": "Call {{ event.data.firstName }} {{ event.data.lastName | default: \"\" }}",
					"contactId": "{{ event.resourceId }}"}, "saveAs": "task"},
				{"operation": "email_opt_ins.create", "input": {"email": "{{ event.data.emails.0.email }}",
					"contactId": "{{ event.resourceId }}", "source": "Task {{ task.id }}"}},
				{"operation": "tasks.update", "input": {"id": "{{ task.id }}", "priority": "high"}}]}`).OK(t, 201)
		v.Same("status", "active")
		v.Same("trigger.event", "contact.created")
		v.Same("steps.0.saveAs", "task")
		if !v.At("nextRunAt").Null() || !v.Has("condition") || v.Text("makerKind") == "" {
			t.Errorf("%v", v)
		}
		automation := v.Text("id")
		ada := call(t, "contacts.create",
			`{"firstName": "Ada", "emails": [{"email": "ada@example.com"}]}`).OK(t, 201).Text("id")
		call(t, "contacts.create", `{"firstName": "Bob"}`).OK(t, 201)
		settle(t, a)

		list := call(t, "automations.executions.list", fmt.Sprintf(`{"id": %q}`, automation)).OK(t, 200)
		if list.Len() != 2 {
			t.Fatalf("executions: %v", list)
		}
		done := call(t, "automation_executions.list",
			fmt.Sprintf(`{"automationId": %q, "status": "succeeded"}`, automation)).OK(t, 200)
		if done.Len() != 1 {
			t.Fatalf("executions: %v", list)
		}
		e := call(t, "automation_executions.get", fmt.Sprintf(`{"id": %q}`, done.Text("0.id"))).OK(t, 200)
		e.Same("trigger", "event")
		e.Same("eventType", "contact.created")
		e.Same("steps.0.input.title", "Call Ada ")
		e.Same("steps.0.attempts", 1)
		e.Same("steps.1.output.email", "ada@example.com")
		e.Same("steps.2.output.priority", "high")
		task := e.Text("steps.0.output.id")
		e.Same("steps.1.input.source", "Task "+task)
		if e.At("startedAt").Null() || e.At("completedAt").Null() || !e.At("errorMessage").Null() ||
			e.Text("eventId") == "" {
			t.Errorf("%v", e)
		}
		if n := call(t, "automation_executions.list", `{"status": "skipped"}`).OK(t, 200).Len(); n != 1 {
			t.Errorf("%d skipped", n)
		}
		call(t, "tasks.get", fmt.Sprintf(`{"id": %q}`, task)).OK(t, 200).Same("contactId", ada)
		byAutomation := "actor_kind = 'automation' AND door = 'automation' AND actor_id = $2 AND request_id = $3 AND " +
			"type IN ('task.created', 'email_opt_in.created', 'task.updated')"
		if n := count(t, a, "events", byAutomation, automation, e.Text("id")); n != 3 {
			t.Errorf("%d events by the automation", n)
		}

		// The same as a rehearsal changes nothing.
		before := count(t, a, "events", "TRUE")
		runs := call(t, "automations.test", fmt.Sprintf(`{"id": %q}`, automation)).OK(t, 200)
		runs.Same("runs.0.runs", false)
		runs.Same("runs.1.runs", true)
		runs.Same("runs.1.steps.0.input.title", "Call Ada ")
		runs.Same("runs.1.steps.2.input.id", "{{ task.id }}")
		if n := count(t, a, "events", "TRUE"); n != before || count(t, a, "tasks", "TRUE") != 1 {
			t.Errorf("a rehearsal wrote events: %d, then %d", before, n)
		}

		// Paused, it receives no events and cannot be run.
		call(t, "automations.update",
			fmt.Sprintf(`{"id": %q, "status": "paused"}`, automation)).OK(t, 200).Same("status", "paused")
		call(t, "automations.update", fmt.Sprintf(`{"id": %q, "status": "paused"}`, automation)).OK(t, 200)
		call(t, "automations.run", fmt.Sprintf(`{"id": %q}`, automation)).Refused(t, 409, "AUTOMATION_PAUSED")
		call(t, "contacts.create", `{"firstName": "Anna", "emails": [{"email": "anna@example.com"}]}`).OK(t, 201)
		settle(t, a)
		if n := call(t, "automations.executions.list", fmt.Sprintf(`{"id": %q}`, automation)).OK(t, 200).Len(); n != 2 {
			t.Errorf("%d executions", n)
		}
		call(t, "automations.delete", fmt.Sprintf(`{"id": %q}`, automation)).OK(t, 204)
		call(t, "automations.get", fmt.Sprintf(`{"id": %q}`, automation)).Refused(t, 404, "NOT_FOUND")
		call(t, "automations.executions.list", fmt.Sprintf(`{"id": %q}`, automation)).Refused(t, 404, "NOT_FOUND")
		call(t, "automation_executions.get", fmt.Sprintf(`{"id": %q}`, e.Text("id"))).OK(t, 200)
		if got := a.Events(t, "automation."); got != "automation.created automation.updated automation.deleted" {
			t.Errorf("events: %s", got)
		}
	})
}

// Invalid parts are refused, each at its own path.
func TestRefusals(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		good := `{"name": "x", "trigger": {"kind": "manual"}, "steps": [{"operation": "tasks.create", "input": ` +
			`{"title": ` +
			`"x"}}]}`
		with := func(field, value string) string {
			fields := map[string]string{"name": `"x"`, "trigger": `{"kind": "event", "event": "contact.created"}`,
				"steps": `[{"operation": "tasks.create", "input": {"title": "x"}}]`}
			fields[field] = value
			var parts []string
			for k, v := range fields {
				parts = append(parts, fmt.Sprintf("%q: %s", k, v))
			}
			return "{" + strings.Join(parts, ", ") + "}"
		}
		step := func(s string) string { return with("steps", "["+s+"]") }
		var many []string
		for range 21 {
			many = append(many, `{"operation": "tasks.list"}`)
		}
		for _, c := range []struct{ body, at string }{
			{with("trigger", `{"kind": "event"}`), "trigger.event"},
			{with("trigger", `{"kind": "event", "event": "contact.exploded"}`), "trigger.event"},
			{with("trigger", `{"kind": "event", "event": "*"}`), "trigger.event"},
			{with("trigger", `{"kind": "event", "event": "contact.created", "cron": "@daily"}`), "trigger.cron"},
			{with("trigger", `{"kind": "schedule"}`), "trigger.cron"},
			{with("trigger", `{"kind": "schedule", "cron": "61 * * * *"}`), "trigger.cron"},
			{with("trigger", `{"kind": "schedule", "cron": "0 0 30 2 *"}`), "trigger.cron"},
			{with("trigger", `{"kind": "schedule", "cron": "TZ=UTC 0 0 * * *"}`), "trigger.cron"},
			{with("trigger", `{"kind": "schedule", "cron": "@every 1s"}`), "trigger.cron"},
			{with("trigger", `{"kind": "schedule", "cron": "* * * * * *"}`), "trigger.cron"},
			{with("trigger", `{"kind": "schedule", "cron": "@daily", "timezone": "Mars/Olympus"}`), "trigger.timezone"},
			{with("trigger", `{"kind": "manual", "timezone": "UTC"}`), "trigger.timezone"},
			{with("trigger", `{"kind": "often"}`), "trigger.kind"},
			{with("condition", `"event.data.x =="`), "condition"},
			{with("condition", `"evnt.data"`), "condition"},
			{with("condition", `"1 + 1"`), "condition"},
			{with("condition", `"event.data.x.matches('(')"`), "condition"},
			{with("steps", `[]`), "steps"},
			{with("steps", "["+strings.Join(many, ",")+"]"), "steps"},
			{step(`{"operation": "tasks.explode"}`), "steps.0.operation"},
			{step(`{"operation": "api_keys.create"}`), "steps.0.operation"},
			{step(`{"operation": "files.upload"}`), "steps.0.operation"},
			{step(`{"operation": "tasks.create"}`), "steps.0.input.title"},
			{step(`{"operation": "tasks.create", "input": []}`), "steps.0.input"},
			{step(`{"operation": "tasks.create", "input": {"title": "x", "nope": 1}}`), "steps.0.input"},
			{step(`{"operation": "tasks.create", "input": {"title": 1}}`), "steps.0.input.title"},
			{step(`{"operation": "tasks.create", "input": {"title": "x", "priority": "odd"}}`),
				"steps.0.input.priority"},
			{step(`{"operation": "tasks.create", "input": {"title": "{{ event.data"}}`), "steps.0.input.title"},
			{step(`{"operation": "tasks.create", "input": {"title": "{{ nobody.name }}"}}`), "steps.0.input.title"},
			{step(`{"operation": "tasks.create", "input": {"title": "{{ own.id }}"}, "saveAs": "own"}`),
				"steps.0.input.title"},
			{step(`{"operation": "tasks.list", "saveAs": "a"}, {"operation": "tasks.list", "saveAs": "a"}`),
				"steps.1.saveAs"},
			{step(`{"operation": "tasks.list", "saveAs": "event"}`), "steps.0.saveAs"},
			{step(`{"operation": "tasks.list", "saveAs": "no good"}`), "steps.0.saveAs"},
			{step(`{"operation": "files.access_links.create", "input": {"id": "{{ input.file }}"}, "saveAs": "link"}`),
				"steps.0.saveAs"},
			{strings.Replace(good, `"x"}}]`, `"{{ event.id }}"}}]`, 1), "steps.0.input.title"},
		} {
			t.Run(c.at, func(t *testing.T) { a.SendREST(t, a.Key, "POST", "/v1/automations", c.body).Issues(t, c.at) })
		}
		e := a.SendREST(t, a.Key, "POST", "/v1/automations",
			with("condition", `"event.data.firstName ==\n  evnt"`)).Refused(t, 400, "VALIDATION_ERROR")
		if !strings.Contains(e.Text("message"), "Line 2, column 3") {
			t.Errorf("no place: %v", e)
		}
		v := automate(t, a, a.Key, good)
		at := "/v1/automations/" + string(v)
		a.SendREST(t, a.Key, "PATCH", at, `{"condition": "nope"}`).Issues(t, "condition")
		a.SendREST(t, a.Key, "PATCH", at, `{"steps": [{"operation": "nope"}]}`).Issues(t, "steps.0.operation")
		a.SendREST(t, a.Key, "PATCH", at, `{"trigger": null}`).Issues(t, "trigger")
		a.SendREST(t, a.Key, "PATCH", at,
			`{"name": "y", "steps": [{"operation": "tasks.create", "input": { "title":"x"}}]}`).OK(t, 200).Same("name",
			"y")
		a.SendREST(t, a.Key, "PATCH", at, `{"steps": [{"input": {"title": "x"}, "operation": "tasks.create"}]}`).OK(t,
			200)
		if got := a.Events(t, "automation."); got != "automation.created automation.updated" {
			t.Errorf("events: %s", got)
		}
		a.SendREST(t, a.Key, "POST", at+"/run", `{"input": 1}`).Issues(t, "input")

		// Nobody writes a step that they may not take themselves.
		weak, _ := a.NewKey(t, a.Tenant, "automations:read", "automations:write", "tasks:read")
		refused := a.SendREST(t, weak, "POST", "/v1/automations", good).Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		refused.Same("details.permission", "tasks:write")
		if !strings.Contains(refused.Text("message"), "steps[0]") {
			t.Errorf("%v", refused)
		}
		a.SendREST(t, weak, "PATCH", at, `{"steps": [{"operation": "contacts.list"}]}`).Refused(t, 403,
			"INSUFFICIENT_PERMISSIONS")
		a.SendREST(t, weak, "PATCH", at, `{"steps": [{"operation": "tasks.list"}]}`).OK(t, 200).Same("makerKind", "api")
		a.SendREST(t, a.Key, "GET", "/v1/automations/"+string(id.New()), "").Refused(t, 404, "NOT_FOUND")
	})
}
