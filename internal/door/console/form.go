package console

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/fault"
)

// form is what was typed and what is wrong with it.
type form struct {
	Values url.Values
	Error  string            // about the whole
	Errors map[string]string // by field
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
	case fault.Internal, fault.Unavailable, fault.OutcomeUnknown, fault.NotFound, fault.Forbidden, fault.AccountDisabled:
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
		out.spread(name, t)
	}
	return out, f.Status, nil
}

// spread notes the issues of a place and of all below it, at that place and at
// each below it: a form shows them at the nearest field it has, such as
// steps.0.input.
func (f *form) spread(at string, t *fault.Tree) {
	if t == nil {
		return
	}
	f.Errors[at] = strings.Join(gather("", t), ". ")
	for name, below := range t.Properties {
		f.spread(at+"."+name, below)
	}
	for i, item := range t.Items {
		f.spread(at+"."+strconv.Itoa(i), item)
	}
}

// gather collects the issues of a place and of all below it, each with the way
// to it.
func gather(at string, t *fault.Tree) (out []string) {
	if t == nil {
		return nil
	}
	for _, issue := range t.Errors {
		issue = inForms(issue)
		if at != "" {
			issue = at + ": " + issue
		}
		out = append(out, issue)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Properties)) {
		below := name
		if at != "" {
			below = at + "." + name
		}
		out = append(out, gather(below, t.Properties[name])...)
	}
	for _, item := range t.Items {
		out = append(out, gather(at, item)...)
	}
	return out
}

// inForms says of an empty field what to do, where the API counts.
func inForms(issue string) string {
	switch issue {
	case "Too short: expected at least 1 characters":
		return "Fill this in"
	case "Too few: expected at least 1":
		return "Choose at least one"
	}
	return issue
}

// field is one input of a form, as the template "field" writes it.
type field struct {
	Name, Label, Type, Help  string
	Value, Error             string
	Autocomplete             string
	Required, Focus, Invalid bool
	Optional                 bool
	Rows                     int           // of a textarea
	Options                  []option      // of a choice
	Groups                   []optionGroup // of a choice among many
}

type option struct{ Value, Text string }

type optionGroup struct {
	Label   string
	Options []option
}

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
			out.Required, out.Optional = false, true
		case "chosen": // needed only where the choice above it asks for it
			out.Required = false
		case "focus":
			out.Focus = out.Invalid || len(f.Errors) == 0
		default:
			out.Autocomplete = m
		}
	}
	return out
}

// Text describes an input of several lines. The kind "code" is for machines to
// read as well.
func (f *form) Text(name, label, kind, help string, more ...string) field {
	out := f.Field(name, label, kind, help, more...)
	out.Rows = max(3, min(strings.Count(out.Value, "\n")+2, 24))
	return out
}

// Choice describes a choice among options.
func (f *form) Choice(name, label, help string, options []option) field {
	out := f.Field(name, label, "select", help)
	out.Options = options
	return out
}

// Grouped describes a choice among many options.
func (f *form) Grouped(name, label, help string, groups []optionGroup, more ...string) field {
	out := f.Field(name, label, "select", help, more...)
	out.Groups = groups
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
