package dnsserver

import (
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// maxAliases bounds how many aliases (CNAME) one answer follows.
const maxAliases = 8

// replyFromZone answers a question from the zone that its name belongs to (RFC 1034 §4.3.2).
func (z *snapshot) replyFromZone(m *dns.Msg, q dns.Question) {
	m.Authoritative = true
	owner, name := q.Name, strings.ToLower(q.Name) // answers repeat the question's upper and lower case
	for range maxAliases {
		if cut := z.findDelegation(name); cut != nil {
			z.referToDelegate(m, cut)
			return
		}
		found := z.lookUpName(name)
		if found == nil {
			m.Rcode = dns.RcodeNameError // of the last alias too (RFC 6604 §3)
			m.Ns = []dns.RR{z.negativeSOA()}
			return
		}
		if q.Qtype == dns.TypeANY {
			m.Answer = append(m.Answer, minimalANYAnswer(owner))
			return
		}
		if set := found[q.Qtype]; set != nil {
			m.Answer = append(m.Answer, withOwner(set, owner)...)
			z.addHostAddresses(m, set)
			return
		}
		alias := found[dns.TypeCNAME]
		if alias == nil {
			m.Ns = []dns.RR{z.negativeSOA()} // the name is there, the type is not
			return
		}
		m.Answer = append(m.Answer, withOwner(alias, owner)...)
		target := alias[0].(*dns.CNAME).Target
		next := strings.ToLower(target)
		if !dns.IsSubDomain(z.name, next) ||
			slices.ContainsFunc(m.Answer, func(rr dns.RR) bool { return strings.EqualFold(rr.Header().Name, next) }) {
			return // the target is in another zone, or the aliases form a loop
		}
		owner, name = target, next
	}
}

// referToDelegate sends the caller to the servers that a part of the zone is delegated to.
func (z *snapshot) referToDelegate(m *dns.Msg, cut []dns.RR) {
	m.Authoritative = len(m.Answer) > 0 // RFC 1034 §4.3.2: aliases before it are ours
	m.Ns = cut
	z.addHostAddresses(m, cut)
}

// maxExtraRecords is where an answer stops adding addresses: more would not fit into it.
const maxExtraRecords = 100

// addHostAddresses adds the addresses of hosts in this zone that an answer names, once each.
func (z *snapshot) addHostAddresses(m *dns.Msg, set []dns.RR) {
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
		if seen[host] || len(m.Extra) >= maxExtraRecords {
			continue
		}
		seen[host] = true
		n := z.nodes[host]
		m.Extra = append(append(m.Extra, n[dns.TypeA]...), n[dns.TypeAAAA]...)
	}
}

// negativeSOA is the SOA record of a negative answer; its TTL says how long the answer may be
// cached (RFC 2308 §3).
func (z *snapshot) negativeSOA() dns.RR {
	soa := *z.soa
	soa.Hdr.Ttl = min(soa.Hdr.Ttl, soa.Minttl)
	return &soa
}

// minimalANYAnswer is the answer to ANY (RFC 8482 §4.2). All records of a name would be a large
// answer to a small question, which is what attackers with forged addresses look for.
func minimalANYAnswer(owner string) dns.RR {
	return &dns.HINFO{Hdr: dns.RR_Header{Name: owner, Rrtype: dns.TypeHINFO, Class: dns.ClassINET, Ttl: 3600},
		Cpu: "RFC8482"}
}

// withOwner returns records under the name that was asked for, which may differ in case or
// stem from a wildcard. It copies what it changes: the zone is shared.
func withOwner(set []dns.RR, owner string) []dns.RR {
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
