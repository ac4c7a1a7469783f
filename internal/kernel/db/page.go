package db

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/id"
)

// Page is a part of a list: Limit rows from Offset on, or, in a walk, from where
// the page before ended.
type Page struct {
	Limit, Offset int
	Ascending     bool
	Sort          string // the field to sort by; createdAt when empty
	After         *Place // nil at the beginning
}

// Place is where a walk is: at a row, by what the list is sorted by and its seq.
// Going on from a place costs the same however far it is from the beginning.
type Place struct {
	Value any // nil for a row that has none, which comes after all that have one
	Seq   int64
}

func (p Page) direction() string {
	if p.Ascending {
		return "ASC"
	}
	return "DESC"
}

// sorting is how a page is sorted.
type sorting struct {
	by       string // the expression
	field    *field // whose value it is
	words    bool   // by the beginning of the search text
	letters  bool   // by the field's text, ignoring the case of a to z
	nullable bool
}

// sortedWords is how much of a search text counts: enough for a name, and short
// enough for an index.
const sortedWords = 40

// sorting finds how to sort by a field. Text is sorted by the search text, where
// the table has one: it begins with the name, folded. Both engines compare bytes.
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

// walk adds the page's place to the conditions.
func (s sorting) walk(w *Where, p Page) *Where {
	if p.After == nil {
		return w
	}
	sign := " < "
	if p.Ascending {
		sign = " > "
	}
	if p.After.Value == nil {
		return w.And("seq"+sign+"?", p.After.Seq)
	}
	if s.words || s.letters {
		// SQLite does not seek in the index of an expression by a comparison of rows.
		w.And(s.by+strings.TrimSuffix(sign, " ")+"= ?", p.After.Value)
	}
	return w.And("("+s.by+", seq)"+sign+"(?, ?)", p.After.Value, p.After.Seq)
}

// usualLimits are written into the statement when PostgreSQL lists all that an
// organization has. It plans a statement whose limit it does not know each time, as
// the page might be a tenth of the table. That takes as long as to read the page,
// and is worth it only where a filter's value matters. With all limits there would be
// too many statements to keep.
var usualLimits = []int{1, 10, 11, 20, 21, 25, 26, 50, 51, 100, 101}

// pageOf lists a part of what from selects.
func pageOf[T any](ctx context.Context, tx *Tx, columns, from, order string, args []any, p Page) ([]T, error) {
	n, limit := len(args), strconv.Itoa(p.Limit)
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
// both directions: they are a list of their own behind the others, because the
// engines disagree about them and an index has them at one end only.
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

// Leads reports whether the page's place can be one of this table.
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

// Place is where a walk is at a row.
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

func lowerASCII(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}
