package contact_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// Mail to a person loses the person and keeps everybody else. Unsent mail is
// never sent.
func TestEraseMessages(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		post := func(path, body string) apptest.Value {
			t.Helper()
			return a.SendREST(t, a.Key, "POST", path, body, "Idempotency-Key", path+body).OK(t, 201)
		}
		file := a.UploadForm(t, a.Key, "/v1/files",
			apptest.Part{Name: "file", FileName: "letter.txt", Text: "Dear"}).OK(t, 201).Text("id")
		// Written before anybody knew whose address it was.
		early := post("/v1/messages",
			fmt.Sprintf(`{"to": ["XANTIPPE@example.com", "plato@example.com"], "cc": "xantippe@example.com.au", `+
				`"replyTo": `+
				`"xantippe@example.com", "subject": "Dear Xantippe", "html": "<b>Xantippe</b>", "fileIds": [%q]}`,
				file))
		contact := post("/v1/contacts",
			`{"firstName": "Xantippe", "emails": [{"email": "xantippe@example.com"}]}`).ID("id")
		sent := post("/v1/messages", `{"to": "xantippe@example.com", "subject": "Hello Xantippe", "text": "Xantippe"}`)
		named := post("/v1/messages",
			fmt.Sprintf(`{"to": "plato@example.com", "subject": "About Xantippe", "contactId": %q, "draft": true}`,
				contact))
		post("/v1/messages/"+named.Text("id")+"/attachments",
			fmt.Sprintf(`{"fileId": %q, "fileName": "Xantippe.txt"}`, file))
		gone := post("/v1/messages", `{"to": "xantippe@example.com", "subject": "Never mind, Xantippe", "draft": true}`)
		a.SendREST(t, a.Key, "DELETE", "/v1/messages/"+gone.Text("id"), "").OK(t, 204)
		other := post("/v1/messages", `{"to": "plato@example.com", "subject": "Diotima", "text": "Diotima"}`)
		// One was sent, and the mail system reported on it.
		a.SendREST(t, a.Key, "POST", "/v1/messages/"+early.Text("id")+"/cancel", "").OK(t, 200)
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if a.SendREST(t, a.Key, "GET", "/v1/messages?status=sent", "").OK(t, 200).Len() == 2 {
				break
			}
			if time.Now().After(end) {
				t.Fatal("nothing was sent")
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := a.Jobs.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		post("/v1/messages", `{"to": "xantippe@example.com", "subject": "One more, Xantippe"}`) // still queued
		others, _ := found(t, a, "Diotima")

		out := a.AsOperator(t, "contacts.erase", "contact", contact, fmt.Sprintf(`{"id": %q}`, contact))
		out.Same("rows.messages", 5)
		n, where := found(t, a, "Xantippe")
		// another address with the same beginning
		if left := strings.Join(where, " "); left != "messages.cc_addresses messages.search" {
			t.Errorf("still in %d: %v", n, left)
		}
		if n, _ := found(t, a, "Diotima"); n != others {
			t.Errorf("somebody else lost %d of %d values", others-n, others)
		}
		get := func(v apptest.Value) apptest.Value {
			return a.SendREST(t, a.Key, "GET", "/v1/messages/"+v.Text("id"), "").OK(t, 200)
		}
		first := get(early)
		first.Same("to.0", "erased@erased.invalid")
		first.Same("to.1", "plato@example.com")
		first.Same("subject", "Message with an erased contact")
		if !first.At("text").Null() || !first.At("html").Null() || !first.At("replyTo").Null() {
			t.Errorf("the first: %s", first)
		}
		get(sent).Same("status", "sent")
		get(named).Same("status", "canceled")
		get(named).Same("to.0", "plato@example.com")
		get(other).Same("subject", "Diotima")
		if n := a.SendREST(t, a.Key, "GET", "/v1/messages?status=queued", "").OK(t, 200).Len(); n != 0 {
			t.Errorf("%d would still leave", n)
		}
		if n := a.SendREST(t, a.Key, "GET", "/v1/messages?query=erased", "").OK(t, 200).Len(); n != 4 {
			t.Errorf("%d are found", n)
		}
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			jobs, err := db.QueryOne[int](ctx, tx, `
				SELECT count(*)
				FROM jobs
				WHERE kind = 'message.deliver' AND state = 'ready'`)
			if jobs != 0 {
				t.Errorf("%d jobs", jobs)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.ToLower(a.Logs.String()), "xantippe") {
			t.Error("the log tells of the person")
		}
	})
}
