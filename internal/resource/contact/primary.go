package contact

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// primaries is a table under a contact in which exactly one row is primary: the
// first, until another is chosen. The contact is locked for every change.
type primaries[T any] struct {
	op.Nested[T]
	noun              string
	contactAndPrimary func(*T) (contact id.ID, isPrimary *bool)
}

// addRow inserts a new row under a contact.
func (p primaries[T]) addRow(ctx context.Context, c *op.Call, contact id.ID, row *T, wanted *bool) error {
	if err := p.LockParent(ctx, c, contact); err != nil {
		return err
	}
	n, err := checkChildLimit(ctx, c, p.Nested, contact)
	if err != nil {
		return err
	}
	_, isPrimary := p.contactAndPrimary(row)
	if *isPrimary = n == 0 || wanted != nil && *wanted; *isPrimary {
		if err := p.clearPrimary(ctx, c, contact); err != nil {
			return err
		}
	}
	if err := p.Rows.Insert(ctx, c.Tx, row); err != nil {
		return err
	}
	return refreshContact(ctx, c, contact)
}

// changeRow applies a PATCH to a row and reports whether anything changed. finish
// runs on the changed row before it is saved.
func (p primaries[T]) changeRow(ctx context.Context, c *op.Call, contact, row id.ID, in any, finish func(*T)) (
	v *T, changed bool, err error) {
	if v, err = p.LockRow(ctx, c, contact, row); err != nil {
		return nil, false, err
	}
	_, isPrimary := p.contactAndPrimary(v)
	was := *isPrimary
	if !op.Apply(v, in) {
		return v, false, nil
	}
	if was && !*isPrimary {
		return nil, false, fault.Field("isPrimary", "Make another "+p.noun+" primary instead; one always is")
	}
	if *isPrimary && !was {
		if err := p.clearPrimary(ctx, c, contact); err != nil {
			return nil, false, err
		}
	}
	finish(v)
	if err := p.Rows.Save(ctx, c.Tx, v); err != nil {
		return nil, false, err
	}
	return v, true, refreshContact(ctx, c, contact)
}

// afterRemove is the hook after the deletion of a row. If it was primary, the oldest
// remaining row becomes primary.
func (p primaries[T]) afterRemove(ctx context.Context, c *op.Call, v *T) error {
	contact, isPrimary := p.contactAndPrimary(v)
	if *isPrimary {
		if err := p.ensurePrimary(ctx, c, contact); err != nil {
			return err
		}
	}
	return refreshContact(ctx, c, contact)
}

// ensurePrimary makes the oldest row of a contact primary, unless one is.
func (p primaries[T]) ensurePrimary(ctx context.Context, c *op.Call, contact id.ID) error {
	table := p.Rows.Name()
	under := " FROM " + table + " WHERE organization_id = $1 AND contact_id = $2 AND deleted_at IS NULL"
	_, err := db.Exec(ctx, c.Tx, "UPDATE "+table+` SET is_primary = TRUE, updated_at = $3
		WHERE organization_id = $1 AND seq = (SELECT min(seq)`+under+") AND NOT EXISTS (SELECT 1"+under+
		" AND is_primary)", c.Org, contact, c.Now)
	return err
}

// clearPrimary clears the current primary row.
func (p primaries[T]) clearPrimary(ctx context.Context, c *op.Call, contact id.ID) error {
	_, err := db.Exec(ctx, c.Tx, "UPDATE "+p.Rows.Name()+` SET is_primary = FALSE, updated_at = $3
		WHERE organization_id = $1 AND contact_id = $2 AND is_primary AND deleted_at IS NULL`,
		c.Org, contact, c.Now)
	return err
}

// onePrimaryStays is the rule for a merge: a primary row that moves over is no
// longer primary if the contact that stays has one.
func onePrimaryStays(table string) db.MergeRule {
	return db.MergeRule{
		Column: "is_primary", RestoreTo: "TRUE", SetTo: "FALSE",
		Where: "is_primary AND EXISTS (SELECT 1 FROM " + table + ` k
			WHERE k.organization_id = $1 AND k.contact_id = $3 AND k.is_primary AND k.deleted_at IS NULL)`,
	}
}

// checkOnePrimary refuses a creation with more than one primary.
func checkOnePrimary[F any](tree *fault.Tree, name string, fields []F, is func(F) *bool) *fault.Tree {
	seen := false
	for i, f := range fields {
		if p := is(f); p != nil && *p {
			if seen {
				tree = tree.At([]any{name, i, "isPrimary"}, "Only one can be primary")
			}
			seen = true
		}
	}
	return tree
}

// becomesPrimary decides whether one of several new rows is primary: the one that says
// so, or else the first.
func becomesPrimary[F any](wanted *bool, i int, all []F, is func(F) *bool) bool {
	for _, f := range all {
		if p := is(f); p != nil && *p {
			return wanted != nil && *wanted
		}
	}
	return i == 0
}
