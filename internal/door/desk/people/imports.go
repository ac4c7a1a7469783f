package people

import (
	"net/http"
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
		{Head: "What", Field: "objectType", Width: "w2", Fold: "two",
			Cell: func(_ *desk.Visit, i *transfer.Import) desk.Cell {
				return desk.Text(desk.Capital(i.ObjectType))
			}},
		{Head: "State", Field: "status", Width: "w2", Fold: "four",
			Cell: func(_ *desk.Visit, i *transfer.Import) desk.Cell {
				return desk.State(stateOf(i))
			}},
		{Head: "Added", Field: "counts", Width: "w1", End: true,
			Cell: number(func(c transfer.Counts) int { return c.Created })},
		{Head: "Changed", Field: "counts", Width: "w1", End: true,
			Cell: number(func(c transfer.Counts) int { return c.Updated })},
		{Head: "Errors", Field: "counts", Width: "w1", End: true,
			Cell: number(func(c transfer.Counts) int { return c.Failed })},
		{Head: "When", Field: "createdAt", Sort: "createdAt", Width: "w1", Fold: "three", End: true,
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

// importData is what became of a file. The template is "import".
type importData struct {
	Import  *transfer.Import
	Figures []figure
	Errors  []issueRow
	More    string // how many errors are not shown
	Ignored string
	Running bool
	Error   string
	Undo    string
	Undone  string // the page of the undo, once there was one
	Refused string // the file of the lines that were refused
	Again   string // where that file is brought back
}

type figure struct{ Word, Sum, Tone string }

// issueRow is why a line was not taken.
type issueRow struct {
	Line        int
	Field, What string
}

func issueRows(i *transfer.Import) (out []issueRow) {
	for _, e := range i.Errors[:min(len(i.Errors), shownLines)] {
		r := issueRow{Line: e.Line, What: e.Message}
		if e.Field != nil {
			r.Field = fieldWord(i.ObjectType, *e.Field)
		}
		out = append(out, r)
	}
	return out
}

// shownLines is how many lines and errors a page shows.
const shownLines = 100

func describe(i *transfer.Import) *importData {
	c := i.Counts
	d := &importData{Import: i, Running: i.CompletedAt == nil, Ignored: strings.Join(i.IgnoredColumns, ", "),
		Errors: issueRows(i),
		Figures: []figure{{"lines", thousands(c.Total), ""}, {"added", thousands(c.Created), "good"},
			{"changed", thousands(c.Updated), ""}, {"unchanged", thousands(c.Unchanged), ""}}}
	refused := figure{"refused", thousands(c.Failed), ""}
	if c.Failed > 0 {
		refused.Tone = "bad"
	}
	d.Figures = append(d.Figures, refused)
	if c.Failed > len(d.Errors) && len(d.Errors) > 0 {
		d.More = "The first " + thousands(len(d.Errors)) + " of " + thousands(c.Failed) + "."
	}
	if i.ErrorMessage != nil {
		d.Error = *i.ErrorMessage
	}
	if !d.Running && c.Failed > 0 {
		d.Refused, d.Again = "/imports/"+string(i.ID)+"/refused.csv", "/imports/new?objectType="+i.ObjectType
	}
	return d
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
	d := describe(&i)
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
		return v.Explain(fault.BadInput.Say("%s", v.SkippedWords(p.Skipped[0])), "contacts", at)
	}
	if p.Status == proposal.Executing { // it is large, and goes on in the background
		return v.Redirect("/review/" + string(p.ID))
	}
	return v.Done(at, "undone-import", nil)
}
