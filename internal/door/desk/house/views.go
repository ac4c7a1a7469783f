package house

import (
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/resource/view"
)

// views are the lists that people have saved. Each is made, renamed and deleted where it is used, on its list; this
// page has them all.
var views = &desk.Noun[view.View]{
	Path: "views", Type: "view", RailKey: "settings", One: "view", Many: "views", Title: "Saved views", Icon: "columns",
	NoCreate: true, HideFromSearch: true, ObjectPage: desk.OpenView,
	EmptyText: "Filter or sort a list, then press “Save this view”. It becomes a tab of that list.",
	Columns: []desk.Column[view.View]{
		{Head: "Name", Width: "w4", Cell: func(_ *desk.Visit, w *view.View) desk.Cell { return desk.Text(w.Name) }},
		{Head: "List", Field: "objectType", Width: "w3", Fold: "two",
			Cell: func(_ *desk.Visit, w *view.View) desk.Cell {
				return desk.Text(desk.Capital(strings.ReplaceAll(w.ObjectType, "_", " ")))
			}},
		{Head: "Who sees it", Field: "shared", Fold: "three", Cell: func(_ *desk.Visit, w *view.View) desk.Cell {
			return desk.Text(seenBy(w))
		}},
		{Head: "Changed", Field: "updatedAt", Width: "w1", Fold: "four", End: true,
			Cell: func(v *desk.Visit, w *view.View) desk.Cell { return v.At(&w.UpdatedAt) }},
	},
	Name: func(_ *desk.Visit, w *view.View) string { return w.Name },
	ListLine: func(_ *desk.Visit, w *view.View) desk.Line {
		return desk.Line{Icon: "columns", Text: w.Name, Faint: seenBy(w)}
	},
	Fields: []desk.Field{{Field: "name", Label: "Name"}, {Field: "shared", Label: "Everybody sees it"}},
}

func seenBy(w *view.View) string {
	if w.Shared {
		return "everybody"
	}
	return "only you"
}
