package console

import (
	"net/http"
	"net/url"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json/jsontext"
)

// execution is one run of an automation as its operations answer.
type execution struct {
	op.Record
	AutomationID id.ID          `json:"automationId"`
	Status       string         `json:"status"`
	Trigger      string         `json:"trigger"`
	EventID      *string        `json:"eventId"`
	EventType    *string        `json:"eventType"`
	Input        jsontext.Value `json:"input"`
	Steps        []stepRun      `json:"steps"`
	StartedAt    *clock.Time    `json:"startedAt"`
	CompletedAt  *clock.Time    `json:"completedAt"`
	ErrorMessage *string        `json:"errorMessage"`
}

// stepRun is what came of one step.
type stepRun struct {
	Operation     string          `json:"operation"`
	Input         jsontext.Value  `json:"input"`
	InputOmitted  bool            `json:"inputOmitted"`
	Output        *jsontext.Value `json:"output"`
	OutputOmitted bool            `json:"outputOmitted"`
	Error         *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Attempts    int         `json:"attempts"`
	StartedAt   clock.Time  `json:"startedAt"`
	CompletedAt *clock.Time `json:"completedAt"`
}

// Path is its page.
func (e *execution) Path() string { return "/executions/" + url.PathEscape(string(e.ID)) }

// State is its status as a coloured word.
func (e *execution) State() badge { return runState(e.Status) }

// By says what started it.
func (e *execution) By() string {
	switch {
	case e.EventType != nil:
		return eventWords(*e.EventType)
	case e.Trigger == "schedule":
		return "Schedule"
	}
	return "By hand"
}

// Took is how long it lasted.
func (e *execution) Took() string {
	if e.StartedAt == nil || e.CompletedAt == nil {
		return ""
	}
	return took(e.CompletedAt.Sub(*e.StartedAt).Milliseconds())
}

// Live reports whether something is still to come.
func (e *execution) Live() bool { return e.Status == "queued" || e.Status == "running" }

// Given is the input that it was started with.
func (e *execution) Given() string {
	if text := pretty(string(e.Input)); text != "{}" && text != "null" {
		return text
	}
	return ""
}

// executionSheet is a page of executions, narrowed to the status that the
// address names.
func (v *visit) executionSheet(operation string, input fields, rows *sheet[execution], filters *[]filter, filtered *bool) (err error) {
	words, status := v.filters("queued", "running", "succeeded", "failed", "canceled", "skipped")
	if status != "" {
		input["status"] = status
	}
	*filters, *filtered = words, status != ""
	*rows, err = list[execution](v, operation, input)
	return err
}

// executionRow is an execution with the name of its automation, which may be
// gone by now.
type executionRow struct {
	execution
	Name string
	Gone bool
}

func named(names map[id.ID]string, e execution) executionRow {
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
		rows, more, err := take[automation](v, "automations.list", nil, 100, len(names))
		for _, a := range rows {
			names[a.ID] = a.Name
		}
		if err != nil || !more || len(rows) == 0 {
			return names, err
		}
	}
}

// Retry reports whether it can go on from where it ended.
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
	var found sheet[execution]
	if err := v.executionSheet("automation_executions.list", fields{}, &found, &d.Filters, &d.Filtered); err != nil {
		return err
	}
	d.Rows.Earlier, d.Rows.Later = found.Earlier, found.Later
	names, err := v.automationNames()
	if err != nil {
		return err
	}
	for _, e := range found.Rows {
		d.Rows.Rows = append(d.Rows.Rows, named(names, e))
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
	var e execution
	if err := v.do("automation_executions.get", fields{"id": ref}, &e); err != nil {
		return nil, err
	}
	names, err := v.automationNames()
	row := named(names, e)
	return &row, err
}

// shownRun is a step of the timeline.
type shownRun struct {
	stepRun
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

func (v *visit) shownRun(live bool, s stepRun) shownRun {
	r := shownRun{stepRun: s, Words: v.operationWords(s.Operation), In: shownData{"Input", pretty(string(s.Input))}}
	switch {
	case s.Error != nil && (s.CompletedAt != nil || !live):
		r.State, r.Mark = badge{"failed", "bad"}, "bad"
	case s.Error != nil:
		r.State = badge{"is tried again", "warn"}
	case s.CompletedAt != nil:
		r.State, r.Mark = badge{"done", "good"}, "done"
	case live:
		r.State = badge{"running", "warn"}
	default:
		r.State = badge{"not finished", "warn"}
	}
	if s.CompletedAt != nil {
		r.Took = took(s.CompletedAt.Sub(s.StartedAt).Milliseconds())
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
	return v.ask(question{Title: "Cancel the execution of " + e.Name, Section: "automations", Tab: "executions", Crumbs: executionCrumbs(crumb{e.Name, e.Path()}, crumb{"Cancel", ""}),
		Lead: "It ends before its next step. What its steps did stays done.", Button: "Cancel execution", Back: e.Path()})
}

func (v *visit) cancelExecution() error {
	return v.moveExecution("automation_executions.cancel", "canceled")
}

func (v *visit) retryExecution() error {
	return v.moveExecution("automation_executions.retry", "retried")
}

// moveExecution shows a refusal on the execution's own page.
func (v *visit) moveExecution(operation, done string) error {
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
