package overview

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/resource/eventlog"
)

const activityRows = 50

// activityData is what the template "activity" shows.
type activityData struct {
	Days           any
	Earlier, Later string
	Nouns          []desk.Option
	Noun, Who, Day string
	People         []desk.Option
	Narrowed       bool
	Back           string
}

// activityNouns are what the log can be narrowed to.
var activityNouns = []desk.Option{{Value: "contact", Text: "Contacts"}, {Value: "customer", Text: "Customers"},
	{Value: "task", Text: "Tasks"}, {Value: "message", Text: "Messages"}, {Value: "thread", Text: "Conversations"},
	{Value: "invoice", Text: "Invoices"}, {Value: "file", Text: "Files"}, {Value: "domain", Text: "Domains"},
	{Value: "business", Text: "Businesses"}, {Value: "email_template", Text: "Email templates"},
	{Value: "email_opt_in", Text: "Email consent"}, {Value: "automation", Text: "Automations"},
	{Value: "webhook", Text: "Webhooks"}, {Value: "agent", Text: "Agents"}, {Value: "api_key", Text: "API keys"},
	{Value: "session", Text: "Signing in"}}

// activity shows the event log as sentences.
func activity(v *desk.Visit) error {
	q := v.R.URL.Query()
	offset, _ := strconv.Atoi(q.Get("offset"))
	offset = max(0, min(offset, 10_000_000))
	in := desk.Fields{"limit": activityRows, "offset": offset}
	d := &activityData{Nouns: activityNouns, Noun: q.Get("noun"), Who: q.Get("who"), Day: q.Get("day"), Back: v.With()}
	for _, n := range activityNouns {
		if n.Value == d.Noun {
			in["resourceType"] = n.Value
		}
	}
	if err := d.narrow(v, in); err != nil {
		return err
	}
	rows, page, err := desk.List[eventlog.Event](v, "events.list", in)
	if err != nil {
		return v.Explain(err, "activity", "/activity")
	}
	moments, err := v.Moments(rows, false)
	if err != nil {
		return err
	}
	d.Days = v.Days(moments, activityRows)
	if offset > 0 {
		d.Earlier = v.With("offset", strconv.Itoa(max(0, offset-activityRows)))
	}
	if page.HasMore {
		d.Later = v.With("offset", strconv.Itoa(offset+activityRows))
	}
	return v.Show(http.StatusOK, "activity", desk.View{Title: "Activity", Section: "activity", Data: d, Watch: "*",
		API: v.Samples("events.list", url.Values{"limit": {"50"}})})
}

// narrow reads who and which day.
func (d *activityData) narrow(v *desk.Visit, in desk.Fields) error {
	if v.May("members.list") {
		people, _, err := desk.List[account.Colleague](v, "members.list",
			desk.Fields{"limit": 100, "sortOrder": "asc"})
		if err != nil {
			return err
		}
		for _, p := range people {
			d.People = append(d.People, desk.Option{Value: string(p.ID), Text: p.Name})
		}
	}
	if v.Session.Manager() {
		for _, noun := range []string{"agents", "api_keys"} {
			if !v.May(noun + ".list") {
				continue
			}
			rows, _, err := desk.List[account.Actor](v, noun+".list", desk.Fields{"limit": 100})
			if err != nil {
				return err
			}
			for _, r := range rows {
				d.People = append(d.People, desk.Option{Value: string(r.ID), Text: r.Name})
			}
		}
	}
	for _, p := range d.People {
		if p.Value == d.Who {
			in["actorId"] = p.Value
			d.Narrowed = true
		}
	}
	if day, err := time.ParseInLocation(time.DateOnly, d.Day, v.Zone()); err == nil {
		in["since"] = clock.FromStd(day).String()
		in["until"] = clock.FromStd(day.AddDate(0, 0, 1)).String()
		d.Narrowed = true
	}
	d.Narrowed = d.Narrowed || d.Noun != ""
	return nil
}

// oneEvent shows one event: before and after, how it came in, and a way to undo
// it.
func oneEvent(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	var e eventlog.Event
	if err := v.Do("events.get", desk.Fields{"id": ref}, &e); err != nil {
		return err
	}
	moments, err := v.Moments([]eventlog.Event{e}, false)
	if err != nil {
		return err
	}
	m := moments[0]
	m.Full, m.Time = true, v.When(m.At)
	return v.Show(http.StatusOK, "one-event", desk.View{Title: "What happened", Section: "activity",
		Crumbs: []desk.Crumb{{Text: "Activity", Href: "/activity"}, {Text: "What happened"}},
		Data: map[string]any{"Moment": m, "Event": e, "Door": doorWords[e.Door], "Back": v.With(),
			"Data": v.Pretty(e.Data)}})
}

var doorWords = map[string]string{"rest": "through the API", "agent": "through an agent's connection",
	"automation": "by an automation", "console": "here at the desk", "admin": "on the server", "system": "by itself"}
