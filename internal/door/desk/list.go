package desk

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/property"

	"github.com/google/jsonschema-go/jsonschema"
)

// sheetRows is how many rows a page of a list has.
const sheetRows = 50

// listData is what the template "list" shows.
type listData struct {
	Path, One, Many string
	Lead            string
	Seek, Query     string
	Chips           []chip
	Offer           []offer // filters that can be added
	Tabs            []tab
	Views           *ListViews
	Heads           []head
	Rows            []row
	Range, Sum      string
	Earlier, Later  string
	Bulk            []bulkButton
	Away            bool // rows can be deleted
	Hidden          []pair
	Error           string
	Narrowed        bool    // by a filter or a search
	Make            *Button // what makes the first one; may be nil
	Export, Import  string
	Columns         []columnChoice
	Dense           bool
	Back            string
	Before          string
	BeforeData      any
	Layout          string // the template that shows the list, where it is no table
	LayoutData      any
	Ticks           bool // rows have a box that ticks them off
}

type (
	chip  struct{ Word, Value, Off string }
	offer struct {
		Field, Word, Kind, Pick string
		Key                     string // of one of the business's own fields
		Options                 []Option
	}
	tab struct {
		Word, Href string
		On         bool
	}
	head struct {
		Text, Href, Sorted string
		Class              string
	}
	row struct {
		ID    string
		Name  string
		Href  string
		Cells []cellIn
	}
	cellIn struct {
		*Cell
		Class string
		First bool
		Href  string // of the row, for the first cell
	}
	pair       struct{ Name, Value string }
	bulkButton struct {
		Key, Word, Icon, Ask string
		Options              []Option
	}
)

// showList shows a noun's list: what the address asks for, as the API's own
// filters. A filter that the operation refuses is explained above an empty list.
func (n *Noun[T]) showList(v *Visit) error {
	if err := v.Permit(n.ops() + ".list"); err != nil {
		return err
	}
	q := v.R.URL.Query()
	d := &listData{Path: n.Path, One: n.One, Many: n.Many, Lead: n.EmptyText, Seek: n.SearchHint, Query: q.Get("query"),
		Away: !n.ReadOnly && v.May(n.ops()+".delete"), Back: v.With(), Before: n.AboveTemplate}
	in := n.listInput(v, q)
	offset, _ := strconv.Atoi(q.Get("offset"))
	offset = max(0, min(offset, 10_000_000))
	in["limit"], in["offset"] = sheetRows, offset
	if layout := n.layout(q); layout != nil {
		return n.showLayout(v, d, q, layout)
	}
	rows, page, err := List[T](v, n.ops()+".list", in)
	if err != nil {
		whole, wrong, _, err := Refused(err)
		if err != nil {
			return err
		}
		d.Error = whole
		for field, text := range wrong {
			d.Error = Capital(spaced(field)) + ": " + text
		}
	}
	if err := n.fillRows(v, d, rows); err != nil {
		return err
	}
	if err := n.fillTools(v, d, q); err != nil {
		return err
	}
	if n.AboveData != nil {
		if d.BeforeData, err = n.AboveData(v); err != nil {
			return err
		}
	}
	n.fillPager(v, d, page, offset, len(rows))
	view := n.listView(v, d)
	view.API, d.Make = v.Samples(n.ops()+".list", q), view.Main
	if n.ImportPage != "" && v.May("imports.create") {
		d.Import = n.ImportPage
	}
	if page.Total != nil {
		view.Sub = thousands(*page.Total)
	}
	if n.Total != nil && len(rows) > 0 {
		for _, name := range []string{"limit", "offset", "sortBy", "sortOrder", "include"} {
			delete(in, name)
		}
		if d.Sum, err = n.Total(v, in); err != nil {
			return err
		}
	}
	return v.Show(http.StatusOK, "list", view)
}

// LayoutAt is the list in another way, with its filters.
func (d *listData) LayoutAt(key string) string {
	u, err := url.Parse(d.Back)
	if err != nil {
		return "/" + d.Path
	}
	q := u.Query()
	q.Del("offset")
	q.Set(layoutField, key)
	return address(u.Path, q)
}

// layoutField is the part of an address that says how a list is shown.
const layoutField = "view"

// layout is the way to show the list that an address asks for; nil for a table.
func (n *Noun[T]) layout(q url.Values) *Layout {
	i := slices.IndexFunc(n.Layouts, func(l Layout) bool { return l.Key == q.Get(layoutField) })
	if i < 0 {
		return nil
	}
	return &n.Layouts[i]
}

// showLayout shows a list in another way, below the same tabs and filters.
func (n *Noun[T]) showLayout(v *Visit, d *listData, q url.Values, l *Layout) (err error) {
	if err := n.fillTools(v, d, q); err != nil {
		return err
	}
	for i := range d.Tabs {
		if u, err := url.Parse(d.Tabs[i].Href); err == nil {
			query := u.Query()
			query.Set(layoutField, l.Key)
			d.Tabs[i].Href = address(u.Path, query)
		}
	}
	d.Layout, d.Before = l.Template, ""
	if d.LayoutData, err = l.Data(v, n.listInput(v, q)); err != nil {
		return v.Explain(err, n.rail(), "/"+n.Path)
	}
	return v.Show(http.StatusOK, "list", n.listView(v, d))
}

// listView is the frame around the list, with what makes a new one.
func (n *Noun[T]) listView(v *Visit, d *listData) View {
	view := View{Title: cmp.Or(n.Title, Capital(n.Many)), Section: n.rail(), Data: d, Watch: n.Type, Own: true}
	if n.mayCreate(v) {
		view.Main = &Button{Text: "New " + n.One, Href: "/" + n.Path + "/new", Icon: "plus"}
	}
	if n.CreatePage != "" && v.May(n.ops()+".create") {
		view.Main = &Button{Text: n.CreateLabel, Href: n.CreatePage, Icon: "plus"}
	}
	return view
}

// listInput is what the list's operation is asked for at an address.
func (n *Noun[T]) listInput(v *Visit, q url.Values) Fields {
	in := n.addressInput(v, q)
	delete(in, op.ViewField) // the address spells out its filters
	v.Chosen(n.ops()+".list", in)
	if n.AdjustQuery != nil {
		n.AdjustQuery(v, in)
	}
	return in
}

// addressInput reads the address as the input of the list's operation. What the
// operation does not know is ignored.
func (n *Noun[T]) addressInput(v *Visit, q url.Values) Fields {
	in := Fields{}
	s := v.schema(n.ops() + ".list")
	for name, texts := range q {
		if name == "query" {
			name = n.by()
		}
		p := s.Properties[name]
		if p == nil || len(texts) == 0 || texts[0] == "" || name == "limit" || name == "offset" || name == "cursor" {
			continue
		}
		in[name] = typed(v, p, texts)
	}
	return in
}

// typed reads values of an address as a field takes them. What does not fit is
// passed on as it is, for the operation to refuse.
func typed(v *Visit, s *jsonschema.Schema, texts []string) any {
	switch kindOf(s) {
	case "array":
		return texts
	case "integer":
		if n, err := strconv.Atoi(texts[0]); err == nil {
			return n
		}
	case "boolean":
		if b, err := strconv.ParseBool(texts[0]); err == nil {
			return b
		}
	}
	if s.Format == "date-time" {
		if t, issue := v.ReadTime(texts[0]); issue == "" {
			return t
		}
	}
	return texts[0]
}

// fillRows makes the table.
func (n *Noun[T]) fillRows(v *Visit, d *listData, rows []T) error {
	q := v.R.URL.Query()
	table := n.columns(v, q)
	d.Columns, d.Dense = n.heads(v), v.density() == ""
	for _, c := range table {
		h := head{Text: c.Head, Class: c.class()}
		if c.Sort != "" {
			order := "asc"
			if q.Get("sortBy") == c.Sort {
				h.Sorted = "descending"
				if q.Get("sortOrder") == "asc" {
					h.Sorted, order = "ascending", "desc"
				}
			}
			h.Href = v.With("sortBy", c.Sort, "sortOrder", order, "offset", "")
		}
		d.Heads = append(d.Heads, h)
	}
	var all []*Cell
	for i := range rows {
		ref := string(rows[i].RowID())
		r := row{ID: ref, Name: n.Name(v, &rows[i]), Href: "/" + n.Path + "/" + ref}
		for j, c := range table {
			cell := c.Cell(v, &rows[i])
			d.Ticks = d.Ticks || cell.Tick != ""
			all = append(all, &cell)
			in := cellIn{Cell: &cell, Class: c.class(), First: j == 0}
			if in.First {
				in.Href = r.Href
			}
			r.Cells = append(r.Cells, in)
		}
		d.Rows = append(d.Rows, r)
	}
	return v.resolve(all)
}

func (c *Column[T]) class() string {
	words := []string{}
	if c.Width != "" {
		words = append(words, c.Width)
	}
	if c.Fold != "" {
		words = append(words, "say", c.Fold)
	}
	if c.End {
		words = append(words, "end")
	}
	return strings.Join(words, " ")
}

// fillTabs makes the tabs: the declared views, then the saved ones. It returns the address of the declared one that is
// shown, if it is one.
func (n *Noun[T]) fillTabs(v *Visit, d *listData, q url.Values) (on string, err error) {
	tabbed := map[string]bool{}
	for _, t := range n.Tabs {
		want, err := v.TabQuery(t)
		if err != nil {
			return "", err
		}
		fits := len(want) > 0
		for name := range want {
			fits = fits && slices.Equal(want[name], q[name])
			tabbed[name] = true
		}
		d.Tabs = append(d.Tabs, tab{t.Label, address("/"+n.Path, want), fits})
	}
	if len(d.Tabs) > 0 && !slices.ContainsFunc(d.Tabs, func(t tab) bool { return t.On }) {
		plain := true
		for name := range tabbed {
			plain = plain && !q.Has(name)
		}
		for i, t := range n.Tabs {
			d.Tabs[i].On = plain && t.Query == ""
		}
	}
	for _, t := range d.Tabs {
		if t.On {
			on = t.Href
		}
	}
	if err := n.fillViews(v, d, q); err != nil {
		return "", err
	}
	if d.Views.View != nil {
		return "", nil // the filters of a saved view are shown, so that they can be changed
	}
	return on, nil
}

// fillTools makes the tabs, the chips and the filters that can be added.
func (n *Noun[T]) fillTools(v *Visit, d *listData, q url.Values) error {
	on, err := n.fillTabs(v, d, q)
	if err != nil {
		return err
	}
	if b := v.chosen(); b != nil && q.Get(businessFilter) == "" && v.property(n.ops()+".list", businessFilter) != nil {
		d.Narrowed = true
		d.Chips = append(d.Chips, chip{"Business", b.Name, v.With(businessFilter, everyBusiness, "offset", "")})
	}
	for _, f := range n.Filters {
		if q.Get(f.Field) != "" {
			if strings.Contains(on, f.Field+"=") {
				continue // the tab says it
			}
			d.Narrowed = true
			value, err := n.filterWord(v, f, q[f.Field])
			if err != nil {
				return err
			}
			d.Chips = append(d.Chips, chip{f.Label, value, v.With(f.Field, "", "offset", "")})
			continue
		}
		if f.HideChoice {
			continue
		}
		d.Offer = append(d.Offer, n.offer(v, f))
	}
	if err := n.fillOwnFields(v, d, q); err != nil {
		return err
	}
	d.Narrowed = d.Narrowed || d.Query != "" || on != "" && strings.Contains(on, "?")
	for name, texts := range q { // the search keeps the filters
		if name == "query" || name == "offset" || slices.Contains(saidOnce, name) {
			continue
		}
		for _, text := range texts {
			d.Hidden = append(d.Hidden, pair{name, text})
		}
	}
	slices.SortFunc(d.Hidden, func(a, b pair) int { return strings.Compare(a.Name, b.Name) })
	d.Bulk = n.bulkButtons(v)
	if v.Catalog.Named(n.ops()+".export") != nil {
		d.Export = strings.Replace(v.With("offset", ""), "/"+n.Path, "/"+n.Path+"/export", 1)
	}
	return nil
}

// filterWord is the value of a filter, in words.
func (n *Noun[T]) filterWord(v *Visit, f Filter, texts []string) (string, error) {
	if f.Ref != "" {
		if ref, ok := id.Parse(texts[0]); ok {
			names, err := v.Names(f.Ref, []id.ID{ref})
			if name := names[ref]; name != "" || err != nil {
				return name, err
			}
		}
		if texts[0] == "me" {
			return "me", nil
		}
		return texts[0], nil
	}
	words := make([]string, len(texts))
	for i, t := range texts {
		words[i] = choice(t, nil)
	}
	s := v.property(n.ops()+".list", f.Field)
	switch {
	case kindOf(s) == "boolean" && texts[0] == "true":
		return "yes", nil
	case kindOf(s) == "boolean":
		return "no", nil
	case s != nil && s.Format == "date-time":
		if t, issue := v.ReadTime(texts[0]); issue == "" {
			text, _, _ := strings.Cut(t.(string), "T")
			return text, nil
		}
	}
	return JoinAnd(words), nil
}

func (n *Noun[T]) offer(v *Visit, f Filter) offer {
	o := offer{Field: f.Field, Word: f.Label, Kind: "text"}
	s := v.property(n.ops()+".list", f.Field)
	enum := s.Enum
	if kindOf(s) == "array" && s.Items != nil {
		enum = s.Items.Enum
	}
	switch {
	case f.Ref == "members" || f.Ref == "businesses":
		o.Options = v.choices(f.Ref)
	case f.Ref != "":
		o.Pick = f.Ref
	case len(enum) > 0:
		for _, e := range enum {
			if text, ok := e.(string); ok {
				o.Options = append(o.Options, Option{text, Capital(choice(text, nil))})
			}
		}
	case kindOf(s) == "boolean":
		o.Options = []Option{{"true", "Yes"}, {"false", "No"}}
	case s.Format == "date-time":
		o.Kind = "date"
	}
	return o
}

// The filters for the business's own fields name one field and one value of it.
const (
	propertyKey   = "propertyKey"
	propertyValue = "propertyValue"
)

// fillOwnFields offers a filter for each field that the business defined itself.
func (n *Noun[T]) fillOwnFields(v *Visit, d *listData, q url.Values) error {
	if n.OwnFieldsOf == "" || !v.May("property_definitions.list") {
		return nil
	}
	rows, _, err := List[property.PropertyDefinition](v, "property_definitions.list",
		Fields{"objectType": []string{n.OwnFieldsOf}, "limit": 100, "sortBy": "name", "sortOrder": "asc"})
	if err != nil {
		return err
	}
	kinds := map[string]string{"number": "number", "date": "date"}
	for _, p := range rows {
		o := offer{Field: propertyValue, Key: p.Key, Word: p.Name, Kind: cmp.Or(kinds[p.ValueType], "text")}
		if p.ValueType == "boolean" {
			o.Options = []Option{{"true", "Yes"}, {"false", "No"}}
		}
		if p.Options != nil {
			for _, word := range *p.Options {
				o.Options = append(o.Options, Option{word, word})
			}
		}
		if q.Get(propertyKey) == p.Key {
			d.Narrowed = true
			d.Chips = append(d.Chips, chip{p.Name, OptionText(o.Options, q.Get(propertyValue)),
				v.With(propertyKey, "", propertyValue, "", "offset", "")})
			continue
		}
		d.Offer = append(d.Offer, o)
	}
	return nil
}

// TabQuery is the address of a tab, with who asks and what day it is filled in.
func (v *Visit) TabQuery(t Tab) (url.Values, error) {
	return url.ParseQuery(strings.NewReplacer("{me}", string(v.Session.User), "{today}", v.EndOfDay(0),
		"{now}", v.Now().String()).Replace(t.Query))
}

func (n *Noun[T]) fillPager(v *Visit, d *listData, page Page, offset, rows int) {
	if rows == 0 {
		return
	}
	d.Range = thousands(offset+1) + "–" + thousands(offset+rows)
	if page.Total != nil {
		d.Range += " of " + thousands(*page.Total)
	}
	if offset > 0 {
		d.Earlier = v.With("offset", strconv.Itoa(max(0, offset-sheetRows)))
	}
	if page.HasMore {
		d.Later = v.With("offset", strconv.Itoa(offset+sheetRows))
	}
}

// lines are rows as other pages show them.
func (n *Noun[T]) lines(v *Visit, in Fields) ([]Line, Page, error) {
	if text, ok := in["query"]; ok && n.by() != "query" {
		delete(in, "query")
		in[n.by()] = text
	}
	rows, page, err := List[T](v, n.ops()+".list", in)
	if err != nil {
		return nil, page, err
	}
	out := make([]Line, len(rows))
	refs := map[string][]id.ID{}
	for i := range rows {
		l := n.ListLine(v, &rows[i])
		l.ID, l.Href = rows[i].RowID(), "/"+n.Path+"/"+string(rows[i].RowID())
		if l.Icon == "" && l.Avatar == nil && l.Tick == "" {
			l.Icon = n.Icon
		}
		if l.Ref != nil {
			refs[l.Ref.Path] = append(refs[l.Ref.Path], l.Ref.ID)
		}
		out[i] = l
	}
	for path, ids := range refs {
		names, err := v.Names(path, ids)
		if err != nil {
			return nil, page, err
		}
		for i := range out {
			if r := out[i].Ref; r != nil && r.Path == path && out[i].Faint == "" {
				out[i].Faint = names[r.ID]
			}
		}
	}
	return out, page, nil
}

// Lines are rows of a noun as other pages show them, and where they are.
func (v *Visit) Lines(path string, in Fields) ([]Line, Page, error) {
	n := v.noun(path)
	if n == nil || !n.mayList(v) {
		return nil, Page{}, nil
	}
	return n.lines(v, in)
}
