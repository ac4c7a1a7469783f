// Package incoming reads mail as it comes from the network: who wrote it to
// whom, what it says, what is attached, and whether it reports that one of our
// own mails did not arrive.
//
// Start reading at ReadLetter, which makes a Letter. It first scans the bytes
// (survey.go), so that a mail which would exhaust the parser never reaches it,
// and reads the headers (header.go). Then it lets the parser take the mail apart
// (parts.go), looks for a delivery report (report.go), and collects texts and
// attachments from the parts (body.go).
//
// Every mail is read as far as possible: none is refused, and none takes more
// than a bounded time and memory. Whatever could not be read is named in
// Letter.Unread, and the caller keeps the original. Nothing here knows the
// database.
package incoming

import (
	"io"
	"net/mail"
	"time"
)

// Bounds of what is read. Longer bodies and further attachments are only in the
// original, which Letter.Unread tells the caller to keep.
const (
	MaxText        = 500_000 // characters of a body
	MaxAttachments = 100
	MaxAddresses   = 50 // per header

	maxSubject    = 998       // characters; RFC 5322 §2.1.1 has lines of as many
	maxHeader     = 32 << 10  // bytes of one header that are read
	maxReferences = 50        // by which a thread is found
	maxName       = 255       // characters of a person's name
	maxID         = 998       // bytes of a Message-ID: a whole line; an index of PostgreSQL takes at most 2704
	maxAddress    = 254       // bytes of an address; RFC 5321 §4.5.3.1 with its erratum 1690
	maxHTML       = 2_000_000 // bytes of HTML to clean
)

// Letter is what a mail says.
type Letter struct {
	MessageID  string   // without brackets; empty if there is none
	References []string // the mails it answers, nearest first
	From       *mail.Address
	ReplyTo    *mail.Address
	To, Cc     []*mail.Address
	Subject    string
	Date       time.Time // zero if missing or unreadable
	Text, HTML string    // HTML is clean, and empty if there is none

	Automatic   bool // a machine wrote it, or it went to a mailing list
	Attachments []Attachment
	Report      *Report // about a mail that did not arrive

	// Unread says why the original must be kept: part of it could not be read,
	// or was too much. It is empty when everything was read.
	Unread string
}

// Attachment is a file that came with a mail. Its name is whatever the sender
// wrote.
type Attachment struct {
	Name    string
	Content []byte
}

// ReadLetter reads a mail of any shape. An error is the reader's own; what the mail
// says never causes one.
func ReadLetter(r io.ReadSeeker) (*Letter, error) {
	s, err := scanMail(r)
	if err != nil {
		return nil, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	l := &Letter{}
	l.readHeaders(s.header)
	if s.unparsable != "" {
		l.Unread, l.Text = s.unparsable, s.rawExcerpt()
		return l, nil
	}
	root, unread, err := parseParts(r)
	if err != nil {
		return nil, err
	}
	l.Unread = unread
	if root == nil {
		l.Text = s.rawExcerpt()
		return l, nil
	}
	l.Report = parseReport(root)
	b := &body{letter: l}
	b.walkPart(root, 0, false)
	b.finishLetter(s.beginning)
	return l, nil
}
