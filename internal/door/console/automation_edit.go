package console

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/op"
)

// The editor of automations. Its fields are named by their place in the
// operation's input, such as steps.0.input.title, so that issues appear at them.
// Buttons that submit the form as it is add, move and remove steps and conditions,
// show them in another way, and try the whole without saving it.

// maxSteps bounds how many steps are read from a form. The operation decides
// how many are allowed.
const maxSteps = 50

type automationForm struct {
	Form   *form
	Events []optionGroup
	Choice []optionGroup
	Every  []option
	Days   []option
	CEL    bool       // the condition is shown as CEL
	Checks []checkRow // or as lists; without either, no event is chosen yet
	Steps  []stepFields
	Tried  *previewData
	Action string
	Button string
	Back   string
	Note   string
}

// Kind reports whether a trigger is chosen.
func (d automationForm) Kind(kind string) bool { return d.Form.Values.Get("trigger.kind") == kind }

// ConditionHelp says what a condition looks like.
func (d automationForm) ConditionHelp() string {
	sees := "input, like input.amount > 100"
	if d.Kind("event") {
		sees = "event and input, like event.data.lastName != null"
	}
	return "A CEL expression over " + sees + ". If left empty, it always runs."
}

// AddLabel names the choice of the next step.
func (d automationForm) AddLabel() string {
	if len(d.Steps) == 0 {
		return "First step"
	}
	return "Next step"
}

// StepsWrong says what is wrong with the steps as a whole.
func (d automationForm) StepsWrong() string {
	for name := range d.Form.Errors {
		if strings.HasPrefix(name, "steps.") {
			return "" // that step says it
		}
	}
	return d.Form.Errors["steps"]
}

// applyButton adds, removes or moves a step, or shows it in another way, as a
// button says. focus is the step to show next, or -1.
func (v *visit) applyButton(button string, steps []typedStep) (out []typedStep, focus int) {
	verb, number, _ := strings.Cut(button, ".")
	if verb == "add" {
		return v.addStep(steps)
	}
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(steps) {
		return steps, -1
	}
	var to int
	switch verb {
	case "remove":
		return slices.Delete(steps, i, i+1), -1
	case "up":
		to = max(i-1, 0)
	case "down":
		to = min(i+1, len(steps)-1)
	case "json", "form":
		steps[i].showAs(v.Door, verb == "json")
		return steps, i
	default:
		return steps, -1
	}
	steps[i], steps[to] = steps[to], steps[i]
	return steps, to
}

// addStep appends the chosen operation with an example input.
func (v *visit) addStep(steps []typedStep) ([]typedStep, int) {
	o := v.Catalog.Named(v.value("add"))
	if !isStep(o) {
		return steps, -1
	}
	event := ""
	if v.value("trigger.kind") == "event" {
		event = v.value("trigger.event")
	}
	return append(steps, typedStep{Operation: o.Name, Values: startingValues(o, event)}), len(steps)
}

// applyCondition adds or removes a condition, or shows them in another way, as a
// button says.
func (v *visit) applyCondition(f *form, button string) {
	verb, number, _ := strings.Cut(button, ".")
	switch verb {
	case "cel":
		text, _ := v.typedCondition()
		f.Values.Set("condition", text)
		f.Values.Set("condition.as", "cel")
	case "lists":
		f.Values.Del("condition.as")
		v.setCondition(f, v.value("condition"))
	case "uncheck":
		c := v.typedChecks()
		if i, err := strconv.Atoi(number); err == nil && i >= 0 && i < len(c.List) {
			c.List = slices.Delete(c.List, i, i+1)
		}
		f.setChecks(c)
	}
}

// automationInput is the form as the operation's input, with what is wrong with
// it by field.
func (v *visit) automationInput(steps []typedStep) (fields, map[string]string) {
	issues := map[string]string{}
	t := fields{"kind": v.value("trigger.kind")}
	switch t["kind"] {
	case "event":
		t["event"] = textOrNull(v.value("trigger.event"))
	case "schedule":
		cron, issue := v.typedCron()
		if issue != "" {
			issues["trigger.at"] = issue
		}
		t["cron"], t["timezone"] = textOrNull(cron), textOrNull(v.value("trigger.timezone"))
	}
	inputs := make([]fields, len(steps))
	for i, s := range steps {
		input, wrong := s.input(v.Door, stepName(i))
		maps.Copy(issues, wrong)
		inputs[i] = fields{"operation": s.Operation, "input": input}
		if s.SaveAs != "" {
			inputs[i]["saveAs"] = s.SaveAs
		}
	}
	condition, issue := v.typedCondition()
	if issue != "" {
		issues["condition"] = issue
	}
	return fields{"name": v.value("name"),
		"description": textOrNull(strings.ReplaceAll(v.value("description"), "\r\n", "\n")),
		"trigger":     t, "condition": textOrNull(condition), "steps": inputs}, issues
}

func (v *visit) showAutomationForm(status int, title string, crumbs []crumb, d automationForm, steps []typedStep,
	focus int) error {
	d.Events, d.Choice, d.Every, d.Days = v.eventTypes(), v.stepChoice(), every, daysOfWeek
	condition, data := d.Form.Values.Get("condition"), v.eventFields(d.Form.Values)
	switch {
	case condition != "" || d.Form.Values.Get("condition.as") == "cel" || !d.Kind("event"):
		d.CEL = true
	case data != nil:
		d.Checks = d.Form.checkRows(data)
	}
	for i := range steps {
		s := v.stepForm(d.Form, i, &steps[i])
		s.Values = v.inserts(d.Form.Values, steps[:i])
		if i == focus {
			s.focus()
		}
		d.Steps = append(d.Steps, s)
	}
	if n := len(d.Steps); n > 0 {
		d.Steps[n-1].Last = true
	}
	return v.show(status, "automation-edit", automationView(title, crumbs, d))
}

// inputHelp names the fields that an operation takes.
func inputHelp(o *op.Op) string {
	s := o.InputSchema()
	var must, may []string
	for _, name := range s.PropertyOrder {
		if slices.Contains(s.Required, name) {
			must = append(must, name)
		} else {
			may = append(may, name)
		}
	}
	var parts []string
	if len(must) > 0 {
		parts = append(parts, "Required: "+joinAnd(must)+".")
	}
	if len(may) > 0 {
		parts = append(parts, "Optional: "+joinAnd(may)+".")
	}
	return strings.Join(parts, " ")
}

// shownEditor shows the editor with what was typed: the steps, and which of them to
// focus on.
type shownEditor func(status int, f *form, steps []typedStep, focus int, note string, tried *previewData) error

// submitEditor handles the editor's form. It applies a button that changes the form,
// tries the automation, or saves it with the operation unless there is a problem to
// show first.
func (v *visit) submitEditor(operation string, extra fields, out any, show shownEditor) (saved bool, err error) {
	steps := v.typedSteps()
	f := &form{Values: v.r.PostForm}
	button, note := v.value("do"), ""
	if button == "" && v.value("add") != "" {
		button, note = "add", "The step is added, but nothing is saved yet. Check its input, then save."
	}
	if button != "" && button != "try" {
		steps, focus := v.applyButton(button, steps)
		f.setSteps(steps)
		v.applyCondition(f, button)
		f.Values.Del("add")
		return false, show(http.StatusOK, f, steps, focus, note, nil)
	}
	input, issues := v.automationInput(steps)
	if len(issues) > 0 {
		f.Errors = issues
		return false, show(http.StatusBadRequest, f, steps, -1, "", nil)
	}
	refuse := func(err error) error {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return show(status, f, steps, -1, "", nil)
	}
	if button == "try" {
		tried, err := v.preview(input)
		if err != nil {
			return false, refuse(err)
		}
		return false, show(http.StatusOK, f, steps, -1, "", tried)
	}
	for name, value := range extra {
		input[name] = value
	}
	if err := v.do(operation, input, out); err != nil {
		return false, refuse(err)
	}
	return true, nil
}

func (v *visit) newAutomationPage() error {
	f := blank("trigger.kind", "event", "trigger.every", "day", "trigger.at", "09:00", "trigger.timezone",
		v.session.Timezone)
	return v.showNewAutomation(http.StatusOK, f, nil, -1, "", nil)
}

func (v *visit) showNewAutomation(status int, f *form, steps []typedStep, focus int, note string,
	tried *previewData) error {
	return v.showAutomationForm(status, "Create an automation", automationCrumbs(crumb{"New", ""}),
		automationForm{Form: f, Action: "/automations/new", Button: "Create automation", Back: "/automations",
			Note: note, Tried: tried}, steps, focus)
}

func (v *visit) createAutomation() error {
	var a shownAutomation
	saved, err := v.submitEditor("automations.create", nil, &a, v.showNewAutomation)
	if !saved {
		return err
	}
	return v.done(a.Path(), "created")
}

func (v *visit) editAutomationPage() error {
	a, err := v.automation()
	if err != nil {
		return err
	}
	f := blank("name", a.Name, "trigger.kind", a.Trigger.Kind, "trigger.every", "day", "trigger.at", "09:00",
		"trigger.timezone", v.session.Timezone)
	for name, value := range map[string]*string{"description": a.Description, "trigger.event": a.Trigger.Event,
		"trigger.timezone": a.Trigger.Timezone} {
		if value != nil {
			f.Values.Set(name, *value)
		}
	}
	if a.Trigger.Cron != nil {
		f.setCron(*a.Trigger.Cron)
	}
	if a.Condition != nil {
		v.setCondition(f, *a.Condition)
	}
	steps := make([]typedStep, len(a.Steps))
	for i, s := range a.Steps {
		steps[i] = v.storedStep(s)
	}
	f.setSteps(steps)
	return v.showEditAutomation(a)(http.StatusOK, f, steps, -1, "", nil)
}

func (v *visit) showEditAutomation(a *shownAutomation) shownEditor {
	return func(status int, f *form, steps []typedStep, focus int, note string, tried *previewData) error {
		return v.showAutomationForm(status, "Edit "+a.Name, automationCrumbs(crumb{a.Name, a.Path()},
			crumb{"Edit", ""}),
			automationForm{Form: f, Action: a.Path() + "/edit", Button: "Save automation", Back: a.Path(),
				Note: note, Tried: tried}, steps, focus)
	}
}

func (v *visit) editAutomation() error {
	a, err := v.automation()
	if err != nil {
		return err
	}
	saved, err := v.submitEditor("automations.update", fields{"id": a.ID}, nil, v.showEditAutomation(a))
	if !saved {
		return err
	}
	return v.done(a.Path(), "saved")
}
