package automations

import (
	"slices"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// stepField is one field of a step's input: how it is typed in, read and shown.
type stepField struct {
	v      *desk.Visit
	o      *op.Op
	name   string
	schema *jsonschema.Schema
	said   spokenValues // what it may name
}

// refField is the field's name where that says what it refers to: an operation's own id is that of its noun.
func refField(o *op.Op, name string) string {
	if parts := strings.Split(o.Path, "/"); name == "id" && len(parts) > 2 {
		return singular(strings.ReplaceAll(parts[2], "-", "_")) + "Id"
	}
	return name
}

// kind is how a field is typed in.
func (f stepField) kind() string {
	s := f.schema
	isList := func(s *jsonschema.Schema) bool {
		return schemaKind(s) == "array" && s.Items != nil && schemaKind(s.Items) == "string"
	}
	picks := func(s *jsonschema.Schema) bool {
		return s.Format == "uuid" && f.v.PickPath(refField(f.o, f.name)) != ""
	}
	switch kind := schemaKind(s); {
	case kind == "integer", kind == "number", kind == "boolean":
		return kind
	case isList(s) && picks(s.Items):
		return "refs"
	case isList(s), slices.ContainsFunc(s.AnyOf, isList):
		return "words"
	case kind != "string":
		return "json"
	case len(s.Enum) > 0:
		return "choice"
	case picks(s):
		return "ref"
	case s.Format == "date":
		return "date"
	case s.Format == "date-time":
		return "datetime-local"
	case s.MaxLength != nil && *s.MaxLength >= 5000:
		return "area"
	}
	return "text"
}

// read is a typed text as the field takes it, or what is wrong with it.
func (f stepField) read(text string) (value jsontext.Value, issue string) {
	kind := f.kind()
	if kind == "json" {
		if n := jsontext.Value(text); n.IsValid() {
			return n, ""
		}
		return nil, "This is not JSON"
	}
	if issue := f.said.lost(f.v, text); issue != "" {
		return nil, issue
	}
	text = f.said.read(text)
	if isPlaceholder(text) {
		return quote(text)
	}
	switch kind {
	case "integer", "number":
		if n := jsontext.Value(text); n.IsValid() && n.Kind() == '0' {
			return n, ""
		}
		return nil, "Write a number, or choose a value to insert"
	case "boolean":
		return jsontext.Value(text), ""
	case "words", "refs":
		words := []any{}
		for _, w := range strings.Split(text, ",") {
			if w = strings.TrimSpace(w); w == "" {
				continue
			}
			one, issue := f.readRef(kind == "refs", w)
			if issue != "" {
				return nil, w + ": " + issue
			}
			words = append(words, one)
		}
		return quote(words)
	case "ref":
		one, issue := f.readRef(true, text)
		if issue != "" {
			return nil, issue
		}
		return quote(one)
	case "datetime-local":
		if !strings.Contains(text, "{{") {
			at, issue := f.v.ReadTime(text)
			if issue != "" {
				return nil, issue
			}
			return quote(at)
		}
	}
	return quote(text)
}

// readRef is the id of the row that a word names, where it is to name one.
func (f stepField) readRef(isRef bool, word string) (any, string) {
	if !isRef || isPlaceholder(word) {
		return word, ""
	}
	return f.v.Pick(refField(f.o, f.name), word)
}

func quote(value any) (jsontext.Value, string) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, "This is not text"
	}
	return text, ""
}

// show is a value as the form shows it, where typing that gives the value again.
func (f stepField) show(value jsontext.Value) (text string, ok bool) {
	kind := f.kind()
	switch value.Kind() {
	case '"':
		if json.Unmarshal(value, &text) != nil {
			return "", false
		}
		text = f.rowName(kind == "ref", text)
	case '[':
		var words []string
		if (kind == "words" || kind == "refs") && json.Unmarshal(value, &words) == nil {
			for i := range words {
				words[i] = f.rowName(kind == "refs", words[i])
			}
			text = strings.Join(words, ", ")
		}
	case '0', 't', 'f':
		text = string(value)
	}
	if kind == "json" {
		text = desk.IndentJSON(string(value))
	} else if text, ok = f.said.say(text); !ok {
		return "", false
	}
	back, issue := f.read(text)
	if text == "" || issue != "" || strings.TrimSpace(text) != text {
		return "", false
	}
	same := canonical(back) == canonical(value)
	if kind == "words" && value.Kind() == '"' { // one of them may be written without its list
		same = same || canonical(back) == "["+canonical(value)+"]"
	}
	return text, same
}

// rowName is what people call the row of an id.
func (f stepField) rowName(isRef bool, text string) string {
	if ref, ok := id.Parse(text); ok && isRef {
		return f.v.PickedName(refField(f.o, f.name), ref)
	}
	return text
}

func canonical(v jsontext.Value) string {
	v = v.Clone()
	if v.Canonicalize() != nil {
		return ""
	}
	return string(v)
}

// input is the field as the editor shows it.
func (f stepField) input(t *desk.Typed, at string, required bool) desk.Input {
	more := []string{"off", "optional"}
	if required {
		more = []string{"off", "chosen"}
	}
	label, help := fieldWords(f.name, f.schema)
	kind := f.kind()
	in := t.Field(at, label, "text", help, more...)
	in.Focus = in.Error != ""
	switch kind {
	case "boolean":
		in.Options = []desk.Option{{Text: "–"}, {Value: "true", Text: "Yes"}, {Value: "false", Text: "No"}}
	case "choice":
		in.Options = []desk.Option{{Text: "–"}}
		for _, e := range f.schema.Enum {
			if text, ok := e.(string); ok {
				in.Options = append(in.Options, desk.Option{Value: text,
					Text: desk.Capital(strings.ReplaceAll(text, "_", " "))})
			}
		}
	case "ref", "refs":
		in.Help = "" // the picker says it
		f.picker(&in, kind)
	case "words":
		if strings.Contains(in.Help, "array") {
			in.Help = ""
		}
		in.Help = joinSentences(in.Help, "Separate several with commas.")
	case "date", "datetime-local":
		if in.Value == "" || in.Value[0] >= '0' && in.Value[0] <= '9' { // and not a value to insert
			in.Kind = kind
		}
	case "json":
		in = t.Text(at, label, "code", joinSentences(help, "Written as JSON."), more...)
	case "area":
		in = t.Text(at, label, "text", help, more...)
	}
	if in.Value != "" && in.Options != nil && !slices.ContainsFunc(in.Options,
		func(o desk.Option) bool { return o.Value == in.Value }) {
		in.Options = nil // a placeholder
	}
	return in
}

// picker makes the input one that picks rows by their names.
func (f stepField) picker(in *desk.Input, kind string) {
	field := refField(f.o, f.name)
	path := f.v.PickPath(field)
	if kind == "refs" {
		in.Word = desk.Capital(spacedWords(strings.TrimSuffix(f.name, "Ids"))) + "s"
		in.Help = joinSentences(in.Help, "Separate several with commas.")
	}
	for _, value := range f.said {
		if value.Ref != "" && f.v.PickPath(value.Ref) == path {
			in.List = append(in.List, value.Token())
		}
	}
	if path != "members" && kind == "ref" {
		in.Kind, in.Pick, in.Hint = "ref", path, "Name"
		if len(in.List) > 0 {
			in.Hint = "Name, or " + in.List[0]
		}
		return
	}
	if path == "members" {
		for _, m := range f.v.MemberOptions() {
			in.List = append(in.List, m.Text)
		}
	}
}
