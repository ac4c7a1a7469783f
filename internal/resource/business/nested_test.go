package business_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// under makes the calls on one collection below a business.
type under struct {
	call       apptest.Door
	collection string // "businesses.offerings"
	ref        string // the path field of one row
	business   id.ID
}

func (u under) create(t testing.TB, fields string) apptest.Result {
	t.Helper()
	return u.call(t, u.collection+".create", fmt.Sprintf(`{"id": %q, %s}`, u.business, fields))
}

func (u under) list(t testing.TB, fields string) apptest.Result {
	t.Helper()
	return u.call(t, u.collection+".list",
		strings.TrimSuffix(fmt.Sprintf(`{"id": %q, %s`, u.business, fields), ", ")+"}")
}

func (u under) one(t testing.TB, verb, row, fields string) apptest.Result {
	t.Helper()
	return u.call(t, u.collection+"."+verb, fmt.Sprintf(`{"id": %q, %q: %q%s}`, u.business, u.ref, row, fields))
}

// tell takes a collection through the story that all of them share: v exists,
// change makes field equal want, and full creates another.
func (u under) tell(t *testing.T, a *apptest.App, v apptest.Value, change, field string, want any, clear, full string) {
	t.Helper()
	row := v.Text("id")
	v.Same("businessId", u.business)
	v.Same("organizationId", a.Org)
	if got := u.one(t, "get", row, "").OK(t, 200); got.String() != v.String() {
		t.Errorf("get differs from create:\n%s\n%s", got, v)
	}
	up := u.one(t, "update", row, ", "+change).OK(t, 200)
	up.Same(field, want)
	if same := u.one(t, "update", row, ", "+change).OK(t, 200); same.String() != up.String() {
		t.Errorf("what is there already changed something: %s", same)
	}
	if same := u.one(t, "update", row, "").OK(t, 200); same.String() != up.String() {
		t.Errorf("{} changed something: %s", same)
	}
	if cleared := u.one(t, "update", row, fmt.Sprintf(`, %q: null`, clear)).OK(t, 200); !cleared.At(clear).Null() {
		t.Errorf("null does not clear %s: %s", clear, cleared)
	}
	second := u.create(t, full).OK(t, 201).Text("id")
	page := u.list(t, `"limit": 1, `)
	page.OK(t, 200).Same("0.id", second)
	page.Page(t).Same("total", 2)
	page.Page(t).Same("hasMore", true)
	u.list(t, `"sortOrder": "asc"`).OK(t, 200).Same("0.id", row)

	// Not under another business, and not for another organization.
	elsewhere := u
	elsewhere.business = u.call(t, "businesses.create", `{"name": "Elsewhere"}`).OK(t, 201).ID("id")
	foreign := u
	foreign.call = a.Door("action", a.NewTenant(t, "free"))
	for _, verb := range []string{"get", "update", "delete"} {
		elsewhere.one(t, verb, row, "").Refused(t, 404, "NOT_FOUND")
		foreign.one(t, verb, row, "").Refused(t, 404, "NOT_FOUND")
	}
	if n := elsewhere.list(t, "").OK(t, 200).Len(); n != 0 {
		t.Errorf("%d rows under another business", n)
	}
	foreign.list(t, "").Refused(t, 404, "NOT_FOUND")
	foreign.create(t, full).Refused(t, 404, "NOT_FOUND")

	u.one(t, "delete", row, "").OK(t, 204)
	for _, verb := range []string{"get", "update", "delete"} {
		u.one(t, verb, row, "").Refused(t, 404, "NOT_FOUND")
	}
	if n := u.list(t, "").OK(t, 200).Len(); n != 1 {
		t.Errorf("%d rows are left", n)
	}
	kind := strings.TrimSuffix(strings.Replace(u.collection, "businesses", "business", 1), "s")
	events := fmt.Sprintf("%[1]s.created %[1]s.updated %[1]s.updated %[1]s.created %[1]s.deleted", kind)
	if got := a.Events(t, kind+"."); got != events {
		t.Errorf("events %q, want %q", got, events)
	}

	// Deleting the business deletes what is below it.
	gone := elsewhere.create(t, full).OK(t, 201).Text("id")
	u.call(t, "businesses.delete", fmt.Sprintf(`{"id": %q}`, elsewhere.business)).OK(t, 204)
	elsewhere.one(t, "get", gone, "").Refused(t, 404, "NOT_FOUND")
	elsewhere.list(t, "").Refused(t, 404, "NOT_FOUND")
	elsewhere.create(t, full).Refused(t, 404, "NOT_FOUND")
}

type refusal struct{ fields, place string }

// refuses tries bad fields on creation and on update.
func (u under) refuses(t *testing.T, row string, all []refusal) {
	t.Helper()
	before := u.one(t, "get", row, "").OK(t, 200).String()
	for _, c := range all {
		u.create(t, c.fields).Issues(t, c.place)
		u.one(t, "update", row, ", "+c.fields).Issues(t, c.place)
	}
	if after := u.one(t, "get", row, "").OK(t, 200).String(); after != before {
		t.Errorf("a refused change changed something: %s", after)
	}
}

func TestOfferings(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		call(t, "businesses.update", fmt.Sprintf(`{"id": %q, "currency": "gbp"}`, a.Business)).OK(t, 200)
		u := under{call, "businesses.offerings", "offeringId", a.Business}
		v := u.create(t, `"name": "Engine"`).OK(t, 201)
		v.Same("currency", "gbp")
		v.Same("isActive", true)
		for _, field := range []string{"kind", "description", "priceCents", "unit", "deletedAt"} {
			if !v.Has(field) || !v.At(field).Null() {
				t.Errorf("%s is not null but %v", field, v.At(field))
			}
		}
		u.refuses(t, v.Text("id"), []refusal{
			{`"name": ""`, "name"}, {`"name": null`, "name"}, {`"name": "x", "kind": "gift"`, "kind"},
			{`"name": "x", "priceCents": -1`, "priceCents"},
			{`"name": "x", "priceCents": 1.5`, "priceCents"}, {`"name": "x", "priceCents": "1,5"`, "priceCents"},
			{`"name": "x", "currency": "GB"`, "currency"},
			{`"name": "x", "isActive": null`, "isActive"}, {`"name": "x", "isActive": "yes"`, "isActive"},
			{`"name": "x", "price": 1`, ""},
			{fmt.Sprintf(`"name": "x", "description": %q`, strings.Repeat("x", 10_001)), "description"},
		})
		u.create(t, `"kind": "product"`).Issues(t, "name")
		u.one(t, "update", v.Text("id"), `, "currency": null`).Issues(t, "currency")
		full := `"name": "Straße repair", "kind": "service", "description": "On site", "priceCents": 0, "currency": ` +
			`"eur", "unit": "hour", "isActive": false`
		u.tell(t, a, v, `"name": "Large Engine", "priceCents": 1750000, "kind": "product"`, "priceCents", 1750000,
			"priceCents", full)
		u.create(t, `"name": "Engine oil", "kind": "product"`).OK(t, 201)
		for filter, want := range map[string]int{
			`"kind": "service"`: 1, `"kind": "product"`: 1, `"isActive": true`: 1, `"isActive": false`: 1,
			`"kind": "product", "isActive": false`: 0,
			`"query": "STRASSE"`:                   1, `"query": "oi"`: 1, `"query": "il"`: 0, `"query": "ngine"`: 1,
			`"query": "site"`: 0,
			`"query": ""`:     2, `"query": "%"`: 0,
			`"query": "engine", "kind": "service"`: 0, `"query": "large"`: 0,
		} {
			list := u.list(t, filter)
			if n := list.OK(t, 200).Len(); n != want {
				t.Errorf("%s finds %d, want %d", filter, n, want)
			}
			list.Page(t).Same("total", want)
		}
		u.one(t, "update", u.list(t, `"query": "oil"`).OK(t, 200).Text("0.id"), `, "name": "Grease"`).OK(t, 200)
		if u.list(t, `"query": "oil"`).OK(t, 200).Len() != 0 || u.list(t, `"query": "grease"`).OK(t, 200).Len() != 1 {
			t.Error("found by the old name, or not by the new")
		}
	})
}

func TestOnlinePresences(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		u := under{call, "businesses.online_presences", "onlinePresenceId", a.Business}
		v := u.create(t, `"kind": "website", "url": "https://example.com"`).OK(t, 201)
		for _, field := range []string{"handle", "description", "deletedAt"} {
			if !v.Has(field) || !v.At(field).Null() {
				t.Errorf("%s is not null but %v", field, v.At(field))
			}
		}
		u.refuses(t, v.Text("id"), []refusal{
			{`"kind": "myspace", "url": "https://example.com"`, "kind"},
			{`"kind": null, "url": "https://example.com"`, "kind"},
			{`"kind": "x", "url": "example.com"`, "url"}, {`"kind": "x", "url": "javascript:alert(1)"`, "url"},
			{`"kind": "x", "url": null`, "url"},
			{`"kind": "x", "url": "https://example.com", "handle": 1`, "handle"},
			{`"kind": "x", "url": "https://example.com", "nope": 1`, ""},
			{fmt.Sprintf(`"kind": "x", "url": "https://example.com", "description": %q`, strings.Repeat("x", 10_001)),
				"description"},
		})
		u.create(t, `"url": "https://example.com"`).Issues(t, "kind")
		u.create(t, `"kind": "x"`).Issues(t, "url")
		u.tell(t, a, v, `"kind": "x", "handle": "@engines"`, "handle", "@engines", "handle",
			`"kind": "facebook", "url": "http://example.com/f", "handle": "f", "description": "d"`)
		for _, kind := range []string{"website", "instagram", "linkedin", "x", "youtube", "tiktok", "google_business",
			"other"} {
			u.create(t, fmt.Sprintf(`"kind": %q, "url": "https://example.com/%s"`, kind, kind)).OK(t, 201)
			list := u.list(t, fmt.Sprintf(`"kind": %q`, kind))
			list.OK(t, 200).Same("0.kind", kind)
			list.Page(t).Same("total", 1)
		}
	})
}

func TestPhysicalPresences(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		u := under{call, "businesses.physical_presences", "physicalPresenceId", a.Business}
		v := u.create(t, `"name": "Workshop"`).OK(t, 201)
		for _, field := range []string{"description", "address", "deletedAt"} {
			if !v.Has(field) || !v.At(field).Null() {
				t.Errorf("%s is not null but %v", field, v.At(field))
			}
		}
		u.refuses(t, v.Text("id"), []refusal{
			{`"name": ""`, "name"}, {`"name": null`, "name"}, {`"name": "x", "address": {}`, "address"},
			{`"name": "x", "city": "London"`, ""},
			{fmt.Sprintf(`"name": "x", "description": %q`, strings.Repeat("x", 10_001)), "description"},
		})
		u.create(t, `"address": "here"`).Issues(t, "name")
		u.tell(t, a, v, `"name": "Yard", "address": "1 Dorset Street"`, "address", "1 Dorset Street", "address",
			`"name": "Shop", "description": "Ring twice", "address": "2 Dorset Street"`)
	})
}

// Mistakes that only REST paths and queries allow, and the permission.
func TestRecordsOverREST(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	at := "/v1/businesses/" + string(a.Business)
	for _, path := range []string{"/offerings?kind=gift", "/offerings?isActive=maybe",
		"/offerings?query=" + strings.Repeat("x", 201), "/online-presences?kind=myspace",
		"/physical-presences?limit=0", "/offerings/1"} {
		a.SendREST(t, a.Key, "GET", at+path, "").Refused(t, 400, "INVALID_INPUT")
	}
	for _, path := range []string{"/profile", "/offerings", "/online-presences", "/physical-presences"} {
		a.SendREST(t, a.Key, "GET", "/v1/businesses/1"+path, "").Refused(t, 400, "INVALID_BUSINESS_ID")
	}
	a.SendREST(t, a.Key, "DELETE", at+"/profile", "").Refused(t, 405, "METHOD_NOT_ALLOWED")
	a.SendREST(t, a.Key, "PUT", at+"/offerings/"+string(id.New()), "{}").Refused(t, 405, "METHOD_NOT_ALLOWED")
	read, _ := a.NewKey(t, a.Tenant, "businesses:read")
	none, _ := a.NewKey(t, a.Tenant, "tasks:read", "tasks:write")
	for _, path := range []string{"/profile", "/offerings", "/online-presences", "/physical-presences"} {
		a.SendREST(t, read, "GET", at+path, "").OK(t, 200)
		a.SendREST(t, none, "GET", at+path, "").Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
	}
	a.SendREST(t, read, "PUT", at+"/profile", "{}").Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
	a.SendREST(t, read, "POST", at+"/offerings", `{"name": "x"}`).Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
}
