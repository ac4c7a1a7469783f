package desk

import (
	"net/http"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json"
)

// Child is rows that belong to an object and are shown, added, changed and
// removed on its page: the email addresses of a contact, the records of a
// domain.
type Child[C Row] struct {
	Key       string // of the address: /contacts/{id}/emails
	Ops       string // "contacts.emails"
	Param     string // how the operations name a row: "emailId"
	Head      string // "Email"
	One       string // "email address"
	EmptyText string // when there are none
	Wide      bool   // it stands above the timeline, not beside it
	Limit     int    // how many are shown at first; 20 by default

	Line   func(v *Visit, row *C) Line
	Fields []Field
	// Table shows the rows as a small table instead of lines.
	Table []Column[C]
	// SendAllFields means that an update replaces the row, as a PUT does: empty fields are left out.
	SendAllFields bool
	// MayBeRefused means that a refusal of the list is no more than a sentence: not every
	// parent has such rows.
	MayBeRefused bool
	// NoAdd means that rows are added elsewhere.
	NoAdd bool
	// Fixed rows cannot be changed or removed here.
	Fixed func(row *C) bool
	// DoneKey is the key of what is said after a row was added; by default "added".
	DoneKey string
}

// AnyChild is a Child of any type.
type AnyChild interface {
	pages(d *Desk, at, ops string) []Route
	section(v *Visit, at string, parent id.ID, t *typedIn) (*Section, error)
	wide() bool
	watchedTypes() string
}

type childData struct {
	Lead  string
	Rows  []childRow
	Heads []head
	Add   string // the link
	One   string
	Form  *Form
}

type childRow struct {
	ID    string
	Line  Line
	Cells []cellIn
	Edit  string
	Away  string // where removing it posts to
	Form  *Form
	Back  string
}

func (c *Child[C]) wide() bool { return c.Wide }
func (c *Child[C]) watchedTypes() string {
	return strings.ReplaceAll(strings.TrimSuffix(c.Ops, "s"), "s.", ".")
}

func (c *Child[C]) pages(d *Desk, at, _ string) (out []Route) {
	at += "/{id}/" + c.Key
	if d.Catalog.Named(c.Ops+".list") == nil {
		panic("desk: there is no operation " + c.Ops + ".list")
	}
	if d.Catalog.Named(c.Ops+".create") != nil && !c.NoAdd {
		out = append(out, Route{Pattern: "POST " + at, Show: c.add})
	}
	if d.Catalog.Named(c.Ops+".update") != nil {
		out = append(out, Route{Pattern: "POST " + at + "/{child}", Show: c.change})
	}
	if d.Catalog.Named(c.Ops+".delete") != nil {
		out = append(out, Route{Pattern: "POST " + at + "/{child}/delete", Show: c.remove})
	}
	return out
}

func (c *Child[C]) section(v *Visit, at string, parent id.ID, t *typedIn) (*Section, error) {
	if !v.May(c.Ops + ".list") {
		return nil, nil
	}
	limit := c.Limit
	if limit == 0 {
		limit = 20
	}
	body, err := v.Run(c.Ops+".list", Fields{"id": parent, "limit": limit})
	if err != nil && c.MayBeRefused && fault.FromError(err).Status < 500 {
		return &Section{Head: c.Head, Name: "child", Data: &childData{Lead: fault.FromError(err).Sentence()}}, nil
	}
	if err != nil {
		return nil, err
	}
	var page struct {
		Data []C `json:"data"`
	}
	var raw struct {
		Data []map[string]any `json:"data"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, err
	}
	d := &childData{Lead: c.EmptyText, One: c.One}
	back := v.With()
	if v.R.Method == http.MethodPost {
		back = at
	}
	edit, add := v.R.URL.Query().Get("edit"), v.R.URL.Query().Get("add")
	if v.May(c.Ops+".create") && !c.NoAdd {
		d.Add = at + "?add=" + c.Key + "#" + c.Key
		if add == c.Key || t != nil && t.at == c.Key {
			d.Form = c.form(v, at+"/"+c.Key, at, "Add", nil)
			if t != nil {
				d.Form.Fill(t.posted, t.whole, t.wrong)
			}
		}
	}
	var cells []*Cell
	for _, col := range c.Table {
		d.Heads = append(d.Heads, head{Text: col.Head, Class: col.class()})
	}
	for i := range page.Data {
		row := &page.Data[i]
		ref := string((*row).RowID())
		r := childRow{ID: ref, Back: back}
		if c.Line != nil {
			r.Line = c.Line(v, row)
		}
		for j, col := range c.Table {
			cell := col.Cell(v, row)
			cells = append(cells, &cell)
			r.Cells = append(r.Cells, cellIn{Cell: &cell, Class: col.class(), First: j == 0})
			if c.Line == nil && j < 2 { // what its buttons call it
				r.Line.Text = strings.TrimSpace(r.Line.Text + " " + cell.Text)
			}
		}
		fixed := c.Fixed != nil && c.Fixed(row)
		if !fixed && v.May(c.Ops+".update") {
			r.Edit = at + "?edit=" + c.Key + "." + ref + "#" + c.Key
			if place := c.Key + "." + ref; edit == place || t != nil && t.at == place {
				r.Form = c.form(v, at+"/"+c.Key+"/"+ref, at, "Save", raw.Data[i])
				if t != nil && t.at == place {
					r.Form.Fill(t.posted, t.whole, t.wrong)
				}
			}
		}
		if !fixed && v.May(c.Ops+".delete") {
			r.Away = at + "/" + c.Key + "/" + ref + "/delete"
		}
		d.Rows = append(d.Rows, r)
	}
	if err := v.resolve(cells); err != nil {
		return nil, err
	}
	name := "child"
	if len(c.Table) > 0 {
		name = "child-table"
	}
	return &Section{Head: c.Head, Name: name, Data: d, Word: c.Key}, nil
}

func (c *Child[C]) form(v *Visit, to, back, button string, row map[string]any) *Form {
	f := &Form{To: to, Back: back, Button: button}
	operation := c.Ops + ".create"
	if row != nil {
		operation = c.Ops + ".update"
	}
	for i, field := range c.Fields {
		first := inputValue(v, field, row[field.Field])
		if row == nil && field.StartText != nil {
			first = field.StartText(v)
		}
		if row != nil && v.property(operation, field.Field) == nil {
			continue
		}
		in := v.Describe(operation, field, first)
		in.ID = c.Key + "-" + field.Field
		in.Focus = i == 0
		f.Fields = append(f.Fields, in)
	}
	return f
}

func (c *Child[C]) add(v *Visit) error { return c.save(v, "") }

func (c *Child[C]) change(v *Visit) error {
	ref, err := v.PathID("child")
	if err != nil {
		return err
	}
	return c.save(v, ref)
}

func (c *Child[C]) save(v *Visit, ref id.ID) error {
	parent, err := v.PathID("id")
	if err != nil {
		return err
	}
	at, _, _ := strings.Cut(v.R.URL.Path, "/"+c.Key)
	operation, done := c.Ops+".create", "added"
	if ref != "" {
		operation, done = c.Ops+".update", "saved"
	} else if c.DoneKey != "" {
		done = c.DoneKey
	}
	posted := v.R.PostForm
	for _, f := range c.Fields {
		if inputKind(v.property(operation, f.Field)) == "box" && f.Kind == "" && !posted.Has(f.Field) {
			posted.Set(f.Field, "no")
		}
	}
	in, wrong := v.Read(operation, c.Fields, posted)
	for name, value := range in {
		if value == nil && (ref == "" || c.SendAllFields) {
			delete(in, name)
		}
	}
	in["id"] = parent
	if ref != "" {
		in[c.Param] = ref
	}
	if len(wrong) == 0 {
		err := v.Do(operation, in, nil)
		if err == nil {
			return v.Done(at, done, nil)
		}
		var whole string
		whole, fields, _, err := Refused(err)
		if err != nil {
			return err
		}
		wrong = fields
		if whole != "" && len(fields) == 0 {
			wrong = map[string]string{c.Fields[0].Field: whole}
		}
	}
	place := c.Key
	if ref != "" {
		place += "." + string(ref)
	}
	return c.again(v, at, &typedIn{at: place, posted: posted, wrong: wrong})
}

// again shows the object's page with what was refused.
func (c *Child[C]) again(v *Visit, at string, t *typedIn) error {
	path := strings.Split(strings.TrimPrefix(at, "/"), "/")[0]
	n := v.noun(path)
	if n == nil {
		return v.Redirect(at)
	}
	return n.refused(v, t)
}

func (c *Child[C]) remove(v *Visit) error {
	parent, err := v.PathID("id")
	if err != nil {
		return err
	}
	ref, err := v.PathID("child")
	if err != nil {
		return err
	}
	at, _, _ := strings.Cut(v.R.URL.Path, "/"+c.Key)
	if err := v.Do(c.Ops+".delete", Fields{"id": parent, c.Param: ref}, nil); err != nil {
		return v.Explain(err, strings.Split(at, "/")[1], at)
	}
	return v.Done(at, "removed", nil)
}

// refused shows an object's page with a form that was refused.
func (n *Noun[T]) refused(v *Visit, t *typedIn) error {
	o, err := n.get(v)
	if err != nil {
		return err
	}
	return n.objectPage(v, http.StatusBadRequest, o, t)
}

// Again shows an object's page once more because a form of its own layout was
// refused. typed puts what was typed into what Data made for the page.
func (n *Noun[T]) Again(v *Visit, status int, typed func(more any)) error {
	o, err := n.get(v)
	if err != nil {
		return err
	}
	return n.objectPage(v, status, o, &typedIn{more: typed})
}
