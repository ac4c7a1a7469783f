package contact_test

import (
	"strconv"
	"testing"

	"frontdesk/internal/apptest"
)

// A batch deletes rows beside those that it creates and changes, all or none, each with its status and its event.
func TestBatchDeletes(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		for _, door := range []string{"rest", "agent", "action"} {
			call := a.Door(door, a.Tenant)
			made := call(t, "contacts.batch", `{"rows": [{"firstName": "Ada"}, {"firstName": "Grace"}]}`).OK(t, 200)
			ada, grace := made.Text("0.data.id"), made.Text("1.data.id")
			call(t, "contacts.batch", `{"rows": [{"id": "`+ada+`", "delete": true},
				{"id": "3b0f6a52-77a4-4d4f-9c7b-0c5a1d2e3f40", "delete": true}]}`).Refused(t, 400, "VALIDATION_ERROR")
			call(t, "contacts.get", `{"id": "`+ada+`"}`).OK(t, 200)
			call(t, "contacts.batch", `{"rows": [{"id": "`+ada+`", "delete": true, "firstName": "X"}]}`).
				Refused(t, 400, "VALIDATION_ERROR")
			done := call(t, "contacts.batch", `{"mode": "each", "rows": [{"id": "`+ada+`", "delete": true},
				{"id": "`+grace+`", "firstName": "Grace H."}, {"id": "`+ada+`", "delete": true},
				{"id": "`+grace+`", "delete": false}]}`).OK(t, 200)
			for i, want := range []float64{204, 200, 404, 400} {
				done.Same(strconv.Itoa(i)+".status", want)
			}
			call(t, "contacts.get", `{"id": "`+ada+`"}`).Refused(t, 404, "NOT_FOUND")
			call(t, "contacts.restore", `{"id": "`+ada+`"}`).OK(t, 200)
		}
	})
}
