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

// Walk is Page for lists that can also be walked through to their end.
type Walk struct {
	Page
	Cursor *string `query:"cursor" max:"1000" doc:"first, then each page's nextCursor; instead of offset"`
}

// Browse is Walk for the lists of top-level nouns. What else to sort by than
// createdAt and updatedAt is said by the noun, in a field SortBy.
type Browse struct {
	Walk
	Narrow
}

// Narrow are the filters that the lists of all top-level nouns have.
type Narrow struct {
	IDs           []id.ID     `query:"ids" max:"100" doc:"only these"`
	CreatedAfter  *clock.Time `query:"createdAfter"`
	CreatedBefore *clock.Time `query:"createdBefore"`
	UpdatedAfter  *clock.Time `query:"updatedAfter"`
	UpdatedBefore *clock.Time `query:"updatedBefore"`
}

const (
	first     = "first" // the cursor that begins a walk
	badCursor = "Invalid cursor; begin with first, then send nextCursor of the page before"
)

// Rows lists a page of a noun's rows: those that match w and query, in the order
// of a field.
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

// Log lists a page of a log, by its time. seq is a row's place in it.
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

// walked is a list that can be walked through.
type walked[T any] struct {
	read  func(db.Page) ([]T, error)
	leads func(db.Page) bool // whether the page's place can be one of the list
	place func(*T, db.Page) (db.Place, error)
}

// walk reads a page: by its offset, or from where the page before ended.
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
	p.Limit++ // to know whether it is the last page
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

// place is where the walk goes on; nil at its beginning.
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

func badQuery(field, issue string) error {
	return (*fault.Tree)(nil).At([]any{field}, issue).Fault(fault.BadInput)
}

// cursor is a place as a client keeps it. Whoever changes it only finds other
// rows of the same list.
type cursor struct {
	SortBy    string `json:"b"`
	SortOrder string `json:"o"`
	Value     any    `json:"v"`
	Seq       int64  `json:"s"`
}

func (c cursor) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // a text and a few numbers
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// isPlace checks the value, and turns a number into one that columns have.
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
