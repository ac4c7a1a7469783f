package op

import (
	"context"
	"errors"
	"reflect"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// Ref is a field of a body that names a row of another table.
type Ref struct {
	Field, Table string
	ID           *id.ID // nil names nothing
	Was          *id.ID // the stored value, which may stay even if its target is gone
}

// References refuses every field that names a missing, foreign or deleted row,
// with one and the same answer. It locks the targets until the reference is
// committed, so that a concurrent deletion finds the reference and clears it.
func References(ctx context.Context, c *Call, refs ...Ref) error {
	var tree *fault.Tree
	for _, r := range refs {
		if r.ID == nil || r.Was != nil && *r.Was == *r.ID {
			continue
		}
		err := lockTarget(ctx, c, r.Table, *r.ID)
		if err != nil && !errors.Is(err, db.ErrNone) {
			return err
		}
		if err != nil {
			tree = tree.At([]any{r.Field}, unseen)
		}
	}
	return tree.Fault(fault.Invalid)
}

// lockTarget keeps a row from being deleted until the transaction ends. A
// permanent row is only looked up, because deleting it clears no references.
func lockTarget(ctx context.Context, c *Call, table string, row id.ID) error {
	if db.LifeOf(table).Permanent {
		return visible(ctx, c, table, row)
	}
	return db.Share(ctx, c.Tx, table, c.Org, row)
}

const unseen = "There is no such record in this organization"

// Unseen refuses a reference whose target another check did not find.
func Unseen(field string) error { return fault.Field(field, unseen) }

// visible is nil for a live row of the organization, else db.ErrNone.
func visible(ctx context.Context, c *Call, table string, row id.ID) error {
	_, err := db.One[int](ctx, c.Tx,
		"SELECT 1 FROM "+table+" WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL", c.Org, row)
	return err
}

// refFree is the ref of an id that every caller may name, like a member's.
const refFree = "-"

func (n *node) isID() bool {
	return n.typ == reflect.TypeFor[id.ID]() || n.hold != direct && n.format == "uuid"
}

// checkReferences requires every id in the body to declare what it names.
// Operations that only people and operators can call are exempt, because those
// may read everything.
func (o *Op) checkReferences() {
	if o.Doors&(REST|Agent|Automation) == 0 {
		return
	}
	for _, p := range o.in.order {
		if p.origin == body && p.node.namesRows(p.name) {
			o.refers = true
		}
	}
}

// namesRows reports whether a value or anything in it is an id that names a row.
// It panics on an id that has no ref.
func (n *node) namesRows(name string) (found bool) {
	switch {
	case n.isID():
		if n.ref == "" {
			panic(name + " is an id: it needs the tag ref with the resource that it names")
		}
		return n.ref != refFree
	case n.elem != nil:
		return n.elem.namesRows(name)
	}
	for _, p := range n.order {
		found = p.node.namesRows(p.name) || found
	}
	return found
}

// permitReferences refuses a body that names a row which the caller may not
// read: a reference can reveal the row or pass it on.
func (o *Op) permitReferences(c *Call, in reflect.Value) error {
	if !o.refers {
		return nil
	}
	for _, p := range o.in.order {
		if p.origin != body {
			continue
		}
		if err := c.permitNamed(p.name, p.node, field(in, p.index)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Call) permitNamed(name string, n *node, v reflect.Value) error {
	if v = n.given(v); !v.IsValid() {
		return nil
	}
	switch {
	case n.isID():
		return c.PermitReference(name, n.ref)
	case n.kind == arrayValue:
		for i := range v.Len() {
			if err := c.permitNamed(name, n.elem, v.Index(i)); err != nil {
				return err
			}
		}
	case n.kind == mapValue:
		for _, key := range v.MapKeys() {
			if err := c.permitNamed(name, n.elem, v.MapIndex(key)); err != nil {
				return err
			}
		}
	case n.kind == objectValue:
		for _, p := range n.order {
			if err := c.permitNamed(p.name, p.node, field(v, p.index)); err != nil {
				return err
			}
		}
	}
	return nil
}

// given is the value that the caller sent, or the zero Value.
func (n *node) given(v reflect.Value) reflect.Value {
	switch n.hold {
	case pointer:
		return v.Elem() // not valid when nil
	case opt, maybe:
		if !v.FieldByName("Set").Bool() || n.hold == opt && v.FieldByName("Null").Bool() {
			return reflect.Value{}
		}
		return v.FieldByName("Value")
	}
	return v
}

// PermitReference refuses a caller who may not read what a field names.
func (c *Call) PermitReference(name, resource string) error {
	switch {
	case resource == "" || resource == refFree, c.Door == Admin || c.Door == System:
		return nil
	case c.Caller.Permissions.Allow(resource, ActionRead):
		return nil
	}
	return lacks(resource+":"+ActionRead.String(), "The reference %s", name)
}
