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

func TestInvoiceSend(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		call(t, "businesses.profile.update",
			fmt.Sprintf(`{"id": %q, "email": "office@example.com"}`, a.Business)).OK(t, 200)
		customer := call(t, "customers.create",
			`{"name": "Grace Hopper", "email": "grace@example.com"}`).OK(t, 201).Text("id")
		invoice := newInvoice(t, call, customer, 123456)
		send := func(more ...string) apptest.Result { return call(t, "invoices.send", ref(invoice, more...)) }

		send().Refused(t, 409, "INVOICE_TRANSITION_INVALID")
		call(t, "invoices.issue", ref(invoice)).OK(t, 200)
		send(`"to": "nobody"`).Issues(t, "to")
		v := send().OK(t, 200)
		v.Same("status", "sent")
		if v.At("sentAt").Null() {
			t.Errorf("sent: %s", v)
		}

		mail := call(t, "messages.list", fmt.Sprintf(`{"customerId": %q}`, customer)).OK(t, 200)
		mail.Same("0.subject", "Invoice INV-000001 from "+call(t, "businesses.get",
			fmt.Sprintf(`{"id": %q}`, a.Business)).OK(t, 200).Text("name"))
		mail.Same("0.to", "[grace@example.com]")
		mail.Same("0.replyTo", "office@example.com")
		for _, want := range []string{"INV-000001", "1,234.56", "Grace Hopper"} {
			if !strings.Contains(mail.Text("0.text"), want) || !strings.Contains(mail.Text("0.html"), want) {
				t.Errorf("the mail does not say %s: %s", want, mail.Text("0.text"))
			}
		}
		files := call(t, "messages.attachments.list", fmt.Sprintf(`{"id": %q}`, mail.Text("0.id"))).OK(t, 200)
		files.Same("0.fileName", "INV-000001.pdf")
		files.Same("0.contentType", "application/pdf")

		// Again, to somebody else and with a custom text; sentAt stays that of
		// the first.
		first := v.Text("sentAt")
		call(t, "email_templates.create",
			`{"name": "x", "templateKey": "invoice", "subject": "{{ invoice.number }}: {{ invoice.amountDue }}", `+
				`"body": `+
				`"Due {{ invoice.dueDate | default: \"now\" }}"}`).OK(t, 201)
		pay(t, call, invoice, "part", 23456).OK(t, 201)
		v = send(`"to": "boss@example.com"`).OK(t, 200)
		v.Same("status", "partially_paid")
		v.Same("sentAt", first)
		again := call(t, "messages.list", `{"query": "boss@example.com"}`).OK(t, 200)
		again.Same("0.subject", "INV-000001: $1,000.00")
		if !strings.Contains(again.Text("0.text"), "Due now") {
			t.Errorf("the mail says %s", again.Text("0.text"))
		}

		// A text of one's own stands in the mail, whatever the template says; it is
		// no markup. Later, and as a reminder.
		own := `"message": "First <b>line</b>\nSecond & *line*", "to": "own@example.com"`
		send(own).OK(t, 200)
		reminder := call(t, "messages.get", fmt.Sprintf(`{"id": %q}`,
			call(t, "messages.list", `{"query": "own@example.com"}`).OK(t, 200).Text("0.id"))).OK(t, 200)
		if text := reminder.Text("text"); !strings.Contains(text, "First <b>line</b>\nSecond & *line*") ||
			!strings.Contains(text, "Due now") || strings.Contains(reminder.Text("html"), "<b>") {
			t.Errorf("the mail says %s\n%s", text, reminder.Text("html"))
		}
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			framed, err := db.QueryOne[bool](ctx, tx, "SELECT layout FROM messages WHERE id = $1", reminder.Text("id"))
			if !framed {
				t.Error("a text of one's own loses the letterhead")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		at := a.Clock.Now().Add(48 * time.Hour)
		send(own, `"templateKey": "invoice_reminder", "scheduledAt": "`+at.String()+`"`).OK(t, 200)
		later := call(t, "messages.list", `{"status": "scheduled"}`).OK(t, 200)
		later.Same("0.subject", "Reminder: invoice INV-000001 from Test")
		later.Same("0.scheduledAt", at)
		if text := later.Text("0.text"); !strings.Contains(text, "First <b>line</b>\nSecond & *line*") ||
			!strings.Contains(text, "$1,000.00") {
			t.Errorf("the mail says %s", text)
		}
		send(`"templateKey": "payment_receipt"`).Issues(t, "templateKey")
		send(`"scheduledAt": "2999-01-01T00:00:00Z"`).Issues(t, "scheduledAt")
		call(t, "messages.cancel", fmt.Sprintf(`{"id": %q}`, later.Text("0.id"))).OK(t, 200)

		nobody := call(t, "customers.create", `{"name": "Nobody"}`).OK(t, 201).Text("id")
		quiet := newInvoice(t, call, nobody, 5)
		call(t, "invoices.issue", ref(quiet)).OK(t, 200)
		call(t, "invoices.send", ref(quiet)).Refused(t, 422, "INVOICE_RECIPIENT_MISSING").
			Same("message", "The invoice has no billToEmail. Send it with `to`, an email address.")
		call(t, "invoices.void", ref(quiet)).OK(t, 200)
		call(t, "invoices.send", ref(quiet, `"to": "a@example.com"`)).Refused(t, 409, "INVOICE_TRANSITION_INVALID")

		// A template with an unknown placeholder sends nothing.
		call(t, "email_templates.update",
			fmt.Sprintf(`{"id": %q, "body": "{{ weather }}"}`,
				call(t, "email_templates.list", `{}`).OK(t, 200).Text("0.id"))).OK(t, 200)
		send().Refused(t, 422, "EMAIL_TEMPLATE_VARIABLE_MISSING")
		if n := call(t, "messages.list", `{}`).OK(t, 200).Len(); n != 4 {
			t.Errorf("%d messages", n)
		}
		if n := call(t, "files.list", `{}`).OK(t, 200).Len(); n != 4 {
			t.Errorf("%d files", n)
		}
		if got, want := a.Events(t, "invoice.sent", "message.created"),
			strings.TrimSpace(strings.Repeat("message.created invoice.sent ", 4)); got != want {
			t.Errorf("events %q, want %q", got, want)
		}
	})
}

// A retry under the same key sends nothing twice. A payment that arrives in the
// meantime is in the document or comes after it.
func TestInvoiceSendAtOnce(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		customer := call(t, "customers.create", `{"name": "Grace", "email": "grace@example.com"}`).OK(t, 201).Text("id")
		invoice := newInvoice(t, call, customer, 1000)
		call(t, "invoices.issue", ref(invoice)).OK(t, 200)
		apptest.RunAtOnce(8, func(i int) {
			if i%2 == 1 {
				pay(t, call, invoice, fmt.Sprintf("pay-%d", i), 10).OK(t, 201)
				return
			}
			for range 3000 {
				r := call(t, "invoices.send", ref(invoice, `"idempotencyKey": "once"`))
				if r.Status == 200 {
					return
				}
				r.Refused(t, 409, "IDEMPOTENCY_KEY_IN_FLIGHT")
				time.Sleep(20 * time.Millisecond)
			}
			t.Error("the key stays in flight")
		})
		if n := call(t, "messages.list", `{}`).OK(t, 200).Len(); n != 1 {
			t.Errorf("%d messages", n)
		}
		var strays int
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			strays, err = db.QueryOne[int](ctx, tx, "SELECT count(*) FROM stray_blobs")
			return err
		})
		if err != nil || strays != 0 {
			t.Errorf("%d strays, %v", strays, err)
		}
	})
}
