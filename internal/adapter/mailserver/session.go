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

// session begins the conversation on a connection. After STARTTLS go-smtp begins
// another one, on the TLS connection around ours.
func (s *Server) session(c *smtp.Conn) (smtp.Session, error) {
	inner := c.Conn()
	wrapped, ok := inner.(interface{ NetConn() net.Conn }) // TLS
	if ok {
		inner = wrapped.NetConn()
	}
	return &session{server: s, conn: inner.(*conn), helo: c.Hostname(), tls: ok}, nil
}

// refuse is a negative answer. code is that of RFC 5321, enhanced that of RFC 3463.
func refuse(code int, enhanced smtp.EnhancedCode, format string, args ...any) *smtp.SMTPError {
	return &smtp.SMTPError{Code: code, EnhancedCode: enhanced, Message: fmt.Sprintf(format, args...)}
}

// Mail begins a mail. The sender's address is not verified: this server never sends a
// bounce to it.
func (s *session) Mail(from string, o *smtp.MailOptions) error {
	v := s.server.spent.Spend(s.conn.Peer, s.server.config.PerMinute, time.Minute, time.Now())
	if !v.OK {
		s.server.count("limited")
		return refuse(451, smtp.EnhancedCode{4, 7, 1},
			"Too many messages from your address. Please retry in %d seconds.", limit.Seconds(v.Retry))
	}
	if !sound(from) {
		s.server.count("malformed")
		return refuse(553, smtp.EnhancedCode{5, 1, 7}, "Replies cannot be sent to that address.")
	}
	if err := s.server.fits(s.conn.Peer, o.Size); err != nil {
		return err
	}
	s.sender = from
	return nil
}

// maxAddress is RFC 5321 §4.5.3.1 with its erratum 1690.
const maxAddress = 254

// sound reports whether an address is valid text of a possible length; go-smtp accepts
// any bytes.
func sound(address string) bool {
	return len(address) <= maxAddress && utf8.ValidString(address) &&
		!strings.ContainsFunc(address, unicode.IsControl)
}

// Rcpt takes only addresses that somebody here receives mail at.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	var box message.Mailbox
	err := mailhost.ErrNobody
	if sound(to) {
		box, err = s.server.inbox.Mailbox(ctx, to)
	}
	if err == nil {
		s.recipients = append(s.recipients, box)
		return nil
	}
	if s.refusals++; s.refusals > maxRefused {
		s.conn.endWhenIdle() // the peer guesses addresses
	}
	return s.answer(ctx, err)
}

// answer turns an error of the inbox into an SMTP answer: 5yz tells the sender to give
// up, 4yz to retry.
func (s *session) answer(ctx context.Context, err error) error {
	var f *fault.Fault
	switch {
	case err == nil:
		return nil
	case errors.Is(err, mailhost.ErrNotHosted):
		s.server.count("relay")
		return refuse(550, smtp.EnhancedCode{5, 7, 1}, "This server does not relay, and takes no mail for that domain.")
	case errors.Is(err, mailhost.ErrNobody):
		s.server.count("nobody")
		return refuse(550, smtp.EnhancedCode{5, 1, 1}, "Nobody receives mail at that address.")
	case errors.Is(err, message.ErrDisabled):
		s.server.count("closed")
		return refuse(450, smtp.EnhancedCode{4, 2, 1}, "That mailbox is closed for now. Please retry later.")
	case errors.Is(err, message.ErrFull):
		s.server.count("full")
		return refuse(452, smtp.EnhancedCode{4, 2, 2}, "That mailbox is full. Please retry later.")
	case errors.As(err, &f) && f.Status == fault.TooLarge.Status:
		s.server.count("large")
		return refuse(552, smtp.EnhancedCode{5, 3, 4}, "The message is too large.")
	}
	s.server.count("failed")
	s.server.log.ErrorContext(ctx, "mail was not stored; the sender will try again",
		"err", err, "peer", s.conn.RemoteAddr().String())
	return refuse(451, smtp.EnhancedCode{4, 3, 0}, "The message could not be stored. Please retry in a few minutes.")
}

// inMemory is how much of a mail is kept in memory. Most mail is smaller and
// costs no file.
const inMemory = 64 << 10

// Data takes the content. A mail larger than maxInMemory goes to a file without
// a name, which is gone with the process, and from there to the inbox.
func (s *session) Data(r io.Reader) error {
	ctx := context.Background() // a peer that hangs up does not cancel storing what it sent
	done := s.conn.transfer(s.server.config.Transfer)
	defer done()
	r = &metered{r, s}
	var start bytes.Buffer
	size, err := io.CopyN(&start, r, inMemory)
	var content io.ReadSeeker = bytes.NewReader(start.Bytes())
	switch {
	case err == nil:
		spool, err := unnamed(s.server.config.Spool)
		if err != nil {
			return s.answer(ctx, err)
		}
		defer spool.Close()
		if size, err = io.Copy(spool, io.MultiReader(&start, r)); err != nil {
			return s.interrupted(ctx, err)
		}
		if _, err := spool.Seek(0, io.SeekStart); err != nil {
			return s.answer(ctx, err)
		}
		content = spool
	case !errors.Is(err, io.EOF):
		return s.interrupted(ctx, err)
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	err = s.server.inbox.Receive(ctx, message.Arrived{
		Peer:       s.peer(),
		Helo:       s.helo,
		Sender:     s.sender,
		Recipients: s.recipients,
		Content:    content,
		Size:       size,
	})
	if err != nil {
		return s.answer(ctx, err)
	}
	s.server.count("stored")
	s.server.bytes.Add(float64(size))
	s.server.log.InfoContext(ctx, "mail received", "peer", s.conn.RemoteAddr().String(), "helo", s.helo, "tls", s.tls,
		"bytes", size, "recipients", len(s.recipients))
	return nil
}

// unnamed opens a temporary file and removes its name at once, so that it is gone with
// the process, however that ends.
func unnamed(folder string) (*os.File, error) {
	f, err := os.CreateTemp(folder, "mail-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// peer is the address of whoever is connected.
func (s *session) peer() netip.Addr {
	at, err := netip.ParseAddrPort(s.conn.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// interrupted turns an error from reading a mail's content into an SMTP answer.
func (s *session) interrupted(ctx context.Context, err error) error {
	var known *smtp.SMTPError
	var network net.Error
	switch {
	case errors.As(err, &known):
		if known.Code == smtp.ErrDataTooLarge.Code {
			s.server.count("large")
		}
		return known
	case errors.Is(err, smtp.ErrTooLongLine):
		s.server.count("malformed")
		return refuse(554, smtp.EnhancedCode{5, 6, 0}, "A line has more than %d bytes.", maxLine)
	case errors.As(err, &network), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, smtp.ErrDataReset):
		s.server.count("interrupted")
		return refuse(451, smtp.EnhancedCode{4, 4, 2}, "The message did not arrive whole. Please retry.")
	}
	return s.answer(ctx, err)
}

// Reset forgets the mail that was begun.
func (s *session) Reset() { s.sender, s.recipients = "", nil }

// Logout ends the session.
func (s *session) Logout() error { return nil }
