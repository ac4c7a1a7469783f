package mailserver

import (
	"errors"
	"io"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/listen"

	"github.com/emersion/go-smtp"
)

// listener wraps what it accepts in a conn, which has deadlines.
type listener struct {
	*listen.Listener
	server *Server
}

func (l *listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.server.trackConnection(inner.(*listen.Conn)), nil
}

// connectionBounds are how many connections there may be in total and from one peer. One that is
// too many is turned away before go-smtp sees it.
func (s *Server) connectionBounds() listen.Bounds {
	n := s.config.Connections
	return listen.Bounds{Total: n, PerPeer: max(n/peerShareDivisor, 1), SilentAfter: silentTimeout,
		Refuse: func(c net.Conn) {
			s.refused.Inc()
			// RFC 5321 §3.1 and §4.2.3 have 421 for it.
			const goodbye = "421 4.3.2 Too many connections. Please retry in a few minutes.\r\n"
			io.WriteString(c, goodbye) //nolint:errcheck // as far as it listens
		}}
}

func (s *Server) trackConnection(inner *listen.Conn) *conn {
	c := &conn{Conn: inner, server: s, idle: s.config.Idle, until: time.Now().Add(s.config.Session)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = true
	s.open.Inc()
	return c
}

func (s *Server) untrackConnection(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns[c] {
		delete(s.conns, c)
		s.open.Dec()
	}
}

// openConnections lists the current connections.
func (s *Server) openConnections() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.conns))
}

// byteUnit is what bytes are counted in: the limiter counts whole units, and a KiB is
// precise enough.
const byteUnit = 1 << 10

// checkRoom refuses a mail of n bytes if the disk or the peer's allowance has no room for
// it. n is what the sender announces and may be 0; meteredReader counts what comes.
func (s *Server) checkRoom(peer netip.Prefix, n int64) error {
	if s.config.Full != nil && s.config.Full(n) {
		s.countMail("disk")
		if s.warnLimiter.Spend("disk", 1, time.Minute, time.Now()).OK {
			s.log.Warn("mail is refused: the disk is full up to --storage-reserve; senders will try again")
		}
		return smtpError(452, smtp.EnhancedCode{4, 3, 1}, "There is no room for mail. Please retry later.")
	}
	if s.config.BytesPerMinute > 0 {
		v := s.byteLimiter.Peek(peer, s.byteUnitsPerMinute(), time.Minute, time.Now())
		if int64(v.Remaining)*byteUnit < n {
			return s.refuseTooMuch(v)
		}
	}
	return nil
}

func (s *Server) byteUnitsPerMinute() int { return int(s.config.BytesPerMinute / byteUnit) }

func (s *Server) refuseTooMuch(v limit.Verdict) error {
	s.countMail("limited")
	wait := limit.CeilSeconds(max(v.Retry, v.Reset, time.Second))
	return smtpError(452, smtp.EnhancedCode{4, 7, 1}, "Too much mail from your address. Please retry in %d seconds.",
		wait)
}

// meteredReader reads the content of a mail. Every piece is taken from the peer's allowance,
// and there must be room for it on the disk. A peer that exceeds its allowance gets an
// error, and its connection ends.
type meteredReader struct {
	io.Reader
	session *session
}

func (m *meteredReader) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p[:min(len(p), maxLineBytes)])
	s := m.session.server
	if n == 0 {
		return n, err
	}
	if s.config.Full != nil && s.config.Full(int64(n)) {
		return 0, s.checkRoom(m.session.conn.Peer, int64(n))
	}
	if s.config.BytesPerMinute > 0 {
		v := s.byteLimiter.SpendMany(m.session.conn.Peer, (n+byteUnit-1)/byteUnit, s.byteUnitsPerMinute(), time.Minute,
			time.Now())
		if !v.OK {
			m.session.conn.endWhenIdle()
			return 0, s.refuseTooMuch(v)
		}
	}
	return n, err
}

// conn is a connection that ends when nothing comes for idle, and at until in any case.
type conn struct {
	*listen.Conn
	server *Server
	idle   time.Duration

	mu      sync.Mutex
	until   time.Time
	busy    bool // it receives a mail's content, which it may finish although leaving
	leaving bool // it ends at the next command
}

// errLeaving looks like a time-out to go-smtp, which then sends the peer a 421.
var errLeaving = os.ErrDeadlineExceeded

func (c *conn) Read(p []byte) (int, error) {
	c.mu.Lock()
	if c.leaving && !c.busy {
		c.mu.Unlock()
		return 0, &net.OpError{Op: "read", Net: "tcp", Err: errLeaving}
	}
	at := time.Now().Add(c.idle)
	if c.until.Before(at) {
		at = c.until
	}
	err := c.Conn.SetReadDeadline(at)
	c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// beginTransfer begins the content of a mail, which has a time limit of its own. The
// function that it returns ends it and restores the connection's limit.
func (c *conn) beginTransfer(d time.Duration) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = true
	c.SetBusy(true)
	was := c.until
	if at := time.Now().Add(d); at.Before(was) {
		c.until = at
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.busy, c.until = false, was
		c.SetBusy(false)
	}
}

// endWhenIdle ends the conversation at its next command.
func (c *conn) endWhenIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving = true
	if !c.busy {
		c.SetReadDeadline(time.Now()) //nolint:errcheck // wakes a reader; the next one is told
	}
}

func (c *conn) Close() error {
	defer c.server.untrackConnection(c)
	if err := c.Conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
