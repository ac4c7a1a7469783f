package zone

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// soaForm is the content of an SOA record: name server, mailbox, serial, refresh, retry, expire and
// minimum TTL.
const soaForm = "%s %s %d %d %d %d %d"

// ToRR converts a canonical record for the DNS library. Types that callers cannot write are
// parsed as a line of a zone file.
func (r Record) ToRR(zone string) (dns.RR, error) {
	h := dns.RR_Header{
		Name:   dns.Fqdn(r.Full(zone)),
		Rrtype: dns.StringToType[r.Type],
		Class:  dns.ClassINET,
		Ttl:    uint32(r.TTL),
	}
	priority := uint16(0)
	if r.Priority != nil {
		priority = uint16(*r.Priority)
	}
	switch r.Type {
	case "A":
		return &dns.A{Hdr: h, A: net.ParseIP(r.Content)}, nil
	case "AAAA":
		return &dns.AAAA{Hdr: h, AAAA: net.ParseIP(r.Content)}, nil
	case "CNAME":
		return &dns.CNAME{Hdr: h, Target: dns.Fqdn(r.Content)}, nil
	case "NS":
		return &dns.NS{Hdr: h, Ns: dns.Fqdn(r.Content)}, nil
	case "MX":
		return &dns.MX{Hdr: h, Preference: priority, Mx: dns.Fqdn(r.Content)}, nil
	case "SRV":
		rr := &dns.SRV{Hdr: h, Priority: priority}
		var target string
		if _, err := fmt.Sscanf(r.Content, "%d %d %s", &rr.Weight, &rr.Port, &target); err != nil {
			return nil, fmt.Errorf("dns: an SRV record with %q: %w", r.Content, err)
		}
		rr.Target = dns.Fqdn(target)
		return rr, nil
	case "CAA":
		flags, rest, _ := strings.Cut(r.Content, " ")
		tag, value, _ := strings.Cut(rest, " ")
		n, err := strconv.ParseUint(flags, 10, 8)
		if err != nil {
			return nil, fmt.Errorf("dns: a CAA record with %q: %w", r.Content, err)
		}
		return &dns.CAA{Hdr: h, Flag: uint8(n), Tag: tag, Value: escapeBackslashes(strings.Trim(value, `"`))}, nil
	case "TXT":
		return &dns.TXT{Hdr: h, Txt: splitTXT(r.Content)}, nil
	case "SOA":
		rr := &dns.SOA{Hdr: h}
		var ns, mbox string
		_, err := fmt.Sscanf(r.Content, soaForm,
			&ns, &mbox, &rr.Serial, &rr.Refresh, &rr.Retry, &rr.Expire, &rr.Minttl)
		if err != nil {
			return nil, fmt.Errorf("dns: an SOA record with %q: %w", r.Content, err)
		}
		rr.Ns, rr.Mbox = dns.Fqdn(ns), dns.Fqdn(mbox)
		return rr, nil
	}
	rr, err := dns.NewRR(fmt.Sprintf("%s %d IN %s %s", h.Name, r.TTL, r.Type, r.Content))
	if err != nil || rr == nil {
		return nil, fmt.Errorf("dns: a %s record with %q: %w", r.Type, r.Content, err)
	}
	return rr, nil
}

// RecordFromRR is the canonical form of a record of the DNS library. For a type that callers
// cannot write, the content is that of a zone file.
func RecordFromRR(zone string, rr dns.RR) Record {
	h := rr.Header()
	r := Record{
		Type: dns.TypeToString[h.Rrtype],
		Name: relativeName(zone, strings.TrimSuffix(h.Name, ".")),
		TTL:  int(h.Ttl),
	}
	prioritized := func(n uint16) *int { v := int(n); return &v }
	switch v := rr.(type) {
	case *dns.A:
		r.Content = v.A.String()
	case *dns.AAAA:
		r.Content = v.AAAA.String()
	case *dns.CNAME:
		r.Content = plainHost(v.Target)
	case *dns.NS:
		r.Content = plainHost(v.Ns)
	case *dns.MX:
		r.Content, r.Priority = plainHost(v.Mx), prioritized(v.Preference)
	case *dns.SRV:
		r.Content = fmt.Sprintf("%d %d %s", v.Weight, v.Port, plainHost(v.Target))
		r.Priority = prioritized(v.Priority)
	case *dns.CAA:
		r.Content = fmt.Sprintf(`%d %s "%s"`, v.Flag, strings.ToLower(v.Tag), unescapeText(v.Value))
	case *dns.TXT:
		r.Content = unescapeText(strings.Join(v.Txt, ""))
	case *dns.SOA:
		r.Content = fmt.Sprintf(soaForm,
			plainHost(v.Ns), plainHost(v.Mbox), v.Serial, v.Refresh, v.Retry, v.Expire, v.Minttl)
	default:
		r.Content = RRContent(rr)
	}
	return r
}

// RRContent is the record's content as it stands in a zone file.
func RRContent(rr dns.RR) string { return strings.TrimPrefix(rr.String(), rr.Header().String()) }

// plainHost is a host name in lower case without its trailing dot. The root stays a dot.
func plainHost(s string) string {
	if s == "." {
		return s
	}
	return strings.ToLower(strings.TrimSuffix(s, "."))
}

// splitTXT cuts a text into strings of at most 255 bytes (RFC 1035 §3.3.14), escaped for the DNS
// library.
func splitTXT(s string) []string {
	var out []string
	for len(s) > 255 {
		out = append(out, escapeBackslashes(s[:255]))
		s = s[255:]
	}
	return append(out, escapeBackslashes(s))
}

// escapeBackslashes protects backslashes, which the DNS library would read as escapes.
func escapeBackslashes(s string) string { return strings.ReplaceAll(s, `\`, `\\`) }

// unescapeText undoes the escapes \DDD and \X that the DNS library leaves in texts.
func unescapeText(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		if i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 10, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		i++
		b.WriteByte(s[i])
	}
	return b.String()
}

// FormatFile writes a zone as a zone file, which other servers read (RFC 1035 §5). Records that the
// DNS library cannot encode become comments.
func FormatFile(zone string, records []Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "$ORIGIN %s\n", dns.Fqdn(zone))
	for _, kind := range []bool{true, false} { // the SOA comes first
		for _, r := range records {
			if (r.Type == "SOA") != kind {
				continue
			}
			if rr, err := r.ToRR(zone); err != nil {
				fmt.Fprintf(&b, "; %s %d IN %s %s\n",
					dns.Fqdn(r.Full(zone)), r.TTL, r.Type, strings.ReplaceAll(r.Content, "\n", " "))
			} else {
				b.WriteString(rr.String() + "\n")
			}
		}
	}
	return b.String()
}
