package invoice_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/clock"
)

func TestReminderRules(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		rule := func(fields string) apptest.Result {
			return call(t, "businesses.invoice_reminders.create", ref(string(a.Business), fields))
		}
		list := func() int {
			return call(t, "businesses.invoice_reminders.list", ref(string(a.Business))).OK(t, 200).Len()
		}
		if list() != 0 {
			t.Error("a business reminds by default")
		}
		v := rule(`"daysAfterDue": -3`).OK(t, 201)
		v.Same("daysAfterDue", -3)
		v.Same("businessId", a.Business)
		one := `"invoiceReminderId": "` + v.Text("id") + `"`
		get := func(business string) apptest.Result {
			return call(t, "businesses.invoice_reminders.get", ref(business, one))
		}
		if got := get(string(a.Business)).OK(t, 200); got.String() != v.String() {
			t.Errorf("get differs from create:\n%s\n%s", got, v)
		}
		rule(`"daysAfterDue": -3`).Refused(t, 409, "INVOICE_REMINDER_EXISTS")
		for _, bad := range []string{`"daysAfterDue": -91`, `"daysAfterDue": 366`, `"daysAfterDue": "one"`,
			`"daysAfterDue": 1.5`, `"daysAfterDue": null`} {
			rule(bad).Issues(t, "daysAfterDue")
		}
		other := call(t, "businesses.create", `{"name": "Shop"}`).OK(t, 201).Text("id")
		get(other).Refused(t, 404, "NOT_FOUND")
		for i := range 9 {
			rule(fmt.Sprintf(`"daysAfterDue": %d`, i)).OK(t, 201)
		}
		rule(`"daysAfterDue": 100`).Refused(t, 409, "INVOICE_REMINDER_LIMIT_REACHED")
		call(t, "businesses.invoice_reminders.delete", ref(string(a.Business), one)).OK(t, 204)
		get(string(a.Business)).Refused(t, 404, "NOT_FOUND")
		rule(`"daysAfterDue": -3`).OK(t, 201)
		if n := list(); n != 10 {
			t.Errorf("%d rules", n)
		}
	})
}

// A reminder is sent once for each rule and invoice, only where something is
// due, and only for days that come after the rule.
func TestReminders(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		customer := call(t, "customers.create", `{"name": "Grace", "email": "grace@example.com"}`).OK(t, 201).Text("id")
		rule := func(days int) clock.Time {
			call(t, "businesses.invoice_reminders.create",
				ref(string(a.Business), fmt.Sprintf(`"daysAfterDue": %d`, days))).OK(t, 201)
			return a.Clock.Now()
		}
		rule(7)
		made := rule(-2)
		issue := func(due clock.Time, more ...string) string {
			v := newInvoice(t, call, customer, 1000, append(more, `"dueAt": "`+due.String()+`"`)...)
			call(t, "invoices.issue", ref(v)).OK(t, 200)
			return v
		}
		const day = 24 * time.Hour
		late := issue(made.Add(-7*day + time.Millisecond))
		soon := issue(made.Add(2*day + time.Millisecond))
		paidUp := issue(made.Add(-7*day + time.Millisecond))
		pay(t, call, paidUp, "all", 1000).OK(t, 201)
		voided := issue(made.Add(-7*day + time.Millisecond))
		call(t, "invoices.void", ref(voided)).OK(t, 200)
		issue(made.Add(-8 * day))                                                    // its day was before the rule
		issue(made.Add(3 * day))                                                     // its day is tomorrow
		issue(made.Add(-7*day+time.Millisecond), `"billToEmail": null`)              // nobody to write to
		newInvoice(t, call, customer, 5, `"dueAt": "`+made.Add(-7*day).String()+`"`) // a draft
		for a.Clock.Now() <= made.Add(2*time.Millisecond) {
			time.Sleep(time.Millisecond)
		}
		// However many processes look at once, and after a restart.
		apptest.RunAtOnce(4, func(int) {
			if err := a.App.Invoices.SendDueReminders(t.Context()); err != nil {
				t.Error(err)
			}
		})
		if err := a.App.Invoices.SendDueReminders(t.Context()); err != nil {
			t.Error(err)
		}
		mail := call(t, "messages.list", `{"query": "Reminder:", "sortOrder": "asc"}`).OK(t, 200)
		if mail.Len() != 2 {
			t.Fatalf("%d reminders: %s", mail.Len(), mail)
		}
		text := mail.Text("0.text") + mail.Text("1.text")
		for _, v := range []string{late, soon} {
			number := call(t, "invoices.get", ref(v)).OK(t, 200).Text("invoiceNumber")
			if !strings.Contains(text, number) {
				t.Errorf("no reminder of %s: %s", number, text)
			}
		}
		files := call(t, "messages.attachments.list", fmt.Sprintf(`{"id": %q}`, mail.Text("0.id"))).OK(t, 200)
		files.Same("0.contentType", "application/pdf")
		if events := a.Events(t, "invoice.reminded"); events != "invoice.reminded invoice.reminded" {
			t.Errorf("events %q", events)
		}
		call(t, "invoices.send", ref(paidUp, `"templateKey": "invoice_reminder"`)).Refused(t, 409,
			"INVOICE_TRANSITION_INVALID")
		if n := call(t, "files.list", `{}`).OK(t, 200).Len(); n != 2 {
			t.Errorf("%d files", n)
		}
	})
}
