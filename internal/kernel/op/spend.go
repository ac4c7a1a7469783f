package op

import (
	"fmt"
	"reflect"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"

	"github.com/go-json-experiment/json"
)

// Two rights are given to people one by one, besides the permissions: to take money from the organization's card
// (Caller.MaySpend) and to decide on agents' proposals (Caller.MayApprove). An operation declares in its Spec that it
// needs one of them, and this file is the only place that checks.

// permitMember refuses a caller who lacks the right to spend or to decide, where the operation needs it.
func (o *Op) permitMember(c *Caller) error {
	switch {
	case o.Spends && !c.MaySpend:
		return refuseSpending()
	case o.Decides && !c.MayApprove:
		return fault.Forbidden.Say("Deciding what agents propose was not allowed to this member. An owner or admin " +
			"allows it on the member's page.")
	}
	return nil
}

// refuseSpending refuses for lack of the right to spend.
func refuseSpending() error {
	return fault.Forbidden.Say("Spending money was not allowed to this member. An owner or admin allows it on the " +
		"member's page.")
}

// Charge is the entry in a transaction's trace for money that will be taken. Rehearsals show it, and the Meter counts
// it.
type Charge struct {
	What        string // what is paid for
	Card        string // the card as people know it
	AmountCents int64
	Currency    string
}

// NoteCharge notes in the transaction's trace that money will be taken. An operation that charges without Spec.Spends
// was open to callers who may not spend, so it is stopped here.
func (c *Call) NoteCharge(tx *db.Tx, v Charge) error {
	if !c.op.Spends {
		return fmt.Errorf("op: %s charges without declaring that it spends", c.op.Name)
	}
	tx.AddToTrace(v)
	return nil
}

// checkSpending panics when the field that Spec.SpendsIfTrue names is not a bool of the body.
func (o *Op) checkSpending() {
	if o.SpendsIfTrue == "" {
		return
	}
	p := o.in.props[o.SpendsIfTrue]
	if p == nil || p.origin != originBody {
		panic("the body has no " + o.SpendsIfTrue + ", with which it would spend")
	}
	o.spendFieldIsTrue(o.blankInput)
}

// permitSpending refuses an input whose field Spec.SpendsIfTrue is true, from a caller who may not spend.
func (o *Op) permitSpending(c *Caller, d Door, in reflect.Value) error {
	if o.SpendsIfTrue == "" || c.MaySpend || d == AdminDoor || d == SystemDoor || !o.spendFieldIsTrue(in) {
		return nil
	}
	return refuseSpending()
}

// spendFieldIsTrue reports whether the field that Spec.SpendsIfTrue names is true.
func (o *Op) spendFieldIsTrue(in reflect.Value) bool {
	switch v := fieldByIndex(in, o.in.props[o.SpendsIfTrue].index).Interface().(type) {
	case bool:
		return v
	case Optional[bool]:
		return v.Set && v.Value
	default:
		panic(fmt.Sprintf("%s is a %T, with which nothing can be told", o.SpendsIfTrue, v))
	}
}

// SpendsWithInput reports whether the operation spends with this whole input, which may have placeholders.
func (o *Op) SpendsWithInput(input []byte) bool {
	if o.Spends || o.SpendsIfTrue == "" {
		return o.Spends
	}
	var fields map[string]any
	if json.Unmarshal(input, &fields) != nil {
		return false
	}
	switch v := fields[o.SpendsIfTrue].(type) {
	case bool:
		return v
	case string: // a placeholder, which may stand for true
		return true
	}
	return false
}

// PermitInput is PermitCaller for a whole input: it also refuses one that spends by a field, from a caller who may not.
func (o *Op) PermitInput(c *Caller, d Door, input []byte) error {
	if err := o.PermitCaller(c, d); err != nil {
		return err
	}
	if d != AdminDoor && d != SystemDoor && !c.MaySpend && o.SpendsWithInput(input) {
		return refuseSpending()
	}
	return nil
}

// NeedsNoProposal reports whether an agent may make this call itself, instead of proposing it to a person.
func (o *Op) NeedsNoProposal(c *Caller, input []byte) bool {
	if o.batch != nil && !o.batch.allowedFor(c.Permissions, input) {
		return false
	}
	return o.AllowedBy(c.Permissions) && (c.MaySpend || !o.SpendsWithInput(input))
}
