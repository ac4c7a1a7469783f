package op

import (
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"

	"golang.org/x/net/idna"
	"golang.org/x/text/currency"
	"golang.org/x/text/language"
)

// formatChecks are the rules that a string field can name in its tag format. Each returns the issue to tell the caller,
// or nothing.
var formatChecks = map[string]func(string) string{
	"uuid":      nil, // decoded into id.ID
	"date-time": nil, // decoded into clock.Time
	"binary":    nil, // an Upload, whose bytes are never here
	"email": func(s string) string {
		if !IsEmailAddress(s) {
			return "Invalid email address; write it like name@example.com"
		}
		return ""
	},
	"id-or-none": func(s string) string {
		if _, ok := id.Parse(s); !ok && s != "none" {
			return "Invalid UUID; none asks for those without"
		}
		return ""
	},
	timeOrNeverFormat: func(s string) string {
		if _, err := clock.ParseTime(s); err != nil && s != "never" {
			return "Invalid time; write it like 2026-01-31T12:00:00Z, or never for those without one"
		}
		return ""
	},
	"date": func(s string) string {
		if _, err := clock.ParseDate(s); err != nil {
			return "Invalid date; write it like 2026-01-31"
		}
		return ""
	},
	"url": func(s string) string {
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return "Invalid URL; it begins with https:// or http://"
		}
		return ""
	},
	"country": func(s string) string {
		r, err := language.ParseRegion(s)
		// Canonicalize refuses codes that were replaced, such as BU for Burma.
		if len(s) != 2 || err != nil || !r.IsCountry() || r.Canonicalize() != r || r.String() != s {
			return "Invalid country; use the two upper-case letters of ISO 3166, like GB"
		}
		return ""
	},
	"currency": func(s string) string {
		if _, err := currency.ParseISO(s); err != nil || s != strings.ToLower(s) {
			return "Invalid currency; use the three lower-case letters of ISO 4217, like usd"
		}
		return ""
	},
	"timezone": func(s string) string {
		// Go takes "" for UTC and "Local" for the machine's own, which are no names.
		if _, err := time.LoadLocation(s); err != nil || s == "" || s == "Local" {
			return "Unknown time zone; use an IANA name like Europe/Berlin"
		}
		return ""
	},
	"color": func(s string) string {
		if !colorPattern.MatchString(s) {
			return "Invalid color; write red, green and blue as six hexadecimal digits, like #1f4e79"
		}
		return ""
	},
	"iban": func(s string) string {
		if !isValidIBAN(s) {
			return "Invalid IBAN; its check digits are wrong or it is incomplete. Copy it from a bank statement"
		}
		return ""
	},
	"bic": func(s string) string {
		if !bicPattern.MatchString(strings.ToUpper(strings.ReplaceAll(s, " ", ""))) {
			return "Invalid BIC; it has 8 or 11 letters and digits, like BUKBGB22"
		}
		return ""
	},
	"locale": func(s string) string {
		if _, err := language.Parse(s); err != nil {
			return "Unknown locale; use a BCP 47 tag like en-US"
		}
		return ""
	},
}

func init() {
	// The decoder checks these by their Go types, or the operation does, so their rules accept everything; the names
	// must exist.
	for _, name := range []string{"uuid", "date-time", "binary", decimalFormat, operationFormat} {
		formatChecks[name] = func(string) string { return "" }
	}
}

var (
	colorPattern = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)
	ibanPattern  = regexp.MustCompile(`^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$`)
	bicPattern   = regexp.MustCompile(`^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$`)
)

// isValidIBAN checks an account number by its check digits (ISO 13616): with the first four characters moved to the end
// and letters as 10 to 35, it is 1 modulo 97.
func isValidIBAN(s string) bool {
	s = strings.ToUpper(strings.ReplaceAll(s, " ", ""))
	if !ibanPattern.MatchString(s) {
		return false
	}
	rest := 0
	for _, c := range s[4:] + s[:4] {
		if c >= 'A' {
			rest = (rest*100 + int(c-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(c-'0')) % 97
		}
	}
	return rest == 1
}

// FormatIssue says what is wrong with a string that should have a format, or nothing. It is for values whose format is
// not in a tag but in data, like custom properties.
func FormatIssue(format, s string) string { return formatChecks[format](s) }

// jsonSchemaFormat is the format's name in JSON Schema; empty for a format that JSON Schema does not know.
func jsonSchemaFormat(f string) string {
	switch f {
	case "uuid", "date-time", "date", "email", "binary":
		return f
	case "url":
		return "uri"
	}
	return ""
}

// IsEmailAddress reports whether mail can be sent to s: one address without a display name, in a domain that is valid
// by IDNA and has a dot. The lengths are those of RFC 5321 §4.5.3.1.
func IsEmailAddress(s string) bool {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || len(s) > 254 {
		return false
	}
	at := strings.LastIndexByte(s, '@')
	local, domain := s[:at], s[at+1:]
	if len(local) > 64 || !strings.Contains(domain, ".") || strings.HasPrefix(domain, "[") {
		return false
	}
	ascii, err := idna.Lookup.ToASCII(domain)
	return err == nil && ascii != "" && !strings.HasSuffix(ascii, ".")
}

// EmailSpellings lists the forms in which an address may be stored, all folded: as written, with its domain in ASCII
// (punycode) as incoming mail has it, and in Unicode as people type it. Whoever looks an address up looks for all.
func EmailSpellings(address string) []string {
	at := strings.LastIndexByte(address, '@') + 1
	out := []string{db.FoldText(address)}
	for _, spell := range []func(string) (string, error){idna.Lookup.ToASCII, idna.Lookup.ToUnicode} {
		domain, err := spell(address[at:])
		if other := db.FoldText(address[:at] + domain); err == nil && !slices.Contains(out, other) {
			out = append(out, other)
		}
	}
	return out
}
