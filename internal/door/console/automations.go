package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json/jsontext"
)

// automation is what the service does by itself, as its operations answer.
type automation struct {
	op.Record
	Name        string      `json:"name"`
	Description *string     `json:"description"`
	Status      string      `json:"status"`
	Trigger     trigger     `json:"trigger"`
	Condition   *string     `json:"condition"`
	Steps       []stepInput `json:"steps"`
	NextRunAt   *clock.Time `json:"nextRunAt"`
	MakerKind   string      `json:"makerKind"`
}

// trigger is what starts it.
type trigger struct {
	Kind     string  `json:"kind"`
	Event    *string `json:"event"`
	Cron     *string `json:"cron"`
	Timezone *string `json:"timezone"`
}

// stepInput is one call of an operation.
type stepInput struct {
	Operation string         `json:"operation"`
	Input     jsontext.Value `json:"input"`
	SaveAs    *string        `json:"saveAs"`
}

func automationCrumbs(more ...crumb) []crumb {
	return append([]crumb{{"Automations", "/automations"}}, more...)
}

// Path is its page.
func (a *automation) Path() string { return "/automations/" + url.PathEscape(string(a.ID)) }

// State is its status as a coloured word.
func (a *automation) State() badge {
	if a.Status == "active" {
		return badge{a.Status, "good"}
	}
	return badge{a.Status, "warn"}
}

// Starts says what starts it.
func (a *automation) Starts() string { return a.Trigger.words() }

// Maker says whose permissions it has.
func (a *automation) Maker() string {
	return map[string]string{string(op.User): "The member who last changed its steps", string(op.AgentActor): "The agent that last changed its steps",
		string(op.API): "The API key that last changed its steps", string(op.SystemActor): "Whoever runs this server"}[a.MakerKind]
}

func (t *trigger) words() string {
	switch {
	case t.Event != nil:
		return eventWords(*t.Event)
	case t.Cron != nil:
		words := cronWords(*t.Cron)
		if t.Timezone != nil && *t.Timezone != "UTC" {
			words += ", " + *t.Timezone
		}
		return words
	}
	return "By hand"
}

func automationView(title string, crumbs []crumb, d any) view {
	return view{Title: title, Section: "automations", Tab: "automations", Crumbs: crumbs, Data: d}
}

// automationRow is an automation as the list shows it.
type automationRow struct {
	automation
	Last *execution
}

func (v *visit) automationsPage() error {
	found, err := list[automation](v, "automations.list", nil)
	if err != nil {
		return err
	}
	refs := make([]id.ID, len(found.Rows))
	for i, a := range found.Rows {
		refs[i] = a.ID
	}
	last, err := newest(v, "automations.executions.newest", refs, func(e *execution) id.ID { return e.AutomationID })
	if err != nil {
		return err
	}
	rows := sheet[automationRow]{Earlier: found.Earlier, Later: found.Later}
	for _, a := range found.Rows {
		rows.Rows = append(rows.Rows, automationRow{a, last[a.ID]})
	}
	page := automationView("Automations", automationCrumbs(), rows)
	page.Main = mainUnless(len(rows.Rows) == 0, "Create automation", "/automations/new")
	return v.show(http.StatusOK, "automations", page)
}

func (v *visit) automation() (*automation, error) {
	ref, err := v.pathID("id")
	if err != nil {
		return nil, err
	}
	var a automation
	return &a, v.do("automations.get", fields{"id": ref}, &a)
}

// shownStep is a step as pages show it.
type shownStep struct {
	Words, Operation string
	Input            shownData
	SaveAs           string
	Error            string
}

// shownData is a piece of JSON that opens on demand.
type shownData struct{ Label, Text string }

type automationData struct {
	Automation *automation
	Steps      []shownStep
	Form       *form
	Executions sheet[execution]
	Filters    []filter
	Filtered   bool
}

func (v *visit) automationPage() error {
	a, err := v.automation()
	if err != nil {
		return err
	}
	return v.showAutomation(http.StatusOK, a, blank("input", "{}"))
}

func (v *visit) showAutomation(code int, a *automation, f *form) error {
	v.at = a.Path()
	d := automationData{Automation: a, Form: f}
	for _, s := range a.Steps {
		shown := shownStep{Words: v.operationWords(s.Operation), Operation: s.Operation, Input: shownData{"Input", pretty(string(s.Input))}}
		if s.SaveAs != nil {
			shown.SaveAs = *s.SaveAs
		}
		d.Steps = append(d.Steps, shown)
	}
	if err := v.executionSheet("automations.executions.list", fields{"id": a.ID}, &d.Executions, &d.Filters, &d.Filtered); err != nil {
		return err
	}
	page := automationView(a.Name, automationCrumbs(crumb{a.Name, ""}), d)
	page.Badge, page.Main = a.State(), &action{"Edit", a.Path() + "/edit"}
	return v.show(code, "automation", page)
}

// runAutomation leads to the execution that begins.
func (v *visit) runAutomation() error {
	a, err := v.automation()
	if err != nil {
		return err
	}
	input, issue := object(v.value("input"))
	if issue != "" {
		return v.showAutomation(http.StatusBadRequest, a, &form{Values: v.r.PostForm, Errors: map[string]string{"input": issue}})
	}
	var e execution
	if err := v.do("automations.run", fields{"id": a.ID, "input": input}, &e); err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showAutomation(status, a, f)
	}
	return v.done(e.Path(), "started")
}

// object reads a JSON object that was typed. Nothing is an empty one.
func object(text string) (value jsontext.Value, issue string) {
	if text == "" {
		text = "{}"
	}
	value = jsontext.Value(text)
	if value.IsValid() {
		if value.Kind() != '{' {
			return nil, `Must be a JSON object, like {"name": "Ada"}`
		}
		return value, ""
	}
	d := jsontext.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.ReadToken(); err != nil {
			break // at what is wrong, or behind the object
		}
	}
	before := text[:min(int(d.InputOffset()), len(text))]
	return nil, fmt.Sprintf("This is not JSON: look at line %d, after %q", strings.Count(before, "\n")+1, tail(before))
}

// tail is the end of a text, enough to find it by.
func tail(text string) string {
	r := []rune(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]))
	return string(r[max(len(r)-20, 0):])
}

func (v *visit) pauseAutomationPage() error {
	return v.askAutomation("Pause", question{Lead: "It starts no more until it is activated again. What happens meanwhile is not made up for.",
		Lost: []string{"Executions that have not begun are canceled. One that has begun goes on."}, Button: "Pause automation"})
}

func (v *visit) pauseAutomation() error { return v.setAutomation("paused", "paused") }

func (v *visit) activateAutomation() error { return v.setAutomation("active", "resumed") }

func (v *visit) setAutomation(status, done string) error {
	a, err := v.automation()
	if err != nil {
		return err
	}
	if err := v.do("automations.update", fields{"id": a.ID, "status": status}, nil); err != nil {
		return err
	}
	return v.done(a.Path(), done)
}

func (v *visit) deleteAutomationPage() error {
	return v.askAutomation("Delete", question{Lead: "The automation is gone. This cannot be undone.",
		Lost: []string{"Executions that wait are canceled. One that runs ends before its next step.", "What it did stays in the records."}, Button: "Delete automation"})
}

func (v *visit) deleteAutomation() error {
	return v.act("automations.delete", "/automations", "deleted")
}

func (v *visit) askAutomation(verb string, q question) error {
	a, err := v.automation()
	if err != nil {
		return err
	}
	q.Title, q.Section, q.Tab, q.Back = verb+" "+a.Name, "automations", "automations", a.Path()
	q.Crumbs = automationCrumbs(crumb{a.Name, a.Path()}, crumb{verb, ""})
	return v.ask(q)
}

// rehearsal is what an automation would have done for one event.
type rehearsal struct {
	EventType    *string     `json:"eventType"`
	CreatedAt    *clock.Time `json:"createdAt"`
	Runs         bool        `json:"runs"`
	ErrorMessage *string     `json:"errorMessage"`
	Steps        []struct {
		Operation    string          `json:"operation"`
		Input        *jsontext.Value `json:"input"`
		InputOmitted bool            `json:"inputOmitted"`
		ErrorMessage *string         `json:"errorMessage"`
	} `json:"steps"`
}

// rehearsedRow is a rehearsal as the page shows it.
type rehearsedRow struct {
	rehearsal
	Event string
	Shown []shownStep
	State badge
}

// testAutomationPage shows what an automation would do. It changes nothing, so
// that its address can be visited.
func (v *visit) testAutomationPage() error {
	a, err := v.automation()
	if err != nil {
		return err
	}
	d := struct {
		Automation *automation
		Form       *form
		ByEvent    bool
		Rows       []rehearsedRow
	}{Automation: a, Form: blank("input", "{}"), ByEvent: a.Trigger.Kind == "event"}
	if typed := strings.TrimSpace(v.r.URL.Query().Get("input")); typed != "" {
		d.Form.Values.Set("input", typed)
	}
	status := http.StatusOK
	input, issue := object(d.Form.Values.Get("input"))
	if issue != "" {
		status, d.Form.Errors = http.StatusBadRequest, map[string]string{"input": issue}
	} else {
		var found struct {
			Runs []rehearsal `json:"runs"`
		}
		if err := v.do("automations.test", fields{"id": a.ID, "input": input}, &found); err != nil {
			return err
		}
		for _, r := range found.Runs {
			d.Rows = append(d.Rows, v.rehearsed(r))
		}
	}
	return v.show(status, "automation-test", automationView("Test "+a.Name, automationCrumbs(crumb{a.Name, a.Path()}, crumb{"Test", ""}), d))
}

func (v *visit) rehearsed(r rehearsal) rehearsedRow {
	row := rehearsedRow{rehearsal: r, Event: "With this input", State: badge{"would not run", ""}}
	if r.EventType != nil {
		row.Event = eventWords(*r.EventType)
	}
	switch {
	case r.ErrorMessage != nil:
		row.State = badge{"cannot tell", "bad"}
	case r.Runs:
		row.State = badge{"would run", "good"}
	}
	for _, s := range r.Steps {
		shown := shownStep{Words: v.operationWords(s.Operation), Operation: s.Operation}
		if s.InputOmitted {
			shown.Input = shownData{v.operationWords(s.Operation), "The input is too large to be shown."}
		}
		if s.Input != nil {
			shown.Input = shownData{v.operationWords(s.Operation), pretty(string(*s.Input))}
		}
		if s.ErrorMessage != nil {
			shown.Error = *s.ErrorMessage
			row.State = badge{"would fail", "bad"}
		}
		row.Shown = append(row.Shown, shown)
	}
	return row
}
