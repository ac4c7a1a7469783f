package app_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

var changing = regexp.MustCompile(`"(updatedAt|nextRunAt|status)":("[^"]*"|null)`)

// What can be restored comes back as it was. The test is made from the list of
// operations.
func TestEveryRestore(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		mine := build(t, a, a.Tenant)
		tried := 0
		for _, o := range a.Catalog.All() {
			if !strings.HasSuffix(o.Name, ".restore") || o.Doors&op.RESTDoor == 0 {
				continue
			}
			path, _ := fill(t, o, func(c string) (id.ID, bool) { return mine[c], true })
			path = strings.TrimSuffix(path, "/restore")
			before := a.SendREST(t, a.Key, "GET", path, "").OK(t, 200)
			if r := a.SendREST(t, a.Key, "DELETE", path, ""); r.Status != 204 {
				t.Logf("%s: %s", o.Name, r.Body) // the last business, a folder with files
				continue
			}
			tried++
			a.SendREST(t, a.Key, "GET", path, "").Refused(t, 404, "NOT_FOUND")
			back := a.SendREST(t, a.Key, "POST", path+"/restore", "").OK(t, 200)
			after := a.SendREST(t, a.Key, "GET", path, "").OK(t, 200)
			if back.String() != after.String() {
				t.Errorf("%s answers %s, GET %s", o.Name, back, after)
			}
			// A restored automation is paused, and a restored webhook disabled.
			same := func(v apptest.Value) string { return changing.ReplaceAllString(v.String(), "") }
			if same(before) != same(after) {
				t.Errorf("%s: before %s, after %s", o.Name, before, after)
			}
			// A second time changes nothing.
			if again := a.SendREST(t, a.Key, "POST", path+"/restore", "").OK(t, 200); again.String() != after.String() {
				t.Errorf("%s again: %s", o.Name, again)
			}
		}
		if tried < 10 {
			t.Errorf("only %d were tried", tried)
		}
	})
}

// A contact comes back with its parts, its place in searches and what named it; a
// place that was taken meanwhile stays taken.
func TestRestore(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		create := func(operation, input string, args ...any) string {
			t.Helper()
			return call(t, operation, fmt.Sprintf(input, args...)).OK(t, 201).Text("id")
		}
		do := func(operation, row string, status int) apptest.Value {
			t.Helper()
			return call(t, operation, fmt.Sprintf(`{"id": %q}`, row)).OK(t, status)
		}
		ada := create("contacts.create", `{"firstName": "Ada",
			"emails": [{"email": "ada@example.com"}, {"email": "x@example.com"}]}`)
		gone := do("contacts.get", ada, 200).Text("emails.1.id")
		call(t, "contacts.emails.delete", fmt.Sprintf(`{"id": %q, "emailId": %q}`, ada, gone)).OK(t, 204)
		named := create("tasks.create", `{"title": "call", "contactId": %q}`, ada)
		moved := create("tasks.create", `{"title": "call", "contactId": %q}`, ada)
		eve := create("contacts.create", `{"firstName": "Eve"}`)
		do("contacts.delete", ada, 204)
		call(t, "tasks.update", fmt.Sprintf(`{"id": %q, "contactId": %q}`, moved, eve)).OK(t, 200)

		back := do("contacts.restore", ada, 200)
		if back.At("emails").Len() != 1 || !back.At("deletedAt").Null() {
			t.Errorf("%s", back)
		}
		do("tasks.get", named, 200).Same("contactId", ada)
		do("tasks.get", moved, 200).Same("contactId", eve)
		if n := call(t, "contacts.list", `{"query": "ada"}`).OK(t, 200).Len(); n != 1 {
			t.Errorf("a search finds %d", n)
		}
		if got := a.Events(t, "contact.restored"); got != "contact.restored" {
			t.Errorf("events: %s", got)
		}

		opt := create("email_opt_ins.create", `{"email": "ada@example.com", "status": "opted_in"}`)
		do("email_opt_ins.delete", opt, 204)
		create("email_opt_ins.create", `{"email": "ada@example.com", "status": "opted_out"}`)
		call(t, "email_opt_ins.restore", fmt.Sprintf(`{"id": %q}`, opt)).Refused(t, 409, "PLACE_TAKEN")
		call(t, "contacts.restore", fmt.Sprintf(`{"id": %q}`, id.New())).Refused(t, 404, "NOT_FOUND")
	})
}
