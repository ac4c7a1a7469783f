package op

import (
	"frontdesk/internal/kernel/db"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Page is the shared pagination, embedded in the input of every list.
type Page struct {
	Limit     int    `query:"limit" default:"10" min:"1" max:"100" doc:"how many at most"`
	Offset    int    `query:"offset" default:"0" min:"0" doc:"how many to skip"`
	SortOrder string `query:"sortOrder" default:"desc" enum:"asc,desc"`
}

// DB is the page as the database wants it.
func (p Page) DB() db.Page {
	return db.Page{Limit: p.Limit, Offset: p.Offset, Ascending: p.SortOrder == "asc"}
}

// List is one page of a list.
type List[T any] struct {
	Data       []T
	Pagination Pagination
}

// Pagination tells a client where it is. Total is included when it is free.
type Pagination struct {
	Limit   int  `json:"limit"`
	Offset  int  `json:"offset"`
	Total   *int `json:"total,omitempty"`
	HasMore bool `json:"hasMore"`

	NextCursor Opt[string] `json:"nextCursor,omitzero"` // only in a walk; null at its end
}

// ListOf makes a page of rows. A page that is neither full nor empty ends the
// list, and so tells its total; otherwise a full page may have a successor.
func ListOf[T any](p Page, rows []T) *List[T] {
	l := &List[T]{Data: rows, Pagination: Pagination{Limit: p.Limit, Offset: p.Offset, HasMore: len(rows) == p.Limit}}
	if n := len(rows); n > 0 && n < p.Limit {
		total := p.Offset + n
		l.Pagination.Total = &total
	}
	return l
}

// ListUnder makes a page of rows that hang under one parent, where counting is cheap.
func ListUnder[T any](p Page, rows []T, total int) *List[T] {
	return &List[T]{Data: rows,
		Pagination: Pagination{Limit: p.Limit, Offset: p.Offset, Total: &total, HasMore: p.Offset+len(rows) < total}}
}

type meta struct {
	Pagination *Pagination `json:"pagination"`
}

func (l *List[T]) envelope(e *jsontext.Encoder) error {
	rows := l.Data
	if rows == nil {
		rows = []T{}
	}
	for _, step := range []any{"data", rows, "meta", meta{&l.Pagination}} {
		if err := json.MarshalEncode(e, step); err != nil {
			return err
		}
	}
	return nil
}

func (l *List[T]) element() any { var zero T; return zero }

func (l *List[T]) page() (rows any, next Opt[string]) { return l.Data, l.Pagination.NextCursor }

// lister is a List of any element.
type lister interface {
	envelope(*jsontext.Encoder) error
	element() any
	page() (rows any, next Opt[string])
}

// Nothing is the output of an operation without a body: 204.
type Nothing struct{}
