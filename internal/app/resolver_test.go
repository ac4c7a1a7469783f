package app_test

import (
	"net"
	"sync"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"

	"golang.org/x/net/dns/dnsmessage"
)

// answering is a DNS server that knows one TXT record.
type answering struct {
	mu          sync.Mutex
	name, value string
	asked       []string
}

func (s *answering) serve(t *testing.T, conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(buf[:n]); err != nil || len(m.Questions) != 1 {
			t.Errorf("a question: %v", err)
			return
		}
		s.mu.Lock()
		q := m.Questions[0]
		s.asked = append(s.asked, q.Name.String())
		m.Response, m.Additionals = true, nil
		if q.Name.String() == s.name && q.Type == dnsmessage.TypeTXT {
			m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 60}, Body: &dnsmessage.TXTResource{TXT: []string{s.value}}}}
		} else {
			m.RCode = dnsmessage.RCodeNameError
		}
		s.mu.Unlock()
		out, err := m.Pack()
		if err == nil {
			_, err = conn.WriteTo(out, from)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// A domain is proved by a DNS server that the operator names, over the wire.
func TestResolver(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0") //nolint:noctx // it ends with the test
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	server := &answering{}
	go server.serve(t, conn)
	s := apptest.Settings(t, db.SQLite)
	s.DNSResolver = conn.LocalAddr().String()
	a := apptest.StartWith(t, s)
	d := a.Send(t, a.Key, "POST", "/v1/domains", `{"name": "proved.example"}`).OK(t, 201)
	path := "/v1/domains/" + d.Text("id") + "/verify"
	if seen := a.Send(t, a.Key, "POST", path, "").Refused(t, 409, "DOMAIN_NOT_VERIFIED").At("details.seen"); seen.Len() != 0 || seen.Null() {
		t.Errorf("seen: %s", seen)
	}
	server.mu.Lock()
	server.name, server.value = "_frontdesk.proved.example.", d.Text("verification.recordValue")
	server.mu.Unlock()
	a.Send(t, a.Key, "POST", path, "").OK(t, 200).Same("status", "active")
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	other := a.Send(t, a.Key, "POST", "/v1/domains", `{"name": "dark.example"}`).OK(t, 201).Text("id")
	a.Send(t, a.Key, "POST", "/v1/domains/"+other+"/verify", "").Refused(t, 503, "SERVICE_UNAVAILABLE")
}
