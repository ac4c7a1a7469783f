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

// plan says how the columns of a row fill a Go value: one column for a scalar,
// one per field for a struct, in the order of the fields.
type plan struct {
	scalar bool
	fields []field
}

// field is one column and the Go field that it fills.
type field struct {
	index  []int // for reflect: the path through embedded structs
	column string
	kind   kind
	ptr    bool // NULL is nil
	typ    reflect.Type
}

// kind is how a column's value is read and bound.
type kind uint8

const (
	kText kind = iota
	kInt
	kBool
	kFloat
	kBytes
	kJSON // anything else travels as JSON text
)

// JSON is a JSON text that is kept as it is.
type JSON = jsontext.Value

var plans sync.Map // reflect.Type → *plan

// planOf returns the plan for a row type, made once per type. A struct without any
// column has an empty one.
func planOf[T any]() *plan { return planFor(reflect.TypeFor[T]()) }

func planFor(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := &plan{}
	if t.Kind() == reflect.Struct {
		p.fields = structFields(t, nil)
	} else {
		f := field{typ: t}
		f.kind, f.ptr = kindOf(t)
		p.scalar, p.fields = true, []field{f}
	}
	plans.Store(t, p)
	return p
}

// structFields lists the columns of a struct. A column is named by the tag
// `db`, or by the JSON name in snake case; `db:"-"`, and a field that JSON
// does not show, is no column.
func structFields(t reflect.Type, at []int) (out []field) {
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
			column = snake(name)
		}
		if !f.IsExported() || column == "" || column == "-" {
			continue
		}
		c := field{index: index, column: column, typ: f.Type}
		c.kind, c.ptr = kindOf(f.Type)
		out = append(out, c)
	}
	return out
}

// kindOf tells the kind of a Go type, and whether the type can hold NULL.
func kindOf(t reflect.Type) (kind, bool) {
	ptr := t.Kind() == reflect.Pointer
	if ptr {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[[]byte]():
		return kBytes, true
	case t.Kind() == reflect.String:
		return kText, ptr
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return kInt, ptr
	case t.Kind() == reflect.Bool:
		return kBool, ptr
	case t.Kind() == reflect.Float64:
		return kFloat, ptr
	}
	return kJSON, true
}

// snake turns a JSON name into a column name: createdAt is created_at.
func snake(s string) string {
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

// place is the field of a row, for reading and for setting.
func (p *plan) place(v reflect.Value, f *field) reflect.Value {
	if p.scalar {
		return v
	}
	if len(f.index) == 1 {
		return v.Field(f.index[0])
	}
	return v.FieldByIndex(f.index)
}

// fromSQLite fills v from the statement's current row.
func (p *plan) fromSQLite(st *sqlite.Stmt, v reflect.Value) error {
	if n := st.ColumnCount(); n != len(p.fields) {
		return fmt.Errorf("db: %d columns for %d fields", n, len(p.fields))
	}
	for i := range p.fields {
		f := &p.fields[i]
		dst := p.place(v, f)
		if f.ptr {
			if st.ColumnType(i) == sqlite.TypeNull {
				dst.SetZero()
				continue
			}
			if f.kind != kJSON && f.kind != kBytes {
				n := reflect.New(f.typ.Elem())
				dst.Set(n)
				dst = n.Elem()
			}
		}
		switch f.kind {
		case kText:
			dst.SetString(st.ColumnText(i))
		case kInt:
			dst.SetInt(st.ColumnInt64(i))
		case kBool:
			dst.SetBool(st.ColumnInt64(i) != 0)
		case kFloat:
			dst.SetFloat(st.ColumnFloat(i))
		case kBytes:
			b := make([]byte, st.ColumnLen(i))
			st.ColumnBytes(i, b)
			dst.SetBytes(b)
		case kJSON:
			if err := fromJSON([]byte(st.ColumnText(i)), dst); err != nil {
				return fmt.Errorf("db: column %s: %w", f.column, err)
			}
		}
	}
	return nil
}

// fromPostgres fills v from the current row. dest is reused for every row. pgx scans
// into the fields themselves, except for JSON, which arrives as text first.
func (p *plan) fromPostgres(rows pgx.Rows, v reflect.Value, dest []any) error {
	var texts [][]byte
	for i := range p.fields {
		f := &p.fields[i]
		if f.kind == kJSON {
			if texts == nil {
				texts = make([][]byte, len(p.fields))
			}
			dest[i] = &texts[i]
			continue
		}
		dest[i] = p.place(v, f).Addr().Interface()
	}
	if err := rows.Scan(dest...); err != nil {
		return err
	}
	for i, text := range texts {
		if f := &p.fields[i]; f.kind == kJSON {
			dst := p.place(v, f)
			if text == nil {
				dst.SetZero()
			} else if err := fromJSON(text, dst); err != nil {
				return fmt.Errorf("db: column %s: %w", f.column, err)
			}
		}
	}
	return nil
}

// fromJSON reads a JSON column into a field. The text itself is kept for type JSON.
func fromJSON(text []byte, dst reflect.Value) error {
	if dst.Type() == reflect.TypeFor[JSON]() {
		dst.SetBytes(text)
		return nil
	}
	return json.Unmarshal(text, dst.Addr().Interface())
}

// value reads a field as a statement's argument.
func (p *plan) value(v reflect.Value, f *field) any {
	return p.place(v, f).Interface()
}
