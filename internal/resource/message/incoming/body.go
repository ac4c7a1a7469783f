package incoming

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/resource/template"

	"github.com/jhillyerd/enmime/v2"
)

// truncationNote ends a body that was cut.
const truncationNote = "[The rest was cut. The whole message is attached as " + OriginalName + ".]"

// OriginalName is the name that the original is attached under.
const OriginalName = "original.eml"

// body collects the texts and attachments of the parts.
type body struct {
	letter     *Letter
	text, html strings.Builder
	cut        bool
}

// walkPart visits a part and its children. Of multipart/alternative, only the first
// text and the first HTML count. It recurses safely: parseParts lets the tree be
// no deeper than maxMultiparts.
func (b *body) walkPart(p *enmime.Part, depth int, alternative bool) {
	if strings.HasPrefix(p.ContentType, "multipart/") && (p.FirstChild != nil || p.Content == nil) {
		inner := p.ContentType == "multipart/alternative"
		text, html := b.text.Len(), b.html.Len()
		for child := p.FirstChild; child != nil; child = child.NextSibling {
			second := child.ContentType == "text/plain" && b.text.Len() > text ||
				child.ContentType == "text/html" && b.html.Len() > html
			if inner && second {
				continue
			}
			b.walkPart(child, depth+1, inner)
		}
		return
	}
	file := p.Disposition == "attachment" || p.FileName != ""
	switch {
	case strings.HasPrefix(p.ContentType, "multipart/"): // without a boundary
		b.noteUnread("its parts cannot be told apart")
		b.appendText(&b.text, "\n\n", p.Content)
	case !file && (p.ContentType == "text/plain" || p.ContentType == ""):
		b.appendText(&b.text, "\n\n", p.Content)
	case !file && p.ContentType == "text/html":
		b.appendText(&b.html, "<br>", p.Content)
	case alternative && p.ContentType == "text/x-amp-html":
		// AMP: the same content once more, as an interactive page
	case depth > 0 && (p.ContentType == "message/delivery-status" || p.ContentType == "text/rfc822-headers"):
		// for machines; parseReport reads it
	default:
		b.addAttachment(p)
	}
}

// appendText appends a text to those before it, up to maxHTML bytes in all, and notes
// whether it was cut.
func (b *body) appendText(to *strings.Builder, between string, content []byte) {
	if len(content) == 0 {
		return
	}
	if to.Len() > 0 {
		to.WriteString(between)
	}
	room := max(maxHTML-to.Len(), 0)
	if len(content) > room {
		b.cut = true
		content = cut.Bytes(content, room)
	}
	to.Write(content)
}

// addAttachment keeps a part as an attachment, under its own name or a default one.
func (b *body) addAttachment(p *enmime.Part) {
	l := b.letter
	if len(l.Attachments) == MaxAttachments {
		b.noteUnread(fmt.Sprintf("it has more than %d attachments", MaxAttachments))
		return
	}
	name := toOneLine(p.FileName)
	if name == "" {
		name = defaultFileNames[p.ContentType]
	}
	if name == "" {
		name = "attachment"
	}
	l.Attachments = append(l.Attachments, Attachment{name, p.Content})
}

// defaultFileNames are the file names for parts that have none, by content type.
var defaultFileNames = map[string]string{
	"message/rfc822":  "message.eml",
	"text/calendar":   "invite.ics",
	"text/html":       "attachment.html",
	"text/plain":      "attachment.txt",
	"image/png":       "image.png",
	"image/jpeg":      "image.jpg",
	"image/gif":       "image.gif",
	"application/pdf": "attachment.pdf",
}

// noteUnread says why the original must be kept. The first reason stays.
func (b *body) noteUnread(why string) {
	if b.letter.Unread == "" {
		b.letter.Unread = why
	}
}

// finishLetter writes the collected texts into the letter, cleaned and bounded. If no
// part had anything to show, it shows raw, the beginning of the mail as it came.
func (b *body) finishLetter(raw string) {
	l := b.letter
	if b.text.Len()+b.html.Len()+len(l.Attachments) == 0 && strings.TrimSpace(raw) != "" && l.Report == nil {
		b.noteUnread("no part of it can be read")
		b.appendText(&b.text, "", []byte(raw))
	}
	l.Text = strings.ReplaceAll(toStorableText(b.text.String()), "\r\n", "\n")
	if b.html.Len() > 0 {
		b.cleanHTML(toStorableText(b.html.String()))
	}
	if short := shortenText(l.Text, "\n\n"+truncationNote); short != l.Text {
		l.Text, b.cut = short, true
	}
	if short := shortenText(l.HTML, "<p>"+truncationNote+"</p>"); short != l.HTML {
		l.HTML, b.cut = short, true
	}
	if b.cut {
		b.noteUnread("it is too long")
	}
}

// cleanHTML reduces the HTML to what a mail may contain. HTML that would take too
// long to clean is shown as text.
func (b *body) cleanHTML(html string) {
	l := b.letter
	made, err := template.CleanHTML(html)
	if err != nil {
		b.noteUnread("its HTML has too many tags")
		made = &template.Rendered{Text: html}
	}
	l.HTML = toStorableText(made.HTML)
	if strings.TrimSpace(l.Text) == "" {
		l.Text = toStorableText(made.Text)
	}
}

// shortenText cuts a text that is too long, and appends a note that says so. HTML,
// known by a note in HTML, is not cut inside a tag.
func shortenText(s, note string) string {
	if len(s) <= MaxText || utf8.RuneCountInString(s) <= MaxText {
		return s
	}
	s = truncateRunes(s, MaxText-len(note))
	if open := strings.LastIndexByte(s, '<'); strings.HasPrefix(note, "<") && open > strings.LastIndexByte(s, '>') {
		s = s[:open]
	}
	return s + note
}
