package template_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/placeholder"
	"frontdesk/internal/resource/template"
)

func TestEmailTemplates(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		v := call(t, "email_templates.create",
			`{"name": "Welcome", "subject": "Hello {{ b.name }}",
			 "body": "{{ a }} {{ b.name | default: \"x\" }}"}`).OK(t, 201)
		for field, want := range map[string]string{"status": "active", "bodyFormat": "markdown",
			"variables":      "[a b.name]",
			"createdByAgent": "false"} {
			if field == "createdByAgent" && strings.Contains(t.Name(), "/agent") {
				want = "true"
				v.Same("createdBy", a.OwnerID) // the user who approved the connection
			}
			v.Same(field, want)
		}
		for _, field := range []string{"deletedAt", "description", "templateKey"} {
			if !v.Has(field) || !v.At(field).Null() {
				t.Errorf("%s is not null but %v", field, v.At(field))
			}
		}
		ref := fmt.Sprintf(`{"id": %q}`, v.Text("id"))
		if got := call(t, "email_templates.get", ref).OK(t, 200); got.String() != v.String() {
			t.Errorf("get differs from create:\n%s\n%s", got, v)
		}
		update := func(fields string) apptest.Result {
			return call(t, "email_templates.update", fmt.Sprintf(`{"id": %q, %s}`, v.Text("id"), fields))
		}
		up := update(`"subject": "{{ z }}", "description": "First mail", "templateKey": "invoice",
			"bodyFormat": "html"`).OK(t, 200)
		up.Same("variables", "[a b.name z]")
		up.Same("templateKey", "invoice")
		update(`"body": "plain"`).OK(t, 200).Same("variables", "[z]")
		if cleared := update(`"description": null, "templateKey": null`).OK(t,
			200); !cleared.At("description").Null() ||
			!cleared.At("templateKey").Null() {
			t.Error("null does not clear")
		}
		before := call(t, "email_templates.get", ref).OK(t, 200)
		if same := call(t, "email_templates.update", ref).OK(t, 200); same.String() != before.String() {
			t.Errorf("{} changed something: %s", same)
		}
		update(`"status": "archived"`).OK(t, 200).Same("status", "archived")
		call(t, "email_templates.delete", ref).OK(t, 204)
		for _, again := range []string{"delete", "get", "update", "preview"} {
			call(t, "email_templates."+again, ref).Refused(t, 404, "NOT_FOUND")
		}
		want := "email_template.created" + strings.Repeat(" email_template.updated", 4) + " email_template.deleted"
		if events := a.Events(t, "email_template."); events != want {
			t.Errorf("events %q, want %q", events, want)
		}
	})
}

// Who created a template: the user, the maker of the key, or nobody known.
func TestEmailTemplateCreator(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		const body = `{"name": "x", "subject": "x", "body": "x"}`
		a.SendREST(t, a.Key, "POST", "/v1/email-templates", body).OK(t, 201).Same("createdBy", a.OwnerID)
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "UPDATE api_keys SET created_by_user_id = NULL WHERE id = $1", a.KeyID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		a.AsOperator(t, "organizations.update", "organization", a.Org, `{"plan": "professional"}`) // clears the cache
		if v := a.SendREST(t, a.Key, "POST", "/v1/email-templates", body).OK(t, 201); !v.At("createdBy").Null() {
			t.Errorf("a key of nobody's acts for %v", v.At("createdBy"))
		}
	})
}

func TestEmailTemplateRefusals(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		v := call(t, "email_templates.create", `{"name": "x", "subject": "x", "body": "x"}`).OK(t, 201).Text("id")
		for _, c := range []struct{ fields, place string }{
			{`"name": ""`, "name"},
			{`"name": null`, "name"},
			{`"subject": ""`, "subject"},
			{`"subject": "a\nBcc: eve@example.com"`, "subject"},
			{`"subject": "{{ a"`, "subject"},
			{`"body": ""`, "body"},
			{`"body": "{{"`, "body"},
			{`"body": "{{ a {{ b }} }}"`, "body"},
			{`"body": "{{{ a }}}"`, "body"},
			{`"body": "{{ a.b() }}"`, "body"},
			{`"body": "{{#each a}}"`, "body"},
			{`"body": "{{> /etc/passwd }}"`, "body"},
			{`"body": "{{ a | upcase }}"`, "body"},
			{`"body": "` + strings.Repeat("{{ a }}", 1001) + `"`, "body"},
			{`"body": "` + strings.Repeat("a", 500_001) + `"`, "body"},
			{`"body": "` + strings.Repeat("> ", 100_000) + `"`, "body"},
			{`"bodyFormat": "mjml"`, "bodyFormat"},
			{`"status": "draft"`, "status"},
			{`"status": null`, "status"},
			{`"templateKey": "newsletter"`, "templateKey"},
			{`"description": "` + strings.Repeat("a", 10_001) + `"`, "description"},
			{`"variables": ["a"]`, ""},
			{`"createdBy": "` + string(id.New()) + `"`, ""},
		} {
			fields := map[string]any{"name": "x", "subject": "x", "body": "x"}
			if err := json.Unmarshal([]byte("{"+c.fields+"}"), &fields); err != nil {
				t.Fatal(err)
			}
			whole, _ := json.Marshal(fields)
			call(t, "email_templates.create", string(whole)).Issues(t, c.place)
			call(t, "email_templates.update", fmt.Sprintf(`{"id": %q, %s}`, v, c.fields)).Issues(t, c.place)
		}
		both := call(t, "email_templates.create", `{"name": "x", "subject": "{{ é", "body": "first\n  {{ a-b }}"}`)
		both.Issues(t, "subject")
		e := both.Refused(t, 400, "VALIDATION_ERROR")
		if s := e.Text("details.properties.body.errors.0"); !strings.HasPrefix(s, "Line 2, column 7: ") {
			t.Errorf("the body's issue is %q", s)
		}
		for _, field := range []string{"name", "subject", "body"} {
			call(t, "email_templates.create", `{}`).Issues(t, field)
		}
		// Markdown that is fine as html is checked again when the format
		// changes.
		h := call(t, "email_templates.create",
			`{"name": "x", "subject": "x", "bodyFormat": "html", "body": "`+strings.Repeat("> ", 20_000)+
				`"}`).OK(t, 201).Text("id")
		call(t, "email_templates.update", fmt.Sprintf(`{"id": %q, "bodyFormat": "markdown"}`, h)).Issues(t, "body")
		if n := call(t, "email_templates.list", `{}`).OK(t, 200).Len(); n != 2 {
			t.Errorf("%d templates", n)
		}
	})
	a := apptest.Start(t, db.SQLite)
	a.SendREST(t, a.Key, "POST", "/v1/email-templates",
		`{"name": "x", "subject": "x", "body": "`+strings.Repeat("a", 1<<20)+`"}`).Refused(t, 413, "PAYLOAD_TOO_LARGE")
	for _, query := range []string{"status=draft", "name=", "name=" + strings.Repeat("a", 201), "limit=0"} {
		a.SendREST(t, a.Key, "GET", "/v1/email-templates?"+query, "").Refused(t, 400, "INVALID_INPUT")
	}
	reader, _ := a.NewKey(t, a.Tenant, "email_templates:read")
	v := a.SendREST(t, a.Key, "POST", "/v1/email-templates",
		`{"name": "x", "subject": "x", "body": "x"}`).OK(t, 201).Text("id")
	a.SendREST(t, reader, "GET", "/v1/email-templates/"+v, "").OK(t, 200)
	a.SendREST(t, reader, "POST", "/v1/email-templates/"+v+"/preview", `{}`).Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
}

func TestEmailTemplateFilters(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		for _, c := range []string{`"name": "Straßenfest"`, `"name": "ÉCLAIR invoice", "status": "archived"`,
			`"name": "100% sure", "description": "invoice"`} {
			call(t, "email_templates.create", `{"subject": "invoice", "body": "invoice", `+c+`}`).OK(t, 201)
		}
		for filter, want := range map[string]int{
			``: 3, `"status": "active"`: 2, `"status": "archived"`: 1, `"name": "STRASSE"`: 1, `"name": "éclair"`: 1,
			`"name": "Éclair"`: 1, `"name": "INV"`: 1,
			`"name": "0%"`: 1, `"name": "00%"`: 1, `"name": "10"`: 1, `"name": "nfest"`: 1,
			`"name": "invoice", "status": "active"`: 0, `"name": "zzz"`: 0, `"limit": 1`: 1, `"offset": 2`: 1,
		} {
			if n := call(t, "email_templates.list", "{"+filter+"}").OK(t, 200).Len(); n != want {
				t.Errorf("%s finds %d, want %d", filter, n, want)
			}
		}
		call(t, "email_templates.list", `{"sortOrder": "asc"}`).OK(t, 200).Same("0.name", "Straßenfest")
		if n := len(call(t, "email_templates.list", `{"name": "fest"}`).Body); n < 100 {
			t.Errorf("an empty answer of %d bytes", n)
		}
	})
}

const taken = "EMAIL_TEMPLATE_KEY_TAKEN"

func TestEmailTemplateKeys(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		create := func(fields string) apptest.Result {
			return call(t, "email_templates.create", `{"name": "x", "subject": "x", "body": "x", `+fields+`}`)
		}
		update := func(v, fields string) apptest.Result {
			return call(t, "email_templates.update", fmt.Sprintf(`{"id": %q, %s}`, v, fields))
		}
		first := create(`"templateKey": "invoice"`).OK(t, 201).Text("id")
		create(`"templateKey": "invoice"`).Refused(t, 409, taken)
		second := create(`"templateKey": "invoice", "status": "archived"`).OK(t, 201).Text("id")
		third := create(`"templateKey": "payment_receipt"`).OK(t, 201).Text("id")
		update(second, `"status": "active"`).Refused(t, 409, taken)
		update(third, `"templateKey": "invoice"`).Refused(t, 409, taken)
		update(first, `"templateKey": "invoice", "status": "active", "name": "same"`).OK(t, 200)
		update(first, `"status": "archived"`).OK(t, 200)
		update(second, `"status": "active"`).OK(t, 200)
		call(t, "email_templates.delete", fmt.Sprintf(`{"id": %q}`, second)).OK(t, 204)
		update(third, `"templateKey": "invoice"`).OK(t, 200)
		// another organization's
		a.Door("action", a.NewTenant(t, "free"))(t, "email_templates.create",
			`{"name": "x", "subject": "x", "body": "x", "templateKey": "invoice"}`).OK(t, 201)
	})
}

// Of many who take a key at once, by creating, activating or renaming, one
// succeeds.
func TestEmailTemplateKeyRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		for range 5 {
			var archived, other []string
			for range 8 {
				archived = append(archived,
					call(t, "email_templates.create",
						`{"name": "x", "subject": "x", "body": "x", "status": "archived",
						 "templateKey": "invoice"}`).OK(t,
						201).Text("id"))
				other = append(other, call(t, "email_templates.create",
					`{"name": "x", "subject": "x", "body": "x"}`).OK(t, 201).Text("id"))
			}
			var mu sync.Mutex
			won := []string{}
			apptest.RunAtOnce(24, func(i int) {
				var r apptest.Result
				switch i % 3 {
				case 0:
					r = call(t, "email_templates.create",
						`{"name": "x", "subject": "x", "body": "x", "templateKey": "invoice"}`)
				case 1:
					r = call(t, "email_templates.update", fmt.Sprintf(`{"id": %q, "status": "active"}`, archived[i/3]))
				default:
					r = call(t, "email_templates.update",
						fmt.Sprintf(`{"id": %q, "templateKey": "invoice"}`, other[i/3]))
				}
				mu.Lock()
				defer mu.Unlock()
				if r.Status < 300 {
					won = append(won, r.OK(t, r.Status).Text("id"))
				} else if r.Status != 409 || r.Code() != taken {
					t.Errorf("%d %s", r.Status, r.Body)
				}
			})
			if len(won) != 1 {
				t.Fatalf("%d have the key", len(won))
			}
			call(t, "email_templates.delete", fmt.Sprintf(`{"id": %q}`, won[0])).OK(t, 204)
		}
	})
}

func TestEmailTemplatePreview(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		v := call(t, "email_templates.create",
			`{"name": "x", "subject": "For {{ customer.name }}", "body": "Dear **{{ customer.name }}**, {{ note | `+
				`default: `+
				`\"no note\" }}: {{ n }}"}`).OK(t, 201).Text("id")
		preview := func(variables string) apptest.Result {
			return call(t, "email_templates.preview", fmt.Sprintf(`{"id": %q, "variables": %s}`, v, variables))
		}
		p := preview(`{"customer": {"name": "Ada\r\nBcc: eve@example.com"}, "n": 1.50}`).OK(t, 200)
		p.Same("subject", "For Ada Bcc: eve@example.com")
		p.Same("html", "<p>Dear <strong>Ada&#13;\nBcc: eve@example.com</strong>, no note: 1.50</p>")
		p.Same("text", "Dear Ada Bcc: eve@example.com, no note: 1.50")
		e := preview(`{"n": 1}`).Refused(t, 422, "EMAIL_TEMPLATE_VARIABLE_MISSING")
		e.Same("details.variables", "[customer.name]")
		if !strings.Contains(e.Text("message"), "customer.name") {
			t.Errorf("%s", e)
		}
		call(t, "email_templates.preview", fmt.Sprintf(`{"id": %q}`, v)).Refused(t, 422,
			"EMAIL_TEMPLATE_VARIABLE_MISSING").Same("details.variables", "[customer.name n]")
		preview(`{"customer": {"name": null}, "n": 1}`).Refused(t, 422, "EMAIL_TEMPLATE_VARIABLE_MISSING")
		preview(`{"customer": {"name": ["Ada"]}, "n": 1}`).Issues(t, "variables.customer.name")
		for _, wrong := range []string{`[]`, `"x"`, `null`, `3`} {
			preview(wrong).Issues(t, "variables")
		}
		preview(`{"customer": {"name": "x"}, "n": "`+strings.Repeat("x", 900_000)+`"}`).OK(t, 200)
		if events := a.Events(t, "email_template."); events != "email_template.created" {
			t.Errorf("a preview wrote %s", events)
		}
	})
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		v := call(t, "email_templates.create", `{"name": "x", "subject": "Invoice", "templateKey": "invoice",
			"body": "Dear {{ name }}"}`).OK(t, 201).Text("id")
		whole := func(business, variables string) apptest.Result {
			return call(t, "email_templates.preview", fmt.Sprintf(`{"id": %q, "businessId": %q, "variables": %s}`, v,
				business, variables))
		}
		p := whole(string(a.Business), `{"name": "<Ada>", "invoice": {"url": "https://example.com/i"}}`).OK(t, 200)
		p.Same("text", "Dear <Ada>\n\nSee the invoice: https://example.com/i\n\n-- \nTest\n")
		for _, want := range []string{"<!DOCTYPE html>", "&lt;Ada&gt;", `href="https://example.com/i"`,
			"<strong>Test<"} {
			if !strings.Contains(p.Text("html"), want) {
				t.Errorf("no %s in %s", want, p.Text("html"))
			}
		}
		if p := whole(string(a.Business), `{"name": "Ada"}`).OK(t, 200); strings.Contains(p.Text("html"), "See the") {
			t.Error("a button that leads nowhere")
		}
		whole("4b8e1f02-7c5d-4e9a-8b36-0d2f1a6c9e57", `{"name": "Ada"}`).Issues(t, "businessId")
		call(t, "email_templates.update", fmt.Sprintf(`{"id": %q, "bodyFormat": "html"}`, v)).OK(t, 200)
		whole(string(a.Business), `{"name": "Ada"}`).OK(t, 200).Same("html", "Dear Ada") // no layout of ours
	})
	a := apptest.Start(t, db.SQLite)
	v := a.SendREST(t, a.Key, "POST", "/v1/email-templates",
		`{"name": "x", "subject": "x", "body": "`+strings.Repeat("{{ a }}", 1000)+`"}`).OK(t, 201).Text("id")
	at := "/v1/email-templates/" + v + "/preview"
	a.SendREST(t, a.Key, "POST", at, `{"variables": {"a": "`+strings.Repeat("x", 900_000)+`"}}`).Issues(t, "variables")
	for _, replay := range []string{"", "true"} { // a key keeps the answer
		r := a.SendREST(t, a.Key, "POST", at, `{"variables": {"a": "x"}}`, "Idempotency-Key", "k")
		if r.OK(t, 200).Text("subject") != "x" || r.Header.Get("Idempotency-Replay") != replay {
			t.Errorf("%s", r.Body)
		}
	}
	a.SendREST(t, a.Key, "POST", at, `{}`, "Idempotency-Key", strings.Repeat("k", 256)).Refused(t, 400, "INVALID_INPUT")
}

// What the service itself sends: the active template for the key, or the
// built-in text.
func TestForKey(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		forKey := func(key string) (c template.Content) {
			t.Helper()
			err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
				c, err = template.ContentForKey(ctx, tx, a.Org, key)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		call := a.Door("action", a.Tenant)
		call(t, "email_templates.create",
			`{"name": "x", "subject": "archived", "body": "x", "templateKey": "invoice", "status": "archived"}`).OK(t,
			201)
		a.Door("action", a.NewTenant(t, "free"))(t, "email_templates.create",
			`{"name": "x", "subject": "theirs", "body": "x", "templateKey": "invoice"}`).OK(t, 201)
		values := placeholder.LookupIn(map[string]any{"business": map[string]any{"name": "Engines"},
			"invoice": map[string]any{"number": "INV-000001", "total": "12.00 USD"},
			"payment": map[string]any{"amount": "12.00 USD"}})
		for _, key := range []string{template.Invoice, template.InvoiceReminder, template.PaymentReceipt} {
			c := forKey(key)
			if c != template.DefaultContent(key) {
				t.Errorf("%s: %v", key, c)
			}
			out, err := c.Render(values)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.Subject, "INV-000001") || !strings.Contains(out.Text, "Hello there,") ||
				!strings.Contains(out.Text, "12.00 USD") || !strings.Contains(out.HTML, "<table>") {
				t.Errorf("%s: %+v", key, out)
			}
		}
		call(t, "email_templates.create",
			`{"name": "x", "subject": "ours", "body": "x", "templateKey": "invoice"}`).OK(t, 201)
		if c := forKey(template.Invoice); c.Subject != "ours" {
			t.Errorf("%v", c)
		}
	})
}
