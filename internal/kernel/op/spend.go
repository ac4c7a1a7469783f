package op

import (
	"fmt"
	"reflect"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"

	"github.com/go-json-experiment/json"
)

// What takes money from the organization's card, and what decides over an agent's
// proposals, is given to people one by one (Caller.MaySpend, Caller.MayApprove). An
// operation says in its Spec that it does so; nothing else asks.

// permitPerson refuses a caller who was not given what the operation needs of a person.
func (o *Op) permitPerson(c *Caller) error {
	switch {
	case o.Spends && !c.MaySpend:
		return noSpending()
	case o.Decides && !c.MayApprove:
		return fault.Forbidden.Say("Deciding what agents propose was not allowed to this member. An owner or admin " +
			"allows it on the member's page.")
	}
	return nil
}

func noSpending() error {
	return fault.Forbidden.Say("Spending money was not allowed to this member. An owner or admin allows it on the " +
		"member's page.")
}

// Charge is what a traced transaction tells of money that will be taken.
type Charge struct {
	What        string // what is paid for
	Card        string // as people know it
	AmountCents int64
	Currency    string
}

// Charge tells the transaction that money will be taken. An operation that charges
// and did not declare it has let anybody spend, so it is stopped here.
func (c *Call) Charge(tx *db.Tx, v Charge) error {
	if !c.op.Spends {
		return fmt.Errorf("op: %s charges without declaring that it spends", c.op.Name)
	}
	tx.Tell(v)
	return nil
}

// checkSpending panics on a SpendsWith that names nothing.
func (o *Op) checkSpending() {
	if o.SpendsWith == "" {
		return
	}
	p := o.in.props[o.SpendsWith]
	if p == nil || p.origin != body {
		panic("the body has no " + o.SpendsWith + ", with which it would spend")
	}
	o.isTrue(o.blank)
}

// permitSpending refuses an input that spends, where the operation does so by a field.
func (o *Op) permitSpending(c *Caller, d Door, in reflect.Value) error {
	if o.SpendsWith == "" || c.MaySpend || d == Admin || d == System || !o.isTrue(in) {
		return nil
	}
	return noSpending()
}

// isTrue reports whether the field is true with which the operation spends.
func (o *Op) isTrue(in reflect.Value) bool {
	switch v := field(in, o.in.props[o.SpendsWith].index).Interface().(type) {
	case bool:
		return v
	case Maybe[bool]:
		return v.Set && v.Value
	default:
		panic(fmt.Sprintf("%s is a %T, with which nothing can be told", o.SpendsWith, v))
	}
}

// SpendsOn reports whether the operation spends, given a whole input. Its texts may be
// placeholders.
func (o *Op) SpendsOn(input []byte) bool {
	if o.Spends || o.SpendsWith == "" {
		return o.Spends
	}
	var fields map[string]any
	if json.Unmarshal(input, &fields) != nil {
		return false
	}
	switch v := fields[o.SpendsWith].(type) {
	case bool:
		return v
	case string: // a placeholder, which may turn out to be true
		return true
	}
	return false
}

// PermitInput refuses a caller who may not use the operation with a whole input
// through this door: what Permit refuses, and spending by a field.
func (o *Op) PermitInput(c *Caller, d Door, input []byte) error {
	if err := o.Permit(c, d); err != nil {
		return err
	}
	if d != Admin && d != System && !c.MaySpend && o.SpendsOn(input) {
		return noSpending()
	}
	return nil
}

// Alone reports whether an agent may do this without asking a person.
func (o *Op) Alone(c *Caller, input []byte) bool {
	return o.AllowedBy(c.Permissions) && (c.MaySpend || !o.SpendsOn(input))
}
