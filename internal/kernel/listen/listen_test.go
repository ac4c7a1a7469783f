package listen_test

import (
	"io"
	"net"
	"testing"
	"time"

	"frontdesk/internal/kernel/listen"
)

// echo answers every byte.
func echo(t *testing.T, b listen.Bounds) (*listen.Listener, func(from string) net.Conn) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := listen.New(inner, b)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				io.Copy(struct{ io.Writer }{c}, struct{ io.Reader }{c}) //nolint:errcheck // until it is closed
			}()
		}
	}()
	return l, func(from string) net.Conn {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.DialContext(t.Context(), "tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
}

// lives tells whether a connection is answered.
func lives(c net.Conn) bool {
	c.SetDeadline(time.Now().Add(time.Minute)) //nolint:errcheck // the read tells
	c.Write([]byte("x"))                       //nolint:errcheck // the read tells
	n, _ := c.Read(make([]byte, 1))
	return n == 1
}

func TestPerPeer(t *testing.T) {
	said := ""
	l, dial := echo(t, listen.Bounds{Total: 10, PerPeer: 2, SilentAfter: time.Hour, Refuse: func(c net.Conn) {
		said = "no"
		io.WriteString(c, "no") //nolint:errcheck // it is read below
	}})
	a, b := dial("127.0.0.1"), dial("127.0.0.1")
	if !lives(a) || !lives(b) {
		t.Fatal("two are too many")
	}
	c := dial("127.0.0.1")
	if answer, _ := io.ReadAll(c); string(answer) != "no" || said != "no" {
		t.Errorf("the third hears %q", answer)
	}
	if d := dial("127.0.0.2"); !lives(d) {
		t.Error("another address is refused")
	}
	a.Close() //nolint:errcheck // whether it was open is not asked
	for end := time.Now().Add(time.Minute); l.Len() > 2 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if !lives(dial("127.0.0.1")) {
		t.Error("a place that is free again is not given")
	}
}

// Of those who say nothing, the one that has for longest makes room.
func TestSilent(t *testing.T) {
	const silent = 2 * time.Second
	_, dial := echo(t, listen.Bounds{Total: 3, PerPeer: 3, SilentAfter: silent})
	first, second, third := dial("127.0.0.1"), dial("127.0.0.1"), dial("127.0.0.1")
	for _, c := range []net.Conn{first, second, third} {
		if !lives(c) {
			t.Fatal("it is not answered")
		}
	}
	time.Sleep(silent + 100*time.Millisecond)
	talked := time.Now()
	if !lives(first) || !lives(third) {
		t.Fatal("it is not answered")
	}
	if !lives(dial("127.0.0.2")) {
		t.Error("no room is made")
	}
	if lives(second) || !lives(first) || !lives(third) {
		t.Error("another one made room")
	}
	if lives(dial("127.0.0.2")) && time.Since(talked) < silent { // a machine that stood still made them silent
		t.Error("room is made by those who talk")
	}
}

// What is busy stays for longer.
func TestBusy(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const silent = time.Second
	l := listen.New(inner, listen.Bounds{Total: 1, PerPeer: 1, SilentAfter: silent})
	defer l.Close()
	dial := func() net.Conn {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	accepted := make(chan *listen.Conn, 3)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c.(*listen.Conn)
		}
	}()
	began := time.Now()
	dial()
	c := <-accepted
	c.SetBusy(true)
	ended := make(chan struct{})
	go func() { c.Read(make([]byte, 1)); close(ended) }() //nolint:errcheck // until it is closed
	time.Sleep(silent + 200*time.Millisecond)
	late, waited := dial(), time.Since(began)
	late.SetDeadline(time.Now().Add(30 * time.Second)) //nolint:errcheck // the read tells
	late.Read(make([]byte, 1))                         //nolint:errcheck // until it is closed: there is no room
	select {
	case <-accepted:
		if waited < 3*silent { // of the six that a busy one has
			t.Error("it made room")
		}
		return // the machine stood still
	default:
	}
	c.SetBusy(false)
	dial()
	<-accepted
	<-ended
}

// A few addresses that begin a mail on each of their connections, and send
// nothing more of it or a byte now and then, do not close the server.
func TestAttackBusy(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := listen.New(inner, listen.Bounds{Total: 2, PerPeer: 2, SilentAfter: 20 * time.Millisecond})
	defer l.Close()
	accepted := make(chan *listen.Conn, 3)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c.(*listen.Conn)
		}
	}()
	ends := make(chan string, 2)
	dial := func(name string, sends int) {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		a := <-accepted
		a.SetBusy(true)
		go func() {
			io.Copy(io.Discard, struct{ io.Reader }{a}) //nolint:errcheck // until it is closed
			ends <- name
		}()
		go func() {
			for {
				if _, err := c.Write(make([]byte, sends)); err != nil {
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
		}()
	}
	dial("drips", 1)
	dial("sends", 16<<10)
	time.Sleep(500 * time.Millisecond)
	for end, in := time.Now().Add(time.Minute), false; !in; {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		select {
		case <-accepted:
			in = true
		case <-time.After(100 * time.Millisecond): // the one that drips was between two reads
			if time.Now().After(end) {
				t.Fatal("no room is made")
			}
		}
	}
	if name := <-ends; name != "drips" {
		t.Errorf("the one that %s made room", name)
	}
}
