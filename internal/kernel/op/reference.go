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
	Was          *id.ID // what is stored already: it may stay although its target is gone
}

// References refuses every field that names a row which is missing, foreign or
// deleted, all alike. A target is not held: it is no root, and a reference
// stays when its target is deleted later, so a deletion at the same moment
// changes nothing that a deletion a moment later would not.
func References(ctx context.Context, c *Call, refs ...Ref) error {
	var tree *fault.Tree
	for _, r := range refs {
		if r.ID == nil || r.Was != nil && *r.Was == *r.ID {
			continue
		}
		err := visible(ctx, c, r.Table, *r.ID)
		if err != nil && !errors.Is(err, db.ErrNone) {
			return err
		}
		if err != nil {
			tree = tree.At([]any{r.Field}, unseen)
		}
	}
	return tree.Fault(fault.Invalid)
}

const unseen = "There is no such record in this organization"

// Unseen refuses a reference that another check found to lead nowhere.
func Unseen(field string) error { return fault.Field(field, unseen) }

// visible is nil for a live row of the organization, else db.ErrNone.
func visible(ctx context.Context, c *Call, table string, row id.ID) error {
	_, err := db.One[int](ctx, c.Tx, "SELECT 1 FROM "+table+" WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL", c.Org, row)
	return err
}

// refFree is the ref of an id that every caller may name, like a member's.
const refFree = "-"

func (n *node) isID() bool {
	return n.typ == reflect.TypeFor[id.ID]() || n.hold != direct && n.format == "uuid"
}

// checkReferences requires every id in the body to declare what it names. What only
// people and operators can call needs none: they may read everything.
func (o *Op) checkReferences() {
	if o.Doors&(REST|Agent|Automation) == 0 {
		return
	}
	for _, p := range o.in.order {
		if p.origin == body && p.node.declared(p.name) {
			o.refers = true
		}
	}
}

// declared reports whether ids are named here or below. It panics when one of
// them has no ref.
func (n *node) declared(name string) (found bool) {
	switch {
	case n.isID():
		if n.ref == "" {
			panic(name + " names a row: the tag ref tells of which resource")
		}
		if n.ref != refFree {
			bit(n.ref, See) // panics on an unknown resource
		}
		return n.ref != refFree
	case n.elem != nil:
		return n.elem.declared(name)
	}
	for _, p := range n.order {
		found = p.node.declared(p.name) || found
	}
	return found
}

// permitReferences refuses a body that names a row which the caller may not
// read: whoever refers to a thing learns of it, or hands it on.
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

// given is the value that the caller sent, or none.
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
	case c.Caller.Permissions.Allow(resource, See):
		return nil
	}
	return lacks(resource+":"+See.String(), "The reference %s", name)
}
