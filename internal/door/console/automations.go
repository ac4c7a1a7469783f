package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"

	"github.com/go-json-experiment/json/jsontext"
)

// shownAutomation is an automation with the words that pages show.
type shownAutomation automation.Automation

func automationCrumbs(more ...crumb) []crumb {
	return append([]crumb{{"Automations", "/automations"}}, more...)
}

// Path is its page.
func (a *shownAutomation) Path() string { return "/automations/" + url.PathEscape(string(a.ID)) }

// State is its status as a coloured word.
func (a *shownAutomation) State() badge {
	if a.Status == "active" {
		return badge{string(a.Status), "good"}
	}
	return badge{string(a.Status), "warn"}
}

// Starts says what starts it.
func (a *shownAutomation) Starts() string { return triggerWords(&a.Trigger) }

// MakerWords says whose permissions it has.
func (a *shownAutomation) MakerWords() string {
	return map[string]string{string(op.UserActor): "The member who last changed its steps",
		string(op.AgentActor):  "The agent that last changed its steps",
		string(op.APIActor):    "The API key that last changed its steps",
		string(op.SystemActor): "Whoever runs this server"}[a.MakerKind]
}

func triggerWords(t *automation.Trigger) string {
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
	shownAutomation
	Last *shownExecution
}

func (v *visit) automationsPage() error {
	found, err := listPage[shownAutomation](v, "automations.list", nil)
	if err != nil {
		return err
	}
	refs := make([]id.ID, len(found.Rows))
	for i, a := range found.Rows {
		refs[i] = a.ID
	}
	last, err := newestByID(v, "automations.executions.newest", refs,
		func(e *shownExecution) id.ID { return e.AutomationID })
	if err != nil {
		return err
	}
	rows := sheet[automationRow]{Earlier: found.Earlier, Later: found.Later}
	for _, a := range found.Rows {
		rows.Rows = append(rows.Rows, automationRow{a, last[a.ID]})
	}
	page := automationView("Automations", automationCrumbs(), rows)
	page.Main = mainUnless(len(rows.Rows) == 0 || !v.may("automations.create"),
		"Create automation", "/automations/new")
	return v.show(http.StatusOK, "automations", page)
}

func (v *visit) automation() (*shownAutomation, error) {
	ref, err := v.pathID("id")
	if err != nil {
		return nil, err
	}
	var a shownAutomation
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
	Automation *shownAutomation
	Steps      []shownStep
	Form       *form
	Executions sheet[shownExecution]
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

func (v *visit) showAutomation(code int, a *shownAutomation, f *form) error {
	v.at = a.Path()
	d := automationData{Automation: a, Form: f}
	for _, s := range a.Steps {
		shown := shownStep{Words: v.operationWords(s.Operation), Operation: s.Operation,
			Input: shownData{"Input", pretty(string(s.Input))}}
		if s.SaveAs != nil {
			shown.SaveAs = *s.SaveAs
		}
		d.Steps = append(d.Steps, shown)
	}
	if err := v.executionSheet("automations.executions.list", fields{"id": a.ID}, &d.Executions, &d.Filters,
		&d.Filtered); err != nil {
		return err
	}
	page := automationView(a.Name, automationCrumbs(crumb{a.Name, ""}), d)
	page.Badge = a.State()
	if v.may("automations.update") {
		page.Main = &action{Text: "Edit", Href: a.Path() + "/edit"}
	}
	return v.show(code, "automation", page)
}

// runAutomation redirects to the execution that it starts.
func (v *visit) runAutomation() error {
	a, err := v.automation()
	if err != nil {
		return err
	}
	input, issue := parseObject(v.value("input"))
	if issue != "" {
		return v.showAutomation(http.StatusBadRequest, a,
			&form{Values: v.r.PostForm, Errors: map[string]string{"input": issue}})
	}
	var e shownExecution
	if err := v.do("automations.run", fields{"id": a.ID, "input": input}, &e); err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showAutomation(status, a, f)
	}
	return v.done(e.Path(), "started")
}

// parseObject reads a typed JSON object. No text at all is an empty one.
func parseObject(text string) (value jsontext.Value, issue string) {
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
			break // at the mistake, or after the object
		}
	}
	before := text[:min(int(d.InputOffset()), len(text))]
	return nil, fmt.Sprintf("This is not JSON: look at line %d, after %q", strings.Count(before, "\n")+1, tail(before))
}

// tail is the end of a text's last line, enough to find the place.
func tail(text string) string {
	r := []rune(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]))
	return string(r[max(len(r)-20, 0):])
}

func (v *visit) pauseAutomationPage() error {
	return v.askAutomation("Pause",
		question{Lead: "It does not start until you activate it again, and does not catch up on what it missed.",
			Lost:   []string{"Executions that have not begun are canceled. One that has begun continues."},
			Button: "Pause automation"})
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
	return v.askAutomation("Delete", question{Lead: "This deletes the automation. It cannot be undone.",
		Lost: []string{"Waiting executions are canceled. A running one stops before its next step.",
			"What it did stays in the records."}, Button: "Delete automation"})
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

// rehearsedRow is what an automation would have done for one event, as the page
// shows it.
type rehearsedRow struct {
	automation.RehearsedRun
	Event string
	Shown []shownStep
	State badge
}

func (v *visit) rehearsed(r automation.RehearsedRun) rehearsedRow {
	row := rehearsedRow{RehearsedRun: r, Event: "On schedule", State: badge{"would not run", ""}}
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
			shown.Input = shownData{v.operationWords(s.Operation), "The input is too large to show."}
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
