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

// exportPageSize is how many rows an export reads in one query.
const exportPageSize = 200

// runningExports bounds how many exports of one organization a process writes at a time.
var runningExports = limit.ConcurrencyLimiter[id.ID]{Most: 2}

// WithExport adds to the operations of a noun the one that writes its list as CSV. Each field of a row is a column. A
// field that holds objects is left out unless its tag csv names the fields of the object to write; `csv:"-"` leaves a
// field out.
func WithExport(noun []*Op) []*Op {
	list := slices.IndexFunc(noun, func(o *Op) bool { return o.Name == collectionOf(noun[0])+".list" })
	return append(noun, exportOperation(noun[list]))
}

// collectionOf is the first word of an operation's name: contacts.
func collectionOf(o *Op) string {
	collection, _, _ := strings.Cut(o.Name, ".")
	return collection
}

// pagingFields are the fields of a list's input that an export does not offer, because it sets them itself or does not
// use them.
var pagingFields = []string{"limit", "offset", "cursor", "sortBy", "include"}

// exportOperation declares the export of a list. It has the list's input without pagingFields, and calls the list page
// by page.
func exportOperation(list *Op) *Op {
	collection := collectionOf(list)
	file := strings.TrimPrefix(list.Path, "/v1/") + ".csv"
	o := newOperation(Spec{
		Name:     collection + ".export",
		Route:    "GET /v1/exports/" + file,
		Resource: list.Resource,
		Doors:    RESTDoor | ConsoleDoor,
		Summary:  "Export " + strings.ReplaceAll(collection, "_", " ") + " as CSV.",
		Description: "Takes the filters of the list. Rows are in the order of their creation. A text that a " +
			"spreadsheet would take for a formula begins with an apostrophe.",
		Example:   `{"sortOrder": "asc"}`,
		MediaType: "text/csv",
	}, bytesShape, list.in.typ, reflect.TypeFor[*Content]())
	o.exportedList, o.hasPrepare = list, list.hasPrepare
	for _, name := range pagingFields {
		delete(o.in.props, name)
	}
	isPaged := func(p *schemaProp) bool { return slices.Contains(pagingFields, p.name) }
	o.in.order, o.queryProps = slices.DeleteFunc(o.in.order, isPaged), slices.DeleteFunc(o.queryProps, isPaged)
	for i, p := range o.in.order {
		p.position = i
	}
	columns := exportColumns(list.out)
	o.invoke = func(ctx context.Context, c *Call, in reflect.Value, s *Stream) (any, error) {
		return exportRows(ctx, &csvExport{c, list, in, columns}, file, s.Head)
	}
	return o
}

// IsExport reports whether the operation is the export of a list.
func (o *Op) IsExport() bool { return o.exportedList != nil }

// csvExport is one export under way.
type csvExport struct {
	*Call
	list    *Op
	in      reflect.Value
	columns []column
}

// exportRows reads the first page before it answers, because a refusal cannot be told once the status has been sent.
// The other pages are read while the answer is written.
func exportRows(ctx context.Context, x *csvExport, file string, head bool) (*Content, error) {
	end, ok := runningExports.Begin(x.Org)
	if !ok {
		f := fault.RateLimited.Say("%d exports are being written at the moment. Wait for one to end.",
			runningExports.Most)
		f.RetryAfter = 5 * time.Second
		return nil, f
	}
	rows, next, err := x.readExportPage(ctx, firstCursor)
	if err != nil || head { // Write, which calls end otherwise, will not run
		end()
	}
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, end) // in case that the request ends and nobody has called Write
	return &Content{Name: file, Type: "text/csv; charset=utf-8", Write: func(ctx context.Context, w io.Writer) error {
		defer end()
		out := csv.NewWriter(w)
		if err := out.Write(columnNames(x.columns)); err != nil {
			return err
		}
		for {
			for i := range rows.Len() {
				if err := x.writeCSVRow(out, rows.Index(i)); err != nil {
					return err
				}
			}
			if out.Flush(); out.Error() != nil || next.Null { // the client has hung up, or it was the last page
				return out.Error()
			}
			if rows, next, err = x.readExportPage(ctx, next.Value); err != nil {
				return err
			}
		}
	}}, nil
}

// readExportPage reads one page. Each page has a transaction of its own, so that none stays open while a slow client
// reads.
func (x *csvExport) readExportPage(ctx context.Context, cursor string) (rows reflect.Value, next Nullable[string],
	err error) {
	in := reflect.New(x.in.Type()).Elem()
	in.Set(x.in)
	in.FieldByName("Limit").SetInt(exportPageSize)
	in.FieldByName("Cursor").Set(reflect.ValueOf(&cursor))
	err = x.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		x.Tx = tx
		defer func() { x.Tx = nil }()
		out, err := x.list.invoke(ctx, x.Call, in, nil)
		if err != nil {
			return err
		}
		var data any
		data, next = out.(anyList).rowsAndCursor()
		rows = reflect.ValueOf(data)
		return nil
	})
	return rows, next, err
}

// writeCSVRow writes one row.
func (x *csvExport) writeCSVRow(out *csv.Writer, row reflect.Value) error {
	cells := make([]string, len(x.columns))
	for i, c := range x.columns {
		text, err := c.cellText(fieldByIndex(row, c.index))
		if err != nil {
			return err
		}
		cells[i] = text
	}
	return out.Write(cells)
}

// column is a field of a row.
type column struct {
	*schemaProp
	parts []string // the fields to write of the objects in it; nil for a field without objects
}

func columnNames(columns []column) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.name
	}
	return out
}

// exportColumns are the columns of an export: the fields that fit into a cell, and those whose tag says how.
func exportColumns(n *schemaNode) (out []column) {
	for _, p := range n.order {
		tag := n.object.FieldByIndex(p.index).Tag.Get("csv")
		c := column{schemaProp: p}
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

// cellText is a value as the file has it, safe to be opened in a spreadsheet.
func (c *column) cellText(v reflect.Value) (string, error) {
	text, err := c.valueText(v, c.node)
	if c.node.kind == stringValue || c.node.kind == arrayValue {
		text = EscapeFormula(text)
	}
	return text, err
}

// valueText is a value as text; empty for null.
func (c *column) valueText(v reflect.Value, n *schemaNode) (string, error) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "", nil
		}
		v = v.Elem()
	}
	switch {
	case n.kind == arrayValue && n.elem.kind == objectValue:
		return c.joinValues(v.Len(), "; ", func(i int) (reflect.Value, *schemaNode) { return v.Index(i), n.elem })
	case n.kind == arrayValue:
		return c.joinValues(v.Len(), ", ", func(i int) (reflect.Value, *schemaNode) { return v.Index(i), n.elem })
	case n.kind == objectValue:
		return c.joinValues(len(c.parts), ", ", func(i int) (reflect.Value, *schemaNode) {
			p := n.props[c.parts[i]]
			return fieldByIndex(v, p.index), p.node
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

// joinValues joins the n values that at returns, without the empty ones.
func (c *column) joinValues(n int, separator string, at func(i int) (reflect.Value, *schemaNode)) (string, error) {
	var texts []string
	for i := range n {
		text, err := c.valueText(at(i))
		if err != nil {
			return "", err
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, separator), nil
}

// EscapeFormula puts an apostrophe before a text that a spreadsheet would run as a formula. A name like =HYPERLINK(…)
// could otherwise attack whoever opens the export.
func EscapeFormula(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// UnescapeFormula removes the apostrophe that EscapeFormula put, for an import of what was exported.
func UnescapeFormula(s string) string {
	if rest, ok := strings.CutPrefix(s, "'"); ok && EscapeFormula(rest) != rest {
		return rest
	}
	return s
}
