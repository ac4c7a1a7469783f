// Package notices is the room of what a person is told: the list behind the bell, and the page where they choose what
// they are told and how.
package notices

import (
	"embed"
	"net/http"
	"strconv"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/notification"
)

//go:embed *.html
var pages embed.FS

//go:embed push.js
var pushScript []byte

//go:embed worker.js
var worker []byte

var _ = desk.AddTemplates(pages, "*.html") && desk.AddScript("push.js", pushScript) &&
	desk.AddDoneTexts(map[string]string{"testing": "A test is on its way.", "allread": "All are read.",
		"pushed": "This browser gets notices now.", "unpushed": "That browser gets no more notices."})

// Join adds the room to the desk.
func Join(d *desk.Desk) {
	d.AddPages(desk.SignedIn, desk.Pages{
		"GET /notifications":               list,
		"POST /notifications/read":         markRead,
		"GET /notifications/{id}":          open,
		"GET /settings/notices":            choices,
		"POST /settings/notices":           choose,
		"POST /settings/notices/test":      test,
		"POST /settings/notices/push":      subscribe,
		"POST /settings/notices/push/{id}": unsubscribe,
	})
	// A worker may only serve pages below its own address, so it is not among the assets.
	d.AddPages(desk.Anyone, desk.Pages{"GET /push-worker.js": serveWorker})
}

const pageSize = 20

// tab is a part of the list.
type tab struct {
	Key, Text, Href string
	Kinds           []notification.Kind
	Unread          int
	Current         bool
}

// tabs are the parts of the list, with how much of each is unread.
func tabs(current string, unread *notification.Unread) []tab {
	out := []tab{{Key: "", Text: "All"}, {Key: "me", Text: "For me"}, {Key: "decide", Text: "To decide"},
		{Key: "problems", Text: "Problems"}}
	for _, k := range notification.Kinds {
		i := 0
		switch {
		case k.Group == notification.ForYou:
			i = 1
		case k.Group == notification.ToDecide:
			i = 2
		case k.Problem:
			i = 3
		}
		if i > 0 {
			out[i].Kinds = append(out[i].Kinds, k.Kind)
			out[i].Unread += unread.ByKind[k.Kind]
		}
	}
	out[0].Unread = unread.Unread
	for i := range out {
		out[i].Href = "/notifications"
		if out[i].Key != "" {
			out[i].Href += "?tab=" + out[i].Key
		}
		out[i].Current = out[i].Key == current
	}
	return out
}

// row is a notification in the list.
type row struct {
	notification.Notification
	Words  notification.Words
	Avatar *desk.Avatar
	Icon   string // where nobody did it
	Tone   string
	Said   string // what somebody wrote
	Why    string // what else there is to say, in the sentence
	When   *desk.TimeText
}

type listData struct {
	Tabs   []tab
	Rows   []row
	Unread int
	Older  string
	Here   string
}

func list(v *desk.Visit) error {
	q := v.R.URL.Query()
	var unread notification.Unread
	if err := v.Do("notifications.count", desk.Fields{}, &unread); err != nil {
		return err
	}
	d := listData{Tabs: tabs(q.Get("tab"), &unread), Unread: unread.Unread, Here: v.With()}
	in := desk.Fields{"limit": pageSize}
	for _, t := range d.Tabs {
		if t.Current && len(t.Kinds) > 0 {
			in["kind"] = t.Kinds
		}
	}
	offset, err := strconv.Atoi(q.Get("offset"))
	if err == nil && offset > 0 {
		in["offset"] = offset
	}
	rows, page, err := desk.List[notification.Notification](v, "notifications.list", in)
	if err != nil {
		return err
	}
	for _, n := range rows {
		d.Rows = append(d.Rows, rowOf(v, n))
	}
	if page.HasMore {
		d.Older = v.With("offset", strconv.Itoa(max(offset, 0)+pageSize))
	}
	return v.ShowView(http.StatusOK, "notices", desk.View{Title: "Notices", Data: d})
}

// icons are shown for what nobody did.
var icons = map[notification.Kind]string{notification.InvoicePaid: "check", notification.PaymentFailed: "card",
	notification.MailFailed: "mail", notification.BackupFailed: "disk", notification.DomainAtRisk: "globe",
	notification.WebhookDead: "bolt"}

func rowOf(v *desk.Visit, n notification.Notification) row {
	r := row{Notification: n, Words: n.Words(), When: v.When(n.CreatedAt), Icon: icons[n.Kind], Tone: "bad"}
	text := ""
	if n.Text != nil {
		text = *n.Text
	}
	switch {
	case n.Kind == notification.InvoicePaid:
		r.Tone, r.Why = "good", ": "+text
	case r.Icon != "" && text != "":
		r.Why = ". " + text
	case r.Icon == "":
		r.Said = text
		r.Avatar = desk.AvatarOf(r.Words.Who, "")
		if n.ActorKind != "user" && n.Kind != notification.Answered {
			r.Avatar = desk.RobotAvatar("bot")
		}
	}
	return r
}

// markRead marks the given notifications, or all, and returns to the list.
func markRead(v *desk.Visit) error {
	in, back := desk.Fields{}, v.Back("/notifications")
	if one := v.Value("id"); one != "" {
		in["ids"] = []string{one}
	}
	if err := v.Do("notifications.read", in, nil); err != nil {
		return err
	}
	return v.Redirect(back)
}

// places are the pages of what notifications are about.
var places = map[string]string{"thread": "/inbox/", "contact": "/contacts/", "task": "/tasks/", "invoice": "/invoices/",
	"proposal": "/review/", "domain": "/domains/", "webhook": "/webhooks/"}

// open marks a notification as read and leads to what it is about. Mails and push messages lead here.
func open(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	var n notification.Notification
	if err := v.Do("notifications.get", desk.Fields{"id": ref}, &n); err != nil {
		return err
	}
	if err := v.Do("notifications.read", desk.Fields{"ids": []id.ID{ref}}, nil); err != nil {
		return err
	}
	switch to := places[n.ResourceType]; {
	case to != "":
		return v.Redirect(to + string(n.ResourceID))
	case n.ResourceType == "operation":
		return v.Redirect("/domains")
	}
	return v.Redirect("/notifications")
}

// kindRow is a kind in the table of choices.
type kindRow struct {
	notification.KindInfo
	Heads bool // it is the first of its group
	Cells []cell
}

type cell struct {
	Name, Label string
	Wanted      bool
	Always      bool
}

type choiceData struct {
	notification.Choices
	Kinds []kindRow
	Email string
}

func choices(v *desk.Visit) error {
	d := choiceData{Email: v.Session.Email}
	if err := v.Do("notifications.choices", desk.Fields{}, &d.Choices); err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, c := range d.Choices.Choices {
		wanted[fieldOf(c.Kind, c.Channel)] = c.Wanted
	}
	var group notification.Group
	for _, k := range notification.Kinds {
		r := kindRow{KindInfo: k, Heads: k.Group != group}
		group = k.Group
		for _, c := range notification.Channels {
			name := fieldOf(k.Kind, c)
			r.Cells = append(r.Cells, cell{Name: name, Label: k.Label + ": " + string(c), Wanted: wanted[name],
				Always: k.Problem && c == notification.Desk})
		}
		d.Kinds = append(d.Kinds, r)
	}
	return v.ShowView(http.StatusOK, "notice-choices", desk.View{Title: "Notices",
		Sub: "for you alone", Section: "settings", Tab: "notices",
		Crumbs:  []desk.Crumb{{Text: "Settings", Href: "/settings"}, {Text: "Notices", Href: "/settings/notices"}},
		Buttons: []desk.Button{{Text: "Send me a test", Href: "/settings/notices/test", Post: true}}, Data: d})
}

func fieldOf(k notification.Kind, c notification.Channel) string { return string(k) + "." + string(c) }

func choose(v *desk.Visit) error {
	var all []notification.Choice
	for _, k := range notification.Kinds {
		for _, c := range notification.Channels {
			if !k.Problem || c != notification.Desk {
				all = append(all, notification.Choice{Kind: k.Kind, Channel: c,
					Wanted: v.R.PostForm.Has(fieldOf(k.Kind, c))})
			}
		}
	}
	if err := v.Do("notifications.choose", desk.Fields{"choices": all}, nil); err != nil {
		return err
	}
	return v.Done("/settings/notices", "saved", nil)
}

func test(v *desk.Visit) error {
	if err := v.Do("notifications.test", desk.Fields{}, nil); err != nil {
		return err
	}
	return v.Done("/settings/notices", "testing", nil)
}

func subscribe(v *desk.Visit) error {
	in := desk.Fields{"label": browserName(v.R.UserAgent())}
	for _, name := range []string{"endpoint", "key", "auth"} {
		in[name] = v.Value(name)
	}
	if err := v.Do("notifications.subscribe", in, nil); err != nil {
		return err
	}
	return v.Done("/settings/notices", "pushed", nil)
}

func unsubscribe(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	if err := v.Do("notifications.unsubscribe", desk.Fields{"id": ref}, nil); err != nil {
		return err
	}
	return v.Done("/settings/notices", "unpushed", nil)
}

// browserName is what people call a browser, by how it names itself. Most names contain those of others, so the order
// matters.
func browserName(agent string) string {
	find := func(names ...string) string {
		for _, n := range names {
			if key, name, _ := strings.Cut(n, "="); strings.Contains(agent, key) {
				return name
			}
		}
		return ""
	}
	name := find("Edg=Edge", "Firefox=Firefox", "OPR=Opera", "Chrome=Chrome", "Safari=Safari")
	on := find("Android=Android", "iPhone=iPhone", "iPad=iPad", "Windows=Windows", "Mac OS=Mac", "Linux=Linux")
	switch {
	case name == "":
		return "A browser"
	case on == "":
		return name
	}
	return name + " on " + on
}

func serveWorker(v *desk.Visit) error {
	h := v.W.Header()
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	_, err := v.W.Write(worker)
	return err
}
