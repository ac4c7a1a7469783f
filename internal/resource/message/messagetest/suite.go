package messagetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/message"
)

// CheckMailer is the suite that every adapter of message.Mailer passes. open returns
// one, the organization it sends for, and a function that lists what it
// delivered.
func CheckMailer(t *testing.T, open func(t *testing.T) (m message.Mailer, org id.ID,
	got func(t *testing.T) []AcceptedMail)) {
	m, org, got := open(t)
	if err := m.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	letter := func(n int, body string, to ...string) *message.Mail {
		text := fmt.Sprintf("From: no-reply@frontdesk.example\r\nTo: ada@example.com\r\n"+
			"Subject: =?UTF-8?q?=C5=BB=C3=B3=C5=82w?=\r\nMessage-ID: <n%d@frontdesk.example>\r\n\r\n%s", n, body)
		return &message.Mail{
			Key:          fmt.Sprintf("key-%d", n),
			Organization: org,
			Message:      id.New(),
			From:         "no-reply@frontdesk.example",
			To:           to,
			Content:      []byte(text),
		}
	}
	bodies := []string{
		"Hello\r\n",
		".\r\n..\r\n.hidden\r\n",          // dots are stuffed in transit
		"From here\r\nQUIT\r\nRSET\r\n",   // not commands
		strings.Repeat("x", 900) + "\r\n", // a long line
		strings.Repeat(strings.Repeat("long ", 15)+"\r\n", 10_000),
	}
	for i, body := range bodies {
		l := letter(i, body, "ada@example.com", "grace@example.org")
		if refused, err := m.Send(t.Context(), l); err != nil || len(refused) > 0 {
			t.Fatalf("mail %d: %v %v", i, refused, err)
		}
		all := got(t)
		if len(all) != i+1 {
			t.Fatalf("%d mails after %d", len(all), i+1)
		}
		if g := all[i]; g.From != l.From || !slices.Equal(g.To, l.To) || !bytes.Equal(g.Content, l.Content) {
			t.Errorf("mail %d arrived from %s to %v with %d bytes of %d", i, g.From, g.To, len(g.Content),
				len(l.Content))
		}
	}
}
