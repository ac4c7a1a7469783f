package zone

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/kernel/fault"

	"github.com/miekg/dns"
)

func given(kind, name, content string, priority ...int) Record {
	r := Record{Type: kind, Name: name, Content: content, TTL: DefaultTTL}
	if len(priority) > 0 {
		r.Priority = &priority[0]
	}
	return r
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct {
		given         Record
		name, content string
	}{
		{given("A", "", "192.0.2.1"), "@", "192.0.2.1"},
		{given("A", "@", " 192.0.2.1 "), "@", "192.0.2.1"},
		{given("A", "Example.com", "192.0.2.1"), "@", "192.0.2.1"},
		{given("A", "example.com.", "192.0.2.1"), "@", "192.0.2.1"},
		{given("A", "WWW.example.com", "192.0.2.1"), "www", "192.0.2.1"},
		{given("A", "www.example.com.", "192.0.2.1"), "www", "192.0.2.1"},
		// Without a dot at the end it is relative.
		{given("A", "www.example.org", "192.0.2.1"), "www.example.org", "192.0.2.1"},
		{given("A", "*", "192.0.2.1"), "*", "192.0.2.1"},
		{given("A", "*.shop", "192.0.2.1"), "*.shop", "192.0.2.1"},
		{given("A", "bücher", "192.0.2.1"), "xn--bcher-kva", "192.0.2.1"},
		{given("AAAA", "www", "2001:DB8:0:0::0010"), "www", "2001:db8::10"},
		{given("CNAME", "www", "Host.Example.NET."), "www", "host.example.net"},
		{given("CNAME", "k1._domainkey", "k1._domainkey.example.net"), "k1._domainkey", "k1._domainkey.example.net"},
		{given("MX", "@", "mail.example.com.", 0), "@", "mail.example.com"},
		{given("MX", "@", ".", 0), "@", "."},
		{given("NS", "part", "ns1.example.net"), "part", "ns1.example.net"},
		{given("SRV", "_sip._tcp", "05  5060 SIP.example.com", 1), "_sip._tcp", "5 5060 sip.example.com"},
		{given("SRV", "_sip._tcp", "0 0 .", 1), "_sip._tcp", "0 0 ."},
		{given("CAA", "@", `0 issue letsencrypt.org`), "@", `0 issue "letsencrypt.org"`},
		{given("CAA", "@", `128 ISSUE ";"`), "@", `128 issue ";"`},
		{given("TXT", "@", `v=spf1 -all`), "@", `v=spf1 -all`},
		{given("TXT", "@", `"v=spf1 " "-all"`), "@", `v=spf1 -all`},
		{given("TXT", "@", `say "hi"; (really)`), "@", `say "hi"; (really)`},
		{given("TXT", "@", strings.Repeat("é", 2048)), "@", strings.Repeat("é", 2048)},
	} {
		r, tree := c.given.Canonical("example.com")
		if tree != nil || r.Name != c.name || r.Content != c.content {
			t.Errorf("%s %q %.80q: %q %.80q %v", c.given.Type, c.given.Name, c.given.Content, r.Name, r.Content,
				tree.Fault(fault.Invalid))
		}
		again, tree := r.Canonical("example.com")
		if tree != nil || !again.Same(r) {
			t.Errorf("%s %q is not stable: %v", r.Type, r.Content, again)
		}
	}
}

func TestNotCanonical(t *testing.T) {
	ttl := func(n int) Record { r := given("A", "www", "192.0.2.1"); r.TTL = n; return r }
	for _, c := range []struct {
		given       Record
		field, says string
	}{
		{given("A", "www", "example.com"), "content", "IPv4"},
		{given("A", "www", "192.0.2.256"), "content", "IPv4"},
		{given("A", "www", "192.0.2.1 192.0.2.2"), "content", "IPv4"},
		{given("A", "www", "2001:db8::1"), "content", "AAAA"},
		{given("A", "www", ""), "content", "empty"},
		{given("A", "www", "192.0.2.1\nwww A 192.0.2.2"), "content", "control"},
		{given("A", "www", "192.0.2.1 ; comment"), "content", "no ;"},
		{given("AAAA", "www", "192.0.2.1"), "content", "type A"},
		{given("AAAA", "www", "::ffff:192.0.2.1"), "content", "IPv6"},
		{given("AAAA", "www", "fe80::1%eth0"), "content", "IPv6"},
		{given("CNAME", "www", "192.0.2.1"), "content", "not an address"},
		{given("CNAME", "www", "host"), "content", "whole host name"},
		{given("CNAME", "www", "a..example.com"), "content", "not a host name"},
		{given("CNAME", "www", "-a.example.com"), "content", "not a host name"},
		{given("CNAME", "www", "(a.example.com"), "content", "no ;"},
		{given("CNAME", "@", "example.net"), "type", "apex"},
		{given("CNAME", "example.com", "example.net"), "type", "apex"},
		{given("CNAME", "www", strings.Repeat("a", 64)+".example.com"), "content", "not a host name"},
		{given("CNAME", "www", strings.Repeat("abcdefg.", 32)+"example.com"), "content", "too long"},
		{given("NS", "@", "ns1.example.net"), "type", "come with the zone"},
		{given("NS", "part", "ns_1.example.net"), "content", "not a host name"},
		{given("MX", "@", "mail.example.com"), "priority", "Required"},
		{given("MX", "@", "mail.example.com", 65536), "priority", "65535"},
		{given("MX", "@", "mail.example.com", -1), "priority", "65535"},
		{given("MX", "@", "10 mail.example.com", 10), "content", "goes into priority"},
		{given("MX", "@", "192.0.2.1", 10), "content", "not an address"},
		{given("A", "@", "192.0.2.1", 10), "priority", "leave it out"},
		{given("SRV", "_sip._tcp", "5 5060 sip.example.com"), "priority", "Required"},
		{given("SRV", "_sip._tcp", "1 5 5060 sip.example.com", 1), "content", "goes into priority"},
		{given("SRV", "_sip._tcp", "5 70000 sip.example.com", 1), "content", "65535"},
		{given("SRV", "_sip._tcp", "sip.example.com", 1), "content", "weight"},
		{given("CAA", "@", "letsencrypt.org"), "content", "flags"},
		{given("CAA", "@", `256 issue "x"`), "content", "flags"},
		{given("CAA", "@", `0 is-sue "x"`), "content", "flags"},
		{given("TXT", "@", strings.Repeat("é", 2049)), "content", "2048"},
		{given("TXT", "@", "a\x00b"), "content", "control"},
		{given("TXT", "@", `""`), "content", "empty"},
		{given("PTR", "@", "example.com"), "content", "cannot be written"},
		{given("A", "www..x", "192.0.2.1"), "name", "not a name"},
		{given("A", "a b", "192.0.2.1"), "name", "not a name"},
		{given("A", "x.*.y", "192.0.2.1"), "name", "first label"},
		{given("A", "a*", "192.0.2.1"), "name", "first label"},
		{given("A", "www.example.org.", "192.0.2.1"), "name", "relative to example.com"},
		{given("A", strings.Repeat("abcdefg.", 31)+"a", "192.0.2.1"), "name", "too long"},
		{ttl(59), "ttl", "60"},
		{ttl(86401), "ttl", "86400"},
	} {
		_, tree := c.given.Canonical("example.com")
		if tree == nil || tree.Properties[c.field] == nil ||
			!strings.Contains(tree.Properties[c.field].Errors[0], c.says) {
			t.Errorf("%s %q %.80q: %v, want %q at %s", c.given.Type, c.given.Name, c.given.Content,
				tree.Fault(fault.Invalid),
				c.says, c.field)
		}
	}
}

// FuzzCanonical: accepted records go onto the wire and come back unchanged,
// also through a zone file.
func FuzzCanonical(f *testing.F) {
	for kind := range contentParsers {
		for _, content := range []string{"192.0.2.1", "2001:db8::1", "mail.example.com.", "5 5060 sip.example.com",
			`0 issue ";"`, `"a" "b\"\\"`, `\`, `\065`, "é", ";()", "."} {
			f.Add(kind, "www", content, 10)
		}
	}
	f.Add("TXT", "*.Example.com", `"\100"`, 0)
	f.Fuzz(func(t *testing.T, kind, name, content string, priority int) {
		r := given(kind, name, content)
		if kind == "MX" || kind == "SRV" {
			r.Priority = &priority
		}
		r, tree := r.Canonical("example.com")
		if tree != nil {
			return
		}
		rr, err := r.ToRR("example.com")
		if err != nil {
			t.Fatal(err)
		}
		wire := make([]byte, dns.MaxMsgSize)
		n, err := dns.PackRR(rr, wire, 0, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		back, _, err := dns.UnpackRR(wire[:n], 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := RecordFromRR("example.com", back); !got.Same(r) {
			t.Errorf("over the wire: %+v, was %+v", got, r)
		}
		read, err := dns.NewRR(rr.String())
		if err != nil {
			t.Fatalf("%q: %v", rr.String(), err)
		}
		if got := RecordFromRR("example.com", read); !got.Same(r) {
			t.Errorf("through a zone file: %+v, was %+v", got, r)
		}
		if again, tree := r.Canonical("example.com"); tree != nil || !again.Same(r) {
			t.Errorf("not stable: %+v, then %+v, %v", r, again, tree)
		}
	})
}

// One answer carries all records of a name and type, so their number is
// bounded.
func TestFullSet(t *testing.T) {
	r := Record{Type: "TXT", Name: "www", Content: "one more"}
	var others []Record
	for i := range MaxSetSize {
		if err := r.CheckFits(others); err != nil {
			t.Fatal(err)
		}
		others = append(others, Record{Type: "TXT", Name: "www", Content: fmt.Sprint(i)})
	}
	if err := r.CheckFits(others); !fault.IsKind(err, Full) {
		t.Errorf("one too many: %v", err)
	}
	for _, beside := range []Record{{Type: "A", Name: "www", Content: "192.0.2.1"},
		{Type: "TXT", Name: "mail", Content: "x"}} {
		if err := beside.CheckFits(others); err != nil {
			t.Error(err)
		}
	}
}
