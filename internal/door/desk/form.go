package desk

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/contact"

	"github.com/google/jsonschema-go/jsonschema"
)

// Form is what was typed and what is wrong with it. The template "form" shows
// it, field by field.
type Form struct {
	To     string // where it posts to
	Back   string // where Cancel leads
	Button string
	Lead   string // what the button will do
	Lost   []string
	Away   bool // the button deletes something
	Wide   bool // two columns
	Fields []Input
	Error  string // about the whole form
	Hidden map[string]string
	Files  bool // it sends files
	Main   bool // its button is the page's main action
	Look   bool // it can be looked at again before it is sent
}

// Input is one field of a form, as the template "input" writes it.
type Input struct {
	ID, Name, Word, Help, Hint string
	Kind                       string // text, area, choice, box, date, number, money, email, url, ref, code
	Value, Error               string
	Options                    []Option
	Required, Focus, Wide      bool
	Pick                       string // the path of the noun to pick from
	Max                        int
	Rows                       int
	Unit                       string        // after a sum
	Groups                     []OptionGroup // of a choice among many
	Autocomplete               string        // what a browser may fill in by itself
	Quiet                      bool          // the word is for those who cannot see the field
	Unmarked                   bool          // it is not called optional, though it is not required
	List                       []string      // values that are offered
	ListID                     string        // or a list of the page that has them
}

// Option is a choice.
type Option struct{ Value, Text string }

// OptionGroup is choices that belong together.
type OptionGroup struct {
	Label   string
	Options []Option
}

// Describe makes the input of a field of an operation.
func (v *Visit) Describe(operation string, f Field, value string) Input {
	s := v.property(operation, f.Field)
	in := Input{ID: f.Field, Name: f.Field, Word: f.Label, Help: f.Help, Hint: f.Hint, Value: value, Kind: f.Kind,
		Wide: f.Wide}
	if s != nil && s.MaxLength != nil {
		in.Max = *s.MaxLength
	}
	if whole := v.schema(operation); f.Required || whole != nil && slices.Contains(whole.Required, f.Field) {
		in.Required = true
	}
	if f.Options != nil {
		in.Kind, in.Options = "choice", f.Options(v)
		return in
	}
	if f.Field == "currency" {
		in.Kind, in.Groups = "choice", v.currencies(value)
		return in
	}
	if f.Ref == "members" || f.Ref == "businesses" {
		in.Kind, in.Options = "choice", v.choices(f.Ref)
		if !in.Required {
			in.Options = append([]Option{{"", "–"}}, in.Options...)
		}
		return in
	}
	if f.Ref != "" {
		in.Kind, in.Pick = "ref", f.Ref
		return in
	}
	if in.Kind == "money" {
		in.Unit = strings.ToUpper(v.Currency())
	}
	if in.Kind == "" {
		in.Kind = inputKind(s)
	}
	if in.Kind == "area" || in.Kind == "lines" || in.Kind == "code" {
		in.Rows, in.Wide = max(3, min(strings.Count(value, "\n")+2, 16)), true
	}
	if in.Kind == "choice" {
		if nullable(s) || !in.Required && len(s.Default) == 0 && value == "" {
			in.Options = append(in.Options, Option{"", "–"})
		}
		for _, e := range s.Enum {
			if text, ok := e.(string); ok && f.RawChoices {
				in.Options = append(in.Options, Option{text, text})
			} else if ok {
				in.Options = append(in.Options, Option{text, Capital(choice(text, f.ChoiceLabels))})
			}
		}
	}
	return in
}

// inputKind is the kind of input for a field's schema.
func inputKind(s *jsonschema.Schema) string {
	switch kindOf(s) {
	case "boolean":
		return "box"
	case "integer", "number":
		return "number"
	case "array":
		return "words"
	}
	switch {
	case s == nil:
		return "text"
	case len(s.Enum) > 0:
		return "choice"
	case s.Format == "date":
		return "date"
	case s.Format == "date-time":
		return "datetime-local"
	case s.Format == "email":
		return "email"
	case s.Format == "uri":
		return "url"
	case s.MaxLength != nil && *s.MaxLength >= 5000:
		return "area"
	}
	return "text"
}

// choices are the objects of a small noun.
func (v *Visit) choices(path string) (out []Option) {
	if path == "members" {
		for _, m := range v.members() {
			out = append(out, Option{string(m.ID), m.Name})
		}
		return out
	}
	if n := v.noun(path); n != nil {
		rows, _, err := n.lines(v, Fields{"limit": 100, "sortOrder": "asc"})
		if err != nil {
			return nil
		}
		for _, r := range rows {
			out = append(out, Option{string(r.ID), r.Text})
		}
	}
	return out
}

// Read reads the posted fields into an operation's input. A field that the form
// did not have stays out; one that was cleared is null where the operation takes
// null.
func (v *Visit) Read(operation string, fields []Field, posted url.Values) (Fields, map[string]string) {
	out, wrong := Fields{}, map[string]string{}
	for _, f := range fields {
		texts, ok := posted[f.Field]
		if !ok {
			continue
		}
		value, issue := v.read(v.property(operation, f.Field), f, texts)
		switch {
		case issue != "":
			wrong[f.Field] = issue
		case value == nil && f.Required:
			wrong[f.Field] = "Fill this in"
		case value != nil || nullable(v.property(operation, f.Field)):
			out[f.Field] = value
		}
	}
	return out, wrong
}

// read turns what was typed into the value that a field takes, or says what is
// wrong with it.
func (v *Visit) read(s *jsonschema.Schema, f Field, texts []string) (any, string) {
	text := strings.TrimSpace(strings.ReplaceAll(texts[len(texts)-1], "\r\n", "\n"))
	if f.Kind == "words" || kindOf(s) == "array" {
		return splitWords(strings.Join(texts, ",")), ""
	}
	switch {
	case text == "" && kindOf(s) != "string":
		return nil, ""
	case text == "" && (nullable(s) || s != nil && (len(s.Enum) > 0 || s.Format != "")):
		return nil, ""
	case f.Ref != "":
		return v.pick(f, text)
	case f.Kind == "money":
		return Cents(text, v.Currency())
	case f.Kind == "tel":
		return v.DialedNumber(text), ""
	}
	switch kindOf(s) {
	case "boolean":
		return text == "yes" || text == "true", ""
	case "integer":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, "Write a whole number"
		}
		return n, ""
	case "number":
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, "Write a number"
		}
		return n, ""
	}
	if s != nil && s.Format == "date-time" {
		return v.ReadTime(text)
	}
	return text, ""
}

// ReadTime reads a date and time of the business's own clock.
func (v *Visit) ReadTime(text string) (any, string) {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, v.Zone()); err == nil {
			return clock.FromStd(t).String(), ""
		}
	}
	if t, err := clock.ParseTime(text); err == nil {
		return t.String(), ""
	}
	return nil, "Write a date and a time, like 2026-05-14 09:30"
}

// splitWords splits at commas and drops what is empty.
func splitWords(text string) []string {
	out := []string{}
	for _, w := range strings.Split(text, ",") {
		if w = strings.TrimSpace(w); w != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// Refused turns a refusal into the issues of a form, by field. An error that is
// not about the input comes back as it is.
func Refused(err error) (whole string, fields map[string]string, status int, rest error) {
	f := fault.FromError(err)
	switch f.Kind {
	case fault.Internal, fault.Unavailable, fault.OutcomeUnknown, fault.NotFound, fault.AccountDisabled:
		return "", nil, 0, err
	}
	fields = map[string]string{}
	tree, ok := f.Details.(*fault.Tree)
	if !ok {
		return f.Sentence(), fields, f.Status, nil
	}
	whole = strings.Join(tree.Errors, ". ")
	for name, t := range tree.Properties {
		if text := firstIssue(t); text != "" {
			fields[name] = text
		}
	}
	return whole, fields, f.Status, nil
}

// firstIssue is the first thing wrong at a place or below it.
func firstIssue(t *fault.Tree) string {
	if t == nil {
		return ""
	}
	for _, e := range t.Errors {
		return FormWords(e)
	}
	for _, c := range t.Properties {
		if text := firstIssue(c); text != "" {
			return text
		}
	}
	for _, c := range t.Items {
		if text := firstIssue(c); text != "" {
			return text
		}
	}
	return ""
}

// FormWords says what to do about an empty field, where the API says how many
// characters or items it expects.
func FormWords(issue string) string {
	switch issue {
	case fault.MissingIssue, fault.TooShortIssue(1):
		return "Fill this in"
	case fault.TooFewIssue(1):
		return "Choose at least one"
	case contact.NumberIssue:
		return "Not a phone number; write it as you dial it, or with its country, like +44 20 7946 0958"
	}
	return issue
}

// Fill gives each input what was typed and what is wrong with it. What is wrong
// with a field that the form does not have is said above it.
func (f *Form) Fill(posted url.Values, whole string, wrong map[string]string) {
	f.Error = whole
	used := map[string]bool{}
	focused := false
	for i := range f.Fields {
		in := &f.Fields[i]
		if values, ok := posted[in.Name]; ok {
			in.Value = strings.Join(values, ", ")
		}
		in.Error = wrong[in.Name]
		used[in.Name] = true
		if in.Error != "" && !focused {
			in.Focus, focused = true, true
		}
	}
	for name, text := range wrong {
		if !used[name] && f.Error == "" {
			f.Error = Capital(spaced(name)) + ": " + text
		}
	}
}

// showForm shows the form for a new object. Values in the address fill it in.
func (n *Noun[T]) showForm(v *Visit) error {
	return n.formPage(v, http.StatusOK, v.R.URL.Query(), "", nil)
}

// formFields are the fields of the form for a new object.
func (n *Noun[T]) formFields(v *Visit) []Field {
	if n.Form != nil {
		return n.Form
	}
	var out []Field
	for _, f := range n.Fields {
		if v.property(n.ops()+".create", f.Field) != nil {
			out = append(out, f)
		}
	}
	return out
}

func (n *Noun[T]) formPage(v *Visit, status int, typed url.Values, whole string, wrong map[string]string) error {
	if err := v.Permit(n.ops() + ".create"); err != nil {
		return err
	}
	f := &Form{To: "/" + n.Path + "/new", Back: "/" + n.Path, Button: "Create " + n.One, Lead: n.FormHelp, Wide: true,
		Main: true, Hidden: map[string]string{"back": v.R.URL.Query().Get("back")}}
	if v.R.Method == http.MethodPost {
		f.Hidden["back"] = v.R.PostFormValue("back")
	}
	if IsLocalPath(f.Hidden["back"]) {
		f.Back = f.Hidden["back"]
	}
	for i, field := range n.formFields(v) {
		first := ""
		if field.StartText != nil {
			first = field.StartText(v)
		} else if s := v.property(n.ops()+".create", field.Field); s != nil && len(s.Default) > 0 {
			first = strings.Trim(string(s.Default), `"`)
		}
		in := v.Describe(n.ops()+".create", field, first)
		in.Focus = i == 0
		f.Fields = append(f.Fields, in)
	}
	f.Fill(typed, whole, wrong)
	if n.AdjustForm != nil {
		if err := n.AdjustForm(v, f); err != nil {
			return err
		}
	}
	if err := v.namePicks(f); err != nil {
		return err
	}
	return v.Show(status, "form-page", View{Title: "New " + n.One, Section: n.rail(), Data: f,
		Crumbs: []Crumb{{Capital(n.Many), "/" + n.Path}, {"New " + n.One, ""}}})
}

// create makes a new object and shows it.
func (n *Noun[T]) create(v *Visit) error {
	in, wrong := v.Read(n.ops()+".create", n.formFields(v), v.R.PostForm)
	for name, value := range in { // what was left empty is left out
		if value == nil || value == "" {
			delete(in, name)
		}
	}
	if n.BeforeCreate != nil {
		n.BeforeCreate(v, in)
	}
	if len(wrong) > 0 {
		return n.formPage(v, http.StatusBadRequest, v.R.PostForm, "", wrong)
	}
	var made T
	create := func(v *Visit, in Fields, made *T) error { return v.Do(n.ops()+".create", in, made) }
	if n.CreateWith != nil {
		create = n.CreateWith
	}
	if err := create(v, in, &made); err != nil {
		whole, fields, status, err := Refused(err)
		if err != nil {
			return err
		}
		return n.formPage(v, status, v.R.PostForm, whole, fields)
	}
	to := "/" + n.Path + "/" + string(made.RowID())
	if v.Catalog.Named(n.ops()+".get") == nil {
		to = "/" + n.Path
	}
	return v.Done(v.Back(to), "created", nil)
}
