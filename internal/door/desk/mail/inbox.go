package mail

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/message"
)

// threads are found by search and named on timelines like any other noun; their
// pages are made by hand.
var threads = &desk.Noun[message.Thread]{
	Path: "inbox", Ops: "threads", Type: "thread", One: "conversation", Many: "conversations", Icon: "mail",
	NoCreate: true, SearchHint: "Subject, person", Tabs: inboxTabs, AdjustQuery: narrow,
	Bulk: []desk.Bulk[message.Thread]{
		{Key: "assign", Word: "Assign", Icon: "user", Ask: "To whom", Done: "assigned", Options: desk.Members,
			Change: func(t *message.Thread, member string) desk.Fields {
				if string(desk.IDOrEmpty(t.AssigneeID)) == member {
					return nil
				}
				return desk.Fields{"assigneeId": member}
			}},
		{Key: "snooze", Word: "Snooze", Icon: "clock", Ask: "Until when", Done: "snoozed", Options: snoozes,
			Change: func(_ *message.Thread, until string) desk.Fields {
				return desk.Fields{"snoozedUntil": until}
			}},
		{Key: "close", Word: "Close", Icon: "check", Done: "closed",
			Change: func(t *message.Thread, _ string) desk.Fields {
				if t.Status == "closed" {
					return nil
				}
				return desk.Fields{"status": "closed", "snoozedUntil": nil}
			}},
	},
	ListPage: showInbox, ObjectPage: showThread,
	Name: func(_ *desk.Visit, t *message.Thread) string { return subject(t.Subject) },
	ListLine: func(v *desk.Visit, t *message.Thread) desk.Line {
		l := desk.Line{Icon: "mail", Text: subject(t.Subject), Time: v.When(t.LastMessageAt), Pill: statePill(v, t)}
		if t.ContactID != nil {
			l.Ref = &desk.Ref{Path: "contacts", ID: *t.ContactID}
		}
		return l
	},
	Fields: []desk.Field{
		{Field: "status", Label: "Status"}, {Field: "assigneeId", Label: "Assigned to", Ref: "members"},
		{Field: "snoozedUntil", Label: "Snoozed until"}, {Field: "subject", Label: "Subject"},
		{Field: "unread", Label: "Unread"}, {Field: "contactId", Label: "Contact", Ref: "contacts"},
		{Field: "customerId", Label: "Customer", Ref: "customers"},
	},
}

// inboxTabs are the views that the inbox begins with.
var inboxTabs = []desk.Tab{{Label: "Open"}, {Label: "Mine", Query: "assigneeId={me}"},
	{Label: "Waiting", Query: "status=waiting"}, {Label: "Snoozed", Query: "snoozed=true"},
	{Label: "Closed", Query: "status=closed"}}

func subject(s string) string {
	if s == "" {
		return "(no subject)"
	}
	return s
}

// statePill is who has the next word.
func statePill(v *desk.Visit, t *message.Thread) desk.Pill {
	if t.SnoozedUntil != nil && *t.SnoozedUntil > v.Now() {
		return desk.Pill{Text: "until " + v.When(*t.SnoozedUntil).Text}
	}
	return desk.Pill{Text: string(t.Status)}
}

// inboxData is what the template "inbox" shows: the threads, one of them, and the
// person that it is with.
type inboxData struct {
	Tabs           []tab
	Query          string
	Hidden         url.Values // the filters, which a search keeps
	Filter         string     // what narrows the list, in words
	Views          *desk.ListViews
	Threads        []line
	Bulk           any    // what can be done to the chosen ones
	Back           string // this list
	Earlier, Later string
	Empty, Lead    string
	Unread         int
	Thread         *threadData
	Person         *personData
	API            []desk.Sample
	MayWrite       bool
	Bell           *desk.Bell
	Error          string
}

type tab struct {
	Word, Href string
	On         bool
}

// line is a thread in the list.
type line struct {
	ID                          id.ID
	Href, Who, Subject, Preview string
	Avatar                      *desk.Avatar
	Time                        *desk.TimeText
	Pills                       []desk.Pill
	Unread, On                  bool
}

const shownThreads = 40

// listFilters are the filters of the list, and listFields all that its address may have.
var (
	listFilters = []string{"status", "assigneeId", "contactId", "customerId", "snoozed", "unread", "query"}
	listFields  = append([]string{"offset", op.ViewField}, listFilters...)
)

// listQuery is the part of an address that says which threads are listed.
func listQuery(v *desk.Visit) url.Values {
	out := url.Values{}
	asked := v.R.URL.Query()
	for _, name := range listFields {
		if len(asked[name]) > 0 && asked.Get(name) != "" {
			out[name] = asked[name]
		}
	}
	return out
}

// listInput is a list's address as the operation takes it. Without a filter it is
// what somebody should look at now.
func listInput(q url.Values) desk.Fields {
	in := desk.Fields{"sortBy": "lastMessageAt", "limit": shownThreads, "include": []string{"lastMessage"}}
	for _, name := range []string{"assigneeId", "contactId", "customerId", "query"} {
		if q.Get(name) != "" {
			in[name] = q.Get(name)
		}
	}
	for _, name := range []string{"snoozed", "unread"} {
		if q.Get(name) != "" {
			in[name] = q.Get(name) == "true"
		}
	}
	if len(q["status"]) > 0 {
		in["status"] = q["status"]
	}
	narrow(nil, in)
	if n, err := strconv.Atoi(q.Get("offset")); err == nil {
		in["offset"] = max(0, min(n, 1_000_000))
	}
	return in
}

// narrow leaves what somebody should look at now, unless a filter says otherwise.
func narrow(_ *desk.Visit, in desk.Fields) {
	switch {
	case !slices.ContainsFunc(listFilters, func(name string) bool { return in[name] != nil }):
		in["status"], in["snoozed"] = []string{"open"}, false
	case in["assigneeId"] != nil && in["status"] == nil:
		in["status"] = []string{"open", "waiting"}
	}
}

func at(path string, q url.Values) string {
	u := url.URL{Path: path, RawQuery: q.Encode()}
	return u.String()
}

// showInbox shows the list without a thread.
func showInbox(v *desk.Visit) error {
	if err := v.Permit("threads.list"); err != nil {
		return err
	}
	d, err := list(v, "")
	if err != nil {
		return err
	}
	return v.Show(http.StatusOK, "inbox", desk.View{Title: "Inbox", Section: "inbox", Data: d, Own: true, Beheads: true,
		Watch: "thread message"})
}

// list is the list of threads, of which one may be open.
func list(v *desk.Visit, open id.ID) (*inboxData, error) {
	q := listQuery(v)
	d := &inboxData{Query: q.Get("query"), MayWrite: v.May("messages.create"), Bell: v.Bell(),
		API:  v.Samples("threads.list", q),
		Bulk: v.BulkOf("inbox"), Back: at("/inbox", q), Empty: "Nothing waits for you",
		Lead: "Mail to your addresses appears here, as conversations."}
	rows, page, err := desk.List[message.Thread](v, "threads.list", listInput(q))
	if err != nil {
		whole, wrong, _, rest := desk.Refused(err)
		if rest != nil {
			return nil, rest
		}
		d.Error = whole
		for field, text := range wrong {
			d.Error = desk.Capital(field) + ": " + text
		}
	}
	if err := d.fillLines(v, rows, q, open); err != nil {
		return nil, err
	}
	if err := d.fillTabs(v, q); err != nil {
		return nil, err
	}
	offset, _ := strconv.Atoi(q.Get("offset"))
	turn := func(to int) string {
		next := maps.Clone(q)
		next.Del("offset")
		if to > 0 {
			next.Set("offset", strconv.Itoa(to))
		}
		return at("/inbox", next)
	}
	if offset > 0 {
		d.Earlier = turn(max(0, offset-shownThreads))
	}
	if page.HasMore {
		d.Later = turn(offset + shownThreads)
	}
	return d, nil
}

func (d *inboxData) fillLines(v *desk.Visit, rows []message.Thread, q url.Values, open id.ID) error {
	var ids []id.ID
	for i := range rows {
		if rows[i].ContactID != nil {
			ids = append(ids, *rows[i].ContactID)
		}
	}
	names, err := v.Names("contacts", ids)
	if err != nil {
		return err
	}
	members, err := v.Names("members", nil)
	if err != nil {
		return err
	}
	for i := range rows {
		t := &rows[i]
		l := line{ID: t.ID, Href: at("/inbox/"+string(t.ID), q), Subject: subject(t.Subject),
			Who: names[desk.IDOrEmpty(t.ContactID)], Time: v.When(t.LastMessageAt), Unread: t.Unread, On: t.ID == open}
		if m := t.LastMessage; m != nil {
			l.Preview = m.Preview
			if l.Who == "" {
				l.Who = other(m)
			}
			switch m.Status {
			case message.Draft:
				l.Pills = append(l.Pills, desk.Pill{Text: "draft", Tone: "line"})
			case message.Failed, message.Bounced:
				l.Pills = append(l.Pills, desk.Pill{Text: "not delivered", Tone: "bad"})
			case message.Scheduled:
				l.Pills = append(l.Pills, desk.Pill{Text: "scheduled"})
			}
		}
		if t.SnoozedUntil != nil && *t.SnoozedUntil > v.Now() {
			l.Pills = append(l.Pills, desk.Pill{Text: "until " + v.When(*t.SnoozedUntil).Text})
		}
		if t.AssigneeID != nil && *t.AssigneeID != v.Session.User && members[*t.AssigneeID] != "" {
			l.Pills = append(l.Pills, desk.Pill{Text: members[*t.AssigneeID], Tone: "line"})
		}
		if l.Who == "" {
			l.Who = "(nobody)"
		}
		l.Avatar = desk.AvatarOf(l.Who, "")
		if t.Unread {
			d.Unread++
		}
		d.Threads = append(d.Threads, l)
	}
	return nil
}

// other is whom a message is from or to.
func other(m *message.ThreadMessage) string {
	if m.Direction == message.Outbound && len(m.To) > 0 {
		return m.To[0]
	}
	return m.From
}

func (d *inboxData) fillTabs(v *desk.Visit, q url.Values) error {
	plain := maps.Clone(q)
	plain.Del("offset")
	for _, t := range inboxTabs {
		query, err := v.TabQuery(t)
		if err != nil {
			return err
		}
		d.Tabs = append(d.Tabs, tab{t.Label, at("/inbox", query), plain.Encode() == query.Encode()})
	}
	var err error
	if d.Views, err = v.ViewsOf("inbox", q); err != nil {
		return err
	}
	for _, t := range d.Views.Tabs {
		d.Tabs = append(d.Tabs, tab{t.Word, t.Href, t.On})
	}
	d.Hidden = maps.Clone(plain)
	d.Hidden.Del("query")
	if len(plain) > 0 {
		d.Empty, d.Lead = "No conversations here", ""
	}
	for _, f := range []struct{ field, path string }{{"contactId", "contacts"}, {"customerId", "customers"}} {
		if ref, ok := id.Parse(q.Get(f.field)); ok {
			names, err := v.Names(f.path, []id.ID{ref})
			if err != nil {
				return err
			}
			d.Filter = names[ref]
		}
	}
	return nil
}
