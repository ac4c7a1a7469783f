// Package mailserver is the SMTP server inside the binary: it takes mail for
// the domains that are hosted here and for nobody else. It relays nothing,
// knows no passwords, and says 250 only when the mail is stored.
//
// go-smtp speaks SMTP and calls session (session.go) for each command: Mail, Rcpt and
// Data check the sender's limits, the recipients and the size, and hand the mail to
// the Inbox. limits.go has the bounds of a server on the open network: connections,
// idle and total times, mails and bytes for each peer, room on the disk.
//
// Start reading at session.Mail, Rcpt and Data: what they refuse, and when.
package mailserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/listen"
	"frontdesk/internal/resource/message"

	"github.com/emersion/go-smtp"
)

// Inbox finds the mailboxes and stores the mail.
type Inbox interface {
	// Mailbox finds who receives mail at an address.
	FindMailbox(ctx context.Context, address string) (message.Mailbox, error)
	// Receive stores a mail for those mailboxes. It has reached the disk when
	// Receive returns.
	Receive(ctx context.Context, m message.ReceivedMail) error
}

// Config is how much the server takes.
type Config struct {
	Domain    string // the host name in the greeting
	MaxBytes  int64  // of one mail
	PerMinute int    // mails of one peer

	BytesPerMinute int64              // of one peer; 0 for no limit
	Full           func(n int64) bool // whether the disk has no room for so many bytes; may be nil

	Connections int // at a time
	TLS         *tls.Config
	Spool       string // a folder for mail that is not stored yet

	// Time limits. Zero means the default, which follows RFC 5321 §4.5.3.2; tests set
	// shorter ones.
	Idle     time.Duration // to wait for the next bytes
	Transfer time.Duration // for the content of one mail
	Session  time.Duration // for everything
}

const (
	maxRecipients = 100      // of one mail; RFC 5321 §4.5.3.1.8 wants no fewer
	maxLineBytes  = 64 << 10 // bytes; many programs write more than the 998 of RFC 5322
	maxRefused    = 20       // recipients that are refused before the connection ends

	writeTimeout     = time.Minute
	lookupTimeout    = 10 * time.Second // for a look into the database
	storeTimeout     = 2 * time.Minute  // RFC 5321 §4.5.3.2.6: the sender waits 10 minutes
	peerShareDivisor = 4                // a peer has at most this part of the connections
	silentTimeout    = 5 * time.Second  // after which a connection makes room for another
)

// Server takes mail.
type Server struct {
	config      Config
	inbox       Inbox
	log         *slog.Logger
	smtp        *smtp.Server
	mailLimiter limit.Limiter[netip.Prefix] // mails
	byteLimiter limit.Limiter[netip.Prefix] // units of bytes
	warnLimiter limit.Limiter[string]       // what the log says once a minute at most
	metrics

	mu    sync.Mutex
	conns map[*conn]bool
}

// New makes a server that does not listen yet.
func New(inbox Inbox, log *slog.Logger, c Config) *Server {
	if c.Idle == 0 {
		c.Idle = 5 * time.Minute
	}
	if c.Transfer == 0 {
		c.Transfer = 10 * time.Minute
	}
	if c.Session == 0 {
		c.Session = time.Hour
	}
	s := &Server{config: c, inbox: inbox, log: log, metrics: newMetrics(), conns: map[*conn]bool{}}
	s.smtp = smtp.NewServer(smtp.BackendFunc(s.newSession))
	s.smtp.Domain = c.Domain
	s.smtp.MaxRecipients = maxRecipients
	s.smtp.MaxMessageBytes = c.MaxBytes
	s.smtp.MaxLineLength = maxLineBytes
	s.smtp.WriteTimeout = writeTimeout
	s.smtp.EnableSMTPUTF8 = true
	s.smtp.TLSConfig = c.TLS
	s.smtp.ErrorLog = libraryLog{log}
	return s
}

// Serve takes mail from a listener until Shutdown.
func (s *Server) Serve(l net.Listener) error {
	if err := s.smtp.Serve(&listener{listen.New(l, s.connectionBounds()), s}); err != nil &&
		!errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("mailserver: %w", err)
	}
	return nil
}

// Shutdown lets the peers that are sending finish, and ends all others. A peer that
// is cut off has no 250 and sends its mail again; the error names them.
func (s *Server) Shutdown(ctx context.Context) error {
	for _, c := range s.openConnections() {
		c.endWhenIdle()
	}
	err := s.smtp.Shutdown(ctx)
	if ctx.Err() == nil {
		return err
	}
	var names []string
	for _, c := range s.openConnections() {
		names = append(names, c.RemoteAddr().String())
		c.Close() //nolint:errcheck // its end either way
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("mailserver: stopped with mail still coming from %s", strings.Join(names, ", "))
}

// libraryLog is go-smtp's error log. It logs bad clients and its own panics.
type libraryLog struct{ log *slog.Logger }

// Printf logs a formatted line.
func (c libraryLog) Printf(format string, v ...any) {
	c.log.Warn("smtp: " + fmt.Sprintf(format, v...)) //nolint:sloglint // the words are go-smtp's
}

// Println logs its operands.
func (c libraryLog) Println(v ...any) { c.Printf("%s", fmt.Sprint(v...)) }
