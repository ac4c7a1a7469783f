package desk_test

import (
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// An automation is chosen from lists: the event, conditions on its fields, a step
// field by field. It is tried before it is saved, and edited in the same lists.
func TestAutomationFromLists(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		for _, name := range []string{"Ada", "Grace", "Alan"} {
			a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "`+name+`", "tags": ["vip"]}`).OK(t, 201)
		}
		b.get("/automations/new?recipe=none").at("/automations/new", "Choose the event first")
		typed := []string{"name", "Call", "trigger.kind", "event", "trigger.event", "contact.created"}
		p := b.post("/automations/new", append(typed, "do", "look")...).at("/automations/new", "First name",
			"starts with").hasNot("Choose the event first", "Invalid")
		p.find(`(<select class="in" id="check.0.field")`)

		typed = append(typed, "check.0.field", "firstName", "check.0.is", "starts", "check.0.value", "A\"",
			"check.1.field", "tags", "check.1.is", "contains", "check.1.value", "vip", "check.match", "all")
		p = b.post("/automations/new", append(typed, "do", "check")...).at("/automations/new", "All of them")
		p.find(`(<select class="in" id="check.2.field")`)
		p = b.post("/automations/new", append(typed, "do", "uncheck.0")...).at("/automations/new")
		if p.find(`name="check.0.value"[^>]*value="([^"]*)"`) != "vip" {
			t.Error("the other condition is gone")
		}
		cel := `(event.data.firstName != null && event.data.firstName.startsWith("A\"")) && "vip" in event.data.tags`
		b.post("/automations/new", append(typed, "do", "cel")...).at("/automations/new", cel)
		p = b.post("/automations/new", "trigger.kind", "event", "trigger.event", "contact.created", "condition", cel,
			"do", "lists").at("/automations/new")
		if p.find(`name="check.0.value"[^>]*value="([^"]*)"`) != `A"` {
			t.Error("the condition did not come back")
		}
		b.post("/automations/new", "trigger.kind", "event", "trigger.event", "contact.created", "condition",
			"event.data.x == 1 ? true : false", "do", "lists").at("/automations/new", "event.data.x == 1")

		// A step, field by field.
		typed[11] = "A"
		p = b.post("/automations/new", append(typed, "do", "add", "add", "tasks.create")...).at("/automations/new",
			"1. Create a task", "Title", "Priority", "Values to insert", "First name").hasNot("{{")
		if p.find(`name="steps.0.input.contactId"[^>]*value="([^"]*)"`) != "[The contact]" {
			t.Error("the step is not about the contact")
		}
		typed = append(typed, "steps.0.operation", "tasks.create", "steps.0.input.title",
			"Call [First name]", "steps.0.input.contactId", "[The contact]",
			"steps.0.input.tags", "", "steps.0.input.priority", "high", "steps.0.saveAs", "task")
		b.post("/automations/new", append(typed, "do", "json.0")...).at("/automations/new",
			`"title": "Call {{ event.data.firstName }}"`, `"priority": "high"`, "Show as a form")
		wrong := append(typed, "steps.0.input.assigneeIds", "{", "steps.1.operation", "tasks.list",
			"steps.1.input.limit", "many")
		b.post("/automations/new", wrong...).refused(400, "Write a number, or choose a value to insert")
		b.post("/automations/new", append(typed, "do", "add", "add", "tasks.activity.create")...).at(
			"/automations/new", "Task: Title").find(`data-put="(\[Task: Title\])"`)

		// Tried, and nothing is saved.
		b.post("/automations/new", append(typed, "do", "try")...).at("/automations/new",
			"there were 3 such events. It would have run for 2 of these.", "Title Call Alan",
			`event.data.firstName is "Grace"`)
		b.get("/automations").at("/automations", "No automations yet")

		p = b.post("/automations/new", typed...).at("/automations/", "Created.")
		path := strings.Split(p.Path, "?")[0]
		p = b.get(path+"/edit").at(path+"/edit", "Show as JSON")
		for name, want := range map[string]string{"check.0.value": "A", "check.1.value": "vip",
			"steps.0.input.title": "Call [First name]", "steps.0.saveAs": "task"} {
			if got := p.find(`name="` + name + `"[^>]*value="([^"]*)"`); got != want {
				t.Errorf("%s is %q", name, got)
			}
		}
		if p.find(`name="steps.0.input.priority"(?:.|\n)*?value="(\w+)" selected`) != "high" {
			t.Error("the priority is gone")
		}
	})
}

// A schedule is chosen from lists and comes back in them; any other is shown as cron.
func TestScheduleFromLists(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	b := owner(t, a)
	step := []string{"name", "Daily", "trigger.kind", "schedule", "trigger.timezone", "UTC", "steps.0.operation",
		"tasks.list"}
	for _, c := range []struct{ every, day, at, words, back string }{
		{"hour", "", "00:15", "Every hour at minute 15", "hour"},
		{"day", "", "09:05", "Every day at 09:05", "day"},
		{"weekdays", "", "17:30", "Weekdays at 17:30", "weekdays"},
		{"week", "2", "08:00", "Tuesdays at 08:00", "week"},
		{"month", "", "06:00", "The 1st of every month at 06:00", "month"},
	} {
		p := b.post("/automations/new", append(step, "trigger.every", c.every, "trigger.day", c.day, "trigger.at",
			c.at)...).at("/automations/", c.words)
		path := strings.Split(p.Path, "?")[0]
		p = b.get(path + "/edit").at(path + "/edit")
		back := p.find(`name="trigger.every"(?:.|\n)*?value="(\w+)" selected`)
		if at := p.find(`name="trigger.at"[^>]*value="([^"]*)"`); back != c.back || at != c.at {
			t.Errorf("%s at %s came back as %s at %s", c.every, c.at, back, at)
		}
	}
	b.post("/automations/new", append(step, "trigger.every", "day", "trigger.at", "25:00")...).refused(400,
		"Write a time, like 09:00")
	p := b.post("/automations/new", append(step, "trigger.every", "cron", "trigger.cron", "*/7 3 * 2 *")...).at(
		"/automations/", "*/7 3 * 2 *")
	path := strings.Split(p.Path, "?")[0]
	if p = b.get(path + "/edit"); p.find(`name="trigger.every"(?:.|\n)*?value="(\w+)" selected`) != "cron" {
		t.Error("the schedule is lost")
	}
}
