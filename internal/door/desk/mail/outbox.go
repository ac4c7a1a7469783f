package mail

import (
	"bytes"
	"encoding/base64"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/message"

	"github.com/jhillyerd/enmime/v2"
)

// outbox is what was written here: sent, on its way, scheduled, failed.
var outbox = &desk.Noun[message.Message]{
	Path: "outbox", Ops: "messages", One: "mail", Many: "mail", Title: "Outbox", Icon: "send", RailKey: "inbox",
	NoCreate: true, ReadOnly: true, HideFromSearch: true, CreateLabel: "Write a mail", CreatePage: "/inbox/new",
	EmptyText:  "What you, your agents and automations send appears here, as its reader sees it.",
	SearchHint: "Subject, address, text",
	Tabs: []desk.Tab{
		{Label: "All"}, {Label: "Scheduled", Query: "status=scheduled"},
		{Label: "On its way", Query: "status=queued&status=sending"},
		{Label: "Sent", Query: "status=sent&status=delivered"},
		{Label: "Not delivered", Query: "status=failed&status=bounced"}, {Label: "Drafts", Query: "status=draft"},
	},
	Columns: []desk.Column[message.Message]{
		{Head: "Subject", Cell: func(_ *desk.Visit, m *message.Message) desk.Cell {
			return desk.Text(subject(m.Subject))
		}},
		{Head: "To", Field: "to", Width: "w4", Fold: "two", Cell: func(_ *desk.Visit, m *message.Message) desk.Cell {
			return desk.Text(strings.Join(m.To, ", "))
		}},
		{Head: "State", Field: "status", Width: "w2p", Fold: "four",
			Cell: func(v *desk.Visit, m *message.Message) desk.Cell {
				return desk.State(Fate(v, m))
			}},
		{Head: "Written", Field: "createdAt", Sort: "createdAt", Width: "w1", Fold: "three", End: true,
			Cell: func(v *desk.Visit, m *message.Message) desk.Cell { return v.At(&m.CreatedAt) }},
	},
	Filters: []desk.Filter{{Field: "status", Label: "State", HideChoice: true},
		{Field: "contactId", Label: "Contact", Ref: "contacts", HideChoice: true},
		{Field: "createdAfter", Label: "Written after", ByDay: true},
		{Field: "createdBefore", Label: "Written before", ByDay: true}},
	AdjustQuery: func(_ *desk.Visit, in desk.Fields) { in["direction"] = []string{message.Outbound} },
	Name:        func(_ *desk.Visit, m *message.Message) string { return subject(m.Subject) },
	ListLine: func(v *desk.Visit, m *message.Message) desk.Line {
		l := desk.Line{Icon: "mail", Text: subject(m.Subject), Faint: m.From, Time: v.When(m.CreatedAt)}
		if m.Direction == message.Outbound {
			l.Faint, l.Pill, l.Icon = strings.Join(m.To, ", "), Fate(v, m), "send"
		}
		return l
	},
	ObjectPage: showMail,
}

func joinOutbox(d *desk.Desk) {
	d.AddNouns(outbox)
	d.Add(
		desk.Route{Pattern: "GET /outbox/{id}/paper", Show: sentPaper},
		desk.Route{Pattern: "GET /outbox/{id}/file/{n}", Show: sentFile},
	)
}

// sentData is a mail as its reader sees it. The template is "sent".
type sentData struct {
	Facts  []fact
	Thread string
	Paper  string
	Text   string
	Source string
	Whole  bool // it is the mail itself, and not only what it was made from
	As     string
	Ways   []tab
	Files  []attached
	Error  string
	Cancel string
	Back   string
}

// showMail shows a mail that was written here. One that came in belongs to its
// thread.
func showMail(v *desk.Visit) error {
	m, err := mailOf(v)
	if err != nil {
		return err
	}
	if m.Direction == message.Inbound {
		return v.Redirect("/inbox/" + string(m.ThreadID))
	}
	ref := string(m.ID)
	d := &sentData{Thread: "/inbox/" + string(m.ThreadID), Paper: "/outbox/" + ref + "/paper", Back: "/outbox/" + ref}
	from := m.From
	if m.FromName != nil {
		from = *m.FromName + " <" + from + ">"
	}
	d.Facts = []fact{{"From", from}, {"To", strings.Join(m.To, ", ")}}
	if len(m.CC) > 0 {
		d.Facts = append(d.Facts, fact{"Cc", strings.Join(m.CC, ", ")})
	}
	if len(m.BCC) > 0 {
		d.Facts = append(d.Facts, fact{"Bcc", strings.Join(m.BCC, ", ")})
	}
	if m.ReplyTo != nil {
		d.Facts = append(d.Facts, fact{"Reply to", *m.ReplyTo})
	}
	if m.SentAt != nil {
		d.Facts = append(d.Facts, fact{"Sent", v.When(*m.SentAt).Exact})
	}
	if m.ScheduledAt != nil && m.SentAt == nil {
		d.Facts = append(d.Facts, fact{"To be sent", v.When(*m.ScheduledAt).Exact})
	}
	if m.ErrorMessage != nil {
		d.Error = *m.ErrorMessage
	}
	if (m.Status == message.Scheduled || m.Status == message.Queued) && v.May("messages.cancel") {
		d.Cancel = "/inbox/" + string(m.ThreadID) + "/cancel/" + ref
	}
	if err := d.fill(v, m); err != nil {
		return err
	}
	pill := Fate(v, m)
	return v.Show(http.StatusOK, "sent", desk.View{Title: subject(m.Subject), Section: "inbox", Data: d,
		Watch: "message", Badge: desk.Pill{Text: pill.Text, Tone: pill.Tone},
		Crumbs:  []desk.Crumb{{Text: "Outbox", Href: "/outbox"}, {Text: subject(m.Subject)}},
		Buttons: []desk.Button{{Text: "Conversation", Href: d.Thread, Icon: "mail"}},
		API:     v.ObjectSamples("messages", ref)})
}

// fill adds what the mail says: from the embedded mailbox the mail itself, else
// what it was made from.
func (d *sentData) fill(v *desk.Visit, m *message.Message) error {
	kept, err := keptMail(v, m.ID)
	if err != nil {
		return err
	}
	html := m.HTML != nil
	if m.Text != nil {
		d.Text = *m.Text
	}
	if kept != nil {
		d.Whole, d.Source, html, d.Text = true, kept.source, kept.html != "", kept.text
		for i, f := range kept.files {
			d.Files = append(d.Files, attached{Name: f.FileName, Size: desk.Size(int64(len(f.Content))),
				Href: "/outbox/" + string(m.ID) + "/file/" + strconv.Itoa(i)})
		}
	} else {
		if d.Files, err = attachments(v, m.ID); err != nil {
			return err
		}
		for _, ref := range m.InvoiceIDs {
			d.Files = append(d.Files, attached{Name: "The invoice as PDF", Href: "/invoices/" + string(ref) + "/pdf"})
		}
	}
	d.As = v.R.URL.Query().Get("as")
	if d.As != "text" && (d.As != "source" || d.Source == "") {
		d.As = "design"
	}
	if !html && d.As == "design" {
		d.As = "text"
	}
	if html {
		d.Ways = append(d.Ways, tab{"As designed", v.With("as", ""), d.As == "design"})
	}
	d.Ways = append(d.Ways, tab{"As text", v.With("as", "text"), d.As == "text"})
	if d.Source != "" {
		d.Ways = append(d.Ways, tab{"Source", v.With("as", "source"), d.As == "source"})
	}
	return nil
}

func mailOf(v *desk.Visit) (*message.Message, error) {
	ref, err := v.PathID("id")
	if err != nil {
		return nil, err
	}
	var m message.Message
	return &m, v.Do("messages.get", desk.Fields{"id": ref}, &m)
}

// kept is a mail of the embedded mailbox, read as a mail program reads it.
type kept struct {
	source, html, text string
	files              []*enmime.Part
}

// keptMail is the mail that a message became in the embedded mailbox, or nil.
func keptMail(v *desk.Visit, ref id.ID) (*kept, error) {
	if !v.May("mailbox.list") {
		return nil, nil
	}
	type mailboxMail struct {
		ID      id.ID  `json:"id"`
		Content string `json:"content"`
	}
	rows, _, err := desk.List[mailboxMail](v, "mailbox.list", desk.Fields{"messageId": ref, "limit": 1})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var c mailboxMail
	if err := v.Do("mailbox.get", desk.Fields{"id": rows[0].ID}, &c); err != nil {
		return nil, err
	}
	mail, err := enmime.ReadEnvelope(strings.NewReader(c.Content))
	if err != nil {
		return &kept{source: c.Content}, nil // the source shows it all
	}
	k := &kept{source: c.Content, html: mail.HTML, text: mail.Text, files: mail.Attachments}
	for _, p := range mail.Inlines { // a picture that travels with the mail
		if p.ContentID != "" && strings.HasPrefix(p.ContentType, "image/") {
			k.html = inline(k.html, "cid:"+p.ContentID,
				"data:"+p.ContentType+";base64,"+base64.StdEncoding.EncodeToString(p.Content))
		}
	}
	return k, nil
}

// maxEmbedded is how many bytes one picture may add to a page.
const maxEmbedded = 8 << 20

// inline puts a picture where a mail names it: once, and again as long as that does
// not fill the memory.
func inline(html, name, picture string) string {
	return strings.Replace(html, name, picture, max(1, maxEmbedded/len(picture)))
}

// sentPaper is the designed mail, for a frame.
func sentPaper(v *desk.Visit) error {
	m, err := mailOf(v)
	if err != nil {
		return err
	}
	k, err := keptMail(v, m.ID)
	if err != nil {
		return err
	}
	if k != nil && k.html != "" {
		return v.Paper(http.StatusOK, &k.html, &k.text)
	}
	return v.Paper(http.StatusOK, m.HTML, m.Text)
}

// sentFile is an attachment as it left.
func sentFile(v *desk.Visit) error {
	m, err := mailOf(v)
	if err != nil {
		return err
	}
	k, err := keptMail(v, m.ID)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(v.R.PathValue("n"))
	if err != nil || k == nil || n < 0 || n >= len(k.files) {
		return fault.NotFound.New()
	}
	f := k.files[n]
	kind, _, err := mime.ParseMediaType(f.ContentType)
	if err != nil {
		kind = "application/octet-stream"
	}
	return v.Content(kind, f.FileName, bytes.NewReader(f.Content))
}
