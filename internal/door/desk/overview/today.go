package overview

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/door/desk/money"
	"frontdesk/internal/door/desk/settings"
	"frontdesk/internal/door/desk/web"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/eventlog"
	"frontdesk/internal/resource/invoice"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/report"
)

// todayData is what the template "today" shows. Every figure leads to the list
// that proves it.
type todayData struct {
	Figures  []figure
	Bars     []bar
	BarsSay  string
	Sections []*desk.Section
	Aside    []*desk.Section

	unanswered *desk.Section
}

type figure struct {
	Word, Sum, Also, More, Href string
	Bad                         bool
	Bars                        bool
}

// bar is a week of the sparkline.
type bar struct {
	X, Y, Height int
	Now          bool
}

// figureRows bounds what a figure adds up. Beyond it, the figure says "more than".
const figureRows = 100

func today(v *desk.Visit) error {
	d := &todayData{}
	for _, part := range []func(*desk.Visit) error{d.money, d.waiting, d.paid, d.lists, d.happened} {
		if err := part(v); err != nil {
			return err
		}
	}
	view := desk.View{Title: "Today", Section: "today", Own: true, Data: d, Watch: "invoice task message thread domain",
		Sub: v.LongDay(v.Now().Std().In(v.Zone()))}
	view.Main = &desk.Button{Text: "New", Href: "/search", Icon: "plus"}
	if left, err := settings.SetupLeft(v); err != nil {
		return err
	} else if left {
		view.Buttons = []desk.Button{{Text: "Finish setting up", Href: "/setup"}}
	}
	return v.Show(http.StatusOK, "today", view)
}

// money is what is owed and what is overdue: the sums of the lists that the figures
// open.
func (d *todayData) money(v *desk.Visit) error {
	if !v.May("invoices.list") {
		return nil
	}
	owed, err := money.AddUp(v, v.Chosen("invoices.totals", desk.Fields{"unpaid": true}))
	if err != nil {
		return err
	}
	d.addMoney(v, owed.Due, figure{Word: "Owed to you", More: desk.Count(owed.Count, "invoice", "invoices"),
		Href: "/invoices?unpaid=true"})
	overdue := func() desk.Fields { return desk.Fields{"status": []string{"overdue"}} }
	late, err := money.AddUp(v, v.Chosen("invoices.totals", overdue()))
	if err != nil {
		return err
	}
	f := figure{Word: "Overdue", More: "nothing is late", Href: "/invoices?status=overdue"}
	if late.Count > 0 {
		first := overdue()
		first["limit"], first["sortBy"], first["sortOrder"] = 1, "dueAt", "asc"
		rows, _, err := desk.List[invoice.Invoice](v, "invoices.list", v.Chosen("invoices.list", first))
		if err != nil {
			return err
		}
		f.More, f.Bad = desk.Count(late.Count, "invoice", "invoices"), true
		if len(rows) > 0 && rows[0].DueAt != nil {
			days := int(v.Now().Sub(*rows[0].DueAt) / (24 * time.Hour))
			f.More += ", oldest " + desk.Count(max(1, days), "day", "days")
		}
	}
	d.addMoney(v, late.Due, f)
	return nil
}

// addMoney adds a figure of sums by currency: the business's own large, the others below.
func (d *todayData) addMoney(v *desk.Visit, sums map[string]int64, f figure) {
	own := v.CurrentBusiness().Currency
	others := maps.Clone(sums)
	delete(others, own)
	if f.Sum = v.Money(sums[own], own); len(others) > 0 {
		f.Also = v.MoneyOfEach(others)
	}
	d.Figures = append(d.Figures, f)
}

// unanswered are the conversations in which somebody wrote to us last or the answer
// is not sent yet, the oldest first, and whether there may be more.
func unanswered(v *desk.Visit) (waiting []message.Thread, more bool, err error) {
	rows, page, err := desk.List[message.Thread](v, "threads.list", desk.Fields{"status": []string{"open"},
		"snoozed": false, "limit": figureRows, "include": []string{"lastMessage"}, "sortBy": "lastMessageAt",
		"sortOrder": "asc"})
	for _, t := range rows {
		if m := t.LastMessage; m != nil && (m.Direction == "inbound" || m.Status == "draft" && t.MessageCount > 1) {
			waiting = append(waiting, t)
		}
	}
	return waiting, page.HasMore, err
}

// waiting is how many conversations wait for an answer, and the first of them.
func (d *todayData) waiting(v *desk.Visit) error {
	if !v.May("threads.list") {
		return nil
	}
	rows, more, err := unanswered(v)
	if err != nil {
		return err
	}
	n := strconv.Itoa(len(rows))
	if more {
		n += "+"
	}
	f := figure{Word: "Waiting for an answer", Sum: n, More: "nobody is waiting", Href: "/inbox"}
	if len(rows) > 0 {
		f.More = "oldest " + age(v.Now().Sub(rows[0].LastMessageAt))
	}
	if !v.Has("/inbox") {
		f.Href = "/search"
	}
	d.Figures = append(d.Figures, f)
	if v.Has("/inbox") {
		d.unanswered, err = threadLines(v, rows[:min(len(rows), 5)])
	}
	return err
}

func age(d time.Duration) string {
	switch {
	case d < time.Hour:
		return desk.Count(max(1, int(d/time.Minute)), "minute", "minutes")
	case d < 48*time.Hour:
		return desk.Count(int(d/time.Hour), "hour", "hours")
	}
	return desk.Count(int(d/(24*time.Hour)), "day", "days")
}

// paid is what came in this month, with a bar for each of the last eight weeks.
func (d *todayData) paid(v *desk.Visit) error {
	if !v.May("invoices.list") {
		return nil
	}
	now := v.Now().Std().In(v.Zone())
	ask := func(by string, since time.Time) (r report.Report, err error) {
		err = v.Do("reports.get", v.Chosen("reports.get", desk.Fields{"name": "revenue", "groupBy": by,
			"from": since.Format(time.DateOnly)}), &r)
		return r, err
	}
	month, err := ask("month", now.AddDate(0, 0, 1-now.Day()))
	if err != nil {
		return err
	}
	monday := now.AddDate(0, 0, -(int(now.Weekday())+6)%7)
	weekly, err := ask("week", monday.AddDate(0, 0, -7*7))
	if err != nil {
		return err
	}
	own, highest, words, weeks := v.CurrentBusiness().Currency, int64(1), []string{}, []int64{}
	for _, r := range weekly.Rows {
		if r.Currency == own {
			weeks, words = append(weeks, *r.ReceivedCents), append(words, v.Money(*r.ReceivedCents, own))
			highest = max(highest, *r.ReceivedCents)
		}
	}
	for i, w := range weeks {
		height := max(2, int(48*w/highest))
		d.Bars = append(d.Bars, bar{X: i * 19, Y: 52 - height, Height: height, Now: i == len(weeks)-1})
	}
	d.BarsSay = "Paid by week, the last eight weeks: " + strings.Join(words, ", ")
	total := map[string]int64{}
	for _, r := range month.Totals {
		if *r.ReceivedCents != 0 {
			total[r.Currency] = *r.ReceivedCents
		}
	}
	d.addMoney(v, total, figure{Word: "Paid in " + now.Format("January"), More: "by week, eight weeks",
		Href: "/money", Bars: len(weeks) > 0})
	return nil
}

// lists are the rows that somebody should look at.
func (d *todayData) lists(v *desk.Visit) error {
	open := []string{"open", "in_progress"}
	due, err := v.Related("Tasks due", "tasks", v.Chosen("tasks.list", desk.Fields{"status": open,
		"dueBefore": v.EndOfDay(0), "sortBy": "dueAt", "sortOrder": "asc"}),
		map[string][]string{"status": open, "dueBefore": {v.EndOfDay(0)}, "sortBy": {"dueAt"},
			"sortOrder": {"asc"}}, "Nothing is due today.")
	if err != nil {
		return err
	}
	late, err := v.Related("Overdue invoices", "invoices",
		v.Chosen("invoices.list", desk.Fields{"status": []string{"overdue"}}),
		map[string][]string{"status": {"overdue"}}, "")
	if err != nil {
		return err
	}
	domains, err := domainLines(v)
	if err != nil {
		return err
	}
	if waits := decisions(v); waits != nil {
		d.Aside = append(d.Aside, waits)
	}
	for _, s := range []*desk.Section{d.unanswered, due, late} {
		if s != nil {
			d.Sections = append(d.Sections, s)
		}
	}
	if domains != nil {
		d.Aside = append(d.Aside, domains)
	}
	return nil
}

// threadLines are the conversations that wait for an answer.
func threadLines(v *desk.Visit, rows []message.Thread) (*desk.Section, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	people := []id.ID{}
	for i := range rows {
		if rows[i].ContactID != nil {
			people = append(people, *rows[i].ContactID)
		}
	}
	names, err := v.Names("contacts", people)
	if err != nil {
		return nil, err
	}
	lines := []desk.Line{}
	for i := range rows {
		t := &rows[i]
		l := desk.Line{Icon: "mail", Text: t.Subject, Href: "/inbox/" + string(t.ID), Time: v.When(t.LastMessageAt)}
		if t.LastMessage != nil {
			l.Who, l.Faint = t.LastMessage.From, t.LastMessage.Preview
		}
		if t.ContactID != nil && names[*t.ContactID] != "" {
			l.Who = names[*t.ContactID]
		}
		if t.Subject == "" {
			l.Text = "(no subject)"
		}
		if wait := v.Now().Sub(t.LastMessageAt); wait > 24*time.Hour {
			l.Pill, l.Time = desk.Pill{Text: fmt.Sprintf("%d d", int(wait/(24*time.Hour))), Tone: "warn"}, nil
		}
		lines = append(lines, l)
	}
	return &desk.Section{Head: "Waiting for an answer", All: "/inbox", Name: "lines",
		Data: desk.LinesOf(lines...)}, nil
}

// decisions says how much waits for a decision: what agents propose, as the rail
// counts it, and suggested values.
func decisions(v *desk.Visit) *desk.Section {
	lines := []desk.Line{}
	add := func(text, href string) { lines = append(lines, desk.Line{Icon: "review", Text: text, Href: href}) }
	switch n := v.Counted("review"); n {
	case "":
	case "1":
		add("1 proposal waits for you", "/review")
	default:
		add(n+" proposals wait for you", "/review")
	}
	switch n := v.Counted("values"); n {
	case "":
	case "1":
		add("1 value was suggested", "/review")
	default:
		add(n+" values were suggested", "/review")
	}
	if len(lines) == 0 {
		return nil
	}
	return &desk.Section{Head: "To decide", All: "/review", Name: "lines", Data: desk.LinesOf(lines...)}
}

// domainLines are the domains that need somebody: that renew soon, failed or have
// email without its records.
func domainLines(v *desk.Visit) (*desk.Section, error) {
	if !v.May("domains.list") || !v.Has("/domains") {
		return nil, nil
	}
	rows, _, err := desk.List[domain.Domain](v, "domains.list", desk.Fields{"limit": 50})
	if err != nil {
		return nil, err
	}
	lines := []desk.Line{}
	for i := range rows {
		if p := web.StatusPill(v, &rows[i]); p.Tone == "bad" || p.Tone == "warn" {
			lines = append(lines, desk.Line{Icon: "globe", Text: rows[i].UnicodeName, Pill: p,
				Href: "/domains/" + string(rows[i].ID)})
		}
	}
	if len(lines) == 0 {
		return nil, nil
	}
	return &desk.Section{Head: "Domains", All: "/domains", Name: "lines", Data: desk.LinesOf(lines...)}, nil
}

// happened is what others did lately.
func (d *todayData) happened(v *desk.Visit) error {
	if !v.May("events.list") {
		return nil
	}
	rows, _, err := desk.List[eventlog.Event](v, "events.list", desk.Fields{"limit": 30})
	if err != nil {
		return err
	}
	kept := rows[:0]
	for _, e := range rows {
		if !strings.HasPrefix(e.Type, "session.") && !onlyRead(v, &e) && len(kept) < 8 {
			kept = append(kept, e)
		}
	}
	moments, err := v.Moments(kept, false)
	if err != nil || len(moments) == 0 {
		return err
	}
	for i := range moments {
		moments[i].Time = v.When(moments[i].At)
	}
	d.Aside = append(d.Aside, &desk.Section{Head: "What happened", All: "/activity", Name: "feed", Data: moments})
	return nil
}

// onlyRead reports whether somebody just opened a conversation.
func onlyRead(v *desk.Visit, e *eventlog.Event) bool {
	var before map[string]any
	if e.Type != "thread.updated" || !v.Decode(e.Previous, &before) {
		return false
	}
	delete(before, "updatedAt")
	return len(before) == 1 && before["unread"] != nil
}
