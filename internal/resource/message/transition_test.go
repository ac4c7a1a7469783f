package message_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/message/messagetest"
	"frontdesk/internal/resource/template"
)

const (
	notDraft   = "MESSAGE_NOT_DRAFT"
	transition = "MESSAGE_TRANSITION_INVALID"
)

// Moves through every door. Nothing is sent in the meantime: no job runs.
func TestMessageMoves(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		file := a.UploadForm(t, a.Key, "/v1/files", apptest.Part{Name: "file", FileName: "a.txt", Text: "a"}).
			OK(t, 201).Text("id")
		v := draft(t, call, `"to": "ada@example.com", "subject": "x"`)
		call(t, "messages.cancel", ref(v)).Refused(t, 409, transition)
		call(t, "messages.send", ref(v)).OK(t, 200).Same("status", "queued")
		call(t, "messages.send", ref(v)).Refused(t, 409, transition)
		call(t, "messages.update", with(v, `"subject": "y"`)).Refused(t, 409, notDraft)
		call(t, "messages.delete", ref(v)).Refused(t, 409, notDraft)
		call(t, "messages.attachments.create", with(v, fmt.Sprintf(`"fileId": %q`, file))).Refused(t, 409, notDraft)
		call(t, "messages.cancel", ref(v)).OK(t, 200).Same("status", "canceled")
		for _, op := range []string{"cancel", "send"} {
			call(t, "messages."+op, ref(v)).Refused(t, 409, transition)
		}
		soon := a.Clock.Now().Add(time.Hour).String()
		later := draft(t, call, fmt.Sprintf(`"to": "ada@example.com", "subject": "x", "scheduledAt": %q`, soon))
		s := call(t, "messages.send", ref(later)).OK(t, 200)
		s.Same("status", "scheduled")
		s.Same("scheduledAt", soon)
		call(t, "messages.cancel", ref(later)).OK(t, 200).Same("status", "canceled")
		past := call(t, "messages.create", `{"to": "ada@example.com", "subject": "x",
			"scheduledAt": "2020-01-01T00:00:00Z"}`).OK(t, 201)
		past.Same("status", "queued")
		want := "message.created message.queued message.canceled " +
			"message.created message.scheduled message.canceled message.created"
		if events := a.Events(t, "message."); events != want {
			t.Errorf("events %q", events)
		}
		// A canceled message no longer has a job.
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			n, err := db.QueryOne[int](ctx, tx, `
				SELECT count(*)
				FROM jobs
				WHERE organization_id = $1 AND kind = 'message.deliver' AND state = 'ready'`, a.Org)
			if n != 1 {
				t.Errorf("%d jobs", n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// A message is canceled or sent, never both.
func TestCancelRace(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		var canceled atomic.Int64
		apptest.RunAtOnce(12, func(i int) {
			v := call(t, "messages.create", fmt.Sprintf(`{"to": "ada@example.com", "subject": "n%d",
				"text": "x"}`, i)).OK(t, 201)
			time.Sleep(time.Duration(i) * 3 * time.Millisecond)
			if answer := call(t, "messages.cancel", ref(v)); answer.Status == 200 {
				canceled.Add(1)
				return
			} else if answer.Code() != transition {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
			reaches(t, call, v, "sent")
		})
		time.Sleep(200 * time.Millisecond)
		if n := len(r.Accepted()); n+int(canceled.Load()) != 12 {
			t.Errorf("%d sent, %d canceled", n, canceled.Load())
		}
		t.Logf("%d of 12 were canceled", canceled.Load())
	})
}

func TestMessageAttachments(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		upload := func(name, text string) string {
			return a.UploadForm(t, a.Key, "/v1/files",
				apptest.Part{Name: "file", FileName: name, Text: text}).OK(t, 201).Text("id")
		}
		first, second := upload("first.txt", "one"), upload("second.txt", "second")
		v := draft(t, call, fmt.Sprintf(`"to": "ada@example.com", "subject": "x", "fileIds": [%q, %q]`, first, first))
		if v.At("fileIds").Len() != 1 {
			t.Errorf("fileIds: %s", v)
		}
		list := call(t, "messages.attachments.list", ref(v)).OK(t, 200)
		if list.Len() != 1 {
			t.Fatalf("attachments: %s", list)
		}
		list.Same("0.fileId", first)
		list.Same("0.fileName", "first.txt")
		list.Same("0.contentType", "text/plain; charset=utf-8")
		list.Same("0.sizeBytes", 3)
		list.Same("0.messageId", v.Text("id"))
		added := call(t, "messages.attachments.create", with(v, fmt.Sprintf(`"fileId": %q,
			"fileName": "../Renamed.txt"`, second))).OK(t, 201)
		added.Same("fileName", "Renamed.txt")
		at := with(v, fmt.Sprintf(`"attachmentId": %q`, added.Text("id")))
		if got := call(t, "messages.attachments.get", at).OK(t, 200); got.String() != added.String() {
			t.Errorf("get differs from create:\n%s\n%s", got, added)
		}
		if ids := call(t, "messages.get", ref(v)).OK(t, 200).At("fileIds"); ids.Len() != 2 {
			t.Errorf("fileIds: %v", ids)
		}
		call(t, "messages.attachments.delete", at).OK(t, 204)
		call(t, "messages.attachments.delete", at).Refused(t, 404, "NOT_FOUND")
		call(t, "messages.attachments.get", at).Refused(t, 404, "NOT_FOUND")
		changed := call(t, "messages.update", with(v, fmt.Sprintf(`"fileIds": [%q]`, second))).OK(t, 200)
		changed.Same("fileIds.0", second)
		if n := call(t, "messages.attachments.list", ref(v)).OK(t, 200).Len(); n != 1 {
			t.Errorf("%d attachments", n)
		}
		call(t, "messages.attachments.create", with(v, `"fileId": "nope"`)).Issues(t, "fileId")
		call(t, "messages.attachments.create", with(v, fmt.Sprintf(`"fileId": %q`, id.New()))).Issues(t, "fileId")
		call(t, "messages.attachments.create", with(v, fmt.Sprintf(`"fileId": %q,
			"fileName": "a\r\nb"`, first))).Issues(t, "fileName")
		large := strings.Repeat("x", 7<<20)
		l := []string{upload("a", large), upload("b", large), upload("c", large)}
		call(t, "messages.create", fmt.Sprintf(`{"to": "ada@example.com", "subject": "x", "fileIds": [%q, %q,
			%q]}`, l[0], l[1], l[2])).Refused(t, 422, "MESSAGE_TOO_LARGE")
		call(t, "messages.update", with(v, fmt.Sprintf(`"fileIds": [%q, %q]`, l[0], l[1]))).OK(t, 200)
		call(t, "messages.attachments.create", with(v, fmt.Sprintf(`"fileId": %q`, l[2]))).
			Refused(t, 422, "MESSAGE_TOO_LARGE")
		want := "message.created message.attachment.created message.attachment.deleted message.updated message.updated"
		if events := a.Events(t, "message."); events != want {
			t.Errorf("events %q", events)
		}
	})
}

// If a file is deleted while its message waits, the message fails and says so.
func TestAttachmentGone(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		f := a.UploadForm(t, a.Key, "/v1/files",
			apptest.Part{Name: "file", FileName: "a.txt", Text: "a"}).OK(t, 201).Text("id")
		v := call(t, "messages.create", fmt.Sprintf(`{"to": "ada@example.com", "subject": "x",
			"fileIds": [%q]}`, f)).OK(t, 201)
		call(t, "files.delete", fmt.Sprintf(`{"id": %q}`, f)).OK(t, 204)
		start(t, a)
		if failed := reaches(t, call, v, "failed"); !strings.Contains(failed.Text("errorMessage"),
			`"a.txt" was deleted`) {
			t.Errorf("failed: %s", failed)
		}
	})
}

func TestMessageContacts(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		contact := func(name, email string) string {
			return call(t, "contacts.create", fmt.Sprintf(`{"firstName": %q,
				"emails": [{"email": %q}]}`, name, email)).OK(t, 201).Text("id")
		}
		ada, grace := contact("Ada", "ADA@example.com"), contact("Grace", "grace@example.com")
		gone := contact("Gone", "gone@example.com")
		call(t, "contacts.delete", fmt.Sprintf(`{"id": %q}`, gone)).OK(t, 204)
		v := draft(t, call, `"to": ["ada@example.com", "gone@example.com"], "cc": "Grace@example.com",
			"bcc": "ada@example.com", "subject": "x"`)
		roles := func() string {
			rows := call(t, "messages.contacts.list", with(v, `"sortOrder": "asc"`)).OK(t, 200)
			var out []string
			for i := range rows.Len() {
				name := map[string]string{ada: "ada", grace: "grace"}[rows.Text(fmt.Sprintf("%d.contactId", i))]
				out = append(out, name+":"+rows.Text(fmt.Sprintf("%d.role", i)))
			}
			return strings.Join(out, " ")
		}
		if got := roles(); got != "ada:to ada:bcc grace:cc" {
			t.Errorf("linked: %s", got)
		}
		add := func(fields string) apptest.Result { return call(t, "messages.contacts.create", with(v, fields)) }
		mentioned := add(fmt.Sprintf(`"contactId": %q`, grace)).OK(t, 201)
		mentioned.Same("role", "mentioned")
		mentioned.Same("messageId", v.Text("id"))
		add(fmt.Sprintf(`"contactId": %q, "role": "mentioned"`, grace)).Refused(t, 409, "MESSAGE_CONTACT_EXISTS")
		add(fmt.Sprintf(`"contactId": %q, "role": "to"`, ada)).Refused(t, 409, "MESSAGE_CONTACT_EXISTS")
		add(fmt.Sprintf(`"contactId": %q, "role": "boss"`, ada)).Issues(t, "role")
		add(fmt.Sprintf(`"contactId": %q`, gone)).Issues(t, "contactId")
		add(fmt.Sprintf(`"contactId": %q`, id.New())).Issues(t, "contactId")
		call(t, "messages.update", with(v, `"to": "grace@example.com", "cc": [], "bcc": null`)).OK(t, 200)
		if got := roles(); got != "grace:mentioned grace:to" {
			t.Errorf("linked again: %s", got)
		}
		at := with(v, fmt.Sprintf(`"messageContactId": %q`, mentioned.Text("id")))
		call(t, "messages.contacts.delete", at).OK(t, 204)
		call(t, "messages.contacts.delete", at).Refused(t, 404, "NOT_FOUND")
		want := "message.created message.contact.created message.updated message.contact.deleted"
		if events := a.Events(t, "message."); events != want {
			t.Errorf("events %q", events)
		}
		// Changes other than addresses change no link, and bring none back.
		links := func() apptest.Value { return call(t, "messages.contacts.list", ref(v)).OK(t, 200) }
		call(t, "messages.update",
			with(v, `"to": ["ada@example.com"], "cc": ["grace@example.com"], "bcc": []`)).OK(t, 200)
		call(t, "messages.contacts.delete",
			with(v, fmt.Sprintf(`"messageContactId": %q`, links().Text("0.id")))).OK(t, 204)
		before := links()
		call(t, "messages.update", with(v, `"subject": "y"`)).OK(t, 200)
		if after := links(); after.String() != before.String() || after.Len() != 1 {
			t.Errorf("the links %s became %s", before, after)
		}
	})
}

// Another resource sends a mail with a file, in its own transaction.
func TestPost(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		ctx := t.Context()
		saved, err := a.Files.Save(ctx, a.Org, "INV-000001.pdf", strings.NewReader("%PDF-1.7"))
		if err != nil {
			t.Fatal(err)
		}
		var v *message.Message
		err = a.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			now := a.Clock.Now()
			f, err := saved.Insert(ctx, tx, now, nil)
			if err != nil {
				return err
			}
			v, err = a.Messages.Post(ctx, tx, event.Event{Organization: a.Org, At: now}.BySystem(),
				message.Outgoing{To: []string{"ada@example.com"},
					Content: &template.Rendered{Subject: "Invoice", HTML: "<p>Hello</p>",
						Text: "Hello"}, Files: []*file.File{f}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		seen := call(t, "messages.get", fmt.Sprintf(`{"id": %q}`, v.ID)).OK(t, 200)
		sent := reaches(t, call, seen, "sent")
		if sent.At("fileIds").Len() != 1 || sent.Text("subject") != "Invoice" {
			t.Errorf("sent: %s", sent)
		}
		if got := r.Accepted(); len(got) != 1 || !strings.Contains(string(got[0].Content), "INV-000001.pdf") {
			t.Errorf("the relay has %d", len(got))
		}
		if events := a.Events(t, "message."); events != "message.created message.sent" {
			t.Errorf("events %q", events)
		}
		err = a.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, err := a.Messages.Post(ctx, tx, event.Event{Organization: a.Org, At: a.Clock.Now()}.BySystem(),
				message.Outgoing{To: []string{"ada@example.com\r\nBcc: eve@example.com"},
					Content: &template.Rendered{Subject: "x"}})
			return err
		})
		if err == nil {
			t.Error("a line end was taken for an address")
		}
	})
}

// A message that is taken out of the queue can become a draft again, and be sent once more.
func TestUnschedule(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		v := call(t, "messages.create", fmt.Sprintf(`{"to": "ada@example.com", "subject": "Later", "text": "x",
			"scheduledAt": %q}`, a.Clock.Now().Add(time.Hour))).OK(t, 201)
		back := call(t, "messages.unschedule", ref(v)).OK(t, 200)
		back.Same("status", "draft")
		if !back.At("scheduledAt").Null() {
			t.Errorf("it is still scheduled: %s", back)
		}
		call(t, "messages.unschedule", ref(v)).Refused(t, 409, transition)
		waits := call(t, "messages.create", `{"to": "ada@example.com", "subject": "Now", "text": "x"}`).OK(t, 201)
		call(t, "messages.unschedule", ref(waits)).Refused(t, 409,
			transition)
		call(t, "messages.update", fmt.Sprintf(`{"id": %q, "text": "y"}`, v.Text("id"))).OK(t, 200)
		call(t, "messages.send", ref(v)).OK(t, 200)
		reaches(t, call, v, "sent")
		reaches(t, call, waits, "sent")
		if n := len(r.Accepted()); n != 2 {
			t.Errorf("they were sent %d times", n)
		}
	})
}
