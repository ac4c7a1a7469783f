package automations

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// A step as a form: one field for each field of its operation's input, such as
// steps.0.input.title. Whatever a form cannot say is edited as JSON, in one field
// steps.0.input; which of the two was posted tells them apart.

// typedStep is a step as typed into the form.
type typedStep struct {
	Operation, SaveAs string
	JSON              bool
	Text              string            // the input as JSON
	Values            map[string]string // the input by field
}

// stepFields is a step as the editor shows it.
type stepFields struct {
	Index, Number    int
	At               string // steps.0
	Words, Operation string
	Error            string
	JSON             bool
	Input            desk.Input   // as JSON
	Fields, More     []desk.Input // by field; More are those that are not needed
	SaveAs           desk.Input
	First, Last      bool
	Values           []valueGroup // what its texts may name
}

func stepFieldPrefix(i int) string { return "steps." + strconv.Itoa(i) }

// typedSteps reads the steps of the form.
func typedSteps(v *desk.Visit) (steps []typedStep) {
	for i := range maxSteps {
		at := stepFieldPrefix(i)
		name := v.Value(at + ".operation")
		if name == "" {
			break
		}
		s := typedStep{Operation: name, SaveAs: v.Value(at + ".saveAs"), Values: map[string]string{}}
		s.JSON = v.R.PostForm.Has(at + ".input")
		s.Text = v.Value(at + ".input")
		for field, texts := range v.R.PostForm {
			if field, ok := strings.CutPrefix(field, at+".input."); ok {
				s.Values[field] = strings.TrimSpace(strings.ReplaceAll(texts[0], "\r\n", "\n"))
			}
		}
		steps = append(steps, s)
	}
	return steps
}

// setSteps writes steps into a form.
func setSteps(f *desk.Typed, steps []typedStep) {
	for name := range f.Values {
		if strings.HasPrefix(name, "steps.") {
			f.Values.Del(name)
		}
	}
	for i, s := range steps {
		at := stepFieldPrefix(i)
		f.Values.Set(at+".operation", s.Operation)
		f.Values.Set(at+".saveAs", s.SaveAs)
		if s.JSON {
			f.Values.Set(at+".input", s.Text)
			continue
		}
		for field, text := range s.Values {
			f.Values.Set(at+".input."+field, text)
		}
	}
}

// storedStep is a step of an automation as the form shows it first. values are those that it may use.
func storedStep(v *desk.Visit, s automation.Step, values spokenValues) typedStep {
	out := typedStep{Operation: s.Operation, Text: desk.IndentJSON(string(s.Input))}
	if s.SaveAs != nil {
		out.SaveAs = *s.SaveAs
	}
	var ok bool
	if out.Values, ok = formValues(v, out.Operation, []byte(s.Input), values); !ok {
		out.JSON = true
	}
	return out
}

// input is what the operation gets, and what is wrong with it, by field. at is the
// step's name, and values are those that it may use.
func (s *typedStep) input(v *desk.Visit, at string, values spokenValues) (jsontext.Value, map[string]string) {
	if s.JSON {
		value, issue := parseObject(s.Text)
		if issue != "" {
			return nil, map[string]string{at + ".input": issue}
		}
		return value, nil
	}
	o := v.Catalog.Named(s.Operation)
	if o == nil {
		return jsontext.Value("{}"), nil
	}
	schema, wrong := o.InputSchema(), map[string]string{}
	out, names := map[string]jsontext.Value{}, []string{}
	for _, name := range schema.PropertyOrder {
		text := s.Values[name]
		if text == "" {
			continue
		}
		value, issue := stepField{v, o, name, schema.Properties[name], values}.read(text)
		if issue != "" {
			wrong[at+".input."+name] = issue
			continue
		}
		out[name], names = value, append(names, name)
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(name) + ":" + string(out[name]))
	}
	return jsontext.Value(b.String() + "}"), wrong
}

// showAs shows the step as JSON, or as a form where that can say the same.
func (s *typedStep) showAs(v *desk.Visit, asJSON bool, said spokenValues) {
	switch {
	case asJSON && !s.JSON:
		input, wrong := s.input(v, "", said)
		if len(wrong) == 0 {
			s.JSON, s.Text = true, desk.IndentJSON(string(input))
		}
	case !asJSON && s.JSON:
		if values, ok := formValues(v, s.Operation, []byte(s.Text), said); ok {
			s.JSON, s.Values = false, values
		}
	}
}

// isPlaceholder reports whether a text is one placeholder and nothing else, which
// stands for any value.
func isPlaceholder(text string) bool {
	return strings.HasPrefix(text, "{{") && strings.Index(text, "}}") == len(text)-2
}

// schemaKind is the one type of a field besides null, or nothing.
func schemaKind(s *jsonschema.Schema) string {
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	types = slices.DeleteFunc(slices.Clone(types), func(t string) bool { return t == "null" })
	if len(types) != 1 {
		return ""
	}
	return types[0]
}

// formValues is an input by field. It is not ok where a form cannot say the same.
func formValues(v *desk.Visit, operation string, input []byte, said spokenValues) (values map[string]string, ok bool) {
	var all map[string]jsontext.Value
	o := v.Catalog.Named(operation)
	values = map[string]string{}
	if o == nil || json.Unmarshal(input, &all) != nil {
		return values, len(input) == 0 && o != nil
	}
	schema := o.InputSchema()
	for name, value := range all {
		s := schema.Properties[name]
		if s == nil {
			return values, false
		}
		text, ok := stepField{v, o, name, s, said}.show(value)
		if !ok {
			return values, false
		}
		values[name] = text
	}
	return values, true
}

// startingValues is what a new step begins with: where a field names what the
// starting event is about, that event.
func startingValues(v *desk.Visit, o *op.Op, said spokenValues) map[string]string {
	out := map[string]string{}
	for name := range o.InputSchema().Properties {
		for _, value := range said {
			if value.Path == eventSubject && value.Ref == refField(o, name) && v.PickPath(value.Ref) != "" {
				out[name] = value.Token()
			}
		}
	}
	return out
}

// stepForm is a step as the editor shows it.
func stepForm(v *desk.Visit, f *desk.Typed, i int, s *typedStep, said spokenValues) stepFields {
	at := stepFieldPrefix(i)
	out := stepFields{Index: i, Number: i + 1, At: at, Words: v.OperationWords(s.Operation), Operation: s.Operation,
		Error: f.Errors[at+".operation"], First: i == 0, JSON: s.JSON,
		Values: said.groups(),
		SaveAs: f.Field(at+".saveAs", "Name for what it makes", "text",
			"Later steps can use it by this name, which has letters and digits alone, like newTask.", "off",
			"optional")}
	o := v.Catalog.Named(s.Operation)
	if o == nil || s.JSON {
		out.JSON = true
		out.Input = f.Text(at+".input", "Input", "code", "", "chosen")
		if o != nil {
			out.Input.Help = inputHelp(o)
		}
		return out
	}
	schema := o.InputSchema()
	samples, _ := formValues(v, o.Name, []byte(o.Example), nil)
	for _, name := range schema.PropertyOrder {
		field := stepField{v, o, name, schema.Properties[name], said}
		in := field.input(f, at+".input."+name, slices.Contains(schema.Required, name))
		if in.Rows == 0 && in.Options == nil && in.List == nil && in.Pick == "" {
			in.Hint, in.ListID = hint(samples[name]), at+".values"
		}
		// The example has the fields that most want.
		if slices.Contains(schema.Required, name) || samples[name] != "" || in.Value != "" || in.Error != "" {
			out.Fields = append(out.Fields, in)
			continue
		}
		out.More = append(out.More, in)
	}
	if len(out.Fields) == 0 && len(out.More) <= 3 {
		out.Fields, out.More = out.More, nil
	}
	if text := f.Errors[at+".input"]; text != "" && !slices.ContainsFunc(append(slices.Clone(out.Fields), out.More...),
		func(in desk.Input) bool { return in.Error != "" }) {
		out.Error = text
	}
	return out
}

// focus puts the cursor into the step's first field.
func (s *stepFields) focus() {
	switch {
	case s.JSON:
		s.Input.Focus = true
	case len(s.Fields) > 0:
		s.Fields[0].Focus = true
	}
}

// hint is an example that is short enough to show in an empty field.
func hint(text string) string {
	if len(text) > 60 || strings.Contains(text, "\n") {
		return ""
	}
	return text
}

func joinSentences(a, b string) string {
	if a == "" {
		return b
	}
	return strings.TrimSuffix(a, ".") + ". " + b
}

// plainFields are fields whose names and descriptions are for programmers: what people call them, and what they do.
var plainFields = map[string][2]string{
	"dueAt":       {"Due", ""},
	"subject":     {"Subject", ""},
	"draft":       {"Keep it as a draft", "You read it and send it."},
	"letterhead":  {"In the letterhead", "With your logo and address."},
	"replyTo":     {"Answers go to", ""},
	"bcc":         {"Hidden copy to", ""},
	"cc":          {"Copy to", ""},
	"html":        {"Design (HTML)", "In place of the text."},
	"variables":   {"Values for the template", ""},
	"inReplyToId": {"Message that it answers", ""},
	"scheduledAt": {"Send at", "At once if left empty."},
}

// fieldWords are a field's name and what it is for, as people say it.
func fieldWords(name string, s *jsonschema.Schema) (label, help string) {
	if s.Description != "" {
		help = desk.Capital(s.Description)
	}
	if words, ok := plainFields[name]; ok {
		return words[0], words[1]
	}
	if what, ok := strings.CutPrefix(s.Description, "the "); ok && (name == "id" || strings.HasSuffix(name, "Id")) &&
		len(what) < 30 {
		return desk.Capital(what), ""
	}
	return desk.Capital(spacedWords(name)), help
}

// spacedWords is a JSON name in words: "first name", "contact".
func spacedWords(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	if name == "id" || name == "externalId" { // of another system
		return strings.TrimSuffix(b.String(), "id") + "ID"
	}
	return strings.TrimSuffix(b.String(), " id")
}
