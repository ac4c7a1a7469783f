package op

import (
	"frontdesk/internal/kernel/db"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Page has the query parameters by which every list is read in pages. The input of a list embeds it.
type Page struct {
	Limit     int    `query:"limit" default:"10" min:"1" max:"100" doc:"how many at most"`
	Offset    int    `query:"offset" default:"0" min:"0" doc:"how many to skip"`
	SortOrder string `query:"sortOrder" default:"desc" enum:"asc,desc"`
}

// ToDBPage converts the page for package db.
func (p Page) ToDBPage() db.Page {
	return db.Page{Limit: p.Limit, Offset: p.Offset, Ascending: p.SortOrder == "asc"}
}

// List is the output of a list operation: one page of rows, and where it is in the list.
type List[T any] struct {
	Data       []T
	Pagination Pagination
}

// Pagination tells a client which page it got. Total is there when it costs no extra query.
type Pagination struct {
	Limit   int  `json:"limit"`
	Offset  int  `json:"offset"`
	Total   *int `json:"total,omitempty"`
	HasMore bool `json:"hasMore"`

	NextCursor Nullable[string] `json:"nextCursor,omitzero"` // only with a cursor; null on the last page
}

// NewList makes a page of rows without counting the rows of the list. A page that is neither full nor empty is the last
// one, so its total is known. A full page may have a successor, and says that it has.
func NewList[T any](p Page, rows []T) *List[T] {
	l := &List[T]{Data: rows, Pagination: Pagination{Limit: p.Limit, Offset: p.Offset, HasMore: len(rows) == p.Limit}}
	if n := len(rows); n > 0 && n < p.Limit {
		total := p.Offset + n
		l.Pagination.Total = &total
	}
	return l
}

// NewCountedList makes a page of rows whose total was counted. It is for rows under one parent, where counting is
// cheap.
func NewCountedList[T any](p Page, rows []T, total int) *List[T] {
	return &List[T]{Data: rows,
		Pagination: Pagination{Limit: p.Limit, Offset: p.Offset, Total: &total, HasMore: p.Offset+len(rows) < total}}
}

type listMeta struct {
	Pagination *Pagination `json:"pagination"`
}

// writeEnvelope writes the members data and meta of the answer.
func (l *List[T]) writeEnvelope(e *jsontext.Encoder) error {
	rows := l.Data
	if rows == nil {
		rows = []T{}
	}
	for _, step := range []any{"data", rows, "meta", listMeta{&l.Pagination}} {
		if err := json.MarshalEncode(e, step); err != nil {
			return err
		}
	}
	return nil
}

// zeroElement is a zero row, by whose type the schema is compiled.
func (l *List[T]) zeroElement() any { var zero T; return zero }

// rowsAndCursor gives the rows and the next cursor to code that does not know their type.
func (l *List[T]) rowsAndCursor() (rows any, next Nullable[string]) {
	return l.Data, l.Pagination.NextCursor
}

// anyList is a List of any type of row.
type anyList interface {
	writeEnvelope(*jsontext.Encoder) error
	zeroElement() any
	rowsAndCursor() (rows any, next Nullable[string])
}

// Nothing is the output of an operation that answers without a body, with status 204.
type Nothing struct{}
