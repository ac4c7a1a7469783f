package automation_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/fault"
)

// An answer that is too large to be shown is still there for later steps; one
// that shows a secret is kept nowhere.
func TestOutputs(t *testing.T) {
	p := &trouble{}
	apptest.Each(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		p.say(func(n int64) error {
			if n == 2 { // what was saved is read again
				return fault.Unavailable.New()
			}
			return nil
		})
		v := automate(t, a, a.Key, fmt.Sprintf(`{"name": "x", "trigger": {"kind": "manual"}, "steps": [{"operation": "tasks.trouble", "input": {"text": %q}, "saveAs": "long"},
			{"operation": "email_templates.create", "input": {"name": "x", "subject": "x", "bodyFormat": "html", "body": "{{ long.text }}{{ long.text }}"}, "saveAs": "longer"},
			{"operation": "tasks.trouble", "input": {"text": "x"}},
			{"operation": "email_templates.create", "input": {"name": "x", "subject": "x", "bodyFormat": "html", "body": "{{ longer.body }}"}}]}`, strings.Repeat("long ", 10000)))
		run(t, a, v, `{}`)
		e := ends(t, a, v, "succeeded", "")
		e.Same("steps.0.outputOmitted", false)
		e.Same("steps.1.outputOmitted", true) // twice as long
		e.Same("steps.1.inputOmitted", true)
		e.Same("steps.2.attempts", 2)
		if n := count(t, a, "email_templates", "length(body) = 100000"); n != 2 {
			t.Errorf("%d templates", n)
		}

		file := a.Upload(t, a.Key, "/v1/files", apptest.Part{Name: "file", FileName: "letter.txt", Text: "Dear Ada"}).OK(t, 201).Text("id")
		link := automate(t, a, a.Key, fmt.Sprintf(`{"name": "x", "trigger": {"kind": "manual"}, "steps": [{"operation": "files.access_links.create", "input": {"id": %q}}]}`, file))
		run(t, a, link, `{}`)
		e = ends(t, a, link, "succeeded", "")
		e.Same("steps.0.outputOmitted", true)
		if !e.At("steps.0.output").Null() || count(t, a, "file_access_links", "TRUE") != 1 {
			t.Errorf("%v", e)
		}

		// Values that would make an input too long fail before the call.
		huge := automate(t, a, a.Key, `{"name": "x", "trigger": {"kind": "manual"}, "steps": [{"operation": "tasks.create", "input": {"title": "`+strings.Repeat("{{ input.text }}", 300)+`"}}]}`)
		run(t, a, huge, `{"input": {"text": "`+strings.Repeat("x", 5000)+`"}}`)
		ends(t, a, huge, "failed", "longer than").Same("steps.0.error.code", "AUTOMATION_VALUE_MISSING")
	}, p.extra())
}
