package console

import (
	"net/url"
	"sort"
	"strings"

	"frontdesk/internal/kernel/fault"
)

// form is what was typed and what is wrong with it.
type form struct {
	Values url.Values
	Error  string            // about the whole
	Errors map[string]string // by field, in the API's own words
}

// blank is a form with values to begin with, in pairs of name and value.
func blank(pairs ...string) *form {
	f := &form{Values: url.Values{}}
	for i := 0; i < len(pairs); i += 2 {
		f.Values.Set(pairs[i], pairs[i+1])
	}
	return f
}

// refused turns a refusal into a form that shows it at its fields, with what
// was typed. What is no refusal of the input is not the form's: it comes back
// as an error. renamed maps the operation's fields to the form's.
func (v *visit) refused(err error, renamed map[string]string) (*form, int, error) {
	f := fault.Of(err)
	switch f.Kind {
	case fault.Internal, fault.Unavailable, fault.NotFound, fault.Forbidden, fault.AccountDisabled:
		return nil, 0, err
	}
	out := &form{Values: v.r.PostForm, Errors: map[string]string{}}
	tree, ok := f.Details.(*fault.Tree)
	if !ok {
		out.Error = f.Sentence()
		return out, f.Status, nil
	}
	out.Error = strings.Join(tree.Errors, ". ")
	for name, t := range tree.Properties {
		if to := renamed[name]; to != "" {
			name = to
		}
		out.Errors[name] = strings.Join(gather(t), ". ")
	}
	return out, f.Status, nil
}

// gather collects the issues of a field and of all below it.
func gather(t *fault.Tree) []string {
	if t == nil {
		return nil
	}
	out := append([]string(nil), t.Errors...)
	names := make([]string, 0, len(t.Properties))
	for name := range t.Properties {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		out = append(out, gather(t.Properties[name])...)
	}
	for _, item := range t.Items {
		out = append(out, gather(item)...)
	}
	return out
}

// field is one input of a form, as the template "field" writes it.
type field struct {
	Name, Label, Type, Help  string
	Value, Error             string
	Autocomplete             string
	Required, Focus, Invalid bool
	Options                  []option // of a choice
}

type option struct{ Value, Text string }

// Field describes an input. A password is never written back into the page.
func (f *form) Field(name, label, kind, help string, more ...string) field {
	out := field{Name: name, Label: label, Type: kind, Help: help, Value: f.Values.Get(name), Error: f.Errors[name], Required: true}
	out.Invalid = out.Error != ""
	if kind == "password" {
		out.Value = ""
	}
	// Who made a mistake is taken to it.
	out.Focus = out.Invalid
	for _, m := range more {
		switch m {
		case "optional":
			out.Required = false
		case "focus":
			out.Focus = out.Invalid || len(f.Errors) == 0
		default:
			out.Autocomplete = m
		}
	}
	return out
}

// Choice describes a choice among options.
func (f *form) Choice(name, label, help string, options []option) field {
	out := f.Field(name, label, "select", help)
	out.Options = options
	return out
}

// Has reports whether a value of a set of boxes is ticked.
func (f *form) Has(name, value string) bool {
	for _, s := range f.Values[name] {
		if s == value {
			return true
		}
	}
	return false
}
