package automation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/placeholder"

	"github.com/go-json-experiment/json/jsontext"
)

// Step is one call of an operation.
type Step struct {
	Operation string         `json:"operation" format:"operation" min:"1" doc:"one that agents have, like tasks.create"`
	Input     jsontext.Value `json:"input" optional:"yes" kinds:"object" doc:"with path fields and {{ placeholders }}"`
	SaveAs    *string        `json:"saveAs" pattern:"^[A-Za-z_][A-Za-z0-9_]{0,62}$" doc:"names answer for later steps"`
}

// The bounds of an input: as written, and with its values filled in.
const (
	maxInput    = 64 << 10
	maxRendered = 1 << 20
)

// The names that placeholders can always begin with; event only if the trigger is
// an event.
const (
	eventName = "event"
	inputName = "input"
)

// containsPlaceholder reports whether a text has a placeholder, so that its value is known
// only when the step runs.
func containsPlaceholder(s string) bool { return strings.Contains(s, "{{") }

// NormalizeSteps writes inputs in one format, so that an unchanged step is
// recognized: PostgreSQL reformats stored JSON.
func NormalizeSteps(steps []Step) ([]Step, error) {
	out := slices.Clone(steps)
	for i := range out {
		if len(out[i].Input) == 0 {
			out[i].Input = jsontext.Value("{}")
			continue
		}
		text := out[i].Input.Clone()
		if err := text.Format(jsontext.ReorderRawObjects(true), jsontext.SpaceAfterColon(false),
			jsontext.SpaceAfterComma(false), jsontext.Multiline(false)); err != nil {
			return nil, err
		}
		out[i].Input = text
	}
	return out, nil
}

// checkSteps says what is wrong with steps, as far as that is known before
// there are values.
func (s *Service) checkSteps(trigger *Trigger, steps []Step) (tree *fault.Tree) {
	known := []string{inputName}
	if trigger.Kind == onEvent {
		known = append(known, eventName)
	}
	return CheckSteps(s.catalog, steps, known, "automations", Callable)
}

// CheckSteps says what is wrong with steps, as issues below "steps". known are the
// names that placeholders may begin with beside those of earlier steps, callable
// tells which operations a step may call, and what says what the steps belong to:
// automations or proposals.
func CheckSteps(catalog Catalog, steps []Step, known []string, what string, callable func(*op.Op) bool) (
	tree *fault.Tree) {
	for i := range steps {
		tree = tree.SetItem(i, checkStep(catalog, &steps[i], known, what, callable))
		if name := steps[i].SaveAs; name != nil {
			if *name == eventName || *name == inputName || slices.Contains(known, *name) {
				tree = tree.At([]any{i, "saveAs"}, "The name is already in use; choose another")
			}
			known = append(known, *name)
		}
	}
	return (*fault.Tree)(nil).SetField("steps", tree.PadItems(len(steps)))
}

// Callable tells whether a step may call an operation: only if an agent could, too.
func Callable(o *op.Op) bool {
	return o.Doors&op.AgentDoor != 0 && o.Doors&op.AutomationDoor != 0 && !o.TakesStream()
}

// noOperationIssue says that a step cannot call an operation, and suggests names that are
// close.
func noOperationIssue(catalog Catalog, name, what string, callable func(*op.Op) bool) string {
	if o := catalog.Named(name); o != nil && o.IsPreview() && Callable(o) {
		return name + " only works out what you write and changes nothing; call it by itself, outside of " + what
	}
	var names []string
	for _, o := range catalog.All() {
		if callable(o) {
			names = append(names, o.Name)
		}
	}
	return "There is no operation " + strconv.Quote(name) + " for " + what + "; " + op.DidYouMean(name, names,
		"use one that an agent could call, like tasks.create")
}

// checkStep checks one step: its operation, the input against the operation's schema
// as far as it has no placeholders, and the names in its placeholders.
func checkStep(catalog Catalog, step *Step, known []string, what string, callable func(*op.Op) bool) (
	tree *fault.Tree) {
	if len(step.Input) > maxInput {
		return tree.At([]any{"input"}, fmt.Sprintf("Too long: expected at most %d bytes", maxInput))
	}
	o := catalog.Named(step.Operation)
	if o == nil || !callable(o) {
		return tree.At([]any{"operation"}, noOperationIssue(catalog, step.Operation, what, callable))
	}
	if o.Secret && step.SaveAs != nil {
		tree = tree.At([]any{"saveAs"}, "The answer of this operation shows a secret once and is not kept")
	}
	if len(known) == 0 { // there is nothing that a placeholder could name, so {{ is ordinary text
		return tree.SetField("input", o.Check(step.Input, func(string) bool { return false }))
	}
	tree = tree.SetField("input", o.Check(step.Input, containsPlaceholder))
	value, err := DecodeJSON(step.Input)
	if err != nil {
		return tree.At([]any{"input"}, "Must be an object")
	}
	visitTexts(value, []any{"input"}, func(path []any, text string) {
		t, err := placeholder.Parse(text)
		var e *placeholder.ParseError
		if errors.As(err, &e) {
			tree = tree.At(path, e.Error())
			return
		}
		for _, name := range t.Variables() {
			root, _, _ := strings.Cut(name, ".")
			if !slices.Contains(known, root) {
				tree = tree.At(path, unknownNameIssue(root, known))
			}
		}
	})
	return tree
}

func unknownNameIssue(root string, known []string) string {
	if root == eventName {
		return "event exists only when the trigger is an event"
	}
	return fmt.Sprintf("%s is not known here; there are %s", strconv.Quote(root), strings.Join(known, ", "))
}

// permitSteps refuses steps that the caller may not take.
func (s *Service) permitSteps(c *op.Caller, steps []Step) error {
	for i := range steps {
		err := s.catalog.Named(steps[i].Operation).PermitInput(c, op.AutomationDoor, steps[i].Input)
		var f *fault.Fault
		if errors.As(err, &f) {
			named := *f
			named.Text = fmt.Sprintf("steps[%d]: %s", i, f.Sentence())
			return &named
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// DecodeJSON parses JSON and keeps its numbers as written.
func DecodeJSON(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// visitTexts calls fn for every text inside a JSON value, with its path.
func visitTexts(v any, path []any, fn func(path []any, text string)) {
	switch v := v.(type) {
	case string:
		fn(slices.Clone(path), v)
	case map[string]any:
		for k, e := range v {
			visitTexts(e, append(path, k), fn)
		}
	case []any:
		for i, e := range v {
			visitTexts(e, append(path, i), fn)
		}
	}
}

// renderer fills values into an input, up to a bound on all of them together.
type renderer struct {
	values    placeholder.Lookup
	bytesLeft int
}

// RenderInput builds the input of a step from the values that its placeholders name.
// The error is meant for people.
func RenderInput(input []byte, values map[string]any) ([]byte, error) {
	return renderInput(input, placeholder.LookupIn(values))
}

// EachPlaceholder calls fn for every placeholder of an input, with the path of its
// text and the name that it begins with.
func EachPlaceholder(input []byte, fn func(path []any, root string)) {
	value, err := DecodeJSON(input)
	if err != nil {
		return
	}
	visitTexts(value, nil, func(path []any, text string) {
		t, err := placeholder.Parse(text)
		if err != nil {
			return
		}
		for _, name := range t.Variables() {
			root, _, _ := strings.Cut(name, ".")
			fn(path, root)
		}
	})
}

// EachText calls fn for every text in an input.
func EachText(input []byte, fn func(text string)) {
	if value, err := DecodeJSON(input); err == nil {
		visitTexts(value, nil, func(_ []any, text string) { fn(text) })
	}
}

// HasPlaceholder reports whether an input depends on earlier steps.
func HasPlaceholder(input []byte) bool { return containsPlaceholder(string(input)) }

// renderInput builds the input of a step. The error is meant for people.
func renderInput(input []byte, values placeholder.Lookup) ([]byte, error) {
	v, err := DecodeJSON(input)
	if err != nil {
		return nil, err
	}
	r := &renderer{values, maxRendered}
	if v, err = r.renderValue(v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func (r *renderer) renderValue(v any) (out any, err error) {
	switch v := v.(type) {
	case string:
		return r.renderText(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if out[k], err = r.renderValue(e); err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			if out[i], err = r.renderValue(e); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// renderText fills in a text. One that is a single placeholder becomes the value itself, of
// whatever type.
func (r *renderer) renderText(s string) (any, error) {
	t, err := placeholder.Parse(s)
	if err != nil {
		return nil, err
	}
	v, err := t.Value(r.values, max(r.bytesLeft, 0))
	if err == nil && !r.spendBytes(v) {
		err = &placeholder.TooLongError{Max: maxRendered}
	}
	return v, err
}

// spendBytes deducts a value's size from what is left, and reports whether it fits. A
// large value that is named many times must not fill the memory.
func (r *renderer) spendBytes(v any) bool {
	switch v := v.(type) {
	case string:
		r.bytesLeft -= len(v) + 2
	case map[string]any:
		for k, e := range v {
			if r.bytesLeft -= len(k) + 4; !r.spendBytes(e) {
				return false
			}
		}
	case []any:
		for _, e := range v {
			if !r.spendBytes(e) {
				return false
			}
		}
	case json.Number: // as written, however long
		r.bytesLeft -= len(v) + 1
	default:
		r.bytesLeft -= 8
	}
	return r.bytesLeft >= 0
}
