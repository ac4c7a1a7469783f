package incoming

import (
	"bufio"
	"net/mail"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jhillyerd/enmime/v2"

	"frontdesk/internal/kernel/cut"
)

// headerFields are the headers of a mail by lower-case name. The values are unfolded,
// but not decoded.
type headerFields map[string][]string

// parseHeaderFields reads header lines and skips anything else. It keeps at most
// maxReferences values of one header.
func parseHeaderFields(text string) headerFields {
	out := headerFields{}
	name := ""
	in := bufio.NewScanner(strings.NewReader(text))
	in.Buffer(nil, maxHeaders+1)
	for in.Scan() {
		line := in.Text()
		if line != "" && (line[0] == ' ' || line[0] == '\t') {
			if v := out[name]; name != "" && len(v[len(v)-1]) < maxHeader {
				v[len(v)-1] += " " + strings.TrimSpace(line)
			}
			continue
		}
		before, after, ok := strings.Cut(line, ":")
		name = strings.ToLower(strings.TrimSpace(before))
		if !ok || name == "" || len(out[name]) == maxReferences {
			name = ""
			continue
		}
		out[name] = append(out[name], strings.TrimSpace(after))
	}
	return out
}

// firstValue is a header's first value, cut to a length that is worth parsing.
func (f headerFields) firstValue(name string) string {
	if v := f[name]; len(v) > 0 {
		return v[0][:min(len(v[0]), maxHeader)]
	}
	return ""
}

// readHeaders reads the letter's headers.
func (l *Letter) readHeaders(text string) {
	f := parseHeaderFields(text)
	if ids := parseMessageIDs(f.firstValue("message-id")); len(ids) > 0 {
		l.MessageID = ids[0]
	}
	// The nearest first: the mail it answers, then the one that mail answered
	// (RFC 5322 §3.6.4).
	l.References = parseMessageIDs(f.firstValue("in-reply-to"))
	older := parseMessageIDs(f.firstValue("references"))
	for i := len(older) - 1; i >= 0 && len(l.References) < maxReferences; i-- {
		l.References = append(l.References, older[i])
	}
	l.Subject = BoundedLine(enmime.DecodeRFC2047(f.firstValue("subject")), maxSubject)
	l.From = firstOrNil(parseAddresses(f.firstValue("from")))
	if l.From == nil {
		l.From = firstOrNil(parseAddresses(f.firstValue("sender")))
	}
	l.ReplyTo = firstOrNil(parseAddresses(f.firstValue("reply-to")))
	l.Automatic = f.isAutomatic(l.From)
	l.To = parseAddresses(strings.Join(f["to"], ", "))
	l.Cc = parseAddresses(strings.Join(f["cc"], ", "))
	if d, err := mail.ParseDate(f.firstValue("date")); err == nil {
		l.Date = d
	} else if d, err := time.Parse(time.RFC1123Z, f.firstValue("date")); err == nil {
		l.Date = d
	}
}

// AuthorAddress is the address that people see as the mail's author, or empty if the
// headers do not name exactly one. Mail programs disagree about which of several
// they show, so no check can vouch for any of them.
func AuthorAddress(header string) string {
	from := parseHeaderFields(header)["from"]
	if len(from) != 1 {
		return ""
	}
	if list := parseAddresses(from[0]); len(list) == 1 {
		return list[0].Address
	}
	return ""
}

// isAutomatic reports whether the headers say that a machine wrote the mail, or a
// person wrote it to many: mail that no machine should answer (RFC 3834 §2).
// Besides the standard header there are those that older programs and lists
// use.
func (f headerFields) isAutomatic(from *mail.Address) bool {
	word := func(name string) string {
		s, _, _ := strings.Cut(strings.ToLower(f.firstValue(name)), ";")
		s, _, _ = strings.Cut(s, "(")
		return strings.TrimSpace(s)
	}
	if s := word("auto-submitted"); s != "" && s != "no" {
		return true
	}
	switch word("precedence") {
	case "bulk", "list", "junk", "auto_reply":
		return true
	}
	for _, name := range []string{"list-id", "list-unsubscribe", "x-autoreply", "x-autorespond",
		"x-auto-response-suppress"} {
		if f.firstValue(name) != "" {
			return true
		}
	}
	return from != nil && strings.HasPrefix(strings.ToLower(from.Address), "mailer-daemon@")
}

var bracketedID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<[^<>\s]{1,995}>`) })

// parseMessageIDs reads the identifiers in a header, without their brackets. A single
// one may lack its brackets, as some programs write it.
func parseMessageIDs(s string) (out []string) {
	for _, m := range bracketedID().FindAllString(s, maxReferences) {
		if len(m) <= maxID {
			out = append(out, dropInvisible(m[1:len(m)-1]))
		}
	}
	if out == nil {
		if words := strings.Fields(s); len(words) == 1 && strings.Contains(words[0], "@") && len(words[0]) <= maxID {
			out = append(out, dropInvisible(words[0]))
		}
	}
	return out
}

// firstOrNil is the first address of a list, or nil.
func firstOrNil(list []*mail.Address) *mail.Address {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

var addressPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[^\s<>,;:"()\[\]]{1,64}@[^\s<>,;:"()\[\]@]{1,189}`)
})

// parseAddresses parses a list of addresses, each once. If the list is malformed, it
// takes whatever looks like an address.
func parseAddresses(s string) (out []*mail.Address) {
	s = s[:min(len(s), maxHeader)]
	if strings.TrimSpace(s) == "" {
		return nil
	}
	list, err := enmime.ParseAddressList(s)
	if err != nil {
		list = nil
		for _, m := range addressPattern().FindAllString(s, MaxAddresses) {
			list = append(list, &mail.Address{Address: m})
		}
	}
	seen := map[string]bool{}
	for _, a := range list {
		a.Address = dropInvisible(a.Address)
		a.Name = BoundedLine(a.Name, maxName)
		key := strings.ToLower(a.Address)
		sound := strings.Contains(a.Address, "@") && len(a.Address) <= maxAddress
		if sound && !seen[key] && len(out) < MaxAddresses {
			seen[key] = true
			out = append(out, a)
		}
	}
	return out
}

// dropInvisible drops invisible characters.
func dropInvisible(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// toOneLine makes valid text without control characters, and one space between
// words.
func toOneLine(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) || r == '\u2028' || r == '\u2029'
	}), " ")
}

// BoundedLine turns any text from outside into one line of at most n characters that a
// database accepts.
func BoundedLine(s string, n int) string { return truncateRunes(toOneLine(s), n) }

// toStorableText makes valid UTF-8 without null characters, which PostgreSQL refuses.
func toStorableText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// truncateRunes is the first n characters of a valid text.
func truncateRunes(s string, n int) string {
	return cut.Runes(toStorableText(s), n)
}
