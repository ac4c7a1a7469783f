package op

import (
	"context"
	"encoding/csv"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"

	"github.com/go-json-experiment/json"
)

// exportPage is how many rows an export reads in one query.
const exportPage = 200

// exports bounds how many exports of one organization a process writes at a time.
var exports = limit.Concurrent[id.ID]{Most: 2}

// Exported adds to the operations of a noun the one that writes its list as CSV. Each field of a row is a column. A
// field that holds objects is left out unless its tag csv names the fields of the object to write; `csv:"-"` leaves a
// field out.
func Exported(noun []*Op) []*Op {
	list := slices.IndexFunc(noun, func(o *Op) bool { return o.Name == nounOf(noun[0])+".list" })
	return append(noun, export(noun[list]))
}

// nounOf is the first word of an operation's name: contacts.
func nounOf(o *Op) string {
	collection, _, _ := strings.Cut(o.Name, ".")
	return collection
}

// paged are the fields of a list's input that an export does not offer, because it sets them itself or does not
// use them.
var paged = []string{"limit", "offset", "cursor", "sortBy", "include"}

// export declares the export of a list. It has the list's input without pagingFields, and calls the list page
// by page.
func export(list *Op) *Op {
	collection := nounOf(list)
	file := strings.TrimPrefix(list.Path, "/v1/") + ".csv"
	o := newOp(Spec{
		Name:     collection + ".export",
		Route:    "GET /v1/exports/" + file,
		Resource: list.Resource,
		Doors:    REST | Console,
		Summary:  "Export " + strings.ReplaceAll(collection, "_", " ") + " as CSV.",
		Description: "Takes the filters of the list. Rows are in the order of their creation. A text that a " +
			"spreadsheet would take for a formula begins with an apostrophe.",
		Example: `{"sortOrder": "asc"}`,
		Media:   "text/csv",
	}, bytesShape, list.in.typ, reflect.TypeFor[*Content]())
	o.exported, o.prepares = list, list.prepares
	for _, name := range paged {
		delete(o.in.props, name)
	}
	isPaged := func(p *prop) bool { return slices.Contains(paged, p.name) }
	o.in.order, o.queryOf = slices.DeleteFunc(o.in.order, isPaged), slices.DeleteFunc(o.queryOf, isPaged)
	for i, p := range o.in.order {
		p.nth = i
	}
	columns := columnsOf(list.out)
	o.call = func(ctx context.Context, c *Call, in reflect.Value, s *Stream) (any, error) {
		return exportRows(ctx, &exporting{c, list, in, columns}, file, s.Head)
	}
	return o
}

// Exports reports whether the operation is the export of a list.
func (o *Op) Exports() bool { return o.exported != nil }

// exporting is one export under way.
type exporting struct {
	*Call
	list    *Op
	in      reflect.Value
	columns []column
}

// exportRows reads the first page before it answers, because a refusal cannot be told once the status has been sent.
// The other pages are read while the answer is written.
func exportRows(ctx context.Context, x *exporting, file string, head bool) (*Content, error) {
	end, ok := exports.Begin(x.Org)
	if !ok {
		f := fault.RateLimited.Say("%d exports are being written at the moment. Wait for one to end.", exports.Most)
		f.RetryAfter = 5 * time.Second
		return nil, f
	}
	rows, next, err := x.read(ctx, first)
	if err != nil || head { // Write, which calls end otherwise, will not run
		end()
	}
	if err != nil {
		return nil, err
	}
	return &Content{Name: file, Type: "text/csv; charset=utf-8", Write: func(ctx context.Context, w io.Writer) error {
		defer end()
		out := csv.NewWriter(w)
		if err := out.Write(headings(x.columns)); err != nil {
			return err
		}
		for {
			for i := range rows.Len() {
				if err := x.write(out, rows.Index(i)); err != nil {
					return err
				}
			}
			if out.Flush(); out.Error() != nil || next.Null { // the client has hung up, or it was the last page
				return out.Error()
			}
			if rows, next, err = x.read(ctx, next.Value); err != nil {
				return err
			}
		}
	}}, nil
}

// read reads one page. Each page has a transaction of its own, so that none stays open while a slow client
// reads.
func (x *exporting) read(ctx context.Context, cursor string) (rows reflect.Value, next Opt[string], err error) {
	in := reflect.New(x.in.Type()).Elem()
	in.Set(x.in)
	in.FieldByName("Limit").SetInt(exportPage)
	in.FieldByName("Cursor").Set(reflect.ValueOf(&cursor))
	err = x.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		x.Tx = tx
		defer func() { x.Tx = nil }()
		out, err := x.list.call(ctx, x.Call, in, nil)
		if err != nil {
			return err
		}
		var data any
		data, next = out.(lister).page()
		rows = reflect.ValueOf(data)
		return nil
	})
	return rows, next, err
}

// write writes one row.
func (x *exporting) write(out *csv.Writer, row reflect.Value) error {
	cells := make([]string, len(x.columns))
	for i, c := range x.columns {
		text, err := c.cell(field(row, c.index))
		if err != nil {
			return err
		}
		cells[i] = text
	}
	return out.Write(cells)
}

// column is a field of a row.
type column struct {
	*prop
	parts []string // the fields to write of the objects in it; nil for a field without objects
}

func headings(columns []column) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.name
	}
	return out
}

// columnsOf are the columns of an export: the fields that fit into a cell, and those whose tag says how.
func columnsOf(n *node) (out []column) {
	for _, p := range n.order {
		tag := n.object.FieldByIndex(p.index).Tag.Get("csv")
		c := column{prop: p}
		switch {
		case tag == "-" || p.omitted || p.name == "deletedAt" || p.name == "organizationId":
			continue
		case tag != "":
			c.parts = strings.Split(tag, ",")
		case p.node.kind == arrayValue && p.node.elem.kind != stringValue,
			p.node.kind == objectValue, p.node.kind == mapValue, p.node.kind == anyValue:
			continue
		}
		out = append(out, c)
	}
	return out
}

// cell is a value as the file has it, safe to be opened in a spreadsheet.
func (c *column) cell(v reflect.Value) (string, error) {
	text, err := c.text(v, c.node)
	if c.node.kind == stringValue || c.node.kind == arrayValue {
		text = NoFormula(text)
	}
	return text, err
}

// text is a value as text; empty for null.
func (c *column) text(v reflect.Value, n *node) (string, error) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "", nil
		}
		v = v.Elem()
	}
	switch {
	case n.kind == arrayValue && n.elem.kind == objectValue:
		return c.join(v.Len(), "; ", func(i int) (reflect.Value, *node) { return v.Index(i), n.elem })
	case n.kind == arrayValue:
		return c.join(v.Len(), ", ", func(i int) (reflect.Value, *node) { return v.Index(i), n.elem })
	case n.kind == objectValue:
		return c.join(len(c.parts), ", ", func(i int) (reflect.Value, *node) {
			p := n.props[c.parts[i]]
			return field(v, p.index), p.node
		})
	case n.kind == stringValue && n.format == "" && v.Kind() == reflect.String:
		return v.String(), nil
	}
	text, err := json.Marshal(v.Interface())
	if err != nil || n.kind != stringValue {
		return string(text), err
	}
	var s string
	err = json.Unmarshal(text, &s)
	return s, err
}

// join joins the n values that at returns, without the empty ones.
func (c *column) join(n int, separator string, at func(i int) (reflect.Value, *node)) (string, error) {
	var texts []string
	for i := range n {
		text, err := c.text(at(i))
		if err != nil {
			return "", err
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, separator), nil
}

// NoFormula puts an apostrophe before a text that a spreadsheet would run as a formula. A name like =HYPERLINK(…)
// could otherwise attack whoever opens the export.
func NoFormula(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// WasFormula removes the apostrophe that EscapeFormula put, for an import of what was exported.
func WasFormula(s string) string {
	if rest, ok := strings.CutPrefix(s, "'"); ok && NoFormula(rest) != rest {
		return rest
	}
	return s
}
