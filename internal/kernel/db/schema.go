package db

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// ColumnType is a column's type as migrations write it: ID, TIME, INT, BOOL, JSON,
// BYTES, SEQ or TEXT. It means the same on both engines, whose own types do not
// always distinguish a boolean from a number, or JSON from text.
type ColumnType string

// The type words.
const (
	TypeID    ColumnType = "ID"
	TypeTime  ColumnType = "TIME"
	TypeInt   ColumnType = "INT"
	TypeBool  ColumnType = "BOOL"
	TypeJSON  ColumnType = "JSON"
	TypeBytes ColumnType = "BYTES"
	TypeSeq   ColumnType = "SEQ"
	TypeText  ColumnType = "TEXT"
)

// Column is one column of a table.
type Column struct {
	Name string     `json:"name"`
	Type ColumnType `json:"type"`
}

// Relation is a table as the migrations declare it, the same on both engines. A
// backup has it as JSON.
type Relation struct {
	Name    string   `json:"table"`
	Columns []Column `json:"columns"`
}

// HasColumn reports whether the table has a column.
func (r *Relation) HasColumn(column string) bool { return r.ColumnIndex(column) >= 0 }

// ColumnIndex is the position of a column in a row, or -1.
func (r *Relation) ColumnIndex(column string) int {
	return slices.IndexFunc(r.Columns, func(c Column) bool { return c.Name == column })
}

// NumberColumn is the column that numbers the rows: the one of type SEQ, usually seq.
func (r *Relation) NumberColumn() string {
	for _, c := range r.Columns {
		if c.Type == TypeSeq {
			return c.Name
		}
	}
	return r.Columns[0].Name
}

// columnNames lists the columns by name.
func (r *Relation) columnNames() []string {
	out := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		out[i] = c.Name
	}
	return out
}

var (
	// What a line of a migration declares. Everything else is skipped.
	tableLine  = regexp.MustCompile(`^CREATE TABLE (\w+) \($`)
	columnLine = regexp.MustCompile(`^  (\w+) (ID|TIME|INT|BOOL|JSON|BYTES|SEQ|TEXT)\b`)
	addedLine  = regexp.MustCompile(`^ALTER TABLE (\w+) ADD COLUMN (\w+) (ID|TIME|INT|BOOL|JSON|BYTES|TEXT)\b`)
)

// ReadRelations reads the tables from the migrations up to a version, parents before
// their children. last is the newest version that there is. The parser knows only
// the form that repo_test.go insists on: a column per line, and no table dropped.
func ReadRelations(folders []fs.FS, version int64) (out []Relation, last int64, err error) {
	all, err := readMigrations(folders)
	if err != nil {
		return nil, 0, err
	}
	for _, m := range all {
		last = m.version
		if m.version > version {
			continue
		}
		inside := false
		// Either engine's lines will do: the columns are the same.
		for _, line := range linesForEngine(m.text, Postgres) {
			line = strings.TrimRight(line, "\r\n")
			if t := tableLine.FindStringSubmatch(line); t != nil {
				out, inside = append(out, Relation{Name: t[1]}), true
			} else if strings.HasPrefix(line, ")") {
				inside = false
			} else if c := columnLine.FindStringSubmatch(line); c != nil && inside {
				r := &out[len(out)-1]
				r.Columns = append(r.Columns, Column{c[1], ColumnType(c[2])})
			} else if c := addedLine.FindStringSubmatch(line); c != nil {
				for i := range out {
					if out[i].Name == c[1] {
						out[i].Columns = append(out[i].Columns, Column{c[2], ColumnType(c[3])})
					}
				}
			}
		}
	}
	return out, last, nil
}
