package business_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
)

func TestBusinesses(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		first := call(t, "businesses.get", fmt.Sprintf(`{"id": %q}`, a.Business)).OK(t, 200)
		first.Same("name", "Test")
		v := call(t, "businesses.create", `{"name": "Shop"}`).OK(t, 201)
		v.Same("timezone", "UTC")
		v.Same("locale", "en-US")
		v.Same("currency", "usd")
		for _, field := range []string{"deletedAt", "legalName", "description", "industry", "logoFileId",
			"accentColor", "paymentInstructions", "bankName", "iban", "bic"} {
			if !v.Has(field) || !v.At(field).Null() || !first.Has(field) {
				t.Errorf("%s is not null but %v", field, v.At(field))
			}
		}
		ref := fmt.Sprintf(`{"id": %q}`, v.Text("id"))
		if got := call(t, "businesses.get", ref).OK(t, 200); got.String() != v.String() {
			t.Errorf("get differs from create:\n%s\n%s", got, v)
		}
		call(t, "businesses.create",
			`{"name": "Gasthof", "legalName": "Gasthof GmbH", "description": "Beds", "industry": "Hospitality",
			"timezone": "Europe/Berlin", "locale": "de-DE",
				"currency": "eur"}`).OK(t, 201).Same("timezone", "Europe/Berlin")
		update := func(fields string) apptest.Result {
			return call(t, "businesses.update", fmt.Sprintf(`{"id": %q, %s}`, v.Text("id"), fields))
		}
		update(`"industry": "Retail", "currency": "gbp"`).OK(t, 200).Same("currency", "gbp")
		made := call(t, "businesses.create", `{"name": "Printer", "accentColor": "#AA00ff", "bankName": "Barclays",
			"iban": "gb33 bukb 2020 1555 5555 55", "bic": "bukbgb22",
			"paymentInstructions": "By transfer.\nOr in cash."}`).OK(t, 201)
		made.Same("accentColor", "#AA00ff")
		made.Same("iban", "GB33BUKB20201555555555")
		made.Same("bic", "BUKBGB22")
		made.Same("paymentInstructions", "By transfer.\nOr in cash.")
		up := call(t, "businesses.update", fmt.Sprintf(`{"id": %q, "iban": "DE89 3704 0044 0532 0130 00",
			"bic": null, "accentColor": null}`, made.Text("id"))).OK(t, 200)
		up.Same("iban", "DE89370400440532013000")
		up.Same("bankName", "Barclays")
		if !up.At("bic").Null() || !up.At("accentColor").Null() {
			t.Errorf("null does not clear: %s", up)
		}
		call(t, "businesses.delete", fmt.Sprintf(`{"id": %q}`, made.Text("id"))).OK(t, 204)
		if up := update(`"industry": null`).OK(t, 200); !up.At("industry").Null() || up.Text("name") != "Shop" {
			t.Errorf("null does not clear, or absent does not keep: %s", up)
		}
		before := call(t, "businesses.get", ref).OK(t, 200)
		if same := update(`"logoFileId": null`).OK(t, 200); same.String() != before.String() {
			t.Errorf("what is there already changed something: %s", same)
		}
		list := call(t, "businesses.list", `{"limit": 2}`)
		list.OK(t, 200).Same("0.name", "Gasthof")
		list.Page(t).Same("hasMore", true)
		call(t, "businesses.list", `{"sortOrder": "asc"}`).OK(t, 200).Same("0.id", a.Business)

		call(t, "businesses.delete", ref).OK(t, 204)
		for _, again := range []string{"businesses.delete", "businesses.get", "businesses.update"} {
			call(t, again, ref).Refused(t, 404, "NOT_FOUND")
		}
		if n := call(t, "businesses.list", `{}`).OK(t, 200).Len(); n != 2 {
			t.Errorf("%d businesses are left", n)
		}
		// The first one was created with the organization, with an event like
		// the others.
		want := "business.created business.created business.created business.updated business.created " +
			"business.updated business.deleted business.updated business.deleted"
		if events := a.Events(t, "business."); events != want {
			t.Errorf("events %q, want %q", events, want)
		}
	})
}

func TestBusinessRefusals(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		for _, c := range []struct{ fields, place string }{
			{`"name": ""`, "name"},
			{`"name": null`, "name"},
			{`"name": "x", "timezone": "Mars/Olympus"`, "timezone"},
			{`"name": "x", "timezone": null`, "timezone"},
			{`"name": "x", "locale": "english!"`, "locale"},
			{`"name": "x", "currency": "US"`, "currency"},
			{`"name": "x", "currency": "zzz"`, "currency"},
			{`"name": "x", "currency": null`, "currency"},
			{`"name": "x", "accentColor": "teal"`, "accentColor"},
			{`"name": "x", "accentColor": "#12345"`, "accentColor"},
			{`"name": "x", "accentColor": "#123456;x"`, "accentColor"},
			{`"name": "x", "iban": "GB33BUKB20201555555556"`, "iban"}, // a digit is wrong
			{`"name": "x", "iban": "GB33"`, "iban"},
			{`"name": "x", "iban": ""`, "iban"},
			{`"name": "x", "bic": "BUKBGB2"`, "bic"},
			{`"name": "x", "paymentInstructions": "` + strings.Repeat("x", 2001) + `"`, "paymentInstructions"},
			{`"name": "x", "plan": "free"`, ""},
			{fmt.Sprintf(`"name": "x", "logoFileId": %q`, id.New()), "logoFileId"},
		} {
			call(t, "businesses.create", "{"+c.fields+"}").Issues(t, c.place)
			call(t, "businesses.update", fmt.Sprintf(`{"id": %q, %s}`, a.Business, c.fields)).Issues(t, c.place)
		}
		call(t, "businesses.create", `{}`).Issues(t, "name")
		call(t, "businesses.delete", fmt.Sprintf(`{"id": %q}`, id.New())).Refused(t, 404, "NOT_FOUND")
		call(t, "businesses.delete", fmt.Sprintf(`{"id": %q}`, a.Business)).Refused(t, 409, "BUSINESS_LAST")
		call(t, "businesses.get", fmt.Sprintf(`{"id": %q}`, a.Business)).OK(t, 200).Same("name", "Test")
	})
}

// A business with a key cannot be deleted. Once the key is revoked, it can.
func TestKeyOfDeletedBusiness(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		shop := a.Tenant
		shop.Business = a.SendREST(t, a.Key, "POST", "/v1/businesses", `{"name": "Shop"}`).OK(t, 201).ID("id")
		a.AsOperator(t, "agreements.accept", "business", shop.Business,
			fmt.Sprintf(`{"businessId": %q, "kind": "business", "by": %q}`, shop.Business, shop.Owner))
		key, keyID := a.NewKey(t, shop, "*")
		for range 3 {
			a.SendREST(t, key, "GET", "/v1/businesses", "").OK(t, 200)
		}
		a.SendREST(t, key, "DELETE", "/v1/businesses/"+string(shop.Business), "").Refused(t, 409, "BUSINESS_IN_USE")
		a.SendREST(t, key, "GET", "/v1/businesses", "").OK(t, 200)
		a.AsOperator(t, "api_keys.revoke", "API key", keyID, fmt.Sprintf(`{"id": %q}`, keyID))
		a.SendREST(t, a.Key, "DELETE", "/v1/businesses/"+string(shop.Business), "").OK(t, 204)
		a.SendREST(t, key, "GET", "/v1/businesses", "").Refused(t, 401, "UNAUTHORIZED")
		a.SendREST(t, a.Key, "DELETE", "/v1/businesses/"+string(a.Business), "").Refused(t, 409, "BUSINESS_LAST")
		a.SendREST(t, a.Key, "GET", "/v1/businesses", "").OK(t, 200)
	})
}

// However many are deleted at once, one stays.
func TestLastBusiness(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		// otherwise its business would be in use
		a.AsOperator(t, "api_keys.revoke", "API key", a.KeyID, fmt.Sprintf(`{"id": %q}`, a.KeyID))
		kept := string(a.Business)
		for range 10 {
			all := []string{kept}
			for range 7 {
				all = append(all, call(t, "businesses.create", `{"name": "b"}`).OK(t, 201).Text("id"))
			}
			var deleted, refused atomic.Int64
			apptest.RunAtOnce(len(all), func(i int) {
				switch r := call(t, "businesses.delete", fmt.Sprintf(`{"id": %q}`, all[i])); r.Status {
				case 204:
					deleted.Add(1)
				case 409:
					r.Refused(t, 409, "BUSINESS_LAST")
					refused.Add(1)
				default:
					t.Errorf("%d %s", r.Status, r.Body)
				}
			})
			left := call(t, "businesses.list", `{}`).OK(t, 200)
			if deleted.Load() != 7 || refused.Load() != 1 || left.Len() != 1 {
				t.Fatalf("%d deleted, %d refused, left %s", deleted.Load(), refused.Load(), left)
			}
			kept = left.Text("0.id")
		}
	})
}
