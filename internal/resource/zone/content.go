package zone

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"frontdesk/internal/kernel/fault"

	"github.com/miekg/dns"
)

// Bounds of a record.
const (
	DefaultTTL = 3600
	minTTL     = 60
	maxTTL     = 86400
	maxContent = 2048 // characters
)

// Canonical checks a record that a caller wants in a zone, and returns it in the one form in
// which it is stored and compared. The tree holds the issues by field: name, type, content,
// ttl, priority.
func (r Record) Canonical(zone string) (Record, *fault.Tree) {
	var tree *fault.Tree
	note := func(field, issue string) {
		if issue != "" {
			tree = tree.At([]any{field}, issue)
		}
	}
	var issue string
	r.Name, issue = parseRecordName(zone, r.Name)
	note("name", issue)
	if r.Type == "CNAME" && r.Name == Apex {
		note("type", "A CNAME cannot be at the apex of a zone, beside its NS and SOA; use A and AAAA records there")
	}
	if r.Type == "NS" && r.Name == Apex {
		note("type", "The NS records at the apex come with the zone and cannot be added to")
	}
	if r.TTL < minTTL || r.TTL > maxTTL {
		note("ttl", "Must be between 60 and 86400 seconds")
	}
	switch prioritized := r.Type == "MX" || r.Type == "SRV"; {
	case prioritized && r.Priority == nil:
		note("priority", "Required for MX and SRV records, 0 to 65535; the lowest is tried first")
	case !prioritized && r.Priority != nil:
		note("priority", "Only MX and SRV records have one; leave it out")
	case prioritized && (*r.Priority < 0 || *r.Priority > 65535):
		note("priority", "Must be between 0 and 65535")
	}
	r.Content, issue = canonicalContent(r)
	note("content", issue)
	if tree != nil {
		return r, tree
	}
	// A last check by the DNS library: what it cannot encode, no server could answer with.
	rr, err := r.ToRR(zone)
	if err == nil {
		_, err = dns.PackRR(rr, make([]byte, dns.MaxMsgSize), 0, nil, false)
	}
	if err != nil {
		note("content", "Not the content of a "+r.Type+" record")
	}
	return r, tree
}

// canonicalContent checks what all types have in common, and lets the type's own parser do the
// rest.
func canonicalContent(r Record) (content, issue string) {
	text := strings.TrimSpace(r.Content)
	switch {
	case text == "":
		return "", "Must not be empty"
	case utf8.RuneCountInString(r.Content) > maxContent:
		return "", "Must have at most 2048 characters"
	case !utf8.ValidString(text), strings.ContainsFunc(text, unicode.IsControl):
		return "", "Must not have line breaks or other control characters"
	case r.Type != "TXT" && r.Type != "CAA" && strings.ContainsAny(text, `;()"\`):
		return "", "Not the content of a " + r.Type + " record; it has no ; ( ) \" or \\"
	}
	check := contentParsers[r.Type]
	if check == nil {
		return "", "Records of the type " + r.Type + " cannot be written"
	}
	return check(text)
}

// contentParsers parses the content of each type that callers write. A parser returns the canonical
// content, or the issue.
var contentParsers = map[string]func(string) (content, issue string){
	"A":     parseIPv4Content,
	"AAAA":  parseIPv6Content,
	"CAA":   parseCAAContent,
	"CNAME": func(s string) (string, string) { return parseHostContent("CNAME", s, true) },
	"MX":    parseMXContent,
	"NS":    func(s string) (string, string) { return parseHostContent("NS", s, false) },
	"SRV":   parseSRVContent,
	"TXT":   parseTXTContent,
}

func parseIPv4Content(s string) (string, string) {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is4() {
		issue := "An A record holds an IPv4 address, like 192.0.2.10"
		return "", issue + suggestType(err == nil, "AAAA", "an IPv6 address")
	}
	return a.String(), ""
}

func parseIPv6Content(s string) (string, string) {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is6() || a.Is4In6() || a.Zone() != "" {
		issue := "An AAAA record holds an IPv6 address, like 2001:db8::10"
		return "", issue + suggestType(err == nil && a.Is4(), "A", "an IPv4 address")
	}
	return a.String(), ""
}

// suggestType is the end of an issue for an address of the other kind.
func suggestType(fits bool, other, what string) string {
	if !fits {
		return ""
	}
	return "; use the type " + other + " for " + what
}

// parseHostContent parses the host name that a CNAME or NS record points to.
func parseHostContent(kind, s string, underscores bool) (string, string) {
	name, issue := parseHostName(s, underscores)
	if issue != "" {
		issue = "A " + kind + " record points to a host: this " + issue
		if kind == "NS" {
			issue = "An" + strings.TrimPrefix(issue, "A")
		}
	}
	return name, issue
}

func parseMXContent(s string) (string, string) {
	if s == "." { // RFC 7505: accepts no mail
		return s, ""
	}
	if len(strings.Fields(s)) > 1 {
		return "",
			"An MX record holds the mail server's name alone, like mail.example.com; its number goes into priority"
	}
	name, issue := parseHostName(s, false)
	if issue != "" {
		issue = "An MX record names a mail server: this " + issue
	}
	return name, issue
}

// parseSRVContent parses the weight, port and target of an SRV record. Its priority is a field of its
// own.
func parseSRVContent(s string) (string, string) {
	const form = `An SRV record holds weight, port and target, like "5 5060 sip.example.com"`
	fields := strings.Fields(s)
	switch {
	case len(fields) == 4:
		return "", form + "; the first of four numbers goes into priority"
	case len(fields) != 3:
		return "", form
	}
	weight, err := strconv.ParseUint(fields[0], 10, 16)
	port, err2 := strconv.ParseUint(fields[1], 10, 16)
	if err != nil || err2 != nil {
		return "", form + "; weight and port are 0 to 65535"
	}
	target := fields[2]
	if target != "." { // RFC 2782: the service does not exist
		var issue string
		if target, issue = parseHostName(target, false); issue != "" {
			return "", form + "; the target " + issue
		}
	}
	return strconv.FormatUint(weight, 10) + " " + strconv.FormatUint(port, 10) + " " + target, ""
}

var caaForm = regexp.MustCompile(`^(\d{1,3})\s+([A-Za-z0-9]{1,15})\s+(?:"([^"\\]*)"|([^\s"\\;]+))$`)

// parseCAAContent parses a CAA record: flags, tag and value.
func parseCAAContent(s string) (string, string) {
	const form = `A CAA record holds flags, tag and value, like 0 issue "letsencrypt.org"`
	m := caaForm.FindStringSubmatch(s)
	if m == nil {
		return "", form
	}
	flags, err := strconv.ParseUint(m[1], 10, 8)
	value := m[3] + m[4]
	if err != nil || !IsASCII(value) {
		return "", form + "; the flags are 0 or 128, the value is ASCII"
	}
	return strconv.FormatUint(flags, 10) + " " + strings.ToLower(m[2]) + ` "` + value + `"`, ""
}

// IsASCII reports whether a text has no other characters than those of ASCII.
func IsASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

var quotedStrings = regexp.MustCompile(`^"(?:[^"\\]|\\.)*"(?:\s+"(?:[^"\\]|\\.)*")*$`)

// parseTXTContent strips the quotes of a text that was copied from a zone file, where it may be in
// several parts. It does so until none are left, so that the canonical form of a canonical
// text is itself.
func parseTXTContent(s string) (string, string) {
	for quotedStrings.MatchString(s) {
		rr, err := dns.NewRR(`. 0 IN TXT ` + s)
		txt, ok := rr.(*dns.TXT)
		if err != nil || !ok {
			return "", "Not a quoted text; write a TXT record without quotes"
		}
		s = strings.TrimSpace(unescapeText(strings.Join(txt.Txt, "")))
	}
	if s == "" || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return "", "Must be text, and not empty"
	}
	return s, ""
}
