package template

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
)

// The bounds of cleaning. A step is a tag or an attribute; long real mail has
// some ten thousand.
const (
	maxCleaningSteps = 500_000
	maxAttributes    = 100 // per tag
)

// ErrIntricate means that HTML has so many tags and attributes that cleaning it
// would take too long. None of it is used.
var ErrIntricate = errors.New("template: too many tags and attributes")

// IntricateHTML is the message for whoever wrote the text.
const IntricateHTML = "Too intricate: it has more than 500,000 tags and attributes. Use fewer"

// mailPolicy is what a mail may contain: text, links, images, tables and their
// styles. cleanInlineStyles must have run before: the library's own style
// parsers try the words of a value in every order, which takes forty seconds for
// a border of twelve words.
var mailPolicy = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.UGCPolicy()
	p.RequireNoFollowOnLinks(false)
	p.AllowRelativeURLs(false) // a mail has no base address
	p.AllowURLSchemes("http", "https", "mailto", "tel")
	p.AllowElements("center")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("align", "valign", "bgcolor", "width", "height", "border", "cellpadding",
		"cellspacing").Matching(bluemonday.SpaceSeparatedTokens).OnElements("table", "thead", "tbody", "tr", "td", "th",
		"img")
	p.AllowAttrs("style").Matching(regexp.MustCompile(cleanStylePattern)).Globally()
	p.SkipElementsContent("title", "textarea", "select")
	return p
})

// sanitizeHTML reduces HTML to what a mail may contain, or returns ErrIntricate.
func sanitizeHTML(text string) (string, error) {
	text, err := cleanInlineStyles(text)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(mailPolicy().Sanitize(text)), nil
}

// cleanInlineStyles cleans the style attributes in HTML, and refuses HTML with too many
// tags and attributes. It leaves everything else byte for byte, so that the
// policy sees the same tags.
func cleanInlineStyles(text string) (string, error) {
	var b strings.Builder
	b.Grow(len(text))
	z := html.NewTokenizer(strings.NewReader(text))
	for steps := 0; ; {
		switch z.Next() {
		case html.ErrorToken:
			return b.String(), nil // end of the text
		case html.StartTagToken, html.SelfClosingTagToken:
			raw := string(z.Raw())
			token := z.Token()
			steps += 1 + len(token.Attr)
			if cleanTagStyles(&token) {
				raw = token.String()
			}
			b.WriteString(raw)
		case html.EndTagToken:
			steps++
			b.Write(z.Raw())
		default:
			b.Write(z.Raw())
		}
		if steps > maxCleaningSteps {
			return "", ErrIntricate
		}
	}
}

// cleanTagStyles cleans the styles of a tag and drops excess attributes. It reports
// whether the tag changed.
func cleanTagStyles(token *html.Token) (differs bool) {
	if len(token.Attr) > maxAttributes {
		token.Attr, differs = token.Attr[:maxAttributes], true
	}
	kept := token.Attr[:0]
	for _, a := range token.Attr {
		if a.Key == "style" {
			differs = true
			if a.Val = cleanStyleAttribute(a.Val); a.Val == "" {
				continue
			}
		}
		kept = append(kept, a)
	}
	token.Attr = kept
	return differs
}
