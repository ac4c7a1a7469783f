package contact_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

// family is two contacts with everything that a merge touches.
type family struct {
	stays, goes             string
	customer, task, message string
}

func newFamily(t *testing.T, call apptest.Door) family {
	t.Helper()
	f := family{
		stays: call(t, "contacts.create", `{"firstName": "Ada", "notes": "one", "tags": ["a"],
			"emails": [{"email": "ada@example.com"}], "phoneNumbers": [{"phoneNumber": "+442079460018"}],
			"addresses": [{"line1": "12 St James's Square"}]}`).OK(t, 201).Text("id"),
		goes: call(t, "contacts.create", `{"firstName": "Augusta", "lastName": "Lovelace", "notes": "two",
			"externalId": "crm-1", "birthday": "1815-12-10", "tags": ["A", "b"],
			"emails": [{"email": "Ada@Example.com"}, {"email": "countess@example.com", "isPrimary": true}],
			"phoneNumbers": [{"phoneNumber": "+442079460018"}, {"phoneNumber": "+442079460019"}],
			"addresses": [{"line1": "12 St James's Square", "isPrimary": true}, {"line1": "Ockham Park"}]}`).
			OK(t, 201).Text("id"),
	}
	made := func(operation, input string) string {
		t.Helper()
		return call(t, operation, fmt.Sprintf(input, f.goes)).OK(t, 201).Text("id")
	}
	f.customer = made("customers.create", `{"name": "Engines", "contactId": %q}`)
	f.task = made("tasks.create", `{"title": "Call", "contactId": %q}`)
	f.message = made("messages.create", `{"to": ["countess@example.com", "ada@example.com"], "subject": "Hi",
		"text": "Hi", "draft": true, "contactId": %q}`)
	d := call(t, "property_definitions.create",
		`{"objectType": "contact", "key": "tier", "name": "Tier", "valueType": "text"}`).OK(t, 201).Text("id")
	for _, row := range []string{f.stays, f.goes} {
		call(t, "contacts.properties.create", fmt.Sprintf(
			`{"id": %q, "definitionId": %q, "value": "gold", "status": "confirmed"}`, row, d)).OK(t, 201)
	}
	return f
}

// state is all that callers see of the two, without when they last changed.
func (f family) state(t *testing.T, call apptest.Door) string {
	t.Helper()
	var out strings.Builder
	for _, row := range []string{f.stays, f.goes} {
		out.WriteString(call(t, "contacts.get", fmt.Sprintf(`{"id": %q, "include": "properties"}`, row)).OK(t,
			200).String())
		for _, filter := range []string{`"tag": "b"`, `"email": "ada@example.com"`, `"query": "augusta"`} {
			fmt.Fprintln(&out, call(t, "contacts.list", "{"+filter+"}").OK(t, 200).Len())
		}
	}
	for noun, row := range map[string]string{"customers": f.customer, "tasks": f.task, "messages": f.message} {
		v := call(t, noun+".get", fmt.Sprintf(`{"id": %q}`, row)).OK(t, 200)
		if v.Text("contactId") != f.goes {
			fmt.Fprintln(&out, noun, v.Text("contactId"))
		}
	}
	links := call(t, "messages.contacts.list", fmt.Sprintf(`{"id": %q}`, f.message)).OK(t, 200)
	return updated.ReplaceAllString(out.String()+links.String(), "")
}

var updated = regexp.MustCompile(`"updatedAt":"[^"]*"`)

func TestUnmerge(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		f := newFamily(t, call)
		pair := fmt.Sprintf(`{"id": %q, "contactId": %q}`, f.stays, f.goes)
		before := f.state(t, call)
		call(t, "contacts.unmerge", pair).Refused(t, 409, "CONTACT_NOT_MERGED")
		call(t, "contacts.merge", pair).OK(t, 200)
		done := call(t, "contacts.unmerge", pair).OK(t, 200)
		done.Same("kept", "[]")
		done.Same("fields", "[lastName birthday externalId notes tags]")
		if after := f.state(t, call); after != before {
			t.Errorf("before the merge\n%s\nand after it was taken back\n%s", before, after)
		}
		if got := a.Events(t, "contact.unmerged", "contact.restored"); got != "contact.unmerged contact.restored" {
			t.Errorf("events: %s", got)
		}
		call(t, "contacts.unmerge", pair).Refused(t, 409, "CONTACT_NOT_MERGED")

		// What somebody did since the merge stays, and is named.
		call(t, "contacts.merge", pair).OK(t, 200)
		stays := fmt.Sprintf(`{"id": %q`, f.stays)
		call(t, "contacts.update", stays+`, "notes": "three"}`).OK(t, 200)
		third := call(t, "contacts.create", `{"firstName": "Byron"}`).OK(t, 201).Text("id")
		call(t, "tasks.update", fmt.Sprintf(`{"id": %q, "contactId": %q}`, f.task, third)).OK(t, 200)
		call(t, "customers.update", fmt.Sprintf(`{"id": %q, "name": "Looms"}`, f.customer)).OK(t, 200)
		one := call(t, "contacts.get", stays+`}`).OK(t, 200)
		for i := range one.At("emails").Len() { // what came over is primary now
			if e := one.At(fmt.Sprintf("emails.%d", i)); e.Text("email") == "countess@example.com" {
				call(t, "contacts.emails.update", fmt.Sprintf(`{"id": %q, "emailId": %q, "isPrimary": true}`, f.stays,
					e.Text("id"))).OK(t, 200)
			}
		}
		call(t, "contacts.emails.create", stays+`, "email": "new@example.com"}`).OK(t, 201)
		done = call(t, "contacts.unmerge", pair).OK(t, 200)
		done.Same("kept.0.field", "notes")
		done.Same("kept.1.resourceType", "task")
		done.Same("kept.1.resourceId", f.task)
		if done.At("kept").Len() != 2 {
			t.Errorf("kept: %s", done.At("kept"))
		}
		one = call(t, "contacts.get", stays+`}`).OK(t, 200)
		one.Same("notes", "three")
		one.Same("externalId", nil)
		one.Same("emails.0.isPrimary", true)
		one.Same("emails.1.email", "new@example.com")
		back := call(t, "contacts.get", fmt.Sprintf(`{"id": %q}`, f.goes)).OK(t, 200)
		back.Same("externalId", "crm-1")
		if n := strings.Count(back.At("emails").String(), `"isPrimary":true`); n != 1 || back.At("emails").Len() != 2 {
			t.Errorf("emails: %s", back.At("emails"))
		}
		call(t, "tasks.get", fmt.Sprintf(`{"id": %q}`, f.task)).OK(t, 200).Same("contactId", third)
		looms := call(t, "customers.get", fmt.Sprintf(`{"id": %q}`, f.customer)).OK(t, 200)
		looms.Same("contactId", f.goes)
		looms.Same("name", "Looms")

		// A chain of merges is taken back from its end.
		call(t, "contacts.merge", pair).OK(t, 200)
		upper := fmt.Sprintf(`{"id": %q, "contactId": %q}`, third, f.stays)
		call(t, "contacts.merge", upper).OK(t, 200)
		call(t, "contacts.unmerge", pair).Refused(t, 404, "NOT_FOUND")
		call(t, "contacts.unmerge", upper).OK(t, 200)
		call(t, "contacts.unmerge", pair).OK(t, 200)

		// Somebody has taken its place.
		call(t, "contacts.merge", pair).OK(t, 200)
		call(t, "contacts.update", stays+`, "externalId": null}`).OK(t, 200)
		call(t, "contacts.update", fmt.Sprintf(`{"id": %q, "externalId": "crm-1"}`, third)).OK(t, 200)
		call(t, "contacts.unmerge", pair).Refused(t, 409, "PLACE_TAKEN")
	})
}
