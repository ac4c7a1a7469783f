package template

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/placeholder"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	markdownhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
)

// The size limits of a text with its values filled in.
const (
	maxRendered = 2_000_000 // bytes of a body
	maxSubject  = 1000      // bytes of a subject
)

// VariableMissing refuses to render when a named variable has no value.
var VariableMissing = fault.DefineKind("EMAIL_TEMPLATE_VARIABLE_MISSING", 422,
	"A variable of the template has no value and no default.")

// Content is what a mail is rendered from.
type Content struct{ Subject, Body, BodyFormat string }

// Rendered is a mail's content with its values filled in.
type Rendered struct {
	Subject string `json:"subject" max:"1000"`
	HTML    string `json:"html" max:"-1" doc:"sanitized: no scripts, forms or frames"`
	Text    string `json:"text" max:"-1" doc:"the same as plain text"`

	// Own is true for HTML that somebody designed, which no layout surrounds.
	Own bool `json:"-"`

	op.ExternalMark // of the template
}

// Render fills in the values. Nothing in a value counts as Markdown, HTML or a
// header: the body is turned into HTML with marks in place of the values, each
// mark is then replaced inside the text or attribute that holds it, and the
// result is sanitized. A long body takes some milliseconds, so call it outside
// transactions. A problem with the values is a fault at the field variables.
func (t Content) Render(values placeholder.Lookup) (*Rendered, error) {
	subject, err := placeholder.Parse(t.Subject)
	if err != nil {
		return nil, fmt.Errorf("template: subject: %w", err)
	}
	body, err := placeholder.Parse(t.Body)
	if err != nil {
		return nil, fmt.Errorf("template: body: %w", err)
	}
	out := &Rendered{Own: t.BodyFormat != formatMarkdown}
	m := newValueMarks()
	marked, err := body.Render(values, m.addMark, maxRendered)
	var lacks *placeholder.MissingError
	if err != nil && !errors.As(err, &lacks) {
		return nil, valuesFault(err)
	}
	if out.Subject, err = subject.Render(values, toOneLine, maxSubject); err != nil || lacks != nil {
		return nil, valuesFault(joinMissingVariables(err, lacks))
	}
	out.Subject = toOneLine(out.Subject) // including line ends in the text itself
	if t.BodyFormat == formatMarkdown {
		var b strings.Builder
		if err := markdownToHTML().Convert([]byte(marked), &b); err != nil {
			return nil, fmt.Errorf("template: markdown: %w", err)
		}
		marked = b.String()
	}
	filled, err := m.fillMarks(marked)
	if err != nil {
		return nil, valuesFault(err)
	}
	if out.HTML, err = sanitizeHTML(filled); err != nil {
		return nil, fault.Field("body", IntricateHTML)
	}
	out.Text = htmlToText(out.HTML)
	return out, nil
}

// CleanHTML reduces HTML from outside to what a mail may contain, and makes the plain
// text of it. A long text takes some milliseconds; one that would take seconds
// is refused with ErrIntricate.
func CleanHTML(text string) (*Rendered, error) {
	clean, err := sanitizeHTML(text)
	if err != nil {
		return nil, err
	}
	return &Rendered{HTML: clean, Text: htmlToText(clean), Own: true}, nil
}

// joinMissingVariables lists the missing variables of subject and body together, so that
// the caller learns all of them at once.
func joinMissingVariables(err error, body *placeholder.MissingError) error {
	var subject *placeholder.MissingError
	if err != nil && !errors.As(err, &subject) {
		return err
	}
	all := &placeholder.MissingError{}
	for _, m := range []*placeholder.MissingError{subject, body} {
		if m != nil {
			all.Names = append(all.Names, m.Names...)
		}
	}
	return all
}

// valuesFault turns a problem with the values into a fault for the caller.
func valuesFault(err error) error {
	var lacks *placeholder.MissingError
	var unfit *placeholder.UnfitError
	var long *placeholder.TooLongError
	switch {
	case errors.As(err, &lacks):
		names := sortUnique(lacks.Names)
		f := VariableMissing.Say("The variable %s has no value and no default.", names[0])
		if len(names) > 1 {
			f = VariableMissing.Say("The variables %s have no value and no default.", strings.Join(names, ", "))
		}
		f.Details = map[string][]string{"variables": names}
		return f
	case errors.As(err, &unfit):
		at := []any{"variables"}
		for _, step := range strings.Split(unfit.Name, ".") {
			at = append(at, step)
		}
		return fault.AtPath(at,
			"Must be a text, a number, true or false; name one of its fields in the template instead")
	case errors.As(err, &long):
		return fault.Field("variables",
			fmt.Sprintf("Too long: with these values the text has more than %d bytes", long.Max))
	}
	return err
}

// toOneLine removes line ends from a value of the subject, which could otherwise
// add headers to the mail.
func toOneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
	}), " ")
}

// markdownToHTML lets HTML through, which is sanitized with the rest.
// Extensions other than tables are left out: a few thousand ~ or @ keep them
// busy for seconds.
var markdownToHTML = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithRendererOptions(markdownhtml.WithUnsafe()))
})

// valueMarks stand for values while a text becomes HTML. They consist of letters and
// digits, which mean nothing to Markdown or HTML, and their beginning is
// unpredictable.
type valueMarks struct {
	begin  string
	values []string
	size   int
}

func newValueMarks() *valueMarks { return &valueMarks{begin: "v" + strings.ToLower(rand.Text()) + "n"} }

// markEnd follows the number of a mark. It must not be a digit.
const markEnd = "e"

func (m *valueMarks) addMark(value string) string {
	m.values = append(m.values, value)
	return m.begin + strconv.Itoa(len(m.values)-1) + markEnd
}

// fillMarks puts the values in place of the marks, in texts and attribute values. A
// tag or attribute whose name contains a mark is dropped: a value must not
// decide what kind of tag there is.
func (m *valueMarks) fillMarks(text string) (string, error) {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		if z.Next() == html.ErrorToken {
			return b.String(), nil // end of the text
		}
		token := z.Token()
		switch token.Type {
		case html.TextToken:
			token.Data = m.replaceMarks(token.Data)
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			if strings.Contains(token.Data, m.begin) {
				continue
			}
			kept := token.Attr[:0]
			for _, a := range token.Attr {
				if !strings.Contains(a.Key, m.begin) {
					a.Val = m.replaceMarks(a.Val)
					kept = append(kept, a)
				}
			}
			token.Attr = kept
		default:
			continue // comments and declarations
		}
		s := token.String()
		if m.size > maxRendered || b.Len()+len(s) > 2*maxRendered {
			return "", &placeholder.TooLongError{Max: maxRendered}
		}
		b.WriteString(s)
	}
}

// replaceMarks puts the values in place of the marks in one text, until maxRendered is
// reached; fillMarks then refuses the whole.
func (m *valueMarks) replaceMarks(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, m.begin)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		number, rest, _ := strings.Cut(after, markEnd)
		i, err := strconv.Atoi(number)
		if err != nil || i >= len(m.values) {
			return b.String() // a truncated mark; drop the rest
		}
		if m.size += len(m.values[i]); m.size > maxRendered {
			return ""
		}
		b.WriteString(m.values[i])
		s = rest
	}
}
