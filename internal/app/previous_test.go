package app_test

import (
	"fmt"
	"testing"

	"frontdesk/internal/apptest"
)

// An event tells the former values of what changed.
func TestPrevious(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		ada := call(t, "contacts.create", `{"firstName": "Ada", "emails": [{"email": "ada@example.com"}]}`).OK(t, 201)
		id := ada.Text("id")
		email := ada.Text("emails.0.id")
		call(t, "contacts.update", fmt.Sprintf(`{"id": %q, "firstName": "Ada", "lastName": "L", "notes": "n"}`, id)).
			OK(t, 200)
		call(t, "contacts.emails.update",
			fmt.Sprintf(`{"id": %q, "emailId": %q, "label": "home"}`, id, email)).OK(t, 200)
		call(t, "contacts.delete", fmt.Sprintf(`{"id": %q}`, id)).OK(t, 204)
		task := call(t, "tasks.create", `{"title": "one"}`).OK(t, 201).Text("id")
		call(t, "tasks.update", fmt.Sprintf(`{"id": %q, "title": "two", "status": "completed"}`, task)).OK(t, 200)
		for _, want := range []struct{ id, kind, previous string }{
			{id, "contact.created", "null"},
			{id, "contact.updated", `{"lastName":null,"notes":null}`},
			{email, "contact.email.updated", `{"label":null}`},
			{id, "contact.deleted", `{"deletedAt":null}`},
			{task, "task.updated", `{"completedAt":null,"status":"open","title":"one"}`},
		} {
			events := call(t, "events.list",
				fmt.Sprintf(`{"resourceId": %q, "type": %q}`, want.id, want.kind)).OK(t, 200)
			if got := events.At("0.previous").String(); events.Len() != 1 || got != want.previous {
				t.Errorf("%s: %s, want %s", want.kind, got, want.previous)
			}
		}
	})
}
