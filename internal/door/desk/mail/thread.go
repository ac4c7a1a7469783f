package mail

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/eventlog"
	"frontdesk/internal/resource/mailhost"
	"frontdesk/internal/resource/message"
)

// threadData is a thread with everything that was said in it.
type threadData struct {
	ID, At, Back string // At is its address with that of the list, Back the list
	Subject      string
	State        desk.Pill
	Closed       bool
	Waiting      bool
	Snoozed      bool
	Unread       bool
	Assignee     *desk.Who
	Mine         bool
	Members      []desk.Option
	Snoozes      []desk.Option
	Items        []item
	More         string // the address that shows earlier messages too
	Write        *writeData
	MayChange    bool
	MayNote      bool
	API          []desk.Sample
}

// item is a message or a note.
type item struct {
	At       clock.Time
	ID       string
	Who      string
	As       string // in whose name, or who wrote it for them
	Avatar   *desk.Avatar
	Time     *desk.TimeText
	To       string
	Pill     desk.Pill // how its origin is judged, or what became of it
	Why      string    // the pill, explained
	Text     string
	Quoted   string
	Note     bool
	Remove   string // where a form that deletes the note posts to
	Paper    string // the address of the designed mail, for a frame
	Framed   bool
	Size     string // of the frame: small, or nothing
	Pictures string // the link that shows remote pictures
	Design   string // the link that shows the designed mail
	Files    []attached
	Cancel   string
	Outbox   string
	Error    string
	Old      bool // shown as one line until it is opened
	Begin    string
}

type attached struct {
	Name, Size, Href, Kind, ID string

	Gone bool // it is to be left out
}

const shownMessages = 30

// showThread shows a thread beside the list that it was opened from, and marks it
// as read.
func showThread(v *desk.Visit) error { return threadPage(v, http.StatusOK, nil) }

// threadPage shows a thread. typed is an answer that was refused.
func threadPage(v *desk.Visit, status int, typed *typed) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	var t message.Thread
	if err := v.Do("threads.get", desk.Fields{"id": ref}, &t); err != nil {
		return err
	}
	if t.Unread && v.R.Method == http.MethodGet && v.R.URL.Query().Get("done") != "unread" && v.May("threads.update") {
		if err := v.Do("threads.update", desk.Fields{"id": ref, "unread": false}, nil); err != nil {
			return err
		}
	}
	d, err := list(v, ref)
	if err != nil {
		return err
	}
	if d.Thread, err = thread(v, &t, typed); err != nil {
		return err
	}
	if d.Person, err = person(v, &t, d.Thread); err != nil {
		return err
	}
	return v.Show(status, "inbox", desk.View{Title: subject(t.Subject), Section: "inbox", Data: d, Own: true,
		Beheads: true, Watch: "thread message"})
}

func thread(v *desk.Visit, t *message.Thread, typed *typed) (*threadData, error) {
	q := listQuery(v)
	d := &threadData{ID: string(t.ID), At: at("/inbox/"+string(t.ID), q), Back: at("/inbox", q),
		Subject: subject(t.Subject), State: statePill(v, t), Closed: t.Status == "closed",
		Waiting: t.Status == "waiting", Unread: t.Unread, MayChange: v.May("threads.update"),
		MayNote: v.May("threads.notes.create"), API: v.ObjectSamples("threads", string(t.ID)),
		Snoozed: t.SnoozedUntil != nil && *t.SnoozedUntil > v.Now(), Snoozes: snoozes(v)}
	d.State.Text = desk.Capital(d.State.Text)
	members, err := v.Names("members", nil)
	if err != nil {
		return nil, err
	}
	d.Members = []desk.Option{{Value: string(v.Session.User), Text: v.Session.Name + " (you)"}}
	for ref, name := range members {
		if ref != v.Session.User {
			d.Members = append(d.Members, desk.Option{Value: string(ref), Text: name})
		}
	}
	slices.SortFunc(d.Members[1:], func(a, b desk.Option) int { return strings.Compare(a.Text, b.Text) })
	if t.AssigneeID != nil {
		who := v.Actor("user", t.AssigneeID)
		if d.Mine = *t.AssigneeID == v.Session.User; !d.Mine && members[*t.AssigneeID] != "" {
			who = desk.Who{Name: members[*t.AssigneeID], Avatar: desk.AvatarOf(members[*t.AssigneeID], "")}
		}
		d.Assignee = &who
	}
	messages, err := d.fillItems(v, t)
	if err != nil {
		return nil, err
	}
	d.Write, err = answer(v, t, d, messages, typed)
	return d, err
}

// fillItems are the newest messages and the notes, in the order in which they
// were written. The messages come back newest first.
func (d *threadData) fillItems(v *desk.Visit, t *message.Thread) ([]message.Message, error) {
	limit := shownMessages
	if v.R.URL.Query().Get("earlier") == "yes" {
		limit = 100
	}
	rows, page, err := desk.List[message.Message](v, "messages.list", desk.Fields{"threadId": t.ID, "limit": limit})
	if err != nil {
		return nil, err
	}
	if page.HasMore && limit < 100 {
		d.More = v.With("earlier", "yes")
	}
	var who []id.ID
	if t.ContactID != nil {
		who = append(who, *t.ContactID)
	}
	names, err := v.Names("contacts", who)
	if err != nil {
		return nil, err
	}
	var ours []id.ID
	for i := range rows {
		if rows[i].Direction == message.Outbound && rows[i].Status != message.Draft {
			ours = append(ours, rows[i].ID)
		}
	}
	authors, err := v.Authors(ours)
	if err != nil {
		return nil, err
	}
	newest := true
	for i := range rows {
		if rows[i].Status == message.Draft {
			continue // the form at the end has it
		}
		x, err := d.item(v, &rows[i], names[desk.IDOrEmpty(t.ContactID)], newest)
		if err != nil {
			return nil, err
		}
		if e, ok := authors[rows[i].ID]; ok {
			if err := x.nameAuthor(v, e); err != nil {
				return nil, err
			}
		}
		newest = false
		d.Items = append(d.Items, x)
	}
	if v.May("threads.notes.list") {
		notes, _, err := desk.List[message.ThreadNote](v, "threads.notes.list", desk.Fields{"id": t.ID, "limit": 50})
		if err != nil {
			return nil, err
		}
		for i := range notes {
			x, err := d.note(v, &notes[i])
			if err != nil {
				return nil, err
			}
			d.Items = append(d.Items, x)
		}
	}
	slices.SortStableFunc(d.Items, func(a, b item) int { return int(a.At.Sub(b.At)) })
	for i := range d.Items[:max(0, len(d.Items)-2)] {
		x := &d.Items[i]
		x.Old = !x.Note && x.Error == "" && x.Cancel == "" && (!x.Framed || x.Text != "")
		x.Begin = cut.Runes(strings.Join(strings.Fields(x.Text), " "), 120)
	}
	return rows, nil
}

func (d *threadData) item(v *desk.Visit, m *message.Message, contact string, newest bool) (item, error) {
	x := item{At: m.CreatedAt, ID: string(m.ID), Time: v.When(m.CreatedAt), Who: m.From,
		To: strings.Join(slices.DeleteFunc(slices.Concat(m.To, m.CC), mailhost.IsMessageAddress), ", ")}
	if m.Direction == message.Inbound {
		if contact != "" {
			x.Who = contact
		}
		x.Pill, x.Why = trust(m)
	} else {
		x.Who = v.CurrentBusiness().Name
		if m.FromName != nil {
			x.Who = *m.FromName
		}
		x.Pill = Fate(v, m)
		x.Outbox = "/outbox/" + string(m.ID)
		if m.ErrorMessage != nil {
			x.Error = *m.ErrorMessage
		}
		if (m.Status == message.Scheduled || m.Status == message.Queued) && v.May("messages.cancel") {
			x.Cancel = "/inbox/" + d.ID + "/cancel/" + string(m.ID)
		}
	}
	x.Avatar = desk.AvatarOf(x.Who, "")
	if m.Text != nil {
		x.Text, x.Quoted = unquote(*m.Text)
	}
	if m.HTML != nil && m.Direction == message.Inbound {
		d.frame(v, m, &x, newest)
	}
	if len(m.FileIDs) > 0 {
		var err error
		if x.Files, err = attachments(v, m.ID); err != nil {
			return x, err
		}
	}
	return x, nil
}

// nameAuthor says who of the house wrote a mail. What an agent drafted is of the person who sent it.
func (x *item) nameAuthor(v *desk.Visit, made eventlog.Event) error {
	who := v.Actor(made.ActorKind, made.ActorID)
	switch op.ActorKind(made.ActorKind) {
	case op.SystemActor:
		return nil
	case op.AgentActor:
		sent, _, err := desk.List[eventlog.Event](v, "events.list", desk.Fields{"resourceId": x.ID, "limit": 20})
		if err != nil {
			return err
		}
		for _, e := range sent {
			if e.ActorKind != string(op.UserActor) || e.Type != "message.queued" && e.Type != "message.scheduled" {
				continue
			}
			sender, err := v.WhoIs(e.ActorKind, e.ActorID)
			x.Who, x.Avatar, x.As = sender.Name, sender.Avatar, "written by "+who.Name
			return err
		}
	}
	x.As = "as " + x.Who
	x.Who, x.Avatar = who.Name, who.Avatar
	return nil
}

// frame shows the designed mail in a frame where it is more than its text: when
// somebody asks for it, or of the newest mail that has pictures or tables.
func (d *threadData) frame(v *desk.Visit, m *message.Message, x *item, newest bool) {
	html := strings.ToLower(*m.HTML)
	x.Paper = "/inbox/" + d.ID + "/paper/" + string(m.ID)
	asked := v.R.URL.Query().Get("design") == string(m.ID)
	designed := strings.Contains(html, "<img") || strings.Contains(html, "<table")
	x.Framed = asked || m.Text == nil || designed && newest
	if !x.Framed {
		x.Design = v.With("design", string(m.ID)) + "#m-" + string(m.ID)
		return
	}
	if len(x.Text) < 400 && !designed {
		x.Size = "small"
	}
	switch {
	case v.R.URL.Query().Get("pictures") == string(m.ID):
		x.Paper += "?pictures=yes"
	case strings.Contains(html, `src="http`):
		x.Pictures = v.With("pictures", string(m.ID), "design", string(m.ID)) + "#m-" + string(m.ID)
	}
}

// trust is a word for whether a mail is from whom it says.
func trust(m *message.Message) (desk.Pill, string) {
	a := m.Authentication
	if a == nil {
		return desk.Pill{}, ""
	}
	why := "SPF " + string(a.SPF) + ", DKIM " + string(a.DKIM) + ", DMARC " + string(a.DMARC)
	switch a.DMARC {
	case "pass":
		return desk.Pill{Text: "Verified", Tone: "good"}, "It is from whom it says. " + why + "."
	case "fail":
		return desk.Pill{Text: "Maybe forged", Tone: "bad"},
			"The sender's domain says that it did not send this. " + why + "."
	}
	return desk.Pill{Text: "Not verified"}, "Nothing proves who sent it. " + why + "."
}

// Fate is what became of a message.
func Fate(v *desk.Visit, m *message.Message) desk.Pill {
	switch m.Status {
	case message.Scheduled:
		if m.ScheduledAt != nil {
			return desk.Pill{Text: "will be sent " + v.When(*m.ScheduledAt).Text}
		}
	case message.Queued, message.Sending:
		return desk.Pill{Text: "on its way"}
	case message.Delivered:
		return desk.Pill{Text: "delivered", Tone: "good"}
	case message.Bounced:
		return desk.Pill{Text: "came back", Tone: "bad"}
	case message.Failed:
		return desk.Pill{Text: "not sent", Tone: "bad"}
	case message.Canceled:
		return desk.Pill{Text: "canceled"}
	case message.Draft:
		return desk.Pill{Text: "draft", Tone: "line"}
	}
	return desk.Pill{Text: string(m.Status)}
}

// unquote splits a text into what is new and what it quotes at its end.
func unquote(text string) (fresh, quoted string) {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	from := len(lines)
	for i := len(lines) - 1; i >= 0; i-- {
		l := strings.TrimSpace(lines[i])
		if l != "" && !strings.HasPrefix(l, ">") {
			break
		}
		if l != "" {
			from = i
		}
	}
	if from == len(lines) {
		return strings.TrimSpace(text), ""
	}
	for i := from - 1; i >= 0 && i >= from-3; i-- { // "On Monday, Ada wrote:"
		if l := strings.TrimSpace(lines[i]); strings.HasSuffix(l, ":") {
			from = i
			break
		} else if l != "" && i < from-1 {
			break
		}
	}
	fresh = strings.TrimSpace(strings.Join(lines[:from], "\n"))
	return fresh, strings.TrimSpace(strings.Join(lines[from:], "\n"))
}

func attachments(v *desk.Visit, ref id.ID) ([]attached, error) {
	rows, _, err := desk.List[message.MessageAttachment](v, "messages.attachments.list",
		desk.Fields{"id": ref, "limit": 100, "sortOrder": "asc"})
	if err != nil {
		return nil, err
	}
	out := []attached{}
	for _, a := range rows {
		x := attached{Name: a.FileName, Size: desk.Size(a.SizeBytes)}
		if a.FileID != nil {
			x.Href, x.Kind, x.ID = "/files/"+string(*a.FileID), "file", string(*a.FileID)
		}
		out = append(out, x)
	}
	return out, nil
}

func (d *threadData) note(v *desk.Visit, n *message.ThreadNote) (item, error) {
	x := item{At: n.CreatedAt, ID: string(n.ID), Note: true, Text: n.Body, Time: v.When(n.CreatedAt)}
	if v.May("threads.notes.delete") {
		x.Remove = "/inbox/" + d.ID + "/notes/" + string(n.ID) + "/delete"
	}
	who, err := v.WhoIs("user", n.CreatedBy)
	if n.CreatedByAgent {
		who = desk.Who{Name: "An agent", Avatar: desk.RobotAvatar("bot")}
	}
	x.Who, x.Avatar = who.Name, who.Avatar
	return x, err
}

func removeNote(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	note, err := v.PathID("note")
	if err != nil {
		return err
	}
	to := v.Back("/inbox/" + string(ref))
	if err := v.Do("threads.notes.delete", desk.Fields{"id": ref, "noteId": note}, nil); err != nil {
		return v.Explain(err, "inbox", to)
	}
	return v.Done(to, "deleted", nil)
}

// snoozes are times that people mean by "later".
func snoozes(v *desk.Visit) []desk.Option {
	now := v.Now().Std().In(v.Zone())
	morning := func(days int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()+days, 9, 0, 0, 0, now.Location())
	}
	monday := (8 - int(now.Weekday())) % 7
	if monday == 0 {
		monday = 7
	}
	option := func(word string, t time.Time) desk.Option {
		return desk.Option{Value: clock.FromStd(t).String(), Text: word}
	}
	out := []desk.Option{option("In three hours", now.Add(3*time.Hour)), option("Tomorrow at 9", morning(1))}
	if monday > 1 {
		out = append(out, option("Monday at 9", morning(monday)))
	}
	return append(out, option("In a week", morning(7)))
}

// change assigns, closes, snoozes or marks a thread, and can be undone.
func change(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	in, done := desk.Fields{"id": ref}, ""
	to := v.Back("/inbox/" + string(ref))
	switch v.Value("do") {
	case "close":
		in["status"], done = "closed", "closed"
		in["snoozedUntil"] = nil
		to = v.Value("list")
	case "open":
		in["status"], done = "open", "opened"
		in["snoozedUntil"] = nil
	case "wait":
		in["status"], done = "waiting", "waits"
	case "assign":
		in["assigneeId"], done = nil, "unassigned"
		if who, ok := id.Parse(v.Value("to")); ok {
			in["assigneeId"], done = who, "assigned"
		}
	case "snooze":
		until := v.Value("until")
		if t, err := time.ParseInLocation("2006-01-02T15:04", until, v.Zone()); err == nil {
			until = clock.FromStd(t).String()
		}
		in["snoozedUntil"], done = until, "snoozed"
		to = v.Value("list")
	case "wake":
		in["snoozedUntil"], done = nil, "awake"
	case "unread":
		in["unread"], done = true, "unread"
		to = v.Value("list")
	default:
		return fault.NotFound.New()
	}
	if !strings.HasPrefix(to, "/inbox") {
		to = "/inbox"
	}
	if err := v.Do("threads.update", in, nil); err != nil {
		return v.Explain(err, "inbox", "/inbox/"+string(ref))
	}
	return v.DoneWith(to, done, ref)
}

// look says that the visitor reads a thread, and returns who else does.
func look(v *desk.Visit, ref id.ID, left bool) ([]string, error) {
	if !v.May("threads.look") {
		return nil, nil
	}
	others, _, err := desk.List[message.ThreadViewer](v, "threads.look", desk.Fields{"id": ref, "left": left})
	if err != nil || len(others) == 0 {
		return nil, err
	}
	members, err := v.Names("members", nil)
	out := []string{}
	for _, o := range others {
		if name := members[o.UserID]; name != "" {
			out = append(out, name)
		}
	}
	return out, err
}

// here is what an open page asks every few seconds.
func here(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	others, err := look(v, ref, v.R.URL.Query().Get("left") == "yes")
	if err != nil {
		return err
	}
	return v.Fragment("here", others)
}

// paper is a received mail as its author designed it.
func paper(v *desk.Visit) error {
	ref, err := v.PathID("message")
	if err != nil {
		return err
	}
	var m message.Message
	if err := v.Do("messages.get", desk.Fields{"id": ref}, &m); err != nil {
		return err
	}
	if shown := v.R.URL.Query().Get("design"); shown != "" && m.HTML != nil {
		text := ""
		if m.Text != nil {
			text = *m.Text
		}
		if shown != design(*m.HTML, text) {
			said := "This draft was changed a moment ago. Load the page again."
			return v.Paper(http.StatusOK, nil, &said)
		}
	}
	return v.Paper(http.StatusOK, m.HTML, m.Text)
}

// cancel keeps a message from being sent.
func cancel(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	m, err := v.PathID("message")
	if err != nil {
		return err
	}
	to := v.Back("/inbox/" + string(ref))
	if err := v.Do("messages.cancel", desk.Fields{"id": m}, nil); err != nil {
		return v.Explain(err, "inbox", to)
	}
	return v.Done(to, "not-sent", nil)
}

// madeBy is the machine that wrote a draft, or nil.
func madeBy(v *desk.Visit, ref id.ID) (*desk.Who, error) {
	authors, err := v.Authors([]id.ID{ref})
	made, ok := authors[ref]
	if err != nil || !ok || made.ActorKind == string(op.UserActor) {
		return nil, err
	}
	who := v.Actor(made.ActorKind, made.ActorID)
	return &who, nil
}
