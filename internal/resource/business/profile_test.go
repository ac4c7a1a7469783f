package business_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
)

var profileFields = strings.Fields("tagline about mission toneOfVoice audience foundedOn taxId email phone website")

func TestProfile(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		ref := fmt.Sprintf(`{"id": %q}`, a.Business)
		with := func(fields string) string { return fmt.Sprintf(`{"id": %q, %s}`, a.Business, fields) }
		empty := call(t, "businesses.profile.get", ref).OK(t, 200)
		empty.Same("id", a.Business)
		empty.Same("businessId", a.Business)
		empty.Same("organizationId", a.Org)
		empty.Same("createdAt", call(t, "businesses.get", ref).OK(t, 200).Text("createdAt"))
		for _, field := range append(profileFields, "deletedAt") {
			if !empty.Has(field) || !empty.At(field).Null() {
				t.Errorf("%s is not null but %v", field, empty.At(field))
			}
		}
		for _, nothing := range []string{"businesses.profile.update", "businesses.profile.replace"} {
			if v := call(t, nothing, ref).OK(t, 200); v.String() != empty.String() {
				t.Errorf("%s with nothing changed something: %s", nothing, v)
			}
		}

		full := call(t, "businesses.profile.replace",
			with(`"tagline": "Engines", "about": "We build.", "mission": "No errors.", "toneOfVoice": "Plain",
				"audience": "Weavers",
			"foundedOn": "1837-12-01", "taxId": "GB123", "email": "office@example.com", "phone": "020 7946 0018",
				"website": "https://example.com"`)).OK(t, 200)
		full.Same("foundedOn", "1837-12-01")
		full.Same("website", "https://example.com")
		full.Same("id", a.Business)
		full.Same("createdAt", empty.Text("createdAt"))
		if got := call(t, "businesses.profile.get", ref).OK(t, 200); got.String() != full.String() {
			t.Errorf("get differs from PUT:\n%s\n%s", got, full)
		}
		up := call(t, "businesses.profile.update", with(`"tagline": null, "audience": "Everybody"`)).OK(t, 200)
		up.Same("audience", "Everybody")
		up.Same("about", "We build.")
		if !up.At("tagline").Null() {
			t.Error("null does not clear")
		}
		if same := call(t, "businesses.profile.update",
			with(`"audience": "Everybody", "tagline": null`)).OK(t, 200); same.String() != up.String() {
			t.Errorf("what is there already changed something: %s", same)
		}
		short := call(t, "businesses.profile.replace", with(`"about": "New"`)).OK(t, 200)
		short.Same("about", "New")
		for _, field := range profileFields {
			if field != "about" && !short.At(field).Null() {
				t.Errorf("PUT left %s at %v", field, short.At(field))
			}
		}
		if want := "business.profile.updated business.profile.updated business.profile.updated"; a.Events(t,
			"business.profile.") != want {
			t.Errorf("events %q", a.Events(t, "business.profile."))
		}

		// A second business has its own, and a deleted one has none.
		shop := call(t, "businesses.create", `{"name": "Shop"}`).OK(t, 201).Text("id")
		at := fmt.Sprintf(`{"id": %q}`, shop)
		if v := call(t, "businesses.profile.get", at).OK(t, 200); !v.At("about").Null() || v.Text("id") != shop {
			t.Errorf("the profile of another business: %s", v)
		}
		call(t, "businesses.delete", at).OK(t, 204)
		for _, gone := range []string{"businesses.profile.get", "businesses.profile.replace",
			"businesses.profile.update"} {
			call(t, gone, at).Refused(t, 404, "NOT_FOUND")
			call(t, gone, fmt.Sprintf(`{"id": %q}`, id.New())).Refused(t, 404, "NOT_FOUND")
			call(t, gone, fmt.Sprintf(`{"id": %q}`, a.NewTenant(t, "free").Business)).Refused(t, 404, "NOT_FOUND")
		}
	})
}

func TestProfileRefusals(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		for _, operation := range []string{"businesses.profile.replace", "businesses.profile.update"} {
			for _, c := range []struct{ fields, place string }{
				{`"email": "nope"`, "email"},
				{`"website": "example.com"`, "website"},
				{`"website": "ftp://example.com"`, "website"},
				{`"foundedOn": "1837"`, "foundedOn"},
				{`"foundedOn": "1837-02-30"`, "foundedOn"},
				{`"taxId": 3`, "taxId"},
				{`"name": "x"`, ""},
				{fmt.Sprintf(`"phone": %q`, strings.Repeat("1", 256)), "phone"},
				{fmt.Sprintf(`"about": %q`, strings.Repeat("x", 10_001)), "about"},
			} {
				call(t, operation, fmt.Sprintf(`{"id": %q, %s}`, a.Business, c.fields)).Issues(t, c.place)
			}
			long := strings.Repeat("é", 10_000)
			call(t, operation,
				fmt.Sprintf(`{"id": %q, "tagline": %q, "about": %q, "mission": %q, "toneOfVoice": %q, "audience": %q}`,
					a.Business,
					long, long, long, long, long)).OK(t, 200).Same("audience", long)
		}
	})
}

// Many first writes at once make one profile, and nothing is lost.
func TestProfileRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		apptest.RunAtOnce(len(profileFields), func(i int) {
			value := map[string]string{"foundedOn": "2026-01-31", "email": "a@example.com",
				"website": "https://example.com"}[profileFields[i]]
			if value == "" {
				value = "x"
			}
			call(t, "businesses.profile.update",
				fmt.Sprintf(`{"id": %q, %q: %q}`, a.Business, profileFields[i], value)).OK(t, 200)
		})
		v := call(t, "businesses.profile.get", fmt.Sprintf(`{"id": %q}`, a.Business)).OK(t, 200)
		for _, field := range profileFields {
			if v.At(field).Null() {
				t.Errorf("%s was lost", field)
			}
		}
	})
}
