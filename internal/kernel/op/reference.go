package op

import (
	"context"
	"errors"
	"reflect"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// FieldRef is the value of a field in the body that names a row of another table.
type FieldRef struct {
	Field, Table string
	ID           *id.ID // what the caller sent; nil names nothing
	Stored       *id.ID // the value that is stored already, which may stay even if its row is gone
}

// LockReferences refuses fields that name a row which is missing, deleted or of another organization, all with the same
// answer, so that nobody can find out what other organizations have. It locks the rows until the transaction ends:
// somebody who deletes one at the same time waits, then finds the new reference and clears it.
func LockReferences(ctx context.Context, c *Call, refs ...FieldRef) error {
	var tree *fault.Tree
	for _, r := range refs {
		if r.ID == nil || r.Stored != nil && *r.Stored == *r.ID {
			continue
		}
		err := lockReferenced(ctx, c, r.Table, *r.ID)
		if err != nil && !errors.Is(err, db.ErrNoRow) {
			return err
		}
		if err != nil {
			tree = tree.At([]any{r.Field}, noSuchRecord)
		}
	}
	return tree.Fault(fault.Invalid)
}

// lockReferenced keeps a row from being deleted until the transaction ends. The rows of a permanent table are never
// deleted, so they are only looked up.
func lockReferenced(ctx context.Context, c *Call, table string, row id.ID) error {
	if db.LifeOfTable(table).Permanent {
		return requireLiveRow(ctx, c, table, row)
	}
	return db.LockShared(ctx, c.Tx, table, c.Org, row)
}

const noSuchRecord = "There is no such record in this organization"

// NoSuchReference refuses a field that names a row which the caller of this function has not found, in the words of
// LockReferences.
func NoSuchReference(field string) error { return fault.Field(field, noSuchRecord) }

// requireLiveRow returns nil for a row of the organization that is not deleted, else db.ErrNoRow. It locks nothing.
func requireLiveRow(ctx context.Context, c *Call, table string, row id.ID) error {
	_, err := db.QueryOne[int](ctx, c.Tx,
		"SELECT 1 FROM "+table+" WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL", c.Org, row)
	return err
}

// refUnrestricted is the tag ref of an id that every caller may name, like that of a member.
const refUnrestricted = "-"

// holdsID reports whether the value is an id, however its field holds it.
func (n *schemaNode) holdsID() bool {
	return n.typ == reflect.TypeFor[id.ID]() || n.hold != heldDirectly && n.format == "uuid"
}

// requireReferenceTags panics unless every id in the body has a tag ref that says what it names. Operations that only
// the console and the admin command can call are exempt.
func (o *Op) requireReferenceTags() {
	if o.Doors&(RESTDoor|AgentDoor|AutomationDoor) == 0 {
		return
	}
	for _, p := range o.in.order {
		if p.origin == originBody && p.node.namesRows(p.name) {
			o.hasReferences = true
		}
	}
}

// namesRows reports whether a value or anything in it is an id that names a row.
// It panics on an id that has no ref.
func (n *schemaNode) namesRows(name string) (found bool) {
	switch {
	case n.holdsID():
		if n.ref == "" {
			panic(name + " is an id: it needs the tag ref with the resource that it names")
		}
		return n.ref != refUnrestricted
	case n.elem != nil:
		return n.elem.namesRows(name)
	}
	for _, p := range n.order {
		found = p.node.namesRows(p.name) || found
	}
	return found
}

// permitReferences refuses a body that names a row of a resource which the caller may not read: the answer could show
// the row, and an invoice or a mail could pass it on.
func (o *Op) permitReferences(c *Call, in reflect.Value) error {
	if !o.hasReferences {
		return nil
	}
	for _, p := range o.in.order {
		if p.origin != originBody {
			continue
		}
		if err := c.permitReferencesIn(p.name, p.node, fieldByIndex(in, p.index)); err != nil {
			return err
		}
	}
	return nil
}

// permitReferencesIn checks the ids in a value, however deep.
func (c *Call) permitReferencesIn(name string, n *schemaNode, v reflect.Value) error {
	if v = n.sentValue(v); !v.IsValid() {
		return nil
	}
	switch {
	case n.holdsID():
		return c.PermitReference(name, n.ref)
	case n.kind == arrayValue:
		for i := range v.Len() {
			if err := c.permitReferencesIn(name, n.elem, v.Index(i)); err != nil {
				return err
			}
		}
	case n.kind == mapValue:
		for _, key := range v.MapKeys() {
			if err := c.permitReferencesIn(name, n.elem, v.MapIndex(key)); err != nil {
				return err
			}
		}
	case n.kind == objectValue:
		for _, p := range n.order {
			if err := c.permitReferencesIn(p.name, p.node, fieldByIndex(v, p.index)); err != nil {
				return err
			}
		}
	}
	return nil
}

// sentValue is the value that the caller sent, or the zero Value for an absent one and for null.
func (n *schemaNode) sentValue(v reflect.Value) reflect.Value {
	switch n.hold {
	case heldByPointer:
		return v.Elem() // not valid when nil
	case heldAsNullable, heldAsOptional:
		if !v.FieldByName("Set").Bool() || n.hold == heldAsNullable && v.FieldByName("Null").Bool() {
			return reflect.Value{}
		}
		return v.FieldByName("Value")
	}
	return v
}

// PermitReference refuses a caller who may not read the resource that a field names.
func (c *Call) PermitReference(name, resource string) error {
	switch {
	case resource == "" || resource == refUnrestricted, c.Door == AdminDoor || c.Door == SystemDoor:
		return nil
	case c.Caller.Permissions.Allow(resource, ActionRead):
		return nil
	}
	return missingPermission(resource+":"+ActionRead.String(), "The reference %s", name)
}
