package app_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
)

var purged = [...]string{"contacts", "contact_emails", "customers", "property_definitions", "property_values", "tasks",
	"task_assignees", "task_activity",
	"business_profiles", "business_offerings", "business_online_presences", "business_physical_presences",
	"email_opt_ins", "email_templates", "invoices", "invoice_line_items", "customer_transactions", "webhooks",
	"webhook_deliveries",
	"messages", "message_attachments", "message_contacts"}

// What was deleted long ago ends, with what hangs under it; what names it
// forgets it; and what was deleted a moment ago stays.
func TestPurge(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		s.Retention.Deleted = 30 * 24 * time.Hour
		a := apptest.StartWith(t, s)
		call := a.Door("action", a.Tenant)
		create := func(operation, input string, args ...any) string {
			t.Helper()
			return call(t, operation, fmt.Sprintf(input, args...)).OK(t, 201).Text("id")
		}
		define := func(kind, key string) string {
			return create("property_definitions.create",
				`{"objectType": %q, "key": %q, "name": "K", "valueType": "text"}`, kind,
				key)
		}
		remove := func(operation, row string) { call(t, operation, fmt.Sprintf(`{"id": %q}`, row)).OK(t, 204) }

		gone := create("contacts.create", `{"firstName": "Gone", "emails": [{"email": "a@example.com"}]}`)
		kept := create("contacts.create", `{"firstName": "Kept"}`)
		goneCustomer := create("customers.create", `{"name": "Gone"}`)
		namesGone := create("customers.create", `{"name": "A", "contactId": %q}`, gone)
		namesKept := create("customers.create", `{"name": "B", "contactId": %q}`, kept)
		create("email_opt_ins.create", `{"email": "a@example.com", "contactId": %q}`, gone)
		create("email_opt_ins.create", `{"email": "b@example.com", "contactId": %q}`, kept)
		remove("email_opt_ins.delete", create("email_opt_ins.create", `{"email": "c@example.com"}`))
		remove("email_templates.delete",
			create("email_templates.create", `{"name": "Gone", "subject": "x", "body": "x"}`))
		const hook = `{"url": "https://example.com/", "events": ["webhook.disabled"]}`
		goneHook, keptHook := create("webhooks.create", hook), create("webhooks.create", hook)
		for _, at := range []string{goneHook, keptHook} {
			deliver(t, a, a.Tenant, fixtures{"/v1/webhooks": id.ID(at)})
		}
		remove("webhooks.delete", goneHook)
		live, dead := define("contact", "live"), define("contact", "dead")
		create("contacts.properties.create", `{"id": %q, "definitionId": %q, "value": "x"}`, gone, live)
		survivor := create("contacts.properties.create", `{"id": %q, "definitionId": %q, "value": "x"}`, kept, live)
		for range 600 { // more than one batch
			create("contacts.properties.create", `{"id": %q, "definitionId": %q, "value": "x", "status": "suggested"}`,
				kept,
				dead)
		}
		create("customers.properties.create", `{"id": %q, "definitionId": %q, "value": "x"}`, goneCustomer,
			define("customer", "live"))
		goneTask := create("tasks.create", `{"title": "Gone"}`)
		create("tasks.assignees.create", `{"id": %q, "userId": %q}`, goneTask, a.OwnerID)
		create("tasks.activity.create", `{"id": %q, "body": "x"}`, goneTask)
		keptTask := create("tasks.create", `{"title": "Kept", "contactId": %q, "customerId": %q}`, gone, goneCustomer)
		left := create("tasks.assignees.create", `{"id": %q, "userId": %q}`, keptTask, a.OwnerID)
		call(t, "tasks.assignees.delete", fmt.Sprintf(`{"id": %q, "assigneeId": %q}`, keptTask, left)).OK(t, 204)
		goneBusiness := create("businesses.create", `{"name": "Gone"}`)
		for _, business := range []string{goneBusiness, string(a.Business)} {
			call(t, "businesses.profile.update", fmt.Sprintf(`{"id": %q, "about": "x"}`, business)).OK(t, 200)
			create("businesses.offerings.create", `{"id": %q, "name": "x"}`, business)
			create("businesses.online_presences.create", `{"id": %q, "kind": "x", "url": "https://example.com"}`,
				business)
			create("businesses.physical_presences.create", `{"id": %q, "name": "x"}`, business)
		}
		goneFile := a.UploadForm(t, a.Key, "/v1/files",
			apptest.Part{Name: "file", FileName: "a.txt", Text: "a"}).OK(t, 201).Text("id")
		goneTemplate := create("email_templates.create", `{"name": "Gone", "subject": "x", "body": "x"}`)
		goneMessage := create("messages.create",
			`{"to": "a@example.com", "subject": "Gone", "draft": true, "fileIds": [%q]}`,
			goneFile)
		keptMessage := create("messages.create",
			`{"to": "a@example.com", "bcc": "b@example.com", "templateId": %q, "draft": true, "contactId": %q, `+
				`"customerId": `+
				`%q, "inReplyToId": %q, "fileIds": [%q]}`,
			goneTemplate, gone, goneCustomer, goneMessage, goneFile)
		create("messages.contacts.create", `{"id": %q, "contactId": %q}`, keptMessage, kept)
		remove("messages.delete", goneMessage)
		remove("files.delete", goneFile)
		remove("email_templates.delete", goneTemplate)
		remove("tasks.delete", goneTask)
		remove("businesses.delete", goneBusiness)
		bill := `{"customerId": %q, "lineItems": [{"description": "x", "unitAmountCents": 9}]}`
		draft, issued := create("invoices.create", bill, namesKept), create("invoices.create", bill, goneCustomer)
		call(t, "invoices.issue", fmt.Sprintf(`{"id": %q}`, issued)).OK(t, 200)
		remove("invoices.delete", draft)
		remove("contacts.delete", gone)
		remove("customers.delete", goneCustomer)
		remove("property_definitions.delete", dead)

		write := func(fn db.Func) {
			t.Helper()
			if err := a.DB.Write(context.Background(), fn); err != nil {
				t.Fatal(err)
			}
		}
		write(func(ctx context.Context, tx *db.Tx) error {
			for _, table := range append(purged[:], "businesses", "files") {
				if _, err := db.Exec(ctx, tx, "UPDATE "+table+" SET deleted_at = $1 WHERE deleted_at IS NOT NULL",
					a.Clock.Now().Add(-31*24*time.Hour)); err != nil {
					return err
				}
			}
			return nil
		})
		recent := create("contacts.create", `{"firstName": "Recent"}`)
		remove("contacts.delete", recent)
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer a.Jobs.Stop(context.Background()) //nolint:errcheck // the test is over
		write(func(ctx context.Context, tx *db.Tx) error {
			_, err := a.Jobs.Enqueue(ctx, tx, "deleted.purge", struct{}{})
			return err
		})
		rows := func() (counts [len(purged)]int) {
			write(func(ctx context.Context, tx *db.Tx) (err error) {
				for i, table := range purged {
					if counts[i], err = db.QueryOne[int](ctx, tx, "SELECT count(*) FROM "+table); err != nil {
						return err
					}
				}
				return nil
			})
			return counts
		}
		// Of the task that stays, the entries created, assigned and unassigned.
		want := [len(purged)]int{2, 0, 2, 2, 1, 1, 0, 3, 1, 1, 1, 1, 2, 0, 1, 1, 0, 1, 1, 1, 1, 1}
		for deadline := time.Now().Add(time.Minute); rows() != want; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("rows %v, want %v", rows(), want)
			}
		}
		if !call(t, "customers.get", fmt.Sprintf(`{"id": %q}`, namesGone)).OK(t, 200).At("contactId").Null() {
			t.Error("a customer names a contact that is no more")
		}
		if v := call(t, "tasks.get", fmt.Sprintf(`{"id": %q}`, keptTask)).OK(t, 200); !v.At("contactId").Null() ||
			!v.At("customerId").Null() {
			t.Errorf("a task names what is no more: %s", v)
		}
		v := call(t, "messages.get", fmt.Sprintf(`{"id": %q}`, keptMessage)).OK(t, 200)
		for _, field := range []string{"contactId", "customerId", "templateId", "inReplyToId"} {
			if !v.At(field).Null() {
				t.Errorf("a message names what is no more: %s", v)
			}
		}
		if attached := call(t, "messages.attachments.list",
			fmt.Sprintf(`{"id": %q}`, keptMessage)).OK(t, 200); attached.Len() != 1 ||
			!attached.At("0.fileId").Null() ||
			attached.Text("0.fileName") != "a.txt" {
			t.Errorf("an attachment names a file that is no more: %s", attached)
		}
		call(t, "customers.get", fmt.Sprintf(`{"id": %q}`, namesKept)).OK(t, 200).Same("contactId", kept)
		// What was issued stays, without its customer, and can still be paid.
		call(t, "invoices.record_payment",
			fmt.Sprintf(`{"id": %q, "amountCents": 9, "idempotencyKey": "k"}`, issued)).OK(t, 201)
		if v := call(t, "invoices.get", fmt.Sprintf(`{"id": %q}`, issued)).OK(t, 200); !v.At("customerId").Null() ||
			v.Text("status") != "paid" {
			t.Errorf("the invoice of a customer that is no more: %s", v)
		}
		call(t, "contacts.properties.get", fmt.Sprintf(`{"id": %q, "propertyId": %q}`, kept, survivor)).OK(t, 200)
	})
}

// The clock moves an invoice whose time has passed, with nobody asking.
func TestOverdueByTheClock(t *testing.T) {
	apptest.EachEngineParallel(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		customer := call(t, "customers.create", `{"name": "A"}`).OK(t, 201).Text("id")
		due := a.Clock.Now().Add(2*time.Second) / 1000 * 1000 // it is kept in milliseconds
		invoice := call(t, "invoices.create",
			fmt.Sprintf(`{"customerId": %q, "dueAt": %q, "lineItems": [{"description": "x", "unitAmountCents": 9}]}`,
				customer,
				due)).OK(t, 201).Text("id")
		call(t, "invoices.issue", fmt.Sprintf(`{"id": %q}`, invoice)).OK(t, 200)
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer a.Jobs.Stop(context.Background()) //nolint:errcheck // the test is over
		get := func() apptest.Value {
			return call(t, "invoices.get", fmt.Sprintf(`{"id": %q}`, invoice)).OK(t, 200)
		}
		deadline := time.Now().Add(2 * time.Minute)
		for ; get().Text("status") != "overdue"; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("not overdue: %s", get())
			}
		}
		if at, err := clock.ParseTime(get().Text("overdueAt")); err != nil || at < due || at > a.Clock.Now() {
			t.Errorf("overdue at %v, due at %v", at, due)
		}
		if events := a.Events(t, "invoice.overdue"); events != "invoice.overdue" {
			t.Errorf("events %q", events)
		}
	})
}
