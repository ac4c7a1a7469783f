package shell

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"frontdesk/internal/clients"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/op"
)

// How much a table shows.
const (
	maxTableColumns = 6
	maxCellWidth    = 48 // characters
)

// hiddenFields are the fields that are left out unless --columns names them.
var hiddenFields = []string{"organizationId", "deletedAt", "updatedAt"}

// printAnswer writes one answer: an object, or a list that is not paged.
func (c *command) printAnswer(shape *clients.Shape, data json.RawMessage) error {
	switch output := c.flagValue("output"); {
	case output == "json":
		return c.printJSON(data)
	case shape.Kind == clients.Array:
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return err
		}
		rows := c.newRowPrinter(shape.Elem)
		for _, row := range list {
			if err := rows.writeRow(row); err != nil {
				return err
			}
		}
		return rows.finishRows()
	case output == "csv":
		rows := c.newRowPrinter(shape)
		if err := rows.writeRow(data); err != nil {
			return err
		}
		return rows.finishRows()
	}
	fields, err := decodeObject(data)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.Out, 0, 4, 2, ' ', 0)
	for _, name := range c.fieldNames(shape, fields) {
		if text := cellText(fields[name]); text != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, stripControls(text))
		}
	}
	return w.Flush()
}

func (c *command) printJSON(data json.RawMessage) error {
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := c.Out.Write(b.Bytes())
	return err
}

func decodeObject(data json.RawMessage) (map[string]json.RawMessage, error) {
	var out map[string]json.RawMessage
	err := json.Unmarshal(data, &out)
	return out, err
}

// fieldNames lists the fields to print: those that --columns names, or those of the type in their
// order, without hiddenFields.
func (c *command) fieldNames(shape *clients.Shape, of map[string]json.RawMessage) (out []string) {
	if text := c.flagValue("columns"); text != "" {
		return strings.Split(text, ",")
	}
	if shape.Type == nil {
		return sortedKeys(of)
	}
	for _, f := range shape.Type.Fields {
		if !slices.Contains(hiddenFields, f.Name) {
			out = append(out, f.Name)
		}
	}
	return out
}

// chooseColumns chooses the columns of a table: the first fields that have a value in some row which
// fits into a cell. The time of creation comes last.
func (c *command) chooseColumns(shape *clients.Shape, rows []map[string]json.RawMessage) (out []string) {
	names := c.fieldNames(shape, rows[0])
	if c.hasFlag("columns") {
		return names
	}
	if i := slices.Index(names, "createdAt"); i >= 0 {
		names = append(slices.Delete(names, i, i+1), "createdAt")
	}
	for _, name := range names {
		if len(out) < maxTableColumns && slices.ContainsFunc(rows, func(row map[string]json.RawMessage) bool {
			text := cellText(row[name])
			return text != "" && text[0] != '[' && text[0] != '{'
		}) {
			out = append(out, name)
		}
	}
	return out
}

// rowPrinter prints rows as they come. Only a table waits for all of them, because their values
// decide about its columns.
type rowPrinter struct {
	c       *command
	shape   *clients.Shape
	output  string
	columns []string
	csv     *csv.Writer
	table   []map[string]json.RawMessage
	n       int
}

func (c *command) newRowPrinter(shape *clients.Shape) *rowPrinter {
	return &rowPrinter{c: c, shape: shape, output: cmp.Or(c.flagValue("output"), "table"), csv: csv.NewWriter(c.Out)}
}

// writeRow prints a row, or keeps it for the table.
func (r *rowPrinter) writeRow(row json.RawMessage) error {
	r.n++
	if r.output == "json" {
		separator := ",\n"
		if r.n == 1 {
			separator = "[\n"
		}
		_, err := fmt.Fprint(r.c.Out, separator, string(row))
		return err
	}
	fields, err := decodeObject(row)
	if err != nil {
		return err
	}
	if r.output == "table" {
		r.table = append(r.table, fields)
		return nil
	}
	if r.n == 1 {
		r.columns = r.c.fieldNames(r.shape, fields)
		if err := r.csv.Write(r.columns); err != nil {
			return err
		}
	}
	cells := make([]string, len(r.columns))
	for i, name := range r.columns {
		cells[i] = op.EscapeFormula(cellText(fields[name]))
	}
	return r.csv.Write(cells)
}

// finishRows prints what can only be printed after the last row: the end of a JSON list, or the whole
// table.
func (r *rowPrinter) finishRows() error {
	switch r.output {
	case "json":
		text := "\n]\n"
		if r.n == 0 {
			text = "[]\n"
		}
		_, err := fmt.Fprint(r.c.Out, text)
		return err
	case "csv":
		r.csv.Flush()
		return r.csv.Error()
	}
	if r.n == 0 {
		fmt.Fprintln(r.c.Err, "There are none.")
		return nil
	}
	columns := r.c.chooseColumns(r.shape, r.table)
	w := tabwriter.NewWriter(r.c.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, strings.ToUpper(strings.Join(columns, "\t")))
	for _, row := range r.table {
		cells := make([]string, len(columns))
		for i, name := range columns {
			cells[i] = cut.Ellipsis(stripControls(cellText(row[name])), maxCellWidth-1)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// cellText is a value as text: a string without its quotes, nothing for null, and JSON for
// anything else.
func cellText(v json.RawMessage) string {
	var s string
	switch {
	case len(v) == 0 || string(v) == "null":
		return ""
	case json.Unmarshal(v, &s) == nil:
		return s
	}
	return string(v)
}

// stripControls takes control characters out of a text, which could steer a terminal. Names and
// subjects may be written by anybody.
func stripControls(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return '\uFFFD'
		}
		return r
	}, s)
}
