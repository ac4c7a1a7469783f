package people

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/transfer"

	"github.com/go-json-experiment/json"
)

// checkData is what a file would do, before it does it. The template is "import-check".
type checkData struct {
	File, ObjectType string
	Columns          []columnMap
	Choices          []desk.Option // of the fields that a column can be
	Tabs             []outcome
	Title            string
	Heads            []string
	Lines            []checkLine
	Range            string
	Earlier, Later   string
	Refused, Word    string // the file of the lines that are refused
	Note             string
}

// columnMap is a column of the file and the field that it becomes.
type columnMap struct {
	Heading, Samples, Field string
	Fits, Tone              string
}

// outcome is a count that filters the lines.
type outcome struct {
	Word, Count, Href, Tone string
	On                      bool
}

type checkLine struct {
	Line       int
	Does, Tone string
	Name, Href string
	Why        string // of a refusal that is about no field
	Cells      []checkCell
	Refused    bool
}

// checkCell is a field of a line, before and after.
type checkCell struct {
	Word, Before, After, Wrong string
	Changes                    bool
}

// leftOut is the choice for a column that is not imported. It is not empty, because the address of
// a form leaves out what is.
const leftOut = "-"

// outcomeKind is something that lines can do.
type outcomeKind struct {
	action, word, tone string
	count              func(transfer.Counts) int
}

// outcomes are the kinds of lines that a check tells apart.
var outcomes = []outcomeKind{
	{"", "all lines", "", func(c transfer.Counts) int { return c.Total }},
	{"create", "added", "good", func(c transfer.Counts) int { return c.Created }},
	{"update", "changed", "", func(c transfer.Counts) int { return c.Updated }},
	{"unchanged", "unchanged", "line", func(c transfer.Counts) int { return c.Unchanged }},
	{"fail", "refused", "bad", func(c transfer.Counts) int { return c.Failed }},
}

// dryRun asks what the file would do that the address names, with the columns as it says.
func dryRun(v *desk.Visit, more map[string]string) (*transfer.Import, error) {
	ref, ok := id.Parse(v.R.FormValue("file"))
	if !ok {
		return nil, fault.NotFound.New()
	}
	fields := importFields(v)
	fields["dryRun"] = "true"
	for name, value := range more {
		fields[name] = value
	}
	return importFile(v, ref, fields)
}

// importFields are what an import is asked for besides the file: whether its rows are contacts, and
// which column is which field.
func importFields(v *desk.Visit) map[string]string {
	out := map[string]string{"objectType": v.R.FormValue("objectType")}
	columns, fields := v.R.Form["column"], v.R.Form["field"]
	if len(columns) == 0 || len(columns) != len(fields) {
		return out
	}
	mapping := map[string]any{}
	for i, heading := range columns {
		if mapping[heading] = fields[i]; fields[i] == leftOut {
			mapping[heading] = nil
		}
	}
	if text, err := json.Marshal(mapping); err == nil {
		out["mapping"] = string(text)
	}
	return out
}

// checkImport shows what a file would do.
func checkImport(v *desk.Visit) error {
	q := v.R.URL.Query()
	action := q.Get("lines")
	if !slices.ContainsFunc(outcomes, func(o outcomeKind) bool { return o.action == action }) {
		action = ""
	}
	offset, _ := strconv.Atoi(q.Get("offset"))
	offset = max(0, min(offset, 500_000))
	more := map[string]string{"linesOffset": strconv.Itoa(offset)}
	if action != "" {
		more["linesAction"] = action
	}
	i, err := dryRun(v, more)
	if err != nil {
		return v.Explain(err, "contacts", "/imports/new")
	}
	d := &checkData{File: q.Get("file"), ObjectType: i.ObjectType, Choices: fieldChoices(i.ObjectType)}
	d.addColumns(i)
	if err := d.addLines(v, i); err != nil {
		return err
	}
	d.page(v, i.Counts, action, offset)
	view := desk.View{Title: i.FileName, Section: "contacts", Data: d, Own: true,
		Badge:  desk.Pill{Text: "nothing imported yet", Tone: "warn"},
		Crumbs: []desk.Crumb{{Text: "Imports", Href: "/imports"}, {Text: i.FileName}}}
	word := "Back"
	if n := i.Counts.Created + i.Counts.Updated; n > 0 {
		word = "Cancel"
		view.Main = &desk.Button{Text: "Import " + desk.Count(n, one(i.ObjectType), i.ObjectType), Icon: "import",
			Href: v.With("do", "import", "lines", "", "offset", ""), Post: true}
	}
	view.Buttons = []desk.Button{{Text: word, Href: v.With("do", "drop", "lines", "", "offset", ""), Post: true}}
	return v.Show(http.StatusOK, "import-check", view)
}

// addColumns shows the columns of the file, and how well they fit what they become.
func (d *checkData) addColumns(i *transfer.Import) {
	if i.Columns == nil {
		return
	}
	for _, c := range *i.Columns {
		x := columnMap{Heading: c.Heading, Samples: strings.Join(c.Samples, " · "), Field: leftOut, Fits: "left out"}
		if c.Field != nil {
			x.Field, x.Fits, x.Tone = *c.Field, thousands(c.Filled)+" filled", "good"
			if c.Refused > 0 {
				x.Fits, x.Tone = thousands(c.Refused)+" not valid", "warn"
			}
		}
		d.Columns = append(d.Columns, x)
	}
}

// fieldChoices are the fields that a column can be, by their words.
func fieldChoices(objectType string) []desk.Option {
	out := []desk.Option{{Value: leftOut, Text: "Do not import"}}
	for _, name := range fieldOrder(objectType) {
		out = append(out, desk.Option{Value: name, Text: fieldWord(objectType, name)})
	}
	return out
}

// importWords are fields that have other names on the pages of contacts, or none.
var importWords = map[string]string{"name": "Full name", "emails": "Email", "phoneNumbers": "Phone",
	"line1": "Street", "line2": "Street, second line", "postalCode": "Postal code"}

func nounFields(objectType string) []desk.Field {
	if objectType == "customers" {
		return customers.Fields
	}
	return contacts.Fields
}

func fieldWord(objectType, name string) string {
	for _, f := range nounFields(objectType) {
		if f.Field == name {
			return f.Label
		}
	}
	if word := importWords[name]; word != "" {
		return word
	}
	return desk.FieldWords(name)
}

// fieldOrder are the fields of an import as the pages order them: whose it is first, how to reach
// them, and then the rest.
func fieldOrder(objectType string) []string {
	known := transfer.FieldNames(objectType)
	out := []string{}
	add := func(name string) {
		if slices.Contains(known, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, name := range []string{"name", "firstName", "lastName", "organizationName", "emails", "email",
		"phoneNumbers", "phone"} {
		add(name)
	}
	for _, f := range nounFields(objectType) {
		add(f.Field)
	}
	for _, name := range known {
		add(name)
	}
	return out
}

// addLines shows what each line does, field by field.
func (d *checkData) addLines(v *desk.Visit, i *transfer.Import) error {
	lines := (*i.Lines)[:min(len(*i.Lines), shownLines)]
	var ids []id.ID
	for _, l := range lines {
		if l.ID != nil {
			ids = append(ids, *l.ID)
		}
	}
	names, err := v.Names(i.ObjectType, ids)
	if err != nil {
		return err
	}
	why := map[int]transfer.Issue{}
	for _, e := range i.Errors {
		why[e.Line] = e
	}
	fields := shownFields(i.ObjectType, lines)
	for _, name := range fields {
		d.Heads = append(d.Heads, fieldWord(i.ObjectType, name))
	}
	for n := range lines {
		l := &lines[n]
		x := checkLine{Line: l.Line, Name: lineName(l), Refused: l.Action == "fail"}
		for _, o := range outcomes {
			if o.action == l.Action {
				x.Does, x.Tone = o.word, o.tone
			}
		}
		if l.ID != nil {
			x.Name, x.Href = names[*l.ID], "/"+i.ObjectType+"/"+string(*l.ID)
		}
		x.addCells(l, fields, d.Heads, why[l.Line])
		d.Lines = append(d.Lines, x)
	}
	if i.ObjectType == "contacts" && i.Counts.Updated+i.Counts.Unchanged > 0 {
		d.Note = "Email addresses, phone numbers and postal addresses are for new contacts; known ones keep theirs."
	}
	return nil
}

// addCells compares a line with what is there.
func (x *checkLine) addCells(l *transfer.Line, fields, heads []string, issue transfer.Issue) {
	said := x.Refused && issue.Message != ""
	if said {
		x.Why = issue.Message
	}
	for n, name := range fields {
		c := checkCell{Word: heads[n]}
		for _, value := range l.Values {
			if value.Field != name {
				continue
			}
			c.After = value.After
			if value.Before != nil {
				c.Before = *value.Before
			}
			c.Changes = !x.Refused && value.Changes()
		}
		if said && issue.Field != nil && (*issue.Field == name || *issue.Field+"s" == name) {
			c.Wrong, x.Why = issue.Message, ""
		}
		x.Cells = append(x.Cells, c)
	}
}

// shownFields are the fields that the lines have something for. The parts of a name stand together in a
// column of their own, unless a line changes them.
func shownFields(objectType string, lines []transfer.Line) []string {
	has, changes := map[string]bool{}, map[string]bool{}
	for i := range lines {
		for _, value := range lines[i].Values {
			has[value.Field] = true
			changes[value.Field] = changes[value.Field] || lines[i].Action == "update" && value.Changes()
		}
	}
	return slices.DeleteFunc(fieldOrder(objectType), func(name string) bool {
		isName := name == "name" || name == "firstName" || name == "lastName"
		return !has[name] || isName && !changes[name]
	})
}

// lineName is who a line is about, by what it says.
func lineName(l *transfer.Line) string {
	texts := map[string]string{}
	for _, value := range l.Values {
		texts[value.Field] = value.After
	}
	if name := strings.TrimSpace(texts["firstName"] + " " + texts["lastName"]); name != "" {
		return name
	}
	for _, field := range []string{"name", "organizationName", "emails", "email"} {
		if texts[field] != "" {
			return texts[field]
		}
	}
	return ""
}

// page says which lines of a check the page shows, and leads to all others.
func (d *checkData) page(v *desk.Visit, c transfer.Counts, action string, offset int) {
	all := 0
	for _, o := range outcomes {
		n := o.count(c)
		x := outcome{Word: o.word, Count: thousands(n), On: o.action == action,
			Href: v.With("lines", o.action, "offset", "")}
		if o.action == action {
			all, d.Title = n, desk.Capital(o.word)
		}
		if o.action == "fail" && n > 0 {
			x.Tone = "bad"
		}
		d.Tabs = append(d.Tabs, x)
	}
	d.Range = thousands(offset+min(1, len(d.Lines))) + "–" + thousands(offset+len(d.Lines)) + " of " +
		desk.Count(all, "line", "lines")
	if offset > 0 {
		d.Earlier = v.With("offset", strconv.Itoa(max(0, offset-shownLines)))
	}
	if offset+len(d.Lines) < all {
		d.Later = v.With("offset", strconv.Itoa(offset+shownLines))
	}
	if c.Failed > 0 {
		q := v.R.URL.Query()
		q.Del("lines")
		q.Del("offset")
		d.Refused, d.Word = "/imports/check/refused.csv?"+q.Encode(), "Download the "+thousands(c.Failed)+" refused"
	}
}

// startImport imports a file that was looked at, or drops it.
func startImport(v *desk.Visit) error {
	ref, ok := id.Parse(v.R.FormValue("file"))
	if !ok {
		return fault.NotFound.New()
	}
	drop := func() error { return v.Do("files.delete", desk.Fields{"id": ref}, nil) }
	if v.R.FormValue("do") != "import" {
		if err := drop(); err != nil && !fault.IsKind(err, fault.NotFound) {
			return err
		}
		return v.Redirect("/imports")
	}
	i, err := importFile(v, ref, importFields(v))
	if err != nil {
		return v.Explain(err, "contacts", "/imports/new")
	}
	if err := drop(); err != nil && !fault.IsKind(err, fault.NotFound) {
		return err
	}
	return v.Done("/imports/"+string(i.ID), "importing", nil)
}
