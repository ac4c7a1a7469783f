package mail

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/door/desk/people"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/mailhost"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/template"
)

// writeData is the form in which a mail is written: an answer, a new mail, or a
// note that stays in the house.
type writeData struct {
	Action, Back string
	Note         bool   // it is a note
	Switch       string // the link to the other of answer and note
	To, CC, BCC  string
	ReplyTo      string
	Subject      string
	Text         string
	Later        string
	DraftID      string
	By           *desk.Who  // the machine that wrote the draft
	Design       string     // which design of the draft the form shows
	Paper        string     // the address of the design, for a frame
	Pictures     string     // the link that shows its remote pictures
	Files        []attached // of the draft, and its invoices
	Templates    []desk.Line
	Error        string
	Wrong        map[string]string
	Focus        bool
	Name         string // whom it goes to, for those who cannot see
	MaySend      bool
	New          bool
	ContactID    string
	InReplyToID  string
	From         string
	Senders      []desk.Option // the addresses it can be from
	Template     string        // the template that the text began with
	Gaps         []string      // what the template left open, as [name]
	Hold         bool          // it waits for ten seconds
	Letterhead   bool          // the design is the text in the letterhead of the business
}

// typed is a form that was refused.
type typed struct {
	whole string
	wrong map[string]string
}

// answer is the form at the end of a thread.
func answer(v *desk.Visit, t *message.Thread, d *threadData, messages []message.Message,
	ty *typed) (*writeData, error) {
	q := v.R.URL.Query()
	w := &writeData{Hold: v.HoldsMail(), Action: at("/inbox/"+d.ID+"/reply", listQuery(v)), Back: d.At,
		MaySend: v.May("messages.create"), ContactID: string(desk.IDOrEmpty(t.ContactID)),
		Note: q.Get("write") == "note", Switch: v.With("write", "note") + "#reply", Focus: q.Has("write")}
	if w.Note || !w.MaySend {
		w.Note, w.Switch = true, v.With("write", "answer")+"#reply"
		if !d.MayNote {
			return nil, nil
		}
	}
	ours, err := ourDomains(v)
	if err != nil {
		return nil, err
	}
	var draft *message.Message
	var last *message.Message
	for i := range messages { // newest first
		m := &messages[i]
		if m.Status == message.Draft && draft == nil {
			draft = m
		}
		if m.Status != message.Draft && m.Status != message.Canceled && (last == nil ||
			last.Direction == message.Outbound && m.Direction == message.Inbound) {
			last = m
		}
	}
	if last != nil {
		w.InReplyToID = string(last.ID)
		w.To, w.CC = recipients(last, ours)
		w.Subject = message.ReplySubject(last.Subject)
		w.From = sender(last, ours)
	}
	if draft != nil && !w.Note {
		err = w.takeDraft(v, draft)
	} else {
		err = w.sign(v)
	}
	if err != nil {
		return nil, err
	}
	w.Name = w.To
	return w, w.complete(v, t.ContactID, desk.IDOrEmpty(t.CustomerID), ty)
}

// complete fills in what both forms have: templates, senders, and what was typed and refused.
func (w *writeData) complete(v *desk.Visit, who *id.ID, customer id.ID, ty *typed) error {
	if err := w.fillTemplates(v); err != nil {
		return err
	}
	if err := w.useTemplate(v, who, customer); err != nil {
		return err
	}
	if ty != nil {
		if err := w.fill(v, ty); err != nil {
			return err
		}
	}
	if err := w.fillSenders(v); err != nil {
		return err
	}
	return w.findGaps(v)
}

// sign begins a mail with the writer's signature.
func (w *writeData) sign(v *desk.Visit) error {
	if w.Note {
		return nil
	}
	text, err := signature(v)
	if text != "" {
		w.Text = "\n\n" + text
	}
	return err
}

// signature is what the visitor's mails end with.
func signature(v *desk.Visit) (string, error) {
	var s account.Signature
	err := v.Do("signature.get", desk.Fields{}, &s)
	return strings.TrimSpace(s.Text), err
}

// takeDraft puts a draft into the form.
func (w *writeData) takeDraft(v *desk.Visit, draft *message.Message) (err error) {
	w.DraftID, w.Subject, w.From = string(draft.ID), draft.Subject, named(draft.FromName, draft.From)
	w.To, w.CC, w.BCC = strings.Join(draft.To, ", "), strings.Join(draft.CC, ", "), strings.Join(draft.BCC, ", ")
	if draft.ReplyTo != nil {
		w.ReplyTo = *draft.ReplyTo
	}
	if draft.Text != nil {
		w.Text = *draft.Text
	}
	if draft.ScheduledAt != nil {
		w.Later = draft.ScheduledAt.Std().In(v.Zone()).Format("2006-01-02T15:04")
	}
	if draft.HTML != nil && !isWritten(draft) {
		w.showDesign(v, draft)
	}
	if w.By, err = madeBy(v, draft.ID); err != nil {
		return err
	}
	if len(draft.FileIDs) > 0 {
		if w.Files, err = attachments(v, draft.ID); err != nil {
			return err
		}
		// A file that was purged has no id to keep it by.
		w.Files = slices.DeleteFunc(w.Files, func(a attached) bool { return a.ID == "" })
	}
	numbers, err := v.Names("invoices", draft.InvoiceIDs)
	for _, ref := range draft.InvoiceIDs {
		w.Files = append(w.Files, *invoiceToAttach(ref, numbers[ref]))
	}
	return err
}

// isWritten reports whether the design of a draft is nothing but its text, which the form shows.
func isWritten(draft *message.Message) bool {
	if draft.Layout || draft.Text == nil {
		return false
	}
	made, formatted := template.MarkdownToHTML(*draft.Text)
	return formatted && made == *draft.HTML
}

// showDesign shows the draft's HTML in a frame, which is loaded anew when it changes.
func (w *writeData) showDesign(v *desk.Visit, draft *message.Message) {
	w.Design, w.Letterhead = design(*draft.HTML, w.Text), draft.Layout
	q := url.Values{"design": {w.Design}}
	if v.R.URL.Query().Get("pictures") == w.DraftID {
		q.Set("pictures", "yes")
	} else if strings.Contains(*draft.HTML, `src="http`) {
		w.Pictures = v.With("pictures", w.DraftID) + "#answer"
	}
	w.Paper = at("/inbox/"+string(draft.ThreadID)+"/paper/"+w.DraftID, q)
}

// design tells the HTML of a draft, beside its text, from any other.
func design(html, text string) string {
	sum := sha256.Sum256([]byte(html + "\x00" + plain(text)))
	return hex.EncodeToString(sum[:])
}

// plain is a text as it comes back from a form.
func plain(text string) string {
	return strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n ")
}

// fill puts back what was typed.
func (w *writeData) fill(v *desk.Visit, ty *typed) error {
	posted := v.R.PostForm
	for name, to := range map[string]*string{"to": &w.To, "cc": &w.CC, "bcc": &w.BCC, "replyTo": &w.ReplyTo,
		"from": &w.From, "subject": &w.Subject, "text": &w.Text, "scheduledAt": &w.Later, "template": &w.Template,
		"contactId": &w.ContactID} {
		if posted.Has(name) {
			*to = posted.Get(name)
		}
	}
	kept, err := keptFiles(v, posted)
	if err != nil {
		return err
	}
	for _, file := range kept {
		if !slices.ContainsFunc(w.Files, func(a attached) bool { return a.ID == file.ID }) {
			w.Files = append(w.Files, file)
		}
	}
	for i := range w.Files {
		w.Files[i].Gone = slices.Contains(posted[w.Files[i].Kind+"-gone"], w.Files[i].ID)
	}
	w.Note = posted.Get("note") == "yes"
	w.Error, w.Wrong, w.Focus = ty.whole, ty.wrong, true
	words := strings.NewReplacer("scheduledAt", "send later", "replyTo", "reply to")
	for _, name := range slices.Sorted(maps.Keys(ty.wrong)) {
		if w.Error == "" {
			w.Error = desk.Capital(words.Replace(name)) + ": " + ty.wrong[name] + "."
		}
	}
	return nil
}

// ourDomains are the domains that the business receives mail at.
func ourDomains(v *desk.Visit) (map[string]bool, error) {
	out := map[string]bool{}
	if !v.May("domains.list") {
		return out, nil
	}
	rows, _, err := desk.List[domain.Domain](v, "domains.list", desk.Fields{"limit": 100})
	for i := range rows {
		out[rows[i].Name] = rows[i].Email.Enabled && rows[i].Status == "active"
	}
	return out, err
}

func isOurs(address string, ours map[string]bool) bool {
	_, known := ours[strings.ToLower(mailhost.DomainOf(mailhost.ToASCII(address)))]
	return known || mailhost.IsMessageAddress(address)
}

// recipients are those who get an answer to a message: whoever wrote it, and
// everybody else who got it.
func recipients(m *message.Message, ours map[string]bool) (to, cc string) {
	if m.Direction == message.Outbound {
		return strings.Join(m.To, ", "), strings.Join(m.CC, ", ")
	}
	to = m.From
	if m.ReplyTo != nil {
		to = *m.ReplyTo
	}
	var others []string
	for _, a := range slices.Concat(m.To, m.CC) {
		if !isOurs(a, ours) && !strings.EqualFold(a, to) && !strings.EqualFold(a, m.From) {
			others = append(others, a)
		}
	}
	return to, strings.Join(others, ", ")
}

// sender is the address that an answer comes from: the one that was written to,
// where mail can be sent from it.
func sender(m *message.Message, ours map[string]bool) string {
	if m.Direction == message.Outbound {
		return m.From
	}
	for _, a := range slices.Concat(m.To, m.CC, m.BCC) {
		if ours[strings.ToLower(mailhost.DomainOf(mailhost.ToASCII(a)))] && !mailhost.IsMessageAddress(a) {
			return a
		}
	}
	return ""
}

// fillTemplates offers the templates that people use.
func (w *writeData) fillTemplates(v *desk.Visit) error {
	if !v.May("email_templates.list") || w.Note {
		return nil
	}
	rows, _, err := desk.List[template.EmailTemplate](v, "email_templates.list",
		desk.Fields{"status": []string{"active"}, "sortBy": "name", "sortOrder": "asc", "limit": 100})
	for i := range rows {
		if rows[i].TemplateKey == nil {
			w.Templates = append(w.Templates, desk.Line{Text: rows[i].Name,
				Href: v.With("template", string(rows[i].ID), "write", "answer") + "#reply"})
		}
	}
	return err
}

// compose shows the form of a new mail.
func compose(v *desk.Visit) error { return composePage(v, http.StatusOK, nil) }

func composePage(v *desk.Visit, status int, ty *typed) error {
	if err := v.Permit("messages.create"); err != nil {
		return err
	}
	q := v.R.URL.Query()
	w := &writeData{Hold: v.HoldsMail(), Action: "/inbox/new", Back: "/inbox", New: true, MaySend: true, Focus: true,
		To:      q.Get("to"),
		Subject: q.Get("subject")}
	who := contactAt(v, w.To)
	if ref, ok := id.Parse(q.Get("contactId")); ok {
		var c contact.Contact
		if err := v.Do("contacts.get", desk.Fields{"id": ref}, &c); err != nil {
			return err
		}
		who, w.ContactID, w.Name = &ref, string(ref), people.Name(&c)
		if w.To == "" {
			w.To = people.Email(&c)
		}
	}
	if err := w.sign(v); err != nil {
		return err
	}
	if err := w.complete(v, who, "", ty); err != nil {
		return err
	}
	return v.Show(status, "compose", desk.View{Title: "New mail", Section: "inbox", Data: w,
		Crumbs: []desk.Crumb{{Text: "Inbox", Href: "/inbox"}, {Text: "New mail"}}})
}

// send sends a new mail, or keeps it as a draft.
func send(v *desk.Visit) error {
	if err := readForm(v); err != nil {
		return v.Explain(err, "inbox", "/inbox/new")
	}
	in, wrong, err := input(v)
	if err != nil {
		return err
	}
	if ref, ok := id.Parse(v.Value("contactId")); ok {
		in["contactId"] = ref
	}
	who, _ := in["contactId"].(id.ID)
	if err := fillIn(v, in, wrong, who, ""); err != nil {
		return err
	}
	if len(wrong) > 0 {
		return composePage(v, http.StatusBadRequest, &typed{"", wrong})
	}
	in["draft"] = v.Value("do") == "save"
	v.HoldMail(in)
	var m message.Message
	if err := v.Do("messages.create", in, &m); err != nil {
		return refuse(err, func(status int, ty *typed) error { return composePage(v, status, ty) })
	}
	if err := markWaiting(v, m.ThreadID, &m); err != nil {
		return err
	}
	return written(v, "/inbox/"+string(m.ThreadID), &m)
}

// readForm reads the form. The files that came with it are kept like those it had, also if it is refused.
func readForm(v *desk.Visit) error {
	files, err := v.ReadUploads()
	for _, ref := range files {
		v.R.PostForm.Add("file-kept", string(ref))
	}
	return err
}

func refuse(err error, show func(int, *typed) error) error {
	whole, wrong, status, rest := desk.Refused(err)
	if rest != nil {
		return rest
	}
	return show(status, &typed{whole, wrong})
}

// doneKey is the key of what is said about a message that was just written.
func doneKey(m *message.Message) string {
	switch m.Status {
	case message.Draft:
		return "drafted"
	case message.Scheduled:
		return "scheduled"
	}
	return "sent"
}

// sends reports whether the mail is to leave, not only to be kept or looked at.
func sends(v *desk.Visit) bool { return v.Value("do") != "save" && v.Value("do") != "preview" }

// input reads what both forms have. The text is Markdown, and sent as it was written too.
func input(v *desk.Visit) (in desk.Fields, wrong map[string]string, err error) {
	in, wrong = desk.Fields{"markdown": true}, map[string]string{}
	for _, name := range []string{"to", "cc", "bcc"} {
		list, issue := addresses(v, v.Value(name))
		if in[name] = list; issue != "" {
			wrong[name] = issue
		}
	}
	text := plain(v.R.PostForm.Get("text"))
	in["text"], in["subject"] = text, v.Value("subject")
	if sends(v) {
		signed, err := signature(v)
		if err != nil {
			return nil, nil, err
		}
		if strings.TrimSpace(text) == plain(signed) { // or nothing at all
			wrong["text"] = "Write something first"
		}
	}
	if v.Value("subject") == "" {
		in["subject"] = "(no subject)"
	}
	if later := v.Value("scheduledAt"); later != "" {
		at, issue := v.ReadTime(later)
		if issue != "" {
			wrong["scheduledAt"] = issue
		}
		in["scheduledAt"] = at
	}
	for _, name := range []string{"from", "replyTo"} {
		if address := v.Value(name); address != "" {
			in[name] = address
		}
	}
	in["fileIds"], in["invoiceIds"] = keptIDs(v.R.PostForm, "file"), keptIDs(v.R.PostForm, "invoice")
	return in, wrong, nil
}

// addresses reads addresses between commas. The name of a contact stands for
// their first address; "Name · address" is what a suggestion fills in.
func addresses(v *desk.Visit, text string) ([]string, string) {
	out := []string{}
	for _, one := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || r == '\n' }) {
		one = strings.TrimSpace(one)
		if _, detail, ok := strings.Cut(one, " · "); ok && strings.Contains(detail, "@") {
			one = detail
		}
		if i := strings.LastIndexByte(one, '<'); i >= 0 && strings.HasSuffix(one, ">") {
			one = one[i+1 : len(one)-1]
		}
		if one == "" {
			continue
		}
		if !strings.Contains(one, "@") && v.May("contacts.list") {
			rows, _, err := desk.List[contact.Contact](v, "contacts.list", desk.Fields{"query": one, "limit": 5})
			if err != nil || len(rows) != 1 || people.Email(&rows[0]) == "" {
				return nil, "No address is known for " + one + ". Write the address, or pick one"
			}
			one = people.Email(&rows[0])
		}
		out = append(out, one)
	}
	return out, ""
}

// reply sends an answer, keeps it as a draft, or writes a note.
func reply(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	to := at("/inbox/"+string(ref), listQuery(v))
	if err := readForm(v); err != nil {
		return v.Explain(err, "inbox", to)
	}
	again := func(status int, ty *typed) error { return threadPage(v, status, ty) }
	draft, has := id.Parse(v.Value("draft"))
	switch v.Value("do") {
	case "note":
		err := v.Do("threads.notes.create", desk.Fields{"id": ref, "body": v.Value("text")}, nil)
		if err != nil {
			return refuse(err, again)
		}
		return v.Done(to, "noted", nil)
	case "discard":
		if err := v.Do("messages.delete", desk.Fields{"id": draft}, nil); err != nil {
			return v.Explain(err, "inbox", to)
		}
		return v.Done(to, "discarded", nil)
	}
	in, wrong, err := input(v)
	if err != nil {
		return err
	}
	var t message.Thread
	if err := v.Do("threads.get", desk.Fields{"id": ref}, &t); err != nil {
		return err
	}
	if err := fillIn(v, in, wrong, desk.IDOrEmpty(t.ContactID), desk.IDOrEmpty(t.CustomerID)); err != nil {
		return err
	}
	if len(wrong) > 0 {
		return again(http.StatusBadRequest, &typed{"", wrong})
	}
	v.HoldMail(in)
	var m message.Message
	if has {
		err = finish(v, draft, in, &m)
	} else {
		in["draft"] = v.Value("do") == "save"
		if last, ok := id.Parse(v.Value("inReplyToId")); ok {
			in["inReplyToId"] = last
		}
		err = v.Do("messages.create", in, &m)
	}
	if err != nil {
		return refuse(err, again)
	}
	if err := markWaiting(v, ref, &m); err != nil {
		return err
	}
	return written(v, to, &m)
}

// finish makes a draft what the form says and sends it, unless it is only to be
// kept. Whoever changes the draft meanwhile, an agent for one, comes before or after
// all of it. What the form does not have is cleared: nobody has seen it.
func finish(v *desk.Visit, draft id.ID, in desk.Fields, m *message.Message) error {
	in["id"] = draft
	for _, name := range []string{"replyTo", "scheduledAt"} {
		if _, ok := in[name]; !ok {
			in[name] = nil
		}
	}
	just := func() desk.Fields { return desk.Fields{"id": draft} }
	change := func() desk.Fields {
		text, isText := in["text"].(string)
		switch {
		case !isText || in["letterhead"] != nil || m.HTML == nil: // of a template, or what was written alone
		case design(*m.HTML, text) == v.Value("design"):
			in["markdown"] = false // it is sent as the form showed it
		case m.Layout && text != "":
			in["letterhead"] = true // what is in the form, in the letterhead that the form showed
		}
		return in
	}
	steps := []desk.Step{
		{Operation: "messages.update", Input: just, Out: m}, // changes nothing and locks the draft
		{Operation: "messages.update", Input: change, Out: m},
	}
	if v.Value("do") != "save" {
		steps = append(steps, desk.Step{Operation: "messages.send", Input: just, Out: m})
	}
	return v.Together(steps...)
}

// markWaiting gives the next word to the other side, once an answer is on its way.
func markWaiting(v *desk.Visit, ref id.ID, m *message.Message) error {
	if m.Status == message.Draft || !v.May("threads.update") {
		return nil
	}
	var t message.Thread
	if err := v.Do("threads.get", desk.Fields{"id": ref}, &t); err != nil || t.Status != "open" {
		return err
	}
	return v.Do("threads.update", desk.Fields{"id": ref, "status": "waiting"}, nil)
}
