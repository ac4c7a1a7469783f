package task_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

func TestActivity(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		contact := call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		task := call(t, "tasks.create", `{"title": "Oil the engine", "description": "Soon"}`).OK(t, 201).Text("id")
		list := func(fields string) apptest.Result {
			return call(t, "tasks.activity.list", fmt.Sprintf(`{"id": %q%s}`, task, fields))
		}
		update := func(fields string) {
			t.Helper()
			call(t, "tasks.update", fmt.Sprintf(`{"id": %q, %s}`, task, fields)).OK(t, 200)
		}
		first := list("").OK(t, 200).At("0")
		first.Same("kind", "created")
		first.Same("taskId", task)
		for _, field := range []string{"body", "changes", "deletedAt"} {
			if !first.Has(field) || !first.At(field).Null() {
				t.Errorf("%s is not null but %v", field, first.At(field))
			}
		}
		if kind := first.Text("actorKind"); !slices.Contains([]string{"api", "agent", "automation"}, kind) ||
			first.Text("actorId") == "" {
			t.Errorf("the actor is %s", first)
		}

		update(`"status": "in_progress"`)
		moved := list(`, "limit": 1`)
		moved.OK(t, 200).Same("0.kind", "status_changed")
		moved.OK(t, 200).Same("0.changes",
			map[string]any{"status": map[string]any{"from": "open", "to": "in_progress"}})
		if p := moved.Page(t); !p.At("total").Null() || p.At("hasMore").String() != "true" {
			t.Errorf("a full page of activity tells %s", p)
		}
		update(`"status": "in_progress", "title": "Oil the engine"`) // changes nothing, so records nothing
		update(fmt.Sprintf(`"title": "Oil it", "description": null, "dueAt": "2026-01-31T12:00:00Z", "contactId": %q, `+
			`"status": "completed"`, contact))
		both := list("").OK(t, 200)
		both.Same("0.kind", "status_changed")
		both.Same("1.kind", "updated")
		both.Same("1.changes", map[string]any{"title": map[string]any{"from": "Oil the engine", "to": "Oil it"},
			"description": map[string]any{"from": "Soon", "to": nil},
			"dueAt":       map[string]any{"from": nil, "to": "2026-01-31T12:00:00.000Z"},
			"contactId":   map[string]any{"from": nil, "to": contact}})
		if both.Len() != 4 {
			t.Fatalf("%d entries", both.Len())
		}

		row := call(t, "tasks.assignees.create",
			fmt.Sprintf(`{"id": %q, "userId": %q}`, task, a.OwnerID)).OK(t, 201).Text("id")
		list("").OK(t, 200).Same("0.kind", "assigned")
		list("").OK(t, 200).Same("0.changes.userId.to", a.OwnerID)
		call(t, "tasks.assignees.delete", fmt.Sprintf(`{"id": %q, "assigneeId": %q}`, task, row)).OK(t, 204)
		list("").OK(t, 200).Same("0.kind", "unassigned")
		list("").OK(t, 200).Same("0.changes.userId.from", a.OwnerID)

		said := call(t, "tasks.activity.create",
			fmt.Sprintf(`{"id": %q, "body": "They want the larger engine."}`, task)).OK(t, 201)
		said.Same("kind", "comment")
		said.Same("body", "They want the larger engine.")
		if !said.At("changes").Null() {
			t.Errorf("a comment changes %s", said)
		}
		all := list("")
		if got := all.OK(t, 200).At("0"); got.String() != said.String() {
			t.Errorf("list differs from create:\n%s\n%s", got, said)
		}
		all.Page(t).Same("total", 7) // a page that is not full knows the total
		var kinds []string
		for i := range 7 {
			kinds = append(kinds, list(fmt.Sprintf(`, "sortOrder": "asc", "limit": 1, "offset": %d`,
				i)).OK(t, 200).Text("0.kind"))
		}
		if got := strings.Join(kinds,
			" "); got != "created status_changed updated status_changed assigned unassigned comment" {
			t.Errorf("in order: %s", got)
		}
		if past := list(`, "offset": 7`); past.OK(t, 200).Len() != 0 || !past.Page(t).At("total").Null() {
			t.Errorf("past the end: %s", past.Body)
		}

		for _, c := range []struct{ fields, place string }{
			{`"body": ""`, "body"}, {`"body": null`, "body"}, {`"body": 1`, "body"},
			{fmt.Sprintf(`"body": %q`, strings.Repeat("x", 10_001)), "body"},
			{`"body": "x", "kind": "created"`, ""}, {`"body": "x", "actorId": null`, ""},
		} {
			call(t, "tasks.activity.create", fmt.Sprintf(`{"id": %q, %s}`, task, c.fields)).Issues(t, c.place)
		}
		call(t, "tasks.activity.create", fmt.Sprintf(`{"id": %q}`, task)).Issues(t, "body")
		call(t, "tasks.activity.create",
			fmt.Sprintf(`{"id": %q, "body": %q}`, task, strings.Repeat("é", 10_000))).OK(t, 201)
		want := "task.created task.updated task.updated task.assignee.created task.assignee.deleted " +
			"task.activity.created task.activity.created"
		if events := a.Events(t, "task."); events != want {
			t.Errorf("events %q, want %q", events, want)
		}
	})
}

// When many changes happen at once, each is recorded with the value it
// replaced.
func TestActivityRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		task := call(t, "tasks.create", `{"title": "0"}`).OK(t, 201).Text("id")
		apptest.RunAtOnce(30, func(i int) {
			call(t, "tasks.update", fmt.Sprintf(`{"id": %q, "title": "%d"}`, task, i+1)).OK(t, 200)
		})
		log := call(t, "tasks.activity.list",
			fmt.Sprintf(`{"id": %q, "sortOrder": "asc", "limit": 100}`, task)).OK(t, 200)
		if log.Len() != 31 {
			t.Fatalf("%d entries", log.Len())
		}
		seen := map[string]string{}
		for i := 1; i < 31; i++ {
			e := log.At(fmt.Sprint(i))
			seen[e.Text("changes.title.from")] = e.Text("changes.title.to")
		}
		// Exactly one change starts from each title, and the last one is the
		// task's title.
		at, steps := "0", 0
		for next, ok := seen[at]; ok; next, ok = seen[at] {
			at, steps = next, steps+1
		}
		if steps != 30 {
			t.Errorf("%d changes follow each other", steps)
		}
		call(t, "tasks.get", fmt.Sprintf(`{"id": %q}`, task)).OK(t, 200).Same("title", at)
	})
}
