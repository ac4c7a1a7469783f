package db

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5"
	"zombiezen.com/go/sqlite"
)

// rowMapping says how the columns of a row fill a Go value: one column for a scalar,
// one per field for a struct, in the order of the fields.
type rowMapping struct {
	scalar bool
	fields []columnField
}

// columnField is one column and the Go field that it fills.
type columnField struct {
	index  []int // for reflect: the path through embedded structs
	column string
	kind   columnKind
	ptr    bool // NULL is nil
	typ    reflect.Type
}

// columnKind is how a column's value is read and bound.
type columnKind uint8

const (
	kindText columnKind = iota
	kindInt
	kindBool
	kindFloat
	kindBytes
	kindJSON // anything else travels as JSON text
)

// JSON is a JSON text that is kept as it is.
type JSON = jsontext.Value

var rowMappings sync.Map // reflect.Type → *plan

// rowMappingOf returns the plan for a row type, made once per type. A struct without any
// column has an empty one.
func rowMappingOf[T any]() *rowMapping { return rowMappingFor(reflect.TypeFor[T]()) }

func rowMappingFor(t reflect.Type) *rowMapping {
	if p, ok := rowMappings.Load(t); ok {
		return p.(*rowMapping)
	}
	p := &rowMapping{}
	if t.Kind() == reflect.Struct {
		p.fields = structFields(t, nil)
	} else {
		f := columnField{typ: t}
		f.kind, f.ptr = columnKindOf(t)
		p.scalar, p.fields = true, []columnField{f}
	}
	rowMappings.Store(t, p)
	return p
}

// structFields lists the columns of a struct. A column is named by the tag
// `db`, or by the JSON name in snake case; `db:"-"`, and a field that JSON
// does not show, is no column.
func structFields(t reflect.Type, at []int) (out []columnField) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(append([]int(nil), at...), i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			out = append(out, structFields(f.Type, index)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		column := f.Tag.Get("db")
		if column == "" && name != "" && name != "-" {
			column = toSnakeCase(name)
		}
		if !f.IsExported() || column == "" || column == "-" {
			continue
		}
		c := columnField{index: index, column: column, typ: f.Type}
		c.kind, c.ptr = columnKindOf(f.Type)
		out = append(out, c)
	}
	return out
}

// columnKindOf tells the kind of a Go type, and whether the type can hold NULL.
func columnKindOf(t reflect.Type) (columnKind, bool) {
	ptr := t.Kind() == reflect.Pointer
	if ptr {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[[]byte]():
		return kindBytes, true
	case t.Kind() == reflect.String:
		return kindText, ptr
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return kindInt, ptr
	case t.Kind() == reflect.Bool:
		return kindBool, ptr
	case t.Kind() == reflect.Float64:
		return kindFloat, ptr
	}
	return kindJSON, true
}

// toSnakeCase turns a JSON name into a column name: createdAt is created_at.
func toSnakeCase(s string) string {
	b := make([]byte, 0, len(s)+4)
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' {
			b = append(b, '_', c+'a'-'A')
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

// fieldValue is the field of a row, for reading and for setting.
func (p *rowMapping) fieldValue(v reflect.Value, f *columnField) reflect.Value {
	if p.scalar {
		return v
	}
	if len(f.index) == 1 {
		return v.Field(f.index[0])
	}
	return v.FieldByIndex(f.index)
}

// scanSQLiteRow fills v from the statement's current row.
func (p *rowMapping) scanSQLiteRow(st *sqlite.Stmt, v reflect.Value) error {
	if n := st.ColumnCount(); n != len(p.fields) {
		return fmt.Errorf("db: %d columns for %d fields", n, len(p.fields))
	}
	for i := range p.fields {
		f := &p.fields[i]
		dst := p.fieldValue(v, f)
		if f.ptr {
			if st.ColumnType(i) == sqlite.TypeNull {
				dst.SetZero()
				continue
			}
			if f.kind != kindJSON && f.kind != kindBytes {
				n := reflect.New(f.typ.Elem())
				dst.Set(n)
				dst = n.Elem()
			}
		}
		switch f.kind {
		case kindText:
			dst.SetString(st.ColumnText(i))
		case kindInt:
			dst.SetInt(st.ColumnInt64(i))
		case kindBool:
			dst.SetBool(st.ColumnInt64(i) != 0)
		case kindFloat:
			dst.SetFloat(st.ColumnFloat(i))
		case kindBytes:
			b := make([]byte, st.ColumnLen(i))
			st.ColumnBytes(i, b)
			dst.SetBytes(b)
		case kindJSON:
			if err := decodeJSON([]byte(st.ColumnText(i)), dst); err != nil {
				return fmt.Errorf("db: column %s: %w", f.column, err)
			}
		}
	}
	return nil
}

// scanPostgresRow fills v from the current row. dest is reused for every row. pgx scans
// into the fields themselves, except for JSON, which arrives as text first.
func (p *rowMapping) scanPostgresRow(rows pgx.Rows, v reflect.Value, dest []any) error {
	var texts [][]byte
	for i := range p.fields {
		f := &p.fields[i]
		if f.kind == kindJSON {
			if texts == nil {
				texts = make([][]byte, len(p.fields))
			}
			dest[i] = &texts[i]
			continue
		}
		dest[i] = p.fieldValue(v, f).Addr().Interface()
	}
	if err := rows.Scan(dest...); err != nil {
		return err
	}
	for i, text := range texts {
		if f := &p.fields[i]; f.kind == kindJSON {
			dst := p.fieldValue(v, f)
			if text == nil {
				dst.SetZero()
			} else if err := decodeJSON(text, dst); err != nil {
				return fmt.Errorf("db: column %s: %w", f.column, err)
			}
		}
	}
	return nil
}

// decodeJSON reads a JSON column into a field. The text itself is kept for type JSON.
func decodeJSON(text []byte, dst reflect.Value) error {
	if dst.Type() == reflect.TypeFor[JSON]() {
		dst.SetBytes(text)
		return nil
	}
	return json.Unmarshal(text, dst.Addr().Interface())
}

// fieldArg reads a field as a statement's argument.
func (p *rowMapping) fieldArg(v reflect.Value, f *columnField) any {
	return p.fieldValue(v, f).Interface()
}
