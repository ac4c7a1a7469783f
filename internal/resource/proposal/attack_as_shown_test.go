package proposal_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// plan proposes steps with the tenant's key.
func plan(t testing.TB, a *apptest.App, steps ...string) apptest.Result {
	t.Helper()
	return a.SendREST(t, a.Key, "POST", "/v1/proposals", `{"title": "x", "steps": [`+strings.Join(steps, ",")+`]}`)
}

// ended waits for the end of a proposal that is carried out in the background.
func ended(t testing.TB, a *apptest.App, proposal string) apptest.Value {
	t.Helper()
	for range 300 {
		v := person(t, a, "proposals.get", fmt.Sprintf(`{"id": %q}`, proposal)).OK(t, 200)
		if s := v.Text("status"); s != "executing" && s != "approved" && s != "planned" && s != "pending" {
			return v
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the proposal did not come to an end")
	return apptest.Value{}
}

// A value that only the outside can give cannot be approved, so no step may take one.
func TestAttackAnswerFromOutside(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		hook := a.SendREST(t, a.Key, "POST", "/v1/webhooks",
			`{"url": "https://example.com/h", "events": ["task.created"]}`).
			OK(t, 201).Text("id")
		bob := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"lastName": "Harmless"}`).OK(t, 201).Text("id")
		r := plan(t, a, fmt.Sprintf(`{"operation": "webhooks.test", "input": {"id": %q}, "saveAs": "t"}`, hook),
			fmt.Sprintf(`{"operation": "contacts.get", "input": {"id": %q}, "saveAs": "c"}`, bob),
			`{"operation": "messages.create", "input": {"to": "{{ t.responseBody | default: \"bob@known.example\" }}",
				"subject": "x", "text": "Dear {{ c.lastName }}"}}`)
		v := r.Refused(t, 400, "VALIDATION_ERROR")
		if s := v.String(); !strings.Contains(s, "webhooks.test") || !strings.Contains(s, `"to"`) {
			t.Errorf("%s", s)
		}
	})
}

// Somebody changes a row between two steps of a plan that reaches outside: what was shown
// is done, or nothing from that step on.
func TestAttackBetweenSteps(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		bob := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"lastName": "Harmless"}`).OK(t, 201).Text("id")
		task := a.SendREST(t, a.Key, "POST", "/v1/tasks", `{"title": "Before"}`).OK(t, 201).Text("id")
		change := func() {}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			change()
			_, _ = io.WriteString(w, "ok")
		}))
		defer server.Close()
		hook := a.SendREST(t, a.Key, "POST", "/v1/webhooks", fmt.Sprintf(`{"url": %q, "events": ["task.created"]}`,
			server.URL)).OK(t, 201).Text("id")
		test := fmt.Sprintf(`{"operation": "webhooks.test", "input": {"id": %q}}`, hook)
		execute := func(p apptest.Value) apptest.Value {
			t.Helper()
			a.SendREST(t, a.Key, "POST", "/v1/proposals/"+p.Text("id")+"/execute", "").OK(t, 200)
			return ended(t, a, p.Text("id"))
		}

		// The words of a mail, through a placeholder.
		p := plan(t, a, test, fmt.Sprintf(`{"operation": "contacts.get", "input": {"id": %q}, "saveAs": "c"}`, bob),
			`{"operation": "messages.create", "input": {"to": "bob@known.example", "subject": "x", "text":
				"Dear {{ c.lastName }}"}}`).OK(t, 201)
		change = func() {
			a.SendREST(t, a.Key, "PATCH", "/v1/contacts/"+bob, `{"lastName": "send 10,000 to IBAN X"}`).OK(t, 200)
		}
		v := execute(p)
		v.Same("status", "stale")
		if n := count(t, a, "messages", "TRUE"); n != 0 {
			t.Errorf("%d messages", n)
		}
		if v.At("steps.0.completedAt").Null() || !v.At("steps.2.completedAt").Null() ||
			!v.At("steps.2.startedAt").Null() || !strings.Contains(v.At("difference").String(), "Harmless") {
			t.Errorf("%s", v)
		}

		// A row that a later step changes without a placeholder.
		p = plan(t, a, test, fmt.Sprintf(`{"operation": "tasks.update", "input": {"id": %q, "title": "After"}}`, task)).
			OK(t, 201)
		change = func() { a.SendREST(t, a.Key, "PATCH", "/v1/tasks/"+task, `{"title": "Other"}`).OK(t, 200) }
		execute(p).Same("status", "stale")
		a.SendREST(t, a.Key, "GET", "/v1/tasks/"+task, "").OK(t, 200).Same("title", "Other")

		// Nothing changes: everything is done, and a row that the steps made is the same one.
		change = func() {}
		p = plan(t, a, test, `{"operation": "contacts.create", "input": {"lastName": "New"}, "saveAs": "n"}`,
			`{"operation": "tasks.create", "input": {"title": "Call {{ n.lastName }}", "contactId": "{{ n.id }}"}}`).
			OK(t, 201)
		v = execute(p)
		v.Same("status", "executed")
		v.Same("steps.2.result.contactId", v.Text("steps.1.result.id"))
	})
}

// What an effect carries without showing it must not have changed either.
func TestAttackCarriedAlong(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		robot := a.SendREST(t, a.Key, "POST", "/v1/automations",
			`{"name": "Harmless", "trigger": {"kind": "manual"}, "steps":
			[{"operation": "tasks.create", "input": {"title": "Harmless"}}]}`).OK(t, 201).Text("id")
		p := plan(t, a, fmt.Sprintf(`{"operation": "automations.run", "input": {"id": %q}}`, robot)).OK(t, 201)
		a.SendREST(t, a.Key, "PATCH", "/v1/automations/"+robot, `{"steps": [{"operation": "messages.create", "input":
			{"to": "eve@example.com", "subject": "x", "text": "everything"}}]}`).OK(t, 200)
		a.SendREST(t, a.Key, "POST", "/v1/proposals/"+p.Text("id")+"/execute", "").Refused(t, 409, "PROPOSAL_STALE")

		customer := a.SendREST(t, a.Key, "POST", "/v1/customers", `{"name": "C"}`).OK(t, 201).Text("id")
		invoice := a.SendREST(t, a.Key, "POST", "/v1/invoices",
			fmt.Sprintf(`{"customerId": %q, "currency": "eur", "lineItems":
			[{"description": "x", "quantity": "1", "unitAmountCents": 10000}]}`, customer)).OK(t, 201).Text("id")
		a.SendREST(t, a.Key, "POST", "/v1/invoices/"+invoice+"/issue", "").OK(t, 200)
		p = plan(t, a, fmt.Sprintf(`{"operation": "messages.create", "input": {"to": "c@example.com", "subject": "x",
			"text": "x", "invoiceIds": [%q]}}`, invoice)).OK(t, 201)
		a.SendREST(t, a.Key, "POST", "/v1/invoices/"+invoice+"/payments", `{"amountCents": 100}`, "Idempotency-Key",
			"k").
			OK(t, 201)
		a.SendREST(t, a.Key, "POST", "/v1/proposals/"+p.Text("id")+"/execute", "").Refused(t, 409, "PROPOSAL_STALE")
	})
}

// Operations that evaluate what the caller wrote are not rehearsed while others wait.
func TestAttackEvaluatingSteps(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		robot := a.SendREST(t, a.Key, "POST", "/v1/automations", `{"name": "R", "trigger": {"kind": "manual"}, "steps":
			[{"operation": "tasks.create", "input": {"title": "T"}}]}`).OK(t, 201).Text("id")
		template := a.SendREST(t, a.Key, "POST", "/v1/email-templates", `{"name": "T", "subject": "x", "body": "y"}`).
			OK(t, 201).Text("id")
		for _, step := range []string{
			fmt.Sprintf(`{"operation": "automations.test", "input": {"id": %q}}`, robot),
			`{"operation": "automations.preview", "input": {"trigger": {"kind": "manual"}, "steps":
				[{"operation": "tasks.create", "input": {"title": "T"}}]}}`,
			fmt.Sprintf(`{"operation": "email_templates.preview", "input": {"id": %q}}`, template),
		} {
			if s := plan(t, a, step).Refused(t, 400, "VALIDATION_ERROR").String(); strings.Contains(s,
				"for automations") {
				t.Errorf("%s", s)
			}
		}
		s := plan(t, a, `{"operation": "nothing.create", "input": {}}`).Refused(t, 400, "VALIDATION_ERROR").String()
		if strings.Contains(s, "automations") {
			t.Errorf("%s", s)
		}
	})
}

// strictHold limits rehearsals as a service does that is not tested.
var strictHold = app.Extra{DB: func(o *db.Options) { o.MaxHold = 0 }}

// A rehearsal that takes long is cut off, and nothing of it stays.
func TestAttackSlowRehearsal(t *testing.T) {
	a := apptest.Start(t, db.SQLite, strictHold)
	err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		for _, slow := range []string{
			"CREATE TABLE digits (n INTEGER)",
			"INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
			`CREATE TRIGGER slow AFTER INSERT ON tasks WHEN new.title = 'slow' BEGIN
				SELECT count(*) FROM digits a, digits b, digits c, digits d, digits e, digits f, digits g, digits h,
					digits i, digits j, digits k; END`,
		} {
			if _, err := db.Exec(ctx, tx, slow); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a.DB.TakeLongestHold()
	began := time.Now()
	plan(t, a, `{"operation": "tasks.create", "input": {"title": "T"}}`,
		`{"operation": "tasks.create", "input": {"title": "slow"}}`).Refused(t, 409, "PROPOSAL_TOO_SLOW")
	if held := a.DB.TakeLongestHold(); held > maxWait {
		t.Errorf("held for %v of %v", held, time.Since(began))
	}
	if n := count(t, a, "tasks", "TRUE") + count(t, a, "proposals", "TRUE"); n != 0 {
		t.Errorf("%d rows stay", n)
	}
	plan(t, a, `{"operation": "tasks.create", "input": {"title": "T"}}`).OK(t, 201)
}
