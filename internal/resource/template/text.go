package template

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// maxIndent bounds how deep quotes and lists are indented: nobody reads a line
// with a thousand of them.
const maxIndent = 8

// plainTextWriter writes HTML as people write plain text: separate paragraphs, lists with
// their marks, and after a link its address.
type plainTextWriter struct {
	b      strings.Builder
	gap    int      // line ends still to be written before the next word
	space  bool     // a space before the next word
	indent []string // what each line starts with
	deeper int      // levels beyond maxIndent
	bullet string   // what the next line starts with instead of its last indent
	lists  []int    // the number of the last item, or -1 without numbers
	links  []link
	pre    int
	cells  int
}

type link struct {
	href      string
	textStart int // where its text starts in the output
}

// showsTarget reports whether the text of a link already is its address. It copies
// nothing: nested links would otherwise copy their content once per level.
func (l link) showsTarget(text string) bool {
	for _, scheme := range []string{"", "mailto:", "tel:", "http://", "https://"} {
		if rest, ok := strings.CutPrefix(l.href, scheme); ok && rest == text {
			return true
		}
	}
	return false
}

// htmlToText is the text of sanitized HTML.
func htmlToText(text string) string {
	p := &plainTextWriter{}
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(p.b.String())
		case html.TextToken:
			p.writeText(string(z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			p.openElement(token.Data, token.Attr)
		case html.EndTagToken:
			name, _ := z.TagName()
			p.closeElement(string(name))
		default: // sanitized HTML has nothing else
		}
	}
}

// writeText writes a text node. Outside of pre, any white space between words becomes one
// space.
func (p *plainTextWriter) writeText(raw string) {
	s := html.UnescapeString(raw)
	if p.pre > 0 {
		for i, line := range strings.Split(s, "\n") {
			if i > 0 {
				p.gap++
			}
			if line != "" {
				p.writeWord(line)
			}
		}
		return
	}
	for i, word := range strings.Fields(s) {
		if i > 0 || isHTMLSpace(s[0]) {
			p.space = true
		}
		p.writeWord(word)
	}
	p.space = p.space || s != "" && isHTMLSpace(s[len(s)-1])
}

func isHTMLSpace(c byte) bool { return strings.IndexByte(" \t\r\n\f", c) >= 0 }

// writeWord puts a word after the last one, or on a new line.
func (p *plainTextWriter) writeWord(s string) {
	switch {
	case p.b.Len() == 0:
		p.beginLine()
	case p.gap > 0:
		for range p.gap - 1 {
			p.b.WriteByte('\n')
			p.b.WriteString(strings.TrimRight(strings.Join(p.indent, ""), " "))
		}
		p.b.WriteByte('\n')
		p.beginLine()
	case p.space:
		p.b.WriteByte(' ')
	}
	p.gap, p.space = 0, false
	p.b.WriteString(s)
}

func (p *plainTextWriter) beginLine() {
	indent := p.indent
	if p.bullet != "" {
		indent = indent[:len(indent)-1]
	}
	p.b.WriteString(strings.Join(indent, "") + p.bullet)
	p.bullet = ""
}

// breakLines asks for line ends before the next word: one for a new line, two for an
// empty line between. Zero, of an inline element, asks for none.
func (p *plainTextWriter) breakLines(lines int) {
	if lines > 0 {
		p.gap, p.space = min(max(p.gap, lines), 2), false
	}
}

func (p *plainTextWriter) pushIndent(indent, bullet string) {
	if len(p.indent) == maxIndent {
		p.deeper++
		return
	}
	p.indent, p.bullet = append(p.indent, indent), bullet
}

func (p *plainTextWriter) popIndent() {
	switch {
	case p.deeper > 0:
		p.deeper--
	case len(p.indent) > 0:
		p.indent, p.bullet = p.indent[:len(p.indent)-1], ""
	}
}

func attributeValue(attrs []html.Attribute, name string) string {
	for _, a := range attrs {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func (p *plainTextWriter) openElement(name string, attrs []html.Attribute) {
	switch name {
	case "br":
		p.gap, p.space = min(p.gap+1, 2), false
	case "hr":
		p.breakLines(2)
		p.writeWord("---")
		p.breakLines(2)
	case "img":
		if alt := attributeValue(attrs, "alt"); alt != "" {
			p.writeText(html.EscapeString(alt))
		}
	case "a":
		p.links = append(p.links, link{attributeValue(attrs, "href"), p.b.Len()})
	case "ul", "ol":
		p.breakLines(listLineEnds(p.lists))
		first := -1
		if name == "ol" {
			first = 0
			if n, err := strconv.Atoi(attributeValue(attrs, "start")); err == nil {
				first = n - 1
			}
		}
		p.lists = append(p.lists, first)
	case "li":
		p.breakLines(1)
		mark := "- "
		if n := len(p.lists); n > 0 && p.lists[n-1] >= 0 {
			p.lists[n-1]++
			mark = strconv.Itoa(p.lists[n-1]) + ". "
		}
		p.pushIndent(strings.Repeat(" ", len(mark)), mark)
	case "blockquote":
		p.breakLines(2)
		p.pushIndent("> ", "")
	case "pre":
		p.breakLines(2)
		p.pre++
	case "tr":
		p.breakLines(1)
		p.cells = 0
	case "td", "th":
		if p.cells++; p.cells > 1 && p.gap == 0 {
			p.space = true
			p.writeWord("|")
			p.space = true
		}
	default:
		p.breakLines(lineEndsAround[name])
	}
}

func (p *plainTextWriter) closeElement(name string) {
	switch name {
	case "a":
		if n := len(p.links); n > 0 {
			l := p.links[n-1]
			p.links = p.links[:n-1]
			said := strings.TrimSpace(p.b.String()[l.textStart:])
			if l.href != "" && !l.showsTarget(said) {
				p.space = said != ""
				if said == "" {
					p.writeWord(l.href)
				} else {
					p.writeWord("(" + l.href + ")")
				}
			}
		}
	case "ul", "ol":
		if n := len(p.lists); n > 0 {
			p.lists = p.lists[:n-1]
		}
		p.breakLines(listLineEnds(p.lists))
	case "li":
		p.popIndent()
		p.breakLines(1)
	case "blockquote":
		p.popIndent()
		p.breakLines(2)
	case "pre":
		p.pre = max(p.pre-1, 0)
		p.breakLines(2)
	case "tr":
		p.breakLines(1)
	case "td", "th":
	default:
		p.breakLines(lineEndsAround[name])
	}
}

// listLineEnds is how many line ends surround a list: one inside another list, and
// two around the outermost.
func listLineEnds(lists []int) int {
	if len(lists) > 0 {
		return 1
	}
	return 2
}

// lineEndsAround is how many line ends surround an element.
var lineEndsAround = map[string]int{"p": 2, "h1": 2, "h2": 2, "h3": 2, "h4": 2, "h5": 2, "h6": 2, "table": 2, "dl": 2,
	"figure": 2,
	"div":    1, "section": 1, "article": 1, "header": 1, "footer": 1, "center": 1, "dt": 1, "dd": 1, "caption": 1,
	"figcaption": 1, "summary": 1, "details": 1}

// TextToHTML turns plain text into HTML: everything is escaped, empty lines
// separate paragraphs, and other line ends stay.
func TextToHTML(text string) string {
	var b strings.Builder
	for _, p := range strings.Split(strings.ReplaceAll(strings.TrimSpace(text), "\r\n", "\n"), "\n\n") {
		if p = strings.Trim(p, "\n"); p != "" {
			b.WriteString("<p>" + strings.ReplaceAll(html.EscapeString(p), "\n", "<br>\n") + "</p>\n")
		}
	}
	return b.String()
}
