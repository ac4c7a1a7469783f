package message_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
)

// desk is a service that sends and receives mail.
type desk struct {
	*apptest.App
	t    *testing.T
	call apptest.Door
	addr string
}

func eachDesk(t *testing.T, fn func(t *testing.T, d *desk)) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		a := apptest.Start(t, e)
		if err := a.Jobs.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := a.Jobs.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
		fn(t, &desk{a, t, a.Door("rest", a.Tenant), a.ServeMail(t)})
	})
}

// post sends mail to the service as another mail server would.
func (d *desk) post(from string, to []string, lines ...string) error {
	return smtp.SendMail(d.addr, nil, from, to, []byte(strings.Join(lines, "\r\n")+"\r\n"))
}

func (d *desk) posted(from, to string, lines ...string) {
	d.t.Helper()
	if err := d.post(from, []string{to}, lines...); err != nil {
		d.t.Fatal(err)
	}
}

// refused asserts that a mail is not accepted.
func (d *desk) refused(code int, to string, lines ...string) {
	d.t.Helper()
	var said *textproto.Error
	if err := d.post("ada@example.com", []string{to}, lines...); !errors.As(err, &said) || said.Code != code {
		d.t.Errorf("to %s: %v, want %d", to, err, code)
	}
}

// sent writes a message, waits until it was sent, and returns the mail.
func (d *desk) sent(fields string) (apptest.Value, *mail.Message, string) {
	d.t.Helper()
	v := d.call(d.t, "messages.create", `{`+fields+`}`).OK(d.t, 201)
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if v = d.call(d.t, "messages.get", ref(v)).OK(d.t, 200); v.Text("status") == "sent" {
			break
		}
		if time.Now().After(end) {
			d.t.Fatalf("not sent: %s", v)
		}
	}
	type row struct {
		Sender  string `db:"sender"`
		Content []byte `db:"content"`
	}
	var r row
	err := d.DB.Read(d.t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		r, err = db.QueryOne[row](ctx, tx, `
			SELECT sender, content
			FROM mailbox_mails
			WHERE organization_id = $1 AND message_id = $2`,
			d.Org, v.ID("id"))
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	m, err := mail.ReadMessage(bytes.NewReader(r.Content))
	if err != nil {
		d.t.Fatal(err)
	}
	return v, m, r.Sender
}

// received lists the mail that came in, newest first.
func (d *desk) received(want int, filters ...string) apptest.Value {
	d.t.Helper()
	list := d.call(d.t, "messages.list", `{"direction": "inbound",
		"limit": 100`+strings.Join(filters, "")+`}`).OK(d.t, 200)
	if list.Len() != want {
		d.t.Fatalf("%d messages came in, want %d: %s", list.Len(), want, list)
	}
	return list
}

func (d *desk) businessAddress() string { return string(d.Business) + "@frontdesk.example" }

// An answer joins the thread of what it answers, with its attachment and the
// contact who wrote it; our answer to it names both.
func TestReply(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		ada := d.call(t, "contacts.create", `{"firstName": "Ada",
			"emails": [{"email": "Ada@example.com"}]}`).OK(t, 201).Text("id")
		first, m, sender := d.sent(`"to": "ada@example.com", "subject": "Your drawings", "text": "Here they are."`)
		answers := m.Header.Get("Reply-To")
		if want := "<reply+" + strings.Trim(m.Header.Get("Message-ID"), "<>") + ">"; answers != want ||
			!strings.HasPrefix(sender, "bounce+") ||
			m.Header.Get("From") != `"Test via 127.0.0.1" <no-reply@frontdesk.example>` {
			t.Fatalf("Reply-To %q, sender %q", answers, sender)
		}
		d.posted("ada@example.com", strings.Trim(answers, "<>"),
			`From: Ada Lovelace <ADA@example.com>`, `To: `+
				answers, `Cc: Charles <charles@example.com>`, `Subject: Re: Your drawings`,
			`Date: Sat, 31 Jan 2026 12:00:00 +0000`,
			`Message-ID: <a1@example.com>`, `In-Reply-To: `+
				m.Header.Get("Message-ID"), `MIME-Version: 1.0`, `Content-Type: multipart/mixed; boundary=b`, ``,
			`--b`, `Content-Type: text/html; charset=utf-8`, ``, `<p onclick="x()">Thänk you</p><script>x()</script>`,
			`--b`, `Content-Type: application/pdf`, `Content-Disposition: attachment; filename="../plan.pdf"`,
			`Content-Transfer-Encoding: base64`, ``,
			base64.StdEncoding.EncodeToString([]byte("%PDF-1.7 the plan")), `--b--`)
		v := d.received(1).At("0")
		v.Same("threadId", first.Text("threadId"))
		v.Same("inReplyToId", first.Text("id"))
		v.Same("status", "received")
		v.Same("from", "ADA@example.com")
		v.Same("cc.0", "charles@example.com")
		v.Same("subject", "Re: Your drawings")
		v.Same("html", "<p>Thänk you</p>")
		v.Same("text", "Thänk you")
		v.Same("sentAt", "2026-01-31T12:00:00.000Z")
		if v.At("bcc").Len() != 0 || v.At("fileIds").Len() != 1 || !v.At("errorMessage").Null() {
			t.Errorf("received %s", v)
		}
		file := d.call(t, "messages.attachments.list", ref(v)).OK(t, 200).At("0")
		file.Same("fileName", "plan.pdf")
		file.Same("contentType", "application/pdf")
		if got := d.SendREST(t, d.Key, "GET", "/v1/files/"+file.Text("fileId")+"/content",
			""); string(got.Body) != "%PDF-1.7 the plan" {
			t.Errorf("attached %q", got.Body)
		}
		links := d.call(t, "messages.contacts.list", ref(v)).OK(t, 200)
		links.Same("0.contactId", ada)
		links.Same("0.role", "from")
		for _, filter := range []string{`"contactId": "` + ada + `"`, `"threadId": "` + first.Text("threadId") + `"`,
			`"query": "thänk"`, `"query": "lovelace"`} {
			want := 1
			if strings.Contains(filter, "lovelace") {
				want = 0 // names are not kept
			}
			d.received(want, ", "+filter)
		}
		if events := d.Events(t, "message."); events != "message.created message.sent message.received" {
			t.Errorf("events %q", events)
		}
		// And back again.
		second, m, _ := d.sent(`"to": "ada@example.com", "subject": "Re: Your drawings", "text": "Welcome.",
			"inReplyToId": "` + v.Text("id") + `"`)
		second.Same("threadId", first.Text("threadId"))
		if got := m.Header.Get("In-Reply-To"); got != "<a1@example.com>" {
			t.Errorf("it answers %q", got)
		}
		if got := m.Header.Get("References"); !strings.HasPrefix(got, "<"+first.Text("id")+".") ||
			!strings.HasSuffix(got, " <a1@example.com>") {
			t.Errorf("references %q", got)
		}
		call := d.Door("rest", d.NewTenant(t, "enterprise"))
		call(t, "messages.get", ref(v)).Refused(t, 404, "NOT_FOUND")
	})
}

// Who gets a mail: by the address it came to, or by what it answers.
func TestMailboxes(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		first, m, sender := d.sent(`"to": "ada@example.com", "subject": "Hello", "text": "Hi."`)
		ours := m.Header.Get("Message-ID")
		d.refused(550, "no-reply@frontdesk.example", "Subject: Re: Hello", "", "By the subject alone.")
		d.refused(550, "no-reply@frontdesk.example", "In-Reply-To: <"+string(id.New())+"@frontdesk.example>", "",
			"To nobody's.")
		d.refused(550, "anybody@frontdesk.example", "", "x")
		d.refused(550, "reply+"+string(id.New())+"@frontdesk.example", "", "x")
		d.refused(550, "reply+"+first.Text("id")+"@frontdesk.example", "", "The id alone is no address.")
		d.refused(550, "reply+"+first.Text("id")+".%@frontdesk.example", "", "x")
		d.refused(550, "bounce+"+first.Text("id")+"@frontdesk.example", "", "x")
		d.refused(550, string(id.New())+"@frontdesk.example", "", "x")
		d.refused(550, string(d.Business)+"@elsewhere.example", "", "x")
		d.refused(550, "ada@example.com", "", "x")
		d.posted("ada@example.com", "No-Reply@FRONTDESK.example", "From: ada@example.com",
			"To: no-reply@frontdesk.example",
			"References: <x@y> "+ours, "", "By the headers.")
		d.posted("ada@example.com", sender, "From: ada@example.com", "To: "+sender, "Subject: Something else", "",
			"By the address.")
		for _, i := range []string{"0", "1"} {
			d.received(2).At(i).Same("threadId", first.Text("threadId"))
		}
		// An answer to nobody starts its own thread, and has no sender but the
		// envelope's.
		d.posted("ada@example.com", d.businessAddress(), "Subject: New", "Date: Mon, 1 Jan 2080 00:00:00 +0000", "",
			"Out of the blue.")
		v := d.received(3).At("0")
		v.Same("from", "ada@example.com")
		v.Same("bcc.0", d.businessAddress())
		if v.Text("threadId") == first.Text("threadId") || !v.At("inReplyToId").Null() ||
			strings.HasPrefix(v.Text("sentAt"), "2080") {
			t.Errorf("a new one: %s", v)
		}
		// One mail for two organizations belongs to each, and neither learns of
		// the other.
		other := d.NewTenant(t, "enterprise")
		if err := d.post("ada@example.com", []string{d.businessAddress(),
			string(other.Business) + "@frontdesk.example"},
			"Subject: Both", "", "x"); err != nil {
			t.Fatal(err)
		}
		d.received(4).At("0").Same("bcc.0", d.businessAddress())
		theirs := d.Door("rest", other)(t, "messages.list", `{}`).OK(t, 200)
		if theirs.Len() != 1 || theirs.At("0.bcc").Len() != 1 {
			t.Errorf("theirs: %s", theirs)
		}
		theirs.Same("0.bcc.0", string(other.Business)+"@frontdesk.example")
		// Closed for now, not for ever.
		d.AsOperator(t, "organizations.update", "organization", other.Org, `{"status": "disabled"}`)
		d.refused(450, string(other.Business)+"@frontdesk.example", "", "x")
	})
}

// Whoever has seen a mail of ours may answer it from any address. Mail from
// outside is answered by the participants of its thread, and nobody replaces
// another by reusing its Message-ID.
func TestThreadOfOthers(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		first, m, _ := d.sent(`"to": "ada@example.com", "cc": "grace@bücher.example", "replyTo": "office@example.org",
			"subject": "Offer", "text": "1000."`)
		ours := m.Header.Get("Message-ID")
		const theirs = "<question@example.com>"
		named := ours
		from := func(address, messageID string) apptest.Value {
			d.t.Helper()
			n := d.call(t, "messages.list", `{"direction": "inbound", "limit": 100}`).OK(t, 200).Len()
			d.posted("x@example.net", d.businessAddress(), "From: "+address, "Message-ID: "+messageID,
				"In-Reply-To: "+named,
				"", "By "+address)
			return d.received(n + 1).At("0")
		}
		joins := func(address string) {
			d.t.Helper()
			from(address, "<"+string(id.New())+"@example.net>").Same("threadId", first.Text("threadId"))
		}
		joins("colleague-of-ada@example.com")
		from("ADA@example.com", theirs).Same("threadId", first.Text("threadId"))
		named = "<" + first.Text("id") + "@frontdesk.example>" // whoever knows its id
		if v := from("mallory@example.net", "<1@example.net>"); v.Text("threadId") == first.Text("threadId") {
			t.Errorf("an id is enough: %s", v)
		}
		named = theirs
		for _, stranger := range []string{"mallory@example.net", "no-reply@frontdesk.example"} {
			v := from(stranger, theirs)
			if v.Text("threadId") == first.Text("threadId") || !v.At("inReplyToId").Null() {
				t.Errorf("%s is in the thread: %s", stranger, v)
			}
		}
		joins("ADA@example.com")
		joins("grace@xn--bcher-kva.example")
		joins("office@example.org")
		// Anyone that a participant writes to becomes a participant.
		d.posted("ada@example.com", d.businessAddress(), "From: ada@example.com", "Cc: charles@example.com",
			"In-Reply-To: "+ours, "", "Charles knows.")
		joins("charles@example.com")
	})
}

// A recipient of marketing mail reports only for themselves.
func TestBounceOfMarketing(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		for _, a := range []string{"ada@example.com", "gone@example.com"} {
			d.call(t, "email_opt_ins.create", `{"email": "`+a+`", "status": "opted_in"}`).OK(t, 201)
		}
		v, _, _ := d.sent(`"to": ["ada@example.com", "gone@example.com"], "purpose": "marketing", "subject": "News",
			"text": "New."`)
		type row struct {
			Sender     string   `db:"sender"`
			Recipients []string `db:"recipients"`
		}
		paths := map[string]string{}
		err := d.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			rows, err := db.QueryAll[row](ctx, tx, `
				SELECT sender, recipients
				FROM mailbox_mails
				WHERE organization_id = $1 AND message_id = $2`,
				d.Org, v.ID("id"))
			for _, r := range rows {
				paths[r.Recipients[0]] = r.Sender
			}
			return err
		})
		if err != nil || len(paths) != 2 || paths["ada@example.com"] == paths["gone@example.com"] {
			t.Fatal(paths, err)
		}
		d.posted("", paths["gone@example.com"], report("x", "X: y", "ada@example.com", "failed")...)
		v = d.call(t, "messages.get", ref(v)).OK(t, 200)
		v.Same("errorMessage", "gone@example.com: 550 5.1.1 No such user")
		v.Same("status", "sent")
		d.posted("", paths["ada@example.com"], report("x", "X: y", "rewritten@elsewhere.example", "failed")...)
		d.call(t, "messages.get", ref(v)).OK(t, 200).Same("status", "bounced")
	})
}

// A disabled organization sends nothing, not even what it wrote before.
func TestDisabledSendsNothing(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		v := d.call(t, "messages.create", `{"to": "ada@example.com", "subject": "x", "text": "x",
			"scheduledAt": "`+d.Clock.Now().Add(10*time.Second).String()+`"}`).OK(t, 201)
		d.AsOperator(t, "organizations.update", "organization", d.Org, `{"status": "disabled"}`)
		due(t, d.App)
		looked := func() (n int) {
			err := d.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
				n, err = db.QueryOne[int](ctx, tx, `
					SELECT count(*)
					FROM jobs
					WHERE unique_key = $1 AND run_at > $2`,
					v.Text("id"), d.Clock.Now().Add(time.Minute))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		for end := time.Now().Add(2 * time.Minute); looked() == 0; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("it does not wait")
			}
		}
		d.AsOperator(t, "organizations.update", "organization", d.Org, `{"status": "active"}`)
		d.call(t, "messages.get", ref(v)).OK(t, 200).Same("status", "scheduled")
	})
}

// The same mail again, alone or many at once, is stored once.
func TestRepetition(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		lines := []string{"From: ada@example.com", "Message-ID: <one@example.com>",
			"Content-Type: multipart/mixed; boundary=b", "", "--b", "Content-Type: image/png", "", "x", "--b--"}
		d.posted("ada@example.com", d.businessAddress(), lines...)
		d.posted("ada@example.com", d.businessAddress(), lines...)
		d.received(1)
		lines[1] = "Message-ID: <two@example.com>"
		apptest.RunAtOnce(12, func(int) {
			if err := d.post("ada@example.com", []string{d.businessAddress()}, lines...); err != nil {
				t.Error(err)
			}
		})
		d.received(2)
		files := d.call(t, "files.list", `{}`).OK(t, 200)
		if files.Len() != 2 {
			t.Errorf("%d files", files.Len())
		}
		err := d.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			n, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM stray_blobs WHERE NOT claimed")
			if n != 0 {
				t.Errorf("%d files were left half made", n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		lines[len(lines)-2] = "y" // another mail under the same name
		d.posted("ada@example.com", d.businessAddress(), lines...)
		d.received(3)
	})
}

func report(to, about, address, action string) []string {
	return []string{"From: MAILER-DAEMON@relay.example", "To: " + to, "Subject: Undelivered",
		"Content-Type: multipart/report; report-type=delivery-status; boundary=b", "",
		"--b", "Content-Type: text/plain", "", "Sorry.",
		"--b", "Content-Type: message/delivery-status", "", "Reporting-MTA: dns; relay.example", "",
		"Final-Recipient: rfc822; " + address, "Action: " + action, "Status: 5.1.1",
		"Diagnostic-Code: smtp; 550 5.1.1 No such user", "",
		"--b", "Content-Type: text/rfc822-headers", "", about, "Subject: x", "--b--"}
}

// A report that a mail did not arrive is about that mail, and is not a message.
func TestBounce(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		v, m, sender := d.sent(`"to": "gone@example.com", "subject": "Hello", "text": "Hi."`)
		about := "Message-ID: " + m.Header.Get("Message-ID")
		d.posted("", sender, report(sender, about, "gone@example.com", "delayed")...)
		d.call(t, "messages.get", ref(v)).OK(t, 200).Same("status", "sent")
		// Anybody can write a report; only one that comes to the return path is
		// believed.
		d.refused(550, "no-reply@frontdesk.example",
			report("no-reply@frontdesk.example", about, "gone@example.com", "failed")...)
		answers := strings.Trim(m.Header.Get("Reply-To"), "<>")
		d.posted("", answers, report(answers, about, "gone@example.com", "failed")...)
		d.call(t, "messages.get", ref(v)).OK(t, 200).Same("status", "sent")
		if forged := d.received(1).At("0"); forged.Text("threadId") == v.Text("threadId") {
			t.Errorf("a forged report is in the thread: %s", forged)
		}
		for range 2 {
			d.posted("", sender, report(sender, about, "GONE@example.com", "failed")...)
		}
		v = d.call(t, "messages.get", ref(v)).OK(t, 200)
		v.Same("status", "bounced")
		v.Same("errorMessage", "gone@example.com: 550 5.1.1 No such user")
		d.received(1)

		// One of two recipients has it; the report names neither the mail nor,
		// exactly, the address.
		both, _, sender := d.sent(`"to": ["ada@example.com", "gone@example.com"], "subject": "Hello", "text": "Hi."`)
		d.posted("", sender, report(sender, "X: y", "gone@example.com", "failed")...)
		both = d.call(t, "messages.get", ref(both)).OK(t, 200)
		both.Same("status", "sent")
		both.Same("errorMessage", "gone@example.com: 550 5.1.1 No such user")
		d.posted("", sender, report(sender, "X: y", "ada@example.com", "failed")...)
		d.call(t, "messages.get", ref(both)).OK(t, 200).Same("status", "bounced")
		want := "message.created message.sent message.received message.bounced " +
			"message.created message.sent message.bounced message.bounced"
		if events := d.Events(t, "message."); events != want {
			t.Errorf("events %q", events)
		}
		// A report about somebody else's mail is a mail like any other, and one
		// to nobody is nobody's.
		d.posted("", d.businessAddress(),
			report(d.businessAddress(), "Message-ID: <x@y>", "z@example.com", "failed")...)
		d.received(2)
		d.refused(550, "no-reply@frontdesk.example", report("x", "Message-ID: <x@y>", "z@example.com", "failed")...)
	})
}

// Every mail is stored with what can be read, and whole beside it.
func TestMalformedMail(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		for i, c := range []struct {
			name, mail string
			original   bool
		}{
			{"nothing", "", false},
			{"no mail", "hello there", true},
			{"garbage",
				"Subject: \xff\x00\xfe\r\nFrom: <<<\x01>>\r\nTo: \x80@\x81\r\nMessage-ID: <\xff>\r\n\r\n\xff\x00\xfe",
				false},
			{"no boundary", "Content-Type: multipart/mixed\r\n\r\nx", true},
			{"unknown charset", "Content-Type: text/plain; charset=\"x\x00y\"\r\n\r\nx", false},
			{"bad name", "Content-Type: image/png; name=\"\x00/..\x07/\xff\"\r\n\r\nx", false},
			{"too many parts", "Content-Type: multipart/mixed; boundary=b\r\n\r\n" +
				strings.Repeat("--b\r\n\r\n", 20_000),
				true},
			{"surrogates", "Subject: =?utf-8?b?7aCA?=\r\nContent-Type: text/html\r\n\r\n&#xD800;<p>", false},
			{"long subject", "Subject: " + strings.Repeat("x", 50_000) + "\r\n\r\nx", false},
		} {
			d.posted("ada@example.com", d.businessAddress(), c.mail)
			v := d.received(i + 1).At("0")
			names := d.call(t, "messages.attachments.list", ref(v)).OK(t, 200)
			if found := strings.Contains(names.String(), "original.eml"); found != c.original {
				t.Errorf("%s: %s with %s", c.name, v, names)
			}
			if c.original {
				got := d.SendREST(t, d.Key, "GET", "/v1/files/"+names.Text("0.fileId")+"/content", "")
				if string(got.Body) != c.mail+"\r\n" {
					t.Errorf("%s: the original has %d bytes", c.name, len(got.Body))
				}
			}
		}
	})
}

// A mail is accepted whatever its Message-ID: one that is too long counts as
// none.
func TestLongMessageID(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		var name strings.Builder
		for i := range 990 {
			name.WriteRune(rune(0x4e00 + i*7919%20000))
		}
		d.posted("ada@example.com", d.businessAddress(), "From: ada@example.com", "Message-ID: <"+name.String()+">",
			"References: <"+name.String()+">", "", "x")
		d.posted("ada@example.com", d.businessAddress(), "From: ada@example.com",
			"Message-ID: <"+strings.Repeat("x", 990)+">", "", "y")
		d.posted("ada@example.com", d.businessAddress(), "From: ada@example.com",
			"In-Reply-To: <"+strings.Repeat("x", 990)+">", "", "z")
		list := d.received(3)
		list.Same("0.inReplyToId", list.Text("1.id"))
	})
}

// A full organization accepts no more mail.
func TestAttackFullMailbox(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		s.StorageLimit.Free = 5000
		a := apptest.StartWith(t, s)
		d := &desk{a, t, a.Door("rest", a.Tenant), a.ServeMail(t)}
		small := a.NewTenant(t, "free")
		address := string(small.Business) + "@frontdesk.example"
		body := strings.Repeat("x", 900)
		got := 0
		for i := range 10 {
			var said *textproto.Error
			err := d.post("ada@example.com", []string{address}, "Subject: "+strconv.Itoa(i), "", body)
			if err == nil {
				got++
			} else if !errors.As(err, &said) || said.Code != 452 {
				t.Fatalf("mail %d: %v", i, err)
			}
		}
		if got < 4 || got > 6 {
			t.Errorf("%d mails were taken", got)
		}
	})
}

// A mail that one organization has no room for still reaches another.
func TestAttackFullMailboxOfTwo(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		s.StorageLimit.Free = 5000
		a := apptest.StartWith(t, s)
		d := &desk{a, t, a.Door("rest", a.Tenant), a.ServeMail(t)}
		small := a.NewTenant(t, "free")
		if err := a.Files.CheckRoom(t.Context(), small.Org); err != nil {
			t.Fatal(err)
		}
		var said *textproto.Error
		err := d.post("ada@example.com", []string{string(small.Business) + "@frontdesk.example", d.businessAddress()},
			"Subject: both", "", strings.Repeat("y ", 3000))
		if !errors.As(err, &said) || said.Code != 452 {
			t.Errorf("%v", err)
		}
		d.received(1)
	})
}
