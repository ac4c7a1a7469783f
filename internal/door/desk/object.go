package desk

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json"
)

// objectData is what the template "object" shows: what happened at the left, what
// is true at the right.
type objectData struct {
	ID       string
	Path     string
	Facts    []factGroup
	First    []*Section // above the facts
	Sections []*Section // at the side
	Above    []*Section // above the timeline
	Story    []day
	Earlier  string // the page of what happened before
	Later    string // the newest page, on an earlier one
	Compose  *composeData
	Back     string
	More     any
}

type factGroup struct {
	Head  string
	Facts []fact
	Rare  []fact // empty, and empty for most
}

// fact is a field that looks like text until it is touched.
type fact struct {
	Word string
	Cell Cell
	Edit string // the link that makes it a field; empty when it cannot be edited
	Form *Form  // while it is one
}

type composeData struct {
	To   string
	Tabs []composeTab
	On   Compose
}

type composeTab struct {
	Compose
	Href string
}

// object is a row with its JSON, which has the values of fields by name.
type object[T Row] struct {
	row     T
	raw     map[string]any
	version string // of what was read, for a change of just that
}

func (n *Noun[T]) get(v *Visit) (*object[T], error) {
	ref, err := v.PathID("id")
	if err != nil {
		return nil, err
	}
	body, err := v.Run(n.ops()+".get", Fields{"id": ref})
	if err != nil {
		return nil, err
	}
	o := object[T]{version: v.Catalog.Named(n.ops() + ".get").Version(body)}
	if err := json.Unmarshal(body, &struct {
		Data *T `json:"data"`
	}{&o.row}); err != nil {
		return nil, err
	}
	if n.Currency != nil {
		v.coin = n.Currency(&o.row)
	}
	err = json.Unmarshal(body, &struct {
		Data *map[string]any `json:"data"`
	}{&o.raw})
	return &o, err
}

// showObject shows an object's page.
func (n *Noun[T]) showObject(v *Visit) error {
	o, err := n.get(v)
	if err != nil {
		return err
	}
	return n.objectPage(v, http.StatusOK, o, nil)
}

// typedIn is a form on an object's page that was refused.
type typedIn struct {
	at     string // the field, or "emails" for a new row of a child
	posted url.Values
	whole  string
	wrong  map[string]string
	more   func(any) // changes what Data made, where the form is one of the layout
}

func (n *Noun[T]) objectPage(v *Visit, status int, o *object[T], t *typedIn) error {
	ref := string(o.row.RowID())
	at := "/" + n.Path + "/" + ref
	d := &objectData{ID: ref, Path: at, Back: v.With()}
	if v.R.Method == http.MethodPost {
		d.Back = at
	}
	name := n.Name(v, &o.row)
	view := View{Title: name, Section: n.rail(), Data: d, Own: true, Watch: n.Type + " " + n.watchedTypes(),
		Crumbs: []Crumb{{Capital(n.Many), "/" + n.Path}, {name, ""}}, API: v.ObjectSamples(n.ops(), ref)}
	if n.State != nil {
		p := n.State(v, &o.row)
		view.Badge = p
	}
	if n.AvatarShape != nil {
		view.Avatar = AvatarOf(name, n.AvatarShape(&o.row))
	}
	n.fillActions(v, o, &view, at)
	if err := n.fillFacts(v, o, d, t); err != nil {
		return err
	}
	for _, c := range n.Children {
		s, err := c.section(v, at, o.row.RowID(), t)
		if err != nil {
			return err
		}
		if s != nil && c.wide() {
			d.Above = append(d.Above, s)
		} else if s != nil {
			d.Sections = append(d.Sections, s)
		}
	}
	var err error
	if d.Above, err = n.sections(v, o, n.MainSections, d.Above); err != nil {
		return err
	}
	if d.First, err = n.sections(v, o, n.TopSections, nil); err != nil {
		return err
	}
	if d.Sections, err = n.sections(v, o, n.SideSections, d.Sections); err != nil {
		return err
	}
	if n.Compose != nil {
		d.Compose = n.composer(v, at, ref)
	}
	if err = n.fillStory(v, o, d); err != nil {
		return err
	}
	layout := "object"
	if n.Template != "" {
		layout = n.Template
	}
	if n.TemplateData != nil {
		if d.More, err = n.TemplateData(v, &o.row); err != nil {
			return err
		}
	}
	if t != nil && t.more != nil {
		t.more(d.More)
	}
	return v.Show(status, layout, view)
}

// composer is the box above the timeline with the tabs that the visitor may use, or nil when there are none.
func (n *Noun[T]) composer(v *Visit, at, ref string) *composeData {
	d := &composeData{To: at + "/compose"}
	for _, c := range n.Compose.Tabs {
		path, _, _ := strings.Cut(c.Page, "?")
		if !v.May(c.Op) || path != "" && !v.Has(path) {
			continue
		}
		tab := composeTab{Compose: c, Href: "?write=" + c.Key}
		if c.Page != "" {
			tab.Href = c.Page + ref
		} else if d.On.Key == "" || c.Key == v.R.URL.Query().Get("write") {
			d.On = c
		}
		d.Tabs = append(d.Tabs, tab)
	}
	if d.On.Key == "" {
		return nil
	}
	return d
}

func (n *Noun[T]) watchedTypes() string {
	words := []string{}
	for _, c := range n.Children {
		words = append(words, c.watchedTypes())
	}
	if len(n.Timeline) > 0 {
		words = append(words, "message", "task", "invoice")
	}
	return strings.Join(words, " ")
}

func (n *Noun[T]) sections(v *Visit, o *object[T], parts []Part[T], out []*Section) ([]*Section, error) {
	for _, p := range parts {
		s, err := p(v, &o.row)
		if err != nil {
			return nil, err
		}
		if s != nil {
			out = append(out, s)
		}
	}
	return out, nil
}

// fillActions makes the buttons: one main action, the others beside it, and
// what deletes in the menu.
func (n *Noun[T]) fillActions(v *Visit, o *object[T], view *View, at string) {
	for _, a := range n.Actions {
		if a.When != nil && !a.When(v, &o.row) || a.Op != "" && !v.May(a.Op) {
			continue
		}
		b := Button{Text: a.Label, Href: at + "/" + a.Key, Icon: a.Icon, Post: a.Form == nil && a.Explain == nil}
		if a.Link != nil {
			b.Href, b.Post = a.Link(v, &o.row), false
		}
		b.Away = len(a.Warnings) > 0
		switch {
		case a.IsMain && view.Main == nil:
			view.Main = &b
		case b.Away || a.InMenu || len(view.Buttons) > 1:
			view.More = append(view.More, b)
		default:
			view.Buttons = append(view.Buttons, b)
		}
	}
	if v.May(n.ops() + ".delete") {
		restores := v.Catalog.Named(n.ops()+".restore") != nil
		view.More = append(view.More, Button{Text: "Delete this " + n.One, Href: at + "/delete", Icon: "trash",
			Post: restores && n.DeleteWarning == nil, Away: true})
	}
}

func (n *Noun[T]) fillFacts(v *Visit, o *object[T], d *objectData, t *typedIn) error {
	editing := v.R.URL.Query().Get("edit")
	if t != nil {
		editing = t.at
	}
	group := factGroup{Head: "Facts"}
	var cells []*Cell
	flush := func() {
		if len(group.Facts) > 0 {
			d.Facts = append(d.Facts, group)
		}
	}
	for i, f := range n.Fields {
		if f.FormOnly {
			continue
		}
		if f.Group != "" {
			if i > 0 {
				flush()
			}
			group = factGroup{Head: f.Group}
		}
		x := fact{Word: f.Label, Cell: n.factCell(v, o, f)}
		if !f.ReadOnly && (n.Frozen == nil || !n.Frozen(&o.row)) && v.property(n.ops()+".update", f.Field) != nil &&
			v.May(n.ops()+".update") {
			x.Edit = v.With("edit", f.Field)
			if v.R.Method == http.MethodPost {
				x.Edit = d.Path + "?edit=" + f.Field
			}
			if editing == f.Field {
				form, err := n.factForm(v, o, f, d, t)
				if err != nil {
					return err
				}
				x.Form = form
			}
		}
		if f.OnDemand && x.Form == nil && x.Cell.empty() {
			group.Rare = append(group.Rare, x)
			continue
		}
		group.Facts = append(group.Facts, x)
	}
	flush()
	for i := range d.Facts {
		for j := range d.Facts[i].Facts {
			cells = append(cells, &d.Facts[i].Facts[j].Cell)
		}
	}
	return v.resolve(cells)
}

// factCell shows a field of the object as its schema says.
func (n *Noun[T]) factCell(v *Visit, o *object[T], f Field) Cell {
	if f.Show != nil {
		return f.Show(v, &o.row)
	}
	s := v.property(n.ops()+".update", f.Field)
	if s == nil {
		s = v.property(n.ops()+".create", f.Field)
	}
	value := o.raw[f.Field]
	switch x := value.(type) {
	case nil:
		return Cell{Kind: "text"}
	case bool:
		if x {
			return Text("Yes")
		}
		return Text("No")
	case []any:
		words := []string{}
		for _, w := range x {
			if text, ok := w.(string); ok {
				words = append(words, text)
			}
		}
		return Tags(words)
	case float64:
		if f.Kind == "money" {
			return v.MoneyCell(int64(x), v.Currency())
		}
		return Text(thousands(int(x)))
	case string:
		switch {
		case f.Ref != "":
			if ref, ok := id.Parse(x); ok {
				return LinkTo(f.Ref, &ref)
			}
		case s != nil && len(s.Enum) > 0:
			return Text(Capital(choice(x, f.ChoiceLabels)))
		case strings.Contains(x, "T") && (s == nil || s.Format == "date-time"):
			if t, err := clock.ParseTime(x); err == nil {
				return v.At(&t)
			}
		case inputKind(s) == "area" || f.Kind == "area":
			return Long(x)
		}
		return Text(x)
	}
	return Cell{Kind: "text"}
}

// DoneWith says what was done to an object, and offers to undo it.
func (v *Visit) DoneWith(path, what string, object id.ID) error {
	e, err := v.lastEvent(object)
	if err != nil {
		return err
	}
	if e == "" {
		return v.Done(path, what, nil)
	}
	return v.Done(path, what, []string{string(e)})
}

// askDelete asks before what cannot be taken back.
func (n *Noun[T]) askDelete(v *Visit) error {
	o, err := n.get(v)
	if err != nil {
		return err
	}
	at, name := "/"+n.Path+"/"+string(o.row.RowID()), n.Name(v, &o.row)
	f := &Form{To: at + "/delete", Back: at, Button: "Delete " + n.One, Away: true,
		Lead: "You can undo this right after."}
	if v.Catalog.Named(n.ops()+".restore") == nil {
		f.Lead = "This cannot be undone."
	}
	if n.DeleteWarning != nil {
		f.Lead, f.Lost = n.DeleteWarning(v, &o.row)
	}
	return v.Show(http.StatusOK, "form-page", View{Title: "Delete " + name + "?", Section: n.rail(), Data: f,
		Crumbs: []Crumb{{Capital(n.Many), "/" + n.Path}, {name, at}, {"Delete", ""}}})
}

func (n *Noun[T]) remove(v *Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	if err := v.Do(n.ops()+".delete", Fields{"id": ref}, nil); err != nil {
		return v.Explain(err, n.rail(), "/"+n.Path+"/"+string(ref))
	}
	to := v.Back("/" + n.Path)
	if v.Catalog.Named(n.ops()+".restore") == nil {
		return v.Done(to, "deleted", nil)
	}
	return v.DoneWith(to, "deleted", ref)
}

// Explain shows why something cannot be done, with a way back.
func (v *Visit) Explain(err error, section, back string) error {
	whole, fields, status, rest := Refused(err)
	if rest != nil {
		return rest
	}
	for name, text := range fields {
		whole = strings.TrimSpace(whole + " " + Capital(spaced(name)) + ": " + text + ".")
	}
	return v.Show(status, "refusal", View{Title: "That did not work", Section: section,
		Data: map[string]string{"Text": whole, "Back": back}})
}

// askAction shows what an action will do, with its form.
func (n *Noun[T]) askAction(v *Visit, a *Action[T]) error {
	o, err := n.get(v)
	if err != nil {
		return err
	}
	return n.actionPage(v, http.StatusOK, o, a, v.R.URL.Query(), "", nil)
}

func (n *Noun[T]) actionPage(v *Visit, status int, o *object[T], a *Action[T], typed url.Values, whole string,
	wrong map[string]string) error {
	at, name := "/"+n.Path+"/"+string(o.row.RowID()), n.Name(v, &o.row)
	f := &Form{To: at + "/" + a.Key, Back: at, Button: a.Label, Lost: a.Warnings, Away: len(a.Warnings) > 0, Main: true,
		Hidden: map[string]string{"key": string(id.New())}}
	if typed.Get("key") != "" {
		f.Hidden["key"] = typed.Get("key")
	}
	if a.Explain != nil {
		f.Lead = a.Explain(v, &o.row)
	}
	for i, field := range a.Form {
		first := ""
		if field.StartText != nil {
			first = field.StartText(v)
		} else if field.StartValue != nil {
			first = inputValue(v, field, field.StartValue(&o.row))
		} else if value, ok := o.raw[cmp.Or(field.StartField, field.Field)]; ok {
			first = inputValue(v, field, value)
		}
		in := v.Describe(a.Op, field, first)
		in.Focus = i == 0
		f.Fields = append(f.Fields, in)
	}
	f.Fill(typed, whole, wrong)
	if err := v.namePicks(f); err != nil {
		return err
	}
	view := View{Title: a.Label + ": " + name, Section: n.rail(), Data: f,
		Crumbs: []Crumb{{Capital(n.Many), "/" + n.Path}, {name, at}, {a.Label, ""}}}
	if a.Beside == nil {
		return v.Show(status, "form-page", view)
	}
	beside, err := n.besideForm(v, o, a, f)
	if err != nil {
		return err
	}
	f.Look = true
	view.Own, view.Data = true, map[string]any{"Form": f, "Beside": beside}
	return v.Show(status, "form-beside", view)
}

// besideForm is what stands beside an action's form, made of what is in it.
func (n *Noun[T]) besideForm(v *Visit, o *object[T], a *Action[T], f *Form) (*Section, error) {
	filled := url.Values{}
	for _, in := range f.Fields {
		filled.Set(in.Name, in.Value)
	}
	beside, err := a.Beside(v, &o.row, n.actionInput(v, o, a, filled))
	if err == nil {
		return beside, nil
	}
	whole, _, _, err := Refused(err)
	f.Error = cmp.Or(f.Error, whole)
	return nil, err
}

// actionInput is what an action's operation is asked for, without what cannot be read.
func (n *Noun[T]) actionInput(v *Visit, o *object[T], a *Action[T], posted url.Values) Fields {
	in, _ := v.Read(a.Op, a.Form, posted)
	for name, value := range in {
		if value == nil {
			delete(in, name)
		}
	}
	in["id"] = o.row.RowID()
	if a.FixedInput != nil {
		maps.Copy(in, a.FixedInput(v, &o.row))
	}
	if a.Adjust != nil {
		a.Adjust(v, &o.row, in)
	}
	return in
}

// runAction runs an action's operation, after the one before it.
func (a *Action[T]) runAction(v *Visit, in Fields) error {
	if a.First == "" {
		return v.Do(a.Op, in, nil)
	}
	return v.InOrder(Step{Operation: a.First, Input: func() Fields { return Fields{"id": in["id"]} }},
		Step{Operation: a.Op, Input: func() Fields { return in }})
}

func (n *Noun[T]) act(v *Visit, a *Action[T]) error {
	o, err := n.get(v)
	if err != nil {
		return err
	}
	if _, wrong := v.Read(a.Op, a.Form, v.R.PostForm); len(wrong) > 0 {
		return n.actionPage(v, http.StatusBadRequest, o, a, v.R.PostForm, "", wrong)
	}
	if v.Value("do") == showAgain {
		return n.actionPage(v, http.StatusOK, o, a, v.R.PostForm, "", nil)
	}
	if v.Value("key") != "" && a.Adjust == nil { // a form that is sent twice by mistake is carried out once
		v.once = a.Op
	}
	to := v.Back("/" + n.Path + "/" + string(o.row.RowID()))
	err = a.runAction(v, n.actionInput(v, o, a, v.R.PostForm))
	if a.Adjust != nil && fault.IsKind(err, fault.KeyReused) { // pressed twice: only what hangs on the hour differs
		return v.Redirect(to)
	}
	if err != nil {
		if len(a.Form) == 0 {
			return v.Explain(err, n.rail(), "/"+n.Path+"/"+string(o.row.RowID()))
		}
		whole, fields, status, err := Refused(err)
		if err != nil {
			return err
		}
		return n.actionPage(v, status, o, a, v.R.PostForm, whole, fields)
	}
	if strings.HasSuffix(a.Op, ".update") {
		return v.DoneWith(to, a.DoneKey, o.row.RowID())
	}
	done, undo := a.DoneKey, []string(nil)
	if a.Then != nil {
		if done, undo, err = a.Then(v, &o.row); err != nil {
			return err
		}
	}
	return v.Done(to, done, undo)
}

// showAgain is the button of a form that only wants to see what it would do now.
const showAgain = "look"

// compose saves what was written above the timeline.
func (n *Noun[T]) compose(v *Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	at := "/" + n.Path + "/" + string(ref)
	for _, c := range n.Compose.Tabs {
		if c.Key != v.Value("write") || c.Page != "" {
			continue
		}
		text := v.Value("text")
		if text == "" {
			return v.Redirect(at)
		}
		in := Fields{c.Field: text}
		if c.Set != nil {
			for name, value := range c.Set(v, ref) {
				in[name] = value
			}
		} else {
			in["id"] = ref
		}
		if err := v.Do(c.Op, in, nil); err != nil {
			return v.Explain(err, n.rail(), at)
		}
		return v.Done(at, c.Done, nil)
	}
	return fault.NotFound.New()
}
