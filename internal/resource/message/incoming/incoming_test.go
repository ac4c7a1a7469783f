package incoming_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"frontdesk/internal/kernel/cputest"
	"frontdesk/internal/resource/message/incoming"
)

func read(t testing.TB, text string) *incoming.Letter {
	t.Helper()
	l, err := incoming.ReadLetter(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// crlf writes lines as the network does.
func crlf(lines ...string) string { return strings.Join(lines, "\r\n") + "\r\n" }

func TestRead(t *testing.T) {
	l := read(t, crlf(
		`Message-ID: <one@example.com>`,
		`In-Reply-To: <two@example.org>`,
		`References: <four@example.org>`, ` <three@example.org>`,
		`From: =?UTF-8?Q?Ada_L=C3=B6velace?= <ada@example.com>`,
		`To: Desk <desk@example.org>, "Sales, all" <sales@example.org>`,
		`Cc: carl@example.net`,
		`Reply-To: office@example.com`,
		`Subject: =?ISO-8859-1?Q?Caf=E9?= and`, "\ttea",
		`Date: Sat, 31 Jan 2026 12:00:00 +0100`,
		`MIME-Version: 1.0`,
		`Content-Type: multipart/mixed; boundary="outer"`,
		``, `for nobody`, ``,
		`--outer`, `Content-Type: multipart/alternative; boundary=inner`, ``,
		`--inner`, `Content-Type: text/plain; charset=iso-8859-1`, `Content-Transfer-Encoding: quoted-printable`,
		``, `Caf=E9?`, ``,
		`--inner`, `Content-Type: text/html; charset=utf-8`, ``, `<p onclick="x()">Café?<script>alert(1)</script></p>`,
		``,
		`--inner`, `Content-Type: text/calendar`, ``, `BEGIN:VCALENDAR`, `--inner--`,
		`--outer`, `Content-Type: application/pdf; name="menu.pdf"`,
		`Content-Disposition: attachment; filename="../menu.pdf"`,
		`Content-Transfer-Encoding: base64`, ``,
		base64.StdEncoding.EncodeToString([]byte("%PDF-1.4 menu")), ``,
		`--outer--`))
	for _, c := range []struct{ what, got, want string }{
		{"message id", l.MessageID, "one@example.com"},
		{"references", strings.Join(l.References, " "), "two@example.org three@example.org four@example.org"},
		{"from", l.From.Name + "|" + l.From.Address, "Ada Lövelace|ada@example.com"},
		{"to", fmt.Sprint(len(l.To), l.To[1].Name, l.To[1].Address), "2Sales, allsales@example.org"},
		{"cc", l.Cc[0].Address, "carl@example.net"},
		{"reply to", l.ReplyTo.Address, "office@example.com"},
		{"subject", l.Subject, "Café and tea"},
		{"date", l.Date.UTC().Format(time.RFC3339), "2026-01-31T11:00:00Z"},
		{"text", strings.TrimSpace(l.Text), "Café?"},
		{"html", strings.TrimSpace(l.HTML), "<p>Café?</p>"},
		{"attachments", fmt.Sprint(len(l.Attachments)), "2"},
		{"first", l.Attachments[0].Name, "invite.ics"},
		{"second", l.Attachments[1].Name + ": " + string(l.Attachments[1].Content), "../menu.pdf: %PDF-1.4 menu"},
		{"unread", l.Unread, ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
}

const bounce = "From: MAILER-DAEMON@relay.example\r\nTo: no-reply@mail.example\r\nSubject: Undelivered\r\n" +
	"Auto-Submitted: auto-replied\r\n" +
	"Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n" +
	"--b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n" +
	"--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; relay.example\r\n\r\n" +
	"Final-Recipient: rfc822; gone@example.com\r\nAction: failed\r\nStatus: 5.1.1\r\n" +
	"Diagnostic-Code: smtp; 550 5.1.1 No such\r\n user\r\n\r\n" +
	"Final-Recipient: rfc822; slow@example.com\r\nAction: delayed\r\nStatus: 4.4.1\r\n" +
	"--b\r\nContent-Type: text/rfc822-headers\r\n\r\nMessage-ID: <ours@mail.example>\r\nSubject: Hello\r\n--b--\r\n"

func TestReport(t *testing.T) {
	l := read(t, bounce)
	r := l.Report
	if r == nil || r.MessageID != "ours@mail.example" || len(r.Failed) != 1 ||
		r.Failed[0].String() != "gone@example.com: 550 5.1.1 No such user" || len(l.Attachments) != 0 {
		t.Errorf("%+v of %+v", r, l)
	}
	loose := "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n" +
		"Content-Type: message/delivery-status\r\n\r\nAction: failed\r\n--b--\r\n"
	if r := read(t, loose).Report; r != nil {
		t.Errorf("a report that somebody forwards: %+v", r)
	}
}

// Every mail is read as far as possible, and says when that is not all of it.
func TestMalformed(t *testing.T) {
	for _, c := range []struct {
		name, mail string
		text       string // what must be in the text
		unread     bool
	}{
		{"nothing", "", "", false},
		{"no headers", "\r\nhello\r\n", "hello", false},
		{"only headers", "Subject: x\r\n", "", false},
		{"not a mail", "hello there\r\nhow are you\r\n", "how are you", true},
		{"a zero", "Subject: a\x00b\r\n\r\nhel\x00lo\r\n", "hello", false},
		{"8-bit garbage", "Subject: \xff\xfe\r\n\r\nhe\xffllo \xc3\r\n", "he\u00ffllo", false},
		{"unknown charset", "Content-Type: text/plain; charset=x-klingon\r\n\r\nhello\r\n", "hello", false},
		{"unknown encoding", "Content-Transfer-Encoding: x-uuencode\r\n\r\nhello\r\n", "hello", false},
		{"broken base64", "Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\naGVsbG8=====!!!!\r\n",
			"hello", false},
		{"no boundary", "Content-Type: multipart/mixed\r\n\r\nhello\r\n", "hello", true},
		{"boundary never used", "Content-Type: multipart/mixed; boundary=b\r\n\r\nhello\r\n", "hello", true},
		{"never closed", "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhello\r\n", "hello", false},
		{"broken type", "Content-Type: /;;=\"\r\n\r\nhello\r\n", "", false},
		{"long type", "Content-Type: text/plain" + strings.Repeat(";a=b", 50_000) + "\r\n\r\nhello\r\n", "", true},
		{"long boundary", "Content-Type: multipart/mixed; boundary=" + strings.Repeat("b", 1000) + "\r\n\r\nhello\r\n",
			"",
			true},
		{"line feeds only", "Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nhello\n--b--\n", "hello",
			false},
		{"a line of a megabyte", "Subject: x\r\n\r\nhello" + strings.Repeat("x", 1<<20), "hello", true},
		{"too many lines", "Subject: x\r\n\r\nhello\r\n" + strings.Repeat("\r\n", 600_000), "hello", true},
		{"too many parts", "Content-Type: multipart/mixed; boundary=b\r\n\r\nhello\r\n" +
			strings.Repeat("--b\r\n\r\n", 100_000), "hello", true},
		{"long headers", "Subject: x\r\n" + strings.Repeat("X: "+strings.Repeat("y", 70)+"\r\n", 50_000) +
			"\r\nhello\r\n",
			"hello", true},
		{"many text parts", "Content-Type: multipart/mixed; boundary=b\r\n\r\n" +
			strings.Repeat("--b\r\nContent-Type: text/plain\r\n\r\nhello\r\n", 5000) + "--b--\r\n", "hello", false},
		{"many attachments", "Content-Type: multipart/mixed; boundary=b\r\n\r\n" +
			strings.Repeat("--b\r\nContent-Type: image/png\r\n\r\nhello\r\n", 5000) + "--b--\r\n", "", true},
		{"long text", "Subject: x\r\n\r\nhello " + strings.Repeat("é äü\r\n", 200_000), "The rest was cut", true},
		{"long HTML", "Content-Type: text/html\r\n\r\nhello " + strings.Repeat("<b>x</b>\r\n", 200_000), "x x x", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l *incoming.Letter
			if took := cputest.CPUTimeOf(t, func() { l = read(t, c.mail) }); took > 10*time.Second {
				t.Errorf("it took %s of CPU", took)
			}
			if !strings.Contains(l.Text, c.text) || (l.Unread != "") != c.unread {
				t.Errorf("text %.60q, unread %q", l.Text, l.Unread)
			}
			check(t, l)
		})
	}
}

// check asserts what holds for every letter.
func check(t testing.TB, l *incoming.Letter) {
	t.Helper()
	for _, s := range []string{l.Text, l.HTML, l.Subject, l.MessageID} {
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			t.Errorf("it cannot be stored: %.60q", s)
		}
		if utf8.RuneCountInString(s) > incoming.MaxText {
			t.Errorf("%d characters", utf8.RuneCountInString(s))
		}
	}
	if strings.ContainsAny(l.Subject, "\r\n") || len(l.Attachments) > incoming.MaxAttachments ||
		len(l.To) > incoming.MaxAddresses {
		t.Errorf("subject %q, %d attachments, %d addresses", l.Subject, len(l.Attachments), len(l.To))
	}
	if strings.Contains(strings.ToLower(l.HTML), "<script") {
		t.Errorf("a script: %.200q", l.HTML)
	}
	for _, a := range l.Attachments {
		if a.Name == "" || !utf8.ValidString(a.Name) {
			t.Errorf("an attachment is called %q", a.Name)
		}
	}
}

// Deeply nested parts: what is too deep stays one part.
func TestNested(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("Content-Type: multipart/mixed; boundary=b0\r\n\r\n")
	const depth = 3000
	for i := range depth {
		fmt.Fprintf(&b, "--b%d\r\nContent-Type: multipart/mixed; boundary=b%d\r\n\r\n", i, i+1)
	}
	b.WriteString(strings.Repeat(strings.Repeat("x", 70)+"\r\n", 300_000)) // 21 MB
	start := time.Now()
	l := read(t, b.String())
	t.Logf("%d MB, %d deep, took %s", b.Len()>>20, depth, time.Since(start))
	if l.Unread == "" {
		t.Error("all of it was read")
	}
	check(t, l)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(bounce))
	f.Add([]byte("Subject: =?utf-8?b?4pyT?=\r\nTo: a@b.c, <d@e.f>\r\n" +
		"Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: " +
		"text/html\r\n\r\n<p>x<script>y</script>\r\n--b--\r\n"))
	f.Add([]byte("Content-Type: multipart/mixed; boundary=\"a\"\r\n\r\n--a\r\n" +
		"Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n\r\nx\r\n--a--"))
	f.Add([]byte("From: ((((\r\nContent-Transfer-Encoding: base64\r\nContent-Type: text/plain; " +
		"charset=utf-7\r\n\r\n+AGE-"))
	for _, s := range mailShapes {
		f.Add([]byte(s.Text(300)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		cputest.CheckWithin(t, len(b), func() {
			l, err := incoming.ReadLetter(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			check(t, l)
		})
	})
}

// Mail by a machine is recognized by its headers, those of RFC 3834 and older
// ones.
func TestAutomatic(t *testing.T) {
	for head, want := range map[string]bool{
		"Subject: x":                    false,
		"Auto-Submitted: no":            false,
		"Auto-Submitted: NO (a person)": false,
		"Auto-Submitted: auto-replied; owner-email=x@y.com": true,
		"auto-submitted: auto-generated":                    true,
		"Auto-Submitted: auto-notified":                     true,
		"Precedence: bulk":                                  true,
		"Precedence: List":                                  true,
		"Precedence: junk":                                  true,
		"Precedence: first-class":                           false,
		"List-Id: <news.example.com>":                       true,
		"X-Autoreply: yes":                                  true,
		"X-Auto-Response-Suppress: All":                     true,
		"From: MAILER-DAEMON@example.com":                   true,
		"From: ada@example.com":                             false,
	} {
		if got := read(t, crlf(head, "", "x")).Automatic; got != want {
			t.Errorf("%q: %t", head, got)
		}
	}
}

// A text that is too long ends with a whole character, wherever the limit of bytes falls.
func TestCutsBetweenCharacters(t *testing.T) {
	for _, begin := range []string{"", "x", "xy", "xyz"} {
		text := base64.StdEncoding.EncodeToString([]byte(begin + strings.Repeat("😀", 500_001)))
		l := read(t, crlf(`From: ada@example.com`, `MIME-Version: 1.0`, `Content-Type: text/plain; charset=utf-8`,
			`Content-Transfer-Encoding: base64`, ``, text))
		if strings.Contains(l.Text, "\uFFFD") || l.Unread == "" || utf8.RuneCountInString(l.Text) < 499_000 {
			t.Errorf("after %q, the text has %d bytes and ends with %q", begin, len(l.Text), l.Text[len(l.Text)-8:])
		}
	}
}
