package desk

import (
	"net/url"
	"slices"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// Row is what an operation answers with: a struct that embeds op.Record.
type Row interface{ RowID() id.ID }

// Noun is the declaration of a noun: everything that its pages need to know.
// Its list is at /Path, its form at /Path/new and each object at /Path/{id}. A
// page or a button whose operation does not exist, or that the visitor may not
// run, is not shown.
//
// Operations are found by name: Ops + ".list", ".get", ".create", ".update",
// ".delete" and ".restore". The kinds of fields follow from the schemas of those
// operations: an enum is a choice, a date-time is a date and a time, and so on.
type Noun[T Row] struct {
	Path    string // "contacts"; of the address
	Ops     string // "contacts"; by default the path with underscores
	Type    string // "contact": the resource type of its events
	RailKey string // which entry of the rail is current; by default the path

	One, Many string // "contact", "contacts"
	Title     string // of the list; by default Many
	Icon      string // of the sprite in parts/icons.html

	EmptyText   string // of an empty list: what this is for, in a sentence
	SearchHint  string // in the search field: "Name, email, phone"; empty when the list cannot be searched
	SearchField string // the field of the list that searches; by default "query"
	Tabs        []Tab
	Columns     []Column[T]

	AboveTemplate string                      // a template above the list: a quick way to add, folders
	AboveData     func(v *Visit) (any, error) // what that template gets
	AdjustQuery   func(v *Visit, in Fields)   // changes what the list asks for

	Filters []Filter
	// OwnFieldsOf is the kind of object whose own fields, which the business defined, filter the list: "contact".
	OwnFieldsOf string
	Bulk        []Bulk[T]
	Layouts     []Layout

	// Name is what people call the row; ListLine, how it looks in lists of other pages and in the search.
	Name        func(v *Visit, row *T) string
	ListLine    func(v *Visit, row *T) Line
	State       func(v *Visit, row *T) Pill
	AvatarShape func(row *T) string // of the avatar: "co" for a company; nil for a person

	Fields []Field // facts at the side of the object's page, edited in place
	// NotShown are fields of the update operation that are not among them. Each has a reason.
	NotShown []string
	Form     []Field // of the form for a new one; by default the fields that the operation takes
	FormHelp string  // above the form: what the button will do
	// BeforeCreate changes what the form sends, for what is not one field of the operation.
	BeforeCreate func(v *Visit, in Fields)
	// AdjustForm changes the form for a new one, by what it was opened with.
	AdjustForm func(v *Visit, f *Form) error
	// CreateWith creates one, where that takes more than the operation.
	CreateWith func(v *Visit, in Fields, made *T) error

	Actions      []Action[T]
	Children     []AnyChild   // rows that belong to it: a Child[C] each
	SideSections []Part[T]    // sections of the object's page beside the facts
	TopSections  []Part[T]    // sections above the facts
	MainSections []Part[T]    // sections above the timeline
	Timeline     []Source[T]  // what the timeline has beside the object's own events
	Compose      *Composer[T] // above the timeline
	// DeleteWarning says what deleting loses, where it cannot be undone.
	DeleteWarning func(v *Visit, row *T) (lead string, lost []string)

	// ListPage replaces the list page; the noun is then found by search and by reference alone.
	ListPage func(*Visit) error
	// ObjectPage replaces the object's page.
	ObjectPage func(*Visit) error
	// Total says what all rows of a list add up to, not only those of a page. It
	// gets the list's filters.
	Total func(v *Visit, filters Fields) (string, error)
	// Frozen objects show their facts and do not let them be edited.
	Frozen   func(row *T) bool
	NoCreate bool // nothing is created by a form of this noun
	// CreatePage creates one, where that is not a form; CreateLabel is the text of its button.
	CreatePage, CreateLabel string
	ImportPage              string // the page that takes rows in from a file
	ReadOnly                bool   // nothing is changed or deleted here
	HideFromSearch          bool   // only its own list searches it, not Ctrl-K
	// Currency is that of the object's sums, where it has one of its own.
	Currency func(row *T) string
	// Template is that of the object's page, in place of "object".
	Template string
	// TemplateData is what that template finds as .More.
	TemplateData func(v *Visit, row *T) (any, error)
}

// Tab is a view of a list that is asked for often: a word and the filters.
type Tab struct {
	Label string
	Query string // of the address: "status=open&status=in_progress"
}

// Layout is another way to show a list, at the address with view=Key: its filters and views stay.
type Layout struct {
	Key      string
	Template string
	Data     func(v *Visit, filters Fields) (any, error) // what that template gets
}

// Column is one column of a noun's list.
type Column[T Row] struct {
	Head  string
	Field string // of the row: what programs and saved views call it; the first column, which always stays, has none
	Sort  string // the operation's sortBy; empty when it cannot sort by this
	Width string // a class: w1 (narrow) to w4; empty takes what is left
	Fold  string // its place on a phone: "two" below the name, "three" at the right, "four" below that
	End   bool   // at the right, for numbers and times
	Cell  func(v *Visit, row *T) Cell
}

// Filter is a chip above a list: a query field of the list's operation.
type Filter struct {
	Field      string // "status"
	Label      string // "Status"
	Ref        string // the path of the noun whose id it takes
	HideChoice bool   // it can be removed, and is not offered: a page links to it
	ByDay      bool   // a date-time that is chosen as a day
}

// Bulk is what can be done to many chosen rows at once. Change says what to
// update in one row, given what was typed or chosen, or nil to leave it.
type Bulk[T Row] struct {
	Key, Word, Icon string
	Ask             string                  // the label of what is typed or chosen; empty when nothing is
	Options         func(v *Visit) []Option // what to choose from; nil where it is typed
	Op              string                  // that takes the row's id and the change; by default the noun's .update
	Already         *fault.Kind             // the refusal that means that the row is so already
	Done            string                  // "tagged"
	Change          func(row *T, text string) Fields
}

// Field is a field of a form, or a fact of an object.
type Field struct {
	Field      string // of the operation's input: "jobTitle"
	Label      string // "Job title"
	Help       string
	Kind       string                // overrides what the schema says: area, money, date, lines, password
	Ref        string                // the path of the noun whose id it takes
	Group      string                // starts a new group of facts with this title
	Hint       string                // in the empty field: an example
	Wide       bool                  // takes the whole row of a form
	StartText  func(v *Visit) string // the first value in a form for a new one
	StartField string                // the field of the object that an action's form starts with
	StartValue func(row any) any     // what an action's form starts with, where it is no field of the object
	// Options are what to choose from, where the schema does not say it.
	Options func(v *Visit) []Option
	// ChoiceLabels are the choices of an enum where their own names do not say enough.
	ChoiceLabels map[string]string
	// Show is for facts that are not one field of the object, or read better another way.
	Show     func(v *Visit, row any) Cell
	ReadOnly bool // shown, never edited
	OnDemand bool // most have none: shown on demand while it is empty
	// Required must be filled in here, though the operation takes it or leaves it.
	Required bool
	// FormOnly is a field of the form alone.
	FormOnly bool
	// RawChoices are shown as the API spells them: A, MX, TXT.
	RawChoices bool
}

// Action is a further thing that can be done with an object: an operation that
// takes its id. With Form or Explain, the button leads to a page that asks.
type Action[T Row] struct {
	Key        string // of the address: /invoices/{id}/issue
	Label      string // "Issue"
	Icon       string
	Op         string // "invoices.issue"; of a link, what its page does
	When       func(v *Visit, row *T) bool
	IsMain     bool                          // the page's one main action
	InMenu     bool                          // it stands in the menu behind the dots
	Explain    func(v *Visit, row *T) string // what it will do, in a sentence
	Warnings   []string                      // what cannot be taken back
	FixedInput func(v *Visit, row *T) Fields // fixed input
	Form       []Field
	First      string // an operation with the object's id that runs before Op; both happen or none does
	// Adjust changes what the form sends.
	Adjust func(v *Visit, row *T, in Fields)
	// Beside shows what the form would do, beside it. A refusal is said above the form.
	Beside  func(v *Visit, row *T, in Fields) (*Section, error)
	DoneKey string // "issued": the key of what the page then says
	// Then changes what the page says, and names what Undo can take back.
	Then func(v *Visit, row *T) (doneKey string, undo []string, err error)
	Link func(v *Visit, row *T) string // where a link leads; no operation then
}

// Part is a section of an object's page. It is shown when it returns a template.
type Part[T Row] func(v *Visit, row *T) (*Section, error)

// Section is a title, and a template of this package or of a room with its data.
type Section struct {
	Head  string
	Count string
	All   string // a link to the list that has all of it
	Word  string // of that link
	Name  string // of the template
	Data  any
}

// Source is where a part of the timeline comes from.
type Source[T Row] func(v *Visit, row *T) ([]Moment, error)

// Composer is the box above the timeline: it posts to the operation of the chosen
// tab.
type Composer[T Row] struct {
	Tabs []Compose
}

// Compose is one tab of a composer, or leads to the page that writes it.
type Compose struct {
	Key, Word, Icon string
	Page            string // its address, but for the object's id
	Op              string // with the object's id
	Field           string // that takes the text
	Label           string // of the field, which is also its placeholder
	Button          string
	Done            string
	Set             func(v *Visit, object id.ID) Fields
}

// noun is a Noun of any type.
type noun interface {
	path() string
	resourceType() string
	words() (one, many, icon string)
	check(d *Desk)
	pages(d *Desk) []Route
	lines(v *Visit, input Fields) ([]Line, Page, error)
	resolve(v *Visit, ids []id.ID) (map[id.ID]string, error)
	nameOf(v *Visit, data []byte) string
	field(name string) *Field
	fieldPlace(name string) int
	ops() string
	by() string
	viewFields(v *Visit, q url.Values) Fields
	isDeclaredView(v *Visit, query any) bool
	columnFields(heads []string) []string
	bulkButtons(v *Visit) []bulkButton
	searchable() bool
	mayList(v *Visit) bool
	mayCreate(v *Visit) bool
	listed() bool
	refused(v *Visit, t *typedIn) error
}

func (n *Noun[T]) path() string                    { return n.Path }
func (n *Noun[T]) resourceType() string            { return n.Type }
func (n *Noun[T]) words() (one, many, icon string) { return n.One, n.Many, n.Icon }
func (n *Noun[T]) searchable() bool                { return n.SearchHint != "" && !n.HideFromSearch }
func (n *Noun[T]) mayList(v *Visit) bool           { return v.May(n.ops() + ".list") }
func (n *Noun[T]) mayCreate(v *Visit) bool         { return !n.NoCreate && v.May(n.ops()+".create") }
func (n *Noun[T]) listed() bool                    { return len(n.Columns) > 0 || n.ListPage != nil }

func (n *Noun[T]) ops() string {
	if n.Ops != "" {
		return n.Ops
	}
	return strings.ReplaceAll(n.Path, "-", "_")
}

func (n *Noun[T]) by() string {
	if n.SearchField != "" {
		return n.SearchField
	}
	return "query"
}

func (n *Noun[T]) rail() string {
	if n.RailKey != "" {
		return n.RailKey
	}
	return n.Path
}

// check panics when the declaration is wrong, at start.
func (n *Noun[T]) check(d *Desk) {
	if n.Path == "" || n.One == "" || n.Many == "" || n.Name == nil || n.ListLine == nil {
		panic("desk: a noun needs Path, One, Many, Name and Line: " + n.Path)
	}
	list := d.Catalog.Named(n.ops() + ".list")
	if list == nil {
		panic("desk: there is no operation " + n.ops() + ".list")
	}
	for _, f := range n.Filters {
		if !list.HasQueryField(f.Field) {
			panic("desk: " + list.Name + " has no filter " + f.Field)
		}
	}
	for i, c := range n.Columns {
		if i > 0 && !list.HasAnswerField(c.Field) {
			panic("desk: what " + list.Name + " lists has no field " + c.Field + ", for the column " + c.Head)
		}
	}
	for _, f := range n.Fields {
		if f.Show == nil && d.property(n.ops()+".update", f.Field) == nil &&
			d.property(n.ops()+".create", f.Field) == nil && !f.ReadOnly {
			panic("desk: " + n.ops() + " has no field " + f.Field)
		}
	}
	n.checkShown(d)
	for _, a := range n.Actions {
		if a.Link == nil && d.Catalog.Named(a.Op) == nil {
			panic("desk: there is no operation " + a.Op)
		}
	}
}

// checkShown panics when the update operation takes a field that the object's page forgot,
// unless the page is the noun's own.
func (n *Noun[T]) checkShown(d *Desk) {
	update := d.Catalog.Named(n.ops() + ".update")
	if update == nil || n.ObjectPage != nil || n.ReadOnly {
		return
	}
	for _, name := range n.NotShown {
		if !update.HasBodyField(name) {
			panic("desk: " + update.Name + " does not take " + name + ", which is NotShown")
		}
	}
	for _, name := range d.schema(update.Name).PropertyOrder {
		isShown := slices.ContainsFunc(n.Fields, func(f Field) bool { return f.Field == name && !f.FormOnly })
		if update.HasBodyField(name) && isShown == slices.Contains(n.NotShown, name) {
			panic("desk: " + update.Name + " takes " + name +
				": it belongs in Fields or in NotShown, and not in both, of " + n.Path + " below internal/door/desk")
		}
	}
}

func (n *Noun[T]) pages(d *Desk) []Route {
	at := "/" + n.Path
	list := n.showList
	if n.ListPage != nil {
		list = n.ListPage
	}
	routes := []Route{{Pattern: "GET " + at, Show: list}}
	if d.Catalog.Named(n.ops()+".create") != nil && !n.NoCreate {
		routes = append(routes, Route{Pattern: "GET " + at + "/new", Show: n.showForm},
			Route{Pattern: "POST " + at + "/new", Show: n.create})
	}
	if d.Catalog.Named(n.ops()+".export") != nil {
		routes = append(routes, Route{Pattern: "GET " + at + "/export", Show: func(v *Visit) error {
			return v.Export(n.ops()+".export", v.R.URL.Query())
		}})
	}
	if !n.ReadOnly && (len(n.Bulk) > 0 || d.Catalog.Named(n.ops()+".delete") != nil) {
		routes = append(routes, Route{Pattern: "POST " + at + "/bulk", Show: n.bulk},
			Route{Pattern: "GET " + at + "/bulk", Show: func(v *Visit) error { return v.Redirect(at) }}) // a reload
	}
	if d.Catalog.Named(n.ops()+".get") == nil {
		return routes
	}
	object := n.showObject
	if n.ObjectPage != nil {
		object = n.ObjectPage
	}
	routes = append(routes, Route{Pattern: "GET " + at + "/{id}", Show: object})
	if n.ReadOnly {
		return routes
	}
	if d.Catalog.Named(n.ops()+".update") != nil {
		routes = append(routes, Route{Pattern: "POST " + at + "/{id}/edit", Show: n.edit})
	}
	if d.Catalog.Named(n.ops()+".delete") != nil {
		routes = append(routes, Route{Pattern: "GET " + at + "/{id}/delete", Show: n.askDelete},
			Route{Pattern: "POST " + at + "/{id}/delete", Show: n.remove})
	}
	for _, c := range n.Children {
		routes = append(routes, c.pages(d, at, n.ops())...)
	}
	if n.Compose != nil {
		routes = append(routes, Route{Pattern: "POST " + at + "/{id}/compose", Show: n.compose})
	}
	for _, a := range n.Actions {
		if a.Link == nil {
			routes = append(routes,
				Route{Pattern: "GET " + at + "/{id}/" + a.Key, Show: func(v *Visit) error {
					return n.askAction(v,
						&a)
				}},
				Route{Pattern: "POST " + at + "/{id}/" + a.Key, Show: func(v *Visit) error { return n.act(v, &a) }})
		}
	}
	return routes
}

// fieldPlace is a field's place among the facts, or -1.
func (n *Noun[T]) fieldPlace(name string) int {
	return slices.IndexFunc(n.Fields, func(f Field) bool { return f.Field == name })
}

// field is a field by its name, or nil.
func (n *Noun[T]) field(name string) *Field {
	for _, list := range [][]Field{n.Fields, n.Form} {
		for i := range list {
			if list[i].Field == name {
				return &list[i]
			}
		}
	}
	return nil
}
