package property_test

import (
	"fmt"
	"testing"

	"frontdesk/internal/apptest"
)

// Suggestions of all kinds of objects, without those that nobody can decide on
// any more.
func TestSuggestions(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		define := func(kind string) string {
			return call(t, "property_definitions.create", fmt.Sprintf(`{"objectType": %q, "key": "city",
				"name": "City", "valueType": "text"}`, kind)).OK(t, 201).Text("id")
		}
		ofContacts, ofCustomers := define("contact"), define("customer")
		ada := call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		bob := call(t, "contacts.create", `{"firstName": "Bob"}`).OK(t, 201).Text("id")
		shop := call(t, "customers.create", `{"name": "Shop"}`).OK(t, 201).Text("id")
		give := func(kind, object, definition, value, status string) {
			call(t, kind+".properties.create", fmt.Sprintf(`{"id": %q, "definitionId": %q, "value": %q, "status": %q}`,
				object, definition, value, status)).OK(t, 201)
		}
		give("contacts", ada, ofContacts, "Paris", "confirmed")
		give("contacts", ada, ofContacts, "London", "suggested")
		give("contacts", bob, ofContacts, "Rome", "suggested")
		give("customers", shop, ofCustomers, "Oslo", "suggested")
		found := func(filter string, want ...string) {
			t.Helper()
			rows := call(t, "suggestions.list", `{`+filter+`}`).OK(t, 200)
			if rows.Len() != len(want) {
				t.Errorf("%s: %s", filter, rows)
				return
			}
			for i, value := range want {
				rows.Same(fmt.Sprintf("%d.valueText", i), value)
			}
		}
		found("", "Oslo", "Rome", "London")
		found(`"objectType": ["customer"]`, "Oslo")
		found(`"objectType": ["contact"], "limit": 1`, "Rome")
		found(`"definitionId": "`+ofCustomers+`"`, "Oslo")
		call(t, "contacts.delete", fmt.Sprintf(`{"id": %q}`, bob)).OK(t, 204)
		found("", "Oslo", "London")
		call(t, "property_definitions.delete", fmt.Sprintf(`{"id": %q}`, ofCustomers)).OK(t, 204)
		found("", "London")
	})
}
