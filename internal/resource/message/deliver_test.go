package message_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/message/messagetest"

	"github.com/emersion/go-msgauth/dkim"
)

// eachRelay runs fn once per engine, on a service that sends through a relay of
// the test's own.
func eachRelay(t *testing.T, fn func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay)) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		r := messagetest.NewRelay(t, nil)
		s := apptest.Settings(t, e)
		s.Mail.Provider, s.SMTP.Host, s.SMTP.Port, s.SMTP.TLS = "smtp", r.Host, r.Port, "none"
		a := apptest.StartWith(t, s)
		start(t, a)
		fn(t, a, a.Door("rest", a.Tenant), r)
	})
}

// start runs the jobs until the test ends.
func start(t *testing.T, a *apptest.App) {
	t.Helper()
	if err := a.Jobs.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := a.Jobs.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
}

// reaches waits until a message has a status.
func reaches(t *testing.T, call apptest.Door, v apptest.Value, status string) apptest.Value {
	t.Helper()
	var now apptest.Value
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if now = call(t, "messages.get", ref(v)).OK(t, 200); now.Text("status") == status {
			return now
		}
	}
	t.Fatalf("not %s: %s", status, now)
	return now
}

// due has the message that waits for its time sent now. Its job may be changed too.
func due(t testing.TB, a *apptest.App, changes ...string) {
	t.Helper()
	err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, "UPDATE jobs SET "+strings.Join(append(changes, "run_at = 0"), ", ")+
			" WHERE kind = 'message.deliver' AND state = 'ready' AND run_at > $1", a.Clock.Now())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// parts are the texts of a mail and its attachments, by type.
func parts(t *testing.T, header mail.Header, body io.Reader) map[string]string {
	t.Helper()
	out := map[string]string{}
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(kind, "multipart/") {
		t.Fatalf("not multipart but %s", kind)
	}
	r := multipart.NewReader(body, params["boundary"])
	for {
		p, err := r.NextPart() // decodes quoted-printable
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		inner, _, _ := mime.ParseMediaType(p.Header.Get("Content-Type"))
		if strings.HasPrefix(inner, "multipart/") {
			for k, v := range parts(t, mail.Header(p.Header), p) {
				out[k] = v
			}
			continue
		}
		text, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		name := inner
		if p.FileName() != "" {
			decoded, err := new(mime.WordDecoder).DecodeHeader(p.FileName())
			if err != nil {
				t.Fatal(err)
			}
			name = decoded
		}
		out[name] = string(text)
	}
}

func TestSending(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		file := a.UploadForm(t, a.Key, "/v1/files", apptest.Part{Name: "file", FileName: "Żółw.txt", Text: "slow"}).
			OK(t, 201).Text("id")
		v := call(t, "messages.create", fmt.Sprintf(`{"to": ["ada@example.com", "grace@bücher.example"],
			"cc": "charles@example.com", "bcc": "hidden@example.com", "replyTo": "desk@example.com",
			"subject": "Żółw: ein sehr langer Betreff mit Umlauten wie ä, ö und ü, damit er umgebrochen wird",
			"html": "<p>Grüße &amp; <a href=\"https://example.com\">mehr</a></p>", "fileIds": [%q]}`, file)).OK(t, 201)
		v.Same("status", "queued")
		v.Same("fileIds.0", file)
		sent := reaches(t, call, v, "sent")
		if sent.At("sentAt").Null() || !sent.At("errorMessage").Null() {
			t.Errorf("sent: %s", sent)
		}
		got := r.Accepted()
		if len(got) != 1 || !slices.Equal(got[0].To,
			[]string{"ada@example.com", "grace@xn--bcher-kva.example", "charles@example.com", "hidden@example.com"}) ||
			!strings.HasPrefix(got[0].From, "bounce+") {
			t.Fatalf("the relay has %+v", got)
		}
		m, err := mail.ReadMessage(bytes.NewReader(got[0].Content))
		if err != nil {
			t.Fatal(err)
		}
		subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
		if err != nil || subject != v.Text("subject") {
			t.Errorf("subject %q, %v", subject, err)
		}
		for header, want := range map[string]string{"From": `"Test via 127.0.0.1" <no-reply@frontdesk.example>`,
			"To": "<ada@example.com>, <grace@xn--bcher-kva.example>", "Cc": "<charles@example.com>",
			"Reply-To": "<desk@example.com>",
			"Bcc":      "", "References": "", "List-Unsubscribe": ""} {
			if got := m.Header.Get(header); got != want {
				t.Errorf("%s: %q, want %q", header, got, want)
			}
		}
		if name := got[0].ID(t); !strings.HasPrefix(name, v.Text("id")+".") ||
			!strings.HasSuffix(name, "@frontdesk.example") {
			t.Errorf("Message-ID: %q", name)
		}
		if strings.Contains(string(got[0].Content), "hidden@") {
			t.Error("the blind copy is told")
		}
		p := parts(t, m.Header, m.Body)
		if p["text/plain"] != "Grüße & mehr (https://example.com)" ||
			p["text/html"] != `<p>Grüße &amp; <a href="https://example.com">mehr</a></p>` ||
			strings.TrimSpace(p["Żółw.txt"]) != "c2xvdw==" {
			t.Errorf("parts: %q", p)
		}
		verify(t, a, got[0].Content)

		answer := call(t, "messages.create", fmt.Sprintf(`{"to": "ada@example.com", "subject": "Re: Żółw",
			"text": "Again", "inReplyToId": %q}`, v.Text("id"))).OK(t, 201)
		answer.Same("threadId", v.Text("threadId"))
		third := call(t, "messages.create", fmt.Sprintf(`{"to": "ada@example.com", "subject": "Re: Re: Żółw",
			"text": "And again", "inReplyToId": %q}`, answer.Text("id"))).OK(t, 201)
		reaches(t, call, answer, "sent")
		reaches(t, call, third, "sent")
		names := map[string]string{}
		for _, g := range r.Accepted() {
			of, _, _ := strings.Cut(g.ID(t), ".")
			names[of] = "<" + g.ID(t) + ">"
		}
		for _, g := range r.Accepted() {
			if names[third.Text("id")] == "<"+g.ID(t)+">" {
				want := names[v.Text("id")] + " " + names[answer.Text("id")]
				if g.Header(t, "References") != want || g.Header(t, "In-Reply-To") != strings.Fields(want)[1] {
					t.Errorf("the third names %q", g.Header(t, "References"))
				}
			}
		}
		if events := a.Events(t, "message."); strings.Count(events, "message.created") != 3 ||
			strings.Count(events, "message.sent") != 3 || len(strings.Fields(events)) != 6 {
			t.Errorf("events %q", events)
		}
		if strings.Contains(a.Logs.String(), "Żółw") {
			t.Error("the log tells what was written")
		}
	})
}

// verify checks both signatures against the records that the operator is told
// to publish.
func verify(t *testing.T, a *apptest.App, content []byte) {
	t.Helper()
	records, err := a.MailHosts.Records(t.Context())
	if err != nil || len(records) != 2 {
		t.Fatalf("%v %v", records, err)
	}
	found, err := dkim.VerifyWithOptions(bytes.NewReader(content),
		&dkim.VerifyOptions{LookupTXT: func(name string) ([]string, error) {
			for _, r := range records {
				if r.Name == name {
					return []string{r.Value}, nil
				}
			}
			return nil, fmt.Errorf("no record %s", name)
		}})
	if err != nil || len(found) != 2 {
		t.Fatalf("signatures: %v %v", found, err)
	}
	for _, f := range found {
		if f.Err != nil || f.Domain != "frontdesk.example" || !slices.Contains(f.HeaderKeys, "Subject") {
			t.Errorf("signature of %s: %v, over %v", f.Domain, f.Err, f.HeaderKeys)
		}
	}
}

func TestSendingRefused(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		tries := map[string]int{}
		r.Answer = func(step, what string) error { // one message at a time
			switch {
			case step == "RCPT" && strings.HasPrefix(what, "nobody"):
				return messagetest.RefusalError(550, "No such user")
			case step == "RCPT" && strings.HasPrefix(what, "slow"):
				if tries[what]++; tries[what] < 3 {
					return messagetest.RefusalError(451, "Try later")
				}
			case step == "DATA" && strings.Contains(what, "Subject: spam"):
				return messagetest.RefusalError(554, "Not this one")
			}
			return nil
		}
		send := func(to, subject, status string) apptest.Value {
			t.Helper()
			return reaches(t, call, call(t, "messages.create", fmt.Sprintf(`{"to": %s, "subject": %q,
				"text": "x"}`, to, subject)).OK(t, 201), status)
		}
		send(`"nobody@example.com"`, "a", "bounced").Same("errorMessage", "nobody@example.com: 550 No such user")
		v := send(`["nobody@example.com", "ada@example.com"]`, "b", "sent")
		v.Same("errorMessage", "nobody@example.com: 550 No such user")
		if failed := send(`"ada@example.com"`, "spam", "failed"); !strings.Contains(failed.Text("errorMessage"),
			"554 Not this one") || !failed.At("sentAt").Null() {
			t.Errorf("failed: %s", failed)
		}
		send(`["slow@example.com", "grace@example.com"]`, "d", "sent")
		var slow, grace int
		for _, g := range r.Accepted() {
			if strings.Contains(string(g.Content), "Subject: d\r\n") {
				slow += strings.Count(strings.Join(g.To, " "), "slow@")
				grace += strings.Count(strings.Join(g.To, " "), "grace@")
			}
		}
		if slow != 1 || grace != 1 || tries["slow@example.com"] != 3 {
			t.Errorf("slow got it %d times after %d tries, grace %d times", slow, tries["slow@example.com"], grace)
		}
		want := "message.created message.bounced message.created message.sent " +
			"message.created message.failed message.created message.sent"
		if events := a.Events(t, "message."); events != want {
			t.Errorf("events %q", events)
		}
		// A relay that is down is waited for, and the message says so.
		r.Answer = func(string, string) error { return messagetest.RefusalError(421, "Closing") }
		away := call(t, "messages.create", `{"to": "ada@example.com", "subject": "e", "text": "x"}`).OK(t, 201)
		for end := time.Now().Add(time.Minute); call(t, "messages.get", ref(away)).
			OK(t, 200).At("errorMessage").Null() && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
		waits := call(t, "messages.get", ref(away)).OK(t, 200)
		if !strings.Contains(waits.Text("errorMessage"), "421 Closing") {
			t.Errorf("waiting: %s", waits)
		}
	})
}

func TestMarketing(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		for email, status := range map[string]string{"ada@example.com": "opted_in", "grace@example.com": "opted_in",
			"no@example.com": "opted_out"} {
			call(t, "email_opt_ins.create", fmt.Sprintf(`{"email": %q, "status": %q}`, email, status)).OK(t, 201)
		}
		news := func(to, more string) apptest.Result {
			return call(t, "messages.create", fmt.Sprintf(`{"to": %s, "subject": "News", "text": "x",
				"purpose": "marketing"%s}`, to, more))
		}
		refused := news(`["ada@example.com", "No@example.com"]`, `, "bcc": "unknown@example.com"`).
			Refused(t, 422, "EMAIL_OPT_IN_REQUIRED")
		if refused.At("details.addresses").Len() != 2 || !strings.Contains(refused.String(), "No@example.com") ||
			strings.Contains(refused.String(), "ada@") {
			t.Errorf("refused: %s", refused)
		}
		d := news(`"no@example.com"`, `, "draft": true`).OK(t, 201) // a draft may wait for an opt-in
		call(t, "messages.send", ref(d)).Refused(t, 422, "EMAIL_OPT_IN_REQUIRED")
		call(t, "messages.get", ref(d)).OK(t, 200).Same("status", "draft")

		v := reaches(t, call, news(`"Ada@example.com"`, `, "cc": "grace@example.com"`).OK(t, 201), "sent")
		got := r.Accepted()
		if len(got) != 2 {
			t.Fatalf("%d mails", len(got))
		}
		links := map[string]bool{}
		for i := range got {
			g := &got[i]
			if len(g.To) != 1 || g.Header(t, "To") != "<"+g.To[0]+">" || g.Header(t, "Cc") != "" ||
				g.Header(t, "List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" ||
				!strings.HasPrefix(g.ID(t), v.Text("id")+".") {
				t.Errorf("mail to %v: %s", g.To, g.Content)
			}
			links[strings.Trim(g.Header(t, "List-Unsubscribe"), "<>")] = true
			verify(t, a, g.Content)
		}
		if len(links) != 2 {
			t.Errorf("links %v", links)
		}
		// Whoever unsubscribes while it waits is left out; the others get it.
		later := a.Clock.Now().Add(10 * time.Second)
		both := news(`["ada@example.com", "grace@example.com"]`, fmt.Sprintf(`, "scheduledAt": %q`, later)).OK(t, 201)
		alone := news(`"grace@example.com"`, fmt.Sprintf(`, "scheduledAt": %q`, later)).OK(t, 201)
		both.Same("status", "scheduled")
		out := call(t, "email_opt_ins.list", `{"email": "grace@example.com"}`).OK(t, 200).Text("0.id")
		call(t, "email_opt_ins.update", fmt.Sprintf(`{"id": %q, "status": "opted_out"}`, out)).OK(t, 200)
		if s := reaches(t, call, both, "sent"); !strings.Contains(s.Text("errorMessage"),
			"grace@example.com: The address is no longer opted in.") || s.Text("sentAt") < later.String() {
			t.Errorf("both: %s", s)
		}
		reaches(t, call, alone, "failed")
		if n := len(r.Accepted()); n != 3 {
			t.Errorf("%d mails", n)
		}
	})
}

// A message that cannot be sent for too long fails and says so. A retry under
// the same key sends nothing twice.
func TestSendingEnds(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		r.Answer = func(_, what string) error {
			if strings.Contains(what, "full@") {
				return messagetest.RefusalError(452, "Mailbox full")
			}
			return nil
		}
		v := call(t, "messages.create", fmt.Sprintf(`{"to": ["full@example.com"], "subject": "x",
			"scheduledAt": %q}`, a.Clock.Now().Add(time.Hour))).OK(t, 201)
		due(t, a, "max_attempts = 1")
		reaches(t, call, v, "failed").Same("errorMessage",
			"full@example.com: It was tried for too long. 452 Mailbox full")
		const body = `{"to": "ada@example.com", "subject": "Once", "text": "x"}`
		var first apptest.Value
		for i := range 3 {
			got := a.SendREST(t, a.Key, "POST", "/v1/messages", body, "Idempotency-Key", "once").OK(t, 201)
			if i == 0 {
				first = got
			} else if got.String() != first.String() {
				t.Errorf("another answer: %s", got)
			}
		}
		reaches(t, call, first, "sent")
		time.Sleep(100 * time.Millisecond)
		if n := len(r.Accepted()); n != 1 {
			t.Errorf("%d mails", n)
		}
		if events := a.Events(t, "message."); events != "message.created message.failed message.created message.sent" {
			t.Errorf("events %q", events)
		}
	})
}

// A report that arrives before the relay's own answer counts.
func TestBounceBeforeTheAnswer(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		path := ""
		r.Answer = func(step, what string) error {
			switch step {
			case "MAIL":
				path = what
			case "DATA":
				text := strings.Join(report(path, "X: y", "gone@example.com", "failed"), "\r\n")
				box, err := a.Messages.FindMailbox(context.Background(), path)
				if err != nil {
					t.Error(err)
				}
				err = a.Messages.Receive(context.Background(), message.ReceivedMail{
					Recipients: []message.Mailbox{box},
					Content:    strings.NewReader(text),
					Size:       int64(len(text)),
				})
				if err != nil {
					t.Error(err)
				}
			}
			return nil
		}
		v := call(t, "messages.create", `{"to": "gone@example.com", "subject": "Hello", "text": "Hi."}`).OK(t, 201)
		reaches(t, call, v, "bounced").Same("errorMessage", "gone@example.com: 550 5.1.1 No such user")
		time.Sleep(300 * time.Millisecond)
		call(t, "messages.get", ref(v)).OK(t, 200).Same("status", "bounced")
		if events := a.Events(t, "message."); events != "message.created message.bounced" {
			t.Errorf("events %q", events)
		}
	})
}
