package automations

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// shownAutomation is an automation with the words that pages show.
type shownAutomation automation.Automation

func automationCrumbs(more ...desk.Crumb) []desk.Crumb {
	return append([]desk.Crumb{{Text: "Automations", Href: "/automations"}}, more...)
}

// Path is its page.
func (a *shownAutomation) Path() string { return "/automations/" + url.PathEscape(string(a.ID)) }

// State is its status as a coloured word.
func (a *shownAutomation) State() desk.Pill {
	if a.Status == "active" {
		return desk.Pill{Text: string(a.Status), Tone: "good"}
	}
	return desk.Pill{Text: string(a.Status), Tone: "warn"}
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
		return desk.EventWords(*t.Event)
	case t.Cron != nil:
		words := cronWords(*t.Cron)
		if t.Timezone != nil && *t.Timezone != "UTC" {
			words += ", " + *t.Timezone
		}
		return words
	}
	return "By hand"
}

func automationView(title string, crumbs []desk.Crumb, d any) desk.View {
	return desk.View{Title: title, Section: "automations", Tab: "automations", Crumbs: crumbs, Data: d}
}

// automationRow is an automation as the list shows it.
type automationRow struct {
	shownAutomation
	Last *shownExecution
}

func automationsPage(v *desk.Visit) error {
	found, err := desk.ListSheet[shownAutomation](v, "automations.list", nil)
	if err != nil {
		return err
	}
	refs := make([]id.ID, len(found.Rows))
	for i, a := range found.Rows {
		refs[i] = a.ID
	}
	last, err := desk.NewestByID(v, "automations.executions.newest", refs,
		func(e *shownExecution) id.ID { return e.AutomationID })
	if err != nil {
		return err
	}
	rows := desk.Sheet[automationRow]{Earlier: found.Earlier, Later: found.Later}
	for _, a := range found.Rows {
		rows.Rows = append(rows.Rows, automationRow{a, last[a.ID]})
	}
	page := automationView("Automations", automationCrumbs(), rows)
	page.Main = desk.MainUnless(len(rows.Rows) == 0 || !v.May("automations.create"),
		"Create automation", "/automations/new")
	return v.ShowView(http.StatusOK, "automations", page)
}

func readAutomation(v *desk.Visit) (*shownAutomation, error) {
	ref, err := v.PathID("id")
	if err != nil {
		return nil, err
	}
	var a shownAutomation
	return &a, v.Do("automations.get", desk.Fields{"id": ref}, &a)
}

// shownStep is a step as pages show it.
type shownStep struct {
	Words string
	Facts []fact     // its input in words
	Input *desk.Data // or as JSON, where a form cannot say it
	Error string
}

// fact is a field and what it has.
type fact struct{ Word, Text string }

// describe says what a step gets. values are those that its texts may name.
func (s *shownStep) describe(v *desk.Visit, operation string, input []byte, values spokenValues) {
	texts, ok := formValues(v, operation, input, values)
	if !ok {
		s.Input = &desk.Data{Label: "Input", Text: desk.IndentJSON(string(input))}
		return
	}
	schema := v.Catalog.Named(operation).InputSchema()
	for _, name := range schema.PropertyOrder {
		if text := texts[name]; text != "" {
			word, _ := fieldWords(name, schema.Properties[name])
			s.Facts = append(s.Facts, fact{word, saidChoice(schema.Properties[name], text)})
		}
	}
}

// saidChoice is the word for a value of an enum, or of yes and no.
func saidChoice(s *jsonschema.Schema, text string) string {
	switch {
	case schemaKind(s) == "boolean":
		return map[string]string{"true": "Yes", "false": "No"}[text]
	case len(s.Enum) > 0:
		return desk.Capital(strings.ReplaceAll(text, "_", " "))
	}
	return text
}

type automationData struct {
	Automation *shownAutomation
	Condition  string // in words
	Steps      []shownStep
	Form       *desk.Typed
	Happened   []desk.Option // events that it can be run for
	Executions desk.Sheet[shownExecution]
	Filters    []desk.StatusLink
	Filtered   bool
}

func automationPage(v *desk.Visit) error {
	a, err := readAutomation(v)
	if err != nil {
		return err
	}
	return showAutomation(v, http.StatusOK, a, desk.NewTyped("input", "{}"))
}

func showAutomation(v *desk.Visit, code int, a *shownAutomation, f *desk.Typed) error {
	v.PagePath = a.Path()
	d := automationData{Automation: a, Form: f}
	editor, steps := fillEditor(v, a)
	d.Condition = conditionWords(v, editor.Values, a.Condition)
	for i, s := range a.Steps {
		shown := shownStep{Words: v.OperationWords(s.Operation)}
		shown.describe(v, s.Operation, s.Input, valuesFor(v, editor.Values, steps[:i]))
		d.Steps = append(d.Steps, shown)
	}
	var err error
	if d.Happened, err = happenedLately(v, a.Trigger.Event); err != nil {
		return err
	}
	if err := listExecutions(v, "automations.executions.list", desk.Fields{"id": a.ID}, &d.Executions, &d.Filters,
		&d.Filtered); err != nil {
		return err
	}
	page := automationView(a.Name, automationCrumbs(desk.Crumb{Text: a.Name}), d)
	page.Badge = a.State()
	if v.May("automations.update") {
		page.Main = &desk.Button{Text: "Edit", Href: a.Path() + "/edit"}
	}
	return v.ShowView(code, "automation", page)
}

// runAutomation redirects to the execution that it starts.
func runAutomation(v *desk.Visit) error {
	a, err := readAutomation(v)
	if err != nil {
		return err
	}
	input, issue := parseObject(v.Value("input"))
	if issue != "" {
		return showAutomation(v, http.StatusBadRequest, a,
			&desk.Typed{Values: v.R.PostForm, Errors: map[string]string{"input": issue}})
	}
	var e shownExecution
	asked := desk.Fields{"id": a.ID, "input": input}
	if text := v.Value("eventId"); text != "" {
		asked["eventId"] = text
	}
	if err := v.Do("automations.run", asked, &e); err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return showAutomation(v, status, a, f)
	}
	return v.Done(e.Path(), "started", nil)
}

// happenedLately are the newest events of a type, to run an automation for one of them.
func happenedLately(v *desk.Visit, eventType *string) (out []desk.Option, err error) {
	if eventType == nil || !v.May("events.list") || !v.May("automations.run") {
		return nil, nil
	}
	rows, _, err := desk.List[struct {
		ID        id.ID                     `json:"id"`
		CreatedAt clock.Time                `json:"createdAt"`
		Data      map[string]jsontext.Value `json:"data"`
	}](v, "events.list", desk.Fields{"type": *eventType, "limit": 10})
	for _, row := range rows {
		words := []string{v.When(row.CreatedAt).Exact}
		for _, field := range []string{"name", "title", "subject", "invoiceNumber", "firstName", "lastName"} {
			var text string
			if json.Unmarshal(row.Data[field], &text) == nil && text != "" {
				words = append(words, text)
			}
		}
		out = append(out, desk.Option{Value: string(row.ID), Text: strings.Join(words, " ")})
	}
	return out, err
}

// TakesInput reports whether running it by hand needs to be told something.
func (d automationData) TakesInput() bool {
	uses := d.Automation.Condition != nil && strings.Contains(*d.Automation.Condition, "input.")
	for _, s := range d.Automation.Steps {
		automation.EachPlaceholder(s.Input, func(_ []any, root string) { uses = uses || root == "input" })
	}
	return uses && d.Automation.Trigger.Kind != "schedule"
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

func pauseAutomationPage(v *desk.Visit) error {
	return askAutomation(v, "Pause",
		desk.Question{Lead: "It does not start until you activate it again, and does not catch up on what it missed.",
			Lost:   []string{"Runs that have not begun are canceled. One that has begun continues."},
			Button: "Pause automation"})
}

func pauseAutomation(v *desk.Visit) error { return setAutomation(v, "paused", "paused") }

func activateAutomation(v *desk.Visit) error { return setAutomation(v, "active", "resumed") }

func setAutomation(v *desk.Visit, status, done string) error {
	a, err := readAutomation(v)
	if err != nil {
		return err
	}
	if err := v.Do("automations.update", desk.Fields{"id": a.ID, "status": status}, nil); err != nil {
		return err
	}
	return v.Done(a.Path(), done, nil)
}

func deleteAutomationPage(v *desk.Visit) error {
	return askAutomation(v, "Delete", desk.Question{Lead: "This deletes the automation. It cannot be undone.",
		Lost: []string{"Waiting runs are canceled. A running one stops before its next step.",
			"What it did stays in the records."}, Button: "Delete automation"})
}

func deleteAutomation(v *desk.Visit) error {
	return v.DoWithID("automations.delete", "/automations", "deleted")
}

func askAutomation(v *desk.Visit, verb string, q desk.Question) error {
	a, err := readAutomation(v)
	if err != nil {
		return err
	}
	q.Title, q.Section, q.Tab, q.Back = verb+" "+a.Name, "automations", "automations", a.Path()
	q.Crumbs = automationCrumbs(desk.Crumb{Text: a.Name, Href: a.Path()}, desk.Crumb{Text: verb})
	return v.Ask(q)
}

// rehearsedRow is what an automation would have done for one event, as the page
// shows it.
type rehearsedRow struct {
	automation.RehearsedRun
	Event string
	Shown []shownStep
	State desk.Pill
}

func newRehearsedRow(v *desk.Visit, r automation.RehearsedRun) rehearsedRow {
	row := rehearsedRow{RehearsedRun: r, Event: "On schedule", State: desk.Pill{Text: "would not run"}}
	if r.EventType != nil {
		row.Event = desk.EventWords(*r.EventType)
	}
	switch {
	case r.ErrorMessage != nil:
		row.State = desk.Pill{Text: "cannot tell", Tone: "bad"}
	case r.Runs:
		row.State = desk.Pill{Text: "would run", Tone: "good"}
	}
	for _, s := range r.Steps {
		shown := shownStep{Words: v.OperationWords(s.Operation)}
		if s.InputOmitted {
			shown.Facts = []fact{{"Input", "Too large to show"}}
		}
		if s.Input != nil {
			shown.describe(v, s.Operation, *s.Input, nil)
		}
		if s.ErrorMessage != nil {
			shown.Error = *s.ErrorMessage
			row.State = desk.Pill{Text: "would fail", Tone: "bad"}
		}
		row.Shown = append(row.Shown, shown)
	}
	return row
}
