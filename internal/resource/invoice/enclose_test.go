package invoice_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// A message encloses the PDFs of invoices, and does not leave when what it is about
// was settled meanwhile.
func TestMessageEnclosesInvoices(t *testing.T) {
	apptest.EachDoorAlone(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		customer := call(t, "customers.create",
			`{"name": "Grace Hopper", "email": "grace@example.com"}`).OK(t, 201).Text("id")
		issued := func() string {
			v := newInvoice(t, call, customer, 1000)
			call(t, "invoices.issue", ref(v)).OK(t, 200)
			return v
		}
		first, second, third, fourth, draft := issued(), issued(), issued(), issued(),
			newInvoice(t, call, customer, 5)
		write := func(more string) apptest.Result {
			return call(t, "messages.create", `{"to": "grace@example.com", "subject": "x", "text": "x", `+more+`}`)
		}
		v := write(fmt.Sprintf(`"invoiceIds": [%q, %q]`, first, second)).OK(t, 201)
		v.Same("invoiceIds.1", second)
		write(fmt.Sprintf(`"invoiceIds": [%q, %q]`, first, draft)).Issues(t, "invoiceIds.1")
		write(fmt.Sprintf(`"invoiceIds": [%q, %q]`, first, first)).Issues(t, "invoiceIds.1")
		write(`"invoiceIds": ["c2b7a7de-2f0e-4f0b-8d5c-9a4b1f6e7d20"]`).Issues(t, "invoiceIds.0")

		// A draft may change its mind.
		kept := write(`"draft": true`).OK(t, 201)
		if kept.At("invoiceIds").Len() != 0 {
			t.Errorf("%s", kept)
		}
		message := func(v apptest.Value, more string) string { return fmt.Sprintf(`{"id": %q%s}`, v.Text("id"), more) }
		call(t, "messages.update", message(kept, fmt.Sprintf(`, "invoiceIds": [%q]`, first))).OK(t, 200).
			Same("invoiceIds.0", first)
		call(t, "messages.update", message(kept, fmt.Sprintf(`, "invoiceIds": [%q]`, draft))).Issues(t, "invoiceIds.0")

		// Scheduled: one that is paid, one that is voided, a reminder of one that is paid, and one that
		// was paid before.
		at := fmt.Sprintf(`, "scheduledAt": %q`, a.Clock.Now().Add(time.Hour))
		paid := write(fmt.Sprintf(`"invoiceIds": [%q]`, second)+at).OK(t, 201)
		voided := write(fmt.Sprintf(`"invoiceIds": [%q]`, third)+at).OK(t, 201)
		call(t, "invoices.send", ref(fourth, `"templateKey": "invoice_reminder"`+at)).OK(t, 200)
		reminder := call(t, "messages.list", `{"query": "Reminder", "status": "scheduled"}`).OK(t, 200).At("0")
		reminder.Same("invoiceIds.0", fourth)
		pay(t, call, second, "second", 1000).OK(t, 201)
		pay(t, call, fourth, "fourth", 1000).OK(t, 201)
		call(t, "invoices.void", ref(third)).OK(t, 200)
		receipt := write(fmt.Sprintf(`"invoiceIds": [%q]`, second)+at).OK(t, 201)
		write(fmt.Sprintf(`"invoiceIds": [%q]`, third)).Issues(t, "invoiceIds.0")

		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error { // their time comes
			_, err := db.Exec(ctx, tx, "UPDATE jobs SET run_at = 0 WHERE kind = 'message.deliver'")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		ended := func(v apptest.Value, status, why string) {
			t.Helper()
			for range 3000 {
				got := call(t, "messages.get", message(v, "")).OK(t, 200)
				if s := got.Text("status"); s == "sent" || s == "failed" {
					if s != status || why != "" && !strings.Contains(got.Text("errorMessage"), why) {
						t.Errorf("%s %s, want %s %s", s, got.At("errorMessage"), status, why)
					}
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
			t.Errorf("%s never ends", v)
		}
		ended(v, "sent", "")
		ended(paid, "failed", "INV-000002 was paid before")
		ended(voided, "failed", "INV-000003 was voided before")
		ended(reminder, "failed", "INV-000004 was paid before")
		ended(receipt, "sent", "")
		err = a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			mails, err := db.QueryAll[[]byte](ctx, tx,
				"SELECT content FROM mailbox_mails WHERE organization_id = $1 ORDER BY seq", a.Org)
			if err != nil {
				return err
			}
			if len(mails) != 2 {
				t.Fatalf("%d mails left", len(mails))
			}
			both := string(mails[0])
			if !strings.Contains(both, "INV-000001.pdf") {
				both = string(mails[1])
			}
			if !strings.Contains(both, "INV-000001.pdf") || !strings.Contains(both, "INV-000002.pdf") ||
				strings.Count(both, "JVBERi0") != 2 { // %PDF- in base64
				t.Error("no mail has both PDFs")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// Who may not read invoices cannot have them sent.
func TestEnclosingNeedsTheRight(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		customer := call(t, "customers.create", `{"name": "Grace", "email": "g@example.com"}`).OK(t, 201).Text("id")
		v := newInvoice(t, call, customer, 1000)
		call(t, "invoices.issue", ref(v)).OK(t, 200)
		key, _ := a.NewKey(t, a.Tenant, "messages:write", "messages:read")
		a.SendREST(t, key, "POST", "/v1/messages", fmt.Sprintf(
			`{"to": "me@example.com", "subject": "x", "text": "x", "invoiceIds": [%q]}`, v)).
			Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		kept := a.SendREST(t, a.Key, "POST", "/v1/messages", fmt.Sprintf(
			`{"to": "g@example.com", "subject": "x", "text": "x", "draft": true, "invoiceIds": [%q]}`, v)).OK(t, 201)
		a.SendREST(t, key, "PATCH", "/v1/messages/"+kept.Text("id"), `{"to": "me@example.com"}`).
			Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
	})
}
