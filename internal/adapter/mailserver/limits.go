package mailserver

import (
	"errors"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"frontdesk/internal/kernel/listen"
)

// listener gives connections their times.
type listener struct {
	*listen.Listener
	server *Server
}

func (l *listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.server.remember(inner.(*listen.Conn)), nil
}

// bounds are how many connections there may be. What is too many is turned
// away before anything is spent on it.
func (s *Server) bounds() listen.Bounds {
	return listen.Bounds{Total: s.config.Connections, PerPeer: max(s.config.Connections/peerPortion, 1), Silent: silentTime, Refuse: func(c net.Conn) {
		s.refused.Inc()
		// RFC 5321 §3.1 and §4.2.3 have 421 for it.
		io.WriteString(c, "421 4.3.2 Too many connections. Please retry in a few minutes.\r\n") //nolint:errcheck // as far as it listens
	}}
}

func (s *Server) remember(inner *listen.Conn) *conn {
	c := &conn{Conn: inner, server: s, idle: s.config.Idle, until: time.Now().Add(s.config.Session)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = true
	s.open.Inc()
	return c
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns[c] {
		delete(s.conns, c)
		s.open.Dec()
	}
}

// all are the connections of now.
func (s *Server) all() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.conns))
}

// conn is a connection that ends when nothing comes for a while, and at some
// time in any case.
type conn struct {
	*listen.Conn
	server *Server
	idle   time.Duration

	mu      sync.Mutex
	until   time.Time
	busy    bool // with a mail's content, which may be finished
	leaving bool
}

// errLeaving looks like a time-out to go-smtp, which says goodbye then.
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

// transfer begins the content of a mail, which has a time of its own. The
// function that it returns ends it.
func (c *conn) transfer(d time.Duration) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = true
	c.Busy(true)
	was := c.until
	if at := time.Now().Add(d); at.Before(was) {
		c.until = at
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.busy, c.until = false, was
		c.Busy(false)
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
	c.server.forget(c)
	if err := c.Conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
