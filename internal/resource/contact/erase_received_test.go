package contact_test

import (
	"context"
	"fmt"
	"net/smtp"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// Mail from a person loses the person and everything that came with it.
func TestEraseReceived(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		addr := a.ServeMail(t)
		to := string(a.Business) + "@frontdesk.example"
		post := func(who, text string) {
			t.Helper()
			if err := smtp.SendMail(addr, nil, who, []string{to},
				[]byte(strings.ReplaceAll(text, "\n", "\r\n"))); err != nil {
				t.Fatal(err)
			}
		}
		contact := a.SendREST(t, a.Key, "POST", "/v1/contacts",
			`{"firstName": "Xantippe", "emails": [{"email": "xantippe@example.com"}]}`).OK(t, 201).ID("id")
		post("xantippe@example.com",
			"From: Xantippe <xantippe@example.com>\nMessage-ID: <first.xantippe@example.com>\nSubject: "+
				"Xantippe\nContent-Type: multipart/mixed; boundary=b\n\n"+
				"--b\n\nXantippe\n--b\nContent-Type: image/png; name=xantippe.png\n\nx\n--b--\n")
		// kept whole
		post("xantippe@example.com",
			"From: Xantippe <xantippe@example.com>\nIn-Reply-To: <first.xantippe@example.com>\nContent-Type: "+
				"multipart/mixed\n\nXantippe\n")
		// Mail carries a domain as DNS knows it, however people write it.
		a.Door("action", a.Tenant)(t, "contacts.emails.create",
			fmt.Sprintf(`{"id": %q, "email": "xantippe@büch.example"}`, contact)).OK(t, 201)
		post("xantippe@xn--bch-hoa.example", "From: Xantippe@xn--bch-hoa.example\nSubject: Xantippe\n\nHello\n")
		if n := a.SendREST(t, a.Key, "GET", "/v1/messages?contactId="+string(contact), "").OK(t, 200).Len(); n != 3 {
			t.Errorf("%d messages are linked", n)
		}
		post("diotima@example.com", "From: diotima@example.com\nContent-Type: image/png; name=diotima.png\n\nx\n")
		// A web form writes in its own name and says where answers go.
		post("form@example.net",
			"From: form@example.net\nReply-To: Xantippe <Xantippe@Example.com>\nSubject: first\n\nHello\n")
		if n := a.SendREST(t, a.Key, "GET", "/v1/messages?query=xantippe@ex", "").OK(t, 200).Len(); n != 3 {
			t.Errorf("%d messages are found by the address", n)
		}
		// older mail has none to be found by
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, `
				UPDATE messages
				SET search = ' first form@example.net'
				WHERE organization_id = $1 AND subject = 'first'`, a.Org)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		post("form@example.net",
			"From: form@example.net\nReply-To: Xantippe <Xantippe@Example.com>\nSubject: second\n\nHello\n")
		if n := a.SendREST(t, a.Key, "GET", "/v1/files", "").OK(t, 200).Len(); n != 3 {
			t.Fatalf("%d files", n)
		}
		others, _ := found(t, a, "Diotima")
		out := a.AsOperator(t, "contacts.erase", "contact", contact, fmt.Sprintf(`{"id": %q}`, contact))
		out.Same("rows.messages", 5)
		if n, where := found(t, a, "Xantippe"); n != 0 {
			t.Errorf("still in %v", where)
		}
		if n, _ := found(t, a, "Diotima"); n != others {
			t.Errorf("somebody else lost %d of %d values", others-n, others)
		}
		files := a.SendREST(t, a.Key, "GET", "/v1/files", "").OK(t, 200)
		if files.Len() != 1 {
			t.Errorf("files: %s", files)
		}
		files.Same("0.name", "diotima.png")
		if n := a.SendREST(t, a.Key, "GET", "/v1/files?query=xantippe", "").OK(t, 200).Len(); n != 0 {
			t.Errorf("%d files are found", n)
		}
		err = a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			n, err := db.QueryOne[int](ctx, tx,
				"SELECT count(*) FROM files WHERE organization_id = $1 AND deleted_at <= 1", a.Org)
			if n != 2 {
				t.Errorf("the purge takes %d files", n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
