package customer_test

import (
	"fmt"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

func TestCustomers(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		contact := call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		v := call(t, "customers.create", `{"name": "Ada Lovelace"}`).OK(t, 201)
		v.Same("type", "individual")
		v.Same("status", "prospect")
		v.Same("businessId", a.Business)
		v.Same("organizationId", a.Org)
		for _, field := range []string{"deletedAt", "contactId", "email", "phone", "notes", "customerSince"} {
			if !v.Has(field) || !v.At(field).Null() {
				t.Errorf("%s is not null but %v", field, v.At(field))
			}
		}
		ref := fmt.Sprintf(`{"id": %q}`, v.Text("id"))
		if got := call(t, "customers.get", ref).OK(t, 200); got.String() != v.String() {
			t.Errorf("get differs from create:\n%s\n%s", got, v)
		}
		full := call(t, "customers.create",
			fmt.Sprintf(`{"name": "Analytical Engines", "type": "business", "status": "active", "businessId": %q,
				"contactId": %q,
			"email": "office@example.com", "phone": "+44 20 7946 0018", "notes": "pays late",
				"customerSince": "2026-01-31T13:00:00+01:00"}`, a.Business, contact)).OK(t, 201)
		full.Same("customerSince", "2026-01-31T12:00:00.000Z")
		full.Same("contactId", contact)

		update := func(fields string) apptest.Result {
			return call(t, "customers.update", fmt.Sprintf(`{"id": %q, %s}`, v.Text("id"), fields))
		}
		up := update(fmt.Sprintf(`"status": "active", "contactId": %q, "email": "ada@example.com", "customerSince": `+
			`"2026-02-01T00:00:00Z"`, contact)).OK(t, 200)
		up.Same("status", "active")
		up.Same("contactId", contact)
		up.Same("name", "Ada Lovelace")
		if cleared := update(`"email": null, "customerSince": null, "phone": "1"`).OK(t,
			200); !cleared.At("email").Null() ||
			!cleared.At("customerSince").Null() {
			t.Error("null does not clear")
		}
		before := call(t, "customers.get", ref).OK(t, 200)
		if same := call(t, "customers.update", ref).OK(t, 200); same.String() != before.String() {
			t.Errorf("{} changed something: %s", same)
		}

		// null clears a reference, and so does deleting its target; nothing new
		// may refer to a deleted one.
		if gone := update(`"contactId": null`).OK(t, 200); !gone.At("contactId").Null() {
			t.Error("null does not clear a reference")
		}
		update(fmt.Sprintf(`"contactId": %q`, contact)).OK(t, 200).Same("contactId", contact)
		call(t, "contacts.delete", fmt.Sprintf(`{"id": %q}`, contact)).OK(t, 204)
		if gone := call(t, "customers.get", ref).OK(t, 200); !gone.At("contactId").Null() {
			t.Errorf("it names a deleted contact: %s", gone)
		}
		call(t, "customers.create", fmt.Sprintf(`{"name": "x", "contactId": %q}`, contact)).Issues(t, "contactId")
		update(fmt.Sprintf(`"contactId": %q`, contact)).Issues(t, "contactId")

		list := call(t, "customers.list", `{}`)
		list.OK(t, 200).Same("0.name", "Analytical Engines")
		list.Page(t).Same("total", 2)
		call(t, "customers.delete", ref).OK(t, 204)
		for _, again := range []string{"customers.delete", "customers.get", "customers.update"} {
			call(t, again, ref).Refused(t, 404, "NOT_FOUND")
		}
		if n := call(t, "customers.list", `{"query": "lovelace"}`).OK(t, 200).Len(); n != 0 {
			t.Error("a deleted customer is found")
		}
		want := "customer.created customer.created customer.updated customer.updated customer.updated " +
			"customer.updated customer.deleted"
		if events := a.Events(t, "customer."); events != want {
			t.Errorf("events %q, want %q", events, want)
		}
	})
}

func TestCustomerRefusals(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		other := a.NewTenant(t, "free")
		foreign := a.Door("action", other)(t, "contacts.create", `{"firstName": "Eve"}`).OK(t, 201).Text("id")
		v := call(t, "customers.create", `{"name": "Ada"}`).OK(t, 201).Text("id")
		for _, c := range []struct{ fields, place string }{
			{`"name": ""`, "name"},
			{`"name": null`, "name"},
			{`"name": 3`, "name"},
			{`"name": "x", "type": "person"`, "type"},
			{`"name": "x", "type": null`, "type"},
			{`"name": "x", "status": "lost"`, "status"},
			{`"name": "x", "status": null`, "status"},
			{`"name": "x", "email": "nope"`, "email"},
			{`"name": "x", "customerSince": "yesterday"`, "customerSince"},
			{`"name": "x", "nope": 1`, ""},
			{`"name": "x", "contactId": "nope"`, "contactId"},
			{fmt.Sprintf(`"name": "x", "contactId": %q`, foreign), "contactId"},
			{fmt.Sprintf(`"name": "x", "contactId": %q`, v), "contactId"}, // a customer is not a contact
			{fmt.Sprintf(`"name": "x", "businessId": %q`, other.Business), "businessId"},
		} {
			call(t, "customers.create", "{"+c.fields+"}").Issues(t, c.place)
			call(t, "customers.update", fmt.Sprintf(`{"id": %q, %s}`, v, c.fields)).Issues(t, c.place)
		}
		call(t, "customers.create", `{}`).Issues(t, "name")
		call(t, "customers.update", fmt.Sprintf(`{"id": %q, "businessId": null}`, v)).Issues(t, "businessId")
		// Every bad reference is named, not only the first.
		both := call(t, "customers.create",
			fmt.Sprintf(`{"name": "x", "contactId": %q, "businessId": %q}`, foreign, other.Business))
		both.Issues(t, "contactId")
		both.Issues(t, "businessId")
		call(t, "customers.get", fmt.Sprintf(`{"id": %q}`, v)).OK(t, 200).Same("name", "Ada")
		if n := call(t, "customers.list", `{}`).OK(t, 200).Len(); n != 1 {
			t.Errorf("%d customers", n)
		}
	})
}

func TestCustomerFilters(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		shop := call(t, "businesses.create", `{"name": "Shop"}`).OK(t, 201).Text("id")
		contact := call(t, "contacts.create", `{"firstName": "Grace"}`).OK(t, 201).Text("id")
		for _, c := range []string{
			`"name": "Grace Hopper", "email": "Grace@Example.com", "status": "active", "contactId": "` + contact + `"`,
			`"name": "Straße GmbH", "type": "business", "phone": "+4930123456", "businessId": "` + shop + `"`,
			`"name": "Alan", "status": "inactive", "notes": "hopper"`,
		} {
			call(t, "customers.create", "{"+c+"}").OK(t, 201)
		}
		for filter, want := range map[string]int{
			`"query": "HOPPER"`: 1, `"query": "grace@ex"`: 1, `"query": "strasse"`: 1, `"query": "30123"`: 1,
			`"query": "al"`:      1,
			`"query": "an"`:      0,
			`"status": "active"`: 1, `"status": "prospect"`: 1, `"type": "individual"`: 2,
			`"type": "business", "status": "active"`: 0,
			`"businessId": "` + shop + `"`:           1, `"businessId": "` + string(a.Business) + `"`: 2,
			`"contactId": "` + contact + `"`:                   1,
			`"query": "grace", "contactId": "` + contact + `"`: 1, `"query": "alan", "contactId": "` + contact + `"`: 0,
			`"contactId": "` + shop + `"`: 0,
		} {
			if n := call(t, "customers.list", "{"+filter+"}").OK(t, 200).Len(); n != want {
				t.Errorf("%s finds %d, want %d", filter, n, want)
			}
		}
		alan := call(t, "customers.list", `{"query": "alan"}`).OK(t, 200).Text("0.id")
		call(t, "customers.update", fmt.Sprintf(`{"id": %q, "name": "Turing"}`, alan)).OK(t, 200)
		if old, now := call(t, "customers.list", `{"query": "alan"}`).OK(t, 200).Len(),
			call(t, "customers.list", `{"query": "turing"}`).OK(t, 200).Len(); old != 0 || now != 1 {
			t.Errorf("found %d times by the old name, %d by the new", old, now)
		}
	})
	a := apptest.Start(t, db.SQLite)
	for _, query := range []string{"status=lost", "type=x", "businessId=1", "contactId=", "limit=0"} {
		a.SendREST(t, a.Key, "GET", "/v1/customers?"+query, "").Refused(t, 400, "INVALID_INPUT")
	}
}

// The operator has no business of its own, so a customer that it creates must
// name one.
func TestCustomerWithoutBusiness(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		nobody := a.Tenant
		nobody.Business = ""
		call := a.Door("action", nobody)
		call(t, "customers.create", `{"name": "x"}`).Issues(t, "businessId")
		call(t, "customers.create", fmt.Sprintf(`{"name": "x", "businessId": %q}`, a.Business)).OK(t, 201)
	})
}
