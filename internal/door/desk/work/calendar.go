package work

import (
	"net/url"
	"slices"
	"time"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/resource/task"
)

// month is the tasks of a month by the day that they are due, as the template "calendar" shows it.
type month struct {
	Head           string
	Earlier, Later string     // the months before and after, which a form asks for: there is no end of them
	Kept           url.Values // the filters
	Today          string     // an address
	List           string
	Days           []string // of the week, the first of the place's week first
	Weeks          [][]day
	TooMany        bool // not all tasks are shown
}

type day struct {
	Number    int
	Name      string // in words
	Else, Now bool   // of another month; today
	Tasks     []dueTask
	More      int
	All       string // the address of the list with all of the day
}

// dueTask is a task on its day.
type dueTask struct {
	Href, Text, Time string
	Done, Late       bool
}

const (
	shownOfDay   = 5   // tasks on one day
	mostOfMonth  = 500 // tasks of a month that are read
	monthPattern = "2006-01"
)

// calendar lists what is due in a month, of what the filters leave.
func calendar(v *desk.Visit, in desk.Fields) (any, error) {
	now := v.Now().Std().In(v.Zone())
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, v.Zone())
	if asked, err := time.ParseInLocation(monthPattern, v.R.URL.Query().Get("month"), v.Zone()); err == nil {
		first = asked
	}
	d := &month{Head: first.Format("January 2006"), Today: v.With("month", "", "offset", ""),
		Earlier: first.AddDate(0, -1, 0).Format(monthPattern), Later: first.AddDate(0, 1, 0).Format(monthPattern),
		List: v.With("month", "", "view", "")}
	if u, err := url.Parse(d.Today); err == nil {
		d.Kept = u.Query()
	}
	from := first.AddDate(0, 0, -(int(first.Weekday())-int(v.FirstWeekday())+7)%7)
	until := from
	for until.Before(first.AddDate(0, 1, 0)) {
		until = until.AddDate(0, 0, 7)
	}
	tasks, err := tasksDue(v, in, from, until)
	if err != nil {
		return nil, err
	}
	d.TooMany = len(tasks) == mostOfMonth
	for i := range 7 {
		d.Days = append(d.Days, from.AddDate(0, 0, i).Weekday().String())
	}
	for at := from; at.Before(until); at = at.AddDate(0, 0, 1) {
		if at.Weekday() == from.Weekday() {
			d.Weeks = append(d.Weeks, nil)
		}
		one := dayOf(v, at, tasks)
		one.Else, one.Now = at.Month() != first.Month(), at.YearDay() == now.YearDay() && at.Year() == now.Year()
		d.Weeks[len(d.Weeks)-1] = append(d.Weeks[len(d.Weeks)-1], one)
	}
	return d, nil
}

// tasksDue are the tasks that are due in a span of time, and that the filters leave.
func tasksDue(v *desk.Visit, in desk.Fields, from, until time.Time) (all []task.Task, err error) {
	within := func(field string, t time.Time, keep func(given, own string) bool) {
		own := clock.FromStd(t).String()
		if given, ok := in[field].(string); !ok || !keep(given, own) {
			in[field] = own
		}
	}
	within("dueAfter", from.Add(-time.Millisecond), func(given, own string) bool { return given > own })
	within("dueBefore", until, func(given, own string) bool { return given < own })
	in["sortBy"], in["sortOrder"], in["limit"] = "dueAt", "asc", 100
	for offset := 0; offset < mostOfMonth; offset += 100 {
		in["offset"] = offset
		rows, page, err := desk.List[task.Task](v, "tasks.list", in)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
		if !page.HasMore {
			break
		}
	}
	return all, nil
}

// dayOf is one day with its tasks, the first due first.
func dayOf(v *desk.Visit, at time.Time, tasks []task.Task) day {
	end := at.AddDate(0, 0, 1)
	d := day{Number: at.Day(), Name: v.LongDay(at)}
	for i := range tasks {
		t := &tasks[i]
		when := t.DueAt.Std()
		if when.Before(at) || !when.Before(end) {
			continue
		}
		if len(d.Tasks) == shownOfDay {
			d.More++
			continue
		}
		one := dueTask{Href: "/tasks/" + string(t.ID), Text: t.Title,
			Done: slices.Contains([]task.Status{"completed", "canceled"}, t.Status), Late: *t.DueAt < v.Now()}
		if local := when.In(v.Zone()); local.Hour() != 23 || local.Minute() != 59 { // the end of a day is no hour
			one.Time = v.Hour(local)
		}
		d.Tasks = append(d.Tasks, one)
	}
	if d.More > 0 {
		q := url.Values{"dueAfter": {clock.FromStd(at.Add(-time.Millisecond)).String()},
			"dueBefore": {clock.FromStd(end).String()}, "sortBy": {"dueAt"}, "sortOrder": {"asc"}}
		d.All = "/tasks?" + q.Encode()
	}
	return d
}
