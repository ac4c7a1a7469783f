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

// CursorPage is Page for lists that can also be read with a cursor. An offset skips or repeats rows when others are
// added or deleted meanwhile, and gets slower page by page; a cursor does neither.
type CursorPage struct {
	Page
	Cursor *string `query:"cursor" max:"1000" doc:"first, then each page's nextCursor; instead of offset"`
}

// Browse is the input of the lists of top-level nouns: pages and the filters that all of them have. A noun adds its own
// filters, and a field SortBy for the columns it can be sorted by.
type Browse struct {
	CursorPage
	CommonFilters
	ViewID *id.ID `query:"viewId" doc:"a saved view"`
}

// CommonFilters has the filters that the lists of all top-level nouns have.
type CommonFilters struct {
	IDs           []id.ID     `query:"ids" max:"100" doc:"only these"`
	CreatedAfter  *clock.Time `query:"createdAfter"`
	CreatedBefore *clock.Time `query:"createdBefore"`
	UpdatedAfter  *clock.Time `query:"updatedAfter"`
	UpdatedBefore *clock.Time `query:"updatedBefore"`
}

const (
	firstCursor = "first" // the cursor of the first page
	badCursor   = "Invalid cursor; begin with first, then send nextCursor of the page before"
)

// ListQuery is what a caller asks of a noun's list.
type ListQuery struct {
	Browse
	SortBy string  // the field
	Query  *string // the text to search for; nil for none
}

// BrowseRows reads a page of a noun's rows: those that match the query and w.
func BrowseRows[T any](ctx context.Context, c *Call, t *db.Table[T], q ListQuery, w *db.Where) (*List[T], error) {
	q.Filter(w)
	return readListPage(q.CursorPage, q.SortBy, pageSource[T]{
		readRows:     func(p db.Page) ([]T, error) { return t.SearchSorted(ctx, c.Tx, q.Query, w, p) },
		acceptsPlace: func(p db.Page) bool { return t.AcceptsCursor(c.Tx, p) },
		placeOf:      func(row *T, p db.Page) (db.Cursor, error) { return t.CursorAt(ctx, c.Tx, row, p) },
	})
}

// Filter adds the filters to a condition.
func (n *CommonFilters) Filter(w *db.Where) {
	db.FilterIDs(w, n.IDs)
	db.FilterAfter(w, "created_at", n.CreatedAfter)
	db.FilterBefore(w, "created_at", n.CreatedBefore)
	db.FilterAfter(w, "updated_at", n.UpdatedAfter)
	db.FilterBefore(w, "updated_at", n.UpdatedBefore)
}

// BrowseLog reads a page of a log table, in the order of createdAt. A row tells where it is in that order.
func BrowseLog[T interface{ LogPlace() db.Cursor }](ctx context.Context, c *Call, t db.PermanentTable[T], p CursorPage,
	w *db.Where) (*List[T], error) {
	return readListPage(p, "createdAt", pageSource[T]{
		readRows: func(p db.Page) ([]T, error) { return t.List(ctx, c.Tx, w, p) },
		acceptsPlace: func(p db.Page) bool {
			_, ok := p.After.Value.(int64)
			return ok
		},
		placeOf: func(row *T, _ db.Page) (db.Cursor, error) { return (*row).LogPlace(), nil },
	})
}

// pageSource is where readListPage gets its rows from.
type pageSource[T any] struct {
	readRows func(db.Page) ([]T, error)
	// whether the value in the cursor has the type of the sorted column
	acceptsPlace func(db.Page) bool
	placeOf      func(*T, db.Page) (db.Cursor, error) // where a row is in the order of the list
}

// readListPage reads a page: by its offset or, with a cursor, from where the page before ended.
func readListPage[T any](b CursorPage, sortBy string, t pageSource[T]) (*List[T], error) {
	p := b.ToDBPage()
	p.Sort = sortBy
	if b.Cursor == nil {
		rows, err := t.readRows(p)
		return NewList(b.Page, rows), err
	}
	var err error
	if p.After, err = b.parseCursor(sortBy); err != nil {
		return nil, err
	}
	if p.After != nil && !t.acceptsPlace(p) {
		return nil, refuseQueryField("cursor", badCursor)
	}
	p.Limit++ // one row more tells whether there is a next page
	rows, err := t.readRows(p)
	if err != nil {
		return nil, err
	}
	l := &List[T]{Data: rows, Pagination: Pagination{Limit: b.Limit,
		NextCursor: Nullable[string]{Set: true, Null: true}}}
	if len(rows) > b.Limit {
		l.Data = rows[:b.Limit]
		at, err := t.placeOf(&rows[b.Limit-1], p)
		if err != nil {
			return nil, err
		}
		l.Pagination.HasMore = true
		l.Pagination.NextCursor = Nullable[string]{Set: true,
			Value: cursor{sortBy, b.SortOrder, at.Value, at.Seq}.String()}
	}
	return l, nil
}

// parseCursor is the place that the cursor names, after which the page begins; nil for the first page.
func (b CursorPage) parseCursor(sortBy string) (*db.Cursor, error) {
	if b.Offset > 0 {
		return nil, refuseQueryField("offset", "Must not be sent with cursor")
	}
	if *b.Cursor == firstCursor {
		return nil, nil //nolint:nilnil // no place is the beginning
	}
	var at cursor
	text, err := base64.RawURLEncoding.DecodeString(*b.Cursor)
	if err != nil || json.Unmarshal(text, &at) != nil || !at.normalizeValue() {
		return nil, refuseQueryField("cursor", badCursor)
	}
	if at.SortBy != sortBy || at.SortOrder != b.SortOrder {
		return nil, refuseQueryField("cursor",
			"It continues a list in another order; send the same sortBy and sortOrder")
	}
	return &db.Cursor{Value: at.Value, Seq: at.Seq}, nil
}

// refuseQueryField refuses a query parameter.
func refuseQueryField(field, issue string) error {
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

// normalizeValue reports whether the value can be that of a column, and turns a JSON number into the int64 that columns
// have.
func (c *cursor) normalizeValue() bool {
	switch v := c.Value.(type) {
	case nil, string:
		return true
	case float64:
		c.Value = int64(v)
		return true
	}
	return false
}
