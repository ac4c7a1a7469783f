package task_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// member adds a user to the organization.
func member(t testing.TB, a *apptest.App, email string) id.ID {
	t.Helper()
	return a.AsOperator(t, "users.create", "organization", a.Org,
		fmt.Sprintf(`{"email": %q, "name": "M", "password": "a long password"}`, email)).ID("id")
}

func TestAssignees(t *testing.T) {
	apptest.EachDoorAlone(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		task := call(t, "tasks.create", `{"title": "Oil the engine"}`).OK(t, 201).Text("id")
		ref := fmt.Sprintf(`{"id": %q}`, task)
		assign := func(user id.ID) apptest.Result {
			return call(t, "tasks.assignees.create", fmt.Sprintf(`{"id": %q, "userId": %q}`, task, user))
		}
		remove := func(row string) apptest.Result {
			return call(t, "tasks.assignees.delete", fmt.Sprintf(`{"id": %q, "assigneeId": %q}`, task, row))
		}
		mary := member(t, a, "mary@example.com")
		first := assign(a.OwnerID).OK(t, 201)
		first.Same("taskId", task)
		first.Same("userId", a.OwnerID)
		first.Same("organizationId", a.Org)
		if !first.Has("deletedAt") || !first.At("deletedAt").Null() {
			t.Errorf("deletedAt: %s", first)
		}
		assign(mary).OK(t, 201)
		assign(mary).Refused(t, 409, "TASK_ASSIGNEE_EXISTS")
		page := call(t, "tasks.assignees.list", fmt.Sprintf(`{"id": %q, "limit": 1}`, task))
		page.OK(t, 200).Same("0.userId", mary)
		page.Page(t).Same("total", 2)
		page.Page(t).Same("hasMore", true)
		call(t, "tasks.assignees.list",
			fmt.Sprintf(`{"id": %q, "sortOrder": "asc"}`, task)).OK(t, 200).Same("0.id", first.Text("id"))

		remove(string(a.OwnerID)).Refused(t, 404, "NOT_FOUND") // the user's id is not the assignment's
		other := call(t, "tasks.create", `{"title": "Another"}`).OK(t, 201).Text("id")
		call(t, "tasks.assignees.delete",
			fmt.Sprintf(`{"id": %q, "assigneeId": %q}`, other, first.Text("id"))).Refused(t, 404, "NOT_FOUND")
		remove(first.Text("id")).OK(t, 204)
		remove(first.Text("id")).Refused(t, 404, "NOT_FOUND")
		again := assign(a.OwnerID).OK(t, 201)
		if again.Text("id") == first.Text("id") {
			t.Error("the old assignment came back")
		}

		for _, body := range []string{`"userId": null`, `"userId": "nope"`, fmt.Sprintf(`"userId": %q`, id.New()),
			fmt.Sprintf(`"userId": %q`, a.NewTenant(t, "free").OwnerID)} {
			call(t, "tasks.assignees.create", fmt.Sprintf(`{"id": %q, %s}`, task, body)).Issues(t, "userId")
		}
		call(t, "tasks.assignees.create", ref).Issues(t, "userId")

		// A member who leaves or is disabled keeps their assignments and gets
		// no new ones.
		off := member(t, a, "off@example.com")
		assign(off).OK(t, 201)
		a.AsOperator(t, "users.disable", "", "", `{"email": "off@example.com"}`)
		a.AsOperator(t, "users.remove", "organization", a.Org, fmt.Sprintf(`{"id": %q}`, mary))
		if list := call(t, "tasks.assignees.list", ref).OK(t, 200); list.Len() != 3 {
			t.Errorf("assignees: %s", list)
		}
		if n := call(t, "tasks.list", fmt.Sprintf(`{"assigneeId": %q}`, mary)).OK(t, 200).Len(); n != 1 {
			t.Errorf("%d tasks of one who left", n)
		}
		for _, gone := range []id.ID{off, mary} {
			call(t, "tasks.assignees.create", fmt.Sprintf(`{"id": %q, "userId": %q}`, other, gone)).Issues(t, "userId")
		}
		remove(call(t, "tasks.assignees.list", ref).OK(t, 200).Text("0.id")).OK(t, 204)

		want := "task.assignee.created task.assignee.created task.assignee.deleted task.assignee.created " +
			"task.assignee.created task.assignee.deleted"
		if events := a.Events(t, "task.assignee."); events != want {
			t.Errorf("events %q, want %q", events, want)
		}
	})
}

// However many assign at once, a user is assigned once, and the activity has
// one entry for it.
func TestAssigneeRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		for range 10 {
			task := call(t, "tasks.create", `{"title": "x"}`).OK(t, 201).Text("id")
			var made atomic.Int64
			apptest.RunAtOnce(12, func(int) {
				switch r := call(t, "tasks.assignees.create",
					fmt.Sprintf(`{"id": %q, "userId": %q}`, task, a.OwnerID)); r.Status {
				case 201:
					made.Add(1)
				default:
					r.Refused(t, 409, "TASK_ASSIGNEE_EXISTS")
				}
			})
			if n := call(t, "tasks.assignees.list", fmt.Sprintf(`{"id": %q}`, task)).OK(t, 200).Len(); n != 1 ||
				made.Load() != 1 {
				t.Fatalf("%d assignees, %d made", n, made.Load())
			}
			if log := call(t, "tasks.activity.list", fmt.Sprintf(`{"id": %q}`, task)).OK(t, 200); log.Len() != 2 {
				t.Errorf("activity: %s", log)
			}
		}
	})
}

// A task that is deleted while it gains assignees shows none, and nothing is
// written under it afterwards.
func TestAssignDeletedTask(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		users := make([]id.ID, 6)
		for i := range users {
			users[i] = member(t, a, fmt.Sprintf("m%d@example.com", i))
		}
		for range 10 {
			task := call(t, "tasks.create", `{"title": "x"}`).OK(t, 201).Text("id")
			apptest.RunAtOnce(len(users)+1, func(i int) {
				if i == len(users) {
					call(t, "tasks.delete", fmt.Sprintf(`{"id": %q}`, task)).OK(t, 204)
				} else if r := call(t, "tasks.assignees.create",
					fmt.Sprintf(`{"id": %q, "userId": %q}`, task, users[i])); r.Status != 201 {
					r.Refused(t, 404, "NOT_FOUND")
				}
			})
		}
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			late, err := db.QueryOne[int](ctx, tx, `
				SELECT count(*)
				FROM events d
				JOIN events c ON c.organization_id = d.organization_id AND c.type = 'task.assignee.created'
					AND c.seq > d.seq
				JOIN task_assignees s ON s.id = c.resource_id AND s.task_id = d.resource_id
				WHERE d.organization_id = $1 AND d.type = 'task.deleted'`, a.Org)
			if late != 0 {
				t.Errorf("%d assignees after the deletion", late)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
