package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
)

func TestOrderOfChecks(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		post := func(key, path, body string, headers ...string) apptest.Result {
			return a.SendREST(t, key, http.MethodPost, path, body, headers...)
		}
		// The key comes before everything.
		for name, key := range map[string]string{"none": "", "typo": a.Key[:len(a.Key)-1] + "-",
			"unknown": secret.NewToken("fd_"), "short": "fd_1"} {
			r := post(key, "/v1/nowhere", `{`)
			r.Refused(t, 401, "UNAUTHORIZED")
			if r.Header.Get("X-Request-ID") == "" || r.Header.Get("X-RateLimit-Limit") != "" {
				t.Errorf("%s: headers %v", name, r.Header)
			}
		}
		r := a.SendREST(t, "", http.MethodGet, "/v1/contacts", "", "Authorization", "Basic "+a.Key)
		r.Refused(t, 401, "UNAUTHORIZED")
		a.SendREST(t, "", http.MethodGet, "/v1/contacts", "", "Authorization", "bearer "+a.Key).OK(t, 200)

		// Then the account, the agreement, the route, the permission.
		v := a.NewTenant(t, "starter")
		a.AsOperator(t, "organizations.update", "organization", v.Org, `{"status": "disabled"}`)
		r = a.SendREST(t, v.Key, http.MethodGet, "/v1/nowhere", "")
		r.Refused(t, 403, "ACCOUNT_DISABLED")
		if r.Header.Get("X-RateLimit-Limit") != "300" {
			t.Errorf("limit %q", r.Header.Get("X-RateLimit-Limit"))
		}
		a.AsOperator(t, "organizations.update", "organization", v.Org, `{"status": "active"}`)
		a.SendREST(t, v.Key, http.MethodGet, "/v1/contacts", "").OK(t, 200)

		a.SendREST(t, a.Key, http.MethodGet, "/v1/nowhere", "").Refused(t, 404, "NOT_FOUND")
		r = a.SendREST(t, a.Key, http.MethodPut, "/v1/contacts", `{}`)
		r.Refused(t, 405, "METHOD_NOT_ALLOWED")
		if r.Header.Get("Allow") != "GET, HEAD, POST" {
			t.Errorf("Allow: %s", r.Header.Get("Allow"))
		}
		readOnly, _ := a.NewKey(t, a.Tenant, "contacts:read", "tasks:write")
		a.SendREST(t, readOnly, http.MethodGet, "/v1/contacts", "").OK(t, 200)
		e := post(readOnly, "/v1/contacts", "x", "Content-Type", "text/plain").Refused(t, 403,
			"INSUFFICIENT_PERMISSIONS")
		e.Same("details.permission", "contacts:write")
		a.SendREST(t, readOnly, http.MethodGet, "/v1/me", "").OK(t, 200).Same("permissions",
			"[contacts:read tasks:write]")

		// Then content type, path, query, key, size, stored key, body.
		post(a.Key, "/v1/contacts/xyz/emails", "{}", "Content-Type", "text/plain").Refused(t, 400, "INVALID_INPUT")
		post(a.Key, "/v1/contacts", "{}", "Content-Type",
			"application/json; charset=latin1").Refused(t, 400, "INVALID_INPUT")
		post(a.Key, "/v1/contacts", `{"firstName": "A"}`, "Content-Type", "application/json; charset=UTF-8").OK(t, 201)
		post(a.Key, "/v1/contacts/xyz/emails", "{", "Idempotency-Key", "").Refused(t, 400, "INVALID_CONTACT_ID")
		post(a.Key, "/v1/contacts", "{", "Idempotency-Key", strings.Repeat("x", 256)).Refused(t, 400, "INVALID_INPUT")
		post(a.Key, "/v1/contacts", "{", "Idempotency-Key", "").Refused(t, 400, "INVALID_INPUT")
		large := `{"notes": "` + strings.Repeat("x", 1<<20) + `"}`
		post(a.Key, "/v1/contacts", large).Refused(t, 413, "PAYLOAD_TOO_LARGE")
		post(a.Key, "/v1/contacts", "{").Refused(t, 400, "VALIDATION_ERROR")
	})
}

func TestAgreementGate(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		a := apptest.StartWith(t, s)
		org := a.AsOperator(t, "organizations.create", "", "", `{"name": "New"}`)
		v := apptest.Tenant{Org: org.ID("id"), Business: org.ID("businessId")}
		key, _ := a.NewKey(t, v, "*")
		r := a.SendREST(t, key, http.MethodGet, "/v1/nowhere", "").Refused(t, 403, "BUSINESS_AGREEMENT_REQUIRED")
		r.Same("details.url", s.BaseURL+"/agreements")
		a.AsOperator(t, "users.create", "organization", v.Org,
			`{"email": "o@example.com", "name": "O", "role": "owner", "password": "long enough"}`)
		a.AsOperator(t, "agreements.accept", "business", v.Business,
			fmt.Sprintf(`{"businessId": %q, "kind": "business", "by": "O@example.com"}`, v.Business))
		a.SendREST(t, key, http.MethodGet, "/v1/me", "").OK(t, 200)
	})
}

func TestKeysEnd(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		key, keyID := a.NewKey(t, a.Tenant, "contacts:read")
		a.SendREST(t, key, http.MethodGet, "/v1/me", "").OK(t, 200)
		a.AsOperator(t, "api_keys.revoke", "API key", keyID, fmt.Sprintf(`{"id": %q}`, keyID))
		a.SendREST(t, key, http.MethodGet, "/v1/me", "").Refused(t, 401, "UNAUTHORIZED")

		soon := a.Clock.Now().Add(8 * time.Second)
		k := a.AsOperator(t, "api_keys.create", "business", a.Business,
			fmt.Sprintf(`{"businessId": %q, "name": "Short", "permissions": ["*"], "expiresAt": %q}`, a.Business, soon))
		a.SendREST(t, k.Text("key"), http.MethodGet, "/v1/me", "").OK(t, 200)
		for a.Clock.Now() <= soon {
			time.Sleep(50 * time.Millisecond)
		}
		a.SendREST(t, k.Text("key"), http.MethodGet, "/v1/me", "").Refused(t, 401, "UNAUTHORIZED")

		if err := a.Accounts.FlushLastUsed(t.Context()); err != nil {
			t.Fatal(err)
		}
		keys := a.AsOperator(t, "api_keys.list", "organization", a.Org, `{}`)
		if keys.At("0.lastUsedAt").Null() || keys.Has("key") || strings.Contains(keys.String(), a.Key) {
			t.Errorf("keys: %s", keys)
		}
	})
}

func TestRefusals(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		missing := string(id.New())
		get := func(path string) apptest.Result { return a.SendREST(t, a.Key, http.MethodGet, path, "") }
		get("/v1/contacts/xyz").Refused(t, 400, "INVALID_CONTACT_ID")
		get("/v1/contacts/"+missing).Refused(t, 404, "NOT_FOUND")
		get("/v1/contacts/"+missing+"/emails/"+missing).Refused(t, 404, "NOT_FOUND")
		get("/v1/contacts/"+strings.ToUpper(missing)).Refused(t, 404, "NOT_FOUND")
		c := a.SendREST(t, a.Key, http.MethodPost, "/v1/contacts", `{"firstName": "A"}`).OK(t, 201).Text("id")
		get("/v1/contacts/"+strings.ToUpper(c)).OK(t, 200)
		get("/v1/contacts/"+c+"/emails/xyz").Refused(t, 400, "INVALID_INPUT")
		for _, path := range []string{"/v1", "/v1/", "/v1/contacts/", "/v1//contacts", "/v1/../v1/contacts",
			"/v1/contacts/%2e%2e", "/v1/contacts//emails", "/v1/Contacts"} {
			r := get(path)
			if r.Status != 404 && r.Status != 400 {
				t.Errorf("%s: %d %s", path, r.Status, r.Body)
			}
		}
		get("/v1//contacts").Refused(t, 404, "NOT_FOUND")
		get("/v1/../v1/contacts").Refused(t, 404, "NOT_FOUND")
		get("/v1/contacts/").Refused(t, 404, "NOT_FOUND")

		for query, place := range map[string]string{"limit=0": "limit", "limit=101": "limit", "limit=x": "limit",
			"limit=1.5": "limit", "limit=": "limit", "offset=-1": "offset",
			"sortOrder=up": "sortOrder", "offset=99999999999999999999": "offset",
			"query=%00": "query", "query=%ff": "query"} {
			e := get("/v1/contacts?"+query).Refused(t, 400, "INVALID_INPUT")
			if e.At("details.properties."+place+".errors").Len() != 1 {
				t.Errorf("%s: %s", query, e)
			}
		}
		get("/v1/contacts?unknown=1").OK(t, 200)
		get("/v1/contacts?query=%zz").Refused(t, 400, "INVALID_INPUT")

		post := func(body string) apptest.Result { return a.SendREST(t, a.Key, http.MethodPost, "/v1/contacts", body) }
		for body, want := range map[string]string{
			`[]`: "expected object, received array", `null`: "expected object, received null", `"x"`: "received string",
			`{"firstName": "A"`:                                 "Invalid JSON",
			`{"firstName": "A"} x`:                              "Invalid JSON",
			`{"firstName": "A", "firstName": "B"}`:              "Duplicate key: \\\"firstName\\\"",
			"{\"firstName\": \"\xff\"}":                         "Invalid JSON",
			`{"nope": 1, "firstName": "A"}`:                     `Unrecognized key: \"nope\"`,
			`{"FirstName": "A"}`:                                `Unrecognized key: \"FirstName\"`,
			`{"id": "x", "firstName": "A"}`:                     `Unrecognized key: \"id\"`,
			`{}`:                                                "At least one of",
			`{"firstName": " ", "lastName": "\t"}`:              "At least one of",
			`{"firstName": 5}`:                                  "expected string, received number",
			`{"firstName": "a\u0000b"}`:                         "U+0000",
			`{"firstName": "` + strings.Repeat("x", 256) + `"}`: "at most 255",
			`{"firstName": "A", "birthday": "1815-13-01"}`:      "Invalid date",
			`{"firstName": "A", "emails": {}}`:                  "expected array, received object",

			`{"firstName": "A", "notes": ` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`: "64 levels",

			`{"firstName": "A", "emails": [` + strings.Repeat(`{"email": "a@example.com"},`, 100) +
				`{"email": "a@example.com"}]}`: "at most 100",
			`{"firstName": "A", "emails": [null]}`: "expected object, received null",
		} {
			r := post(body)
			r.Refused(t, 400, "VALIDATION_ERROR").At("details.errors")
			if !strings.Contains(string(r.Body), want) {
				t.Errorf("%.80s: %s, want %s", body, r.Body, want)
			}
		}
		e := post(`{"firstName": "A", "emails": [{"email": "a@example.com"}, {"email": "b"}, {"email": `+
			`"c@example.com", `+
			`"x": 1}]}`).Refused(t, 400, "VALIDATION_ERROR")
		if e.At("details.properties.emails.items").Len() != 3 || !e.At("details.properties.emails.items.0").Null() ||
			e.Text("details.properties.emails.items.2.errors.0") != `Unrecognized key: "x"` ||
			e.At("details.properties.emails.items.1.properties.email.errors").Len() != 1 {
			t.Errorf("items: %s", e)
		}
		post(`{"firstName": "`+strings.Repeat("é", 255)+`"}`).OK(t, 201)
		post(`{"firstName": null, "lastName": "L"}`).OK(t, 201)
		a.SendREST(t, a.Key, http.MethodPatch, "/v1/contacts/"+c, `{"emails": []}`).Refused(t, 400, "VALIDATION_ERROR")
		// An empty body is not JSON: only an action may come without one.
		a.SendREST(t, a.Key, http.MethodPatch, "/v1/contacts/"+c, ``, "Content-Type",
			"application/json").Refused(t, 400, "VALIDATION_ERROR").At("details.errors.0")
		a.SendREST(t, a.Key, http.MethodPut, "/v1/businesses/"+string(a.Business)+"/profile", ``, "Content-Type",
			"application/json").Refused(t, 400, "VALIDATION_ERROR")
		a.SendREST(t, a.Key, http.MethodPatch, "/v1/contacts/"+c, `{}`).OK(t, 200)
		a.SendREST(t, a.Key, http.MethodPost, "/v1/contacts", ``).Refused(t, 400, "INVALID_INPUT")
		none := "/v1/invoices/" + string(id.New()) + "/"
		a.SendREST(t, a.Key, http.MethodPost, none+"issue", ``).Refused(t, 404, "NOT_FOUND")
		a.SendREST(t, a.Key, http.MethodPost, none+"send", ``).Refused(t, 404, "NOT_FOUND") // its input is optional
		a.SendREST(t, a.Key, http.MethodPost, none+"send", ``, "Content-Type",
			"text/plain").Refused(t, 400, "INVALID_INPUT")

		a.SendREST(t, a.Key, http.MethodPost, "/v1/openapi.json", `{}`).Refused(t, 404, "NOT_FOUND")
		head := a.SendREST(t, a.Key, http.MethodHead, "/v1/contacts/"+c, "")
		if head.Status != 200 || len(head.Body) != 0 {
			t.Errorf("HEAD: %d %q", head.Status, head.Body)
		}
		if strings.Contains(a.Logs.String(), "level=ERROR") {
			t.Errorf("something failed inside:\n%s", a.Logs)
		}
	})
}

func TestPages(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		for i := range 25 {
			call(t, "contacts.create", fmt.Sprintf(`{"lastName": "N%02d"}`, i)).OK(t, 201)
		}
		page := func(input string, names string, pagination string) {
			t.Helper()
			r := call(t, "contacts.list", input)
			var got []string
			rows := r.OK(t, 200)
			for i := range rows.Len() {
				got = append(got, rows.Text(fmt.Sprintf("%d.lastName", i)))
			}
			if strings.Join(got, " ") != names || r.Page(t).String() != pagination {
				t.Errorf("%s: %v %s, want %s %s", input, got, r.Page(t), names, pagination)
			}
		}
		page(`{}`, "N24 N23 N22 N21 N20 N19 N18 N17 N16 N15", `{"hasMore":true,"limit":10,"offset":0}`)
		page(`{"limit": 2, "sortOrder": "asc"}`, "N00 N01", `{"hasMore":true,"limit":2,"offset":0}`)
		page(`{"offset": 20}`, "N04 N03 N02 N01 N00", `{"hasMore":false,"limit":10,"offset":20,"total":25}`)
		page(`{"limit": 5, "offset": 20}`, "N04 N03 N02 N01 N00", `{"hasMore":true,"limit":5,"offset":20}`)
		page(`{"offset": 25}`, "", `{"hasMore":false,"limit":10,"offset":25}`)
		page(`{"offset": 1000000000}`, "", `{"hasMore":false,"limit":10,"offset":1000000000}`)
	})
}

func TestRateLimit(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		s.RateLimit.Free = 2 // one comes back after half a minute
		a := apptest.StartWith(t, s)
		v := a.NewTenant(t, "free")
		other, _ := a.NewKey(t, v, "*")
		for i := range 2 {
			key := v.Key
			if i%2 == 1 {
				key = other // all keys of one organization share the allowance
			}
			r := a.SendREST(t, key, http.MethodGet, "/v1/me", "")
			r.OK(t, 200)
			if r.Header.Get("X-RateLimit-Limit") != "2" || r.Header.Get("X-RateLimit-Remaining") != fmt.Sprint(1-i) {
				t.Errorf("request %d: %v", i, r.Header)
			}
		}
		r := a.SendREST(t, v.Key, http.MethodGet, "/v1/nowhere", "")
		r.Refused(t, 429, "RATE_LIMITED")
		wait, err := strconv.Atoi(r.Header.Get("Retry-After"))
		if err != nil || wait < 1 || wait > 30 || r.Header.Get("X-RateLimit-Remaining") != "0" ||
			r.Header.Get("X-RateLimit-Reset") == "" {
			t.Errorf("headers %v", r.Header)
		}
		a.SendREST(t, a.Key, http.MethodGet, "/v1/me", "").OK(t, 200) // others are not affected
	})
}

type brokenInput struct{}

func (*brokenInput) Prepare(context.Context, *op.Call) error { panic("broken before the transaction") }

// A bug of ours is answered like any other error, wherever it happens.
func TestPanic(t *testing.T) {
	a := apptest.Start(t, db.SQLite, app.Extra{Operations: []*op.Op{op.Write(op.Spec{
		Name:     "probe.broken.create",
		Route:    "POST /v1/probe-broken",
		Summary:  "Break.",
		Resource: "contacts",
		Doors:    op.RESTDoor,
		Example:  `{}`,
	}, func(context.Context, *op.Call, brokenInput) (*account.Me, error) { return nil, nil })}})
	r := a.SendREST(t, a.Key, http.MethodPost, "/v1/probe-broken", `{}`)
	r.Refused(t, 500, "INTERNAL_ERROR")
	if request := r.Header.Get("X-Request-ID"); request == "" || !strings.Contains(a.Logs.String(), request) ||
		strings.Contains(string(r.Body), "broken") {
		t.Errorf("%s %s", request, r.Body)
	}
}
