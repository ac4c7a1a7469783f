// Package mail is the room of mail: the inbox with its threads, the outbox, and
// writing. Start reading at threads (inbox.go), then thread.go and write.go.
package mail

import (
	"embed"

	"frontdesk/internal/door/desk"
)

//go:embed *.html
var pages embed.FS

//go:embed write.js
var writeScript []byte

var _ = desk.AddTemplates(pages, "*.html") && desk.AddScript("write.js", writeScript)

// Join adds the room to the desk.
func Join(d *desk.Desk) {
	d.AddNouns(threads)
	d.Add(
		desk.Route{Pattern: "GET /inbox/new", Show: compose},
		desk.Route{Pattern: "POST /inbox/new", Show: send, Streams: true},
		desk.Route{Pattern: "POST /inbox/preview", Show: preview},
		desk.Route{Pattern: "GET /inbox/insert", Show: offerInsertions},
		desk.Route{Pattern: "GET /inbox/kept", Show: showKept},
		desk.Route{Pattern: "POST /inbox/{id}/reply", Show: reply, Streams: true},
		desk.Route{Pattern: "POST /inbox/{id}/change", Show: change},
		desk.Route{Pattern: "POST /inbox/{id}/contact", Show: addContact},
		desk.Route{Pattern: "POST /inbox/{id}/here", Show: here},
		desk.Route{Pattern: "POST /inbox/{id}/cancel/{message}", Show: cancel},
		desk.Route{Pattern: "POST /inbox/{id}/notes/{note}/delete", Show: removeNote},
		desk.Route{Pattern: "GET /inbox/{id}/paper/{message}", Show: paper},
	)
	d.AddPages(desk.SignedIn, desk.Pages{"GET /settings/mail": mailSettings, "POST /settings/mail": saveMailSettings})
	joinOutbox(d)
}

var _ = desk.AddCounter("inbox", func(*desk.Visit) (string, desk.Fields) {
	return "threads.list", desk.Fields{"unread": true, "status": []string{"open"}}
})

var _ = desk.AddDoneTexts(map[string]string{
	"closed": "Closed.", "opened": "Open again.", "waits": "It waits for their answer now.", "assigned": "Assigned.",
	"unassigned": "Nobody takes care of it now.", "snoozed": "Snoozed.", "awake": "It is back in the inbox.",
	"unread": "Marked as unread.", "drafted": "Draft saved. Nobody has received it.", "discarded": "Draft deleted.",
	"scheduled": "It will be sent then.", "not-sent": "Canceled. It will not be sent.",
	"known": "Added to your contacts.", "held": "Sent. It leaves in ten seconds.",
	"taken-back": "Not sent. It is a draft again.", "left": "It has already left.",
})
