package mailserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/resource/mailhost"
	"frontdesk/internal/resource/message"

	"github.com/emersion/go-smtp"
)

// session is the conversation with one peer.
type session struct {
	server *Server
	conn   *conn
	helo   string
	tls    bool

	sender     string
	recipients []message.Mailbox
	refusals   int
}

// newSession begins the conversation on a connection. After STARTTLS go-smtp begins
// another one, on the TLS connection around ours.
func (s *Server) newSession(c *smtp.Conn) (smtp.Session, error) {
	inner := c.Conn()
	wrapped, ok := inner.(interface{ NetConn() net.Conn }) // TLS
	if ok {
		inner = wrapped.NetConn()
	}
	return &session{server: s, conn: inner.(*conn), helo: c.Hostname(), tls: ok}, nil
}

// smtpError is a negative answer. code is that of RFC 5321, enhanced that of RFC 3463.
func smtpError(code int, enhanced smtp.EnhancedCode, format string, args ...any) *smtp.SMTPError {
	return &smtp.SMTPError{Code: code, EnhancedCode: enhanced, Message: fmt.Sprintf(format, args...)}
}

// Mail begins a mail. The sender's address is not verified: this server never sends a
// bounce to it.
func (s *session) Mail(from string, o *smtp.MailOptions) error {
	v := s.server.mailLimiter.Spend(s.conn.Peer, s.server.config.PerMinute, time.Minute, time.Now())
	if !v.OK {
		s.server.countMail("limited")
		return smtpError(451, smtp.EnhancedCode{4, 7, 1},
			"Too many messages from your address. Please retry in %d seconds.", limit.CeilSeconds(v.Retry))
	}
	if !isSoundAddress(from) {
		s.server.countMail("malformed")
		return smtpError(553, smtp.EnhancedCode{5, 1, 7}, "Replies cannot be sent to that address.")
	}
	if err := s.server.checkRoom(s.conn.Peer, o.Size); err != nil {
		return err
	}
	s.sender = from
	return nil
}

// maxAddress is RFC 5321 §4.5.3.1 with its erratum 1690.
const maxAddress = 254

// isSoundAddress reports whether an address is valid text of a possible length; go-smtp accepts
// any bytes.
func isSoundAddress(address string) bool {
	return len(address) <= maxAddress && utf8.ValidString(address) &&
		!strings.ContainsFunc(address, unicode.IsControl)
}

// Rcpt takes only addresses that somebody here receives mail at.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	var box message.Mailbox
	err := mailhost.ErrNobody
	if isSoundAddress(to) {
		box, err = s.server.inbox.FindMailbox(ctx, to)
	}
	if err == nil {
		s.recipients = append(s.recipients, box)
		return nil
	}
	if s.refusals++; s.refusals > maxRefused {
		s.conn.endWhenIdle() // the peer guesses addresses
	}
	return s.answerInboxError(ctx, err)
}

// answerInboxError turns an error of the inbox into an SMTP answer: 5yz tells the sender to give
// up, 4yz to retry.
func (s *session) answerInboxError(ctx context.Context, err error) error {
	var f *fault.Fault
	switch {
	case err == nil:
		return nil
	case errors.Is(err, mailhost.ErrNotHosted):
		s.server.countMail("relay")
		return smtpError(550, smtp.EnhancedCode{5, 7, 1},
			"This server does not relay, and takes no mail for that domain.")
	case errors.Is(err, mailhost.ErrNobody):
		s.server.countMail("nobody")
		return smtpError(550, smtp.EnhancedCode{5, 1, 1}, "Nobody receives mail at that address.")
	case errors.Is(err, message.ErrDisabled):
		s.server.countMail("closed")
		return smtpError(450, smtp.EnhancedCode{4, 2, 1}, "That mailbox is closed for now. Please retry later.")
	case errors.Is(err, message.ErrFull):
		s.server.countMail("full")
		return smtpError(452, smtp.EnhancedCode{4, 2, 2}, "That mailbox is full. Please retry later.")
	case errors.As(err, &f) && f.Status == fault.TooLarge.Status:
		s.server.countMail("large")
		return smtpError(552, smtp.EnhancedCode{5, 3, 4}, "The message is too large.")
	}
	s.server.countMail("failed")
	s.server.log.ErrorContext(ctx, "mail was not stored; the sender will try again",
		"err", err, "peer", s.conn.RemoteAddr().String())
	return smtpError(451, smtp.EnhancedCode{4, 3, 0}, "The message could not be stored. Please retry in a few minutes.")
}

// maxInMemory is how much of a mail is kept in memory. Most mail is smaller and
// costs no file.
const maxInMemory = 64 << 10

// Data takes the content. A mail larger than maxInMemory goes to a file without
// a name, which is gone with the process, and from there to the inbox.
func (s *session) Data(r io.Reader) error {
	ctx := context.Background() // a peer that hangs up does not cancel storing what it sent
	done := s.conn.beginTransfer(s.server.config.Transfer)
	defer done()
	r = &meteredReader{r, s}
	var start bytes.Buffer
	size, err := io.CopyN(&start, r, maxInMemory)
	var content io.ReadSeeker = bytes.NewReader(start.Bytes())
	switch {
	case err == nil:
		spool, err := openUnnamedFile(s.server.config.Spool)
		if err != nil {
			return s.answerInboxError(ctx, err)
		}
		defer spool.Close()
		if size, err = io.Copy(spool, io.MultiReader(&start, r)); err != nil {
			return s.answerInterrupted(ctx, err)
		}
		if _, err := spool.Seek(0, io.SeekStart); err != nil {
			return s.answerInboxError(ctx, err)
		}
		content = spool
	case !errors.Is(err, io.EOF):
		return s.answerInterrupted(ctx, err)
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	err = s.server.inbox.Receive(ctx, message.ReceivedMail{
		Peer:       s.peerAddress(),
		Helo:       s.helo,
		Sender:     s.sender,
		Recipients: s.recipients,
		Content:    content,
		Size:       size,
	})
	if err != nil {
		return s.answerInboxError(ctx, err)
	}
	s.server.countMail("stored")
	s.server.bytes.Add(float64(size))
	s.server.log.InfoContext(ctx, "mail received", "peer", s.conn.RemoteAddr().String(), "helo", s.helo, "tls", s.tls,
		"bytes", size, "recipients", len(s.recipients))
	return nil
}

// openUnnamedFile opens a temporary file and removes its name at once, so that it is gone with
// the process, however that ends.
func openUnnamedFile(folder string) (*os.File, error) {
	f, err := os.CreateTemp(folder, "mail-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// peerAddress is the address of whoever is connected.
func (s *session) peerAddress() netip.Addr {
	at, err := netip.ParseAddrPort(s.conn.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// answerInterrupted turns an error from reading a mail's content into an SMTP answer.
func (s *session) answerInterrupted(ctx context.Context, err error) error {
	var known *smtp.SMTPError
	var network net.Error
	switch {
	case errors.As(err, &known):
		if known.Code == smtp.ErrDataTooLarge.Code {
			s.server.countMail("large")
		}
		return known
	case errors.Is(err, smtp.ErrTooLongLine):
		s.server.countMail("malformed")
		return smtpError(554, smtp.EnhancedCode{5, 6, 0}, "A line has more than %d bytes.", maxLineBytes)
	case errors.As(err, &network), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, smtp.ErrDataReset):
		s.server.countMail("interrupted")
		return smtpError(451, smtp.EnhancedCode{4, 4, 2}, "The message did not arrive whole. Please retry.")
	}
	return s.answerInboxError(ctx, err)
}

// Reset forgets the mail that was begun.
func (s *session) Reset() { s.sender, s.recipients = "", nil }

// Logout ends the session.
func (s *session) Logout() error { return nil }
