package automations

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/door/desk"
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
	Form   *desk.Typed
	Events []desk.OptionGroup
	Choice []desk.OptionGroup
	Every  []desk.Option
	Days   []desk.Option
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
func applyButton(v *desk.Visit, button string, steps []typedStep) (out []typedStep, focus int) {
	verb, number, _ := strings.Cut(button, ".")
	if verb == "add" {
		return addStep(v, steps)
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
		steps[i].showAs(v, verb == "json", valuesFor(v, v.R.PostForm, steps[:i]))
		return steps, i
	default:
		return steps, -1
	}
	steps[i], steps[to] = steps[to], steps[i]
	return steps, to
}

// addStep appends the chosen operation. What it makes gets a name, so that later steps can use it.
func addStep(v *desk.Visit, steps []typedStep) ([]typedStep, int) {
	o := v.Catalog.Named(v.Value("add"))
	if !isStep(o) {
		return steps, -1
	}
	added := typedStep{Operation: o.Name, Values: startingValues(v, o, valuesFor(v, v.R.PostForm, steps))}
	if strings.HasSuffix(o.Name, ".create") && !o.Secret {
		name := "new" + desk.Capital(strings.TrimSuffix(refField(o, "id"), "Id"))
		for i := 2; slices.ContainsFunc(steps, func(s typedStep) bool { return s.SaveAs == name }); i++ {
			name = strings.TrimRight(name, "0123456789") + strconv.Itoa(i)
		}
		added.SaveAs = name
	}
	return append(steps, added), len(steps)
}

// applyCondition adds or removes a condition, or shows them in another way, as a
// button says.
func applyCondition(v *desk.Visit, f *desk.Typed, button string) {
	verb, number, _ := strings.Cut(button, ".")
	switch verb {
	case "cel":
		text, _ := typedCondition(v)
		f.Values.Set("condition", text)
		f.Values.Set("condition.as", "cel")
	case "lists":
		f.Values.Del("condition.as")
		setCondition(v, f, v.Value("condition"))
	case "uncheck":
		c := typedChecks(v)
		if i, err := strconv.Atoi(number); err == nil && i >= 0 && i < len(c.List) {
			c.List = slices.Delete(c.List, i, i+1)
		}
		setChecks(f, c)
	}
}

// automationInput is the form as the operation's input, with what is wrong with
// it by field.
func automationInput(v *desk.Visit, steps []typedStep) (desk.Fields, map[string]string) {
	issues := map[string]string{}
	t := desk.Fields{"kind": v.Value("trigger.kind")}
	switch t["kind"] {
	case "event":
		t["event"] = desk.TextOrNull(v.Value("trigger.event"))
	case "schedule":
		cron, issue := typedCron(v)
		if issue != "" {
			issues["trigger.at"] = issue
		}
		t["cron"], t["timezone"] = desk.TextOrNull(cron), desk.TextOrNull(v.Value("trigger.timezone"))
	}
	inputs := make([]desk.Fields, len(steps))
	for i, s := range steps {
		input, wrong := s.input(v, stepFieldPrefix(i), valuesFor(v, v.R.PostForm, steps[:i]))
		maps.Copy(issues, wrong)
		inputs[i] = desk.Fields{"operation": s.Operation, "input": input}
		if s.SaveAs != "" {
			inputs[i]["saveAs"] = s.SaveAs
		}
	}
	condition, issue := typedCondition(v)
	if issue != "" {
		issues["condition"] = issue
	}
	return desk.Fields{"name": v.Value("name"),
		"description": desk.TextOrNull(strings.ReplaceAll(v.Value("description"), "\r\n", "\n")),
		"trigger":     t, "condition": desk.TextOrNull(condition), "steps": inputs}, issues
}

func showAutomationForm(v *desk.Visit, status int, title string, crumbs []desk.Crumb, d automationForm,
	steps []typedStep, focus int) error {
	d.Events, d.Choice, d.Every, d.Days = eventTypes(v), stepChoice(v), every, daysOfWeek
	condition, data := d.Form.Values.Get("condition"), eventFields(v, d.Form.Values)
	switch {
	case condition != "" || d.Form.Values.Get("condition.as") == "cel" || !d.Kind("event"):
		d.CEL = true
	case data != nil:
		d.Checks = checkRows(d.Form, data)
	}
	for i := range steps {
		s := stepForm(v, d.Form, i, &steps[i], valuesFor(v, d.Form.Values, steps[:i]))
		if i == focus {
			s.focus()
		}
		d.Steps = append(d.Steps, s)
	}
	if n := len(d.Steps); n > 0 {
		d.Steps[n-1].Last = true
	}
	return v.ShowView(status, "automation-edit", automationView(title, crumbs, d))
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
		parts = append(parts, "Required: "+desk.JoinAnd(must)+".")
	}
	if len(may) > 0 {
		parts = append(parts, "Optional: "+desk.JoinAnd(may)+".")
	}
	return strings.Join(parts, " ")
}

// shownEditor shows the editor with what was typed: the steps, and which of them to
// focus on.
type shownEditor func(status int, f *desk.Typed, steps []typedStep, focus int, note string, tried *previewData) error

// submitEditor handles the editor's form. It applies a button that changes the form,
// tries the automation, or saves it with the operation unless there is a problem to
// show first.
func submitEditor(v *desk.Visit, operation string, extra desk.Fields, out any, show shownEditor) (saved bool,
	err error) {
	steps := typedSteps(v)
	f := &desk.Typed{Values: v.R.PostForm}
	button, note := v.Value("do"), ""
	if button == "" && v.Value("add") != "" {
		button, note = "add", "The step is added, but nothing is saved yet. Check its input, then save."
	}
	if button != "" && button != "try" {
		steps, focus := applyButton(v, button, steps)
		setSteps(f, steps)
		applyCondition(v, f, button)
		f.Values.Del("add")
		return false, show(http.StatusOK, f, steps, focus, note, nil)
	}
	input, issues := automationInput(v, steps)
	if len(issues) > 0 {
		f.Errors = issues
		return false, show(http.StatusBadRequest, f, steps, -1, "", nil)
	}
	refuse := func(err error) error {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return show(status, f, steps, -1, "", nil)
	}
	if button == "try" {
		tried, err := previewAutomation(v, input)
		if err != nil {
			return false, refuse(err)
		}
		return false, show(http.StatusOK, f, steps, -1, "", tried)
	}
	for name, value := range extra {
		input[name] = value
	}
	if err := v.Do(operation, input, out); err != nil {
		return false, refuse(err)
	}
	return true, nil
}

// newAutomationPage offers recipes, or shows the editor with the one that was chosen.
func newAutomationPage(v *desk.Visit) error {
	slug := v.R.URL.Query().Get("recipe")
	if slug == "" {
		return v.ShowView(http.StatusOK, "recipes", automationView("Create an automation",
			automationCrumbs(desk.Crumb{Text: "New"}), recipesFor(v)))
	}
	f, steps := emptyEditor(v), []typedStep(nil)
	if slug != "none" {
		a, err := recipe(slug)
		if err != nil {
			return err
		}
		f, steps = fillEditor(v, a)
	}
	return showNewAutomation(v, http.StatusOK, f, steps, -1, "", nil)
}

func emptyEditor(v *desk.Visit) *desk.Typed {
	return desk.NewTyped("trigger.kind", "event", "trigger.every", "day", "trigger.at", "09:00", "trigger.timezone",
		v.Session.Timezone)
}

// fillEditor is the editor with an automation in it.
func fillEditor(v *desk.Visit, a *shownAutomation) (*desk.Typed, []typedStep) {
	f := emptyEditor(v)
	f.Values.Set("name", a.Name)
	f.Values.Set("trigger.kind", string(a.Trigger.Kind))
	for name, value := range map[string]*string{"description": a.Description, "trigger.event": a.Trigger.Event,
		"trigger.timezone": a.Trigger.Timezone} {
		if value != nil {
			f.Values.Set(name, *value)
		}
	}
	if a.Trigger.Cron != nil {
		setCron(f, *a.Trigger.Cron)
	}
	if a.Condition != nil {
		setCondition(v, f, *a.Condition)
	}
	steps := []typedStep{}
	for _, s := range a.Steps {
		steps = append(steps, storedStep(v, s, valuesFor(v, f.Values, steps)))
	}
	setSteps(f, steps)
	return f, steps
}

func showNewAutomation(v *desk.Visit, status int, f *desk.Typed, steps []typedStep, focus int, note string,
	tried *previewData) error {
	return showAutomationForm(v, status, "Create an automation", automationCrumbs(desk.Crumb{Text: "New"}),
		automationForm{Form: f, Action: "/automations/new", Button: "Create automation", Back: "/automations",
			Note: note, Tried: tried}, steps, focus)
}

func createAutomation(v *desk.Visit) error {
	var a shownAutomation
	saved, err := submitEditor(v, "automations.create", nil, &a,
		func(status int, f *desk.Typed, steps []typedStep, focus int, note string, tried *previewData) error {
			return showNewAutomation(v, status, f, steps, focus, note, tried)
		})
	if !saved {
		return err
	}
	return v.Done(a.Path(), "created", nil)
}

func editAutomationPage(v *desk.Visit) error {
	a, err := readAutomation(v)
	if err != nil {
		return err
	}
	f, steps := fillEditor(v, a)
	return showEditAutomation(v, a)(http.StatusOK, f, steps, -1, "", nil)
}

func showEditAutomation(v *desk.Visit, a *shownAutomation) shownEditor {
	return func(status int, f *desk.Typed, steps []typedStep, focus int, note string, tried *previewData) error {
		return showAutomationForm(v, status, "Edit "+a.Name, automationCrumbs(desk.Crumb{Text: a.Name, Href: a.Path()},
			desk.Crumb{Text: "Edit"}),
			automationForm{Form: f, Action: a.Path() + "/edit", Button: "Save automation", Back: a.Path(),
				Note: note, Tried: tried}, steps, focus)
	}
}

func editAutomation(v *desk.Visit) error {
	a, err := readAutomation(v)
	if err != nil {
		return err
	}
	saved, err := submitEditor(v, "automations.update", desk.Fields{"id": a.ID}, nil, showEditAutomation(v, a))
	if !saved {
		return err
	}
	return v.Done(a.Path(), "saved", nil)
}
