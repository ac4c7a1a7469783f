package domain

import (
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"frontdesk/internal/kernel/fault"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// idnaProfile is the IDNA profile of registries: only the characters of STD 3, valid labels, and the
// lengths of the DNS.
var idnaProfile = idna.New(
	idna.MapForLookup(),
	idna.StrictDomainName(true),
	idna.ValidateLabels(true),
	idna.CheckHyphens(true),
	idna.CheckJoiners(true),
	idna.BidiRule(),
	idna.VerifyDNSLength(true),
	idna.Transitional(false),
)

// ParseName reads a host name below a public suffix and returns it in
// lower-case ASCII, or says what is wrong with it.
func ParseName(s string) (ascii, issue string) {
	ascii, issue = parseHostName(s)
	if issue != "" {
		return "", issue
	}
	if !strings.Contains(ascii, ".") {
		return "", "Must have an ending, like example.com"
	}
	if suffix, _ := publicsuffix.PublicSuffix(ascii); suffix == ascii {
		return "", "Is an ending under which others register names, not a domain"
	}
	return ascii, ""
}

// parseHostName reads a host name of one label or more. The trailing dot of a fully
// qualified name is dropped.
func parseHostName(s string) (ascii, issue string) {
	if !strings.HasSuffix(s, "..") && s != "." {
		s = strings.TrimSuffix(s, ".")
	}
	switch {
	case s == "":
		return "", fault.MissingIssue
	case strings.IndexFunc(s, unicode.IsSpace) >= 0:
		return "", "Must not contain spaces"
	case strings.HasPrefix(s, ".") || strings.Contains(s, ".."):
		return "", "Has an empty label: two dots follow each other, or it begins with one"
	case strings.ContainsAny(s, "/:@?#"):
		return "", "Must be a name alone, like example.com, without a protocol, path or port"
	case strings.Contains(s, "_"):
		return "", "Must not contain an underscore"
	}
	if _, err := netip.ParseAddr(s); err == nil {
		return "", "Must be a name, not an address"
	}
	for label := range strings.SplitSeq(s, ".") {
		if utf8.RuneCountInString(label) > 63 {
			return "", "Has a label of more than 63 characters"
		}
		if strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
			return "", "Has a label that begins or ends with a hyphen"
		}
	}
	ascii, err := idnaProfile.ToASCII(s)
	if err != nil {
		return "", explainInvalidName(s)
	}
	ascii = strings.TrimSuffix(ascii, ".") // IDNA turns the dots of other scripts into this one
	shown, err := idnaProfile.ToUnicode(ascii)
	if err != nil {
		return "", explainInvalidName(s)
	}
	for label := range strings.SplitSeq(shown, ".") {
		if mixesScripts(label) {
			return "", "Mixes letters of different scripts in one label"
		}
	}
	if last := ascii[strings.LastIndexByte(ascii, '.')+1:]; strings.Trim(last, "0123456789") == "" {
		return "", "Must not end with a number"
	}
	return ascii, ""
}

// toUnicodeName is a name in its own script; one that is not valid stays as it is.
func toUnicodeName(ascii string) string {
	if s, err := idnaProfile.ToUnicode(ascii); err == nil {
		return s
	}
	return ascii
}

// parseRegistrableName reads a name that could be registered: one label and an ending. Under an ending
// of several labels, like co.uk, more labels pass here, and the registrar's offer decides.
func parseRegistrableName(s string) (ascii, issue string) {
	if ascii, issue = ParseName(s); issue != "" {
		return "", issue
	}
	last := ascii[strings.LastIndexByte(ascii, '.')+1:]
	top, err := publicsuffix.EffectiveTLDPlusOne(ascii)
	if err == nil && top != ascii && parentName(top) == last {
		return "", "Only one label before the ending can be registered; did you mean " + top + "?"
	}
	return ascii, ""
}

// explainInvalidName says why IDNA refuses a name.
func explainInvalidName(s string) string {
	lower := strings.ToLower(s)
	long := len(lower) > 253
	for label := range strings.SplitSeq(lower, ".") {
		if strings.HasPrefix(label, "xn--") {
			if _, err := idnaProfile.ToUnicode(label); err != nil {
				return "Has a label that begins with xn-- and stands for nothing"
			}
		}
		if a, err := idna.Punycode.ToASCII(label); err == nil && len(a) > 63 {
			return "Has a label of more than 63 characters in its xn-- form"
		}
	}
	if long {
		return "Must not be longer than 253 characters"
	}
	return "Is not a valid host name; write it like example.com"
}

// mixableScripts are the sets of scripts that one language mixes: Japanese, Korean, and Chinese with
// Bopomofo. Latin letters may be beside each of them.
var mixableScripts = [][]*unicode.RangeTable{
	{unicode.Han, unicode.Hiragana, unicode.Katakana},
	{unicode.Han, unicode.Hangul},
	{unicode.Han, unicode.Bopomofo},
}

// mixesScripts reports whether a label has letters of scripts that no language mixes. Such a label
// can be made to look like another one.
func mixesScripts(label string) bool {
	found := map[*unicode.RangeTable]bool{}
	for _, r := range label {
		if r < utf8.RuneSelf {
			if unicode.IsLetter(r) {
				found[unicode.Latin] = true
			}
			continue
		}
		if unicode.In(r, unicode.Common, unicode.Inherited) {
			continue
		}
		for _, t := range unicode.Scripts {
			if unicode.Is(t, r) {
				found[t] = true
				break
			}
		}
	}
	if len(found) < 2 {
		return false
	}
	for _, set := range mixableScripts {
		n := 0
		for _, t := range append(set, unicode.Latin) { // names may contain Latin letters as well
			if found[t] {
				n++
			}
		}
		if n == len(found) && (found[set[0]] || found[set[1]]) {
			return false
		}
	}
	return true
}

// parentNames lists the names above one, nearest first, without the top-level domain.
func parentNames(name string) (out []string) {
	for {
		_, rest, ok := strings.Cut(name, ".")
		if !ok || !strings.Contains(rest, ".") {
			return out
		}
		out, name = append(out, rest), rest
	}
}

// parentName is what follows the first label.
func parentName(name string) string {
	_, rest, _ := strings.Cut(name, ".")
	return rest
}
