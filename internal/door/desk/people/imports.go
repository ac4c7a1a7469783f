package people

import (
	"net/http"
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
	Path: "imports", Type: "import", One: "import", Many: "imports", Icon: "import", Rail: "contacts",
	NoNew: true, Kept: true, Maker: "/imports/new", Makes: "Import a file",
	Lead: "Bring contacts and customers along from a CSV or vCard file. You see what each line will do first.",
	Table: []desk.Column[transfer.Import]{
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
	Filters: []desk.Filter{{Field: "status", Word: "State"}, {Field: "objectType", Word: "What"}},
	Name:    func(_ *desk.Visit, i *transfer.Import) string { return i.FileName },
	Line: func(v *desk.Visit, i *transfer.Import) desk.Line {
		return desk.Line{Icon: "import", Text: i.FileName, Pill: stateOf(i), Time: v.When(i.CreatedAt)}
	},
	Page: showImport,
}

var _ = desk.AddSentences(map[string]string{"importing": "The import has begun.",
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
	Check   bool   // nothing was stored yet
	File    string // of a check
	Button  string
	Running bool
	Error   string
	Undo    string
	Times   string
}

type figure struct{ Word, Sum, Tone string }

type importLine struct {
	Line       int
	Does, Tone string
	Name, Href string
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
	d.Figures = []figure{{words[0], thousands(c.Created), ""}, {words[1], thousands(c.Updated), ""}}
	if c.Unchanged > 0 {
		d.Figures = append(d.Figures, figure{words[2], thousands(c.Unchanged), ""})
	}
	errors := figure{"Errors", thousands(c.Failed), ""}
	if c.Failed > 0 {
		errors.Tone = "bad"
	}
	d.Figures = append(d.Figures, errors)
	d.Errors = i.Errors[:min(len(i.Errors), shownLines)]
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
	names, err := v.Names(i.ObjectType, ids)
	for _, l := range lines {
		x := importLine{Line: l.Line, Does: map[string]string{"create": "adds " + desk.An(one(i.ObjectType)),
			"update": "changes", "fail": "cannot be taken"}[l.Action]}
		if l.Action == "fail" {
			x.Tone = "bad"
		}
		if l.ID != nil {
			x.Name, x.Href = names[*l.ID], "/"+i.ObjectType+"/"+string(*l.ID)
		}
		d.Lines = append(d.Lines, x)
	}
	return d, err
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
	if !d.Running && i.Counts.Created+i.Counts.Updated > 0 && v.May("undo.create") {
		d.Undo = "/imports/" + string(ref) + "/undo"
	}
	state := stateOf(&i)
	return v.Show(http.StatusOK, "import", desk.View{Title: i.FileName, Section: "contacts", Data: d,
		Badge: desk.Badge{Text: state.Text, Kind: state.Tone}, Watch: "import " + one(i.ObjectType),
		Crumbs:  []desk.Crumb{{Text: "Imports", Href: "/imports"}, {Text: i.FileName}},
		Buttons: []desk.Button{{Text: desk.Capital(i.ObjectType), Href: "/" + i.ObjectType, Icon: "people"}},
		API:     v.ObjectSamples("imports", string(ref))})
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
func importFile(v *desk.Visit, ref id.ID, what string, dryRun bool) (*transfer.Import, error) {
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
	return &i, v.Send("imports.create", f.Name, content, map[string]string{"objectType": what,
		"dryRun": strconv.FormatBool(dryRun)}, &i)
}

// checkImport shows what a file would do.
func checkImport(v *desk.Visit) error {
	q := v.R.URL.Query()
	ref, ok := id.Parse(q.Get("file"))
	if !ok {
		return fault.NotFound.New()
	}
	i, err := importFile(v, ref, q.Get("objectType"), true)
	if err != nil {
		return v.Explain(err, "contacts", "/imports/new")
	}
	d, err := describe(v, i)
	if err != nil {
		return err
	}
	d.File = string(ref)
	if n := i.Counts.Created + i.Counts.Updated; n > 0 {
		d.Button = "Import " + desk.Count(n, one(i.ObjectType), i.ObjectType)
	}
	return v.Show(http.StatusOK, "import", desk.View{Title: i.FileName, Section: "contacts", Data: d,
		Badge:  desk.Badge{Text: "not imported yet"},
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
		if err := drop(); err != nil && !fault.Has(err, fault.NotFound) {
			return err
		}
		return v.Redirect("/imports")
	}
	i, err := importFile(v, ref, v.Value("objectType"), false)
	if err != nil {
		return v.Explain(err, "contacts", "/imports/new")
	}
	if err := drop(); err != nil && !fault.Has(err, fault.NotFound) {
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
