package app_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
)

// A batch creates and changes rows, all or none or each by itself.
func TestBatch(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		ada := call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		count := func(want int) {
			t.Helper()
			if n := call(t, "contacts.list", `{"limit": 100}`).OK(t, 200).Len(); n != want {
				t.Errorf("%d contacts, want %d", n, want)
			}
		}
		each := call(t, "contacts.batch", fmt.Sprintf(`{"mode": "each", "rows": [
			{"firstName": "Eve", "emails": [{"email": "eve@example.com"}]},
			{"id": %q, "lastName": "Lovelace"},
			{"jobTitle": "nobody"},
			{"id": %q, "lastName": "lost"},
			{"firstName": "Bob", "nonsense": 1},
			{"id": "x"},
			{"firstName": "Cyd", "emails": [{"email": "a@example.com"}, {"email": "A@example.com"}]},
			{"firstName": "Dan"}]}`, ada, id.New())).OK(t, 200)
		for i, status := range []int{201, 200, 400, 404, 400, 400, 409, 201} {
			each.Same(fmt.Sprintf("%d.status", i), status)
			if row := each.At(fmt.Sprint(i)); row.Has("data") == row.Has("error") || row.Has("data") != (status < 300) {
				t.Errorf("row %d: %s", i, row)
			}
		}
		each.Same("0.data.emails.0.email", "eve@example.com")
		each.Same("1.data.firstName", "Ada")
		each.Same("4.error.code", "VALIDATION_ERROR")
		each.Same("6.error.code", "CONTACT_EMAIL_EXISTS")
		count(3)
		if n := call(t, "contacts.list", `{"query": "dan"}`).OK(t, 200).Len(); n != 1 {
			t.Errorf("a search finds %d", n)
		}
		if got := a.Events(t, "contact"); !strings.HasSuffix(got, "contact.created contact.updated contact.created") {
			t.Errorf("events: %s", got)
		}

		wrong := call(t, "contacts.batch", `{"rows": [{"firstName": "Fay"}, {"jobTitle": "nobody"}, {"firstName": 1}]}`)
		wrong.Issues(t, "rows.1")
		wrong.Issues(t, "rows.2.firstName")
		call(t, "contacts.batch", fmt.Sprintf(`{"rows": [{"firstName": "Fay"}, {"id": %q, "notes": "x"}]}`, id.New())).
			Issues(t, "rows.1")
		count(3)
		call(t, "contacts.batch", `{"rows": []}`).Issues(t, "rows")
		call(t, "contacts.batch",
			`{"rows": [`+strings.TrimSuffix(strings.Repeat(`{"firstName": "x"},`, 501), ",")+`]}`).
			Issues(t, "rows")
		call(t, "contacts.batch", `{"rows": [{"firstName": "Fay"}]}`).OK(t, 200)
		count(4)
		call(t, "tasks.batch", fmt.Sprintf(`{"rows": [{"title": "call", "contactId": %q}]}`, ada)).OK(t, 200).
			Same("0.data.contactId", ada)
		call(t, "customers.batch", `{"rows": [{"name": "Acme"}]}`).OK(t, 200).Same("0.status", 201)
		call(t, "email_opt_ins.batch", `{"rows": [{"email": "x@example.com", "status": "opted_in"}]}`).OK(t, 200)
	})
}

// A batch asks for the rights of each row, and counts as one request per 25 rows.
func TestBatchRights(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		reader, _ := a.NewKey(t, a.Tenant, "contacts:read", "tasks:read", "tasks:write")
		rows := func(n int) string {
			return `{"rows": [` + strings.TrimSuffix(strings.Repeat(`{"firstName": "x"},`, n), ",") + `]}`
		}
		a.SendREST(t, reader, "POST", "/v1/contacts/batch", rows(1)).Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		customer := a.SendREST(t, a.Key, "POST", "/v1/customers", `{"name": "Acme"}`).OK(t, 201).Text("id")
		a.SendREST(t, reader, "POST", "/v1/tasks/batch",
			fmt.Sprintf(`{"rows": [{"title": "x", "customerId": %q}]}`, customer)).Refused(t, 403,
			"INSUFFICIENT_PERMISSIONS")

		left := func(n int) int {
			r := a.SendREST(t, a.Key, "POST", "/v1/contacts/batch", rows(n))
			r.OK(t, 200)
			var remaining int
			fmt.Sscan(r.Header.Get("X-RateLimit-Remaining"), &remaining) //nolint:errcheck // 0 fails below
			return remaining
		}
		if before, after := left(25), left(500); before-after < 18 || before-after > 20 {
			t.Errorf("500 rows took %d requests", before-after)
		}
		key := []string{"Idempotency-Key", "once"}
		first := a.SendREST(t, a.Key, "POST", "/v1/contacts/batch", rows(2), key...).OK(t, 200)
		again := a.SendREST(t, a.Key, "POST", "/v1/contacts/batch", rows(2), key...)
		if again.OK(t, 200).String() != first.String() || again.Header.Get("Idempotency-Replay") != "true" {
			t.Error("a repeated batch was not replayed")
		}
	})
}
