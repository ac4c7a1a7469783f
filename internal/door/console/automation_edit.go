package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/op"
)

// The editor of automations. Its fields have the names that the operation
// gives to their places, such as steps.0.input, so that issues find them.
// Steps are added, moved and removed by buttons that send the form as it is.

// maxSteps bounds what a form is read for; how many are allowed, the operation
// says.
const maxSteps = 50

// typedStep is a step as it stands in the form.
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

// StepsWrong is what is wrong with the steps as a whole.
func (d automationForm) StepsWrong() string {
	for name := range d.Form.Errors {
		if strings.HasPrefix(name, "steps.") {
			return "" // it is said there
		}
	}
	return d.Form.Errors["steps"]
}

func at(i int) string { return "steps." + strconv.Itoa(i) }

// typedSteps reads the steps of the form.
func (v *visit) typedSteps() (steps []typedStep) {
	for i := range maxSteps {
		name := v.value(at(i) + ".operation")
		if name == "" {
			break
		}
		steps = append(steps, typedStep{name, v.value(at(i) + ".input"), v.value(at(i) + ".saveAs")})
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
		f.Values.Set(at(i)+".operation", s.Operation)
		f.Values.Set(at(i)+".input", s.Input)
		f.Values.Set(at(i)+".saveAs", s.SaveAs)
	}
}

// rearranged does what a button about the steps asks for. focus is the step
// that it leaves the visitor at, or none.
func (v *visit) rearranged(button string, steps []typedStep) (out []typedStep, focus int) {
	verb, number, _ := strings.Cut(button, ".")
	if verb == "add" {
		return v.added(steps)
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

// added appends the operation that was chosen, with an input to begin with.
func (v *visit) added(steps []typedStep) ([]typedStep, int) {
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

// automationInput is the form as the operation takes it, or what is wrong with
// it.
func (v *visit) automationInput(steps []typedStep) (fields, map[string]string) {
	issues := map[string]string{}
	t := fields{"kind": v.value("trigger.kind")}
	switch t["kind"] {
	case "event":
		t["event"] = given(v.value("trigger.event"))
	case "schedule":
		t["cron"], t["timezone"] = given(v.value("trigger.cron")), given(v.value("trigger.timezone"))
	}
	list := make([]fields, len(steps))
	for i, s := range steps {
		input, issue := object(s.Input)
		if issue != "" {
			issues[at(i)+".input"] = issue
		}
		list[i] = fields{"operation": s.Operation, "input": input}
		if s.SaveAs != "" {
			list[i]["saveAs"] = s.SaveAs
		}
	}
	lines := strings.NewReplacer("\r\n", "\n")
	return fields{"name": v.value("name"), "description": given(lines.Replace(v.value("description"))), "trigger": t,
		"condition": given(lines.Replace(v.value("condition"))), "steps": list}, issues
}

func (v *visit) showAutomationForm(status int, title string, crumbs []crumb, d automationForm, focus int) error {
	d.Events, d.Choice = v.eventTypes(), v.stepChoice()
	for i := range maxSteps {
		name := d.Form.Values.Get(at(i) + ".operation")
		if name == "" {
			break
		}
		s := stepFields{Index: i, Number: i + 1, At: at(i), Words: v.operationWords(name), Operation: name, Error: d.Form.Errors[at(i)+".operation"], First: i == 0,
			Input:  d.Form.Text(at(i)+".input", "Input", "code", "", "chosen"),
			SaveAs: d.Form.Field(at(i)+".saveAs", "Save the result as", "text", "A name by which later steps find it: {{ name.id }}.", "off", "optional")}
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
		parts = append(parts, "Needs "+sentence(must)+".")
	}
	if len(may) > 0 {
		parts = append(parts, "May have "+sentence(may)+".")
	}
	return strings.Join(parts, " ")
}

// edited takes a form of the editor: it does what its button asks for, and
// saves with the operation unless there is something to show first.
func (v *visit) edited(operation string, extra fields, out any, show func(status int, f *form, note string, focus int) error) (saved bool, err error) {
	steps := v.typedSteps()
	f := &form{Values: v.r.PostForm}
	button, note := v.value("do"), ""
	if button == "" && v.value("add") != "" {
		button, note = "add", "The step is added and nothing is saved yet. Look at its input, then save."
	}
	if button != "" {
		steps, focus := v.rearranged(button, steps)
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
	return v.showNewAutomation(http.StatusOK, blank("trigger.kind", "event", "trigger.timezone", v.session.Timezone), "", -1)
}

func (v *visit) showNewAutomation(status int, f *form, note string, focus int) error {
	return v.showAutomationForm(status, "Create an automation", automationCrumbs(crumb{"New", ""}),
		automationForm{Form: f, Action: "/automations/new", Button: "Create automation", Back: "/automations", Note: note}, focus)
}

func (v *visit) createAutomation() error {
	var a automation
	saved, err := v.edited("automations.create", nil, &a, v.showNewAutomation)
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
	for name, value := range map[string]*string{"description": a.Description, "condition": a.Condition, "trigger.event": a.Trigger.Event, "trigger.cron": a.Trigger.Cron, "trigger.timezone": a.Trigger.Timezone} {
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

func (v *visit) showEditAutomation(a *automation) func(status int, f *form, note string, focus int) error {
	return func(status int, f *form, note string, focus int) error {
		return v.showAutomationForm(status, "Edit "+a.Name, automationCrumbs(crumb{a.Name, a.Path()}, crumb{"Edit", ""}),
			automationForm{Form: f, Action: a.Path() + "/edit", Button: "Save automation", Back: a.Path(), Note: note}, focus)
	}
}

func (v *visit) editAutomation() error {
	a, err := v.automation()
	if err != nil {
		return err
	}
	saved, err := v.edited("automations.update", fields{"id": a.ID}, nil, v.showEditAutomation(a))
	if !saved {
		return err
	}
	return v.done(a.Path(), "saved")
}
