package desk

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"

	"github.com/google/jsonschema-go/jsonschema"
)

// sheetRows is how many rows a page of a list has, and maxBulk how many can be
// changed at once.
const (
	sheetRows = 50
	maxBulk   = 100
)

// listData is what the template "list" shows.
type listData struct {
	Path, One, Many string
	Lead            string
	Seek, Query     string
	Chips           []chip
	Offer           []offer // filters that can be added
	Tabs            []tab
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
}

type (
	chip  struct{ Word, Value, Off string }
	offer struct {
		Field, Word, Kind, Pick string
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
	bulkButton struct{ Key, Word, Icon, Ask string }
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
	view := View{Title: cmp.Or(n.Title, Capital(n.Many)), Section: n.rail(), Data: d, Watch: n.Type, Own: true,
		API: v.Samples(n.ops()+".list", q)}
	if n.mayCreate(v) {
		view.Main = &Button{Text: "New " + n.One, Href: "/" + n.Path + "/new", Icon: "plus"}
	}
	if n.CreatePage != "" && v.May(n.ops()+".create") {
		view.Main = &Button{Text: n.CreateLabel, Href: n.CreatePage, Icon: "plus"}
	}
	d.Make = view.Main
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

// listInput reads the address as the input of the list's operation. What the
// operation does not know is ignored.
func (n *Noun[T]) listInput(v *Visit, q url.Values) Fields {
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
	v.Chosen(n.ops()+".list", in)
	if n.AdjustQuery != nil {
		n.AdjustQuery(v, in)
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
	table := n.columns(v)
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

// fillTools makes the tabs, the chips and the filters that can be added.
func (n *Noun[T]) fillTools(v *Visit, d *listData, q url.Values) error {
	tabbed := map[string]bool{}
	for _, t := range n.Tabs {
		want, err := url.ParseQuery(v.tabQuery(t.Query))
		if err != nil {
			return err
		}
		on := true
		for name := range want {
			on = on && slices.Equal(want[name], q[name])
			tabbed[name] = true
		}
		d.Tabs = append(d.Tabs, tab{t.Label, address("/"+n.Path, want), on && len(want) > 0})
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
	on := ""
	for _, t := range d.Tabs {
		if t.On {
			on = t.Href
		}
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
	d.Narrowed = d.Narrowed || d.Query != "" || on != "" && strings.Contains(on, "?")
	for name, texts := range q { // the search keeps the filters
		if slices.Contains([]string{"query", "offset", "done", "undo", "n"}, name) {
			continue
		}
		for _, text := range texts {
			d.Hidden = append(d.Hidden, pair{name, text})
		}
	}
	slices.SortFunc(d.Hidden, func(a, b pair) int { return strings.Compare(a.Name, b.Name) })
	for _, b := range n.Bulk {
		if v.May(n.ops() + ".update") {
			d.Bulk = append(d.Bulk, bulkButton{b.Key, b.Word, b.Icon, b.Ask})
		}
	}
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

// tabQuery fills in who asks and what day it is.
func (v *Visit) tabQuery(query string) string {
	return strings.NewReplacer("{me}", string(v.Session.User), "{today}", v.EndOfDay(0),
		"{now}", v.Now().String()).Replace(query)
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

// bulk changes or deletes the chosen rows, each by its own operation. Those that
// went through can be undone together.
func (n *Noun[T]) bulk(v *Visit) error {
	back := v.Back("/" + n.Path)
	var ids []id.ID
	for _, text := range v.R.PostForm["id"] {
		if ref, ok := id.Parse(text); ok && len(ids) < maxBulk {
			ids = append(ids, ref)
		}
	}
	if len(ids) == 0 {
		return v.Done(back, "nothing", nil)
	}
	what := v.Value("do")
	i := slices.IndexFunc(n.Bulk, func(b Bulk[T]) bool { return b.Key == what })
	if what != "delete" && i < 0 {
		return fault.NotFound.New()
	}
	var events []id.ID
	done := 0
	for _, ref := range ids {
		err := n.bulkOne(v, ref, what, i)
		if err != nil && fault.IsKind(err, fault.NotFound) {
			continue // somebody else was faster
		}
		if err != nil {
			if done == 0 {
				return err
			}
			var f *fault.Fault
			if !errors.As(err, &f) {
				return err
			}
			continue
		}
		done++
		e, err := v.lastEvent(ref)
		if err != nil {
			return err
		}
		if e != "" {
			events = append(events, e)
		}
	}
	word := "deleted"
	if i >= 0 {
		word = n.Bulk[i].Done
	}
	return v.Done(back, word, events, "n", strconv.Itoa(done))
}

func (n *Noun[T]) bulkOne(v *Visit, ref id.ID, what string, i int) error {
	if what == "delete" {
		return v.Do(n.ops()+".delete", Fields{"id": ref}, nil)
	}
	var current T
	if err := v.Do(n.ops()+".get", Fields{"id": ref}, &current); err != nil {
		return err
	}
	change := n.Bulk[i].Change(&current, v.Value("text-"+what))
	if change == nil {
		return nil
	}
	change["id"] = ref
	return v.Do(n.ops()+".update", change, nil)
}
