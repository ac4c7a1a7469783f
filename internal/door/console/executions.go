package console

import (
	"net/http"
	"net/url"

	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/automation"
)

// shownExecution is an execution with the words that pages show.
type shownExecution automation.Execution

// Path is its page.
func (e *shownExecution) Path() string { return "/executions/" + url.PathEscape(string(e.ID)) }

// State is its status as a coloured word.
func (e *shownExecution) State() badge { return runState(string(e.Status)) }

// By says what started it.
func (e *shownExecution) By() string {
	switch {
	case e.EventType != nil:
		return eventWords(*e.EventType)
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
	if text := pretty(string(e.Input)); text != "{}" && text != "null" {
		return text
	}
	return ""
}

// executionSheet lists a page of executions, narrowed to the status in the
// address.
func (v *visit) executionSheet(operation string, input fields, rows *sheet[shownExecution], filters *[]filter,
	filtered *bool) (err error) {
	words, status := v.filters("queued", "running", "succeeded", "failed", "canceled", "skipped")
	if status != "" {
		input["status"] = status
	}
	*filters, *filtered = words, status != ""
	*rows, err = listPage[shownExecution](v, operation, input)
	return err
}

// executionRow is an execution with the name of its automation, which may have
// been deleted.
type executionRow struct {
	shownExecution
	Name string
	Gone bool
}

func withName(names map[id.ID]string, e shownExecution) executionRow {
	name, ok := names[e.AutomationID]
	if !ok {
		name = "A deleted automation"
	}
	return executionRow{e, name, !ok}
}

// automationNames are the organization's automations by id.
func (v *visit) automationNames() (map[id.ID]string, error) {
	names := map[id.ID]string{}
	for {
		rows, more, err := listRows[automation.Automation](v, "automations.list", nil, 100, len(names))
		for _, a := range rows {
			names[a.ID] = a.Name
		}
		if err != nil || !more || len(rows) == 0 {
			return names, err
		}
	}
}

// Retry reports whether it can continue from where it stopped.
func (e *executionRow) Retry() bool {
	return (e.Status == "failed" || e.Status == "canceled") && !e.Gone
}

func executionCrumbs(more ...crumb) []crumb {
	return append([]crumb{{"Executions", "/executions"}}, more...)
}

func (v *visit) executionsPage() error {
	d := struct {
		Rows     sheet[executionRow]
		Filters  []filter
		Filtered bool
	}{}
	var found sheet[shownExecution]
	if err := v.executionSheet("automation_executions.list", fields{}, &found, &d.Filters, &d.Filtered); err != nil {
		return err
	}
	d.Rows.Earlier, d.Rows.Later = found.Earlier, found.Later
	names, err := v.automationNames()
	if err != nil {
		return err
	}
	for _, e := range found.Rows {
		d.Rows.Rows = append(d.Rows.Rows, withName(names, e))
	}
	return v.show(http.StatusOK, "executions", executionView("Executions", executionCrumbs(), d))
}

func executionView(title string, crumbs []crumb, d any) view {
	return view{Title: title, Section: "automations", Tab: "executions", Crumbs: crumbs, Data: d}
}

func (v *visit) execution() (*executionRow, error) {
	ref, err := v.pathID("id")
	if err != nil {
		return nil, err
	}
	var e shownExecution
	if err := v.do("automation_executions.get", fields{"id": ref}, &e); err != nil {
		return nil, err
	}
	names, err := v.automationNames()
	row := withName(names, e)
	return &row, err
}

// shownRun is a step of the timeline.
type shownRun struct {
	automation.StepRun
	Words string
	State badge
	Mark  string
	In    shownData
	Out   *shownData
	Took  string
}

func (v *visit) executionPage() error {
	e, err := v.execution()
	if err != nil {
		return err
	}
	return v.showExecution(http.StatusOK, e, "")
}

func (v *visit) showExecution(status int, e *executionRow, problem string) error {
	d := struct {
		Execution *executionRow
		Problem   string
		Steps     []shownRun
		Given     *shownData
	}{Execution: e, Problem: problem}
	if text := e.Given(); text != "" {
		d.Given = &shownData{"Input", text}
	}
	for _, s := range e.Steps {
		d.Steps = append(d.Steps, v.shownRun(e.Live(), s))
	}
	page := executionView("Execution of "+e.Name, executionCrumbs(crumb{e.Name, ""}), d)
	page.Badge = e.State()
	return v.show(status, "execution", page)
}

func (v *visit) shownRun(live bool, s automation.StepRun) shownRun {
	r := shownRun{StepRun: s, Words: v.operationWords(s.Operation), In: shownData{"Input", pretty(string(s.Input))}}
	switch {
	case s.Error != nil && (s.CompletedAt != nil || !live):
		r.State, r.Mark = badge{"failed", "bad"}, "bad"
	case s.Error != nil:
		r.State = badge{"retrying", "warn"}
	case s.CompletedAt != nil:
		r.State, r.Mark = badge{"done", "good"}, "done"
	case live:
		r.State = badge{"running", "warn"}
	default:
		r.State = badge{"not finished", "warn"}
	}
	if s.CompletedAt != nil {
		r.Took = durationWords(s.CompletedAt.Sub(s.StartedAt).Milliseconds())
	}
	if s.Output != nil && string(*s.Output) != "null" {
		r.Out = &shownData{"Result", pretty(string(*s.Output))}
	}
	return r
}

func (v *visit) cancelExecutionPage() error {
	e, err := v.execution()
	if err != nil {
		return err
	}
	return v.ask(question{Title: "Cancel the execution of " + e.Name, Section: "automations", Tab: "executions",
		Crumbs: executionCrumbs(crumb{e.Name, e.Path()}, crumb{"Cancel", ""}),
		Lead:   "It stops before its next step. Steps that are done are not undone.",
		Button: "Cancel execution", Back: e.Path()})
}

func (v *visit) cancelExecution() error {
	return v.changeExecution("automation_executions.cancel", "canceled")
}

func (v *visit) retryExecution() error {
	return v.changeExecution("automation_executions.retry", "retried")
}

// changeExecution cancels or retries, and shows a refusal on the execution's page.
func (v *visit) changeExecution(operation, done string) error {
	e, err := v.execution()
	if err != nil {
		return err
	}
	if err := v.do(operation, fields{"id": e.ID}, nil); err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showExecution(status, e, f.Error)
	}
	return v.done(e.Path(), done)
}
