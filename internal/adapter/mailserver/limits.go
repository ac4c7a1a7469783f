package mailserver

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"frontdesk/internal/kernel/peer"
)

// listener gives connections their bounds, and turns away those that are too
// many before anything is spent on them.
type listener struct {
	net.Listener
	server *Server
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.server.admit(inner); c != nil {
			return c, nil
		}
		l.server.refused.Inc()
		go turnAway(inner)
	}
}

// turnAway tells a peer to come back; RFC 5321 §3.1 and §4.2.3 have 421 for it.
func turnAway(c net.Conn) {
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Second))                                              //nolint:errcheck // it is closed anyway
	io.WriteString(c, "421 4.3.2 Too many connections. Please retry in a few minutes.\r\n") //nolint:errcheck // as far as it listens
}

// admit counts a connection, or says no.
func (s *Server) admit(inner net.Conn) *conn {
	key := keyOf(inner.RemoteAddr())
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) >= s.config.Connections || s.peers[key] >= max(s.config.Connections/peerPortion, 1) {
		return nil
	}
	c := &conn{Conn: inner, server: s, key: key, idle: s.config.Idle, until: time.Now().Add(s.config.Session)}
	s.conns[c] = true
	s.peers[key]++
	s.open.Inc()
	return c
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.conns[c] {
		return
	}
	delete(s.conns, c)
	if s.peers[c.key]--; s.peers[c.key] == 0 {
		delete(s.peers, c.key)
	}
	s.open.Dec()
}

// keyOf is what limits go by.
func keyOf(a net.Addr) netip.Prefix {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Prefix{}
	}
	return peer.Network(at.Addr())
}

// conn is a connection that ends when nothing comes for a while, and at some
// time in any case.
type conn struct {
	net.Conn
	server *Server
	key    netip.Prefix
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
	was := c.until
	if at := time.Now().Add(d); at.Before(was) {
		c.until = at
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.busy, c.until = false, was
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
