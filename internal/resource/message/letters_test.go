package message_test

import (
	"bytes"
	"fmt"
	"net/mail"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/message/messagetest"
)

// A domain in its own script and as DNS knows it is the same domain: refusing
// one refuses both.
func TestTwoSpellings(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		asked := 0
		r.Answer = func(step, _ string) error {
			if step != "RCPT" {
				return nil
			}
			asked++
			return messagetest.RefusalError(550, "No such user")
		}
		v := call(t, "messages.create", `{"to": ["ada@bücher.example", "ADA@xn--bcher-kva.example"],
			"cc": "ada@BÜCHER.example", "subject": "x", "text": "x"}`).OK(t, 201)
		reaches(t, call, v, "bounced").Same("errorMessage", "ada@bücher.example: 550 No such user")
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
	})
}

// Whatever a relay says can be stored, so its answer counts and nobody gets the
// mail again.
func TestUnreadableAnswer(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		r.Answer = func(step, what string) error {
			if step == "RCPT" && strings.HasPrefix(what, "bad@") {
				return messagetest.RefusalError(550, "No\x00such\xffuser "+strings.Repeat("x", 600))
			}
			return nil
		}
		v := call(t, "messages.create", `{"to": ["ada@example.com", "bad@example.com"], "subject": "x",
			"text": "x"}`).OK(t, 201)
		if said := reaches(t, call, v, "sent").Text("errorMessage"); !strings.HasPrefix(said,
			"bad@example.com: 550 No such\uFFFDuser xxx") || len(said) > 600 {
			t.Errorf("%q", said)
		}
		if n := len(r.Accepted()); n != 1 {
			t.Errorf("%d mails", n)
		}
	})
}

// The name of an attachment comes back whole, and no line is longer than mail
// allows.
func TestAttachmentNames(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		file := a.UploadForm(t, a.Key, "/v1/files", apptest.Part{Name: "file", FileName: "x.txt", Text: "slow"}).
			OK(t, 201).Text("id")
		for i, name := range []string{"Żółw.txt", strings.Repeat("漢字", 120) + ".txt",
			strings.Repeat("a b ", 60) + ".txt",
			"ż; x=y, \U0001f422.txt"} {
			v := draft(t, call, fmt.Sprintf(`"to": "ada@example.com", "subject": "%d", "text": "x"`, i))
			call(t, "messages.attachments.create",
				with(v, fmt.Sprintf(`"fileId": %q, "fileName": %q`, file, name))).OK(t, 201)
			call(t, "messages.send", ref(v)).OK(t, 200)
			reaches(t, call, v, "sent")
			got := r.Accepted()[i].Content
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

// news writes marketing mail to n people who want it.
func news(t *testing.T, call apptest.Door, n int, more string) apptest.Value {
	t.Helper()
	var to []string
	for i := range n {
		to = append(to, fmt.Sprintf(`"p%d@example.com"`, i))
		call(t, "email_opt_ins.create", fmt.Sprintf(`{"email": %s, "status": "opted_in"}`, to[i])).OK(t, 201)
	}
	return call(t, "messages.create", fmt.Sprintf(`{"to": [%s], "subject": "News", "text": "x",
		"purpose": "marketing"%s}`, strings.Join(to, ", "), more)).OK(t, 201)
}

// When a person is erased while a message about them is being sent, nothing
// more is sent.
func TestEraseWhileSending(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		who := call(t, "contacts.create",
			`{"firstName": "P", "emails": [{"email": "p4@example.com"}]}`).OK(t, 201).ID("id")
		first := true
		r.Answer = func(step, _ string) error {
			if step == "DATA" && first {
				first = false
				a.AsOperator(t, "contacts.erase", "contact", who, fmt.Sprintf(`{"id": %q}`, who))
			}
			return nil
		}
		v := news(t, call, 5, "")
		reaches(t, call, v, "canceled")
		time.Sleep(time.Second)
		if n := len(r.Accepted()); n != 1 {
			t.Errorf("%d mails", n)
		}
	})
}

// A relay that is slow and then refuses is left alone after each attempt, and
// the message does not wait for ever.
func TestRelayHoldsUp(t *testing.T) {
	message.DeliverWithin(t, 50*time.Millisecond)
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		asked := map[string]int{}
		r.Answer = func(step, what string) error {
			if step == "RCPT" {
				asked[what]++
				time.Sleep(60 * time.Millisecond)
				return messagetest.RefusalError(451, "Try later")
			}
			return nil
		}
		v := news(t, call, 3, fmt.Sprintf(`, "scheduledAt": %q`, a.Clock.Now().Add(time.Hour)))
		due(t, a, "max_attempts = 3")
		reaches(t, call, v, "failed")
		if len(asked) != 3 || asked["p0@example.com"] != 1 || asked["p1@example.com"] != 1 ||
			asked["p2@example.com"] != 1 {
			t.Errorf("asked %v", asked)
		}
	})
}
