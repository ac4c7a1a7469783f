// Package incoming reads mail as it comes from the network: who wrote it to
// whom, what it says, what is attached, and whether it reports that one of our
// own mails did not arrive.
//
// Whatever comes is read as far as it can be: there is no mail that Read
// refuses, and none on which it spends more than a bounded time and memory.
// Nothing here knows the database. Start reading at Read.
package incoming

import (
	"io"
	"net/mail"
	"time"
)

// Bounds of what is read. What exceeds them is in the original, which is kept
// beside what was read.
const (
	MaxText        = 500_000 // characters of a body
	MaxAttachments = 100
	MaxAddresses   = 50 // of one kind

	maxSubject    = 998       // characters; RFC 5322 §2.1.1 has lines of as many
	maxHeader     = 32 << 10  // bytes that are looked at of one header
	maxReferences = 50        // that a thread is looked for by
	maxName       = 255       // characters of a person's name
	maxID         = 998       // bytes of a Message-ID, as many as a line has; an index of PostgreSQL takes no more than 2704
	maxAddress    = 254       // bytes of an address; RFC 5321 §4.5.3.1 with its erratum 1690
	maxHTML       = 2_000_000 // bytes of HTML that are cleaned
)

// Letter is what a mail says.
type Letter struct {
	MessageID  string   // without its brackets; empty when there is none
	References []string // the mails that it answers, the nearest first
	From       *mail.Address
	ReplyTo    *mail.Address
	To, Cc     []*mail.Address
	Subject    string
	Date       time.Time // zero when there is none that can be read
	Text, HTML string    // HTML is clean, and empty when there is none

	Automatic   bool // no person wrote it to the recipient
	Attachments []Attachment
	Report      *Report // of a mail that did not arrive

	// Unread says why the original must be kept: part of it could not be read,
	// or was too much. Empty when everything was read.
	Unread string
}

// Attachment is a file that came with a mail. Its name is the sender's word.
type Attachment struct {
	Name    string
	Content []byte
}

// Read reads a mail of any shape. An error is the reader's own; what the mail
// says is never one.
func Read(r io.ReadSeeker) (*Letter, error) {
	s, err := survey(r)
	if err != nil {
		return nil, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	l := &Letter{}
	l.headers(s.header)
	if s.intricate != "" {
		l.Unread, l.Text = s.intricate, s.raw()
		return l, nil
	}
	root, unread, err := parts(r)
	if err != nil {
		return nil, err
	}
	l.Unread = unread
	if root == nil {
		l.Text = s.raw()
		return l, nil
	}
	l.Report = report(root)
	b := &body{letter: l}
	b.walk(root, 0, false)
	b.finish(s.beginning)
	return l, nil
}
