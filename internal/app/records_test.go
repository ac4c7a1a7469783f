package app_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/apptest"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
)

// What records refuse, through every door.
func TestRecordRefusals(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		create := func(operation, input string, args ...any) apptest.Value {
			t.Helper()
			return call(t, operation, fmt.Sprintf(input, args...)).OK(t, 201)
		}
		ahead := func(d time.Duration) time.Time { return a.Clock.Now().Add(d).Std() }

		// The same address twice on a contact, however it is written.
		ada := create("contacts.create", `{"firstName": "Ada", "emails": [{"email": "ada@example.com"}]}`).Text("id")
		call(t, "contacts.emails.create", fmt.Sprintf(`{"id": %q, "email": "ADA@example.com"}`, ada)).Refused(t, 409,
			"CONTACT_EMAIL_EXISTS")
		other := create("contacts.emails.create", `{"id": %q, "email": "ada@example.org"}`, ada).Text("id")
		call(t, "contacts.emails.update",
			fmt.Sprintf(`{"id": %q, "emailId": %q, "email": "Ada@Example.com"}`, ada, other)).
			Refused(t, 409, "CONTACT_EMAIL_EXISTS")
		call(t, "contacts.emails.update",
			fmt.Sprintf(`{"id": %q, "emailId": %q, "email": "ADA@example.org"}`, ada, other)).OK(t, 200)
		call(t, "contacts.create",
			`{"firstName": "B", "emails": [{"email": "b@example.com"}, {"email": "B@example.com"}]}`).
			Refused(t, 409, "CONTACT_EMAIL_EXISTS")
		// two people may share one
		create("contacts.create", `{"firstName": "C", "emails": [{"email": "ada@example.com"}]}`)

		// Birthdays and payments lie not in the future, with a day's grace.
		tomorrow, later := ahead(20*time.Hour).Format(time.DateOnly), ahead(60*time.Hour).Format(time.DateOnly)
		create("contacts.create", `{"firstName": "D", "birthday": %q}`, tomorrow)
		call(t, "contacts.create", fmt.Sprintf(`{"firstName": "D", "birthday": %q}`, later)).Issues(t, "birthday")
		call(t, "contacts.update", fmt.Sprintf(`{"id": %q, "birthday": %q}`, ada, later)).Issues(t, "birthday")

		// A wrong countryCode is told there.
		for _, code := range []string{"999", "abc", "1"} {
			call(t, "contacts.phone_numbers.create",
				fmt.Sprintf(`{"id": %q, "phoneNumber": "+442079460018", "countryCode": %q}`, ada, code)).
				Issues(t, "countryCode")
		}

		// Another address has not opted in.
		opt := create("email_opt_ins.create", `{"email": "ada@example.com", "status": "opted_in"}`).Text("id")
		moved := call(t, "email_opt_ins.update", fmt.Sprintf(`{"id": %q, "email": "eve@example.com"}`, opt)).OK(t, 200)
		moved.Same("status", "pending")
		if !moved.At("optedInAt").Null() {
			t.Errorf("%s", moved)
		}

		// An archived template does not send.
		template := create("email_templates.create",
			`{"name": "x", "subject": "x", "body": "x", "status": "archived"}`).Text("id")
		call(t, "messages.create", fmt.Sprintf(`{"to": "ada@example.com", "templateId": %q}`, template)).Refused(t, 409,
			"EMAIL_TEMPLATE_ARCHIVED")
		call(t, "email_templates.preview", fmt.Sprintf(`{"id": %q}`, template)).OK(t, 200).Same("subject", "x")

		// An option that is gone cannot be confirmed.
		def := create("property_definitions.create",
			`{"objectType": "contact", "key": "size", "name": "Size", "valueType": "select",
			 "options": ["S", "M"]}`).Text("id")
		value := create("contacts.properties.create",
			`{"id": %q, "definitionId": %q, "value": "M", "status": "suggested"}`,
			ada, def).Text("id")
		call(t, "property_definitions.update", fmt.Sprintf(`{"id": %q, "options": ["S", "L"]}`, def)).OK(t, 200)
		confirm := fmt.Sprintf(`{"id": %q, "propertyId": %q, "status": "confirmed"`, ada, value)
		call(t, "contacts.properties.update", confirm+`}`).Refused(t, 409, "PROPERTY_VALUE_TRANSITION_INVALID")
		call(t, "contacts.properties.update", confirm+`, "value": "L"}`).OK(t, 200)

		// Texts of properties have 2,000 characters, URLs everywhere 2,048.
		text := create("property_definitions.create",
			`{"objectType": "contact", "key": "bio", "name": "Bio", "valueType": "text"}`).Text("id")
		link := create("property_definitions.create",
			`{"objectType": "contact", "key": "link", "name": "Link", "valueType": "url"}`).Text("id")
		long := func(n int) string { return "https://example.com/" + strings.Repeat("a", n-20) }
		create("contacts.properties.create", `{"id": %q, "definitionId": %q, "value": %q}`, ada, text,
			strings.Repeat("é", 2000))
		call(t, "contacts.properties.create",
			fmt.Sprintf(`{"id": %q, "definitionId": %q, "value": %q}`, ada, text,
				strings.Repeat("é", 2001))).Issues(t, "value")
		create("contacts.properties.create", `{"id": %q, "definitionId": %q, "value": %q, "sources": [{"url": %q}]}`,
			ada,
			link, long(2048), long(2048))
		call(t, "contacts.properties.create",
			fmt.Sprintf(`{"id": %q, "definitionId": %q, "value": %q}`, ada, link, long(2049))).Issues(t, "value")
		create("businesses.online_presences.create", `{"id": %q, "kind": "website", "url": %q}`, a.Business, long(2048))
	})
}

// Invoices know whose they are.
func TestInvoiceRefusals(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		customer := func(name string) string {
			t.Helper()
			return call(t, "customers.create",
				fmt.Sprintf(`{"name": %q, "email": "%s@example.com"}`, name,
					strings.ToLower(name))).OK(t, 201).Text("id")
		}
		acme, bolt := customer("Acme"), customer("Bolt")
		draft := func(more string) string {
			t.Helper()
			return call(t, "invoices.create",
				fmt.Sprintf(`{"customerId": %q, "lineItems": [{"description": "x", "unitAmountCents": 100}]%s}`, acme,
					more)).OK(t, 201).Text("id")
		}
		move := func(v string) apptest.Value {
			t.Helper()
			return call(t, "invoices.update", fmt.Sprintf(`{"id": %q, "customerId": %q}`, v, bolt)).OK(t, 200)
		}
		plain := move(draft(""))
		plain.Same("billToName", "Bolt")
		plain.Same("billToEmail", "bolt@example.com")
		own := move(draft(`, "billToName": "Acme Holding", "billToCity": "Ulm"`))
		own.Same("billToName", "Acme Holding")
		own.Same("billToCity", "Ulm")
		own.Same("billToEmail", "bolt@example.com")

		v := draft("")
		issued := draft("")
		call(t, "invoices.issue", fmt.Sprintf(`{"id": %q}`, issued)).OK(t, 200)
		call(t, "invoices.record_payment",
			fmt.Sprintf(`{"id": %q, "amountCents": 1, "paidAt": %q, "idempotencyKey": "k1"}`,
				issued, a.Clock.Now().Add(60*time.Hour))).Issues(t, "paidAt")
		call(t, "customers.delete", fmt.Sprintf(`{"id": %q}`, acme)).OK(t, 204)
		call(t, "invoices.issue", fmt.Sprintf(`{"id": %q}`, v)).Refused(t, 409, "INVOICE_CUSTOMER_DELETED")
		move(v)
		call(t, "invoices.issue", fmt.Sprintf(`{"id": %q}`, v)).OK(t, 200)
	})
}

// A file that a draft needs is missed before anything leaves.
func TestMissingFileOfDraft(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		file := a.UploadForm(t, a.Key, "/v1/files",
			apptest.Part{Name: "file", FileName: "offer.txt", Text: "hello"}).OK(t, 201).Text("id")
		draft := a.SendREST(t, a.Key, "POST", "/v1/messages",
			`{"to": "ada@example.com", "subject": "Offer", "text": "Here", "draft": true, "fileIds": ["`+file+
				`"]}`).OK(t, 201).Text("id")
		a.SendREST(t, a.Key, "DELETE", "/v1/files/"+file, "").OK(t, 204)
		got := a.SendREST(t, a.Key, "POST", "/v1/messages/"+draft+"/send", "").Refused(t, 409, "MESSAGE_FILE_MISSING")
		got.Same("details.fileNames.0", "offer.txt")
		a.SendREST(t, a.Key, "GET", "/v1/messages/"+draft, "").OK(t, 200).Same("status", "draft")
		a.SendREST(t, a.Key, "PATCH", "/v1/messages/"+draft, `{"fileIds": []}`).OK(t, 200)
		a.SendREST(t, a.Key, "POST", "/v1/messages/"+draft+"/send", "").OK(t, 200)
	})
}

// A business for which something acts is not deleted.
func TestBusinessInUse(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		v := a.SendREST(t, a.Key, "POST", "/v1/businesses", `{"name": "Second"}`).OK(t, 201).ID("id")
		second := a.Tenant
		second.Business = v
		a.AsOperator(t, "agreements.accept", "business", v,
			fmt.Sprintf(`{"businessId": %q, "kind": "business", "by": %q}`, v, a.Owner))
		_, key := a.NewKey(t, second, "contacts:read")
		remove := func() apptest.Result { return a.SendREST(t, a.Key, "DELETE", "/v1/businesses/"+string(v), "") }
		remove().Refused(t, 409, "BUSINESS_IN_USE").Same("details.apiKeyIds.0", string(key))
		a.AsOperator(t, "api_keys.revoke", "API key", key, fmt.Sprintf(`{"id": %q}`, key))
		agent := a.NewAgent(t, second, "read")
		remove().Refused(t, 409, "BUSINESS_IN_USE").Same("details.agentIds.0", string(agent))
		a.AsOperator(t, "agents.delete", "agent", agent, fmt.Sprintf(`{"id": %q}`, agent))
		remove().OK(t, 204)
	})
}

// An agent never moves to a business that is being deleted.
func TestAgentMovesWhileBusinessIsDeleted(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent := a.NewAgent(t, a.Tenant, "read")
		v := a.SendREST(t, a.Key, "POST", "/v1/businesses", `{"name": "Second"}`).OK(t, 201).ID("id")
		moved := make(chan error, 1)
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			if _, err := account.Businesses.SoftDelete(ctx, tx, a.Org, v, a.Clock.Now()); err != nil {
				return err
			}
			go func() {
				_, err := a.Admin.Do(context.Background(), admin.Request{Operation: "agents.move", Noun: "agent",
					Ref: string(agent), Input: []byte(fmt.Sprintf(`{"id": %q, "businessId": %q}`, agent, v))})
				moved <- err
			}()
			time.Sleep(300 * time.Millisecond) // it reads the business, or waits for it
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := <-moved; !fault.IsKind(err, fault.NotFound) {
			t.Errorf("moving to a business that was being deleted: %v", err)
		}
	})
}

// The name filter of templates finds parts of any length.
func TestTemplateNameFilter(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		for _, name := range []string{"Welcome", "Ärger", "50% off"} {
			a.SendREST(t, a.Key, "POST", "/v1/email-templates",
				fmt.Sprintf(`{"name": %q, "subject": "x", "body": "x"}`, name)).OK(t, 201)
		}
		for filter, want := range map[string]int{"l": 1, "m": 1, "co": 1, "E": 2, "%25": 1, "_": 0, "zz": 0, "ff": 1,
			"%C3%A4": 1} {
			if n := a.SendREST(t, a.Key, "GET", "/v1/email-templates?name="+filter, "").OK(t, 200).Len(); n != want {
				t.Errorf("name=%s finds %d, want %d", filter, n, want)
			}
		}
	})
}
