package console

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
)

// form is what was typed and what is wrong with it.
type form struct {
	Values url.Values
	Error  string            // about the whole form
	Errors map[string]string // by field
}

// blank is a form with its first values, in pairs of name and value.
func blank(pairs ...string) *form {
	f := &form{Values: url.Values{}}
	for i := 0; i < len(pairs); i += 2 {
		f.Values.Set(pairs[i], pairs[i+1])
	}
	return f
}

// refused turns a refusal into a form that shows it at its fields, with what
// was typed. An error that is not about the input is returned as it is. renamed
// maps the operation's fields to the form's.
func (v *visit) refused(err error, renamed map[string]string) (*form, int, error) {
	f := fault.FromError(err)
	switch f.Kind {
	case fault.Internal, fault.Unavailable, fault.OutcomeUnknown, fault.NotFound, fault.Forbidden,
		fault.AccountDisabled:
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
		out.addIssues(name, t)
	}
	return out, f.Status, nil
}

// addIssues adds the issues of a place and of all places below it, under each
// of their names: a form shows them at the nearest field that it has, such as
// steps.0.input.
func (f *form) addIssues(at string, t *fault.Tree) {
	if t == nil {
		return
	}
	f.Errors[at] = strings.Join(collectIssues("", t), ". ")
	for name, below := range t.Properties {
		f.addIssues(at+"."+name, below)
	}
	for i, item := range t.Items {
		f.addIssues(at+"."+strconv.Itoa(i), item)
	}
}

// collectIssues collects the issues of a place and of all places below it, each
// with its path.
func collectIssues(at string, t *fault.Tree) (out []string) {
	if t == nil {
		return nil
	}
	for _, issue := range t.Errors {
		issue = desk.FormWords(issue)
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
		out = append(out, collectIssues(below, t.Properties[name])...)
	}
	for _, item := range t.Items {
		out = append(out, collectIssues(at, item)...)
	}
	return out
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
	Hint                     string        // in the empty field
	Quiet                    bool          // the label is for those who cannot see the field
	List                     []string      // values that are offered
	ListID                   string        // or a list of the page that has them
}

type option struct{ Value, Text string }

type optionGroup struct {
	Label   string
	Options []option
}

// Field describes an input. A password is never written back into the page.
func (f *form) Field(name, label, kind, help string, more ...string) field {
	out := field{Name: name, Label: label, Type: kind, Help: help, Value: f.Values.Get(name), Error: f.Errors[name],
		Required: true}
	out.Invalid = out.Error != ""
	if kind == "password" {
		out.Value = ""
	}
	// A field with a mistake gets the focus.
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

// Text describes an input of several lines. The kind "code" is for text that a
// machine reads.
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
	return slices.Contains(f.Values[name], value)
}
