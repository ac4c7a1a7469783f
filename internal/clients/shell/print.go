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
	"frontdesk/internal/kernel/op"
)

// How much a table shows.
const (
	tableColumns = 6
	cellWidth    = 48 // characters
)

// unseen are the fields that are left out unless --columns names them.
var unseen = []string{"organizationId", "deletedAt", "updatedAt"}

// print writes one answer: an object, or a list that is not paged.
func (c *command) print(shape *clients.Shape, data json.RawMessage) error {
	switch output := c.one("output"); {
	case output == "json":
		return c.printJSON(data)
	case shape.Kind == clients.Array:
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return err
		}
		rows := c.rows(shape.Elem)
		for _, row := range list {
			if err := rows.write(row); err != nil {
				return err
			}
		}
		return rows.end()
	case output == "csv":
		rows := c.rows(shape)
		if err := rows.write(data); err != nil {
			return err
		}
		return rows.end()
	}
	fields, err := object(data)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.Out, 0, 4, 2, ' ', 0)
	for _, name := range c.names(shape, fields) {
		if text := cell(fields[name]); text != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, plain(text))
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

func object(data json.RawMessage) (map[string]json.RawMessage, error) {
	var out map[string]json.RawMessage
	err := json.Unmarshal(data, &out)
	return out, err
}

// names lists the fields to print: those that --columns names, or those of the type in their
// order, without hiddenFields.
func (c *command) names(shape *clients.Shape, of map[string]json.RawMessage) (out []string) {
	if text := c.one("columns"); text != "" {
		return strings.Split(text, ",")
	}
	if shape.Type == nil {
		return sortedKeys(of)
	}
	for _, f := range shape.Type.Fields {
		if !slices.Contains(unseen, f.Name) {
			out = append(out, f.Name)
		}
	}
	return out
}

// columns chooses the columns of a table: the first fields that have a value in some row which
// fits into a cell. The time of creation comes last.
func (c *command) columns(shape *clients.Shape, rows []map[string]json.RawMessage) (out []string) {
	names := c.names(shape, rows[0])
	if c.has("columns") {
		return names
	}
	if i := slices.Index(names, "createdAt"); i >= 0 {
		names = append(slices.Delete(names, i, i+1), "createdAt")
	}
	for _, name := range names {
		if len(out) < tableColumns && slices.ContainsFunc(rows, func(row map[string]json.RawMessage) bool {
			text := cell(row[name])
			return text != "" && text[0] != '[' && text[0] != '{'
		}) {
			out = append(out, name)
		}
	}
	return out
}

// rows prints rows as they come. Only a table waits for all of them, because their values
// decide about its columns.
type rows struct {
	c       *command
	shape   *clients.Shape
	output  string
	columns []string
	csv     *csv.Writer
	table   []map[string]json.RawMessage
	n       int
}

func (c *command) rows(shape *clients.Shape) *rows {
	return &rows{c: c, shape: shape, output: cmp.Or(c.one("output"), "table"), csv: csv.NewWriter(c.Out)}
}

// write prints a row, or keeps it for the table.
func (r *rows) write(row json.RawMessage) error {
	r.n++
	if r.output == "json" {
		separator := ",\n"
		if r.n == 1 {
			separator = "[\n"
		}
		_, err := fmt.Fprint(r.c.Out, separator, string(row))
		return err
	}
	fields, err := object(row)
	if err != nil {
		return err
	}
	if r.output == "table" {
		r.table = append(r.table, fields)
		return nil
	}
	if r.n == 1 {
		r.columns = r.c.names(r.shape, fields)
		if err := r.csv.Write(r.columns); err != nil {
			return err
		}
	}
	cells := make([]string, len(r.columns))
	for i, name := range r.columns {
		cells[i] = op.NoFormula(cell(fields[name]))
	}
	return r.csv.Write(cells)
}

// end prints what can only be printed after the last row: the end of a JSON list, or the whole
// table.
func (r *rows) end() error {
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
	columns := r.c.columns(r.shape, r.table)
	w := tabwriter.NewWriter(r.c.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, strings.ToUpper(strings.Join(columns, "\t")))
	for _, row := range r.table {
		cells := make([]string, len(columns))
		for i, name := range columns {
			cells[i] = shorten(plain(cell(row[name])))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// cell is a value as text: a string without its quotes, nothing for null, and JSON for
// anything else.
func cell(v json.RawMessage) string {
	var s string
	switch {
	case len(v) == 0 || string(v) == "null":
		return ""
	case json.Unmarshal(v, &s) == nil:
		return s
	}
	return string(v)
}

// plain takes control characters out of a text, which could steer a terminal. Names and
// subjects may be written by anybody.
func plain(s string) string {
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

func shorten(s string) string {
	if r := []rune(s); len(r) > cellWidth {
		return string(r[:cellWidth-1]) + "…"
	}
	return s
}
