package contact_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

func TestNotes(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		ada := call(t, "contacts.create", `{"firstName": "Ada", "notes": "The one text stays."}`).OK(t, 201).Text("id")
		add := func(body string) apptest.Result {
			return call(t, "contacts.notes.create", fmt.Sprintf(`{"id": %q, "body": %s}`, ada, body))
		}
		v := add(`"Met at the fair."`).OK(t, 201)
		v.Same("contactId", ada)
		v.Same("body", "Met at the fair.")
		ref := func(more string) string { return fmt.Sprintf(`{"id": %q, "noteId": %q%s}`, ada, v.Text("id"), more) }
		call(t, "contacts.notes.update", ref("")).OK(t, 200)
		call(t, "contacts.notes.update", ref(`, "body": "Met twice."`)).OK(t, 200).Same("body", "Met twice.")
		v.Same("kind", "note")
		second := add(`"Likes tea.", "kind": "call"`).OK(t, 201)
		second.Same("kind", "call")
		add(`"x", "kind": "visit"`).Issues(t, "kind")
		list := call(t, "contacts.notes.list", fmt.Sprintf(`{"id": %q, "limit": 1}`, ada)).OK(t, 200)
		list.Same("0.id", second.Text("id"))
		call(t, "contacts.get", fmt.Sprintf(`{"id": %q}`, ada)).OK(t, 200).Same("notes", "The one text stays.")
		for _, body := range []string{`""`, `" "`, `null`, `7`, `"` + strings.Repeat("x", 10_001) + `"`} {
			add(body).Issues(t, "body")
		}
		call(t, "contacts.notes.update", ref(`, "body": null`)).Issues(t, "body")
		call(t, "contacts.notes.delete", ref("")).OK(t, 204)
		for _, verb := range []string{"update", "delete"} {
			call(t, "contacts.notes."+verb, ref("")).Refused(t, 404, "NOT_FOUND")
		}
		want := "contact.note.created contact.note.updated contact.note.created contact.note.deleted"
		if events := a.Events(t, "contact.note."); events != want {
			t.Errorf("events %q", events)
		}
		call(t, "contacts.delete", fmt.Sprintf(`{"id": %q}`, ada)).OK(t, 204)
		call(t, "contacts.notes.list", fmt.Sprintf(`{"id": %q}`, ada)).Refused(t, 404, "NOT_FOUND")
	})
}

// What the house noted goes with the person.
func TestEraseNotes(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		ada := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada"}`).OK(t, 201).ID("id")
		a.SendREST(t, a.Key, "POST", "/v1/contacts/"+string(ada)+"/notes", `{"body": "Aspasia knows her."}`).OK(t, 201)
		a.AsOperator(t, "contacts.erase", "contact", ada, fmt.Sprintf(`{"id": %q}`, ada)).Same("rows.contact_notes", 1)
		if n, where := found(t, a, "Aspasia"); n != 0 {
			t.Errorf("still in %v", where)
		}
	})
}
