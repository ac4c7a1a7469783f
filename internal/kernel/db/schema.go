package db

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// Word is a column's type as migrations write it: ID, TIME, INT, BOOL, JSON,
// BYTES, SEQ or TEXT. It means the same on both engines, whose own types do not
// always distinguish a boolean from a number, or JSON from text.
type Word string

// The type words.
const (
	WordID    Word = "ID"
	WordTime  Word = "TIME"
	WordInt   Word = "INT"
	WordBool  Word = "BOOL"
	WordJSON  Word = "JSON"
	WordBytes Word = "BYTES"
	WordSeq   Word = "SEQ"
	WordText  Word = "TEXT"
)

// Column is one column of a table.
type Column struct {
	Name string `json:"name"`
	Type Word   `json:"type"`
}

// Relation is a table as the migrations declare it, the same on both engines. A
// backup has it as JSON.
type Relation struct {
	Name    string   `json:"table"`
	Columns []Column `json:"columns"`
}

// Has reports whether the table has a column.
func (r *Relation) Has(column string) bool { return r.Index(column) >= 0 }

// Index is the position of a column in a row, or -1.
func (r *Relation) Index(column string) int {
	return slices.IndexFunc(r.Columns, func(c Column) bool { return c.Name == column })
}

// key is the column that numbers the rows: the one of type SEQ, usually seq.
func (r *Relation) key() string {
	for _, c := range r.Columns {
		if c.Type == WordSeq {
			return c.Name
		}
	}
	return r.Columns[0].Name
}

// names lists the columns by name.
func (r *Relation) names() []string {
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

// relations reads the tables from the migrations up to a version, parents before
// their children. last is the newest version that there is. The parser knows only
// the form that repo_test.go insists on: a column per line, and no table dropped.
func relations(folders []fs.FS, version int64) (out []Relation, last int64, err error) {
	all, err := sources(folders)
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
		for _, line := range linesFor(m.text, Postgres) {
			line = strings.TrimRight(line, "\r\n")
			if t := tableLine.FindStringSubmatch(line); t != nil {
				out, inside = append(out, Relation{Name: t[1]}), true
			} else if strings.HasPrefix(line, ")") {
				inside = false
			} else if c := columnLine.FindStringSubmatch(line); c != nil && inside {
				r := &out[len(out)-1]
				r.Columns = append(r.Columns, Column{c[1], Word(c[2])})
			} else if c := addedLine.FindStringSubmatch(line); c != nil {
				for i := range out {
					if out[i].Name == c[1] {
						out[i].Columns = append(out[i].Columns, Column{c[2], Word(c[3])})
					}
				}
			}
		}
	}
	return out, last, nil
}
