// Package listen bounds the connections of a public server, so that nobody can block it for others by keeping
// connections open. One address gets only a part of them. When all are taken, the connection that has made no progress
// for the longest time is closed for the new one; if none has been silent for long enough, the new one is refused.
//
// listen.go has Listener, which wraps any net.Listener, and Conn. inherit.go opens a socket, or takes over one that
// systemd holds. The package knows no protocol: the mail server tells a Conn when a long message begins and ends
// (Conn.SetBusy).
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
	Total       int
	PerPeer     int            // of one address; for IPv6, of one network
	SilentAfter time.Duration  // how long a connection must have made no progress to be closed for another
	Refuse      func(net.Conn) // called for a refused connection before it is closed; may be nil
}

// Listener accepts connections within its bounds.
type Listener struct {
	net.Listener
	bounds Bounds

	mu    sync.Mutex
	conns map[*Conn]bool
	peers map[netip.Prefix]int // how many connections each peer has
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
		c, silent := l.admitConn(inner)
		if silent != nil {
			silent.Close() //nolint:errcheck // its end either way
		}
		if c != nil {
			return c, nil
		}
		go l.refuseConn(inner)
	}
}

// refuseConn closes a connection that is over the bounds. Telling the peer so takes a second at most.
func (l *Listener) refuseConn(c net.Conn) {
	defer c.Close()
	if l.bounds.Refuse != nil {
		c.SetDeadline(time.Now().Add(time.Second)) //nolint:errcheck // it is closed anyway
		l.bounds.Refuse(c)
	}
}

// admitConn counts a connection, or refuses it by returning nil. silent, if not nil, was removed to make room for it
// and must be closed. A peer that is over its own bound replaces only connections of its own.
func (l *Listener) admitConn(inner net.Conn) (c, silent *Conn) {
	now := time.Now()
	c = &Conn{Conn: inner, Peer: PeerNetwork(inner.RemoteAddr()), listener: l}
	c.lastProgress.Store(now.UnixNano())
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.peers[c.Peer] >= l.bounds.PerPeer:
		silent = l.findSilentConn(now, func(o *Conn) bool { return o.Peer == c.Peer })
	case len(l.conns) >= l.bounds.Total:
		silent = l.findSilentConn(now, func(*Conn) bool { return true })
	default:
		l.addConn(c)
		return c, nil
	}
	if silent == nil {
		return nil, nil
	}
	l.removeConn(silent)
	l.addConn(c)
	return c, silent
}

// A connection that receives something long makes progress with each portion, and has patience times as long for it.
const (
	busyPatience = 6
	busyPortion  = 16 << 10 // bytes
)

// findSilentConn finds the connection, among those that among accepts, that has made no progress for the longest time.
// It returns nil if none has waited as long as the bounds say. A connection that is not waiting for its peer is
// working, and is left alone.
func (l *Listener) findSilentConn(now time.Time, among func(*Conn) bool) (found *Conn) {
	var longest time.Duration
	for c := range l.conns {
		over := now.Sub(time.Unix(0, c.lastProgress.Load())) - l.bounds.SilentAfter
		if c.busy.Load() {
			over -= (busyPatience - 1) * l.bounds.SilentAfter
		}
		if over >= longest && c.waiting.Load() > 0 && among(c) {
			found, longest = c, over
		}
	}
	return found
}

// addConn counts a connection. The caller holds mu.
func (l *Listener) addConn(c *Conn) {
	l.conns[c] = true
	l.peers[c.Peer]++
}

// removeConn no longer counts a connection, unless that is done already. The caller holds mu.
func (l *Listener) removeConn(c *Conn) {
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

// PeerNetwork is what the bound per peer counts by: an IPv4 address, or the network of an IPv6 address.
func PeerNetwork(a net.Addr) netip.Prefix {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Prefix{}
	}
	return peer.NetworkOf(at.Addr())
}

// Conn is a connection that is counted until it is closed.
type Conn struct {
	net.Conn
	Peer netip.Prefix

	listener *Listener
	waiting  atomic.Int32 // reads and writes that wait for the peer
	// lastProgress is the Unix time in nanoseconds when the server last wrote, or a busy peer completed a portion.
	// What a peer sends does not count otherwise: a byte now and then would keep the connection.
	lastProgress atomic.Int64
	busy         atomic.Bool
	portionBytes atomic.Int64 // bytes received of a busy peer's current portion
}

// SetBusy says whether the peer is sending something long, like the text of a mail. Then it makes progress with each
// portion that it sends, and has longer for it.
func (c *Conn) SetBusy(on bool) {
	c.portionBytes.Store(0)
	c.busy.Store(on)
}

func (c *Conn) Read(p []byte) (int, error) {
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	n, err := c.Conn.Read(p)
	if c.busy.Load() && c.portionBytes.Add(int64(n)) >= busyPortion {
		c.portionBytes.Store(0)
		c.lastProgress.Store(time.Now().UnixNano())
	}
	return n, err
}

func (c *Conn) Write(p []byte) (int, error) {
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	// also before: once the peer has it, the connection must not count as silent
	c.lastProgress.Store(time.Now().UnixNano())
	n, err := c.Conn.Write(p)
	c.lastProgress.Store(time.Now().UnixNano())
	return n, err
}

// Close closes the connection and no longer counts it.
func (c *Conn) Close() error {
	c.listener.mu.Lock()
	c.listener.removeConn(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
