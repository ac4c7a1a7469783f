package incoming

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"frontdesk/internal/resource/template"

	"github.com/jhillyerd/enmime/v2"
)

// cutNote ends a body that was cut.
const cutNote = "[The rest was cut. The whole message is attached as " + OriginalName + ".]"

// OriginalName is the name that the original is attached under.
const OriginalName = "original.eml"

// body collects the texts and attachments of the parts.
type body struct {
	letter     *Letter
	text, html strings.Builder
	cut        bool
}

// walk visits a part and its children. Of multipart/alternative, only the first
// text and the first HTML count. It recurses safely: parseParts lets the tree be
// no deeper than maxMultiparts.
func (b *body) walk(p *enmime.Part, depth int, alternative bool) {
	if strings.HasPrefix(p.ContentType, "multipart/") && (p.FirstChild != nil || p.Content == nil) {
		inner := p.ContentType == "multipart/alternative"
		text, html := b.text.Len(), b.html.Len()
		for child := p.FirstChild; child != nil; child = child.NextSibling {
			second := child.ContentType == "text/plain" && b.text.Len() > text ||
				child.ContentType == "text/html" && b.html.Len() > html
			if inner && second {
				continue
			}
			b.walk(child, depth+1, inner)
		}
		return
	}
	file := p.Disposition == "attachment" || p.FileName != ""
	switch {
	case strings.HasPrefix(p.ContentType, "multipart/"): // without a boundary
		b.note("its parts cannot be told apart")
		b.add(&b.text, "\n\n", p.Content)
	case !file && (p.ContentType == "text/plain" || p.ContentType == ""):
		b.add(&b.text, "\n\n", p.Content)
	case !file && p.ContentType == "text/html":
		b.add(&b.html, "<br>", p.Content)
	case alternative && p.ContentType == "text/x-amp-html":
		// AMP: the same content once more, as an interactive page
	case depth > 0 && (p.ContentType == "message/delivery-status" || p.ContentType == "text/rfc822-headers"):
		// for machines; parseReport reads it
	default:
		b.attach(p)
	}
}

// add appends a text to those before it, up to maxHTML bytes in all, and notes
// whether it was cut.
func (b *body) add(to *strings.Builder, between string, content []byte) {
	if len(content) == 0 {
		return
	}
	if to.Len() > 0 {
		to.WriteString(between)
	}
	room := max(maxHTML-to.Len(), 0)
	if len(content) > room {
		b.cut = true
		content = content[:room]
		for len(content) > 0 && !utf8.RuneStart(content[len(content)-1]) {
			content = content[:len(content)-1]
		}
	}
	to.Write(content)
}

// attach keeps a part as an attachment, under its own name or a default one.
func (b *body) attach(p *enmime.Part) {
	l := b.letter
	if len(l.Attachments) == MaxAttachments {
		b.note(fmt.Sprintf("it has more than %d attachments", MaxAttachments))
		return
	}
	name := oneLine(p.FileName)
	if name == "" {
		name = unnamed[p.ContentType]
	}
	if name == "" {
		name = "attachment"
	}
	l.Attachments = append(l.Attachments, Attachment{name, p.Content})
}

// unnamed are the file names for parts that have none, by content type.
var unnamed = map[string]string{
	"message/rfc822":  "message.eml",
	"text/calendar":   "invite.ics",
	"text/html":       "attachment.html",
	"text/plain":      "attachment.txt",
	"image/png":       "image.png",
	"image/jpeg":      "image.jpg",
	"image/gif":       "image.gif",
	"application/pdf": "attachment.pdf",
}

// note says why the original must be kept. The first reason stays.
func (b *body) note(why string) {
	if b.letter.Unread == "" {
		b.letter.Unread = why
	}
}

// finish writes the collected texts into the letter, cleaned and bounded. If no
// part had anything to show, it shows raw, the beginning of the mail as it came.
func (b *body) finish(raw string) {
	l := b.letter
	if b.text.Len()+b.html.Len()+len(l.Attachments) == 0 && strings.TrimSpace(raw) != "" && l.Report == nil {
		b.note("no part of it can be read")
		b.add(&b.text, "", []byte(raw))
	}
	l.Text = strings.ReplaceAll(readable(b.text.String()), "\r\n", "\n")
	if b.html.Len() > 0 {
		b.clean(readable(b.html.String()))
	}
	if short := shorten(l.Text, "\n\n"+cutNote); short != l.Text {
		l.Text, b.cut = short, true
	}
	if short := shorten(l.HTML, "<p>"+cutNote+"</p>"); short != l.HTML {
		l.HTML, b.cut = short, true
	}
	if b.cut {
		b.note("it is too long")
	}
}

// clean reduces the HTML to what a mail may contain. HTML that would take too
// long to clean is shown as text.
func (b *body) clean(html string) {
	l := b.letter
	made, err := template.Clean(html)
	if err != nil {
		b.note("its HTML has too many tags")
		made = &template.Rendered{Text: html}
	}
	l.HTML = readable(made.HTML)
	if strings.TrimSpace(l.Text) == "" {
		l.Text = readable(made.Text)
	}
}

// shorten cuts a text that is too long, and appends a note that says so. HTML,
// known by a note in HTML, is not cut inside a tag.
func shorten(s, note string) string {
	if len(s) <= MaxText || utf8.RuneCountInString(s) <= MaxText {
		return s
	}
	s = clip(s, MaxText-len(note))
	if open := strings.LastIndexByte(s, '<'); strings.HasPrefix(note, "<") && open > strings.LastIndexByte(s, '>') {
		s = s[:open]
	}
	return s + note
}
