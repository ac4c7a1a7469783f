package dnsserver_test

import (
	"fmt"
	"net"
	"testing"
	"time"

	"frontdesk/internal/kernel/db"

	"github.com/miekg/dns"
)

// occupy opens connections from an address and says nothing.
func (f *fixture) occupy(t *testing.T, from string, n int) {
	t.Helper()
	for range n {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: time.Minute}
		c, err := d.DialContext(t.Context(), "tcp", f.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
}

// asks puts a question over TCP from an address.
func (f *fixture) asks(from string) error {
	m := new(dns.Msg)
	m.SetQuestion("example.com.", dns.TypeSOA)
	c := &dns.Client{Net: "tcp", Timeout: time.Minute,
		Dialer: &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: time.Minute}}
	_, _, err := c.Exchange(m, f.addr)
	return err
}

// Connections from one address, however many, leave room for all others.
func TestAttackConnections(t *testing.T) {
	f := start(t, db.SQLite, 0)
	f.occupy(t, "127.0.0.1", 300)
	if err := f.asks("127.0.0.2"); err != nil {
		t.Errorf("another address is not answered: %v", err)
	}
}

// Connections from many addresses make room when they say nothing.
func TestAttackManyAddresses(t *testing.T) {
	f := start(t, db.SQLite, 0)
	for i := range 16 {
		f.occupy(t, fmt.Sprintf("127.0.1.%d", i+1), 32)
	}
	time.Sleep(1200 * time.Millisecond)
	for range 20 {
		if err := f.asks("127.0.0.2"); err != nil {
			t.Fatalf("a newcomer is not answered: %v", err)
		}
	}
}
