package work

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/resource/task"
)

var tasks = &desk.Noun[task.Task]{
	Path: "tasks", Type: "task", One: "task", Many: "tasks", Icon: "task",
	EmptyText:  "What needs to be done, by whom and when. Write the first one above.",
	SearchHint: "Title, description",
	Tabs: []desk.Tab{
		{Label: "Open", Query: "status=open&status=in_progress"},
		{Label: "Mine", Query: "status=open&status=in_progress&assigneeId={me}"},
		{Label: "Due", Query: "status=open&status=in_progress&dueBefore={today}&sortBy=dueAt&sortOrder=asc"},
		{Label: "Done", Query: "status=completed"},
		{Label: "All"},
	},
	AboveTemplate: "tasks-above",
	Layouts:       []desk.Layout{{Key: "calendar", Template: "calendar", Data: calendar}},
	Columns: []desk.Column[task.Task]{
		{Head: "Task", Sort: "title", Cell: func(v *desk.Visit, t *task.Task) desk.Cell {
			c := desk.Text(t.Title)
			if t.Status != "completed" && t.Status != "canceled" && v.May("tasks.update") {
				c.Tick = "/tasks/" + string(t.ID) + "/complete"
			}
			return c
		}},
		{Head: "For", Field: "contactId", Width: "w3", Fold: "two", Cell: func(_ *desk.Visit, t *task.Task) desk.Cell {
			if t.ContactID != nil {
				return desk.LinkTo("contacts", t.ContactID)
			}
			return desk.LinkTo("customers", t.CustomerID)
		}},
		{Head: "Status", Field: "status", Width: "w2", Cell: func(_ *desk.Visit, t *task.Task) desk.Cell {
			return desk.State(status(t))
		}},
		{Head: "Priority", Field: "priority", Width: "w1", Cell: func(_ *desk.Visit, t *task.Task) desk.Cell {
			return desk.State(priority(t))
		}},
		{Head: "Due", Field: "dueAt", Sort: "dueAt", Width: "w2", Fold: "three", End: true, Cell: due},
	},
	Filters: []desk.Filter{
		{Field: "status", Label: "Status"},
		{Field: "priority", Label: "Priority"},
		{Field: "assigneeId", Label: "Assigned to", Ref: "members"},
		{Field: "dueBefore", Label: "Due before", ByDay: true},
		{Field: "dueAfter", Label: "Due after", ByDay: true},
		{Field: "contactId", Label: "Contact", Ref: "contacts", HideChoice: true},
		{Field: "customerId", Label: "Customer", Ref: "customers", HideChoice: true},
		{Field: "businessId", Label: "Business", Ref: "businesses", HideChoice: true},
	},
	Bulk: []desk.Bulk[task.Task]{{Key: "complete", Word: "Done", Icon: "check", Done: "completed",
		Change: func(t *task.Task, _ string) desk.Fields {
			if t.Status == "completed" {
				return nil
			}
			return desk.Fields{"status": "completed"}
		}},
		{Key: "assign", Word: "Assign", Icon: "user", Ask: "To whom", Done: "assigned", Options: desk.Members,
			Op: "tasks.assignees.create", Already: task.AssigneeExists,
			Change: func(_ *task.Task, member string) desk.Fields { return desk.Fields{"userId": member} }},
		desk.MaySet[task.Task]("tasks.update", "status", "Status", "task"),
		desk.MaySet[task.Task]("tasks.update", "priority", "Priority", "bolt")},
	Name: func(_ *desk.Visit, t *task.Task) string { return t.Title },
	ListLine: func(v *desk.Visit, t *task.Task) desk.Line {
		l := desk.Line{Text: t.Title, Icon: "task"}
		if t.Status != "completed" && t.Status != "canceled" {
			l.Tick, l.Icon = "/tasks/"+string(t.ID)+"/complete", ""
			if t.DueAt != nil {
				c := due(v, t)
				if c.Kind == "pill" {
					l.Pill = desk.Pill{Text: c.Text, Tone: c.Tone}
				} else {
					l.Time = c.Time
				}
			}
		} else {
			l.Pill = status(t)
		}
		if t.ContactID != nil {
			l.Ref = &desk.Ref{Path: "contacts", ID: *t.ContactID}
		} else if t.CustomerID != nil {
			l.Ref = &desk.Ref{Path: "customers", ID: *t.CustomerID}
		}
		return l
	},
	State: func(_ *desk.Visit, t *task.Task) desk.Pill { return status(t) },
	Fields: []desk.Field{
		{Field: "title", Label: "Title"},
		{Field: "status", Label: "Status"},
		{Field: "priority", Label: "Priority"},
		{Field: "dueAt", Label: "Due"},
		{Field: "contactId", Label: "Contact", Ref: "contacts"},
		{Field: "customerId", Label: "Customer", Ref: "customers"},
		{Field: "businessId", Label: "Business", Ref: "businesses", OnDemand: true},
		{Field: "description", Label: "Description"},
		{Field: "completedAt", Label: "Done", ReadOnly: true, OnDemand: true},
	},
	Form: []desk.Field{
		{Field: "title", Label: "What needs to be done", Wide: true},
		{Field: "dueAt", Label: "Due"},
		{Field: "priority", Label: "Priority"},
		{Field: "contactId", Label: "Contact", Ref: "contacts"},
		{Field: "customerId", Label: "Customer", Ref: "customers"},
		{Field: "description", Label: "Description"},
	},
	BeforeCreate: func(v *desk.Visit, in desk.Fields) { v.Chosen("tasks.create", in) },
	Actions: []desk.Action[task.Task]{
		{Key: "complete", Label: "Done", Icon: "check", Op: "tasks.update", IsMain: true, DoneKey: "completed",
			When: func(_ *desk.Visit, t *task.Task) bool {
				return t.Status == "open" ||
					t.Status == "in_progress"
			},
			FixedInput: func(*desk.Visit, *task.Task) desk.Fields { return desk.Fields{"status": "completed"} }},
		{Key: "begin", Label: "Begin", Op: "tasks.update", DoneKey: "changed",
			When:       func(_ *desk.Visit, t *task.Task) bool { return t.Status == "open" },
			FixedInput: func(*desk.Visit, *task.Task) desk.Fields { return desk.Fields{"status": "in_progress"} }},
		{Key: "reopen", Label: "Open again", Op: "tasks.update", DoneKey: "changed",
			When: func(_ *desk.Visit, t *task.Task) bool {
				return t.Status == "completed" ||
					t.Status == "canceled"
			},
			FixedInput: func(*desk.Visit, *task.Task) desk.Fields { return desk.Fields{"status": "open"} }},
	},
	Children: []desk.AnyChild{
		&desk.Child[task.TaskAssignee]{Key: "assignees", Ops: "tasks.assignees", Param: "assigneeId",
			Head: "Assigned to", One: "assignee", EmptyText: "Nobody yet.",
			Line: func(v *desk.Visit, a *task.TaskAssignee) desk.Line {
				names, _ := v.Names("members", nil)
				name := names[a.UserID]
				if name == "" {
					name = "A former member"
				}
				return desk.Line{Text: name}
			},
			Fields: []desk.Field{{Field: "userId", Label: "Who", Ref: "members"}}},
	},
	Compose: &desk.Composer[task.Task]{Tabs: []desk.Compose{{Key: "comment", Word: "Comment", Icon: "note",
		Op: "tasks.activity.create", Field: "body", Label: "A comment that your team sees", Button: "Save comment",
		Done: "commented"}}},
	Timeline: []desk.Source[task.Task]{comments},
}

// status is a task's state.
func status(t *task.Task) desk.Pill {
	return desk.Pill{Text: map[string]string{"in_progress": "in progress", "completed": "done"}[string(t.Status)],
		Tone: map[string]string{"completed": "good"}[string(t.Status)]}.Or(string(t.Status))
}

func priority(t *task.Task) desk.Pill {
	if t.Priority == "normal" {
		return desk.Pill{}
	}
	return desk.Pill{Text: t.Priority, Tone: map[string]string{"urgent": "bad", "high": "warn"}[t.Priority]}
}

// due is when a task is due; a state when that is past.
func due(v *desk.Visit, t *task.Task) desk.Cell {
	c := v.At(t.DueAt)
	if t.DueAt != nil && *t.DueAt < v.Now() && (t.Status == "open" || t.Status == "in_progress") {
		return desk.State(desk.Pill{Text: c.Time.Text, Tone: "bad"})
	}
	return c
}

// comments are what people wrote about a task.
func comments(v *desk.Visit, t *task.Task) ([]desk.Moment, error) {
	rows, _, err := desk.List[task.TaskActivity](v, "tasks.activity.list", desk.Fields{"id": t.ID, "limit": 50})
	if err != nil {
		return nil, err
	}
	out := []desk.Moment{}
	for _, a := range rows {
		if a.Kind != "comment" || a.Body == nil {
			continue
		}
		who, err := v.WhoIs(a.ActorKind, a.ActorID)
		if err != nil {
			return nil, err
		}
		out = append(out, desk.Moment{At: a.CreatedAt, Who: who, Verb: "commented", Said: *a.Body, Home: true})
	}
	return out, nil
}

// quickAdd makes a task from one line: "Call Ada tomorrow 9:00".
func quickAdd(v *desk.Visit) error {
	text := v.Value("text")
	back := v.Back("/tasks")
	if text == "" {
		return v.Redirect(back)
	}
	title, at := ReadDue(text, v.Now().Std().In(v.Zone()))
	in := desk.Fields{"title": title}
	if !at.IsZero() {
		in["dueAt"] = clock.FromStd(at).String()
	}
	var made task.Task
	if err := v.Do("tasks.create", v.Chosen("tasks.create", in), &made); err != nil {
		return v.Explain(err, "tasks", back)
	}
	if v.Value("mine") != "" {
		err := v.Do("tasks.assignees.create", desk.Fields{"id": made.ID, "userId": v.Session.User}, nil)
		if err != nil {
			return err
		}
	}
	return v.Done(back, "created", nil)
}

var (
	dayWords = regexp.MustCompile(`(?i)\b(today|tomorrow|(?:next |on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b`)
	hours    = regexp.MustCompile(`(?i)\b(?:at )?(\d{1,2})(?::(\d{2})\s*(am|pm)?|\s*(am|pm))\b`)
)

// ReadDue takes the day and the time out of a line. What has no day and no time
// is not due. A day without a time is due at its end.
func ReadDue(text string, now time.Time) (title string, at time.Time) {
	day := dayWords.FindStringIndex(text)
	hour := hours.FindStringSubmatchIndex(text)
	if day == nil && hour == nil {
		return text, time.Time{}
	}
	at = time.Date(now.Year(), now.Month(), now.Day(), 23, 59, 0, 0, now.Location())
	if day != nil {
		at = at.AddDate(0, 0, daysTo(strings.ToLower(text[day[0]:day[1]]), now.Weekday()))
	}
	if hour != nil {
		part := func(i int) string {
			if hour[2*i] < 0 {
				return ""
			}
			return text[hour[2*i]:hour[2*i+1]]
		}
		h, _ := strconv.Atoi(part(1))
		m, _ := strconv.Atoi(part(2))
		half := strings.ToLower(part(3) + part(4))
		switch {
		case half == "pm" && h < 12:
			h += 12
		case half == "am" && h == 12:
			h = 0
		}
		if h > 23 || m > 59 {
			return text, time.Time{}
		}
		at = time.Date(at.Year(), at.Month(), at.Day(), h, m, 0, 0, now.Location())
		if day == nil && at.Before(now) {
			at = at.AddDate(0, 0, 1)
		}
	}
	title = text
	if hour != nil {
		title = title[:hour[0]] + title[hour[1]:]
	}
	if day := dayWords.FindStringIndex(title); day != nil {
		title = title[:day[0]] + title[day[1]:]
	}
	title = strings.Join(strings.Fields(title), " ")
	if title == "" {
		return text, at
	}
	return title, at
}

func daysTo(word string, today time.Weekday) int {
	switch word {
	case "today":
		return 0
	case "tomorrow":
		return 1
	}
	word = strings.TrimPrefix(strings.TrimPrefix(word, "next "), "on ")
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.EqualFold(d.String(), word) {
			n := (int(d) - int(today) + 7) % 7
			if n == 0 {
				n = 7
			}
			return n
		}
	}
	return 0
}
