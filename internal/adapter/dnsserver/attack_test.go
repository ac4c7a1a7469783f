package dnsserver_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"

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

// The addresses of a host come along once, however many records name it.
func TestAttackAddresses(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		f := start(t, e, 0)
		err := f.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			zone, err := db.QueryOne[string](ctx, tx, "SELECT id FROM dnsserver_zones WHERE name = 'example.com'")
			put := func(name, kind, content string, priority int) {
				if err == nil {
					_, err = db.Exec(ctx, tx, `
						INSERT INTO dnsserver_records (zone_id, name, type, content, ttl, priority)
						VALUES ($1, $2, $3, $4, 300, $5)`, zone, name, kind, content, priority)
				}
			}
			for i := range 200 {
				put("@", "MX", "m.example.com", i)
			}
			for i := range 20 {
				put("m", "A", fmt.Sprintf("192.0.2.%d", i), -1)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		r := f.ask(t, "tcp", "example.com.", dns.TypeMX)
		if extra := len(r.Extra); len(r.Answer) != 200 || extra < 20 || extra > 21 { // one may be OPT
			t.Errorf("%d records and %d addresses", len(r.Answer), extra)
		}
	})
}
