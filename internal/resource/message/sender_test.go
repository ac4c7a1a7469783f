package message_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/resource/message/messagetest"
)

// pieces are the bodies of a mail by their type, decoded, and the order of
// those types.
func pieces(t *testing.T, header mail.Header, body io.Reader) (map[string]string, string) {
	t.Helper()
	out, order := map[string]string{}, ""
	var walk func(contentType, encoding string, r io.Reader)
	walk = func(contentType, encoding string, r io.Reader) {
		kind, params, err := mime.ParseMediaType(contentType)
		if err != nil {
			t.Fatal(contentType, err)
		}
		order += kind + " "
		if !strings.HasPrefix(kind, "multipart/") {
			switch encoding {
			case "quoted-printable":
				r = quotedprintable.NewReader(r)
			case "base64":
				r = base64.NewDecoder(base64.StdEncoding, r)
			}
			text, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			out[kind] = strings.ReplaceAll(string(text), "\r\n", "\n")
			return
		}
		parts := multipart.NewReader(r, params["boundary"])
		for {
			p, err := parts.NextRawPart()
			if err != nil {
				return
			}
			if p.Header.Get("Content-Id") != "" {
				out["id"] = p.Header.Get("Content-Id")
			}
			walk(p.Header.Get("Content-Type"), p.Header.Get("Content-Transfer-Encoding"), p)
		}
	}
	walk(header.Get("Content-Type"), header.Get("Content-Transfer-Encoding"), body)
	return out, strings.TrimSpace(order)
}

// A mail is from the business by its name, in its letterhead; and what somebody
// designed leaves as it is.
func TestLetterhead(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		const name = `Żółw "Zoo" & Söhne, Inc. @ home` + "\u202e"
		picture := "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 50)
		logo := a.UploadForm(t, a.Key, "/v1/files",
			apptest.Part{Name: "file", FileName: "logo.png", Text: picture}).OK(t, 201).Text("id")
		a.SendREST(t, a.Key, "PATCH", "/v1/businesses/"+string(a.Business),
			fmt.Sprintf(`{"name": %q, "logoFileId": %q}`, name, logo)).OK(t, 200)
		a.SendREST(t, a.Key, "POST", "/v1/businesses/"+string(a.Business)+"/physical-presences",
			`{"name": "Office", "address": "12 St James's Square\nLondon"}`).OK(t, 201)
		template := func(format string) string {
			return call(t, "email_templates.create", fmt.Sprintf(`{"name": "T", "subject": "Hello",
				"body": "Dear <b>{{ name }}</b>", "bodyFormat": %q}`, format)).OK(t, 201).Text("id")
		}
		n := 0
		send := func(fields string) (apptest.Value, *mail.Message, map[string]string, string) {
			t.Helper()
			v := call(t, "messages.create", `{"to": "ada@example.com", `+fields+`}`).OK(t, 201)
			reaches(t, call, v, "sent")
			m, err := mail.ReadMessage(bytes.NewReader(r.Accepted()[n].Content))
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.SplitSeq(r.Accepted()[n].Content, []byte("\r\n")) {
				if len(line) > 998 {
					t.Errorf("a line of %d bytes", len(line))
				}
			}
			n++
			parts, order := pieces(t, m.Header, m.Body)
			return v, m, parts, order
		}
		v, m, parts, order := send(`"templateId": "` + template("markdown") + `", "variables": {"name": "<Ada>"}`)
		const shown = `Żółw "Zoo" & Söhne, Inc. at home`
		v.Same("fromName", shown+" via 127.0.0.1")
		v.Same("from", "no-reply@frontdesk.example")
		from, err := mail.ParseAddress(m.Header.Get("From"))
		if err != nil || from.Name != shown+" via 127.0.0.1" || from.Address != "no-reply@frontdesk.example" {
			t.Errorf("from %v, %v", from, err)
		}
		if order != "multipart/related multipart/alternative text/plain text/html image/png" ||
			parts["id"] != "<logo>" || parts["image/png"] != strings.ReplaceAll(picture, "\r\n", "\n") {
			t.Errorf("%s, %q", order, parts["id"])
		}
		if got := parts["text/html"]; !strings.Contains(got, `src="cid:logo"`) ||
			!strings.Contains(got, "<p style=") || !strings.Contains(got, "<b>&lt;Ada&gt;</b>") ||
			!strings.Contains(got, "Square<br>London") {
			t.Errorf("HTML %s", got)
		}
		if got := parts["text/plain"]; got != "Dear <Ada>\n\n-- \n"+shown+"\n12 St James's Square\nLondon\n" {
			t.Errorf("text %q", got)
		}
		for _, fields := range []string{
			`"templateId": "` + template("html") + `", "variables": {"name": "Ada"}`,
			`"subject": "Hello", "html": "Dear <b>Ada</b>"`,
		} {
			_, _, parts, order := send(fields)
			if order != "multipart/alternative text/plain text/html" || parts["text/html"] != "Dear <b>Ada</b>" {
				t.Errorf("%s: %s %q", fields, order, parts["text/html"])
			}
		}
		if _, _, parts, order := send(`"subject": "Hello", "text": "Dear Ada"`); order != "text/plain" ||
			parts["text/plain"] != "Dear Ada\n" {
			t.Errorf("%s %q", order, parts)
		}
		// A logo that no program shows, or that is gone, is the name in letters.
		a.SendREST(t, a.Key, "DELETE", "/v1/files/"+logo, "").OK(t, 204)
		_, _, parts, order = send(`"templateId": "` + template("markdown") + `", "variables": {"name": "Ada"},
			"from": "\"Ada, \\\\ & \\\"Co\\\"\" <no-reply@frontdesk.example>"`)
		if order != "multipart/alternative text/plain text/html" || strings.Contains(parts["text/html"], "cid:") {
			t.Errorf("%s %s", order, parts["text/html"])
		}
		m, err = mail.ReadMessage(bytes.NewReader(r.Accepted()[n-1].Content))
		if err != nil {
			t.Fatal(err)
		}
		if from, err := mail.ParseAddress(m.Header.Get("From")); err != nil || !strings.HasPrefix(from.Name,
			`Żółw "Zoo"`) {
			t.Errorf("from %q, %v", m.Header.Get("From"), err)
		}
	})
}

// A draft is from whoever it says, or else from the business.
func TestSenderOfDraft(t *testing.T) {
	const via = "Test via 127.0.0.1"
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		v := draft(t, call, `"to": "ada@example.com", "subject": "x", "from": "Grace <no-reply@frontdesk.example>"`)
		v.Same("fromName", via) // the only name that this address has
		v.Same("from", "no-reply@frontdesk.example")
		for _, from := range []string{"no-reply@frontdesk.example",
			"=?utf-8?q?Caf=C3=A9?= <no-reply@frontdesk.example>"} {
			call(t, "messages.update", with(v, `"from": "`+from+`"`)).OK(t, 200).Same("fromName", via)
		}
		call(t, "messages.update", with(v, `"from": "Grace <grace@elsewhere.example>"`)).Issues(t, "from")
		call(t, "messages.update", with(v, `"from": "Grace"`)).Issues(t, "from")
		if events := a.Events(t, "message.updated"); events != "" {
			t.Errorf("events %q", events)
		}
	})
}
