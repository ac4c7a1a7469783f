package dnsserver_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"

	"frontdesk/internal/adapter/dnsserver"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/cputest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/migrations"

	"github.com/miekg/dns"
)

// heard is where an answer goes that nobody waits for.
type heard struct {
	dns.ResponseWriter
	from net.Addr
	size int
}

func (h *heard) RemoteAddr() net.Addr { return h.from }

func (h *heard) WriteMsg(m *dns.Msg) error {
	b, err := m.Pack()
	h.size = len(b)
	return err
}

// answering is a server without a network.
func answering(t testing.TB) func(packet []byte) {
	store := &dnsserver.Store{DB: dbtest.Open(t, db.SQLite, dbtest.Folders(migrations.FS)...), Clock: clock.New(0),
		Nameservers: []string{"ns1.example.net"}}
	if err := store.CreateZone(context.Background(), "example.com"); err != nil {
		t.Fatal(err)
	}
	s := dnsserver.NewServer(store, slog.New(slog.DiscardHandler), 0)
	return func(packet []byte) {
		for _, from := range []net.Addr{&net.UDPAddr{IP: net.IPv4(192, 0, 2, 1)},
			&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}} {
			m := new(dns.Msg)
			if m.Unpack(packet) != nil || len(m.Question) != 1 {
				return // as the library does
			}
			w := &heard{from: from}
			s.ServeDNS(w, m)
			if w.size > 4096 && w.size > 20*len(packet) {
				t.Errorf("%d bytes are answered with %d", len(packet), w.size)
			}
		}
	}
}

const header = "\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00"

// pointers are names that lead to names.
func pointers(n int) []byte {
	b := []byte(header + "\x01a\x00\x00\x01\x00\x01")
	b[7] = 1 // an answer
	at := 12
	for len(b)+4 < min(n, 16<<10) { // farther than that no pointer leads
		next := len(b)
		b = append(b, 1, 'a', 0xc0|byte(at>>8), byte(at))
		at = next
	}
	return b
}

var packetShapes = []cputest.Shape{
	{Name: "labels", Before: header, Open: "\x01a", After: "\x00\x00\x01\x00\x01"},
	{Name: "long labels", Before: header, Open: "\x3f" + strings.Repeat("a", 63), After: "\x00\x00\x01\x00\x01"},
	{Name: "a pointer to itself", Before: header, Open: "\xc0\x0c"},
	{Name: "forward pointers", Before: header, Open: "\xc0\xff"},
	{Name: "questions", Before: "\x00\x01\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00", Open: "\x00\x00\x01\x00\x01"},
	{Name: "answers", Before: "\x00\x01\x00\x00\x00\x01\xff\xff\x00\x00\x00\x00\x00\x00\x01\x00\x01",
		Open: "\x00\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04\x01\x02\x03\x04"},
	{Name: "answers that point", Before: "\x00\x01\x00\x00\x00\x01\xff\xff\x00\x00\x00\x00\x01a\x00\x00\x01\x00\x01",
		Open: "\xc0\x0c\x00\x02\x00\x01\x00\x00\x00\x00\x00\x02\xc0\x0c"},
	{Name: "texts",
		Before: "\x00\x01\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00" +
			"\x00\x00\x10\x00\x01\x00\x00\x10\x00\x01\x00\x00\x00\x00\xff\xff",
		Open: "\x01\""},
	{Name: "options",
		Before: "\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x01" +
			"\x00\x00\x01\x00\x01\x00\x00\x29\x10\x00\x00\x00\x00\x00\xff\xff",
		Open: "\x00\x0a\x00\x00"},
	{Name: "zeros", Open: "\x00"},
	{Name: "ones", Open: "\xff"},
}

func TestAttackPackets(t *testing.T) {
	answer := answering(t)
	cputest.CheckShapes(t, packetShapes, func(_ testing.TB,
		text string) {
		answer([]byte(text[:min(len(text), 65535)]))
	})
	for _, n := range cputest.Sizes {
		cputest.CheckWithin(t, n, func() { answer(pointers(n)) })
	}
}

func FuzzPackets(f *testing.F) {
	q := new(dns.Msg)
	q.SetQuestion("www.example.com.", dns.TypeA)
	q.SetEdns0(4096, true)
	b, err := q.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(bytes.Clone(pointers(200)))
	for _, s := range packetShapes {
		f.Add([]byte(s.Text(100)))
	}
	answer := answering(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		cputest.CheckWithin(t, len(b), func() { answer(b[:min(len(b), 65535)]) })
	})
}
