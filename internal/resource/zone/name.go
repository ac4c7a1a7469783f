package zone

import (
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

// RFC 1035 §2.3.4: the longest name and the longest label.
const (
	maxName  = 253
	maxLabel = 63
)

// Apex is the name of a record at the zone's own name.
const Apex = "@"

// parseRecordName makes the name of a record relative to its zone, in lower case. It also accepts a
// full name that ends with the zone's. issue is what to tell the caller; empty for a valid
// name.
func parseRecordName(zone, given string) (name, issue string) {
	name = strings.ToLower(strings.TrimSpace(given))
	absolute := strings.HasSuffix(name, ".")
	name = strings.TrimSuffix(name, ".")
	switch {
	case name == "" && !absolute, name == Apex, name == zone:
		return Apex, ""
	case strings.HasSuffix(name, "."+zone):
		name = strings.TrimSuffix(name, "."+zone)
	case absolute:
		return "", "is not in this zone; write it relative to " + zone + ", like www"
	}
	if ascii, err := idna.Punycode.ToASCII(name); err == nil {
		name = ascii
	}
	for i, label := range strings.Split(name, ".") {
		switch {
		case label == "*" && i == 0:
		case strings.Contains(label, "*"):
			return "", "may have * only as its whole first label, like *.shop"
		case !isLabel(label, true):
			return "", "is not a name; write it relative to the zone, like www or _dmarc, of letters, digits, - and _"
		}
	}
	if len(name)+1+len(zone) > maxName {
		return "", "is too long; with the zone it may have 253 characters"
	}
	return name, ""
}

// parseHostName checks the name of a host that a record points to, and strips the trailing dot.
// underscores allows names like k1._domainkey.example.net, which a CNAME may point to.
func parseHostName(given string, underscores bool) (name, issue string) {
	name = strings.TrimSuffix(strings.ToLower(given), ".")
	if ascii, err := idna.Punycode.ToASCII(name); err == nil {
		name = ascii
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return "", "names a host, not an address; write the host's name and give it an A or AAAA record"
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if !isLabel(label, underscores) {
			return "", "is not a host name; write it like mail.example.com"
		}
	}
	switch last := labels[len(labels)-1]; {
	case len(name) > maxName:
		return "", "is too long; a name may have 253 characters"
	case len(labels) < 2:
		return "", "needs the whole host name, like mail.example.com"
	case strings.Trim(last, "0123456789") == "": // RFC 3696 §2
		return "", "is not a host name; its last label has only digits"
	}
	return name, ""
}

// isLabel reports whether s is a label of letters, digits and inner hyphens, and of
// underscores where they are allowed.
func isLabel(s string, underscores bool) bool {
	if s == "" || len(s) > maxLabel || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool {
		plain := c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-'
		return !plain && (c != '_' || !underscores)
	})
}

// Full is the record's full name, without a trailing dot.
func (r Record) Full(zone string) string {
	if r.Name == Apex {
		return zone
	}
	return r.Name + "." + zone
}

// relativeName is the name of a record below its zone, both without trailing dots.
func relativeName(zone, name string) string {
	name = strings.ToLower(name)
	if name == zone {
		return Apex
	}
	return strings.TrimSuffix(name, "."+zone)
}
