package property

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// Content is a value in the one field for its type; the others are null.
type Content struct {
	ValueText     *string     `json:"valueText" max:"2048" doc:"for text, url or select"`
	ValueNumber   *string     `json:"valueNumber" doc:"an exact decimal"`
	ValueBoolean  *bool       `json:"valueBoolean"`
	ValueDate     *clock.Date `json:"valueDate"`
	ValueTextList *[]string   `json:"valueTextList" doc:"for multi_select"`
}

// The bounds of a text, a URL and a list of options.
const (
	maxText    = 2000
	maxURL     = 2048
	maxOptions = 100
)

// parseValue turns the value in a body into content of the definition's type, or refuses it at
// that field.
func (d *PropertyDefinition) parseValue(value db.JSON) (Content, error) {
	var issue string
	var c Content
	switch d.ValueType {
	case "boolean":
		var b bool
		if issue = decodeValue(value, "boolean", &b); issue == "" {
			c.ValueBoolean = &b
		}
	case "number":
		text := string(value)
		if value.Kind() != '0' {
			issue = decodeValue(value, "number, or string that holds one", &text)
		}
		if issue == "" {
			text, issue = normalizeNumber(text)
		}
		c.ValueNumber = &text
	case "multi_select":
		var list []db.JSON
		if issue = decodeValue(value, "array of string", &list); issue == "" {
			return d.chooseOptions(list)
		}
	default:
		var text string
		if issue = decodeValue(value, "string", &text); issue == "" {
			issue = d.textIssue(text)
		}
		c.ValueText = &text
		if d.ValueType == "date" {
			c.ValueText, c.ValueDate = nil, (*clock.Date)(&text)
		}
	}
	if issue != "" {
		return Content{}, fault.Field("value", issue)
	}
	return c, nil
}

// decodeValue reads a JSON value into a pointer. want names the kind for the issue; null is never
// accepted.
func decodeValue(value db.JSON, want string, into any) (issue string) {
	if json.Unmarshal(value, into) != nil || value.Kind() == 'n' {
		return "Invalid input: expected " + want
	}
	return ""
}

// textIssue says what is wrong with the text of a text, url, date or select; empty if nothing
// is.
func (d *PropertyDefinition) textIssue(s string) string {
	switch d.ValueType {
	case "select":
		return d.optionIssue(s)
	case "date":
		return op.FormatIssue("date", s)
	case "url":
		return cmp.Or(lengthIssue(s, maxURL), op.FormatIssue("url", s))
	}
	return lengthIssue(s, maxText)
}

func lengthIssue(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return ""
	}
	return fmt.Sprintf("Too long: expected at most %d characters", most)
}

// missingOptions lists the options of a value that its definition no longer has.
func (d *PropertyDefinition) missingOptions(c *Content) (options []string) {
	if d.Options == nil {
		return nil
	}
	var chosen []string
	if c.ValueText != nil {
		chosen = []string{*c.ValueText}
	}
	if c.ValueTextList != nil {
		chosen = *c.ValueTextList
	}
	return slices.DeleteFunc(slices.Clone(chosen), func(s string) bool { return slices.Contains(*d.Options, s) })
}

func (d *PropertyDefinition) optionIssue(s string) string {
	options := *d.Options // a select always has options
	switch {
	case slices.Contains(options, s):
		return ""
	case len(options) > 10: // too many to list at every element
		return "Invalid option: not one of the definition's options"
	}
	return "Invalid option: expected one of " + strings.Join(options, ", ")
}

// chooseOptions turns the elements of an array into content, and refuses those
// that are not an option or appear twice.
func (d *PropertyDefinition) chooseOptions(elements []db.JSON) (Content, error) {
	if len(elements) > maxOptions {
		return Content{}, fault.Field("value", fmt.Sprintf("Too many: expected at most %d", maxOptions))
	}
	var tree *fault.Tree
	list := make([]string, len(elements))
	for i, e := range elements {
		issue := decodeValue(e, "string", &list[i])
		if issue == "" {
			issue = d.optionIssue(list[i])
		}
		if issue == "" && slices.Index(list, list[i]) < i {
			issue = duplicateIssue
		}
		if issue != "" {
			tree = tree.SetItem(i, (*fault.Tree)(nil).Add(issue))
		}
	}
	return Content{ValueTextList: &list}, (*fault.Tree)(nil).SetField("value",
		tree.PadItems(len(list))).Fault(fault.Invalid)
}
