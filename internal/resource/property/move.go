package property

import (
	"context"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
)

// The refusals of updating a value.
var (
	TransitionInvalid = fault.DefineKind("PROPERTY_VALUE_TRANSITION_INVALID", 409,
		"The property value cannot change to this status.")
	NotConfirmed = fault.DefineKind("PROPERTY_VALUE_NOT_CONFIRMED", 409,
		"Only a confirmed property value can be replaced.")
	Conflict = fault.DefineKind("PROPERTY_VALUE_CONFLICT", 409,
		"The property was changed at the same time. Read it again and decide again.")
)

// allowedMoves lists every allowed change of status.
var allowedMoves = map[[2]Status]bool{
	{statusSuggested, statusConfirmed}: true,
	{statusSuggested, statusDismissed}: true,
	{statusConfirmed, statusDismissed}: true,
	{statusDismissed, statusSuggested}: true,
}

type valueUpdate struct {
	valueRef
	Status op.Optional[Status]  `json:"status" enum:"suggested,confirmed,dismissed" doc:"the status to move to"`
	Value  op.Optional[db.JSON] `json:"value" kinds:"string,number,boolean,array" doc:"replaces a confirmed value"`

	found *foundProperty
}

// foundProperty is the property as Prepare read it, before the transaction. If somebody changed it in
// between, this request is refused: its caller decided by what it saw before.
type foundProperty struct {
	version    int64
	definition *PropertyDefinition
}

func (in *valueUpdate) Prepare(ctx context.Context, c *op.Call) error {
	if !in.Status.Set && !in.Value.Set {
		return fault.AtPath(nil, "Send status, value or both")
	}
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err := values.Find(ctx, tx, db.InOrganization(c.Org).And("object_id = ?", in.ID).And("id = ?",
			in.PropertyID))
		if err != nil {
			return err
		}
		d, err := definitions.Get(ctx, tx, c.Org, v.DefinitionID)
		if err != nil {
			return err
		}
		n, err := loadVersion(ctx, tx, c.Org, in.ID, d.ID)
		in.found = &foundProperty{n, d}
		return err
	})
	if fault.IsKind(err, fault.NotFound) {
		return nil // the transaction finds out whether the object or the value is missing
	}
	return err
}

// updateValue changes the status of a value, replaces the value, or both.
func (o objectKind) updateValue(ctx context.Context, c *op.Call, in valueUpdate) (*PropertyValue, error) {
	rows := o.valuesOfObject()
	if err := rows.LockParent(ctx, c, in.ID); err != nil {
		return nil, err
	}
	if in.found == nil {
		return nil, db.AsNotFound(db.ErrNoRow, "property value")
	}
	var content Content
	var err error
	if in.Value.Set {
		if content, err = in.found.definition.parseValue(in.Value.Value); err != nil {
			return nil, err
		}
	}
	now, err := loadVersion(ctx, c.Tx, c.Org, in.ID, in.found.definition.ID)
	if err != nil {
		return nil, err
	}
	if now != in.found.version {
		return nil, Conflict.New()
	}
	v, err := rows.Rows.Find(ctx, c.Tx, rows.WhereParent(c, in.ID).And("id = ?", in.PropertyID))
	if err != nil {
		return nil, err
	}
	status, err := in.nextStatus(v)
	if err != nil {
		return nil, err
	}
	gone := in.found.definition.missingOptions(&v.Content)
	if status == statusConfirmed && v.Status != statusConfirmed && !in.Value.Set && len(gone) > 0 {
		return nil, TransitionInvalid.Say("The definition no longer has the option %s. Set another value.",
			strings.Join(gone, ", "))
	}
	v.Version = now + 1
	if in.Value.Set {
		v, err = replaceValue(ctx, c, v, in.found.definition, content)
	} else {
		err = saveStatus(ctx, c, v, status)
	}
	if err != nil {
		return nil, err
	}
	return v, c.Emit(o.eventType("updated"), v.ID, v)
}

// nextStatus decides which status the value gets, or why it cannot. Sent together with a value, the
// present status is not a change.
func (in *valueUpdate) nextStatus(v *PropertyValue) (Status, error) {
	status := v.Status
	if in.Status.Set && (!in.Value.Set || in.Status.Value != status) {
		if !allowedMoves[[2]Status{status, in.Status.Value}] {
			return "", TransitionInvalid.Say("A %s property value cannot become %s.", status, in.Status.Value)
		}
		status = in.Status.Value
	}
	if in.Value.Set && status != statusConfirmed {
		return "", NotConfirmed.Say("This property value is %s; only a confirmed one can be replaced.", status)
	}
	return status, nil
}

// saveStatus writes the new status. A value that becomes confirmed replaces the one that was.
func saveStatus(ctx context.Context, c *op.Call, v *PropertyValue, status Status) error {
	if status == statusConfirmed {
		if err := supersedeConfirmed(ctx, c, v, nil); err != nil {
			return err
		}
	}
	v.Status, v.UpdatedAt = status, c.Now
	return values.Save(ctx, c.Tx, v)
}

// replaceValue puts a new value, with its own id and author, in the place of one that is confirmed
// or becomes so in the same request.
func replaceValue(ctx context.Context, c *op.Call, old *PropertyValue, d *PropertyDefinition,
	content Content) (*PropertyValue, error) {
	if err := supersedeConfirmed(ctx, c, old, &old.ID); err != nil {
		return nil, err
	}
	v := newValue(c, d, old.ObjectID, content)
	v.Version = old.Version
	return v, values.Insert(ctx, c.Tx, v)
}
