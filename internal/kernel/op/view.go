package op

import (
	"context"
	"reflect"
	"slices"

	"frontdesk/internal/kernel/id"
)

// ViewField is the parameter by which a list or an export names a saved view (Browse).
const ViewField = "viewId"

// ViewFinder finds the filters of a saved view, as an object of the list's parameters. list is the name of the list's
// operation. A view that the caller cannot see, or that is of another list, is refused at ViewField.
type ViewFinder func(ctx context.Context, c *Call, list string, view id.ID) (query []byte, err error)

// TakesView reports whether the operation is a list that views can be saved of.
func (o *Op) TakesView() bool { return o.isList && o.in.props[ViewField] != nil }

// applyView fills in the filters of the view that the input names. What the request itself says wins: a field is taken
// from the view where the input has nothing but its default.
func (o *Op) applyView(ctx context.Context, c *Call, in reflect.Value) error {
	field := o.in.props[ViewField]
	if field == nil || c.runner == nil || c.runner.FindView == nil {
		return nil
	}
	view, ok := fieldByIndex(in, field.index).Interface().(*id.ID)
	if !ok || view == nil {
		return nil
	}
	list := o
	if o.exportedList != nil {
		list = o.exportedList
	}
	query, err := c.runner.FindView(ctx, c, list.Name, *view)
	if err != nil {
		return err
	}
	saved := list.newBlankInput()
	if decodeJSON(list.in, query, saved, nil) != nil {
		return refuseQueryField(ViewField, "The list has changed since this view was saved. Save it again.")
	}
	for _, p := range o.in.order {
		to := fieldByIndex(in, p.index)
		if p != field && reflect.DeepEqual(to.Interface(), fieldByIndex(o.blankInput, p.index).Interface()) {
			to.Set(fieldByIndex(saved, p.index))
		}
	}
	return nil
}

// AnswerFields names the fields of the rows that the operation answers with, as a caller always gets them.
func (o *Op) AnswerFields() (names []string) {
	if o.out == nil {
		return nil
	}
	for _, p := range o.out.order {
		if !p.omitted && p.name != "deletedAt" && p.name != "organizationId" {
			names = append(names, p.name)
		}
	}
	return names
}

// HasAnswerField reports whether the rows that the operation answers with have a field.
func (o *Op) HasAnswerField(name string) bool { return slices.Contains(o.AnswerFields(), name) }
