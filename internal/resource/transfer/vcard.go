package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/quotedprintable"
	"strings"
)

// maxCardBytes is how long a vCard may be in bytes, without its pictures.
const maxCardBytes = 1 << 20

// maxPropertyName bounds how many bytes of a line are searched for its property name and
// parameters.
const maxPropertyName = 1000

// cardReader reads vCards of the versions 2.1, 3.0 and 4.0. Properties without a
// counterpart in contacts and customers are left out.
type cardReader struct {
	r            *bufio.Reader
	line         int // of the next line
	pendingBegin int // the line of a BEGIN:VCARD that was read already, or 0
}

// isVCard recognizes a file of vCards by its beginning.
func isVCard(r *bufio.Reader) bool {
	head, _ := r.Peek(200)
	return len(head) > 0 && bytes.HasPrefix(bytes.ToUpper(bytes.TrimSpace(head)), []byte("BEGIN:VCARD"))
}

// card is one vCard as it was read.
type card struct {
	line    int
	lines   [][]byte // unfolded
	issue   string
	length  int
	picture bool // the last line belongs to a picture, which is left out
	quoted  bool // the last line is quoted-printable
}

// nextCard reads a card. io.EOF is the end.
func (c *cardReader) nextCard() (*card, error) {
	var v *card
	if c.pendingBegin > 0 {
		v, c.pendingBegin = &card{line: c.pendingBegin}, 0
	}
	for {
		text, at, err := c.readLine()
		if errors.Is(err, io.EOF) && v != nil {
			v.issue = cardNotEnded
			return v, nil
		}
		if err != nil {
			return nil, err
		}
		trimmed := strings.TrimSpace(text)
		switch {
		case trimmed == "":
		case strings.EqualFold(trimmed, "BEGIN:VCARD") && v != nil:
			v.issue, c.pendingBegin = cardNotEnded, at
			return v, nil
		case strings.EqualFold(trimmed, "BEGIN:VCARD"):
			v = &card{line: at}
		case v == nil:
			return &card{line: at, issue: "Expected BEGIN:VCARD"}, nil
		case strings.EqualFold(trimmed, "END:VCARD"):
			return v, nil
		default:
			v.addLine(text)
		}
	}
}

const cardNotEnded = "The card has no END:VCARD"

// addLine appends a line to a card. A folded line, which begins with a space, and a
// quoted-printable line whose predecessor ends in "=" continue the last one.
func (v *card) addLine(text string) {
	folded := text[0] == ' ' || text[0] == '\t'
	if v.picture = isBinaryProperty(text) || v.picture && folded; v.picture {
		return
	}
	if v.length += len(text); v.length > maxCardBytes {
		v.issue = fmt.Sprintf("The card is longer than %d bytes", maxCardBytes)
		return
	}
	if issue := textIssue([]byte(text)); issue != "" && v.issue == "" {
		v.issue = issue
	}
	if len(v.lines) == 0 {
		v.startLine(text)
		return
	}
	last := &v.lines[len(v.lines)-1]
	switch {
	case folded:
		*last = append(*last, text[1:]...)
		if len(*last) < maxPropertyName { // it may be the name that is folded
			v.quoted = isQuotedPrintable(*last)
		}
	case v.quoted && bytes.HasSuffix(*last, []byte("=")):
		*last = append(bytes.TrimSuffix(*last, []byte("=")), text...)
	default:
		v.startLine(text)
	}
}

func (v *card) startLine(text string) {
	v.lines = append(v.lines, []byte(text))
	v.quoted = isQuotedPrintable(v.lines[len(v.lines)-1])
}

func isBinaryProperty(text string) bool {
	name, _, _ := strings.Cut(text, ":")
	name, _, _ = strings.Cut(strings.ToUpper(name), ";")
	return name == "PHOTO" || name == "LOGO" || name == "SOUND" || name == "KEY"
}

func isQuotedPrintable(line []byte) bool {
	name, _, _ := bytes.Cut(line[:min(len(line), maxPropertyName)], []byte(":"))
	return bytes.Contains(bytes.ToUpper(name), []byte("QUOTED-PRINTABLE"))
}

// readLine reads a line without its end.
func (c *cardReader) readLine() (text string, at int, err error) {
	if c.line == 0 {
		c.line = 1
	}
	at = c.line
	head, err := c.r.Peek(maxRecord)
	if len(head) == 0 {
		if err == nil {
			err = io.ErrNoProgress
		}
		return "", at, err
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", at, err
	}
	n := (&csvReader{}).firstLineLength(head)
	text = strings.TrimRight(string(head[:n]), "\r\n")
	if last := head[n-1]; last == '\n' || last == '\r' {
		c.line++
	}
	_, err = c.r.Discard(n)
	return text, at, err
}

// fieldValues lists what a card says, by the fields of a noun.
func (v *card) fieldValues(objectType string) (out []fieldValue) {
	has := map[string]bool{}
	add := func(field, text string) {
		if text = strings.TrimSpace(text); text != "" {
			has[field] = true
			out = append(out, fieldValue{field, text})
		}
	}
	formatted := ""
	for _, line := range v.lines {
		name, text := parseProperty(line)
		parts := splitComponents(text)
		text = unescapeText(text)
		part := func(i int) string {
			if i < len(parts) {
				return parts[i]
			}
			return ""
		}
		switch name {
		case "FN":
			formatted = text
		case "N":
			for i, field := range []string{"lastName", "firstName", "middleName", "prefix", "suffix"} {
				add(field, part(i))
			}
		case "ORG":
			add("organizationName", part(0))
		case "TITLE":
			add("jobTitle", text)
		case "BDAY":
			add("birthday", formatDay(text))
		case "NOTE":
			add("notes", text)
		case "UID":
			add("externalId", strings.TrimPrefix(text, "urn:uuid:"))
		case "CATEGORIES":
			add("tags", text)
		case "EMAIL":
			add("emails", strings.TrimPrefix(text, "mailto:"))
		case "TEL":
			add("phoneNumbers", strings.TrimPrefix(text, "tel:"))
		case "ADR":
			if has["line1"] || part(2) == "" {
				continue // one address is taken
			}
			for i, field := range []string{"", "line2", "line1", "city", "state", "postalCode", "country"} {
				if text := part(i); field != "" && (field != "country" || len(text) == 2) {
					add(field, text)
				}
			}
		}
	}
	if objectType == "customers" {
		return toCustomerValues(out, formatted)
	}
	if !has["firstName"] && !has["lastName"] && !has["organizationName"] {
		add("name", formatted)
	}
	return out
}

// toCustomerValues turns the values of a card into those of a customer, which has only
// one email and one phone number.
func toCustomerValues(values []fieldValue, formatted string) (out []fieldValue) {
	rename := map[string]string{"emails": "email", "phoneNumbers": "phone", "organizationName": "name"}
	has := map[string]bool{}
	add := func(field, text string) {
		if !has[field] && text != "" {
			has[field] = true
			out = append(out, fieldValue{field, text})
		}
	}
	add("name", formatted)
	for _, v := range values {
		field := v.field
		if rename[field] != "" {
			field = rename[field]
		}
		if _, ok := nouns["customers"].fields[field]; ok {
			add(field, v.text)
		}
	}
	return out
}

// parseProperty splits a line into the name of the property and its value, decoded:
// "item1.EMAIL;TYPE=work:ada@example.com" is EMAIL.
func parseProperty(line []byte) (name, text string) {
	name, text, _ = strings.Cut(string(line), ":")
	if isQuotedPrintable(line) {
		if plain, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(text))); err == nil {
			text = string(plain)
		}
	}
	name, _, _ = strings.Cut(name, ";")
	if _, after, ok := strings.Cut(name, "."); ok {
		name = after
	}
	return strings.ToUpper(name), text
}

// splitComponents splits a value at the semicolons that are not escaped.
func splitComponents(text string) (out []string) {
	start := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case ';':
			out = append(out, unescapeText(text[start:i]))
			start = i + 1
		}
	}
	return append(out, unescapeText(text[start:]))
}

var escapes = strings.NewReplacer(`\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";", `\\`, `\`)

func unescapeText(text string) string { return escapes.Replace(text) }

// formatDay turns the forms of a date, such as 19850412 and 1985-04-12T00:00:00Z, into
// 1985-04-12.
func formatDay(text string) string {
	text, _, _ = strings.Cut(text, "T")
	if len(text) == 8 && !strings.Contains(text, "-") {
		return text[:4] + "-" + text[4:6] + "-" + text[6:]
	}
	return text
}
