package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// Table holds the statements that every resource's table needs. T is the row,
// one field per column (see structFields). It must have the columns id,
// organization_id, created_at, updated_at and deleted_at, and the table needs a
// seq, which orders rows of equal creation time. Every statement names the
// organization, and none sees a deleted row. The texts are made once, so that
// the engines' caches of prepared statements see the same text each time.
type Table[T any] struct{ layout }

// layout is what a table knows without the type of its rows. What does not need that type is
// a method of the layout, so that the program has it once and not once per table.
type layout struct {
	name          string
	life          *Life
	mapping       *rowMapping
	rowType       reflect.Type
	columns       string
	insertSQL     string
	saveSQL       string
	removeSQL     string
	getSQL        string
	insertFields  []int // the fields that insert binds
	saveFields    []int // the fields that save binds
	seqField      int   // the field that holds seq, or -1
	searchable    bool  // the row has the column search
	externalField int   // the field that marks text from outside the organization, or -1
	externalText  []int // the fields that outsiders can fill, and the organization too
	externalOnly  []int // the fields that only outsiders fill
}

// NewTable declares a table and its life. It panics on an unsuitable row type, so
// that a mistake is found at start. tables_test.go finds the tables of a package
// by the text NewTable[…]("name".
func NewTable[T any](name string, life Life) *Table[T] {
	t := &Table[T]{layout{name: Declare(name, life), life: declaredLives[name], mapping: rowMappingOf[T](),
		rowType: reflect.TypeFor[T](), seqField: -1}}
	t.prepareStatements()
	return t
}

// prepareStatements makes the texts of the statements from the row's columns.
func (t *layout) prepareStatements() {
	at := map[string]int{}
	var columns, names, values, sets []string
	for i, f := range t.mapping.fields {
		at[f.column] = i
		columns = append(columns, f.column)
		if f.column == "seq" {
			t.seqField = i
			continue
		}
		t.insertFields = append(t.insertFields, i)
		names = append(names, f.column)
		values = append(values, "$"+strconv.Itoa(len(t.insertFields)))
		switch f.column {
		// These never change, or only by Remove and Undelete.
		case "id", "organization_id", "created_at", "deleted_at":
		default:
			t.saveFields = append(t.saveFields, i)
			set := f.column + " = $" + strconv.Itoa(len(t.saveFields))
			// Once marked a row stays marked, whatever the caller's copy says.
			if f.column == externalColumn {
				set = f.column + " = (" + f.column + " OR $" + strconv.Itoa(len(t.saveFields)) + ")"
			}
			sets = append(sets, set)
		}
	}
	for _, c := range []string{"id", "organization_id", "created_at", "updated_at", "deleted_at"} {
		if _, ok := at[c]; !ok {
			panic(fmt.Sprintf("db: table %s: %s has no column %s", t.name, t.rowType, c))
		}
	}
	t.declareExternal(at)
	n := len(t.saveFields)
	// The arguments of the WHERE follow those of the SET.
	t.saveFields = append(t.saveFields, at["organization_id"], at["id"])
	t.columns, declaredColumns[t.name] = strings.Join(columns, ", "), columns
	t.insertSQL = "INSERT INTO " + t.name + " (" + strings.Join(names, ", ") + ") VALUES (" +
		strings.Join(values, ", ") + ")"
	const live = " AND deleted_at IS NULL"
	t.saveSQL = fmt.Sprintf("UPDATE %s SET %s WHERE organization_id = $%d AND id = $%d"+live, t.name,
		strings.Join(sets, ", "),
		n+1, n+2)
	t.getSQL = "SELECT " + t.columns + " FROM " + t.name + " WHERE organization_id = $1 AND id = $2" + live
	t.removeSQL = "UPDATE " + t.name + " SET deleted_at = $3, updated_at = $3 WHERE organization_id = $1 AND id = $2" +
		live +
		" RETURNING " + t.columns
	if _, t.searchable = at["search"]; t.searchable && t.seqField < 0 {
		panic(fmt.Sprintf("db: table %s: %s has the column search, and needs seq", t.name, t.rowType))
	}
}

// Life is what becomes of the table's rows.
func (t *layout) Life() *Life { return t.life }

// Name is the table's name in the database.
func (t *layout) Name() string { return t.name }

// Columns lists the columns of a row, for statements of a resource's own.
func (t *layout) Columns() string { return t.columns }

// fieldArgs reads some fields of a row as the arguments of a statement.
func (t *layout) fieldArgs(row reflect.Value, fields []int) []any {
	out := make([]any, len(fields))
	for i, f := range fields {
		out[i] = t.mapping.fieldArg(row, &t.mapping.fields[f])
	}
	return out
}

// Insert adds the row, and fills in its seq where the type has one. Like Save, it keeps the search
// index of a table that has one.
func (t *Table[T]) Insert(ctx context.Context, tx *Tx, row *T) error {
	return t.insertRow(ctx, tx, reflect.ValueOf(row).Elem())
}

func (t *layout) insertRow(ctx context.Context, tx *Tx, row reflect.Value) error {
	t.markExternal(tx, row)
	t.traceInsert(tx, row)
	if t.seqField < 0 {
		_, err := tx.execStatement(ctx, t.insertSQL, t.fieldArgs(row, t.insertFields))
		return err
	}
	seq, err := tx.insertReturningSeq(ctx, t.insertSQL, t.fieldArgs(row, t.insertFields))
	if err != nil {
		return err
	}
	t.setRowSeq(row, seq)
	t.indexRow(tx, row)
	return nil
}

// TryInsert adds the row unless a unique index forbids it, and reports whether it
// did. The index itself decides, without a lookup before: two callers may try at
// once, and a conflict would end a PostgreSQL transaction.
func (t *Table[T]) TryInsert(ctx context.Context, tx *Tx, row *T) (bool, error) {
	return t.tryInsertRow(ctx, tx, reflect.ValueOf(row).Elem())
}

func (t *layout) tryInsertRow(ctx context.Context, tx *Tx, row reflect.Value) (bool, error) {
	t.markExternal(tx, row)
	t.traceInsert(tx, row)
	insert := t.insertSQL + " ON CONFLICT DO NOTHING"
	if t.seqField < 0 {
		n, err := tx.execStatement(ctx, insert, t.fieldArgs(row, t.insertFields))
		return n == 1, err
	}
	seq, err := tx.insertReturningSeq(ctx, insert, t.fieldArgs(row, t.insertFields))
	if errors.Is(err, ErrNoRow) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	t.setRowSeq(row, seq)
	t.indexRow(tx, row)
	return true, nil
}

func (t *layout) seqOfRow(row reflect.Value) int64 {
	return t.mapping.fieldValue(row, &t.mapping.fields[t.seqField]).Int()
}

func (t *layout) setRowSeq(row reflect.Value, seq int64) {
	t.mapping.fieldValue(row, &t.mapping.fields[t.seqField]).SetInt(seq)
}

// Save writes the whole row back, or returns a 404 when it is deleted or gone. The
// caller has locked its root: without that the last of two writers would win.
func (t *Table[T]) Save(ctx context.Context, tx *Tx, row *T) error {
	return t.saveRow(ctx, tx, reflect.ValueOf(row).Elem())
}

func (t *layout) saveRow(ctx context.Context, tx *Tx, row reflect.Value) error {
	t.markExternal(tx, row)
	t.advanceUpdatedAt(tx, row)
	n, err := tx.execStatement(ctx, t.saveSQL, t.fieldArgs(row, t.saveFields))
	if err != nil || n == 0 {
		return cmp.Or(err, t.asNotFound(ErrNoRow))
	}
	if t.searchable && !t.hasIndexedText(tx, row) {
		t.indexRow(tx, row)
	}
	return nil
}

// indexRow has the search index follow a row that was just written.
func (t *layout) indexRow(tx *Tx, row reflect.Value) {
	if t.searchable {
		UpdateSearchIndex(tx, t.name, t.seqOfRow(row), t.columnText(row, "search"))
	}
}

// hasIndexedText reports whether the index has the row's text already: it is as it was when this
// transaction locked the row, and the transaction has not indexed another one meanwhile.
func (t *layout) hasIndexedText(tx *Tx, row reflect.Value) bool {
	was, locked := t.rowBefore(tx, row)
	return locked && t.columnText(was, "search") == t.columnText(row, "search") &&
		!slices.ContainsFunc(tx.indexChanges, func(c indexChange) bool {
			return c.Table == t.name && c.Seq == t.seqOfRow(row)
		})
}

// columnText is the value of a column of text.
func (t *layout) columnText(row reflect.Value, column string) string {
	return t.mapping.fieldValue(row, t.fieldForColumn(column)).String()
}

// Get returns one live row, or a 404. It also answers 404 for a row of another
// organization, so that nobody can tell that it exists.
func (t *Table[T]) Get(ctx context.Context, tx *Tx, org, row id.ID) (*T, error) {
	v, err := QueryOne[T](ctx, tx, t.getSQL, org, row)
	return &v, t.asNotFound(err)
}

// Lock locks one live row for the rest of the transaction and returns it, or a
// 404. The row as it was is remembered for Tx.RowBefore, and its guard runs.
func (t *Table[T]) Lock(ctx context.Context, tx *Tx, org, row id.ID) (*T, error) {
	text := t.getSQL
	if tx.Engine() == Postgres {
		text += " FOR NO KEY UPDATE"
	}
	v, err := QueryOne[T](ctx, tx, text, org, row)
	if err != nil {
		return &v, t.asNotFound(err)
	}
	t.rememberRow(tx, reflect.ValueOf(&v).Elem())
	return &v, tx.checkGuard(ctx, row)
}

// Find returns the first live row that matches, or a 404. It locks nothing, but
// remembers the row for Tx.RowBefore, as Lock does.
func (t *Table[T]) Find(ctx context.Context, tx *Tx, w *Where) (*T, error) {
	v, err := QueryOne[T](ctx, tx,
		"SELECT "+t.columns+" FROM "+t.name+" WHERE organization_id = $1 AND deleted_at IS NULL"+
			w.conditionsSQL(tx, t.name), w.args...)
	if err == nil {
		t.rememberRow(tx, reflect.ValueOf(&v).Elem())
	}
	return &v, t.asNotFound(err)
}

// SoftDelete soft-deletes one live row and returns it, or a 404. Rows that belong to
// it are deleted too, references to it are cleared, and searches no longer find
// it.
func (t *Table[T]) SoftDelete(ctx context.Context, tx *Tx, org, row id.ID, now clock.Time) (*T, error) {
	// The guard must run before anything changes, and locking the row runs it.
	if tx.GuardPending() {
		if _, err := t.Lock(ctx, tx, org, row); err != nil {
			return nil, err
		}
	}
	v, err := QueryOne[T](ctx, tx, t.removeSQL, org, row, now)
	if err != nil {
		return nil, t.asNotFound(err)
	}
	// What Tx.RowBefore returns is the row while it was live.
	was := v
	live := reflect.ValueOf(&was).Elem()
	t.mapping.fieldValue(live, t.fieldForColumn("deleted_at")).SetZero()
	t.rememberRow(tx, live)
	if t.searchable {
		UpdateSearchIndex(tx, t.name, t.seqOfRow(live), "")
	}
	return &v, deletion{tx, org, now}.deleteDependents(ctx, t.name, row)
}

// asNotFound turns ErrNoRow into a 404 that names the table's noun.
func (t *layout) asNotFound(err error) error {
	if errors.Is(err, ErrNoRow) {
		return fault.NotFound.Say("There is no such %s.", t.life.Noun)
	}
	return err
}

// List returns one page of the live rows that match, sorted as the page says: by
// default by creation time and then by insertion.
func (t *Table[T]) List(ctx context.Context, tx *Tx, w *Where, p Page) ([]T, error) {
	q, some, err := t.listQuery(ctx, tx, w, p)
	if err != nil || !some {
		return []T{}, err
	}
	return queryPage[T](ctx, tx, q, p)
}

// listQuery is the query of List, and whether there is anything to ask.
func (t *layout) listQuery(ctx context.Context, tx *Tx, w *Where, p Page) (listQuery, bool, error) {
	if some, err := w.chooseLeader(ctx, tx, t.name); err != nil || !some {
		return listQuery{}, false, err
	}
	order := t.sortOrderBy(tx.Engine(), p.Sort).orderBySQL(p)
	return listQuery{t.columns, t.liveRowsSQL(tx, w), order, w.args}, true, nil
}

// liveRowsSQL is the FROM and WHERE of the table's live rows that match.
func (t *layout) liveRowsSQL(tx *Tx, w *Where) string {
	return t.name + " WHERE " + w.organizationSQL(tx) + " AND deleted_at IS NULL" + w.conditionsSQL(tx, t.name)
}

// PermanentTable is a table whose rows are never deleted, with the columns of T.
type PermanentTable[T any] struct {
	Name    string
	Columns string // as in SELECT
}

// List returns one page of the rows that match, by creation time and then by insertion.
func (t PermanentTable[T]) List(ctx context.Context, tx *Tx, w *Where, p Page) ([]T, error) {
	if some, err := w.chooseLeader(ctx, tx, t.Name); err != nil || !some {
		return []T{}, err
	}
	dir := p.sortDirection()
	w = sortOrder{by: "created_at"}.addCursor(w, p)
	return queryPage[T](ctx, tx, listQuery{
		columns: t.Columns,
		from:    t.Name + " WHERE " + w.organizationSQL(tx) + w.conditionsSQL(tx, t.Name),
		order:   " ORDER BY created_at " + dir + ", seq " + dir,
		args:    w.args,
	}, p)
}

// Count returns how many live rows match.
func (t *layout) Count(ctx context.Context, tx *Tx, w *Where) (int, error) {
	return QueryOne[int](ctx, tx,
		"SELECT count(*) FROM "+t.name+" WHERE organization_id = $1 AND deleted_at IS NULL"+
			w.conditionsSQL(tx, t.name), w.args...)
}

// Grouping is how AggregateBy adds rows up.
type Grouping struct {
	By      string  // the column whose values make the groups
	Columns string  // the SQL for the fields of a group, like status, count(*)
	Query   *string // words that the rows' search text has, or nil
}

// AggregateBy adds up the live rows that match: one S for each value of the column By,
// in its order.
func AggregateBy[S, T any](ctx context.Context, tx *Tx, t *Table[T], g Grouping, w *Where) ([]S, error) {
	if some, err := w.chooseLeader(ctx, tx, t.name); err != nil || !some {
		return []S{}, err
	}
	if g.Query != nil {
		if err := t.filterByIndex(ctx, tx, *g.Query, w); err != nil {
			return nil, err
		}
	}
	return QueryAll[S](ctx, tx, "SELECT "+g.Columns+" FROM "+t.liveRowsSQL(tx, w)+" GROUP BY "+g.By+" ORDER BY "+g.By,
		w.args...)
}
