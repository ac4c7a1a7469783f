package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/op"
)

// The editor of automations. Its fields are named by their place in the
// operation's input, such as steps.0.input, so that issues appear at them.
// Buttons that submit the form as it is add, move and remove steps.

// maxSteps bounds how many steps are read from a form. The operation decides
// how many are allowed.
const maxSteps = 50

// typedStep is a step as typed into the form.
type typedStep struct {
	Operation, Input, SaveAs string
}

// stepFields is a step as the editor shows it.
type stepFields struct {
	Index, Number    int
	At               string // steps.0
	Words, Operation string
	Error            string
	Input, SaveAs    field
	First, Last      bool
}

type automationForm struct {
	Form   *form
	Events []optionGroup
	Choice []optionGroup
	Steps  []stepFields
	Action string
	Button string
	Back   string
	Note   string
}

// Kind reports whether a trigger is chosen.
func (d automationForm) Kind(kind string) bool { return d.Form.Values.Get("trigger.kind") == kind }

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

func stepName(i int) string { return "steps." + strconv.Itoa(i) }

// typedSteps reads the steps of the form.
func (v *visit) typedSteps() (steps []typedStep) {
	for i := range maxSteps {
		name := v.value(stepName(i) + ".operation")
		if name == "" {
			break
		}
		steps = append(steps, typedStep{name, v.value(stepName(i) + ".input"), v.value(stepName(i) + ".saveAs")})
	}
	return steps
}

// setSteps writes steps into a form.
func (f *form) setSteps(steps []typedStep) {
	for name := range f.Values {
		if strings.HasPrefix(name, "steps.") {
			f.Values.Del(name)
		}
	}
	for i, s := range steps {
		f.Values.Set(stepName(i)+".operation", s.Operation)
		f.Values.Set(stepName(i)+".input", s.Input)
		f.Values.Set(stepName(i)+".saveAs", s.SaveAs)
	}
}

// applyButton adds, removes or moves a step, as a button says. focus is the
// step to show next, or -1.
func (v *visit) applyButton(button string, steps []typedStep) (out []typedStep, focus int) {
	verb, number, _ := strings.Cut(button, ".")
	if verb == "add" {
		return v.addStep(steps)
	}
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(steps) {
		return steps, -1
	}
	to := i
	switch verb {
	case "remove":
		return slices.Delete(steps, i, i+1), -1
	case "up":
		to = max(i-1, 0)
	case "down":
		to = min(i+1, len(steps)-1)
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
	return append(steps, typedStep{Operation: o.Name, Input: example(o, event)}), len(steps)
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
		t["cron"], t["timezone"] = textOrNull(v.value("trigger.cron")), textOrNull(v.value("trigger.timezone"))
	}
	inputs := make([]fields, len(steps))
	for i, s := range steps {
		input, issue := parseObject(s.Input)
		if issue != "" {
			issues[stepName(i)+".input"] = issue
		}
		inputs[i] = fields{"operation": s.Operation, "input": input}
		if s.SaveAs != "" {
			inputs[i]["saveAs"] = s.SaveAs
		}
	}
	lines := strings.NewReplacer("\r\n", "\n")
	return fields{"name": v.value("name"), "description": textOrNull(lines.Replace(v.value("description"))),
		"trigger":   t,
		"condition": textOrNull(lines.Replace(v.value("condition"))), "steps": inputs}, issues
}

func (v *visit) showAutomationForm(status int, title string, crumbs []crumb, d automationForm, focus int) error {
	d.Events, d.Choice = v.eventTypes(), v.stepChoice()
	for i := range maxSteps {
		name := d.Form.Values.Get(stepName(i) + ".operation")
		if name == "" {
			break
		}
		s := stepFields{Index: i, Number: i + 1, At: stepName(i), Words: v.operationWords(name), Operation: name,
			Error: d.Form.Errors[stepName(i)+".operation"], First: i == 0,
			Input: d.Form.Text(stepName(i)+".input", "Input", "code", "", "chosen"),
			SaveAs: d.Form.Field(stepName(i)+".saveAs", "Save the result as", "text",
				"Later steps refer to it by this name: {{ name.id }}.", "off", "optional")}
		if o := v.Catalog.Named(name); o != nil {
			s.Input.Help = inputHelp(o)
		}
		s.Input.Focus = s.Input.Focus || i == focus
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

// submitEditor handles the editor's form. It applies a step button, or saves
// with the operation unless there is a problem to show first.
func (v *visit) submitEditor(operation string, extra fields, out any,
	show func(status int, f *form, note string, focus int) error) (saved bool, err error) {
	steps := v.typedSteps()
	f := &form{Values: v.r.PostForm}
	button, note := v.value("do"), ""
	if button == "" && v.value("add") != "" {
		button, note = "add", "The step is added, but nothing is saved yet. Check its input, then save."
	}
	if button != "" {
		steps, focus := v.applyButton(button, steps)
		f.setSteps(steps)
		f.Values.Del("add")
		return false, show(http.StatusOK, f, note, focus)
	}
	input, issues := v.automationInput(steps)
	if len(issues) > 0 {
		f.Errors = issues
		return false, show(http.StatusBadRequest, f, "", -1)
	}
	for name, value := range extra {
		input[name] = value
	}
	if err := v.do(operation, input, out); err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return false, err
		}
		return false, show(status, f, "", -1)
	}
	return true, nil
}

func (v *visit) newAutomationPage() error {
	return v.showNewAutomation(http.StatusOK, blank("trigger.kind", "event", "trigger.timezone", v.session.Timezone),
		"",
		-1)
}

func (v *visit) showNewAutomation(status int, f *form, note string, focus int) error {
	return v.showAutomationForm(status, "Create an automation", automationCrumbs(crumb{"New", ""}),
		automationForm{Form: f, Action: "/automations/new", Button: "Create automation", Back: "/automations",
			Note: note}, focus)
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
	f := blank("name", a.Name, "trigger.kind", a.Trigger.Kind, "trigger.timezone", v.session.Timezone)
	for name, value := range map[string]*string{"description": a.Description, "condition": a.Condition,
		"trigger.event": a.Trigger.Event, "trigger.cron": a.Trigger.Cron, "trigger.timezone": a.Trigger.Timezone} {
		if value != nil {
			f.Values.Set(name, *value)
		}
	}
	steps := make([]typedStep, len(a.Steps))
	for i, s := range a.Steps {
		steps[i] = typedStep{Operation: s.Operation, Input: pretty(string(s.Input))}
		if s.SaveAs != nil {
			steps[i].SaveAs = *s.SaveAs
		}
	}
	f.setSteps(steps)
	return v.showEditAutomation(a)(http.StatusOK, f, "", -1)
}

func (v *visit) showEditAutomation(a *shownAutomation) func(status int, f *form, note string, focus int) error {
	return func(status int, f *form, note string, focus int) error {
		return v.showAutomationForm(status, "Edit "+a.Name, automationCrumbs(crumb{a.Name, a.Path()},
			crumb{"Edit", ""}),
			automationForm{Form: f, Action: a.Path() + "/edit", Button: "Save automation", Back: a.Path(),
				Note: note}, focus)
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
