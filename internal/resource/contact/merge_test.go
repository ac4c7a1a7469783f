package contact_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

func TestMerge(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		v := call(t, "contacts.create", `{"firstName": "Ada", "notes": "one", "tags": ["a"],
			"emails": [{"email": "ada@example.com"}], "phoneNumbers": [{"phoneNumber": "+442079460018"}],
			"addresses": [{"line1": "12 St James's Square"}]}`).OK(t, 201)
		other := call(t, "contacts.create", `{"firstName": "Augusta", "lastName": "Lovelace", "notes": "two",
			"externalId": "crm-1", "birthday": "1815-12-10", "tags": ["A", "b"],
			"emails": [{"email": "Ada@Example.com"}, {"email": "countess@example.com", "isPrimary": true}],
			"phoneNumbers": [{"phoneNumber": "+442079460018"}, {"phoneNumber": "+442079460019"}],
			"addresses": [{"line1": "12 St James's Square"}, {"line1": "Ockham Park"}]}`).OK(t, 201)
		stays, goes := v.Text("id"), other.Text("id")
		make := func(operation, input string) string {
			t.Helper()
			return call(t, operation, fmt.Sprintf(input, goes)).OK(t, 201).Text("id")
		}
		customer := make("customers.create", `{"name": "Engines", "contactId": %q}`)
		task := make("tasks.create", `{"title": "Call", "contactId": %q}`)
		optin := make("email_opt_ins.create", `{"email": "countess@example.com", "contactId": %q}`)
		message := make("messages.create", `{"to": ["countess@example.com", "ada@example.com"], "subject": "Hi",
			"text": "Hi", "draft": true, "contactId": %q}`)
		give := func(row, key, value string) string {
			t.Helper()
			found := call(t, "property_definitions.list", fmt.Sprintf(`{"query": %q}`, key)).OK(t, 200)
			d := found.Text("0.id")
			if d == "" {
				d = call(t, "property_definitions.create", fmt.Sprintf(
					`{"objectType": "contact", "key": %q, "name": %q, "valueType": "text"}`, key, key)).OK(t,
					201).Text("id")
			}
			return call(t, "contacts.properties.create", fmt.Sprintf(
				`{"id": %q, "definitionId": %q, "value": %q, "status": "confirmed"}`, row, d, value)).OK(t,
				201).Text("id")
		}
		give(stays, "tier", "gold")
		clash := give(goes, "tier", "silver")
		only := give(goes, "source", "fair")

		merge := fmt.Sprintf(`{"id": %q, "contactId": %q`, stays, goes)
		dry := call(t, "contacts.merge", merge+`, "dryRun": true}`).OK(t, 200)
		dry.Same("dryRun", true)
		dry.Same("contact.lastName", "Lovelace")
		if got := call(t, "contacts.get", fmt.Sprintf(`{"id": %q}`, goes)).OK(t, 200); got.String() != other.String() {
			t.Errorf("a dry run changed %s", got)
		}
		if events := a.Events(t, "contact.merged", "contact.deleted"); events != "" {
			t.Errorf("a dry run wrote %s", events)
		}
		done := call(t, "contacts.merge", merge+"}").OK(t, 200)
		if dry.At("moved").String() != done.At("moved").String() ||
			dry.At("fields").String() != done.At("fields").String() {
			t.Errorf("told\n%s\ndid\n%s", dry.At("moved"), done.At("moved"))
		}
		done.Same("fields", "[lastName birthday externalId notes tags]")
		done.Same("before.notes", "one")
		done.Same("merged.lastName", "Lovelace")

		one := call(t, "contacts.get", fmt.Sprintf(`{"id": %q, "include": "properties"}`, stays)).OK(t, 200)
		one.Same("firstName", "Ada")
		one.Same("lastName", "Lovelace")
		one.Same("notes", "one\n\ntwo")
		one.Same("externalId", "crm-1")
		one.Same("tags", "[a b]")
		one.Same("properties.0.valueText", "fair")
		one.Same("properties.1.valueText", "gold")
		primaries := strings.Count(one.At("emails").String(), `"isPrimary":true`)
		if one.At("emails").Len() != 2 || primaries != 1 || one.At("phoneNumbers").Len() != 2 ||
			one.At("addresses").Len() != 2 {
			t.Errorf("children: %s", one)
		}
		for _, c := range []struct{ noun, id string }{
			{"customers", customer}, {"tasks", task}, {"email_opt_ins", optin}, {"messages", message},
		} {
			call(t, c.noun+".get", fmt.Sprintf(`{"id": %q}`, c.id)).OK(t, 200).Same("contactId", stays)
		}
		links := call(t, "messages.contacts.list", fmt.Sprintf(`{"id": %q}`, message)).OK(t, 200)
		if links.Len() != 1 || links.Text("0.contactId") != stays {
			t.Errorf("links: %s", links)
		}
		ref := fmt.Sprintf(`{"id": %q, "propertyId": `, stays)
		call(t, "contacts.properties.get", ref+fmt.Sprintf(`%q}`, clash)).OK(t, 200).Same("status", "suggested")
		call(t, "contacts.properties.get", ref+fmt.Sprintf(`%q}`, only)).OK(t, 200).Same("status", "confirmed")

		// The other is gone, and found by nothing; both histories stay.
		call(t, "contacts.get", fmt.Sprintf(`{"id": %q}`, goes)).Refused(t, 404, "NOT_FOUND")
		for _, filter := range []string{`"query": "augusta"`, `"tag": "b"`, `"email": "countess@example.com"`} {
			want := 1
			if strings.Contains(filter, "augusta") {
				want = 0
			}
			if n := call(t, "contacts.list", "{"+filter+"}").OK(t, 200).Len(); n != want {
				t.Errorf("%s finds %d", filter, n)
			}
		}
		if got := a.Events(t, "contact.merged", "contact.deleted"); got != "contact.merged contact.deleted" {
			t.Errorf("events: %s", got)
		}
		for _, row := range []string{stays, goes} {
			if n := call(t, "events.list", fmt.Sprintf(`{"resourceId": %q}`, row)).OK(t, 200).Len(); n < 2 {
				t.Errorf("%d events of %s", n, row)
			}
		}

		call(t, "contacts.merge", merge+"}").Issues(t, "contactId")
		call(t, "contacts.merge", fmt.Sprintf(`{"id": %q, "contactId": %q}`, stays, stays)).Issues(t, "contactId")
		call(t, "contacts.merge", fmt.Sprintf(`{"id": %q, "contactId": %q}`, goes, stays)).Refused(t, 404, "NOT_FOUND")
		full := call(t, "contacts.create", `{"firstName": "x", "notes": "`+strings.Repeat("x", 9999)+`"}`).OK(t, 201)
		call(t, "contacts.merge",
			fmt.Sprintf(`{"id": %q, "contactId": %q}`, stays, full.Text("id"))).Issues(t, "contactId")

		// Erasing the one who stays erases the other too.
		a.AsOperator(t, "contacts.erase", "contact", v.ID("id"), fmt.Sprintf(`{"id": %q}`, stays))
		err := a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) error {
			n, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM contacts WHERE id = $1 OR id = $2", stays, goes)
			if n != 0 {
				t.Errorf("%d of the merged are still there", n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// Whatever happens to either contact while they are merged is not lost.
func TestMergeRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		stays := call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		goes := call(t, "contacts.create", `{"firstName": "Augusta"}`).OK(t, 201).Text("id")
		var mu sync.Mutex
		var emails, customers []string
		merged := 0
		apptest.RunAtOnce(34, func(i int) {
			row := []string{stays, goes}[i%2]
			var r apptest.Result
			switch {
			case i >= 32: // twice
				r = call(t, "contacts.merge", fmt.Sprintf(`{"id": %q, "contactId": %q}`, stays, goes))
			case i%4 < 2:
				r = call(t, "contacts.emails.create", fmt.Sprintf(`{"id": %q, "email": "n%d@example.com"}`, row, i))
			default:
				r = call(t, "customers.create", fmt.Sprintf(`{"name": "n%d", "contactId": %q}`, i, row))
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case r.Status == 200:
				merged++
			case r.Status == 201 && i%4 < 2:
				emails = append(emails, r.ParseJSON(t).Text("data.email"))
			case r.Status == 201:
				customers = append(customers, r.ParseJSON(t).Text("data.id"))
			case r.Status != 404 && r.Status != 400: // the contact was gone
				t.Errorf("%d: %d %s", i, r.Status, r.Body)
			}
		})
		if merged != 1 {
			t.Errorf("%d merges", merged)
		}
		one := call(t, "contacts.get", fmt.Sprintf(`{"id": %q}`, stays)).OK(t, 200)
		call(t, "contacts.get", fmt.Sprintf(`{"id": %q}`, goes)).Refused(t, 404, "NOT_FOUND")
		if n := one.At("emails").Len(); n != len(emails) || len(emails) < 8 {
			t.Errorf("%d emails of %d", n, len(emails))
		}
		if n := strings.Count(one.At("emails").String(), `"isPrimary":true`); n != 1 {
			t.Errorf("%d primary emails", n)
		}
		for _, row := range customers {
			call(t, "customers.get", fmt.Sprintf(`{"id": %q}`, row)).OK(t, 200).Same("contactId", stays)
		}
		if n := call(t, "contacts.list", `{}`).OK(t, 200).Len(); n != 1 {
			t.Errorf("%d contacts", n)
		}
	})
}
