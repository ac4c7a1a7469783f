package automation_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/fault"
)

// An answer that is too large to show is still available to later steps; one
// with a secret is kept nowhere.
func TestOutputs(t *testing.T) {
	p := &trouble{}
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		p.say(func(n int64) error {
			if n == 2 { // the saved answer is read again
				return fault.Unavailable.New()
			}
			return nil
		})
		v := automate(t, a, a.Key,
			fmt.Sprintf(`{"name": "x", "trigger": {"kind": "manual"}, "steps": [{"operation": "tasks.trouble",
				"input": {"text": %q}, "saveAs": "long"},
			{"operation": "email_templates.create", "input": {"name": "x", "subject": "x", "bodyFormat": "html",
				"body": "{{ long.text }}{{ long.text }}"}, "saveAs": "longer"},
			{"operation": "tasks.trouble", "input": {"text": "x"}},
			{"operation": "email_templates.create", "input": {"name": "x", "subject": "x", "bodyFormat": "html",
				"body": "{{ longer.body }}"}}]}`, strings.Repeat("long ", 10000)))
		executionRun(t, a, v, `{}`)
		e := ends(t, a, v, "succeeded", "")
		e.Same("steps.0.outputOmitted", false)
		e.Same("steps.1.outputOmitted", true) // twice as long
		e.Same("steps.1.inputOmitted", true)
		e.Same("steps.2.attempts", 2)
		if n := count(t, a, "email_templates", "length(body) = 100000"); n != 2 {
			t.Errorf("%d templates", n)
		}

		file := a.UploadForm(t, a.Key, "/v1/files",
			apptest.Part{Name: "file", FileName: "letter.txt", Text: "Dear Ada"}).OK(t, 201).Text("id")
		link := automate(t, a, a.Key,
			fmt.Sprintf(`{"name": "x", "trigger": {"kind": "manual"}, "steps": [{"operation": `+
				`"files.access_links.create", `+
				`"input": {"id": %q}}]}`, file))
		executionRun(t, a, link, `{}`)
		e = ends(t, a, link, "succeeded", "")
		e.Same("steps.0.outputOmitted", true)
		if !e.At("steps.0.output").Null() || count(t, a, "file_access_links", "TRUE") != 1 {
			t.Errorf("%v", e)
		}

		// Values that make an input too long fail before the call.
		huge := automate(t, a, a.Key,
			`{"name": "x", "trigger": {"kind": "manual"}, "steps": [{"operation": "tasks.create", "input": {"title": "`+
				strings.Repeat("{{ input.text }}", 300)+`"}}]}`)
		executionRun(t, a, huge, `{"input": {"text": "`+strings.Repeat("x", 5000)+`"}}`)
		ends(t, a, huge, "failed", "longer than").Same("steps.0.error.code", "AUTOMATION_VALUE_MISSING")
	}, p.extra())
}

// A rehearsal is bounded, for however many events and steps: each here would
// have an input of almost a megabyte.
func TestRehearsalIsBounded(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		steps := `{"operation": "tasks.create", "input": {"title": "{{ event.data.firstName }}"}}` +
			strings.Repeat(`, {"operation": "tasks.create", "input": {"title": "x", "description": "{{ `+
				`event.data.notes }}{{ `+
				`event.data.notes }}{{ event.data.notes }}{{ event.data.notes }}"}}`, 15) +
			strings.Repeat(`, {"operation": "tasks.create", "input": {"title": "`+
				strings.Repeat("{{ event.data.notes }}", 90)+
				`"}}`, 4)
		v := automate(t, a, a.Key,
			`{"name": "x", "trigger": {"kind": "event", "event": "contact.created"}, "steps": [`+steps+`]}`)
		for range 20 {
			a.SendREST(t, a.Key, "POST", "/v1/contacts",
				`{"firstName": "Ada", "notes": "`+strings.Repeat("x", 10_000)+`"}`).OK(t, 201)
		}
		r := a.SendREST(t, a.Key, "POST", "/v1/automations/"+string(v)+"/test", `{"limit": 20}`)
		got := r.OK(t, 200)
		got.Same("runs.0.steps.0.input.title", "Ada")
		got.Same("runs.0.steps.0.inputOmitted", false)
		got.Same("runs.0.steps.16.inputOmitted", true) // 900 KB
		got.Same("runs.19.steps.1.inputOmitted", true) // 40 KB, after many others
		if got.At("runs").Len() != 20 || !got.At("runs.0.steps.16.input").Null() || len(r.Body) > 3<<20 {
			t.Errorf("%d runs in %d bytes", got.At("runs").Len(), len(r.Body))
		}
		a.SendREST(t, a.Key, "POST", "/v1/automations/"+string(v)+"/test",
			`{"input": {"text": "`+strings.Repeat("x", 70_000)+`"}}`).Refused(t, 400, "VALIDATION_ERROR")
	})
}
