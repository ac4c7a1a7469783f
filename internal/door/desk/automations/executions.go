package automations

import (
	"net/http"
	"net/url"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/automation"
)

// shownExecution is an execution with the words that pages show.
type shownExecution automation.Execution

// Path is its page.
func (e *shownExecution) Path() string { return "/executions/" + url.PathEscape(string(e.ID)) }

// State is its status as a coloured word.
func (e *shownExecution) State() desk.Pill { return statusPill(string(e.Status)) }

// By says what started it.
func (e *shownExecution) By() string {
	switch {
	case e.EventType != nil:
		return desk.EventWords(*e.EventType)
	case e.Trigger == "schedule":
		return "Schedule"
	}
	return "By hand"
}

// Took is how long it lasted.
func (e *shownExecution) Took() string {
	if e.StartedAt == nil || e.CompletedAt == nil {
		return ""
	}
	return durationWords(e.CompletedAt.Sub(*e.StartedAt).Milliseconds())
}

// Live reports whether it still waits or runs.
func (e *shownExecution) Live() bool { return e.Status == "queued" || e.Status == "running" }

// Given is the input that it started with.
func (e *shownExecution) Given() string {
	if text := desk.IndentJSON(string(e.Input)); text != "{}" && text != "null" {
		return text
	}
	return ""
}

// listExecutions lists a page of executions, narrowed to the status in the
// address.
func listExecutions(v *desk.Visit, operation string, input desk.Fields, rows *desk.Sheet[shownExecution],
	filters *[]desk.StatusLink, filtered *bool) (err error) {
	words, status := v.StatusLinks("queued", "running", "succeeded", "failed", "canceled", "skipped")
	if status != "" {
		input["status"] = status
	}
	*filters, *filtered = words, status != ""
	*rows, err = desk.ListSheet[shownExecution](v, operation, input)
	return err
}

// executionRow is an execution with the name of its automation, which may have
// been deleted.
type executionRow struct {
	shownExecution
	Name string
	Gone bool
}

func newExecutionRow(names map[id.ID]string, e shownExecution) executionRow {
	name, ok := names[e.AutomationID]
	if !ok {
		name = "A deleted automation"
	}
	return executionRow{e, name, !ok}
}

// automationNames are the organization's automations by id.
func automationNames(v *desk.Visit) (map[id.ID]string, error) {
	names := map[id.ID]string{}
	for {
		rows, page, err := desk.List[automation.Automation](v, "automations.list",
			desk.Fields{"limit": 100, "offset": len(names)})
		for _, a := range rows {
			names[a.ID] = a.Name
		}
		if err != nil || !page.HasMore || len(rows) == 0 {
			return names, err
		}
	}
}

// Retry reports whether it can continue from where it stopped.
func (e *executionRow) Retry() bool {
	return (e.Status == "failed" || e.Status == "canceled") && !e.Gone
}

func executionCrumbs(more ...desk.Crumb) []desk.Crumb {
	return append([]desk.Crumb{{Text: "Runs", Href: "/executions"}}, more...)
}

func executionsPage(v *desk.Visit) error {
	d := struct {
		Rows     desk.Sheet[executionRow]
		Filters  []desk.StatusLink
		Filtered bool
	}{}
	var found desk.Sheet[shownExecution]
	if err := listExecutions(v, "automation_executions.list", desk.Fields{}, &found, &d.Filters,
		&d.Filtered); err != nil {
		return err
	}
	d.Rows.Earlier, d.Rows.Later = found.Earlier, found.Later
	names, err := automationNames(v)
	if err != nil {
		return err
	}
	for _, e := range found.Rows {
		d.Rows.Rows = append(d.Rows.Rows, newExecutionRow(names, e))
	}
	return v.ShowView(http.StatusOK, "executions", executionView("Runs of automations", executionCrumbs(), d))
}

func executionView(title string, crumbs []desk.Crumb, d any) desk.View {
	return desk.View{Title: title, Section: "automations", Tab: "executions", Crumbs: crumbs, Data: d}
}

func readExecution(v *desk.Visit) (*executionRow, error) {
	ref, err := v.PathID("id")
	if err != nil {
		return nil, err
	}
	var e shownExecution
	if err := v.Do("automation_executions.get", desk.Fields{"id": ref}, &e); err != nil {
		return nil, err
	}
	names, err := automationNames(v)
	row := newExecutionRow(names, e)
	return &row, err
}

// shownRun is a step of the timeline.
type shownRun struct {
	automation.StepRun
	Words string
	State desk.Pill
	Mark  string
	In    shownStep
	Out   *desk.Data
	Took  string
}

func executionPage(v *desk.Visit) error {
	e, err := readExecution(v)
	if err != nil {
		return err
	}
	return showExecution(v, http.StatusOK, e, "")
}

func showExecution(v *desk.Visit, status int, e *executionRow, problem string) error {
	d := struct {
		Execution *executionRow
		Problem   string
		Steps     []shownRun
		Given     *desk.Data
	}{Execution: e, Problem: problem}
	if text := e.Given(); text != "" {
		d.Given = &desk.Data{Label: "Input", Text: text}
	}
	for _, s := range e.Steps {
		d.Steps = append(d.Steps, newShownRun(v, e.Live(), s))
	}
	page := executionView("Run of "+e.Name, executionCrumbs(desk.Crumb{Text: e.Name}), d)
	page.Badge = e.State()
	return v.ShowView(status, "execution", page)
}

func newShownRun(v *desk.Visit, live bool, s automation.StepRun) shownRun {
	r := shownRun{StepRun: s, Words: v.OperationWords(s.Operation)}
	r.In.describe(v, s.Operation, s.Input, nil)
	switch {
	case s.Error != nil && (s.CompletedAt != nil || !live):
		r.State, r.Mark = desk.Pill{Text: "failed", Tone: "bad"}, "bad"
	case s.Error != nil:
		r.State = desk.Pill{Text: "retrying", Tone: "warn"}
	case s.CompletedAt != nil:
		r.State, r.Mark = desk.Pill{Text: "done", Tone: "good"}, "done"
	case live:
		r.State = desk.Pill{Text: "running", Tone: "warn"}
	default:
		r.State = desk.Pill{Text: "not finished", Tone: "warn"}
	}
	if s.CompletedAt != nil {
		r.Took = durationWords(s.CompletedAt.Sub(s.StartedAt).Milliseconds())
	}
	if s.Output != nil && string(*s.Output) != "null" {
		r.Out = &desk.Data{Label: "Result", Text: desk.IndentJSON(string(*s.Output))}
	}
	return r
}

func cancelExecutionPage(v *desk.Visit) error {
	e, err := readExecution(v)
	if err != nil {
		return err
	}
	return v.Ask(desk.Question{Title: "Cancel the run of " + e.Name, Section: "automations", Tab: "executions",
		Crumbs: executionCrumbs(desk.Crumb{Text: e.Name, Href: e.Path()}, desk.Crumb{Text: "Cancel"}),
		Lead:   "It stops before its next step. Steps that are done are not undone.",
		Button: "Cancel run", Back: e.Path()})
}

func cancelExecution(v *desk.Visit) error {
	return changeExecution(v, "automation_executions.cancel", "canceled")
}

func retryExecution(v *desk.Visit) error {
	return changeExecution(v, "automation_executions.retry", "retried")
}

// changeExecution cancels or retries, and shows a refusal on the execution's page.
func changeExecution(v *desk.Visit, operation, done string) error {
	e, err := readExecution(v)
	if err != nil {
		return err
	}
	if err := v.Do(operation, desk.Fields{"id": e.ID}, nil); err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return showExecution(v, status, e, f.Error)
	}
	return v.Done(e.Path(), done, nil)
}
