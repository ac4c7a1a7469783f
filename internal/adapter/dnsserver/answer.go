package dnsserver

import (
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// maxChase bounds how many aliases (CNAME) one answer follows.
const maxChase = 8

// reply answers a question from the zone that its name belongs to (RFC 1034 §4.3.2).
func (z *snapshot) reply(m *dns.Msg, q dns.Question) {
	m.Authoritative = true
	owner, name := q.Name, strings.ToLower(q.Name) // answers repeat the question's upper and lower case
	for range maxChase {
		if cut := z.delegated(name); cut != nil {
			z.refer(m, cut)
			return
		}
		found := z.at(name)
		if found == nil {
			m.Rcode = dns.RcodeNameError // of the last alias too (RFC 6604 §3)
			m.Ns = []dns.RR{z.denial()}
			return
		}
		if q.Qtype == dns.TypeANY {
			m.Answer = append(m.Answer, minimal(owner))
			return
		}
		if set := found[q.Qtype]; set != nil {
			m.Answer = append(m.Answer, owned(set, owner)...)
			z.more(m, set)
			return
		}
		alias := found[dns.TypeCNAME]
		if alias == nil {
			m.Ns = []dns.RR{z.denial()} // the name is there, the type is not
			return
		}
		m.Answer = append(m.Answer, owned(alias, owner)...)
		target := alias[0].(*dns.CNAME).Target
		next := strings.ToLower(target)
		if !dns.IsSubDomain(z.name, next) ||
			slices.ContainsFunc(m.Answer, func(rr dns.RR) bool { return strings.EqualFold(rr.Header().Name, next) }) {
			return // the target is in another zone, or the aliases form a loop
		}
		owner, name = target, next
	}
}

// refer sends the caller to the servers that a part of the zone is delegated to.
func (z *snapshot) refer(m *dns.Msg, cut []dns.RR) {
	m.Authoritative = len(m.Answer) > 0 // RFC 1034 §4.3.2: aliases before it are ours
	m.Ns = cut
	z.more(m, cut)
}

// maxExtra is where an answer stops adding addresses: more would not fit into it.
const maxExtra = 100

// more adds the addresses of hosts in this zone that an answer names, once each.
func (z *snapshot) more(m *dns.Msg, set []dns.RR) {
	seen := map[string]bool{}
	for _, rr := range set {
		var host string
		switch v := rr.(type) {
		case *dns.NS:
			host = v.Ns
		case *dns.MX:
			host = v.Mx
		case *dns.SRV:
			host = v.Target
		}
		host = strings.ToLower(host)
		if seen[host] || len(m.Extra) >= maxExtra {
			continue
		}
		seen[host] = true
		n := z.nodes[host]
		m.Extra = append(append(m.Extra, n[dns.TypeA]...), n[dns.TypeAAAA]...)
	}
}

// denial is the SOA record of a negative answer; its TTL says how long the answer may be
// cached (RFC 2308 §3).
func (z *snapshot) denial() dns.RR {
	soa := *z.soa
	soa.Hdr.Ttl = min(soa.Hdr.Ttl, soa.Minttl)
	return &soa
}

// minimal is the answer to ANY (RFC 8482 §4.2). All records of a name would be a large
// answer to a small question, which is what attackers with forged addresses look for.
func minimal(owner string) dns.RR {
	return &dns.HINFO{Hdr: dns.RR_Header{Name: owner, Rrtype: dns.TypeHINFO, Class: dns.ClassINET, Ttl: 3600},
		Cpu: "RFC8482"}
}

// owned returns records under the name that was asked for, which may differ in case or
// stem from a wildcard. It copies what it changes: the zone is shared.
func owned(set []dns.RR, owner string) []dns.RR {
	out := make([]dns.RR, len(set))
	for i, rr := range set {
		if rr.Header().Name != owner {
			rr = dns.Copy(rr)
			rr.Header().Name = owner
		}
		out[i] = rr
	}
	return out
}
