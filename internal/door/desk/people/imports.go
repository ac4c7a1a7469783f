package people

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/proposal"
	"frontdesk/internal/resource/transfer"
)

// imports are files that were taken in. A file is looked at first: it is kept as
// a file until somebody starts the import.
var imports = &desk.Noun[transfer.Import]{
	Path: "imports", Type: "import", One: "import", Many: "imports", Icon: "import", RailKey: "contacts",
	NoCreate: true, ReadOnly: true, CreatePage: "/imports/new", CreateLabel: "Import a file",
	EmptyText: "Bring contacts and customers along from a CSV or vCard file. You see what each line will do first.",
	Columns: []desk.Column[transfer.Import]{
		{Head: "File", Cell: func(_ *desk.Visit, i *transfer.Import) desk.Cell { return desk.Text(i.FileName) }},
		{Head: "What", Width: "w2", Fold: "two", Cell: func(_ *desk.Visit, i *transfer.Import) desk.Cell {
			return desk.Text(desk.Capital(i.ObjectType))
		}},
		{Head: "State", Width: "w2", Fold: "four", Cell: func(_ *desk.Visit, i *transfer.Import) desk.Cell {
			return desk.State(stateOf(i))
		}},
		{Head: "Added", Width: "w1", End: true, Cell: number(func(c transfer.Counts) int { return c.Created })},
		{Head: "Changed", Width: "w1", End: true, Cell: number(func(c transfer.Counts) int { return c.Updated })},
		{Head: "Errors", Width: "w1", End: true, Cell: number(func(c transfer.Counts) int { return c.Failed })},
		{Head: "When", Sort: "createdAt", Width: "w1", Fold: "three", End: true,
			Cell: func(v *desk.Visit, i *transfer.Import) desk.Cell { return v.At(&i.CreatedAt) }},
	},
	Filters: []desk.Filter{{Field: "status", Label: "State"}, {Field: "objectType", Label: "What"}},
	Name:    func(_ *desk.Visit, i *transfer.Import) string { return i.FileName },
	ListLine: func(v *desk.Visit, i *transfer.Import) desk.Line {
		return desk.Line{Icon: "import", Text: i.FileName, Pill: stateOf(i), Time: v.When(i.CreatedAt)}
	},
	ObjectPage: showImport,
}

var _ = desk.AddDoneTexts(map[string]string{"importing": "The import has begun.",
	"undone-import": "Undone. What nobody changed since is as it was before."})

func number(of func(transfer.Counts) int) func(*desk.Visit, *transfer.Import) desk.Cell {
	return func(_ *desk.Visit, i *transfer.Import) desk.Cell {
		if of(i.Counts) == 0 {
			return desk.Text("")
		}
		c := desk.Text(thousands(of(i.Counts)))
		c.Num = true
		return c
	}
}

func thousands(n int) string { return strings.TrimSpace(desk.Count(n, "", "")) }

func stateOf(i *transfer.Import) desk.Pill {
	switch i.Status {
	case transfer.Succeeded:
		if i.Counts.Failed > 0 {
			return desk.Pill{Text: "done, with errors", Tone: "warn"}
		}
		return desk.Pill{Text: "done", Tone: "good"}
	case transfer.Failed:
		return desk.Pill{Text: "failed", Tone: "bad"}
	case transfer.Running:
		return desk.Pill{Text: "running"}
	}
	return desk.Pill{Text: "waiting"}
}

// importData is an import, or what one would do. The template is "import".
type importData struct {
	Import  *transfer.Import
	Figures []figure
	Errors  []transfer.Issue
	More    string // how many errors are not shown
	Ignored string
	Lines   []importLine
	Tabs    []outcome // one for each kind of outcome, with its count
	Range   string    // which of the lines the page shows
	Earlier string
	Later   string
	Check   bool   // nothing was stored yet
	File    string // of a check
	Button  string
	Running bool
	Error   string
	Undo    string
	Undone  string // the page of the undo, once there was one
}

type figure struct{ Word, Sum, Tone string }

type outcome struct {
	Word, Count, Href string
	On                bool
}

type importLine struct {
	Line       int
	Does, Tone string
	Name, Href string
	Why        string // it cannot be taken
}

// shownLines is how many lines and errors a page shows.
const shownLines = 100

func describe(v *desk.Visit, i *transfer.Import) (*importData, error) {
	d := &importData{Import: i, Check: i.DryRun, Running: i.CompletedAt == nil && !i.DryRun}
	c := i.Counts
	words := [3]string{"Added", "Changed", "Unchanged"}
	if i.DryRun {
		words = [3]string{"Would be added", "Would be changed", "Stay as they are"}
	}
	d.Figures = []figure{{"Lines in the file", thousands(c.Total), ""}, {words[0], thousands(c.Created), ""},
		{words[1], thousands(c.Updated), ""}}
	if c.Unchanged > 0 {
		d.Figures = append(d.Figures, figure{words[2], thousands(c.Unchanged), ""})
	}
	errors := figure{"Errors", thousands(c.Failed), ""}
	if c.Failed > 0 {
		errors.Tone = "bad"
	}
	d.Figures = append(d.Figures, errors)
	if !i.DryRun { // a dry run says it line by line
		d.Errors = i.Errors[:min(len(i.Errors), shownLines)]
	}
	if c.Failed > len(d.Errors) && len(d.Errors) > 0 {
		d.More = "The first " + thousands(len(d.Errors)) + " of " + thousands(c.Failed) + "."
	}
	d.Ignored = strings.Join(i.IgnoredColumns, ", ")
	if i.ErrorMessage != nil {
		d.Error = *i.ErrorMessage
	}
	if i.Lines == nil {
		return d, nil
	}
	lines := (*i.Lines)[:min(len(*i.Lines), shownLines)]
	var ids []id.ID
	for _, l := range lines {
		if l.ID != nil {
			ids = append(ids, *l.ID)
		}
	}
	why := map[int]string{}
	for _, e := range i.Errors {
		why[e.Line] = e.Message
		if e.Field != nil {
			why[e.Line] = desk.Capital(*e.Field) + ": " + e.Message
		}
	}
	names, err := v.Names(i.ObjectType, ids)
	for _, l := range lines {
		x := importLine{Line: l.Line, Does: map[string]string{"create": "adds " + desk.WithArticle(one(i.ObjectType)),
			"update": "changes", "fail": "cannot be taken"}[l.Action]}
		if l.Action == "fail" {
			x.Tone, x.Why = "bad", why[l.Line]
		}
		if l.ID != nil {
			x.Name, x.Href = names[*l.ID], "/"+i.ObjectType+"/"+string(*l.ID)
		}
		d.Lines = append(d.Lines, x)
	}
	return d, err
}

// outcomes are the kinds of lines that a check tells apart.
var outcomes = []struct {
	action, word string
	count        func(transfer.Counts) int
}{
	{"", "All lines", func(c transfer.Counts) int { return c.Total }},
	{"create", "Would be added", func(c transfer.Counts) int { return c.Created }},
	{"update", "Would be changed", func(c transfer.Counts) int { return c.Updated }},
	{"fail", "Cannot be taken", func(c transfer.Counts) int { return c.Failed }},
}

// page says which lines of a check the page shows, and leads to all others.
func (d *importData) page(v *desk.Visit, c transfer.Counts, action string, offset int) {
	all := 0
	for _, o := range outcomes {
		n := o.count(c)
		if o.action == action {
			all = n
		}
		if n > 0 || o.action == action {
			d.Tabs = append(d.Tabs, outcome{Word: o.word, Count: thousands(n), On: o.action == action,
				Href: v.With("lines", o.action, "offset", "")})
		}
	}
	d.Range = thousands(offset+min(1, len(d.Lines))) + "–" + thousands(offset+len(d.Lines)) + " of " +
		desk.Count(all, "line", "lines")
	if offset > 0 {
		d.Earlier = v.With("offset", strconv.Itoa(max(0, offset-shownLines)))
	}
	if offset+len(d.Lines) < all {
		d.Later = v.With("offset", strconv.Itoa(offset+shownLines))
	}
}

func one(objectType string) string { return strings.TrimSuffix(objectType, "s") }

// showImport shows what became of a file.
func showImport(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	var i transfer.Import
	if err := v.Do("imports.get", desk.Fields{"id": ref}, &i); err != nil {
		return err
	}
	d, err := describe(v, &i)
	if err != nil {
		return err
	}
	if d.Undone, err = undone(v, ref); err != nil {
		return err
	}
	if d.Undone == "" && !d.Running && i.Counts.Created+i.Counts.Updated > 0 && v.May("undo.create") {
		d.Undo = "/imports/" + string(ref) + "/undo"
	}
	state := stateOf(&i)
	return v.Show(http.StatusOK, "import", desk.View{Title: i.FileName, Section: "contacts", Data: d,
		Badge: state, Watch: "import " + one(i.ObjectType),
		Crumbs:  []desk.Crumb{{Text: "Imports", Href: "/imports"}, {Text: i.FileName}},
		Buttons: []desk.Button{{Text: desk.Capital(i.ObjectType), Href: "/" + i.ObjectType, Icon: "people"}},
		API:     v.ObjectSamples("imports", string(ref))})
}

// undone is the page of the undo of an import, empty when there was none.
func undone(v *desk.Visit, ref id.ID) (string, error) {
	if !v.May("proposals.list") {
		return "", nil
	}
	rows, _, err := desk.List[proposal.Proposal](v, "proposals.list", desk.Fields{"undoesImportId": ref, "limit": 1,
		"status": []proposal.Status{proposal.Executing, proposal.Executed}})
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return "/review/" + string(rows[0].ID), nil
}

// newImport asks for a file.
func newImport(v *desk.Visit) error { return importForm(v, http.StatusOK, "") }

func importForm(v *desk.Visit, status int, wrong string) error {
	what := v.R.URL.Query().Get("objectType")
	f := &desk.Form{To: "/imports/new", Back: "/imports", Button: "Look at it first", Error: wrong, Files: true,
		Lead: "Choose a CSV file with a line of headings, such as other programs export, or a vCard file. Nothing is " +
			"stored until you have seen what each line will do.",
		Fields: []desk.Input{
			{ID: "file", Name: "file", Word: "File", Kind: "file", Required: true, Focus: true},
			{ID: "objectType", Name: "objectType", Word: "What is in it", Kind: "choice", Value: what, Required: true,
				Options: []desk.Option{{Value: "contacts", Text: "Contacts"}, {Value: "customers", Text: "Customers"}}},
		}}
	return v.Show(status, "form-page", desk.View{Title: "Import a file", Section: "contacts", Data: f,
		Crumbs: []desk.Crumb{{Text: "Imports", Href: "/imports"}, {Text: "Import a file"}}})
}

// takeFile keeps the file and leads to what it would do.
func takeFile(v *desk.Visit) error {
	files, err := v.ReadUploads()
	if err != nil {
		return v.Explain(err, "contacts", "/imports/new")
	}
	if len(files) == 0 {
		return importForm(v, http.StatusBadRequest, "Choose a file first.")
	}
	what := v.Value("objectType")
	if what != "customers" {
		what = "contacts"
	}
	return v.Redirect("/imports/check?objectType=" + what + "&file=" + string(files[0]))
}

// importFile hands a kept file to the import.
func importFile(v *desk.Visit, ref id.ID, fields map[string]string) (*transfer.Import, error) {
	var f file.File
	if err := v.Do("files.get", desk.Fields{"id": ref}, &f); err != nil {
		return nil, err
	}
	content, err := v.Open("files.download", string(ref))
	if err != nil {
		return nil, err
	}
	defer content.Close()
	var i transfer.Import
	return &i, v.Send("imports.create", f.Name, content, fields, &i)
}

// checkImport shows what a file would do.
func checkImport(v *desk.Visit) error {
	q := v.R.URL.Query()
	ref, ok := id.Parse(q.Get("file"))
	if !ok {
		return fault.NotFound.New()
	}
	action := q.Get("lines")
	if !slices.Contains([]string{"create", "update", "fail"}, action) {
		action = ""
	}
	offset, _ := strconv.Atoi(q.Get("offset"))
	offset = max(0, min(offset, 500_000))
	fields := map[string]string{"objectType": q.Get("objectType"), "dryRun": "true",
		"linesOffset": strconv.Itoa(offset)}
	if action != "" {
		fields["linesAction"] = action
	}
	i, err := importFile(v, ref, fields)
	if err != nil {
		return v.Explain(err, "contacts", "/imports/new")
	}
	d, err := describe(v, i)
	if err != nil {
		return err
	}
	d.File = string(ref)
	d.page(v, i.Counts, action, offset)
	if n := i.Counts.Created + i.Counts.Updated; n > 0 {
		d.Button = "Import " + desk.Count(n, one(i.ObjectType), i.ObjectType)
	}
	return v.Show(http.StatusOK, "import", desk.View{Title: i.FileName, Section: "contacts", Data: d,
		Badge:  desk.Pill{Text: "not imported yet"},
		Crumbs: []desk.Crumb{{Text: "Imports", Href: "/imports"}, {Text: i.FileName}}})
}

// startImport imports a file that was looked at, or drops it.
func startImport(v *desk.Visit) error {
	ref, ok := id.Parse(v.Value("file"))
	if !ok {
		return fault.NotFound.New()
	}
	drop := func() error { return v.Do("files.delete", desk.Fields{"id": ref}, nil) }
	if v.Value("do") != "import" {
		if err := drop(); err != nil && !fault.IsKind(err, fault.NotFound) {
			return err
		}
		return v.Redirect("/imports")
	}
	i, err := importFile(v, ref, map[string]string{"objectType": v.Value("objectType")})
	if err != nil {
		return v.Explain(err, "contacts", "/imports/new")
	}
	if err := drop(); err != nil && !fault.IsKind(err, fault.NotFound) {
		return err
	}
	return v.Done("/imports/"+string(i.ID), "importing", nil)
}

// undoImport takes back what an import did.
func undoImport(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	at := "/imports/" + string(ref)
	before, err := undone(v, ref)
	if err != nil {
		return err
	}
	if before != "" { // pressed twice
		return v.Redirect(at)
	}
	p, err := v.TakeBack(desk.Fields{"importId": ref})
	if err != nil {
		return v.Explain(err, "contacts", at)
	}
	if len(p.Steps) == 0 && len(p.Skipped) > 0 {
		return v.Explain(fault.BadInput.Say("%s %s", p.Skipped[0].Why, p.Skipped[0].InsteadText()), "contacts", at)
	}
	if p.Status == proposal.Executing { // it is large, and goes on in the background
		return v.Redirect("/review/" + string(p.ID))
	}
	return v.Done(at, "undone-import", nil)
}
