// Package filetext reads files as text, for agents and programs that cannot open
// them: text of any kind, HTML, mail and PDF (pdftext).
//
// Start reading at readFile. What a file says is bounded in size and work, because
// many files come from strangers; a file that came from outside carries that mark
// into the answer. Pictures and documents of word processors are not read.
package filetext

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/filetext/pdftext"
	"frontdesk/internal/resource/message/incoming"
	"frontdesk/internal/resource/template"

	"golang.org/x/text/encoding/charmap"
	textunicode "golang.org/x/text/encoding/unicode"
)

const (
	pageRunes    = 20_000   // characters of one answer
	maxFileBytes = 20 << 20 // of a file that is read
	maxHTMLBytes = 4 << 20  // of HTML, which takes longer
	maxAtOnce    = 3        // files that are read at the same time, which bounds the memory for it
)

// NoText refuses to read a file that has no text.
var NoText = fault.DefineKind("FILE_HAS_NO_TEXT", 422, "The file has no text that can be read.")

// Reader reads files as text.
type Reader struct {
	Files *file.Store
	turns chan struct{}
}

// New makes a Reader of the files in a store.
func New(files *file.Store) *Reader { return &Reader{files, make(chan struct{}, maxAtOnce)} }

// Operations has the one operation of this package.
func (r *Reader) Operations() []*op.Op {
	return []*op.Op{
		op.Flow(op.Spec{
			Name:    "files.read",
			Route:   "GET /v1/files/{id}/text",
			Summary: "Read a file as text: text, CSV, HTML, PDF or mail.",
			Description: "20000 characters from offset on; send nextOffset as offset to read on. Pictures and scans " +
				"have no text.",
			Errors:  []*fault.Kind{NoText, fault.TooLarge},
			Example: `{"id": "2a6d1c7e-95b0-4f3a-8c4d-71e2b9a05f36"}`,
		}, r.readFile),
	}
}

type readInput struct {
	ID     id.ID `path:"id" doc:"the file"`
	Offset int64 `query:"offset" default:"0" min:"0" max:"1000000000" doc:"nextOffset of the answer before"`
}

// FileText is a part of the text of a file.
type FileText struct {
	FileID      id.ID  `json:"fileId"`
	Name        string `json:"name"`
	ContentType string `json:"contentType"`
	Text        string `json:"text" max:"-1" view:"whole"`
	Offset      int64  `json:"offset" doc:"where the text begins, in characters"`
	NextOffset  *int64 `json:"nextOffset" doc:"where it goes on; null at the end"`
	Characters  int64  `json:"characters" doc:"of the whole text"`

	op.ExternalMark
}

// readFile answers with a page of a file's text.
func (r *Reader) readFile(ctx context.Context, c *op.Call, in readInput) (*FileText, error) {
	f, content, err := r.Files.Open(ctx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	if f.SizeBytes > maxFileBytes {
		return nil, fault.TooLarge.Say("Only files of up to %d MiB are read as text. Download it instead.",
			maxFileBytes>>20)
	}
	select { // a file of the largest size takes some hundred megabytes while it is read
	case r.turns <- struct{}{}:
		defer func() { <-r.turns }()
	case <-ctx.Done():
		return nil, fault.Unavailable.Because(ctx.Err())
	}
	data, err := io.ReadAll(io.LimitReader(content, maxFileBytes))
	if err != nil {
		return nil, err
	}
	text, err := textOf(f.ContentType, f.Name, data)
	if err != nil {
		return nil, err
	}
	p := &FileText{FileID: f.ID, Name: f.Name, ContentType: f.ContentType, Offset: in.Offset,
		ExternalMark: op.ExternalMark{External: f.External}}
	return p, p.cut(text)
}

// cut takes the page that begins at the offset out of the text.
func (p *FileText) cut(text string) error {
	p.Characters = int64(utf8.RuneCountInString(text))
	if p.Offset > p.Characters {
		issue := fmt.Sprintf("Beyond the end: the text has %d characters", p.Characters)
		return (*fault.Tree)(nil).At([]any{"offset"}, issue).Fault(fault.BadInput)
	}
	begin, end, n := len(text), len(text), int64(0)
	for i := range text {
		if n == p.Offset {
			begin = i
		}
		if n == p.Offset+pageRunes {
			end = i
			p.NextOffset = &n
			break
		}
		n++
	}
	p.Text = text[begin:end]
	return nil
}

// textOf is the text of a file. The type was detected from the bytes; only mail, which looks like any text, is known by
// its name.
func textOf(contentType, name string, data []byte) (text string, err error) {
	kind, _, _ := strings.Cut(contentType, ";")
	switch {
	case strings.EqualFold(path.Ext(name), ".eml") && strings.HasPrefix(kind, "text/"):
		text, err = mailText(data)
	case kind == "text/html":
		text, err = htmlText(data)
	case kind == "application/pdf":
		if text, err = pdftext.Read(data); err != nil {
			return "", NoText.Say("%s.", upperFirst(pdfReason(err)))
		}
	case strings.HasPrefix(kind, "text/"), kind == "application/json":
		text = decodeText(data)
	default:
		return "", NoText.Say("Files of the type %s have no text that can be read. Text, CSV, HTML, PDF and mail "+
			"(.eml) have.", kind)
	}
	return cleanText(text), err
}

// pdfReason says for people why a PDF could not be read.
func pdfReason(err error) string {
	for _, known := range []error{pdftext.ErrProtected, pdftext.ErrTooMuch, pdftext.ErrNoText} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return pdftext.ErrDamaged.Error()
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// decodeText reads text that may be UTF-16, by its mark, or in the encoding of Windows, which old programs write.
func decodeText(data []byte) string {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		decoder := textunicode.UTF16(textunicode.BigEndian, textunicode.UseBOM).NewDecoder()
		if out, err := decoder.Bytes(data); err == nil {
			return string(out)
		}
	}
	if utf8.Valid(data) {
		return strings.TrimPrefix(string(data), "\ufeff")
	}
	if out, err := charmap.Windows1252.NewDecoder().Bytes(data); err == nil {
		return string(out)
	}
	return strings.ToValidUTF8(string(data), "\uFFFD")
}

func htmlText(data []byte) (string, error) {
	if len(data) > maxHTMLBytes {
		return "", fault.TooLarge.Say("Only HTML of up to %d MiB is read as text. Download it instead.",
			maxHTMLBytes>>20)
	}
	made, err := template.CleanHTML(decodeText(data))
	if err != nil {
		return "", NoText.Say("The HTML has too many tags to be read as text.")
	}
	return made.Text, nil
}

// mailText is a mail as people read it: who wrote it to whom, what it says, and what is attached.
func mailText(data []byte) (string, error) {
	l, err := incoming.ReadLetter(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", label, value)
		}
	}
	if l.From != nil {
		line("From", showAddress(l.From))
	}
	line("To", showAddresses(l.To))
	line("Cc", showAddresses(l.Cc))
	if !l.Date.IsZero() {
		line("Date", l.Date.UTC().Format("2006-01-02 15:04 UTC"))
	}
	line("Subject", l.Subject)
	for _, a := range l.Attachments {
		line("Attachment", fmt.Sprintf("%s (%d bytes)", file.SafeName(a.Name), len(a.Content)))
	}
	return b.String() + "\n" + l.Text, nil
}

func showAddress(a *mail.Address) string {
	if a.Name == "" {
		return a.Address
	}
	return a.Name + " <" + a.Address + ">"
}

func showAddresses(list []*mail.Address) string {
	shown := make([]string, len(list))
	for i, a := range list {
		shown[i] = showAddress(a)
	}
	return strings.Join(shown, ", ")
}

// cleanText leaves out control characters, which are no text and make an answer longer than it looks.
func cleanText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}
