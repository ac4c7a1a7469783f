package op

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// Nested is a table whose rows belong to one parent each, like the phone numbers of a contact. It finds a row only
// together with its parent, and a parent that is missing, deleted or of another organization is a 404 before anything
// else. Changes lock the parent, so that it is not deleted meanwhile and changes to its rows follow one another.
type Nested[T any] struct {
	Rows *db.Table[T]
	Seen string // an SQL condition; rows that do not meet it are not shown; empty for none

	parent db.Ref
}

// NewNested declares a table under the parent that its life names.
func NewNested[T any](table string, life db.Life) Nested[T] {
	if life.Parent.Table == "" {
		panic("op: " + table + " has no parent")
	}
	return NestedUnder(db.NewTable[T](table, life), life.Parent)
}

// NestedUnder nests a declared table under the row that one of its columns names. NewNested does so for the parent in
// the life.
func NestedUnder[T any](rows *db.Table[T], parent db.Ref) Nested[T] {
	return Nested[T]{Rows: rows, parent: parent}
}

// parentMissing turns db.ErrNoRow into a 404 that names the parent.
func (n Nested[T]) parentMissing(err error) error {
	return db.AsNotFound(err, db.LifeOfTable(n.parent.Table).Noun)
}

// WhereParent returns the condition for the rows of a parent. Callers add their filters to it.
func (n Nested[T]) WhereParent(c *Call, parent id.ID) *db.Where {
	w := db.InOrganization(c.Org).And(n.parent.Column+" = ?", parent)
	if n.Seen != "" {
		w.And(n.Seen)
	}
	return w
}

// LockParent locks the parent, or answers 404.
func (n Nested[T]) LockParent(ctx context.Context, c *Call, parent id.ID) error {
	return n.parentMissing(db.Lock(ctx, c.Tx, n.parent.Table, c.Org, parent))
}

// requireParent answers 404 unless the parent is there.
func (n Nested[T]) requireParent(ctx context.Context, c *Call, parent id.ID) error {
	return n.parentMissing(requireLiveRow(ctx, c, n.parent.Table, parent))
}

// List returns a page of a parent's rows, with their total.
func (n Nested[T]) List(ctx context.Context, c *Call, parent id.ID, p Page) (*List[T], error) {
	return n.ListWhere(ctx, c, parent, n.WhereParent(c, parent), p)
}

// ListWhere is List with filters: w is what WhereParent returned, and more.
func (n Nested[T]) ListWhere(ctx context.Context, c *Call, parent id.ID, w *db.Where, p Page) (*List[T], error) {
	if err := n.requireParent(ctx, c, parent); err != nil {
		return nil, err
	}
	rows, err := n.Rows.List(ctx, c.Tx, w, p.ToDBPage())
	if err != nil {
		return nil, err
	}
	total := p.Offset + len(rows)
	if len(rows) == p.Limit || len(rows) == 0 {
		if total, err = n.Rows.Count(ctx, c.Tx, w); err != nil {
			return nil, err
		}
	}
	return NewCountedList(p, rows, total), nil
}

// ListUncounted is ListWhere for rows that can become very many. It does not count them: the total is there only on
// the last page.
func (n Nested[T]) ListUncounted(ctx context.Context, c *Call, parent id.ID, w *db.Where, p Page) (*List[T], error) {
	if err := n.requireParent(ctx, c, parent); err != nil {
		return nil, err
	}
	rows, err := n.Rows.List(ctx, c.Tx, w, p.ToDBPage())
	return NewList(p, rows), err
}

// Parents is the input of NewestPerParent.
type Parents struct {
	IDs []id.ID `json:"ids" doc:"those that the rows are under"`
}

// NewestPerParent returns the newest row of each of many parents, in no order; a parent without rows has none. It is
// one statement that reads the list's index once per parent, so that a page which shows many parents need not send one
// statement for each.
func (n Nested[T]) NewestPerParent(ctx context.Context, c *Call, in Parents) (*List[T], error) {
	rows := n.Rows.Name()
	seen := ""
	if n.Seen != "" {
		seen = " AND " + n.Seen
	}
	found, err := db.QueryAll[T](ctx, c.Tx, "SELECT "+n.Rows.Columns()+" FROM (SELECT (SELECT r.seq FROM "+rows+
		" r WHERE r.organization_id = $1 AND r."+n.parent.Column+" = p.id AND r.deleted_at IS NULL"+seen+
		" ORDER BY r.created_at DESC, r.seq DESC LIMIT 1) AS newest FROM "+n.parent.Table+
		" p WHERE p.organization_id = $1 AND p.id = ANY($2) AND p.deleted_at IS NULL) AS found"+
		" JOIN "+rows+" ON "+rows+".seq = found.newest", c.Org, in.IDs)
	return NewCountedList(Page{Limit: len(found)}, found, len(found)), err
}

// Get returns one row of a parent.
func (n Nested[T]) Get(ctx context.Context, c *Call, parent, row id.ID) (*T, error) {
	if err := n.requireParent(ctx, c, parent); err != nil {
		return nil, err
	}
	return n.Rows.Find(ctx, c.Tx, n.WhereParent(c, parent).And("id = ?", row))
}

// LockRow locks the parent and returns one of its rows, to be changed.
func (n Nested[T]) LockRow(ctx context.Context, c *Call, parent, row id.ID) (*T, error) {
	if err := n.LockParent(ctx, c, parent); err != nil {
		return nil, err
	}
	return n.Rows.Find(ctx, c.Tx, n.WhereParent(c, parent).And("id = ?", row))
}

// Add locks the parent and inserts a new row under it.
func (n Nested[T]) Add(ctx context.Context, c *Call, parent id.ID, row *T) error {
	if err := n.LockParent(ctx, c, parent); err != nil {
		return err
	}
	return n.Rows.Insert(ctx, c.Tx, row)
}

// Change locks the parent, applies a PATCH to one of its rows and reports whether anything changed. finish adjusts the
// changed row before it is saved.
func (n Nested[T]) Change(ctx context.Context, c *Call, parent, row id.ID, in any, finish func(*T)) (v *T, changed bool,
	err error) {
	if v, err = n.LockRow(ctx, c, parent, row); err != nil {
		return nil, false, err
	}
	if !Apply(v, in) {
		return v, false, nil
	}
	finish(v)
	return v, true, n.Rows.Save(ctx, c.Tx, v)
}

// Remove locks the parent and soft-deletes one of its rows.
func (n Nested[T]) Remove(ctx context.Context, c *Call, parent, row id.ID) (*T, error) {
	if _, err := n.LockRow(ctx, c, parent, row); err != nil {
		return nil, err
	}
	return n.Rows.SoftDelete(ctx, c.Tx, c.Org, row, c.Now)
}
