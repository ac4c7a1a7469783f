package message

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/mailhost"
	"frontdesk/internal/resource/template"

	"github.com/emersion/go-msgauth/dkim"
	"github.com/wneessen/go-mail"
)

// letter is a message on its way to one recipient or all of them.
type letter struct {
	message     *Message
	attachments []MessageAttachment
	keys        []mailhost.SigningKey
	layout      *template.Layout // of the business that sends it; nil for a message that has none
	now         clock.Time

	replyTo      string // where answers go unless the message says so itself; may be empty
	bounceDomain string // where reports go; may be empty

	enclosed []invoicePDF // beside the attachments

	only        string // for marketing mail: the only recipient
	unsubscribe string // and their link to unsubscribe
}

// encodeMIME writes the letter as RFC 5322 with its DKIM signatures. It is held in
// memory, bounded by maxAttachedBytes and the lengths of text and HTML. A header set
// with SetGenHeaderPreformatted is not encoded or checked by the library: its
// value must have been encoded, or checked for line ends, before.
func (l *letter) encodeMIME(ctx context.Context, files *file.Store) ([]byte, error) {
	v := l.message
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	to, cc := addressesToASCII(v.To), addressesToASCII(v.CC)
	if l.only != "" {
		to, cc = []string{mailhost.ToASCII(l.only)}, nil
	}
	msg.SetGenHeaderPreformatted("From", v.formatFromHeader())
	if err := msg.To(to...); err != nil {
		return nil, err
	}
	if len(cc) > 0 {
		if err := msg.Cc(cc...); err != nil {
			return nil, err
		}
	}
	replyTo := l.replyTo
	if v.ReplyTo != nil {
		replyTo = mailhost.ToASCII(*v.ReplyTo)
	}
	if replyTo != "" {
		if err := msg.ReplyTo(replyTo); err != nil {
			return nil, err
		}
	}
	if words := encodeHeaderWords(v.Subject); words == "" {
		msg.Subject(v.Subject)
	} else {
		msg.SetGenHeaderPreformatted(mail.HeaderSubject, words)
	}
	msg.SetDateWithValue(l.now.Std())
	msg.SetMessageIDWithValue(v.InternetID)
	if named := formatMessageIDs(v.References); len(named) > 0 {
		msg.SetGenHeaderPreformatted(mail.HeaderInReplyTo, named[len(named)-1])
		msg.SetGenHeaderPreformatted(mail.HeaderReferences, strings.Join(named, "\r\n "))
	}
	if v.AutoSubmitted {
		msg.SetGenHeaderPreformatted("Auto-Submitted", v.autoSubmittedHeader())
		msg.SetGenHeaderPreformatted("X-Auto-Response-Suppress", "OOF, AutoReply") // for Exchange
	}
	if l.unsubscribe != "" { // RFC 8058 §3.1
		msg.SetGenHeaderPreformatted(mail.HeaderListUnsubscribe, "<"+l.unsubscribe+">")
		msg.SetGenHeader(mail.HeaderListUnsubscribePost, "List-Unsubscribe=One-Click")
	}
	text, html, embeds, err := l.renderBodies(ctx, files)
	if err != nil {
		return nil, err
	}
	msg.SetBodyString(mail.TypeTextPlain, text)
	if html != nil {
		msg.AddAlternativeString(mail.TypeTextHTML, *html)
	}
	msg.SetEmbeds(embeds)
	var attached []*mail.File
	for i := range l.attachments {
		a := &l.attachments[i]
		attached = append(attached, &mail.File{
			Name:        a.FileName,
			ContentType: mail.ContentType(a.ContentType),
			Header:      a.mimeHeaders(),
			Writer:      func(w io.Writer) (int64, error) { return copyAttachment(ctx, files, a, w) },
		})
	}
	for _, e := range l.enclosed {
		attached = append(attached, &mail.File{
			Name:        e.name,
			ContentType: "application/pdf",
			Header:      map[string][]string{},
			Writer: func(w io.Writer) (int64, error) {
				n, err := w.Write(e.pdf)
				return int64(n), err
			},
		})
	}
	msg.SetAttachments(attached)
	var b bytes.Buffer
	if _, err := msg.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("message: write the mail: %w", err)
	}
	return signMail(unfoldMessageID(b.Bytes()), l.keys)
}

// unfoldMessageID puts a Message-ID on the line of its header. The library folds a long
// one onto the next line, and some readers take the space there for a part of
// the ID. The headers before it are moved by two bytes within the same array:
// the content behind it may be many megabytes and stays where it is.
func unfoldMessageID(content []byte) []byte {
	const name, fold = "\r\nMessage-ID:", "\r\n"
	head, _, _ := bytes.Cut(content, []byte("\r\n\r\n"))
	at := bytes.Index(head, []byte(name+fold+" <"))
	if at < 0 {
		return content
	}
	end := at + len(name)
	copy(content[len(fold):], content[:end])
	return content[len(fold):]
}

// encodedWordBytes makes an encoded word short enough to follow the header's name on a
// line of 76 characters (RFC 2047 §2). The library's own are longer; it then
// starts the subject on the next line, and some readers show the gap.
const encodedWordBytes = 36

// encodeHeaderWords writes a text as base64 words (RFC 2047), one per line, if it is
// not all printable ASCII or if a reader would mistake it for such words. For
// any other text it returns the empty string: it needs no encoding.
func encodeHeaderWords(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r > '~' || r < ' ' }) {
		if read, err := new(mime.WordDecoder).DecodeHeader(s); err == nil && read == s {
			return ""
		}
	}
	var words []string
	for s != "" {
		part := cut.Bytes(s, encodedWordBytes)
		words = append(words, "=?UTF-8?b?"+base64.StdEncoding.EncodeToString([]byte(part))+"?=")
		s = s[len(part):]
	}
	return strings.Join(words, "\r\n ")
}

// mimeHeaders returns the headers of an attachment whose name is not all ASCII, with
// one encoded word per line. The library would write all words on one line,
// which may be longer than mail allows (RFC 5322 §2.1.1). It handles every other
// name, for which the map is empty.
func (a *MessageAttachment) mimeHeaders() map[string][]string {
	words := encodeHeaderWords(a.FileName)
	if words == "" {
		return map[string][]string{}
	}
	return map[string][]string{
		string(mail.HeaderContentType):        {a.ContentType + ";\r\n name=\"" + words + "\""},
		string(mail.HeaderContentDisposition): {"attachment;\r\n filename=\"" + words + "\""},
	}
}

func addressesToASCII(list []string) []string {
	out := make([]string, len(list))
	for i, a := range list {
		out[i] = mailhost.ToASCII(a)
	}
	return out
}

// formatMessageIDs puts Message-IDs into brackets for a header, and leaves out those
// that would break it. Those of received mail are whatever somebody wrote.
func formatMessageIDs(ids []string) (out []string) {
	bad := func(r rune) bool { return r <= ' ' || r > '~' || r == '<' || r == '>' || r == ',' }
	for _, s := range ids {
		if s != "" && len(s) < 250 && !strings.ContainsFunc(s, bad) {
			out = append(out, "<"+s+">")
		}
	}
	return out
}

// copyAttachment writes the bytes of an attachment's file into the mail.
func copyAttachment(ctx context.Context, files *file.Store, a *MessageAttachment, w io.Writer) (int64, error) {
	if a.FileID == nil {
		return 0, &fileGoneError{a.FileName}
	}
	_, content, err := files.Open(ctx, a.OrganizationID, *a.FileID)
	if fault.IsKind(err, fault.NotFound) {
		return 0, &fileGoneError{a.FileName}
	}
	if err != nil {
		return 0, err // it may be readable at the next attempt
	}
	defer content.Close()
	return io.Copy(w, content)
}

// fileGoneError means that an attachment's file was deleted before the message was
// sent. Trying again does not help, so the message fails.
type fileGoneError struct{ name string }

func (e *fileGoneError) Error() string {
	return fmt.Sprintf("The attached file %q was deleted before the message was sent.", e.name)
}

// signedHeaders are covered by a signature whether present or not, so that none
// can be added in transit (RFC 6376 §5.4).
var signedHeaders = []string{
	"From", "To", "Cc", "Reply-To", "Subject", "Date", "Message-ID", "In-Reply-To", "References", "MIME-Version",
	"Content-Type", "Content-Transfer-Encoding", "List-Unsubscribe", "List-Unsubscribe-Post", "Auto-Submitted",
}

// signMail puts a signature by each key in front of a mail.
func signMail(content []byte, keys []mailhost.SigningKey) ([]byte, error) {
	var heads []byte
	for _, k := range keys {
		s, err := dkim.NewSigner(&dkim.SignOptions{
			Domain:                 k.Domain,
			Selector:               k.Selector,
			Signer:                 k.Signer,
			HeaderKeys:             signedHeaders,
			HeaderCanonicalization: dkim.CanonicalizationRelaxed,
			BodyCanonicalization:   dkim.CanonicalizationRelaxed,
		})
		if err != nil {
			return nil, fmt.Errorf("message: sign for %s: %w", k.Domain, err)
		}
		if _, err := s.Write(content); err != nil {
			return nil, fmt.Errorf("message: sign for %s: %w", k.Domain, err)
		}
		if err := s.Close(); err != nil {
			return nil, fmt.Errorf("message: sign for %s: %w", k.Domain, err)
		}
		heads = append(heads, s.Signature()...)
	}
	return slices.Concat(heads, content), nil
}
