package customer_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/customer"
)

// created is the status of a PUT that created. Tools tell none.
func created(t *testing.T) int {
	if strings.HasSuffix(t.Name(), "/agent") {
		return 200
	}
	return 201
}

// PUT by another system's id creates a customer once, and changes that one from then on.
func TestPutByExternalID(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		put := func(external, rest string) apptest.Result {
			return call(t, "customers.put_by_external_id", fmt.Sprintf(`{"externalId": %q%s}`, external, rest))
		}
		put("shop/7 ä", "").Issues(t, "name")
		v := put("shop/7 ä", `, "name": "Engines", "type": "business", "tags": ["a"]`).OK(t, created(t))
		v.Same("externalId", "shop/7 ä")
		v.Same("type", "business")
		v.Same("status", "prospect")
		v.Same("businessId", a.Business)
		again := put("shop/7 ä", `, "status": "active"`).OK(t, 200)
		again.Same("id", v.Text("id"))
		again.Same("name", "Engines")
		again.Same("type", "business")
		again.Same("tags", "[a]")
		put("shop/7 ä", `, "name": null`).Issues(t, "name")
		call(t, "customers.delete", fmt.Sprintf(`{"id": %q}`, v.Text("id"))).OK(t, 204)
		if next := put("shop/7 ä", `, "name": "Bob"`).OK(t, created(t)); next.Text("id") == v.Text("id") {
			t.Error("a deleted customer was changed")
		}
		want := "customer.created customer.updated customer.deleted customer.created"
		if got := a.Events(t, "customer."); got != want {
			t.Errorf("events %s, want %s", got, want)
		}
	})
}

// An invoice is filled in from the customer, and where that says nothing from its contact.
func TestBilling(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		contact := call(t, "contacts.create", `{"firstName": "Ada", "emails": [{"email": "ada@example.com"}],
			"addresses": [{"line1": "12 St James's Square", "city": "London", "country": "GB"}]}`).OK(t, 201).Text("id")
		bare := call(t, "contacts.create", `{"firstName": "Bob"}`).OK(t, 201).Text("id")
		bill := func(fields string) apptest.Value {
			v := call(t, "customers.create", `{"name": "Engines"`+fields+`}`).OK(t, 201).Text("id")
			return call(t, "invoices.create", fmt.Sprintf(`{"customerId": %q, "currency": "gbp", "lineItems":
				[{"description": "Gears", "quantity": "1", "unitAmountCents": 100}]}`, v)).OK(t, 201)
		}
		both := bill(fmt.Sprintf(`, "email": "office@example.com", "contactId": %q`, contact))
		both.Same("billToName", "Engines")
		both.Same("billToEmail", "office@example.com")
		both.Same("billToAddressLine1", "12 St James's Square")
		both.Same("billToCountry", "GB")
		bill(fmt.Sprintf(`, "contactId": %q`, contact)).Same("billToEmail", "ada@example.com")
		for _, v := range []apptest.Value{bill(fmt.Sprintf(`, "contactId": %q`, bare)), bill("")} {
			if !v.At("billToEmail").Null() || !v.At("billToAddressLine1").Null() {
				t.Errorf("filled in from nothing: %s", v)
			}
		}
	})
}

// The organization's own addresses are those that nobody outside wrote.
func TestOwnEmailAddresses(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		create := func(fields string) id.ID {
			return id.ID(a.SendREST(t, a.Key, "POST", "/v1/customers", `{"name": "Ada"`+fields+`}`).
				OK(t, 201).Text("id"))
		}
		mine, none := create(`, "email": "mine@example.com"`), create("")
		theirs := create(`, "email": "theirs@example.com"`)
		if err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "UPDATE customers SET external = $2 WHERE id = $1", theirs, true)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			row      id.ID
			all, own []string
		}{
			{mine, []string{"mine@example.com"}, []string{"mine@example.com"}},
			{theirs, []string{"theirs@example.com"}, nil},
			{none, nil, nil},
		} {
			err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				all, err := customer.EmailAddresses(ctx, tx, a.Org, c.row)
				if err != nil {
					return err
				}
				own, err := customer.OwnEmailAddresses(ctx, tx, a.Org, c.row)
				if !slices.Equal(all, c.all) || !slices.Equal(own, c.own) {
					t.Errorf("%v and its own %v; want %v and %v", all, own, c.all, c.own)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
}
