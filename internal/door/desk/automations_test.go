package desk_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// An automation is built step by step and keeps what was typed, is refused at
// its fields, tested and run, and its executions say what happened.
func TestAutomation(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		startJobs(t, a)
		b := owner(t, a)
		b.get("/automations").at("/automations", "No automations yet", "Create automation")
		b.get("/executions").at("/executions", "Nothing has run yet")
		b.get("/automations/new?recipe=none").at("/automations/new", "Contact created", "Create a task",
			"Add step").hasNot(`value="api_keys.create"`, `value="files.upload"`)

		// A step starts with the example, fitted to the event.
		typed := []string{"name", "Greet <b>them</b>", "description", "Two\r\nlines", "trigger.kind", "event",
			"trigger.event", "contact.created", "condition", "event.data.lastName != null"}
		p := b.post("/automations/new",
			append(typed, "do", "add", "add", "contacts.emails.create")...).at("/automations/new",
			"1. Add an email address to a contact", "Show as JSON")
		if p.find(`name="steps.0.input.id"[^>]*value="([^"]*)"`) != "[The contact]" {
			t.Error("the step is not about the event's contact")
		}
		if p.find(`id="name"[^>]*value="([^"]*)"`) != "Greet <b>them</b>" ||
			p.find(`<option value="([^"]*)" selected`) != "contact.created" ||
			!strings.Contains(p.text(), "event.data.lastName != null") {
			t.Error("what was typed is gone")
		}
		// Choosing a step and saving at once adds the step, and says so.
		steps := append(typed, "steps.0.operation", "tasks.create", "steps.0.input", `{"title": "Call"}`,
			"steps.0.saveAs",
			"task")
		b.post("/automations/new",
			append(steps, "add", "contacts.get")...).at("/automations/new", "nothing is saved yet",
			"2. Get a contact")
		both := append(steps, "steps.1.operation", "contacts.get", "steps.1.input", `{"id": "{{ event.resourceId }}"}`)
		b.post("/automations/new", append(both, "do", "up.1")...).at("/automations/new", "1. Get a contact",
			"2. Create a task")
		b.post("/automations/new", append(both, "do", "down.0")...).at("/automations/new", "1. Get a contact",
			"2. Create a task")
		b.post("/automations/new", append(both, "do", "remove.0")...).at("/automations/new",
			"1. Get a contact").hasNot("2. ")
		for _, odd := range []string{"up.0", "down.1", "up.9", "remove.-1", "nonsense", "nonsense.0", "add"} {
			b.post("/automations/new", append(both, "do", odd)...).at("/automations/new", "1. Create a task",
				"2. Get a contact")
		}
		b.do("POST", "/automations/new",
			url.Values{"name": {"Evil"}, "trigger.kind": {"manual"}, "steps.0.operation": {"contacts.list"}},
			"Sec-Fetch-Site", "cross-site").refused(403)
		b.get("/automations").at("/automations", "No automations yet")

		// Every issue is at its field.
		p = b.post("/automations/new", "name", "", "trigger.kind", "schedule", "trigger.cron", "never",
			"trigger.timezone",
			"Mars/Base", "condition", "1 +", "steps.0.operation", "tasks.create", "steps.0.input", `{"title": `).
			refused(400, "This is not JSON: look at line 1")
		if !strings.Contains(p.Body, `aria-invalid="true" aria-describedby="steps.0.input-wrong`) {
			t.Error("the issue is not at its field")
		}
		p = b.post("/automations/new", "name", "", "trigger.kind", "schedule", "trigger.cron", "never",
			"trigger.timezone",
			"Mars/Base").refused(400, "Fill this in", "Choose at least one")
		if p.find(`id="trigger.cron"[^>]*value="([^"]*)"`) != "never" {
			t.Error("the schedule is gone")
		}
		b.post("/automations/new",
			append([]string{"name", "X", "trigger.kind", "schedule", "trigger.cron", "never"},
				steps[10:]...)...).refused(400,
			"Not a cron expression")
		b.post("/automations/new",
			append([]string{"name", "X", "trigger.kind", "event"}, steps[10:]...)...).refused(400, "Required")
		b.post("/automations/new", "name", "X", "trigger.kind", "manual", "condition", "1 +", "steps.0.operation",
			"tasks.create", "steps.0.input", `{"title": "a"}`).refused(400, "Line 1, column")
		p = b.post("/automations/new", "name", "X", "trigger.kind", "manual", "steps.0.operation", "tasks.create",
			"steps.0.input", `{"title": 5, "colour": "{{ nobody.x }}"}`).refused(400, "title: ", "colour: ",
			`"nobody" is not known here`)
		p.find(`(id="steps.0.input-wrong")`)
		// The largest automation that the operation takes fits into the form.
		large := []string{"name", "X", "trigger.kind", "manual", "condition", "1 +"}
		for i := range 20 {
			large = append(large, fmt.Sprintf("steps.%d.operation", i), "tasks.create",
				fmt.Sprintf("steps.%d.input", i),
				`{"title": "`+strings.Repeat("{", 60<<10)+`"}`)
		}
		b.post("/automations/new", large...).refused(400, "Line 1, column")
		many := []string{"name", "X", "trigger.kind", "manual"}
		for i := range 21 {
			many = append(many, fmt.Sprintf("steps.%d.operation", i), "contacts.list")
		}
		b.post("/automations/new", many...).refused(400, "Too many: expected at most 20")
		b.post("/automations/new", "name", "X", "trigger.kind", "manual", "steps.0.operation",
			"api_keys.create").refused(400,
			`There is no operation "api_keys.create" for automations`)

		// Created, tested and run by an event.
		p = b.post("/automations/new", both...).at("/automations/", "Created.", "Greet <b>them</b>", "Contact created",
			"Only if Last name is filled in", "Create a task Title Call", "Get a contact", "[The contact]",
			"It has not run yet", "Two lines").hasNot("{{", "tasks.create")
		path := strings.Split(p.Path, "?")[0]
		b.get(path+"/test").at(path+"/test", "no such event happened")
		a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada", "lastName": "Lovelace"}`).OK(t, 201)
		a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Nameless"}`).OK(t, 201)
		b.get(path+"/test").at(path+"/test", "would run", "Title Call",
			"In the last 30 days, there were 2 such events. It would have run for 1 of these.",
			"event.data.lastName is null")
		b.get(path + "/test?input=%5B").refused(400)
		b.until(path, "succeeded")
		b.until(path, "skipped")
		run := b.get(path + "?status=succeeded").find(`href="(/executions/[^"]*)">Contact created</a>`)
		b.get(run).at("/executions/", "Run of Greet <b>them</b>", "Create a task done", "Get a contact done",
			`"firstName": "Ada"`).hasNot("Retry")
		b.get(path+"?status=skipped").at(path, "skipped").hasNot(`pill good">succeeded`)
		b.get("/executions?status=failed").at("/executions", "No run is in this state")
		b.get("/executions").at("/executions", "Greet <b>them</b>", "succeeded", "skipped")
		b.get("/automations").at("/automations", "Greet <b>them</b>", "Contact created", "active")

		// By hand, with an input that a step fails on, then retried.
		b.post(path+"/run", "input", "[]").refused(400, "Must be a JSON object")
		b.post(path+"/run", "input", `{"name": "Ada"}`).at("/executions/", "Started.", `"name": "Ada"`)
		b.get(path+"/edit").at(path+"/edit", "Save automation", "Two lines")
		b.post(path+"/edit", "name", "By hand", "trigger.kind", "manual", "steps.0.operation", "contacts.get",
			"steps.0.input", `{"id": "{{ input.id }}"}`).at(path+"?done=saved", "By hand",
			"Starts on By hand").hasNot("Two lines")
		p = b.post(path+"/run", "input", `{"id": "3f7a1c58-92d4-4e0b-b6a1-8c5d2e9f7041"}`).at("/executions/")
		failed := strings.Split(p.Path, "?")[0]
		b.until(failed, "There is no such contact").has("failed", "Retry", "Get a contact failed")
		b.post(failed+"/cancel").refused(409, "This execution has ended")
		b.get(path+"/pause").at(path, "not begun are canceled")
		b.post(path+"/pause").at(path, "Paused.", "Activate", "It is paused")
		p = b.post(path+"/run", "input", "").refused(409, "This automation is paused")
		b.get(p.find(`href="([^"]*)">Failed</a>`)).at(path+"?status=failed", "failed")
		b.post(failed+"/retry").refused(409, "This automation is paused")
		b.post(path+"/activate").at(path, "Active again.")
		b.post(failed+"/retry").at(failed, "It continues")
		b.until(failed, "There is no such contact")
		b.get(path+"/delete").at(path, "cannot be undone")
		b.post(path + "/delete").at("/automations?done=deleted").hasNot("By hand</bdi>")
		b.get("/executions").at("/executions", "A deleted automation")
		b.get(failed).at(failed, "Run of A deleted automation").hasNot(`href="`+path, "Retry")
		log := events(t, a.DB)
		for _, e := range []string{"automation.created", "automation.updated", "automation.deleted",
			"automation_execution.created", "automation_execution.retried"} {
			if !strings.Contains(log, e+":user:console") {
				t.Errorf("no %s in %s", e, log)
			}
		}
	})
}

// A waiting execution can be canceled, once the visitor has confirmed.
func TestCancelExecution(t *testing.T) {
	a := apptest.Start(t, db.SQLite) // without background jobs
	auto := a.SendREST(t, a.Key, "POST", "/v1/automations",
		`{"name": "Waits", "trigger": {"kind": "schedule", "cron": "30 9 * * 1-5", "timezone": "Europe/Berlin"}, `+
			`"steps": `+
			`[{"operation": "contacts.list"}]}`).OK(t, 201).ID("id")
	b := owner(t, a)
	b.get("/automations").at("/automations", "Weekdays at 09:30, Europe/Berlin", "none yet")
	p := b.post("/automations/"+string(auto)+"/run", "input", "").at("/executions/", "queued", "No step has begun",
		"Refresh")
	run := strings.Split(p.Path, "?")[0]
	b.get(run+"/cancel").at(run, "Steps that are done are not undone")
	b.post(run+"/cancel").at(run, "Canceled.", "canceled", "Retry")
}
