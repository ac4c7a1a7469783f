package db

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"frontdesk/internal/kernel/id"
)

// Text from outside. A row that holds what somebody outside the organization wrote
// has external set, a column that every row with common fields has and that only
// ever goes from false to true. A table says in its life which columns people
// outside can fill; Insert and Save set the mark, so that no resource has to think of it.

// Author is who words what a transaction writes.
type Author uint8

const (
	// Service is a job of the service itself. It has no words of its own: what it
	// puts into a column that outsiders can fill came from them.
	Service Author = iota
	// House is a person, a key, an agent or an automation of the organization.
	House
	// Stranger is somebody outside, or somebody of the organization who passes an
	// outsider's words on: every row that is written gets the mark.
	Stranger
)

// WrittenBy says who words what the transaction writes from now on.
func (tx *Tx) WrittenBy(a Author) { tx.author = a }

// Author is who words what the transaction writes.
func (tx *Tx) Author() Author { return tx.author }

// NobodyOutside is the list of columns of a table that outsiders cannot write to.
var NobodyOutside = []string{}

// externalColumn is the mark. It is part of the fields that all rows have.
const externalColumn = "external"

// declareExternal finds the mark and the columns that outsiders fill. A table whose
// rows have the mark must say which these are, even if there are none: forgetting
// one would let an outsider's text pass for the organization's.
func (t *Table[T]) declareExternal(at map[string]int) {
	t.external = -1
	rowTables.Store(reflect.TypeFor[T](), t.name)
	i, ok := at[externalColumn]
	if !ok {
		return
	}
	t.external = i
	if t.life.Strangers == nil {
		panic("db: table " + t.name + " does not say which columns people outside the house can fill (Life.Strangers)")
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
	t.strangers, t.answered = columns(t.life.Strangers), columns(t.life.Answered)
}

// markExternal sets the mark of a row that is about to be written, if an outsider
// worded something new in it.
func (t *Table[T]) markExternal(tx *Tx, row *T) {
	if t.external < 0 {
		return
	}
	v := reflect.ValueOf(row).Elem()
	mark := t.plan.place(v, &t.plan.fields[t.external])
	switch {
	case mark.Bool():
	case tx.author == Stranger, t.fills(tx, v, t.answered), tx.author == Service && t.fills(tx, v, t.strangers):
		mark.SetBool(true)
	}
}

// fills reports whether a row has text in one of the columns that was not there
// before. Text that only stays is not new, whoever saves the row.
func (t *Table[T]) fills(tx *Tx, row reflect.Value, columns []int) bool {
	if len(columns) == 0 {
		return false
	}
	var was reflect.Value
	if before, ok := tx.Before(id.ID(t.plan.place(row, t.field("id")).String())).(*T); ok {
		was = reflect.ValueOf(before).Elem()
	}
	return slices.ContainsFunc(columns, func(i int) bool {
		f := &t.plan.fields[i]
		v := t.plan.place(row, f)
		if v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
			return false
		}
		return !was.IsValid() || !reflect.DeepEqual(v.Interface(), t.plan.place(was, f).Interface())
	})
}

// rowTables are the tables by the type of their rows.
var rowTables sync.Map // reflect.Type → string

// AboutFields are the fields of a row type that name somebody the organization
// deals with, or a conversation with them: its own id, and what it refers to. Each
// is an index for reflect's FieldByIndex.
func AboutFields(row reflect.Type) (out [][]int) {
	table, ok := rowTables.Load(row)
	if !ok {
		return nil
	}
	life := lives[table.(string)]
	for _, f := range planFor(row).fields {
		about := f.column == "id" && life.Somebody
		for _, r := range life.AllRefs() {
			about = about || r.Column == f.column && lives[r.Table] != nil && lives[r.Table].Somebody
		}
		if about {
			out = append(out, f.index)
		}
	}
	return out
}

// TellsOfSomebody reports whether rows that events call resourceType, contact or
// contact.email, are somebody the organization deals with, or refer to them. What
// no table is known for counts as such, to be safe.
func TellsOfSomebody(resourceType string) bool {
	noun, _, _ := strings.Cut(resourceType, ".")
	for _, l := range lives {
		if l.Noun == "" || EventName(l.Noun) != noun {
			continue
		}
		return l.Somebody || slices.ContainsFunc(l.AllRefs(), func(r Ref) bool {
			return lives[r.Table] != nil && lives[r.Table].Somebody
		})
	}
	return true
}
