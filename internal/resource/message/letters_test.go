package message_test

import (
	"bytes"
	"fmt"
	"net/mail"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/resource/message/messagetest"
)

// A domain that is written in its own letters and as DNS knows it is one: who
// refuses it refuses both.
func TestTwoSpellings(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		asked := 0
		r.Answer = func(step, _ string) error {
			if step != "RCPT" {
				return nil
			}
			asked++
			return messagetest.Refuse(550, "No such user")
		}
		v := call(t, "messages.create", `{"to": ["ada@bücher.example", "ADA@xn--bcher-kva.example"], "cc": "ada@BÜCHER.example", "subject": "x", "text": "x"}`).OK(t, 201)
		reaches(t, call, v, "bounced").Same("errorMessage", "ada@bücher.example: 550 No such user")
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
	})
}

// Whatever a relay says can be kept, so that its answer counts and nobody gets
// the mail again.
func TestUnreadableAnswer(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		r.Answer = func(step, what string) error {
			if step == "RCPT" && strings.HasPrefix(what, "bad@") {
				return messagetest.Refuse(550, "No\x00such\xffuser "+strings.Repeat("x", 600))
			}
			return nil
		}
		v := call(t, "messages.create", `{"to": ["ada@example.com", "bad@example.com"], "subject": "x", "text": "x"}`).OK(t, 201)
		if said := reaches(t, call, v, "sent").Text("errorMessage"); !strings.HasPrefix(said, "bad@example.com: 550 No such?user xxx") || len(said) > 600 {
			t.Errorf("%q", said)
		}
		if n := len(r.Got()); n != 1 {
			t.Errorf("%d mails", n)
		}
	})
}

// The name of an attachment comes back whole, and no line is longer than mail
// allows.
func TestAttachmentNames(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		file := a.Upload(t, a.Key, "/v1/files", apptest.Part{Name: "file", FileName: "x.txt", Text: "slow"}).OK(t, 201).Text("id")
		for i, name := range []string{"Żółw.txt", strings.Repeat("漢字", 120) + ".txt", strings.Repeat("a b ", 60) + ".txt", "ż; x=y, \U0001f422.txt"} {
			v := draft(t, call, fmt.Sprintf(`"to": "ada@example.com", "subject": "%d", "text": "x"`, i))
			call(t, "messages.attachments.create", with(v, fmt.Sprintf(`"fileId": %q, "fileName": %q`, file, name))).OK(t, 201)
			call(t, "messages.send", ref(v)).OK(t, 200)
			reaches(t, call, v, "sent")
			got := r.Got()[i].Content
			for _, line := range bytes.Split(got, []byte("\r\n")) {
				if len(line) > 998 {
					t.Errorf("a line of %d bytes: %s", len(line), line)
				}
			}
			m, err := mail.ReadMessage(bytes.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			if p := parts(t, m.Header, m.Body); strings.TrimSpace(p[name]) != "c2xvdw==" {
				t.Errorf("%q became %q", name, p)
			}
			verify(t, a, got)
		}
	})
}
