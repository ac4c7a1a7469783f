package op

import (
	"context"
	"encoding/base64"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json"
)

// Walk is Page for lists that can also be read with a cursor. An offset skips or repeats rows when others are
// added or deleted meanwhile, and gets slower page by page; a cursor does neither.
type Walk struct {
	Page
	Cursor *string `query:"cursor" max:"1000" doc:"first, then each page's nextCursor; instead of offset"`
}

// Browse is the input of the lists of top-level nouns: pages and the filters that all of them have. A noun adds its own
// filters, and a field SortBy for the columns it can be sorted by.
type Browse struct {
	Walk
	Narrow
}

// Narrow has the filters that the lists of all top-level nouns have.
type Narrow struct {
	IDs           []id.ID     `query:"ids" max:"100" doc:"only these"`
	CreatedAfter  *clock.Time `query:"createdAfter"`
	CreatedBefore *clock.Time `query:"createdBefore"`
	UpdatedAfter  *clock.Time `query:"updatedAfter"`
	UpdatedBefore *clock.Time `query:"updatedBefore"`
}

const (
	first     = "first" // the cursor of the first page
	badCursor = "Invalid cursor; begin with first, then send nextCursor of the page before"
)

// Rows reads a page of a noun's rows: those that match the filters of b, w and the search text query (nil for
// none), in the order of the field sortBy.
func Rows[T any](ctx context.Context, c *Call, t *db.Table[T], b Browse, sortBy string, query *string, w *db.Where) (
	*List[T], error) {
	b.Filter(w)
	return walk(b.Walk, sortBy, walked[T]{
		read:  func(p db.Page) ([]T, error) { return t.Browse(ctx, c.Tx, query, w, p) },
		leads: func(p db.Page) bool { return t.Leads(c.Tx, p) },
		place: func(row *T, p db.Page) (db.Place, error) { return t.Place(ctx, c.Tx, row, p) },
	})
}

// Filter adds the filters to a condition.
func (n *Narrow) Filter(w *db.Where) {
	db.Only(w, n.IDs)
	db.After(w, "created_at", n.CreatedAfter)
	db.Before(w, "created_at", n.CreatedBefore)
	db.After(w, "updated_at", n.UpdatedAfter)
	db.Before(w, "updated_at", n.UpdatedBefore)
}

// Log reads a page of a log table, in the order of createdAt. place tells where a row is in that order.
func Log[T any](ctx context.Context, c *Call, table, columns string, w Walk, where *db.Where,
	place func(*T) db.Place) (*List[T], error) {
	return walk(w, "createdAt", walked[T]{
		read: func(p db.Page) ([]T, error) { return db.ListLog[T](ctx, c.Tx, table, columns, where, p) },
		leads: func(p db.Page) bool {
			_, ok := p.After.Value.(int64)
			return ok
		},
		place: func(row *T, _ db.Page) (db.Place, error) { return place(row), nil },
	})
}

// walked is where readListPage gets its rows from.
type walked[T any] struct {
	read  func(db.Page) ([]T, error)
	leads func(db.Page) bool                  // whether the value in the cursor has the type of the sorted column
	place func(*T, db.Page) (db.Place, error) // where a row is in the order of the list
}

// walk reads a page: by its offset or, with a cursor, from where the page before ended.
func walk[T any](b Walk, sortBy string, t walked[T]) (*List[T], error) {
	p := b.DB()
	p.Sort = sortBy
	if b.Cursor == nil {
		rows, err := t.read(p)
		return ListOf(b.Page, rows), err
	}
	var err error
	if p.After, err = b.place(sortBy); err != nil {
		return nil, err
	}
	if p.After != nil && !t.leads(p) {
		return nil, badQuery("cursor", badCursor)
	}
	p.Limit++ // one row more tells whether there is a next page
	rows, err := t.read(p)
	if err != nil {
		return nil, err
	}
	l := &List[T]{Data: rows, Pagination: Pagination{Limit: b.Limit, NextCursor: Opt[string]{Set: true, Null: true}}}
	if len(rows) > b.Limit {
		l.Data = rows[:b.Limit]
		at, err := t.place(&rows[b.Limit-1], p)
		if err != nil {
			return nil, err
		}
		l.Pagination.HasMore = true
		l.Pagination.NextCursor = Opt[string]{Set: true, Value: cursor{sortBy, b.SortOrder, at.Value, at.Seq}.String()}
	}
	return l, nil
}

// place is the place that the cursor names, after which the page begins; nil for the first page.
func (b Walk) place(sortBy string) (*db.Place, error) {
	if b.Offset > 0 {
		return nil, badQuery("offset", "Must not be sent with cursor")
	}
	if *b.Cursor == first {
		return nil, nil //nolint:nilnil // no place is the beginning
	}
	var at cursor
	text, err := base64.RawURLEncoding.DecodeString(*b.Cursor)
	if err != nil || json.Unmarshal(text, &at) != nil || !at.isPlace() {
		return nil, badQuery("cursor", badCursor)
	}
	if at.SortBy != sortBy || at.SortOrder != b.SortOrder {
		return nil, badQuery("cursor", "It continues a list in another order; send the same sortBy and sortOrder")
	}
	return &db.Place{Value: at.Value, Seq: at.Seq}, nil
}

// badQuery refuses a query parameter.
func badQuery(field, issue string) error {
	return (*fault.Tree)(nil).At([]any{field}, issue).Fault(fault.BadInput)
}

// cursor is a place in a list as a client keeps it. It is neither signed nor secret: whoever changes it only gets
// other rows of the same list, which the filters still apply to.
type cursor struct {
	SortBy    string `json:"b"`
	SortOrder string `json:"o"`
	Value     any    `json:"v"`
	Seq       int64  `json:"s"`
}

func (c cursor) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // cannot fail: strings and numbers
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// isPlace reports whether the value can be that of a column, and turns a JSON number into the int64 that columns
// have.
func (c *cursor) isPlace() bool {
	switch v := c.Value.(type) {
	case nil, string:
		return true
	case float64:
		c.Value = int64(v)
		return true
	}
	return false
}
