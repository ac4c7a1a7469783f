package view_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// A list is saved as a view, used by the list, by its export and by whoever it is shared with, changed, deleted and
// brought back.
func TestViews(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		for _, c := range []string{`{"firstName": "Ada", "tags": ["vip"]}`, `{"firstName": "Grace", "tags": ["vip"]}`,
			`{"firstName": "Charles"}`} {
			call(t, "contacts.create", c).OK(t, 201)
		}
		v := call(t, "views.create", `{"objectType": "contacts", "name": "The best",
			"query": {"tag": ["vip"], "sortBy": "name", "sortOrder": "asc"}, "columns": ["tags"], "shared": true}`).
			OK(t, 201)
		v.Same("objectType", "contacts")
		v.Same("query.tag.0", "vip")
		v.Same("columns.0", "tags")
		ref := v.Text("id")
		list := call(t, "contacts.list", fmt.Sprintf(`{"viewId": %q}`, ref)).OK(t, 200)
		if list.Len() != 2 || list.Text("0.firstName") != "Ada" {
			t.Errorf("the view lists %s", list)
		}
		// What the request says wins.
		list = call(t, "contacts.list", fmt.Sprintf(`{"viewId": %q, "query": "grace"}`, ref)).OK(t, 200)
		if list.Len() != 1 || list.Text("0.firstName") != "Grace" {
			t.Errorf("the narrowed view lists %s", list)
		}
		for _, other := range []string{"customers.list", "tasks.list"} { // a view of one list is none of another
			if r := call(t, other, fmt.Sprintf(`{"viewId": %q}`, ref)); r.Status != 400 {
				t.Errorf("%s took a view of contacts: %d %s", other, r.Status, r.Body)
			}
		}
		call(t, "views.update", fmt.Sprintf(`{"id": %q, "name": "Friends", "query": {"tag": ["nobody"]}}`, ref)).
			OK(t, 200).Same("name", "Friends")
		if n := call(t, "contacts.list", fmt.Sprintf(`{"viewId": %q}`, ref)).OK(t, 200).Len(); n != 0 {
			t.Errorf("the changed view lists %d", n)
		}
		call(t, "views.delete", fmt.Sprintf(`{"id": %q}`, ref)).OK(t, 204)
		call(t, "views.get", fmt.Sprintf(`{"id": %q}`, ref)).Refused(t, 404, "NOT_FOUND")
		if r := call(t, "contacts.list", fmt.Sprintf(`{"viewId": %q}`, ref)); r.Status != 400 {
			t.Errorf("a deleted view was used: %d", r.Status)
		}
		call(t, "views.restore", fmt.Sprintf(`{"id": %q}`, ref)).OK(t, 200)
		rows := call(t, "views.list", `{"objectType": ["contacts"]}`).OK(t, 200)
		if rows.Len() != 1 || call(t, "views.list", `{"objectType": ["tasks"]}`).OK(t, 200).Len() != 0 {
			t.Errorf("listed %s", rows)
		}
		want := "view.created view.updated view.deleted view.restored"
		if got := a.Events(t, "view."); got != want {
			t.Errorf("events%q, want %q", got, want)
		}
		for _, bad := range []struct{ fields, at string }{
			{`"objectType": "contacts", "name": "", "query": {}`, "name"},
			{`"objectType": "contacts", "name": "x", "query": {"nothing": 1}`, "query"},
			{`"objectType": "contacts", "name": "x", "query": {"sortBy": "color"}`, "query.sortBy"},
			{`"objectType": "contacts", "name": "x", "query": {"limit": 5}`, "query.limit"},
			{`"objectType": "contacts", "name": "x", "query": []`, "query"},
			{`"objectType": "contacts", "name": "x", "query": {}, "columns": ["tags", "color"]`, "columns.1"},
			{`"objectType": "contact", "name": "x", "query": {}`, "objectType"},
			{`"objectType": "members", "name": "x", "query": {}`, "objectType"},
			{`"objectType": "views", "name": "x", "query": {}`, "objectType"},
		} {
			call(t, "views.create", "{"+bad.fields+"}").Issues(t, bad.at)
		}
		r := call(t, "views.create", `{"objectType": "contacts", "name": "x", "query": {"nothing": 1}}`)
		if !strings.Contains(string(r.Body), "nothing") {
			t.Errorf("the unknown parameter is not named: %s", r.Body)
		}
	})
}

// person is somebody of the test organization, who may do what the permissions say.
func person(t *testing.T, a *apptest.App, grants ...string) apptest.Door {
	t.Helper()
	permissions, err := op.ParseGrants(grants)
	if err != nil {
		t.Fatal(err)
	}
	who := id.New()
	caller := &op.Caller{Kind: op.UserActor, ID: who, User: who, Organization: a.Org, Business: a.Business,
		Role: "member", Permissions: permissions}
	return func(t testing.TB, operation, input string) apptest.Result {
		answer, err := a.Runner.Do(t.Context(), a.Catalog.Named(operation), op.Request{Caller: caller,
			Door: op.ConsoleDoor, ID: string(id.New()), Body: func() ([]byte, error) { return []byte(input), nil }})
		return apptest.ResultOf(t, answer, err)
	}
}

// A view that is not shared is its maker's alone: nobody else reads, uses, changes or deletes it, and the log that
// others read does not have it. What one may not list, one has no views of.
func TestViewsOfOthers(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		mine := person(t, a, "contacts:read", "contacts:write", "tasks:read")
		theirs := person(t, a, "contacts:read", "contacts:write")
		own := mine(t, "views.create", `{"objectType": "contacts", "name": "Mine", "query": {"tag": "secret"}}`).
			OK(t, 201).Text("id")
		of := func(rest string) string { return fmt.Sprintf(`{"id": %q%s}`, own, rest) }
		for operation, rest := range map[string]string{"views.get": "", "views.update": `, "name": "Theirs"`,
			"views.delete": "", "views.restore": ""} {
			theirs(t, operation, of(rest)).Refused(t, 404, "NOT_FOUND")
		}
		a.SendREST(t, a.Key, "GET", "/v1/views/"+own, "").Refused(t, 404, "NOT_FOUND") // not even an owner
		if r := theirs(t, "contacts.list", fmt.Sprintf(`{"viewId": %q}`, own)); r.Status != 400 {
			t.Errorf("somebody else's view was used: %d", r.Status)
		}
		if r := a.SendREST(t, a.Key, "GET", "/v1/exports/contacts.csv?viewId="+own, ""); r.Status != 400 {
			t.Errorf("somebody else's view was exported: %d", r.Status)
		}
		if n := theirs(t, "views.list", "{}").OK(t, 200).Len(); n != 0 {
			t.Errorf("%d views of somebody else", n)
		}
		mine(t, "views.update", of(`, "name": "Still mine"`)).OK(t, 200)
		mine(t, "views.delete", of("")).OK(t, 204)
		theirs(t, "views.restore", of("")).Refused(t, 404, "NOT_FOUND")
		mine(t, "views.restore", of("")).OK(t, 200)
		if got := a.Events(t, "view."); strings.TrimSpace(got) != "" {
			t.Errorf("a view of one person is in the log: %s", got)
		}
		mine(t, "views.update", of(`, "shared": true`)).OK(t, 200)
		theirs(t, "views.get", of("")).OK(t, 200).Same("name", "Still mine")
		theirs(t, "views.update", of(`, "name": "Theirs"`)).Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		theirs(t, "views.delete", of("")).Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		mine(t, "views.create", `{"objectType": "tasks", "name": "Read only", "query": {}}`).
			Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		a.SendREST(t, a.Key, "POST", "/v1/views", `{"objectType": "invoices", "name": "Money", "query": {},
			"shared": true}`).OK(t, 201)
		if rows := mine(t, "views.list", "{}").OK(t, 200); rows.Len() != 1 {
			t.Errorf("views of what may not be read: %s", rows)
		}
		a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada", "tags": ["secret"]}`).OK(t, 201)
		a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Grace"}`).OK(t, 201)
		csv := a.SendREST(t, a.Key, "GET", "/v1/exports/contacts.csv?viewId="+own, "")
		if csv.Status != 200 || strings.Count(string(csv.Body), "\n") != 2 ||
			!strings.Contains(string(csv.Body), "Ada") {
			t.Errorf("%d %s", csv.Status, csv.Body)
		}
	})
}

// Whoever is erased is not left in the filters of a view.
func TestErasedFromViews(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		ada := a.SendREST(t, a.Key, "POST", "/v1/contacts",
			`{"firstName": "Ada", "emails": [{"email": "ada@example.com"}]}`).OK(t, 201).ID("id")
		save := func(body string) {
			a.SendREST(t, a.Key, "POST", "/v1/views", body).OK(t, 201)
		}
		save(fmt.Sprintf(`{"objectType": "tasks", "name": "By id", "query": {"contactId": %q}}`, ada))
		save(`{"objectType": "contacts", "name": "By address", "query": {"email": "ada@example.com"}}`)
		save(`{"objectType": "contacts", "name": "Of others", "query": {"email": "grace@example.com"}}`)
		a.AsOperator(t, "contacts.erase", "organization", a.Org, fmt.Sprintf(`{"id": %q}`, ada))
		rows := a.SendREST(t, a.Key, "GET", "/v1/views", "").OK(t, 200)
		if rows.Len() != 1 || rows.Text("0.name") != "Of others" {
			t.Errorf("left: %s", rows)
		}
	})
}
