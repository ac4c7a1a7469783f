// Package placeholder fills values into texts that callers write, such as templates of mail and inputs of automations:
// {{ customer.name }}, and {{ name | default: "there" }} for a value that may be missing. That is the whole language.
// There is no logic, no inclusion and no call, so that a text can only name values.
//
// Read placeholder.go first: Parse reads a text from left to right, once, into a Template. values.go has
// Template.Render, which puts values into it, and Lookup, where values come from.
//
// The package knows no resource. The result is never parsed again: a value that looks like a placeholder stays as it
// is, so that a contact's name cannot read other values. Lengths and numbers are bounded, because callers choose them.
package placeholder

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of a text.
const (
	MaxLength       = 1 << 21 // bytes
	MaxPlaceholders = 1000
	maxName         = 200  // bytes of a name with its dots
	maxDefault      = 1000 // bytes
)

// Template is a parsed text. It never changes, so any number of goroutines may
// render it.
type Template struct {
	parts        []part
	placeholders int // how many parts are placeholders
}

// part is a piece of text, or a placeholder.
type part struct {
	text     string
	path     []string // the steps of the name: customer, name; nil for text
	fallback *string  // the default; nil for none
}

// ParseError says where and why a text could not be read.
type ParseError struct {
	Line, Column int // in characters, from 1
	Problem      string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("Line %d, column %d: %s", e.Line, e.Column, e.Problem)
}

// reader goes through a text once, from its beginning to its end.
type reader struct {
	text string
	at   int // the offset of the next byte
}

// Parse reads a text. A refusal is a *ParseError.
func Parse(text string) (*Template, error) {
	r := &reader{text: text}
	if len(text) > MaxLength {
		return nil, r.errorAt(0, fmt.Sprintf("a text has at most %d bytes", MaxLength))
	}
	t := &Template{}
	for {
		i := strings.Index(text[r.at:], "{{")
		if i < 0 {
			t.addText(text[r.at:])
			return t, nil
		}
		t.addText(text[r.at : r.at+i])
		r.at += i
		if t.placeholders == MaxPlaceholders {
			return nil, r.errorAt(r.at, fmt.Sprintf("there are more than %d placeholders", MaxPlaceholders))
		}
		p, err := r.readPlaceholder()
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, p)
		t.placeholders++
	}
}

// addText adds a piece of text, unless it is empty.
func (t *Template) addText(text string) {
	if text != "" {
		t.parts = append(t.parts, part{text: text})
	}
}

// readPlaceholder reads one placeholder, from its opening to its closing braces.
func (r *reader) readPlaceholder() (part, error) {
	start := r.at
	r.at += 2
	r.skipSpaces()
	path, err := r.readName(start)
	if err != nil {
		return part{}, err
	}
	p := part{path: path}
	r.skipSpaces()
	if r.takeToken("|") {
		r.skipSpaces()
		if !r.takeToken("default") {
			return part{}, r.unexpectedError(start, `only | default: "…" may follow a name`)
		}
		r.skipSpaces()
		if !r.takeToken(":") {
			return part{}, r.unexpectedError(start, `write a default like default: "there"`)
		}
		r.skipSpaces()
		s, err := r.readQuoted(start)
		if err != nil {
			return part{}, err
		}
		p.fallback = &s
		r.skipSpaces()
	}
	if !r.takeToken("}}") {
		return part{}, r.unexpectedError(start,
			`a placeholder is a name between {{ and }}, with nothing but | default: "…" behind it`)
	}
	return p, nil
}

// readName reads a name like customer.name or items.0.name. start is where the placeholder begins, for errors.
func (r *reader) readName(start int) ([]string, error) {
	const problem = "a name has letters, digits and underscores, begins with a letter or underscore, and dots lead " +
		"to what is inside, like customer.name"
	begin := r.at
	var path []string
	for {
		from := r.at
		for r.at < len(r.text) && isNameByte(r.text[r.at]) {
			r.at++
		}
		if r.at == from || len(path) == 0 && isDigit(r.text[from]) {
			r.at = from
			return nil, r.unexpectedError(start, problem)
		}
		if r.at-begin > maxName {
			return nil, r.errorAt(start, fmt.Sprintf("a name has at most %d characters", maxName))
		}
		path = append(path, r.text[from:r.at])
		if !r.takeToken(".") {
			return path, nil
		}
	}
}

// readQuoted reads a text between double quotes, in which \" is a quote and \\ a backslash.
func (r *reader) readQuoted(start int) (string, error) {
	if !r.takeToken(`"`) {
		return "", r.unexpectedError(start, `write a default between double quotes, like default: "there"`)
	}
	var b strings.Builder
	for r.at < len(r.text) {
		c := r.text[r.at]
		r.at++
		switch {
		case c == '"':
			return b.String(), nil
		case c == '\\' && r.at < len(r.text) && (r.text[r.at] == '"' || r.text[r.at] == '\\'):
			c = r.text[r.at]
			r.at++
		}
		if b.Len() == maxDefault {
			return "", r.errorAt(start, fmt.Sprintf("a default has at most %d bytes", maxDefault))
		}
		b.WriteByte(c)
	}
	return "", r.errorAt(start, "the default's closing quote is missing")
}

// skipSpaces skips white space.
func (r *reader) skipSpaces() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// takeToken skips s, if it comes next, and reports whether it does.
func (r *reader) takeToken(s string) bool {
	if !strings.HasPrefix(r.text[r.at:], s) {
		return false
	}
	r.at += len(s)
	return true
}

// unexpectedError is the error for what comes next: problem or, at the end of the text, that the placeholder is not
// closed.
func (r *reader) unexpectedError(start int, problem string) error {
	if r.at == len(r.text) {
		return r.errorAt(start, "this {{ has no }}")
	}
	return r.errorAt(r.at, problem)
}

// errorAt is an error at an offset. Lines and columns are counted only here, so that a valid text need not pay for it.
func (r *reader) errorAt(at int, problem string) error {
	before := r.text[:at]
	line := strings.LastIndexByte(before, '\n') + 1
	return &ParseError{Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(before[line:]) + 1,
		Problem: problem}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNameByte(c byte) bool {
	return isDigit(c) || c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// Variables lists the names that the templates use, sorted, each once.
func Variables(templates ...*Template) []string {
	names := []string{}
	for _, t := range templates {
		for i := range t.parts {
			if p := &t.parts[i]; p.path != nil {
				names = append(names, p.dottedName())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Variables lists the names that the text uses, sorted, each once.
func (t *Template) Variables() []string { return Variables(t) }

// dottedName is the name as it is written, with dots.
func (p *part) dottedName() string { return strings.Join(p.path, ".") }
