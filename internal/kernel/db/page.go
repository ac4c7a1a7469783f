package db

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/id"
)

// Page is a part of a list: Limit rows from Offset on or, when a caller reads page
// after page with a cursor, from where the page before ended.
type Page struct {
	Limit, Offset int
	Ascending     bool
	Sort          string // the field to sort by; createdAt when empty
	After         *Place // the last row of the page before; nil at the beginning
}

// Place is a position in a sorted list: the row with this sort value and seq. To
// go on from there costs the same however far it is from the beginning; an offset
// costs more with each page.
type Place struct {
	Value any // what the list is sorted by; nil for a row that has none, which comes after all that have one
	Seq   int64
}

func (p Page) direction() string {
	if p.Ascending {
		return "ASC"
	}
	return "DESC"
}

// sorting is how a page is sorted. seq decides between equal values.
type sorting struct {
	by       string // the SQL expression
	field    *field // the field of the row that has the value
	words    bool   // by the first sortedPrefix characters of the search text
	letters  bool   // by the field's text, ignoring the case of a to z
	nullable bool   // some rows have no value
}

// sortedWords is how many characters of a search text count: enough for a name,
// and few enough for an index. The indexes in the migrations have the same number.
const sortedWords = 40

// sorting finds how to sort by a field, as the API names it. A number is sorted by
// its column. Text is sorted by the search text, where the table has one: it
// begins with the name, folded. COLLATE "C" makes PostgreSQL compare bytes, as
// SQLite does.
func (t *Table[T]) sorting(e Engine, name string) sorting {
	if name == "" || name == "createdAt" {
		return sorting{by: "created_at", field: t.field("created_at")}
	}
	collate := ""
	if e == Postgres {
		collate = ` COLLATE "C"`
	}
	f := t.field(snake(name))
	switch {
	case f != nil && f.kind == kInt:
		return sorting{by: f.column, field: f, nullable: f.ptr}
	case t.searchable:
		return sorting{by: "substr(search, 1, " + strconv.Itoa(sortedWords) + ")" + collate, field: t.field("search"),
			words: true}
	case f != nil && f.kind == kText && !f.ptr:
		return sorting{by: "lower(" + f.column + collate + ")", field: f, letters: true}
	}
	panic("db: table " + t.name + " cannot be sorted by " + name)
}

// field is the row's field for a column, or nil.
func (t *Table[T]) field(column string) *field {
	for i := range t.plan.fields {
		if f := &t.plan.fields[i]; f.column == column {
			return f
		}
	}
	return nil
}

// order is the ORDER BY of a page.
func (s sorting) order(p Page) string {
	dir := p.direction()
	return " ORDER BY " + s.by + " " + dir + ", seq " + dir
}

// walk adds the condition that a row comes after the page's cursor.
func (s sorting) walk(w *Where, p Page) *Where {
	if p.After == nil {
		return w
	}
	sign := " < "
	if p.Ascending {
		sign = " > "
	}
	// Among the rows without a value only seq decides.
	if p.After.Value == nil {
		return w.And("seq"+sign+"?", p.After.Seq)
	}
	// SQLite does not use the index of an expression for a comparison of row values,
	// as below. It does for this one, which those rows meet too.
	if s.words || s.letters {
		w.And(s.by+strings.TrimSuffix(sign, " ")+"= ?", p.After.Value)
	}
	return w.And("("+s.by+", seq)"+sign+"(?, ?)", p.After.Value, p.After.Seq)
}

// usualLimits are written into the statement when PostgreSQL lists all that an
// organization has. For a limit that is an argument it makes a new plan each time,
// because the page might be a tenth of the table. Planning takes as long as reading
// the page, and is worth it only where a filter's value matters. With every limit
// in its text there would be too many statements to keep prepared.
var usualLimits = []int{1, 10, 11, 20, 21, 25, 26, 50, 51, 100, 101}

// pageOf lists a part of what from selects, which is a FROM and its WHERE.
func pageOf[T any](ctx context.Context, tx *Tx, columns, from, order string, args []any, p Page) ([]T, error) {
	n, limit := len(args), strconv.Itoa(p.Limit)
	// Appending must not write into the caller's array.
	args = args[:n:n]
	if tx.Engine() != Postgres || n > 1 || !slices.Contains(usualLimits, p.Limit) {
		args, limit = append(args, p.Limit), "$"+strconv.Itoa(n+1)
	}
	text := "SELECT " + columns + " FROM " + from + order + " LIMIT " + limit
	if p.Offset > 0 {
		args = append(args, p.Offset)
		text += " OFFSET $" + strconv.Itoa(len(args))
	}
	return AllOf[T](ctx, tx, p.Limit, text, args...)
}

// Browse is Search in any order. Rows that have nothing to sort by come last in
// both directions. They are a list of their own behind the others, because the
// engines disagree about where NULL sorts, and an index has it at one end only.
func (t *Table[T]) Browse(ctx context.Context, tx *Tx, query *string, w *Where, p Page) ([]T, error) {
	s := t.sorting(tx.Engine(), p.Sort)
	if !s.nullable {
		return t.Search(ctx, tx, query, s.walk(w, p), p)
	}
	rows := []T{}
	var err error
	if p.After == nil || p.After.Value != nil {
		some := w.clone().And(s.by + " IS NOT NULL")
		if rows, err = t.Search(ctx, tx, query, s.walk(some.clone(), p), p); err != nil || len(rows) == p.Limit {
			return rows, err
		}
		p.After = nil
		if p.Offset > 0 {
			Containing(some, "search", query)
			n, err := t.Count(ctx, tx, some)
			if err != nil {
				return nil, err
			}
			p.Offset = max(p.Offset-n, 0)
		}
	}
	p.Limit -= len(rows)
	rest, err := t.Search(ctx, tx, query, s.walk(w.clone().And(s.by+" IS NULL"), p), p)
	return append(rows, rest...), err
}

// Leads reports whether the page's cursor can be one of this table: its value has
// the type that the list is sorted by. A caller could have sent any.
func (t *Table[T]) Leads(tx *Tx, p Page) bool {
	if p.After == nil {
		return true
	}
	s := t.sorting(tx.Engine(), p.Sort)
	switch v := p.After.Value.(type) {
	case nil:
		return s.nullable
	case string:
		return s.field.kind == kText && !strings.ContainsRune(v, 0)
	}
	return s.field.kind == kInt
}

// Place is the cursor at a row, for the page that follows it.
func (t *Table[T]) Place(ctx context.Context, tx *Tx, row *T, p Page) (at Place, err error) {
	v := reflect.ValueOf(row).Elem()
	if t.seq >= 0 {
		at.Seq = t.seqOf(row)
	} else {
		key := id.ID(t.plan.place(v, t.field("id")).String())
		if at.Seq, err = One[int64](ctx, tx, "SELECT seq FROM "+t.name+" WHERE id = $1", key); err != nil {
			return at, err
		}
	}
	s := t.sorting(tx.Engine(), p.Sort)
	f := t.plan.place(v, s.field)
	switch {
	case s.words:
		text := []rune(f.String())
		at.Value = string(text[:min(len(text), sortedWords)])
	case s.letters:
		at.Value = strings.Map(lowerASCII, f.String())
	case f.Kind() != reflect.Pointer:
		at.Value = f.Int()
	case !f.IsNil():
		at.Value = f.Elem().Int()
	}
	return at, nil
}

// lowerASCII is what lower() does with a character in SQLite, and in PostgreSQL
// with COLLATE "C": only A to Z change.
func lowerASCII(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}
