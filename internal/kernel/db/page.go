package db

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/id"
)

// Page is a part of a list: Limit rows from Offset on or, when a caller reads page
// after page with a cursor, from where the page before ended.
type Page struct {
	Limit, Offset int
	Ascending     bool
	Sort          string  // the field to sort by; createdAt when empty
	After         *Cursor // the last row of the page before; nil at the beginning
}

// Cursor is a position in a sorted list: the row with this sort value and seq. To
// go on from there costs the same however far it is from the beginning; an offset
// costs more with each page.
type Cursor struct {
	Value any // what the list is sorted by; nil for a row that has none, which comes after all that have one
	Seq   int64
}

func (p Page) sortDirection() string {
	if p.Ascending {
		return "ASC"
	}
	return "DESC"
}

// sortOrder is how a page is sorted. seq decides between equal values.
type sortOrder struct {
	by           string       // the SQL expression
	field        *columnField // the field of the row that has the value
	bySearchText bool         // by the first sortedPrefix characters of the search text
	byLowerText  bool         // by the field's text, ignoring the case of a to z
	nullable     bool         // some rows have no value
}

// sortedPrefix is how many characters of a search text count: enough for a name,
// and few enough for an index. The indexes in the migrations have the same number.
const sortedPrefix = 40

// sortOrderBy finds how to sort by a field, as the API names it. A number is sorted by
// its column. Text is sorted by the search text, where the table has one: it
// begins with the name, folded. COLLATE "C" makes PostgreSQL compare bytes, as
// SQLite does.
func (t *layout) sortOrderBy(e Engine, name string) sortOrder {
	if name == "" || name == "createdAt" {
		return sortOrder{by: "created_at", field: t.fieldForColumn("created_at")}
	}
	collate := ""
	if e == Postgres {
		collate = ` COLLATE "C"`
	}
	f := t.fieldForColumn(toSnakeCase(name))
	switch {
	case f != nil && f.kind == kindInt:
		return sortOrder{by: f.column, field: f, nullable: f.ptr}
	case t.searchable:
		return sortOrder{by: "substr(search, 1, " + strconv.Itoa(sortedPrefix) + ")" + collate,
			field: t.fieldForColumn("search"), bySearchText: true}
	case f != nil && f.kind == kindText && !f.ptr:
		return sortOrder{by: "lower(" + f.column + collate + ")", field: f, byLowerText: true}
	}
	panic("db: table " + t.name + " cannot be sorted by " + name)
}

// fieldForColumn is the row's field for a column, or nil.
func (t *layout) fieldForColumn(column string) *columnField {
	for i := range t.mapping.fields {
		if f := &t.mapping.fields[i]; f.column == column {
			return f
		}
	}
	return nil
}

// orderBySQL is the ORDER BY of a page.
func (s sortOrder) orderBySQL(p Page) string {
	dir := p.sortDirection()
	return " ORDER BY " + s.by + " " + dir + ", seq " + dir
}

// addCursor adds the condition that a row comes after the page's cursor.
func (s sortOrder) addCursor(w *Where, p Page) *Where {
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
	if s.bySearchText || s.byLowerText {
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

// listQuery is the query of a whole list, in parts.
type listQuery struct {
	columns string
	from    string // what follows FROM, with the WHERE
	order   string // the ORDER BY
	args    []any
}

// queryPage reads a page of a list.
func queryPage[T any](ctx context.Context, tx *Tx, q listQuery, p Page) ([]T, error) {
	text, args := q.pageSQL(tx, p)
	return QueryAllSized[T](ctx, tx, p.Limit, text, args...)
}

// pageSQL is the statement that reads a page of the list.
func (q listQuery) pageSQL(tx *Tx, p Page) (text string, args []any) {
	n, limit := len(q.args), strconv.Itoa(p.Limit)
	// Appending must not write into the caller's array.
	args = q.args[:n:n]
	if tx.Engine() != Postgres || n > 1 || !slices.Contains(usualLimits, p.Limit) {
		args, limit = append(args, p.Limit), "$"+strconv.Itoa(n+1)
	}
	text = "SELECT " + q.columns + " FROM " + q.from + q.order + " LIMIT " + limit
	if p.Offset > 0 {
		args = append(args, p.Offset)
		text += " OFFSET $" + strconv.Itoa(len(args))
	}
	return text, args
}

// SearchSorted is Search in any order. Rows that have nothing to sort by come last in
// both directions. They are a list of their own behind the others, because the
// engines disagree about where NULL sorts, and an index has it at one end only.
func (t *Table[T]) SearchSorted(ctx context.Context, tx *Tx, query *string, w *Where, p Page) ([]T, error) {
	s := t.sortOrderBy(tx.Engine(), p.Sort)
	if !s.nullable {
		return t.Search(ctx, tx, query, s.addCursor(w, p), p)
	}
	rows := []T{}
	var err error
	if p.After == nil || p.After.Value != nil {
		some := w.clone().And(s.by + " IS NOT NULL")
		if rows, err = t.Search(ctx, tx, query, s.addCursor(some.clone(), p), p); err != nil || len(rows) == p.Limit {
			return rows, err
		}
		p.After = nil
		if p.Offset > 0 {
			FilterByWords(some, "search", query)
			n, err := t.Count(ctx, tx, some)
			if err != nil {
				return nil, err
			}
			p.Offset = max(p.Offset-n, 0)
		}
	}
	p.Limit -= len(rows)
	rest, err := t.Search(ctx, tx, query, s.addCursor(w.clone().And(s.by+" IS NULL"), p), p)
	return append(rows, rest...), err
}

// AcceptsCursor reports whether the page's cursor can be one of this table: its value has
// the type that the list is sorted by. A caller could have sent any.
func (t *layout) AcceptsCursor(tx *Tx, p Page) bool {
	if p.After == nil {
		return true
	}
	s := t.sortOrderBy(tx.Engine(), p.Sort)
	switch v := p.After.Value.(type) {
	case nil:
		return s.nullable
	case string:
		return s.field.kind == kindText && !strings.ContainsRune(v, 0)
	}
	return s.field.kind == kindInt
}

// CursorAt is the cursor at a row, for the page that follows it.
func (t *Table[T]) CursorAt(ctx context.Context, tx *Tx, row *T, p Page) (Cursor, error) {
	return t.cursorAt(ctx, tx, reflect.ValueOf(row).Elem(), p)
}

func (t *layout) cursorAt(ctx context.Context, tx *Tx, row reflect.Value, p Page) (at Cursor, err error) {
	if t.seqField >= 0 {
		at.Seq = t.seqOfRow(row)
	} else {
		key := id.ID(t.columnText(row, "id"))
		if at.Seq, err = QueryOne[int64](ctx, tx, "SELECT seq FROM "+t.name+" WHERE id = $1", key); err != nil {
			return at, err
		}
	}
	s := t.sortOrderBy(tx.Engine(), p.Sort)
	f := t.mapping.fieldValue(row, s.field)
	switch {
	case s.bySearchText:
		at.Value = cut.Runes(f.String(), sortedPrefix)
	case s.byLowerText:
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
