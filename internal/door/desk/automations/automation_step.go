package automations

import (
	"net/url"
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
	Values           []insertGroup // what its texts may refer to
}

// insertGroup is placeholders of one kind.
type insertGroup struct {
	Label   string
	Inserts []desk.Option // Value is the placeholder
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

// storedStep is a step of an automation as the form shows it first.
func storedStep(v *desk.Visit, s automation.Step) typedStep {
	out := typedStep{Operation: s.Operation, Text: desk.IndentJSON(string(s.Input))}
	if s.SaveAs != nil {
		out.SaveAs = *s.SaveAs
	}
	var ok bool
	if out.Values, ok = formValues(v.Catalog.Named(s.Operation), []byte(s.Input)); !ok {
		out.JSON = true
	}
	return out
}

// input is what the operation gets, and what is wrong with it, by field. at is the
// step's name.
func (s *typedStep) input(v *desk.Visit, at string) (jsontext.Value, map[string]string) {
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
		value, issue := fieldValue(schema.Properties[name], text)
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
func (s *typedStep) showAs(v *desk.Visit, asJSON bool) {
	switch {
	case asJSON && !s.JSON:
		input, wrong := s.input(v, "")
		if len(wrong) == 0 {
			s.JSON, s.Text = true, desk.IndentJSON(string(input))
		}
	case !asJSON && s.JSON:
		if values, ok := formValues(v.Catalog.Named(s.Operation), []byte(s.Text)); ok {
			s.JSON, s.Values = false, values
		}
	}
}

// isPlaceholder reports whether a text is one placeholder and nothing else, which
// stands for any value.
func isPlaceholder(text string) bool {
	return strings.HasPrefix(text, "{{") && strings.Index(text, "}}") == len(text)-2
}

// fieldValue is a typed text as the field takes it, or what is wrong with it.
func fieldValue(s *jsonschema.Schema, text string) (value jsontext.Value, issue string) {
	quoted, err := json.Marshal(text)
	if err != nil {
		return nil, "This is not text"
	}
	if isPlaceholder(text) {
		return quoted, ""
	}
	switch fieldKind(s) {
	case "integer", "number":
		if n := jsontext.Value(text); n.IsValid() && n.Kind() == '0' {
			return n, ""
		}
		return nil, "Write a number, or a placeholder"
	case "boolean":
		return jsontext.Value(text), ""
	case "words":
		words := []string{}
		for _, w := range strings.Split(text, ",") {
			if w = strings.TrimSpace(w); w != "" {
				words = append(words, w)
			}
		}
		list, err := json.Marshal(words)
		if err != nil {
			return nil, "This is not text"
		}
		return list, ""
	case "json":
		if n := jsontext.Value(text); n.IsValid() {
			return n, ""
		}
		return nil, "This is not JSON"
	}
	return quoted, ""
}

// fieldKind is how a field of an operation is typed in.
func fieldKind(s *jsonschema.Schema) string {
	switch kind := schemaKind(s); {
	case kind == "integer", kind == "number", kind == "boolean":
		return kind
	case kind == "array" && s.Items != nil && schemaKind(s.Items) == "string":
		return "words"
	case kind != "string":
		return "json"
	case len(s.Enum) > 0:
		return "choice"
	case s.MaxLength != nil && *s.MaxLength >= 5000:
		return "area"
	}
	return "text"
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
func formValues(o *op.Op, input []byte) (values map[string]string, ok bool) {
	var all map[string]jsontext.Value
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
		text, ok := fieldText(s, value)
		if !ok {
			return values, false
		}
		values[name] = text
	}
	return values, true
}

// fieldText is a value as the form shows it, where typing that gives the value
// again.
func fieldText(s *jsonschema.Schema, value jsontext.Value) (text string, ok bool) {
	kind := fieldKind(s)
	switch value.Kind() {
	case '"':
		if json.Unmarshal(value, &text) != nil {
			return "", false
		}
	case '[':
		var words []string
		if kind == "words" && json.Unmarshal(value, &words) == nil {
			text = strings.Join(words, ", ")
		}
	case '0', 't', 'f':
		text = string(value)
	}
	if kind == "json" {
		text = desk.IndentJSON(string(value))
	}
	back, issue := fieldValue(s, text)
	if text == "" || issue != "" || strings.TrimSpace(text) != text {
		return "", false
	}
	return text, canonical(back) == canonical(value)
}

func canonical(v jsontext.Value) string {
	v = v.Clone()
	if v.Canonicalize() != nil {
		return ""
	}
	return string(v)
}

// startingValues is what a new step begins with: where a field names what the
// starting event is about, that event.
func startingValues(o *op.Op, eventType string) map[string]string {
	values, _ := formValues(o, []byte(example(o, eventType)))
	for name, text := range values {
		if text != eventSubject {
			delete(values, name)
		}
	}
	return values
}

// stepForm is a step as the editor shows it.
func stepForm(v *desk.Visit, f *desk.Typed, i int, s *typedStep) stepFields {
	at := stepFieldPrefix(i)
	out := stepFields{Index: i, Number: i + 1, At: at, Words: v.OperationWords(s.Operation), Operation: s.Operation,
		Error: f.Errors[at+".operation"], First: i == 0, JSON: s.JSON,
		SaveAs: f.Field(at+".saveAs", "Save the result as", "text",
			"Later steps refer to it by this name: {{ name.id }}.", "off", "optional")}
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
	samples, _ := formValues(o, []byte(o.Example))
	for _, name := range schema.PropertyOrder {
		in := inputField(f, at+".input."+name, name, schema.Properties[name], slices.Contains(schema.Required, name))
		if in.Hint = hint(samples[name]); in.Rows == 0 && in.Options == nil {
			in.ListID = at + ".values"
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

// inputField is one field of an operation's input.
func inputField(f *desk.Typed, at, name string, s *jsonschema.Schema, required bool) desk.Input {
	more := []string{"off", "optional"}
	if required {
		more = []string{"off", "chosen"}
	}
	label, help := fieldWords(name, s)
	kind := fieldKind(s)
	in := f.Field(at, label, "text", help, more...)
	in.Focus = in.Error != ""
	switch kind {
	case "boolean":
		in.Options = []desk.Option{{Text: "–"}, {Value: "true", Text: "Yes"}, {Value: "false", Text: "No"}}
	case "choice":
		in.Options = []desk.Option{{Text: "–"}}
		for _, e := range s.Enum {
			if text, ok := e.(string); ok {
				in.Options = append(in.Options, desk.Option{Value: text,
					Text: desk.Capital(strings.ReplaceAll(text, "_", " "))})
			}
		}
	case "words":
		in.Help = joinSentences(in.Help, "Separate several with commas.")
	case "json":
		in = f.Text(at, label, "code", joinSentences(help, "Written as JSON."), more...)
	case "area":
		in = f.Text(at, label, "text", help, more...)
	}
	if in.Value != "" && in.Options != nil && !slices.ContainsFunc(in.Options,
		func(o desk.Option) bool { return o.Value == in.Value }) {
		in.Options = nil // a placeholder
	}
	return in
}

func joinSentences(a, b string) string {
	if a == "" {
		return b
	}
	return strings.TrimSuffix(a, ".") + ". " + b
}

// fieldWords are a field's name and what it is for, as people say it.
func fieldWords(name string, s *jsonschema.Schema) (label, help string) {
	if s.Description != "" {
		help = desk.Capital(s.Description)
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

// listInserts lists the placeholders that a step may use: of the event, of the input and
// of what earlier steps save.
func listInserts(v *desk.Visit, trigger url.Values, before []typedStep) (groups []insertGroup) {
	add := func(label, at string, s *jsonschema.Schema) {
		g := insertGroup{Label: label}
		for _, name := range s.PropertyOrder {
			if schemaKind(s.Properties[name]) != "object" {
				g.Inserts = append(g.Inserts, desk.Option{Value: "{{ " + at + "." + name + " }}",
					Text: desk.Capital(spacedWords(name))})
			}
		}
		groups = append(groups, g)
	}
	switch trigger.Get("trigger.kind") {
	case "event":
		if s := automation.EventDataSchema(v.Catalog.All(), trigger.Get("trigger.event")); s != nil {
			add(desk.EventWords(trigger.Get("trigger.event")), "event.data", s)
		}
	case "schedule":
		groups = append(groups, insertGroup{"Schedule",
			[]desk.Option{{Value: "{{ input.scheduledAt }}", Text: "When it was due"}}})
	}
	for i := range before {
		o := v.Catalog.Named(before[i].Operation)
		if o == nil || before[i].SaveAs == "" {
			continue
		}
		if s, list := o.OutputSchema(nil); s != nil && !list {
			add("Step "+strconv.Itoa(i+1)+": "+desk.ShortSummary(o), before[i].SaveAs, s)
		}
	}
	return groups
}
