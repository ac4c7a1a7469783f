package app_test

import (
	"bytes"
	"net"
	"net/smtp"
	"strings"
	"sync"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/dkimkey"

	"github.com/emersion/go-msgauth/dkim"
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
			m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type,
				Class: q.Class,
				TTL:   60}, Body: &dnsmessage.TXTResource{TXT: []string{s.value}}}}
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
	d := a.SendREST(t, a.Key, "POST", "/v1/domains", `{"name": "proved.example"}`).OK(t, 201)
	path := "/v1/domains/" + d.Text("id") + "/verify"
	if seen := a.SendREST(t, a.Key, "POST", path, "").Refused(t, 409,
		"DOMAIN_NOT_VERIFIED").At("details.seen"); seen.Len() != 0 || seen.Null() {
		t.Errorf("seen: %s", seen)
	}
	server.mu.Lock()
	server.name, server.value = "_frontdesk.proved.example.", d.Text("verification.recordValue")
	server.mu.Unlock()
	a.SendREST(t, a.Key, "POST", path, "").OK(t, 200).Same("status", "active")
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	other := a.SendREST(t, a.Key, "POST", "/v1/domains", `{"name": "dark.example"}`).OK(t, 201).Text("id")
	a.SendREST(t, a.Key, "POST", "/v1/domains/"+other+"/verify", "").Refused(t, 503, "SERVICE_UNAVAILABLE")
}

// Mail is judged when it comes, with the same DNS server. The peer of a test is
// no public one, so only signatures count.
func TestMailIsJudged(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0") //nolint:noctx // it ends with the test
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	keys, err := dkimkey.GeneratePair()
	if err != nil {
		t.Fatal(err)
	}
	signer, err := dkimkey.ParsePrivate(keys[0].Private)
	if err != nil {
		t.Fatal(err)
	}
	server := &answering{name: dkimkey.RecordName(keys[0].Selector) + ".signed.example.", value: keys[0].Record}
	go server.serve(t, conn)
	s := apptest.Settings(t, db.SQLite)
	s.DNSResolver = conn.LocalAddr().String()
	a := apptest.StartWith(t, s)
	addr := a.ServeMail(t)
	var signed bytes.Buffer
	err = dkim.Sign(&signed, strings.NewReader("From: ada@signed.example\r\nSubject: Hello\r\n\r\nHello\r\n"),
		&dkim.SignOptions{Domain: "signed.example", Selector: keys[0].Selector, Signer: signer})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ mail, want string }{
		{signed.String(), "pass"},
		{signed.String() + "More\r\n", "fail"},
		{"From: ada@signed.example\r\n\r\nHello\r\n", "none"},
	} {
		to := []string{string(a.Business) + "@frontdesk.example"}
		if err := smtp.SendMail(addr, nil, "ada@signed.example", to, []byte(c.mail)); err != nil {
			t.Fatal(err)
		}
		v := a.SendREST(t, a.Key, "GET", "/v1/messages?limit=1", "").OK(t, 200)
		v.Same("0.authentication.spf", "none")
		v.Same("0.authentication.dkim", c.want)
		v.Same("0.authentication.dmarc", "none")
	}
	out := a.SendREST(t, a.Key, "POST", "/v1/messages", `{"to": "a@b.example", "subject": "x", "draft": true}`).OK(t,
		201)
	if !out.Has("authentication") || !out.At("authentication").Null() {
		t.Errorf("what is sent has %s", out.At("authentication"))
	}
}
