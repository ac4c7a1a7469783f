package db

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Text from outside. A row that holds what somebody outside the organization wrote
// has external set, a column that every row with common fields has and that only
// ever goes from false to true. A table says in its life which columns people
// outside can fill; Insert and Save set the mark, so that no resource has to think of it.

// Author is who words what a transaction writes.
type Author uint8

const (
	// AuthorJob is a job of the service itself. It has no words of its own: what it
	// puts into a column that outsiders can fill came from them.
	AuthorJob Author = iota
	// AuthorOrganization is a person, a key, an agent or an automation of the organization.
	AuthorOrganization
	// AuthorExternal is somebody outside, or somebody of the organization who passes an
	// outsider's words on: every row that is written gets the mark.
	AuthorExternal
)

// SetAuthor says who words what the transaction writes from now on.
func (tx *Tx) SetAuthor(a Author) { tx.author = a }

// Author is who words what the transaction writes.
func (tx *Tx) Author() Author { return tx.author }

// NoExternalText is the list of columns of a table that outsiders cannot write to.
var NoExternalText = []string{}

// externalColumn is the mark. It is part of the fields that all rows have.
const externalColumn = "external"

// declareExternal finds the mark and the columns that outsiders fill. A table whose
// rows have the mark must say which these are, even if there are none: forgetting
// one would let an outsider's text pass for the organization's.
func (t *layout) declareExternal(at map[string]int) {
	t.externalField = -1
	tablesByRowType.Store(t.rowType, t.name)
	i, ok := at[externalColumn]
	if !ok {
		return
	}
	t.externalField = i
	if t.life.ExternalText == nil {
		panic("db: table " + t.name +
			" does not say which columns people outside the organization can fill (Life.ExternalText)")
	}
	columns := func(names []string) (out []int) {
		for _, name := range names {
			i, ok := at[name]
			if !ok {
				panic("db: table " + t.name + " has no column " + name + " that strangers could fill")
			}
			out = append(out, i)
		}
		return out
	}
	t.externalText, t.externalOnly = columns(t.life.ExternalText), columns(t.life.ExternalOnly)
}

// markExternal sets the mark of a row that is about to be written, if an outsider
// worded something new in it.
func (t *layout) markExternal(tx *Tx, row reflect.Value) {
	if t.externalField < 0 {
		return
	}
	mark := t.mapping.fieldValue(row, &t.mapping.fields[t.externalField])
	switch {
	case mark.Bool():
	case tx.author == AuthorExternal, t.hasNewText(tx, row, t.externalOnly), tx.author == AuthorJob &&
		t.hasNewText(tx, row, t.externalText):
		mark.SetBool(true)
	}
}

// hasNewText reports whether a row has text in one of the columns that was not there
// before. Text that only stays is not new, whoever saves the row.
func (t *layout) hasNewText(tx *Tx, row reflect.Value, columns []int) bool {
	if len(columns) == 0 {
		return false
	}
	was, locked := t.rowBefore(tx, row)
	return slices.ContainsFunc(columns, func(i int) bool {
		f := &t.mapping.fields[i]
		v := t.mapping.fieldValue(row, f)
		if v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
			return false
		}
		return !locked || !reflect.DeepEqual(v.Interface(), t.mapping.fieldValue(was, f).Interface())
	})
}

// tablesByRowType are the tables by the type of their rows.
var tablesByRowType sync.Map // reflect.Type → string

// CounterpartyFields are the fields of a row type that name somebody the organization
// deals with, or a conversation with them: its own id, and what it refers to. Each
// is an index for reflect's FieldByIndex.
func CounterpartyFields(row reflect.Type) (out [][]int) {
	table, ok := tablesByRowType.Load(row)
	if !ok {
		return nil
	}
	life := declaredLives[table.(string)]
	for _, f := range rowMappingFor(row).fields {
		about := f.column == "id" && life.Counterparty
		for _, r := range life.AllReferences() {
			about = about || r.Column == f.column && declaredLives[r.Table] != nil &&
				declaredLives[r.Table].Counterparty
		}
		if about {
			out = append(out, f.index)
		}
	}
	return out
}

// ConcernsCounterparty reports whether rows that events call resourceType, contact or
// contact.email, are somebody the organization deals with, or refer to them. What
// no table is known for counts as such, to be safe.
func ConcernsCounterparty(resourceType string) bool {
	noun, _, _ := strings.Cut(resourceType, ".")
	for _, l := range declaredLives {
		if l.Noun == "" || EventName(l.Noun) != noun {
			continue
		}
		return l.Counterparty || slices.ContainsFunc(l.AllReferences(), func(r Ref) bool {
			return declaredLives[r.Table] != nil && declaredLives[r.Table].Counterparty
		})
	}
	return true
}
