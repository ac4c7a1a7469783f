package review

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/proposal"

	"github.com/go-json-experiment/json"
	"golang.org/x/net/html"
)

// mail is one that an effect sends, as its readers will get it.
type mail struct {
	Lines     []desk.Change // who writes to whom, about what, with what
	Subject   string
	Paper     string // the page that shows it
	Short     bool   // it needs little room
	Text      string // what a reader without design sees, where there is a design
	Links     []mailLink
	MoreLinks int // that are neither listed nor looked at
}

// mailLink is where a link of a mail leads.
type mailLink struct {
	Text, Host string
	Lies       bool // its text names another place
}

// mailFields are shown as the head of a mail and not as fields.
var mailFields = []string{"html", "text", "from", "fromName", "subject", "to", "cc", "bcc", "replyTo", "fileIds",
	"invoiceIds"}

// content is the part of a message that its readers see.
type content struct {
	HTML string `json:"html"`
	Text string `json:"text"`
}

// mail tells of the mail that an effect sends.
func (s *story) mail(n int, fields map[string]any) *mail {
	text := func(name string) string { t, _ := fields[name].(string); return t }
	from := desk.Visible(text("from"))
	if name := text("fromName"); name != "" {
		from = desk.Visible(name) + " <" + from + ">"
	}
	m := &mail{Lines: []desk.Change{{Word: "From", After: from}}, Subject: desk.Visible(text("subject")),
		Paper: fmt.Sprintf("%s/mails/%d", reviewPath(s.p), n), Short: len(text("html"))+len(text("text")) < 1000}
	for _, l := range []struct{ field, word string }{{"to", "To"}, {"cc", "Copy"}, {"bcc", "Hidden copy"},
		{"replyTo", "Answers to"}, {"fileIds", "With"}, {"invoiceIds", "With the PDF of"}} {
		for _, c := range s.teller.Fields("message", nil, nil, map[string]any{l.field: fields[l.field]}) {
			m.Lines = append(m.Lines, desk.Change{Word: l.word, After: c.After})
		}
	}
	if text("html") != "" {
		m.Text = desk.Visible(text("text"))
		m.Links, m.MoreLinks = linksOf(text("html"))
	}
	return m
}

var looksLikePlace = regexp.MustCompile(`(?i)[\p{L}\d-]+(\.[\p{L}\d-]+)+`)

const maxLinks = 50 // of a mail that are listed

// linksOf lists where the links of a mail lead, and counts those for which there is no room.
func linksOf(text string) (out []mailLink, more int) {
	z := html.NewTokenizer(strings.NewReader(text))
	var at *mailLink
	end := func() { // as in a browser, a link also ends where the next begins, and with the mail
		if at != nil {
			at.judge()
			at = nil
		}
	}
	for {
		switch z.Next() {
		case html.ErrorToken:
			end()
			return out, more
		case html.StartTagToken, html.SelfClosingTagToken: // a browser takes <a/> for <a>
			token := z.Token()
			if token.Data != "a" {
				continue
			}
			end()
			i := slices.IndexFunc(token.Attr, func(a html.Attribute) bool { return a.Key == "href" })
			switch {
			case i < 0:
			case len(out) == maxLinks:
				more++
			default:
				out = append(out, mailLink{Host: placeOf(token.Attr[i].Val)})
				at = &out[len(out)-1]
			}
		case html.TextToken:
			if at != nil {
				at.Text += string(z.Text())
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == "a" {
				end()
			}
		}
	}
}

// judge looks at a link whose text is complete. A text that names a place other than the one it
// leads to deceives whoever reads it.
func (l *mailLink) judge() {
	l.Text = desk.Visible(strings.Join(strings.Fields(html.UnescapeString(l.Text)), " "))
	l.Lies = slices.ContainsFunc(looksLikePlace.FindAllString(l.Text, -1), func(named string) bool {
		return !samePlace(named, l.Host)
	})
}

// placeOf is the server or the address that a link leads to.
func placeOf(href string) string {
	u, err := url.Parse(strings.TrimSpace(href))
	switch {
	case err != nil:
		return desk.Visible(href)
	case u.Host != "":
		return desk.Visible(u.Host)
	case u.Scheme == "mailto":
		return desk.Visible(u.Opaque)
	}
	return desk.Visible(href)
}

// samePlace reports whether a name in the text of a link is that of its target, or a part of it.
func samePlace(named, host string) bool {
	named, host = strings.ToLower(named), strings.ToLower(host)
	return host == named || strings.HasSuffix(host, "."+named) || strings.HasSuffix(host, "@"+named) ||
		"www."+host == named || strings.HasPrefix(host, named+":") || strings.HasPrefix(host, named+"@") ||
		!strings.Contains(named, ".")
}

// proposedMail shows the mail of an effect as a page of its own.
func proposedMail(v *desk.Visit, p *proposal.Proposal) error {
	i, err := strconv.Atoi(v.R.PathValue("effect"))
	if err != nil || i < 0 || i >= len(p.Effects) || p.Effects[i].Kind != proposal.KindSend {
		return fault.NotFound.New()
	}
	var c content
	if err := json.Unmarshal(p.Effects[i].After, &c); err != nil {
		return err
	}
	c.HTML, _ = p.WholeText(c.HTML)
	c.Text, _ = p.WholeText(c.Text)
	return v.MailPaper(http.StatusOK, &c.HTML, &c.Text)
}
