package message_test

import (
	"fmt"
	"testing"
	"time"

	"frontdesk/internal/apptest"
)

// What an inbox asks for: unread, snoozed, of a customer, with the latest message.
func TestThreadsOfAnInbox(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		first := draft(t, call, `"to": "ada@example.com", "subject": "One", "text": "Dear Ada,\n\nhello.\n> quoted"`)
		second := draft(t, call, `"to": "bob@example.com", "subject": "Two", "text": "First"`)
		answer := draft(t, call, fmt.Sprintf(`"to": "bob@example.com", "subject": "Re: Two", "text": "Second", `+
			`"inReplyToId": %q`, second.Text("id")))
		call(t, "threads.update", inThread(first, fmt.Sprintf(`, "unread": true, "snoozedUntil": %q`,
			a.Clock.Now().Add(time.Hour)))).OK(t, 200)
		for filter, want := range map[string]string{
			`"unread": true`: "One", `"unread": false`: "Two", `"snoozed": true`: "One", `"snoozed": false`: "Two",
		} {
			rows := call(t, "threads.list", `{`+filter+`}`).OK(t, 200)
			if rows.Len() != 1 || rows.Text("0.subject") != want || rows.At("0").Has("lastMessage") {
				t.Errorf("%s: %s", filter, rows)
			}
		}
		rows := call(t, "threads.list", `{"include": ["lastMessage"], "sortBy": "createdAt", "sortOrder": "asc"}`).
			OK(t, 200)
		rows.Same("0.lastMessage.preview", "Dear Ada, hello.")
		rows.Same("0.lastMessage.status", "draft")
		rows.Same("0.lastMessage.to.0", "ada@example.com")
		rows.Same("1.lastMessage.preview", "Second")
		rows.Same("1.lastMessage.id", answer.Text("id"))
	})
}
