package incoming_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/kernel/cputest"
)

const mixed = "Content-Type: multipart/mixed; boundary=b\r\n\r\n"

// Shapes of mail that make parsers slow.
var mailShapes = []cputest.Shape{
	{Name: "small parts", Before: mixed, Open: "--b\r\n\r\nx\r\n"},
	{Name: "empty parts", Before: mixed, Open: "--b\r\n"},
	{Name: "parts with headers", Before: mixed,
		Open: "--b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nPGI+\r\n"},
	{Name: "attachments", Before: mixed,
		Open: "--b\r\nContent-Disposition: attachment; filename=\"a.txt\"\r\n\r\nx\r\n"},
	{Name: "the same boundary in itself", Before: mixed, Open: "--b\r\n" + mixed},
	{Name: "boundaries that are beginnings", Before: mixed, Open: "--b" + strings.Repeat("b", 60) + "\r\n"},
	{Name: "half boundaries", Before: mixed, Open: "\r\n--"},
	{Name: "dashes", Before: mixed, Open: "-"},
	{Name: "a folded header", Before: "Subject: x\r\n", Open: " y\r\n", After: "\r\nbody"},
	{Name: "a folded type", Before: "Content-Type: text/plain;\r\n", Open: " a=b;\r\n", After: "\r\nbody"},
	{Name: "parameters in pieces", Before: "Content-Type: text/plain", Open: "; a*0=b", After: "\r\n\r\nbody"},
	{Name: "encoded words", Before: "Subject: ", Open: "=?utf-8?q?=C3=BC?= ", After: "\r\n\r\nx"},
	{Name: "half encoded words", Before: "Subject: ", Open: "=?utf-8?q?", After: "\r\n\r\nx"},
	{Name: "question marks", Before: "Subject: ", Open: "=?", After: "\r\n\r\nx"},
	{Name: "encoded words in names", Before: "To: ", Open: "=?utf-8?b?w7w=?= <a@b.c>, ", After: "x@y.z\r\n\r\nx"},
	{Name: "addresses", Before: "To: ", Open: "a@b.c, ", After: "x@y.z\r\n\r\nx"},
	{Name: "groups of addresses", Before: "To: ", Open: "a:", After: "\r\n\r\nx"},
	{Name: "comments in addresses", Before: "To: ", Open: "(", Close: ")", After: "x@y.z\r\n\r\nx"},
	{Name: "open comments", Before: "From: ", Open: "(", After: "\r\n\r\nx"},
	{Name: "quotes in addresses", Before: "To: ", Open: `"`, After: "\r\n\r\nx"},
	{Name: "at signs", Before: "To: ", Open: "a@", After: "\r\n\r\nx"},
	{Name: "angles", Before: "References: ", Open: "<", After: "\r\n\r\nx"},
	{Name: "references", Before: "References: ", Open: "<a@b> ", After: "\r\n\r\nx"},
	{Name: "headers", Open: "A: b\r\n", After: "\r\nx"},
	{Name: "the same header", Open: "To: a@b.c\r\n", After: "\r\nx"},
	{Name: "no headers", Open: "a\r\n"},
	{Name: "colons", Open: ":\r\n"},
	{Name: "quoted-printable", Before: "Content-Transfer-Encoding: quoted-printable\r\n\r\n", Open: "=\r\n"},
	{Name: "quoted-printable without end", Before: "Content-Transfer-Encoding: quoted-printable\r\n\r\n", Open: "="},
	{Name: "base64", Before: "Content-Transfer-Encoding: base64\r\n\r\n", Open: "="},
	{Name: "broken base64", Before: "Content-Transfer-Encoding: base64\r\n\r\n", Open: "!A"},
	{Name: "utf-7", Before: "Content-Type: text/plain; charset=utf-7\r\n\r\n", Open: "+AGE-"},
	{Name: "half utf-7", Before: "Content-Type: text/plain; charset=utf-7\r\n\r\n", Open: "+"},
	{Name: "iso-2022", Before: "Content-Type: text/plain; charset=iso-2022-jp\r\n\r\n", Open: "\x1b$B"},
	{Name: "HTML", Before: "Content-Type: text/html\r\n\r\n",
		Open: `<p style="border: inherit inherit inherit inherit inherit inherit inherit inherit x">`},
	{Name: "nested HTML", Before: "Content-Type: text/html\r\n\r\n", Open: "<div>", Close: "</div>"},
	{Name: "HTML parts", Before: mixed, Open: "--b\r\nContent-Type: text/html\r\n\r\n<b>\r\n"},
	{Name: "text parts", Before: "Content-Type: multipart/alternative; boundary=b\r\n\r\n",
		Open: "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n"},
	{Name: "reports", Before: "Content-Type: multipart/report; boundary=b\r\n\r\n",
		Open: "--b\r\nContent-Type: message/delivery-status\r\n\r\nAction: failed\r\nFinal-Recipient: rfc822; " +
			"a@b.c\r\n"},
	{Name: "a long report",
		Before: "Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: " +
			"message/delivery-status\r\n\r\n",
		Open: "Action: failed\r\nFinal-Recipient: rfc822; a@b.c\r\n\r\n"},
	{Name: "folds in a report",
		Before: "Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: " +
			"message/delivery-status\r\n\r\nAction: failed\r\nDiagnostic-Code: x", Open: "\r\n y"},
	{Name: "zeros", Open: "\x00"},
	{Name: "line ends", Open: "\r\n"},
	{Name: "returns", Open: "\r"},
	{Name: "a long line", Before: "\r\n", Open: "x"},
	{Name: "invalid letters", Before: "Content-Type: text/plain; charset=utf-8\r\n\r\n", Open: "\xff"},
	{Name: "invalid letters in a header", Before: "Subject: ", Open: "\xff ", After: "\r\n\r\nx"},
	{Name: "percents in a name", Before: "Content-Disposition: attachment; filename*=utf-8''", Open: "%41",
		After: "\r\n\r\nx"},
	{Name: "semicolons", Before: "Content-Type: text/plain", Open: ";", After: "\r\n\r\nx"},
	{Name: "quotes in a type", Before: "Content-Type: text/plain; a=", Open: `"\`, After: "\r\n\r\nx"},
	{Name: "dates", Before: "Date: ", Open: "(", After: "\r\n\r\nx"},
}

func TestAttackMail(t *testing.T) {
	cputest.CheckShapes(t, mailShapes, func(t testing.TB, text string) { check(t, read(t, text)) })
}

// Parts nested a hundred deep, with a megabyte in the last.
func TestAttackNestedParts(t *testing.T) {
	for _, n := range cputest.Sizes {
		var b strings.Builder
		b.WriteString("Content-Type: multipart/mixed; boundary=b0\r\n\r\n")
		for i := range 100 {
			fmt.Fprintf(&b, "--b%d\r\nContent-Type: multipart/mixed; boundary=b%d\r\n\r\n", i, i+1)
		}
		for b.Len() < n {
			b.WriteString("--b100\r\n\r\nx\r\n")
		}
		text := b.String()
		cputest.CheckWithin(t, len(text), func() { check(t, read(t, text)) })
	}
}
