// Package listen bounds the connections of a public server, so that nobody can
// block it for others by keeping connections open. One address gets only a part
// of them, and when all are taken the connection that has been silent the longest
// makes room.
package listen

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"frontdesk/internal/kernel/peer"
)

// Bounds say how many connections there may be.
type Bounds struct {
	Total   int
	PerPeer int            // of one address; for IPv6, of one network
	Silent  time.Duration  // after which a connection makes room for another
	Refuse  func(net.Conn) // called for a refused connection before it is closed; may be nil
}

// Listener accepts connections within its bounds.
type Listener struct {
	net.Listener
	bounds Bounds

	mu    sync.Mutex
	conns map[*Conn]bool
	peers map[netip.Prefix]int
}

// New bounds a listener.
func New(l net.Listener, b Bounds) *Listener {
	return &Listener{Listener: l, bounds: b, conns: map[*Conn]bool{}, peers: map[netip.Prefix]int{}}
}

// Accept waits for a connection within the bounds. It returns a *Conn.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c, silent := l.admit(inner)
		if silent != nil {
			silent.Close() //nolint:errcheck // its end either way
		}
		if c != nil {
			return c, nil
		}
		go l.refuse(inner)
	}
}

func (l *Listener) refuse(c net.Conn) {
	defer c.Close()
	if l.bounds.Refuse != nil {
		c.SetDeadline(time.Now().Add(time.Second)) //nolint:errcheck // it is closed anyway
		l.bounds.Refuse(c)
	}
}

// admit counts a connection, or refuses it by returning nil. silent, if any, made
// room for it and must be closed.
func (l *Listener) admit(inner net.Conn) (c, silent *Conn) {
	now := time.Now()
	c = &Conn{Conn: inner, Peer: Peer(inner.RemoteAddr()), listener: l}
	c.spoke.Store(now.UnixNano())
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.peers[c.Peer] >= l.bounds.PerPeer:
		silent = l.silent(now, func(o *Conn) bool { return o.Peer == c.Peer })
	case len(l.conns) >= l.bounds.Total:
		silent = l.silent(now, func(*Conn) bool { return true })
	default:
		l.add(c)
		return c, nil
	}
	if silent == nil {
		return nil, nil
	}
	l.remove(silent)
	l.add(c)
	return c, silent
}

// A busy connection has this many times as long for each portion.
const (
	patience = 6
	portion  = 16 << 10 // bytes
)

// silent finds the connection that has waited longest for its peer, if any has
// waited long enough.
func (l *Listener) silent(now time.Time, among func(*Conn) bool) (found *Conn) {
	var longest time.Duration
	for c := range l.conns {
		over := now.Sub(time.Unix(0, c.spoke.Load())) - l.bounds.Silent
		if c.busy.Load() {
			over -= (patience - 1) * l.bounds.Silent
		}
		if over >= longest && c.waiting.Load() > 0 && among(c) {
			found, longest = c, over
		}
	}
	return found
}

func (l *Listener) add(c *Conn) {
	l.conns[c] = true
	l.peers[c.Peer]++
}

func (l *Listener) remove(c *Conn) {
	if !l.conns[c] {
		return
	}
	delete(l.conns, c)
	if l.peers[c.Peer]--; l.peers[c.Peer] == 0 {
		delete(l.peers, c.Peer)
	}
}

// Len is how many connections there are.
func (l *Listener) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// Peer is the key of the limits per peer.
func Peer(a net.Addr) netip.Prefix {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Prefix{}
	}
	return peer.Network(at.Addr())
}

// Conn is a connection that is counted until it is closed.
type Conn struct {
	net.Conn
	Peer netip.Prefix

	listener *Listener
	waiting  atomic.Int32 // for the peer, to say something or to listen
	spoke    atomic.Int64 // when we last answered; what the peer sends does not count
	busy     atomic.Bool
	heard    atomic.Int64 // bytes received of a busy peer's current portion
}

// Busy says whether the peer is sending something long. The connection is then
// not closed for another as long as it makes progress.
func (c *Conn) Busy(on bool) {
	c.heard.Store(0)
	c.busy.Store(on)
}

func (c *Conn) Read(p []byte) (int, error) {
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	n, err := c.Conn.Read(p)
	if c.busy.Load() && c.heard.Add(int64(n)) >= portion {
		c.heard.Store(0)
		c.spoke.Store(time.Now().UnixNano())
	}
	return n, err
}

func (c *Conn) Write(p []byte) (int, error) {
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	c.spoke.Store(time.Now().UnixNano()) // before the peer can have it: else it may be answered and closed as silent
	n, err := c.Conn.Write(p)
	c.spoke.Store(time.Now().UnixNano())
	return n, err
}

// Close closes the connection, which no longer counts.
func (c *Conn) Close() error {
	c.listener.mu.Lock()
	c.listener.remove(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
