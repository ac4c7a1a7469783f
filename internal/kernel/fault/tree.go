package fault

import (
	"fmt"
	"sort"
	"strconv"
)

// Tree is the issues of a request, in its form: those of this value, and below it those of an object's fields or of an
// array's elements (null for a valid element). A nil *Tree is a value without issues, and all methods take one, so that
// issues are collected like this: tree = tree.Add("…").
type Tree struct {
	Errors     []string         `json:"errors"`
	Properties map[string]*Tree `json:"properties,omitzero"` // of an object, empty when nothing below it is wrong
	Items      []*Tree          `json:"items,omitempty"`
}

// Add adds an issue about this value.
func (t *Tree) Add(issue string) *Tree {
	t = t.newIfNil()
	t.Errors = append(t.Errors, issue)
	return t
}

// SetField sets the issues of one field of this object; nil changes nothing.
func (t *Tree) SetField(field string, c *Tree) *Tree {
	if c == nil {
		return t
	}
	t = t.newIfNil()
	t.AsObject().Properties[field] = c
	return t
}

// SetItem sets the issues of one element of this array; nil changes nothing.
func (t *Tree) SetItem(i int, c *Tree) *Tree {
	if c == nil {
		return t
	}
	t = t.newIfNil()
	for len(t.Items) <= i {
		t.Items = append(t.Items, nil)
	}
	t.Items[i] = c
	return t
}

// newIfNil returns t, or a new tree if it is nil.
func (t *Tree) newIfNil() *Tree {
	if t == nil {
		t = &Tree{Errors: []string{}}
	}
	return t
}

// At adds an issue at a path of field names (string) and indexes (int).
func (t *Tree) At(path []any, issue string) *Tree {
	if len(path) == 0 {
		return t.Add(issue)
	}
	t = t.newIfNil()
	switch step := path[0].(type) {
	case string:
		return t.SetField(step, t.Properties[step].At(path[1:], issue))
	case int:
		var c *Tree
		if step < len(t.Items) {
			c = t.Items[step]
		}
		return t.SetItem(step, c.At(path[1:], issue))
	default:
		panic(fmt.Sprintf("fault: a path is made of string and int, not %T", step))
	}
}

// AsObject marks the value as an object, so that JSON shows properties even if no field has issues.
func (t *Tree) AsObject() *Tree {
	if t != nil && t.Properties == nil {
		t.Properties = map[string]*Tree{}
	}
	return t
}

// PadItems gives an array with issues one entry per element, so that a client can match them by index.
func (t *Tree) PadItems(n int) *Tree {
	if t == nil || t.Items == nil {
		return t
	}
	for len(t.Items) < n {
		t.Items = append(t.Items, nil)
	}
	return t
}

// First is the first issue in the tree and its place, like items[0].name; the place is empty for the whole request.
func (t *Tree) First() (at, issue string) { return t.firstIssue("") }

// firstIssue is First for a tree at a place. Fields are in alphabetical order, so that the result is always the same.
func (t *Tree) firstIssue(at string) (string, string) {
	if t == nil {
		return "", ""
	}
	if len(t.Errors) > 0 {
		return at, t.Errors[0]
	}
	names := make([]string, 0, len(t.Properties))
	for name := range t.Properties {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		where := name
		if at != "" {
			where = at + "." + name
		}
		if p, issue := t.Properties[name].firstIssue(where); issue != "" {
			return p, issue
		}
	}
	for i, c := range t.Items {
		if p, issue := c.firstIssue(at + "[" + strconv.Itoa(i) + "]"); issue != "" {
			return p, issue
		}
	}
	return "", ""
}

// Fault turns the tree into a refusal whose sentence has the first issue and whose details are the tree. It is nil for
// a nil tree.
func (t *Tree) Fault(k *Kind) error {
	if t == nil {
		return nil
	}
	f := k.WithDetails(t.AsObject())
	if at, issue := t.firstIssue(""); at != "" {
		f.Text = at + ": " + issue
	} else {
		f.Text = issue
	}
	return f
}

// Field refuses one field of the body.
func Field(name, issue string) error { return AtPath([]any{name}, issue) }

// AtPath refuses one value of the body, at a path of field names (string) and indexes (int).
func AtPath(path []any, issue string) error { return (*Tree)(nil).At(path, issue).Fault(Invalid) }
