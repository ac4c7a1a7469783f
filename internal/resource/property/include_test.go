package property_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

// Objects are found by a confirmed property and show their properties if asked.
func TestPropertiesOfLists(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		long := strings.Repeat("ä", 150)
		for noun, kind := range map[string]string{"contacts": "contact", "customers": "customer",
			"businesses": "business"} {
			name := map[string]string{"contacts": "firstName"}[noun]
			if name == "" {
				name = "name"
			}
			row := call(t, noun+".create", fmt.Sprintf(`{%q: "Ada"}`, name)).OK(t, 201).Text("id")
			call(t, noun+".create", fmt.Sprintf(`{%q: "Bob"}`, name)).OK(t, 201)
			for key, c := range map[string]struct{ more, value, status string }{
				"tier": {`"valueType": "select", "options": ["gold", "Gold"]`, `"gold"`, "confirmed"},
				"langs": {`"valueType": "multi_select", "options": ["en", "de", "d\"e"]`, `["en", "d\"e"]`,
					"confirmed"},
				"size":   {`"valueType": "number"`, `"10.50"`, "confirmed"},
				"since":  {`"valueType": "date"`, `"2026-01-31"`, "confirmed"},
				"vip":    {`"valueType": "boolean"`, `true`, "confirmed"},
				"text":   {`"valueType": "text"`, `"` + long + `"`, "confirmed"},
				"rumour": {`"valueType": "text"`, `"x"`, "suggested"},
			} {
				d := call(t, "property_definitions.create",
					fmt.Sprintf(`{"objectType": %q, "key": %q, "name": "x", %s}`,
						kind, key, c.more)).OK(t, 201).Text("id")
				call(t, noun+".properties.create",
					fmt.Sprintf(`{"id": %q, "definitionId": %q, "value": %s, "status": %q}`,
						row, d, c.value, c.status)).OK(t, 201)
			}
			find := func(key, value string) apptest.Result {
				return call(t, noun+".list", fmt.Sprintf(`{"propertyKey": %q, "propertyValue": %q}`, key, value))
			}
			for _, c := range []struct {
				key, value string
				n          int
			}{
				{"tier", "gold", 1}, {"tier", "Gold", 0}, {"langs", "en", 1}, {"langs", "de", 0}, {"langs", `d"e`, 1},
				{"langs", "EN", 0}, {"size", "10.5", 1}, {"size", "1.05e1", 1}, {"size", "10", 0},
				{"since", "2026-01-31", 1},
				{"vip", "true", 1}, {"vip", "false", 0}, {"text", long, 1}, {"text", long + "x", 0}, {"rumour", "x", 0},
			} {
				if got := find(c.key, c.value).OK(t, 200); got.Len() != c.n {
					t.Errorf("%s with %s = %.20s: %d, want %d", noun, c.key, c.value, got.Len(), c.n)
				}
			}
			for _, c := range [][2]string{{"nope", "x"}, {"size", "ten"}, {"vip", "yes"}, {"since", "yesterday"}} {
				find(c[0], c[1]).Refused(t, 400, "INVALID_INPUT")
			}
			call(t, noun+".list", `{"propertyKey": "tier"}`).Refused(t, 400, "INVALID_INPUT")
			call(t, noun+".list", `{"propertyValue": "gold"}`).Refused(t, 400, "INVALID_INPUT")

			ref := fmt.Sprintf(`{"id": %q`, row)
			if v := call(t, noun+".get", ref+"}").OK(t, 200); v.Has("properties") {
				t.Errorf("%s: properties that nobody asked for", noun)
			}
			v := call(t, noun+".get", ref+`, "include": "properties"}`).OK(t, 200)
			v.Same("properties.0.key", "langs")
			v.Same("properties.4.valueText", "gold")
			if n := v.At("properties").Len(); n != 6 {
				t.Errorf("%s: %d properties", noun, n)
			}
			list := call(t, noun+".list", `{"include": ["properties"]}`).OK(t, 200)
			if list.At("0.properties").Len() != 0 || list.At("1.properties").Len() != 6 {
				t.Errorf("%s: %s", noun, list)
			}
			call(t, noun+".get", ref+`, "include": "everything"}`).Refused(t, 400, "INVALID_INPUT")
		}
	})
}

// An include reveals nothing that the caller may not read by itself.
func TestAttackIncludes(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		key, _ := a.NewKey(t, a.Tenant, "contacts:read", "invoices:read", "customers:read")
		blind, _ := a.NewKey(t, a.Tenant, "messages:read", "invoices:read")
		contact := a.SendREST(t, a.Key, "POST", "/v1/contacts",
			`{"firstName": "Ada", "emails": [{"email": "ada@example.com"}]}`).OK(t, 201).Text("id")
		for _, c := range []struct{ key, path, permission string }{
			{key, "/v1/contacts?include=properties", "properties:read"},
			{key, "/v1/contacts/" + contact + "?include=properties", "properties:read"},
			{key, "/v1/customers?include=properties", "properties:read"},
			{key, "/v1/contacts?propertyKey=tier&propertyValue=gold", "properties:read"},
			{blind, "/v1/invoices?include=customer", "customers:read"},
			{blind, "/v1/messages?include=contacts", "contacts:read"},
		} {
			a.SendREST(t, c.key, "GET", c.path, "").Refused(t, 403, "INSUFFICIENT_PERMISSIONS").
				Same("details.permission", c.permission)
		}

		customer := a.SendREST(t, a.Key, "POST", "/v1/customers", `{"name": "Engines"}`).OK(t, 201).Text("id")
		a.SendREST(t, a.Key, "POST", "/v1/invoices", fmt.Sprintf(
			`{"customerId": %q, "lineItems": [{"description": "x", "unitAmountCents": 1}]}`, customer)).OK(t, 201)
		invoices := a.SendREST(t, key, "GET", "/v1/invoices?include=customer", "").OK(t, 200)
		invoices.Same("0.customer.name", "Engines")
		if plain := a.SendREST(t, key, "GET", "/v1/invoices", "").OK(t, 200).At("0"); plain.Has("customer") {
			t.Errorf("a customer that nobody asked for: %s", plain)
		}
		a.SendREST(t, a.Key, "DELETE", "/v1/customers/"+customer, "").OK(t, 204)
		gone := a.SendREST(t, key, "GET", "/v1/invoices?include=customer", "").OK(t, 200).At("0")
		if !gone.Has("customer") || !gone.At("customer").Null() {
			t.Errorf("a deleted customer: %s", gone)
		}

		a.SendREST(t, a.Key, "POST", "/v1/messages",
			`{"to": "ada@example.com", "subject": "Hi", "text": "Hi", "draft": true}`).OK(t, 201)
		messages := a.SendREST(t, a.Key, "GET", "/v1/messages?include=contacts", "").OK(t, 200)
		messages.Same("0.contacts.0.id", contact)
		messages.Same("0.contacts.0.role", "to")
		messages.Same("0.contacts.0.emails.0.email", "ada@example.com")
	})
}
