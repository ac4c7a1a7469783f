package task_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/task"
)

func TestTasks(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		contact := call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		customer := call(t, "customers.create", `{"name": "Ada"}`).OK(t, 201).Text("id")
		v := call(t, "tasks.create", `{"title": "Call Ada"}`).OK(t, 201)
		v.Same("status", "open")
		v.Same("priority", "normal")
		v.Same("organizationId", a.Org)
		for _, field := range []string{"deletedAt", "description", "dueAt", "completedAt", "contactId", "customerId",
			"businessId"} {
			if !v.Has(field) || !v.At(field).Null() {
				t.Errorf("%s is not null but %v", field, v.At(field))
			}
		}
		ref := fmt.Sprintf(`{"id": %q}`, v.Text("id"))
		if got := call(t, "tasks.get", ref).OK(t, 200); got.String() != v.String() {
			t.Errorf("get differs from create:\n%s\n%s", got, v)
		}
		full := call(t, "tasks.create",
			fmt.Sprintf(`{"title": "Write", "description": "A letter", "status": "completed", "priority": "urgent",
				"dueAt": "2026-01-31T13:00:00+01:00",
			"contactId": %q, "customerId": %q, "businessId": %q}`, contact, customer, a.Business)).OK(t, 201)
		full.Same("dueAt", "2026-01-31T12:00:00.000Z")
		full.Same("customerId", customer)
		full.Same("completedAt", full.Text("createdAt")) // completed from the start

		update := func(fields string) apptest.Result {
			return call(t, "tasks.update", fmt.Sprintf(`{"id": %q, %s}`, v.Text("id"), fields))
		}
		up := update(fmt.Sprintf(`"title": "Write to Ada", "contactId": %q, "customerId": %q,
			"dueAt": "2026-02-01T00:00:00Z", "description": "x"`, contact, customer)).OK(t, 200)
		up.Same("title", "Write to Ada")
		up.Same("contactId", contact)
		up.Same("priority", "normal")
		if cleared := update(`"dueAt": null, "description": null`).OK(t, 200); !cleared.At("dueAt").Null() ||
			!cleared.At("description").Null() {
			t.Error("null does not clear")
		}

		// completedAt follows the status.
		done := update(`"status": "completed"`).OK(t, 200)
		done.Same("completedAt", done.Text("updatedAt"))
		if still := update(`"status": "completed", "priority": "low"`).OK(t,
			200); still.Text("completedAt") != done.Text("completedAt") {
			t.Errorf("another change moved completedAt: %s", still)
		}
		if again := update(`"status": "in_progress"`).OK(t, 200); !again.At("completedAt").Null() {
			t.Errorf("completedAt stays: %s", again)
		}
		if canceled := update(`"status": "canceled"`).OK(t, 200); !canceled.At("completedAt").Null() {
			t.Errorf("canceled is not completed: %s", canceled)
		}
		before := call(t, "tasks.get", ref).OK(t, 200)
		for _, same := range []apptest.Result{call(t, "tasks.update", ref),
			update(`"status": "canceled", "dueAt": null`)} {
			if same.OK(t, 200).String() != before.String() {
				t.Errorf("nothing new changed something: %s", same.Body)
			}
		}

		// A reference is cleared when its target is deleted, and nothing new
		// may refer to it.
		call(t, "contacts.delete", fmt.Sprintf(`{"id": %q}`, contact)).OK(t, 204)
		if gone := update(`"title": "Still"`).OK(t, 200); !gone.At("contactId").Null() || gone.At("customerId").Null() {
			t.Errorf("the references: %s", gone)
		}
		update(fmt.Sprintf(`"contactId": %q`, contact)).Issues(t, "contactId")
		call(t, "tasks.create", fmt.Sprintf(`{"title": "x", "contactId": %q}`, contact)).Issues(t, "contactId")
		if gone := update(`"customerId": null`).OK(t, 200); !gone.At("customerId").Null() {
			t.Error("null does not clear a reference")
		}

		list := call(t, "tasks.list", `{}`)
		list.OK(t, 200).Same("0.title", "Write")
		list.Page(t).Same("total", 2)
		call(t, "tasks.list", `{"limit": 1, "sortOrder": "asc"}`).OK(t, 200).Same("0.title", "Still")
		call(t, "tasks.delete", ref).OK(t, 204)
		for _, again := range []string{"tasks.delete", "tasks.get", "tasks.update", "tasks.assignees.list",
			"tasks.activity.list"} {
			call(t, again, ref).Refused(t, 404, "NOT_FOUND")
		}
		call(t, "tasks.activity.create",
			fmt.Sprintf(`{"id": %q, "body": "x"}`, v.Text("id"))).Refused(t, 404, "NOT_FOUND")
		if n := call(t, "tasks.list", `{"query": "still"}`).OK(t, 200).Len(); n != 0 {
			t.Error("a deleted task is found")
		}
		want := "task.created task.created" + strings.Repeat(" task.updated", 8) + " task.deleted"
		if events := a.Events(t, "task."); events != want {
			t.Errorf("events %q, want %q", events, want)
		}
	})
}

func TestTaskRefusals(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		other := a.NewTenant(t, "free")
		theirs := a.Door("action", other)
		foreignContact := theirs(t, "contacts.create", `{"firstName": "Eve"}`).OK(t, 201).Text("id")
		foreignCustomer := theirs(t, "customers.create", `{"name": "Eve"}`).OK(t, 201).Text("id")
		v := call(t, "tasks.create", `{"title": "Mine"}`).OK(t, 201).Text("id")
		for _, c := range []struct{ fields, place string }{
			{`"title": ""`, "title"},
			{`"title": null`, "title"},
			{fmt.Sprintf(`"title": %q`, strings.Repeat("x", 256)), "title"},
			{fmt.Sprintf(`"title": "x", "description": %q`, strings.Repeat("x", 10_001)), "description"},
			{`"title": "x", "status": "done"`, "status"},
			{`"title": "x", "status": null`, "status"},
			{`"title": "x", "priority": "asap"`, "priority"},
			{`"title": "x", "priority": null`, "priority"},
			{`"title": "x", "dueAt": "tomorrow"`, "dueAt"},
			{`"title": "x", "completedAt": "2026-01-31T12:00:00Z"`, ""},
			{`"title": "x", "contactId": "nope"`, "contactId"},
			{fmt.Sprintf(`"title": "x", "contactId": %q`, foreignContact), "contactId"},
			{fmt.Sprintf(`"title": "x", "customerId": %q`, foreignCustomer), "customerId"},
			{fmt.Sprintf(`"title": "x", "businessId": %q`, other.Business), "businessId"},
			{fmt.Sprintf(`"title": "x", "customerId": %q`, v), "customerId"},
		} {
			call(t, "tasks.create", "{"+c.fields+"}").Issues(t, c.place)
			call(t, "tasks.update", fmt.Sprintf(`{"id": %q, %s}`, v, c.fields)).Issues(t, c.place)
		}
		call(t, "tasks.create", `{}`).Issues(t, "title")
		ref := fmt.Sprintf(`{"id": %q}`, v)
		for _, operation := range []string{"tasks.get", "tasks.update", "tasks.delete", "tasks.assignees.list",
			"tasks.activity.list"} {
			theirs(t, operation, ref).Refused(t, 404, "NOT_FOUND")
			call(t, operation, fmt.Sprintf(`{"id": %q}`, id.New())).Refused(t, 404, "NOT_FOUND")
		}
		theirs(t, "tasks.assignees.create",
			fmt.Sprintf(`{"id": %q, "userId": %q}`, v, other.OwnerID)).Refused(t, 404, "NOT_FOUND")
		theirs(t, "tasks.activity.create", fmt.Sprintf(`{"id": %q, "body": "x"}`, v)).Refused(t, 404, "NOT_FOUND")
		if n := theirs(t, "tasks.list", `{}`).OK(t, 200).Len(); n != 0 {
			t.Errorf("%d foreign tasks", n)
		}
		call(t, "tasks.get", ref).OK(t, 200).Same("title", "Mine")
		// Nothing that was refused left a trace.
		if entries := call(t, "tasks.activity.list", ref).OK(t, 200); entries.Len() != 1 {
			t.Errorf("activity: %s", entries)
		}
	})
}

func TestTaskFilters(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		contact := call(t, "contacts.create", `{"firstName": "Grace"}`).OK(t, 201).Text("id")
		customer := call(t, "customers.create", `{"name": "Grace"}`).OK(t, 201).Text("id")
		var made []string
		for _, c := range []string{
			`"title": "Call Grace Hopper", "priority": "high", "dueAt": "2026-01-31T12:00:00Z", "contactId": "` +
				contact + `"`,
			`"title": "Straße fegen", "status": "completed", "dueAt": "2026-02-28T12:00:00Z", "customerId": "` +
				customer + `"`,
			`"title": "Oil the engine", "status": "in_progress", "priority": "low", "description": "Ask HOPPER ` +
				`which oil"`,
		} {
			made = append(made, call(t, "tasks.create", "{"+c+"}").OK(t, 201).Text("id"))
		}
		row := call(t, "tasks.assignees.create",
			fmt.Sprintf(`{"id": %q, "userId": %q}`, made[0], a.OwnerID)).OK(t, 201).Text("id")
		call(t, "tasks.assignees.create", fmt.Sprintf(`{"id": %q, "userId": %q}`, made[2], a.OwnerID)).OK(t, 201)
		owner := `"assigneeId": "` + string(a.OwnerID) + `"`
		finds := func(filter string, want int) {
			t.Helper()
			if n := call(t, "tasks.list", "{"+filter+"}").OK(t, 200).Len(); n != want {
				t.Errorf("%s finds %d, want %d", filter, n, want)
			}
		}
		for filter, want := range map[string]int{
			`"status": "open"`: 1, `"status": "completed"`: 1, `"status": "canceled"`: 0, `"priority": "high"`: 1,
			`"priority": "normal"`: 1, `"priority": "urgent"`: 0,
			owner: 2, owner + `, "status": "open"`: 1, `"assigneeId": "` + row + `"`: 0,
			`"contactId": "` + contact + `"`:                                   1,
			`"contactId": "` + customer + `"`:                                  0,
			`"customerId": "` + customer + `"`:                                 1,
			`"customerId": "` + customer + `", "contactId": "` + contact + `"`: 0,
			`"dueBefore": "2026-01-31T12:00:00Z"`:                              0,
			`"dueBefore": "2026-01-31T12:00:00.001Z"`:                          1,
			`"dueBefore": "2027-01-01T00:00:00+02:00"`:                         2,
			`"query": "hopper"`:                                                2, `"query": "strasse"`: 1,
			`"query": "oi"`:      1,
			`"query": "il"`:      0,
			`"query": "grace h"`: 1,
			`"query": ""`:        3,
			`"query": "hopper", ` + owner + `, "priority": "low"`: 1, `"query": "strasse", ` + owner: 0,
			`"query": "hopper", "dueBefore": "2027-01-01T00:00:00Z"`: 1,
		} {
			finds(filter, want)
		}
		call(t, "tasks.assignees.delete", fmt.Sprintf(`{"id": %q, "assigneeId": %q}`, made[0], row)).OK(t, 204)
		finds(owner, 1)
		call(t, "tasks.delete", fmt.Sprintf(`{"id": %q}`, made[2])).OK(t, 204)
		finds(owner, 0)
		call(t, "tasks.update", fmt.Sprintf(`{"id": %q, "title": "Call Ada"}`, made[0])).OK(t, 200)
		finds(`"query": "grace"`, 0)
		finds(`"query": "ada"`, 1)
	})
	a := apptest.Start(t, db.SQLite)
	for _, query := range []string{"status=done", "priority=x", "assigneeId=1", "contactId=", "customerId=x",
		"dueBefore=tomorrow", "limit=0", "query=" + strings.Repeat("x", 201)} {
		a.SendREST(t, a.Key, "GET", "/v1/tasks?"+query, "").Refused(t, 400, "INVALID_INPUT")
	}
	a.SendREST(t, a.Key, "GET", "/v1/tasks/1", "").Refused(t, 400, "INVALID_INPUT")
	read, _ := a.NewKey(t, a.Tenant, "tasks:read")
	a.SendREST(t, read, "GET", "/v1/tasks", "").OK(t, 200)
	a.SendREST(t, read, "POST", "/v1/tasks", `{"title": "x"}`).Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
	none, _ := a.NewKey(t, a.Tenant, "contacts:read")
	a.SendREST(t, none, "GET", "/v1/tasks", "").Refused(t, 403, "INSUFFICIENT_PERMISSIONS")

	// The filter by time lists every status, so that its index is used.
	status, _ := reflect.TypeFor[task.Task]().FieldByName("Status")
	all := strings.Split(status.Tag.Get("enum"), ",")
	for _, s := range all {
		a.SendREST(t, a.Key, "POST", "/v1/tasks",
			fmt.Sprintf(`{"title": "x", "status": %q, "dueAt": "2026-01-31T12:00:00Z"}`, s)).OK(t, 201)
	}
	if v := a.SendREST(t, a.Key, "GET", "/v1/tasks?dueBefore=2026-02-01T00:00:00Z", "").OK(t,
		200); v.Len() != len(all) {
		t.Errorf("of %v are due: %s", all, v)
	}
}

// A search finds an older task by its newest words, and no longer by its former ones. The newest hundred are compared
// one by one; what is older is found by the index.
func TestTaskSearchFollowsChanges(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		old := call(t, "tasks.create", `{"title": "Paint the zebra"}`).OK(t, 201).Text("id")
		rows := strings.TrimSuffix(strings.Repeat(`{"title": "Sweep"},`, 60), ",")
		for range 2 {
			call(t, "tasks.batch", `{"rows": [`+rows+`]}`).OK(t, 200)
		}
		finds := func(word string, want int) {
			t.Helper()
			if n := call(t, "tasks.list", fmt.Sprintf(`{"query": %q}`, word)).OK(t, 200).Len(); n != want {
				t.Errorf("%q finds %d, want %d", word, n, want)
			}
		}
		finds("zebra", 1)
		call(t, "tasks.update", fmt.Sprintf(`{"id": %q, "title": "Feed the walrus"}`, old)).OK(t, 200)
		finds("walrus", 1)
		finds("zebra", 0)
		call(t, "tasks.delete", fmt.Sprintf(`{"id": %q}`, old)).OK(t, 204)
		finds("walrus", 0)
	})
}
