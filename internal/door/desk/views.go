package desk

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/view"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A list begins with its views: the tabs that its noun declares, then what the reader and others have saved. The
// address of a saved view spells out its filters and columns beside its id, so whoever changes one sees both the view
// they came from and how theirs differs.

// columnsField is the part of an address that says which columns are shown, with commas between.
const columnsField = "columns"

// shownViews is how many saved views a list begins with.
const shownViews = 30

// ListViews are the saved views of a list, and what can be saved. The template "views" shows what can be done with
// them; the tabs belong beside those that are declared.
type ListViews struct {
	Path, Back string
	Tabs       []tab
	View       *savedView // the one that is shown; may be nil
	MaySave    bool       // what is shown is no view yet
}

// savedView is the saved view that a list shows, for its menu.
type savedView struct {
	ID, Name  string
	Shared    bool
	MayChange bool
	Changed   bool // the list is narrowed or sorted in another way by now
}

// ViewsOf are the saved views of the list at a path, as somebody sees them at an address.
func (v *Visit) ViewsOf(path string, q url.Values) (*ListViews, error) {
	n, d := v.noun(path), &ListViews{Path: path, Back: v.With()}
	if list := v.Catalog.Named(n.ops() + ".list"); !v.May("views.list") || !list.TakesView() {
		return d, nil
	}
	rows, _, err := List[view.View](v, "views.list",
		Fields{"objectType": []string{n.ops()}, "limit": shownViews, "sortOrder": "asc"})
	if err != nil {
		return nil, err
	}
	now := n.viewFields(v, q)
	for i := range rows {
		w := &rows[i]
		on := q.Get(op.ViewField) == string(w.ID)
		d.Tabs = append(d.Tabs, tab{w.Name, v.viewAddress(w), on})
		if !on {
			continue
		}
		d.View = &savedView{ID: string(w.ID), Name: w.Name, Shared: w.Shared,
			MayChange: v.May("views.update") && (v.Session.Manager() || IDOrEmpty(w.CreatedBy) == v.Session.User),
			Changed:   !sameJSON(now["query"], w.Query) || !slices.Equal(addressColumns(q), w.Columns)}
	}
	d.MaySave = v.May("views.create") && (d.View != nil && d.View.Changed ||
		d.View == nil && !n.isDeclaredView(v, now["query"]))
	return d, nil
}

// fillViews adds the saved views to the tabs that the noun declares.
func (n *Noun[T]) fillViews(v *Visit, d *listData, q url.Values) (err error) {
	if d.Views, err = v.ViewsOf(n.Path, q); err != nil || len(d.Views.Tabs) == 0 {
		return err
	}
	if len(n.Tabs) == 0 {
		d.Tabs = []tab{{"All", "/" + n.Path, true}}
	}
	for i := range d.Tabs {
		d.Tabs[i].On = d.Tabs[i].On && d.Views.View == nil
	}
	d.Tabs = append(d.Tabs, d.Views.Tabs...)
	return nil
}

// isDeclaredView reports whether a query is that of a tab, or of the list as it begins.
func (n *Noun[T]) isDeclaredView(v *Visit, query any) bool {
	return sameJSON(query, jsontext.Value("{}")) || slices.ContainsFunc(n.Tabs, func(t Tab) bool {
		want, err := v.TabQuery(t)
		return err == nil && sameJSON(query, n.addressInput(v, want))
	})
}

// viewFields is what the address of a list says, as a view keeps it: its filters and order, and its columns if the
// reader has left some out.
func (n *Noun[T]) viewFields(v *Visit, q url.Values) Fields {
	query := n.addressInput(v, q)
	delete(query, op.ViewField)
	delete(query, "include")
	if query[businessFilter] == everyBusiness {
		delete(query, businessFilter)
	}
	out := Fields{"query": query, "columns": addressColumns(q)}
	if shown := n.columns(v, q); len(shown) < len(n.Columns) {
		columns := []string{}
		for _, c := range shown[1:] {
			columns = append(columns, c.Field)
		}
		out["columns"] = columns
	}
	return out
}

// viewAddress is the list that a view shows.
func (v *Visit) viewAddress(w *view.View) string {
	n := v.ofOps(w.ObjectType)
	if n == nil {
		return "/views"
	}
	var query map[string]any
	if err := json.Unmarshal(w.Query, &query); err != nil {
		return "/" + n.path()
	}
	q := url.Values{}
	for name, value := range query {
		if name == n.by() {
			name = "query"
		}
		switch x := value.(type) {
		case []any:
			for _, one := range x {
				q.Add(name, addressText(one))
			}
		default:
			q.Set(name, addressText(x))
		}
	}
	if len(w.Columns) > 0 {
		q.Set(columnsField, strings.Join(w.Columns, ","))
	}
	q.Set(op.ViewField, string(w.ID))
	return address("/"+n.path(), q)
}

// addressText is a value of a view as an address has it.
func addressText(value any) string {
	switch x := value.(type) {
	case string:
		return x
	case bool:
		return strconv.FormatBool(x)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return ""
}

// addressColumns are the columns that an address names.
func addressColumns(q url.Values) []string { return splitWords(q.Get(columnsField)) }

// sameJSON reports whether two values are equal once they are JSON.
func sameJSON(a, b any) bool {
	text := func(value any) string {
		out, err := json.Marshal(jsonValue(value), json.Deterministic(true))
		if err != nil {
			return ""
		}
		return string(out)
	}
	return text(a) == text(b)
}

// saveView saves the list that a form was sent from: as a new view, or in place of what an old one was.
func saveView(v *Visit) error {
	n := v.noun(v.Value("path"))
	if n == nil {
		return fault.NotFound.New()
	}
	back := v.Back("/" + n.path())
	u, err := url.Parse(back)
	if err != nil {
		return err
	}
	in := n.viewFields(v, u.Query())
	operation := "views.create"
	if ref, ok := id.Parse(v.Value("view")); ok && v.Value("do") == "update" {
		operation, in["id"] = "views.update", ref
	} else {
		in["objectType"], in["name"], in["shared"] = n.ops(), v.Value("name"), v.Value("shared") == "yes"
	}
	var saved view.View
	if err := v.Do(operation, in, &saved); err != nil {
		return v.Explain(err, n.path(), back)
	}
	return v.Done(v.viewAddress(&saved), "saved", nil)
}

// OpenView is the page of a saved view: the list that it shows.
func OpenView(v *Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	var w view.View
	if err := v.Do("views.get", Fields{"id": ref}, &w); err != nil {
		return err
	}
	return v.Redirect(v.viewAddress(&w))
}
