package automation_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// A preview runs over the past and changes nothing.
func TestPreview(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		for i := range 25 {
			call(t, "contacts.create", fmt.Sprintf(`{"firstName": "Person %d", "tags": ["t%d"]}`, i, i%5)).OK(t, 201)
		}
		before := count(t, a, "events", "TRUE")
		preview := func(trigger, condition, more string) apptest.Result {
			return call(t, "automations.preview", fmt.Sprintf(`{"trigger": %s, "condition": %s, "steps": [{"operation":
				"tasks.create", "input": {"title": "Call {{ event.data.firstName }}"}}]%s}`, trigger, condition, more))
		}
		created := `{"kind": "event", "event": "contact.created"}`
		p := preview(created, `"\"t1\" in event.data.tags && event.data.lastName == null"`, `, "limit": 3`).OK(t, 200)
		p.Same("checked", 25)
		p.Same("matched", 5)
		p.Same("unclear", 0)
		p.Same("complete", true)
		p.Same("days.0.matched", 5)
		if p.At("runs").Len() != 3 || p.At("skipped").Len() != 3 {
			t.Errorf("%s", p)
		}
		p.Same("runs.0.steps.0.input.title", "Call Person 21")
		p.Same("skipped.0.saw.0.name", "event.data.tags")
		p.Same("skipped.0.saw.0.value.0", "t4")
		p.Same("skipped.0.saw.1.name", "event.data.lastName")
		if n := p.At("skipped.0.saw").Len(); n != 2 || count(t, a, "events", "TRUE") != before {
			t.Errorf("it saw %d values, or wrote something", n)
		}
		p = preview(created, `"event.data.nothing.startsWith('x')"`, ``).OK(t, 200)
		p.Same("unclear", 25)
		if text := p.Text("runs.0.errorMessage"); !strings.Contains(text, "could not be evaluated") {
			t.Errorf("%s", text)
		}
		preview(created, `"1 +"`, ``).Issues(t, "condition")
		preview(`{"kind": "event", "event": "contact.exploded"}`, `null`, ``).Issues(t, "trigger.event")
		preview(created, `null`, `, "days": 31`).Issues(t, "days")
		preview(`{"kind": "manual"}`, `null`, ``).Issues(t, "steps.0.input.title")
		key, _ := a.NewKey(t, a.Tenant, "automations:read", "tasks:write")
		a.SendREST(t, key, "POST", "/v1/automations/preview", `{"trigger": `+created+`, "steps": [{"operation":
			"tasks.create", "input": {"title": "x"}}]}`).Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
	})
}

// Events older than the days that are asked for are left out, and a schedule runs
// at the times that it would have had.
func TestPreviewDays(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		steps := `"steps": [{"operation": "tasks.create", "input": {"title": "At {{ input.scheduledAt }}"}}]`
		a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Old"}`).OK(t, 201)
		a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "New"}`).OK(t, 201)
		if err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, `UPDATE events SET created_at = created_at - $2 WHERE organization_id = $1 AND
				type = 'contact.created' AND seq = (SELECT min(seq) FROM events WHERE type = 'contact.created' AND
				organization_id = $1)`, a.Org, (10 * 24 * time.Hour).Microseconds())
			return err
		}); err != nil {
			t.Fatal(err)
		}
		over := func(days int) float64 {
			p := a.SendREST(t, a.Key, "POST", "/v1/automations/preview", fmt.Sprintf(`{"trigger": {"kind": "event",
				"event": "contact.created"}, "days": %d, "steps": [{"operation": "contacts.list"}]}`, days)).OK(t, 200)
			return p.Number("checked")
		}
		if over(9) != 1 || over(11) != 2 {
			t.Errorf("%v and %v events", over(9), over(11))
		}
		p := a.SendREST(t, a.Key, "POST", "/v1/automations/preview",
			`{"trigger": {"kind": "schedule", "cron": "0 9 * * *"},
			"days": 7, `+steps+`}`).OK(t, 200)
		p.Same("matched", 7)
		p.Same("days.6.matched", 1)
		if title := p.Text("runs.0.steps.0.input.title"); !strings.Contains(title, "T09:00:00") {
			t.Errorf("%s", title)
		}
		p = a.SendREST(t, a.Key, "POST", "/v1/automations/preview",
			`{"trigger": {"kind": "schedule", "cron": "* * * * *"},
			`+steps+`}`).OK(t, 200)
		p.Same("complete", false)
	})
}
