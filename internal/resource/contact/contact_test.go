package contact_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

func TestContacts(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		ada := call(t, "contacts.create", `{"firstName": "Ada", "lastName": "Lovelace", "birthday": "1815-12-10",
			"emails": [{"email": "ada@example.com"}, {"email": "Countess@Example.com", "label": "home",
				"isPrimary": true}],
			"phoneNumbers": [{"phoneNumber": "020 7946 0018", "countryCode": "44"}],
			"addresses": [{"line1": "12 St James's Square", "country": "GB"}]}`).OK(t, 201)
		ada.Same("emails.0.isPrimary", false)
		ada.Same("emails.1.isPrimary", true)
		ada.Same("phoneNumbers.0.phoneNumber", "+442079460018")
		ada.Same("phoneNumbers.0.countryCode", "44")
		ada.Same("phoneNumbers.0.nationalNumber", "2079460018")
		ada.Same("addresses.0.isPrimary", true)
		ada.Same("birthday", "1815-12-10")
		ada.Same("organizationId", a.Org)
		for _, field := range []string{"deletedAt", "middleName", "prefix", "suffix", "organizationName", "jobTitle",
			"notes"} {
			if !ada.Has(field) || !ada.At(field).Null() {
				t.Errorf("%s is not null but %v", field, ada.At(field))
			}
		}
		ref := fmt.Sprintf(`{"id": %q}`, ada.Text("id"))
		got := call(t, "contacts.get", ref).OK(t, 200)
		if got.String() != ada.String() {
			t.Errorf("get differs from create:\n%s\n%s", got, ada)
		}

		// absent keeps, null clears, a value sets
		up := call(t, "contacts.update",
			fmt.Sprintf(`{"id": %q, "jobTitle": "Countess", "birthday": null}`, ada.Text("id"))).OK(t, 200)
		up.Same("jobTitle", "Countess")
		up.Same("firstName", "Ada")
		if !up.At("birthday").Null() {
			t.Error("null does not clear")
		}
		if up.Text("updatedAt") < ada.Text("updatedAt") {
			t.Error("updatedAt went back")
		}
		same := call(t, "contacts.update", ref).OK(t, 200) // {} changes nothing
		same.Same("updatedAt", up.Text("updatedAt"))
		call(t, "contacts.update",
			fmt.Sprintf(`{"id": %q, "firstName": null, "lastName": ""}`,
				ada.Text("id"))).Refused(t, 400, "VALIDATION_ERROR")
		call(t, "contacts.get", ref).OK(t, 200).Same("firstName", "Ada")

		call(t, "contacts.create", `{"organizationName": "Jacquard"}`).OK(t, 201)
		list := call(t, "contacts.list", `{}`)
		rows := list.OK(t, 200)
		if rows.Len() != 2 || rows.Text("0.organizationName") != "Jacquard" || rows.At("1.emails").Len() != 2 {
			t.Fatalf("list = %s", rows)
		}
		list.Page(t).Same("total", 2)
		list.Page(t).Same("hasMore", false)

		if events, want := a.Events(t, "contact."), "contact.created contact.updated contact.created"; events != want {
			t.Errorf("events %q, want %q", events, want)
		}

		call(t, "contacts.delete", ref).OK(t, 204)
		call(t, "contacts.delete", ref).Refused(t, 404, "NOT_FOUND")
		call(t, "contacts.get", ref).Refused(t, 404, "NOT_FOUND")
		call(t, "contacts.emails.list", ref).Refused(t, 404, "NOT_FOUND")
		if n := call(t, "contacts.list", `{"query": "lovelace"}`).OK(t, 200).Len(); n != 0 {
			t.Error("a deleted contact is found")
		}
	})
}

func TestContactFilters(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		for _, c := range []string{
			`{"firstName": "Grace", "lastName": "Hopper", "emails": [{"email": "Grace@Example.com"}]}`,
			`{"firstName": "Łukasz", "lastName": "Żółć", "organizationName": "Straße & Söhne"}`,
			`{"firstName": "Al", "lastName": "Khwarizmi", "phoneNumbers": [{"phoneNumber": "+14155550100"}]}`,
			`{"firstName": "100%", "lastName": "under_score"}`,
		} {
			call(t, "contacts.create", c).OK(t, 201)
		}
		for query, want := range map[string]int{
			`"query": "HOPP"`: 1, `"query": "grace hop"`: 1, `"query": "race"`: 1, `"query": "ra"`: 0,
			`"query": "gr"`: 1,
			`"query": "g"`:  1, `"query": "x"`: 0,
			`"query": "żółć"`: 1, `"query": "ŁUKASZ"`: 1, `"query": "strasse"`: 1, `"query": "söhne"`: 1,
			`"query": "al kh"`: 1,
			`"query": "0%"`:    0, `"query": "100%"`: 1, `"query": "under_"`: 1, `"query": "underXs"`: 0,
			`"query": "grace@example"`: 1, `"query": "4155550"`: 1,
			`"query": "   "`: 4, `"query": "\"quote"`: 0,
			`"email": "GRACE@example.com"`: 1, `"email": "race@example.com"`: 0, `"phone": "+1 415 555 0100"`: 1,
			`"phone": "4155550100"`:                           0,
			`"email": "grace@example.com", "query": "hopper"`: 1, `"email": "grace@example.com", "query": "khw"`: 0,
		} {
			if n := call(t, "contacts.list", "{"+query+"}").OK(t, 200).Len(); n != want {
				t.Errorf("%s finds %d, want %d", query, n, want)
			}
		}
	})
}

// Accents and the order of words do not count, wherever a query is.
func TestSearchWords(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		for _, name := range []string{"Zoë Müller", "Łukasz Groß", "山田 太郎", "김철수"} {
			call(t, "contacts.create", fmt.Sprintf(`{"organizationName": %q}`, name)).OK(t, 201)
		}
		for query, want := range map[string]int{"muller zoe": 1, "MÜLLER": 1, "lukasz gross": 1, "田": 1, "太郎 山田": 1,
			"철수": 1, "zoe lukasz": 0, "ul": 0, `\"zoe\" mu`: 1} {
			list := call(t, "contacts.list", `{"query": "`+query+`", "sortBy": "name"}`).OK(t, 200)
			if list.Len() != want {
				t.Errorf("%s finds %d, want %d", query, list.Len(), want)
			}
		}
		first := call(t, "contacts.list", `{"sortBy": "name", "sortOrder": "asc"}`).OK(t, 200)
		first.Same("0.organizationName", "Łukasz Groß")
		first.Same("1.organizationName", "Zoë Müller")

		shop := fmt.Sprintf(`{"id": %q, `, a.Business)
		call(t, "businesses.offerings.create", shop+`"name": "Crème brûlée"}`).OK(t, 201)
		if n := call(t, "businesses.offerings.list", shop+`"query": "brulee cr"}`).OK(t, 200).Len(); n != 1 {
			t.Errorf("%d offerings", n)
		}
		call(t, "email_templates.create", `{"name": "Grüße", "subject": "Hi", "body": "Hi"}`).OK(t, 201)
		for _, part := range []string{"U", "russ", "üß"} {
			if n := call(t, "email_templates.list", `{"name": "`+part+`"}`).OK(t, 200).Len(); n != 1 {
				t.Errorf("%d templates have %s", n, part)
			}
		}
	})
}

// Beyond the rows that a search scans first, the index finds matches.
func TestSearchByIndex(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		needle := call(t, "contacts.create", `{"firstName": "Needle", "lastName": "Haystack"}`).OK(t, 201)
		for i := range 20 {
			call(t, "contacts.create", fmt.Sprintf(`{"firstName": "Old", "lastName": "Common%d"}`, i)).OK(t, 201)
		}
		err := a.DB.Write(context.Background(), func(ctx context.Context, tx *db.Tx) error {
			for i := range 2500 {
				seq,
					err := db.QueryOne[int64](ctx, tx,
					`
						INSERT INTO contacts (id, organization_id, created_at, updated_at, last_name, search)
						VALUES ($1, $2, $3, $3, $4, $5)
						RETURNING seq`, fmt.Sprintf("00000000-0000-4000-8000-%012d", i), a.Org, a.Clock.Now(),
					"Filler", " filler common")
				if err != nil {
					return err
				}
				db.UpdateSearchIndex(tx, "contacts", seq, " filler common")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		rows := call(t, "contacts.list", `{"query": "needle"}`).OK(t, 200)
		if rows.Len() != 1 || rows.Text("0.id") != needle.Text("id") {
			t.Fatalf("needle: %s", rows)
		}
		page := call(t, "contacts.list", `{"query": "common", "limit": 100, "offset": 2450}`)
		if n := page.OK(t, 200).Len(); n != 70 {
			t.Errorf("the last page has %d rows, want 70", n)
		}
		page.Page(t).Same("total", 2520)
		call(t, "contacts.update", fmt.Sprintf(`{"id": %q, "firstName": "Pin"}`, needle.Text("id"))).OK(t, 200)
		if n := call(t, "contacts.list", `{"query": "needle"}`).OK(t, 200).Len(); n != 0 {
			t.Error("found by its old name")
		}
		if n := call(t, "contacts.list", `{"query": "pin hay"}`).OK(t, 200).Len(); n != 1 {
			t.Error("not found by its new name")
		}
		// Another organization's rows are never found.
		other := a.Door("action", a.NewTenant(t, "free"))
		if n := other(t, "contacts.list", `{"query": "common"}`).OK(t, 200).Len(); n != 0 {
			t.Errorf("another organization finds %d rows", n)
		}
	})
}

func TestEmails(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		c := call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		add := func(fields string) apptest.Value {
			return call(t, "contacts.emails.create", fmt.Sprintf(`{"id": %q, %s}`, c, fields)).OK(t, 201)
		}
		first := add(`"email": "one@example.com"`)
		first.Same("isPrimary", true)
		second := add(`"email": "two@example.com", "isPrimary": true`)
		second.Same("isPrimary", true)
		second.Same("contactId", c)
		get := func(id string) apptest.Result {
			return call(t, "contacts.emails.get", fmt.Sprintf(`{"id": %q, "emailId": %q}`, c, id))
		}
		get(first.Text("id")).OK(t, 200).Same("isPrimary", false)
		update := func(id, fields string) apptest.Result {
			return call(t, "contacts.emails.update", fmt.Sprintf(`{"id": %q, "emailId": %q, %s}`, c, id, fields))
		}
		update(first.Text("id"), `"isPrimary": true, "label": "work"`).OK(t, 200).Same("label", "work")
		get(second.Text("id")).OK(t, 200).Same("isPrimary", false)
		update(first.Text("id"), `"isPrimary": false`).Refused(t, 400, "VALIDATION_ERROR")
		update(first.Text("id"), `"email": null`).Refused(t, 400, "VALIDATION_ERROR")
		update(first.Text("id"), `"email": "new@example.com"`).OK(t, 200)
		if n := call(t, "contacts.list", `{"query": "new@example"}`).OK(t, 200).Len(); n != 1 {
			t.Error("a new address is not found")
		}
		list := call(t, "contacts.emails.list", fmt.Sprintf(`{"id": %q, "limit": 1}`, c))
		list.OK(t, 200).Same("0.id", second.Text("id"))
		list.Page(t).Same("total", 2)
		list.Page(t).Same("hasMore", true)
		call(t, "contacts.emails.delete", fmt.Sprintf(`{"id": %q, "emailId": %q}`, c, first.Text("id"))).OK(t, 204)
		get(second.Text("id")).OK(t, 200).Same("isPrimary", true)
		get(first.Text("id")).Refused(t, 404, "NOT_FOUND")
		if n := call(t, "contacts.list", `{"email": "new@example.com"}`).OK(t, 200).Len(); n != 0 {
			t.Error("a removed address is found")
		}
		for fields, place := range map[string]string{
			`"email": "nope"`: "email", `"email": "Bob <bob@example.com>"`: "email", `"email": "a@localhost"`: "email",
			`"label": "x"`: "email",
			`"email": "a@example.com", "isPrimary": null, "label": 3`: "label",
		} {
			e := call(t, "contacts.emails.create",
				fmt.Sprintf(`{"id": %q, %s}`, c, fields)).Refused(t, 400, "VALIDATION_ERROR")
			if e.At("details.properties."+place+".errors").Len() != 1 {
				t.Errorf("%s: no error at %s: %s", fields, place, e)
			}
		}
	})
}

func TestPhoneNumbers(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		c := call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		add := func(fields string) apptest.Result {
			return call(t, "contacts.phone_numbers.create", fmt.Sprintf(`{"id": %q, %s}`, c, fields))
		}
		v := add(`"phoneNumber": "+1 (415) 555-0100", "label": "work"`).OK(t, 201)
		v.Same("phoneNumber", "+14155550100")
		v.Same("countryCode", "1")
		v.Same("nationalNumber", "4155550100")
		add(`"phoneNumber": "020 7946 0018", "countryCode": "44", "nationalNumber": "02079460018"`).OK(t,
			201).Same("phoneNumber", "+442079460018")
		free := add(`"phoneNumber": "1234 5678", "countryCode": "800"`).OK(t, 201) // belongs to no country
		free.Same("phoneNumber", "+80012345678")
		call(t, "contacts.phone_numbers.update",
			fmt.Sprintf(`{"id": %q, "phoneNumberId": %q, "nationalNumber": "12345670"}`, c,
				free.Text("id"))).OK(t, 200).Same("phoneNumber", "+80012345670")
		call(t, "contacts.phone_numbers.delete",
			fmt.Sprintf(`{"id": %q, "phoneNumberId": %q}`, c, free.Text("id"))).OK(t, 204)
		for fields, place := range map[string]string{
			`"phoneNumber": "415"`: "phoneNumber", `"phoneNumber": ""`: "phoneNumber",
			`"phoneNumber": "+14155550100", "countryCode": "44"`:   "countryCode",
			`"phoneNumber": "+14155550100", "nationalNumber": "5"`: "nationalNumber",
			`"phoneNumber": "4155550100"`:                          "phoneNumber",
			`"phoneNumber": "4155550100", "countryCode": "999"`:    "countryCode", `"phoneNumber": 5`: "phoneNumber",
		} {
			e := add(fields).Refused(t, 400, "VALIDATION_ERROR")
			if e.At("details.properties."+place+".errors").Len() == 0 {
				t.Errorf("%s: no error at %s: %s", fields, place, e)
			}
		}
		update := func(fields string) apptest.Result {
			return call(t, "contacts.phone_numbers.update",
				fmt.Sprintf(`{"id": %q, "phoneNumberId": %q, %s}`, c, v.Text("id"), fields))
		}
		update(`"nationalNumber": "4155550199"`).OK(t, 200).Same("phoneNumber", "+14155550199")
		update(`"phoneNumber": "+442079460018"`).OK(t, 200).Same("countryCode", "44")
		update(`"label": null`).OK(t, 200).Same("phoneNumber", "+442079460018")
		update(`"phoneNumber": "1"`).Refused(t, 400, "VALIDATION_ERROR")
		call(t, "contacts.phone_numbers.list",
			fmt.Sprintf(`{"id": %q, "sortOrder": "asc"}`, c)).OK(t, 200).Same("0.id", v.Text("id"))
		call(t, "contacts.phone_numbers.delete",
			fmt.Sprintf(`{"id": %q, "phoneNumberId": %q}`, c, v.Text("id"))).OK(t, 204)
		call(t, "contacts.phone_numbers.get",
			fmt.Sprintf(`{"id": %q, "phoneNumberId": %q}`, c, v.Text("id"))).Refused(t, 404, "NOT_FOUND")
		call(t, "contacts.get", fmt.Sprintf(`{"id": %q}`, c)).OK(t, 200).Same("phoneNumbers.0.phoneNumber",
			"+442079460018")
	})
}

func TestAddresses(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		c := call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		add := func(fields string) apptest.Result {
			return call(t, "contacts.addresses.create", fmt.Sprintf(`{"id": %q, %s}`, c, fields))
		}
		v := add(`"line1": "1 Road", "city": "London", "state": "", "postalCode": "SW1", "country": "GB",
			"label": "home"`).OK(t, 201)
		v.Same("isPrimary", true)
		w := add(`"line1": "2 Road", "isPrimary": true`).OK(t, 201)
		call(t, "contacts.addresses.get",
			fmt.Sprintf(`{"id": %q, "addressId": %q}`, c, v.Text("id"))).OK(t, 200).Same("isPrimary", false)
		update := func(fields string) apptest.Result {
			return call(t, "contacts.addresses.update",
				fmt.Sprintf(`{"id": %q, "addressId": %q, %s}`, c, v.Text("id"), fields))
		}
		update(`"line2": "Flat 2", "country": null, "isPrimary": true`).OK(t, 200).Same("line2", "Flat 2")
		update(`"line1": ""`).Refused(t, 400, "VALIDATION_ERROR")
		update(`"country": "XX"`).Refused(t, 400, "VALIDATION_ERROR")
		for _, bad := range []string{`"city": "x"`, `"line1": "x", "country": "gb"`, `"line1": "x", "country": "GBR"`,
			`"line1": "x", "country": "UK"`, `"line1": "x", "zip": "1"`} {
			add(bad).Refused(t, 400, "VALIDATION_ERROR")
		}
		call(t, "contacts.addresses.delete", fmt.Sprintf(`{"id": %q, "addressId": %q}`, c, v.Text("id"))).OK(t, 204)
		call(t, "contacts.addresses.list", fmt.Sprintf(`{"id": %q}`, c)).OK(t, 200).Same("0.isPrimary", true)
		_ = w
	})
}

// A contact's answer carries its children, so their number is bounded.
func TestContactIsFull(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		many := func(one string) string { return "[" + strings.TrimSuffix(strings.Repeat(one+",", 100), ",") + "]" }
		var addresses []string
		for i := range 100 {
			addresses = append(addresses, fmt.Sprintf(`{"email": "ada+%d@example.com"}`, i))
		}
		v := call(t, "contacts.create", `{"firstName": "Ada", "emails": [`+strings.Join(addresses, ",")+
			`], "phoneNumbers": `+
			many(`{"phoneNumber": "+442079460018"}`)+
			`, "addresses": `+many(`{"line1": "12 St James's Square"}`)+`}`).OK(t, 201)
		for operation, field := range map[string]string{"emails": `"email": "b@example.com"`,
			"phone_numbers": `"phoneNumber": "+442079460018"`, "addresses": `"line1": "1 Dorset Street"`} {
			call(t, "contacts."+operation+".create",
				fmt.Sprintf(`{"id": %q, %s}`, v.Text("id"), field)).Refused(t, 400, "VALIDATION_ERROR")
		}
		call(t, "contacts.emails.delete",
			fmt.Sprintf(`{"id": %q, "emailId": %q}`, v.Text("id"), v.Text("emails.5.id"))).OK(t, 204)
		call(t, "contacts.emails.create", fmt.Sprintf(`{"id": %q, "email": "b@example.com"}`, v.Text("id"))).OK(t, 201)
	})
}
