package message_test

import (
	"fmt"
	"testing"

	"frontdesk/internal/apptest"
)

// A text that is Markdown is sent as it was written, and as HTML where it has marks.
func TestMarkdown(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, _ *apptest.App, call apptest.Door) {
		create := func(fields string) apptest.Result {
			t.Helper()
			return call(t, "messages.create",
				`{"to": "ada@example.com", "subject": "Hello", "draft": true, `+fields+`}`)
		}
		v := create(`"text": "Dear **Ada**", "markdown": true`).OK(t, 201)
		v.Same("text", "Dear **Ada**")
		v.Same("html", "<p>Dear <strong>Ada</strong></p>")
		v.Same("letterhead", false)
		ref := v.Text("id")
		change := func(fields string) apptest.Value {
			t.Helper()
			return call(t, "messages.update", fmt.Sprintf(`{"id": %q, %s}`, ref, fields)).OK(t, 200)
		}
		v = change(`"text": "Dear Ada", "markdown": true`)
		v.Same("html", nil)
		v = change(`"text": "Dear _Ada_", "markdown": true, "letterhead": true`)
		v.Same("html", "<p>Dear <em>Ada</em></p>")
		v.Same("letterhead", true)
		v = change(`"text": "Dear <Ada>", "markdown": true, "letterhead": true`)
		v.Same("html", "<p>Dear &lt;Ada&gt;</p>\n")
		create(`"text": "2 * 3 * 4", "markdown": true`).OK(t, 201).Same("html", nil)
		create(`"text": "Dear **Ada**"`).OK(t, 201).Same("html", nil)
		create(`"html": "<p>a</p>", "text": "a", "markdown": true`).Issues(t, "markdown")
		create(`"markdown": true`).Issues(t, "markdown")
		call(t, "messages.update", fmt.Sprintf(`{"id": %q, "markdown": true}`, ref)).Issues(t, "markdown")
	})
}
