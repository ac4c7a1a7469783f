package eventlog_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

func TestEvents(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		ada := call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201)
		call(t, "contacts.update", fmt.Sprintf(`{"id": %q, "lastName": "Lovelace"}`, ada.Text("id"))).OK(t, 200)
		phone := call(t, "contacts.phone_numbers.create",
			fmt.Sprintf(`{"id": %q, "phoneNumber": "+442079460018"}`, ada.Text("id"))).OK(t, 201)
		bob := call(t, "contacts.create", `{"firstName": "Bob"}`).OK(t, 201)
		// changes nothing, so nothing happened
		call(t, "contacts.update", fmt.Sprintf(`{"id": %q}`, bob.Text("id"))).OK(t, 200)
		call(t, "contacts.create", `{"firstName": ""}`).Refused(t, 400, "VALIDATION_ERROR")

		list := call(t, "events.list", `{}`).OK(t, 200)
		list.Same("0.type", "contact.created")
		list.Same("0.resourceId", bob.Text("id"))
		list.Same("1.type", "contact.phone_number.created")
		list.Same("1.resourceType", "contact.phone_number")
		list.Same("1.resourceId", phone.Text("id"))
		list.Same("2.data.lastName", "Lovelace")
		if got := list.At("1.data").String(); got != phone.String() {
			t.Errorf("the event holds %s, GET %s", got, phone)
		}

		one := call(t, "events.get", fmt.Sprintf(`{"id": %q}`, list.Text("0.id"))).OK(t, 200)
		if one.String() != list.At("0").String() {
			t.Errorf("get differs from list:\n%s\n%s", one, list.At("0"))
		}
		one.Same("organizationId", a.Org)
		one.Same("updatedAt", one.Text("createdAt"))
		if !one.Has("deletedAt") || !one.At("deletedAt").Null() || len(one.Text("requestId")) != 36 ||
			one.Text("actorKind") == "" || one.Text("door") == "" {
			t.Errorf("%s", one)
		}
		since := list.Text("1.createdAt")
		for filter, want := range map[string]int{
			`"type": "contact.created"`: 2, `"type": "contact.deleted"`: 0, `"type": "contact"`: 0,
			`"resourceType": "contact"`: 3, `"resourceType": "contact.phone_number"`: 1,
			`"resourceId": "` + ada.Text("id") + `"`:                                                           2,
			`"resourceId": "` + ada.Text("id") + `", "type": "contact.updated"`:                                1,
			`"resourceIds": ["` + ada.Text("id") + `", "` + bob.Text("id") + `"]`:                              3,
			`"resourceIds": ["` + ada.Text("id") + `"]`:                                                        2,
			`"resourceIds": ["` + phone.Text("id") + `", "` + bob.Text("id") + `"], "type": "contact.created"`: 1,
			`"since": "2999-01-01T00:00:00Z"`:                                                                  0,
			`"since": "2020-01-01T00:00:00Z", "resourceType": "contact"`:                                       3,
		} {
			if n := call(t, "events.list", "{"+filter+"}").OK(t, 200).Len(); n != want {
				t.Errorf("%s finds %d, want %d", filter, n, want)
			}
		}
		late := call(t, "events.list", fmt.Sprintf(`{"since": %q, "limit": 100}`, since)).OK(t, 200)
		for i := range late.Len() {
			if at := late.Text(fmt.Sprintf("%d.createdAt", i)); at < since {
				t.Errorf("since %s finds %s", since, at)
			}
		}
		call(t, "events.list", `{"sortOrder": "asc", "resourceType": "contact"}`).OK(t, 200).Same("0.resourceId",
			ada.Text("id"))

		call(t, "events.get", `{"id": "2b9e6f0c-41d7-4d0b-8a55-7c3f1e9d2a64"}`).Refused(t, 404, "NOT_FOUND")
		other := a.NewTenant(t, "free")
		theirs := a.Door("action", other)
		theirs(t, "events.get", fmt.Sprintf(`{"id": %q}`, one.Text("id"))).Refused(t, 404, "NOT_FOUND")
		if n := theirs(t, "events.list", `{"resourceType": "contact"}`).OK(t, 200).Len(); n != 0 {
			t.Errorf("another organization sees %d events", n)
		}
	})
}

// The log is for those who may read webhooks, and nobody writes it.
func TestEventPermission(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	contacts, _ := a.NewKey(t, a.Tenant, "contacts:read")
	hooks, _ := a.NewKey(t, a.Tenant, "webhooks:read")
	a.SendREST(t, contacts, http.MethodGet, "/v1/events", "").Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
	a.SendREST(t, hooks, http.MethodGet, "/v1/events", "").OK(t, 200)
	a.SendREST(t, a.Key, http.MethodPost, "/v1/events", "{}").Refused(t, 405, "METHOD_NOT_ALLOWED")
	a.SendREST(t, a.Key, http.MethodGet, "/v1/events?since=yesterday", "").Refused(t, 400, "INVALID_INPUT")
	a.SendREST(t, a.Key, http.MethodGet, "/v1/events/nope", "").Refused(t, 400, "INVALID_INPUT")
}

// A walk with a cursor finds every event once, also those that came at the same
// time, and nothing that comes while it goes on.
func TestEventWalk(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		rows := strings.TrimSuffix(strings.Repeat(`{"firstName": "Ada"},`, 25), ",")
		call(t, "contacts.batch", `{"rows": [`+rows+`]}`).OK(t, 200)
		for _, order := range []string{"asc", "desc"} {
			whole := call(t, "events.list",
				fmt.Sprintf(`{"limit": 100, "sortOrder": %q, "type": "contact.created"}`, order)).OK(t, 200)
			cursor := "first"
			for i := 0; cursor != ""; {
				page := call(t, "events.list", fmt.Sprintf(
					`{"limit": 10, "sortOrder": %q, "type": "contact.created", "cursor": %q}`, order,
					cursor)).ParseJSON(t)
				for n := range page.At("data").Len() {
					whole.Same(fmt.Sprintf("%d.id", i), page.Text(fmt.Sprintf("data.%d.id", n)))
					i++
				}
				next := page.At("meta.pagination.nextCursor")
				if cursor = ""; next.Null() {
					page.Same("meta.pagination.hasMore", false)
					if i != whole.Len() {
						t.Errorf("a walk found %d of %d events", i, whole.Len())
					}
					continue
				}
				cursor = page.Text("meta.pagination.nextCursor")
			}
			call(t, "events.list", `{"cursor": "first", "offset": 1}`).Refused(t, 400, "INVALID_INPUT")
			call(t, "events.list", `{"cursor": "nonsense"}`).Refused(t, 400, "INVALID_INPUT")
		}
	})
}
