package desk

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/fault"
)

// Typed is what was typed into a form whose template is its own, and what is wrong
// with it. The template asks for each field by name, and "field" shows it:
// {{template "field" (.Form.Field "email" "Email" "email" "")}}.
type Typed struct {
	Values url.Values
	Error  string            // about the whole form
	Errors map[string]string // by field
}

// NewTyped is a form with its first values, in pairs of name and value.
func NewTyped(pairs ...string) *Typed {
	f := &Typed{Values: url.Values{}}
	for i := 0; i < len(pairs); i += 2 {
		f.Values.Set(pairs[i], pairs[i+1])
	}
	return f
}

// Refused turns a refusal into a form that shows it at its fields, with what
// was typed. An error that is not about the input is returned as it is. renamed
// maps the operation's fields to the form's.
func (v *Visit) Refused(err error, renamed map[string]string) (*Typed, int, error) {
	f := fault.FromError(err)
	switch f.Kind {
	case fault.Internal, fault.Unavailable, fault.OutcomeUnknown, fault.NotFound, fault.Forbidden,
		fault.AccountDisabled:
		return nil, 0, err
	}
	out := &Typed{Values: v.R.PostForm, Errors: map[string]string{}}
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
func (f *Typed) addIssues(at string, t *fault.Tree) {
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
		issue = FormWords(issue)
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

// Field describes an input that must be filled in. more may say "optional", "chosen"
// (needed only where the choice above it asks for it), "focus", or what a browser may
// fill in by itself. A password is never written back into the page.
func (f *Typed) Field(name, word, kind, help string, more ...string) Input {
	out := Input{ID: name, Name: name, Word: word, Kind: kind, Help: help, Value: f.Values.Get(name),
		Error: f.Errors[name], Required: true}
	if kind == "password" {
		out.Value = ""
	}
	out.Focus = out.Error != "" // a field with a mistake gets the cursor
	for _, m := range more {
		switch m {
		case "optional":
			out.Required = false
		case "chosen":
			out.Required, out.Unmarked = false, true
		case "focus":
			out.Focus = out.Error != "" || len(f.Errors) == 0
		default:
			out.Autocomplete = m
		}
	}
	return out
}

// Text describes an input of several lines. The kind "code" is for text that a
// machine reads.
func (f *Typed) Text(name, word, kind, help string, more ...string) Input {
	out := f.Field(name, word, kind, help, more...)
	out.Rows = max(3, min(strings.Count(out.Value, "\n")+2, 24))
	return out
}

// Choice describes a choice among options.
func (f *Typed) Choice(name, word, help string, options []Option) Input {
	out := f.Field(name, word, "choice", help)
	out.Options = options
	return out
}

// Grouped describes a choice among many options.
func (f *Typed) Grouped(name, word, help string, groups []OptionGroup, more ...string) Input {
	out := f.Field(name, word, "choice", help, more...)
	out.Groups = groups
	return out
}

// Has reports whether a value of a set of boxes is ticked.
func (f *Typed) Has(name, value string) bool { return slices.Contains(f.Values[name], value) }
