package contact_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

// created is the status of a PUT that created. Tools tell none.
func created(t *testing.T) int {
	if strings.HasSuffix(t.Name(), "/agent") {
		return 200
	}
	return 201
}

func TestPutByEmail(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		put := func(address, rest string) apptest.Result {
			return call(t, "contacts.put_by_email", fmt.Sprintf(`{"address": %q%s}`, address, rest))
		}
		put("ada@example.com", "").Refused(t, 400, "VALIDATION_ERROR") // nobody without a name
		ada := put("Ada@Example.com",
			`, "firstName": "Ada", "notes": "x", "tags": ["a"], "externalId": "1"`).OK(t, created(t))
		ada.Same("emails.0.email", "Ada@Example.com")
		ada.Same("emails.0.isPrimary", true)
		again := put("ada@example.COM", `, "lastName": "Lovelace", "notes": null`).OK(t, 200)
		again.Same("id", ada.Text("id"))
		again.Same("firstName", "Ada")
		again.Same("lastName", "Lovelace")
		again.Same("tags", "[a]")
		if !again.At("notes").Null() {
			t.Error("null does not clear")
		}
		put("ada@example.com", `, "lastName": "Lovelace"`).OK(t, 200)
		want := "contact.created contact.updated"
		if got := a.Events(t, "contact."); got != want {
			t.Errorf("events %s, want %s", got, want)
		}

		other := call(t, "contacts.create",
			`{"firstName": "Family", "emails": [{"email": "ada@example.com"}]}`).OK(t, 201)
		shared := put("ada@example.com", `, "jobTitle": "x"`).Refused(t, 409, "CONTACT_EMAIL_SHARED")
		shared.Same("details.contactIds", fmt.Sprintf("[%s %s]", ada.Text("id"), other.Text("id")))
		put("bob@example.com", `, "firstName": "Bob", "externalId": "1"`).Refused(t, 409, "EXTERNAL_ID_TAKEN")
		call(t, "contacts.delete", fmt.Sprintf(`{"id": %q}`, other.Text("id"))).OK(t, 204)
		call(t, "contacts.delete", fmt.Sprintf(`{"id": %q}`, ada.Text("id"))).OK(t, 204)
		if back := put("ada@example.com", `, "firstName": "Ada"`).OK(t, created(t)); back.Text("id") == ada.Text("id") {
			t.Error("a deleted contact was changed")
		}
		put("nobody", `, "firstName": "x"`).Refused(t, 400, "INVALID_INPUT")
	})
}

// Whoever may only change makes nobody.
func TestPutNeedsBothRights(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		key, _ := a.NewKey(t, a.Tenant, "contacts:read", "customers:read")
		a.SendREST(t, key, "PUT", "/v1/contacts/by-email/ada@example.com", `{"firstName": "Ada"}`).
			Refused(t, 403, "INSUFFICIENT_PERMISSIONS").Same("details.permission", "contacts:write")
	})
}

func TestPutRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		for operation, key := range map[string]string{
			"contacts.put_by_email":        `"address": "ada@example.com", "firstName"`,
			"customers.put_by_external_id": `"externalId": "7", "name"`,
		} {
			results := make([]apptest.Result, 16)
			apptest.RunAtOnce(16, func(i int) { results[i] = call(t, operation, fmt.Sprintf(`{%s: "n%d"}`, key, i)) })
			created, ids := 0, map[string]bool{}
			for _, r := range results {
				if r.Status == 201 {
					created++
				}
				ids[r.ParseJSON(t).Text("data.id")] = true
			}
			if created != 1 || len(ids) != 1 || ids[""] {
				t.Errorf("%s: %d created, ids %v", operation, created, ids)
			}
		}
		for _, noun := range []string{"contacts", "customers"} {
			if n := call(t, noun+".list", `{}`).OK(t, 200).Len(); n != 1 {
				t.Errorf("%d %s", n, noun)
			}
		}
	})
}
