package dnsserver_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/adapter/dnsserver"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/resource/zone"
	"frontdesk/internal/resource/zone/zonetest"
	"frontdesk/migrations"

	"github.com/miekg/dns"
)

// fixture is a server with the zone example.com.
type fixture struct {
	*dnsserver.Store
	addr string
}

func start(t *testing.T, e db.Engine, perMinute int) *fixture {
	t.Helper()
	store := &dnsserver.Store{DB: dbtest.Open(t, e, dbtest.Folders(migrations.FS)...), Clock: clock.New(0),
		Nameservers: []string{"ns1.example.net", "ns2.example.net"}}
	f := serve(t, store, perMinute)
	if err := f.CreateZone(context.Background(), "example.com"); err != nil {
		t.Fatal(err)
	}
	return f
}

// serve answers for a store until the test ends.
func serve(t *testing.T, store *dnsserver.Store, perMinute int) *fixture {
	t.Helper()
	l, err := dnsserver.NewServer(store, slog.New(slog.NewTextHandler(t.Output(), nil)),
		perMinute).Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := l.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return &fixture{store, l.Addr}
}

func (f *fixture) add(t *testing.T, kind, name, content string, priority ...int) zone.Record {
	t.Helper()
	r := zonetest.CanonicalRecord(t, "example.com", kind, name, content, 300, priority...)
	if err := f.Add(context.Background(), "example.com", r); err != nil {
		t.Fatal(err)
	}
	return r
}

func (f *fixture) fill(t *testing.T) {
	t.Helper()
	f.add(t, "A", "@", "192.0.2.1")
	f.add(t, "A", "www", "192.0.2.2")
	f.add(t, "AAAA", "www", "2001:db8::2")
	f.add(t, "CNAME", "alias", "www.example.com")
	f.add(t, "CNAME", "chain", "alias.example.com")
	f.add(t, "CNAME", "away", "host.example.org")
	f.add(t, "CNAME", "dangling", "nowhere.example.com")
	f.add(t, "CNAME", "loop1", "loop2.example.com")
	f.add(t, "CNAME", "loop2", "loop1.example.com")
	f.add(t, "A", "deep.below.here", "192.0.2.3")
	f.add(t, "A", "*.wild", "192.0.2.4")
	f.add(t, "CNAME", "*.aliases", "www.example.com")
	f.add(t, "TXT", "known.wild", "stands by itself")
	f.add(t, "NS", "part", "ns.part.example.com")
	f.add(t, "A", "ns.part", "192.0.2.5")
	f.add(t, "MX", "@", "mail.example.com", 10)
	f.add(t, "A", "mail", "192.0.2.6")
	f.add(t, "SRV", "_sip._tcp", "5 5060 sip.example.com", 1)
	f.add(t, "TXT", "@", `quote " and \ back`)
	for i := range 40 {
		f.add(t, "A", "many", fmt.Sprintf("198.51.100.%d", i+1))
	}
}

// ask sends one question and returns the answer.
func (f *fixture) ask(t *testing.T, transport, name string, kind uint16, change ...func(*dns.Msg)) *dns.Msg {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(name, kind)
	for _, fn := range change {
		fn(m)
	}
	c := &dns.Client{Net: transport, Timeout: time.Minute, UDPSize: 4096}
	for end := time.Now().Add(time.Minute); ; {
		r, _, err := c.Exchange(m, f.addr)
		if err != nil {
			t.Fatalf("%s %s: %v", name, dns.TypeToString[kind], err)
		}
		// A machine that stood still has no answer in time; no test expects that.
		if r.Rcode != dns.RcodeServerFailure || time.Now().After(end) {
			r.Compress = true // for Len
			return r
		}
	}
}

func texts(rrs []dns.RR) string {
	var out []string
	for _, rr := range rrs {
		out = append(out, strings.ReplaceAll(rr.String(), "\t", " "))
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

func TestDNS(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) { zonetest.Exercise(t, start(t, e, 0)) })
}

func TestAnswers(t *testing.T) {
	const soa = "example.com. 300 IN SOA ns1.example.net. hostmaster.example.com. SERIAL 7200 1800 1209600 300"
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		f := start(t, e, 0)
		f.fill(t)
		for _, c := range []struct {
			name      string
			kind      uint16
			rcode     int
			answer    string
			authority string
			extra     string
			borrowed  bool // not authoritative
		}{
			{name: "example.com.", kind: dns.TypeA, answer: "example.com. 300 IN A 192.0.2.1"},
			{name: "WwW.eXample.COM.", kind: dns.TypeA, answer: "WwW.eXample.COM. 300 IN A 192.0.2.2"},
			{name: "www.example.com.", kind: dns.TypeMX, authority: soa},
			{name: "no.example.com.", kind: dns.TypeA, rcode: dns.RcodeNameError, authority: soa},
			{name: "below.here.example.com.", kind: dns.TypeA, authority: soa}, // an empty non-terminal
			{name: "no.below.here.example.com.", kind: dns.TypeA, rcode: dns.RcodeNameError, authority: soa},
			{name: "example.com.", kind: dns.TypeNS,
				answer: "example.com. 86400 IN NS ns1.example.net.; example.com. 86400 IN NS ns2.example.net."},
			{name: "example.com.", kind: dns.TypeSOA, answer: strings.Replace(soa, " 300 IN", " 3600 IN", 1)},
			{name: "chain.example.com.", kind: dns.TypeA,
				answer: "alias.example.com. 300 IN CNAME www.example.com.; chain.example.com. 300 IN CNAME " +
					"alias.example.com.; www.example.com. 300 IN A 192.0.2.2"},
			{name: "alias.example.com.", kind: dns.TypeCNAME,
				answer: "alias.example.com. 300 IN CNAME www.example.com."},
			{name: "alias.example.com.", kind: dns.TypeMX, answer: "alias.example.com. 300 IN CNAME www.example.com.",
				authority: soa},
			{name: "away.example.com.", kind: dns.TypeA, answer: "away.example.com. 300 IN CNAME host.example.org."},
			{name: "dangling.example.com.", kind: dns.TypeA, rcode: dns.RcodeNameError,
				answer: "dangling.example.com. 300 IN CNAME nowhere.example.com.", authority: soa},
			{name: "loop1.example.com.", kind: dns.TypeA,
				answer: "loop1.example.com. 300 IN CNAME loop2.example.com.; loop2.example.com. 300 IN CNAME " +
					"loop1.example.com."},
			{name: "any.thing.Wild.example.com.", kind: dns.TypeA,
				answer: "any.thing.Wild.example.com. 300 IN A 192.0.2.4"},
			{name: "any.wild.example.com.", kind: dns.TypeTXT, authority: soa},
			{name: "known.wild.example.com.", kind: dns.TypeA, authority: soa}, // RFC 4592: what exists is not matched
			{name: "below.known.wild.example.com.", kind: dns.TypeA, rcode: dns.RcodeNameError, authority: soa},
			{name: "wild.example.com.", kind: dns.TypeA, authority: soa},
			{name: "x.aliases.example.com.", kind: dns.TypeA,
				answer: "www.example.com. 300 IN A 192.0.2.2; x.aliases.example.com. 300 IN CNAME www.example.com."},
			{name: "x.part.example.com.", kind: dns.TypeA,
				authority: "part.example.com. 300 IN NS ns.part.example.com.",
				extra:     "ns.part.example.com. 300 IN A 192.0.2.5", borrowed: true},
			{name: "part.example.com.", kind: dns.TypeNS, authority: "part.example.com. 300 IN NS ns.part.example.com.",
				extra: "ns.part.example.com. 300 IN A 192.0.2.5", borrowed: true},
			{name: "example.com.", kind: dns.TypeMX, answer: "example.com. 300 IN MX 10 mail.example.com.",
				extra: "mail.example.com. 300 IN A 192.0.2.6"},
			{name: "_sip._tcp.example.com.", kind: dns.TypeSRV,
				answer: "_sip._tcp.example.com. 300 IN SRV 1 5 5060 sip.example.com."},
			{name: "example.com.", kind: dns.TypeTXT, answer: `example.com. 300 IN TXT "quote \" and \\ back"`},
			{name: "www.example.com.", kind: dns.TypeANY, answer: `www.example.com. 3600 IN HINFO "RFC8482" ""`},
			{name: "no.example.com.", kind: dns.TypeANY, rcode: dns.RcodeNameError, authority: soa},
			{name: `a\.example.com.`, kind: dns.TypeA, rcode: dns.RcodeRefused, borrowed: true},
			{name: "example.org.", kind: dns.TypeA, rcode: dns.RcodeRefused, borrowed: true},
			{name: "com.", kind: dns.TypeNS, rcode: dns.RcodeRefused, borrowed: true},
			{name: ".", kind: dns.TypeNS, rcode: dns.RcodeRefused, borrowed: true},
			{name: "example.com.", kind: dns.TypeAXFR, rcode: dns.RcodeRefused, borrowed: true},
			{name: "example.com.", kind: dns.TypeIXFR, rcode: dns.RcodeRefused, borrowed: true},
		} {
			for _, transport := range []string{"udp", "tcp"} {
				t.Run(fmt.Sprint(c.name, " ", dns.TypeToString[c.kind], " ", transport), func(t *testing.T) {
					r := f.ask(t, transport, c.name, c.kind)
					serial := ""
					for _, rr := range append(slices.Clone(r.Answer), r.Ns...) {
						if s, ok := rr.(*dns.SOA); ok {
							serial = fmt.Sprint(s.Serial)
						}
					}
					want := func(s string) string { return strings.ReplaceAll(s, "SERIAL", serial) }
					if r.Rcode != c.rcode || texts(r.Answer) != want(c.answer) || texts(r.Ns) != want(c.authority) ||
						texts(r.Extra) != c.extra ||
						r.Authoritative == c.borrowed || r.RecursionAvailable || r.Truncated {
						t.Errorf("%v", r)
					}
				})
			}
		}
	})
}

// What is too large for UDP is cut, by what the caller says it can take.
func TestTruncation(t *testing.T) {
	f := start(t, db.SQLite, 0)
	f.fill(t)
	size := func(n uint16) func(*dns.Msg) { return func(m *dns.Msg) { m.SetEdns0(n, false) } }
	plain := f.ask(t, "udp", "many.example.com.", dns.TypeA)
	if !plain.Truncated || plain.Len() > 512 {
		t.Errorf("without EDNS: cut %v, %d bytes", plain.Truncated, plain.Len())
	}
	large := f.ask(t, "udp", "many.example.com.", dns.TypeA, size(4096))
	if large.Truncated || len(large.Answer) != 40 || large.IsEdns0() == nil {
		t.Errorf("with EDNS: %v", large)
	}
	small := f.ask(t, "udp", "many.example.com.", dns.TypeA, size(600))
	if !small.Truncated || small.Len() > 600 || len(small.Answer) <= len(plain.Answer) {
		t.Errorf("with 600 bytes: cut %v, %d bytes, %d answers", small.Truncated, small.Len(), len(small.Answer))
	}
	if tcp := f.ask(t, "tcp", "many.example.com.", dns.TypeA); tcp.Truncated || len(tcp.Answer) != 40 {
		t.Errorf("over TCP: cut %v, %d answers", tcp.Truncated, len(tcp.Answer))
	}
}

func TestOddQuestions(t *testing.T) {
	f := start(t, db.SQLite, 0)
	for name, c := range map[string]struct {
		change func(*dns.Msg)
		rcode  int
	}{
		"another class":   {func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS }, dns.RcodeRefused},
		"a notification":  {func(m *dns.Msg) { m.Opcode = dns.OpcodeNotify }, dns.RcodeNotImplemented},
		"an update":       {func(m *dns.Msg) { m.Opcode = dns.OpcodeUpdate }, dns.RcodeNotImplemented},
		"a later EDNS":    {func(m *dns.Msg) { m.SetEdns0(1232, false); m.IsEdns0().SetVersion(1) }, dns.RcodeBadVers},
		"two questions":   {func(m *dns.Msg) { m.Question = append(m.Question, m.Question[0]) }, dns.RcodeFormatError},
		"no question":     {func(m *dns.Msg) { m.Question = nil }, dns.RcodeFormatError},
		"recursion asked": {func(m *dns.Msg) { m.RecursionDesired = true }, dns.RcodeSuccess},
	} {
		t.Run(name, func(t *testing.T) {
			if r := f.ask(t, "udp", "example.com.", dns.TypeNS, c.change); r.Rcode != c.rcode {
				t.Errorf("%v", r)
			}
		})
	}
}

// A change is visible with its commit, also through another process on the
// same database, and the serial grows each time.
func TestChangesShow(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		f := start(t, e, 0)
		other := serve(t, f.Store, 0)
		serial := uint32(0)
		look := func(want string) {
			t.Helper()
			for _, s := range []*fixture{f, other} {
				if got := texts(s.ask(t, "udp", "www.example.com.", dns.TypeA).Answer); got != want {
					t.Errorf("%q, want %q", got, want)
				}
			}
			now := f.ask(t, "udp", "example.com.", dns.TypeSOA).Answer[0].(*dns.SOA).Serial
			if now <= serial {
				t.Errorf("the serial went from %d to %d", serial, now)
			}
			serial = now
		}
		look("")
		r := f.add(t, "A", "www", "192.0.2.2")
		look("www.example.com. 300 IN A 192.0.2.2")
		changed := r
		changed.Content = "192.0.2.3"
		if err := f.Replace(context.Background(), "example.com", r, changed); err != nil {
			t.Fatal(err)
		}
		look("www.example.com. 300 IN A 192.0.2.3")
		if err := f.Remove(context.Background(), "example.com", changed); err != nil {
			t.Fatal(err)
		}
		look("")
		if err := f.DeleteZone(context.Background(), "example.com"); err != nil {
			t.Fatal(err)
		}
		if r := other.ask(t, "udp", "example.com.", dns.TypeSOA); r.Rcode != dns.RcodeRefused {
			t.Errorf("after the zone is gone: %v", r)
		}
	})
}

// Whoever asks too often over UDP is sent to TCP, with an answer no larger
// than the question.
func TestRateLimit(t *testing.T) {
	f := start(t, db.SQLite, 2) // one comes back after half a minute
	f.add(t, "A", "www", "192.0.2.2")
	for range 2 {
		if r := f.ask(t, "udp", "www.example.com.", dns.TypeA); len(r.Answer) != 1 {
			t.Fatalf("%v", r)
		}
	}
	if r := f.ask(t, "udp", "www.example.com.", dns.TypeA); !r.Truncated || len(r.Answer) != 0 {
		t.Errorf("the third: %v", r)
	}
	if r := f.ask(t, "tcp", "www.example.com.", dns.TypeA); len(r.Answer) != 1 {
		t.Errorf("over TCP: %v", r)
	}
}
