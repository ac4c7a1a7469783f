package message

import (
	"context"
	"slices"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Two machines that answer each other's mail never end. So mail that no person
// wrote says so, which well-behaved machines do not answer (RFC 3834 §2), and
// ours do not either; and one that does not say so is answered only so often.

// Loop refuses an answer of a machine to a machine.
var Loop = fault.Define("MESSAGE_LOOP", 409, "An automation does not answer mail that a machine wrote.")

// How many mails of one sender may come in a time before automations no longer
// answer them.
const (
	loopMails = 10
	loopTime  = time.Hour
)

// isAutomatic reports whether nobody but the service writes.
func isAutomatic(cause event.Event) bool {
	return cause.ActorKind == string(op.AutomationActor) || cause.ActorKind == string(op.SystemActor)
}

// automatic marks a message by what made it leave, and refuses one that would
// go back to where a machine's mail came from. The chain of an automation that
// a mail began, begins with that mail.
func (v *Message) automatic(ctx context.Context, tx *db.Tx, cause event.Event) error {
	v.AutoSubmitted, v.Chain = isAutomatic(cause), cause.Chain
	if len(v.Chain) == 0 {
		return nil
	}
	first, err := messages.Get(ctx, tx, v.OrganizationID, v.Chain[0])
	if fault.Has(err, fault.NotFound) {
		return nil // something else began it
	}
	if err != nil {
		return err
	}
	sender := []string{db.Fold(onTheWire(first.From))}
	if first.ReplyTo != nil {
		sender = append(sender, db.Fold(onTheWire(*first.ReplyTo)))
	}
	if !slices.ContainsFunc(v.recipients(), func(a string) bool { return slices.Contains(sender, db.Fold(onTheWire(a))) }) {
		return nil
	}
	if first.AutoSubmitted {
		return Loop.Say("The mail of %s that started this was written by a machine, and automations do not answer machines. A condition like !event.data.autoSubmitted leaves such mail out.", first.From)
	}
	n, err := db.One[int](ctx, tx, `SELECT count(*) FROM (SELECT 1 FROM messages WHERE organization_id = $1 AND direction = 'inbound' AND created_at > $2 AND lower(from_address) = lower($3) AND deleted_at IS NULL LIMIT $4) AS latest`,
		v.OrganizationID, cause.At.Add(-loopTime), first.From, loopMails+1)
	if err == nil && n > loopMails {
		return Loop.Say("More than %d mails came from %s within an hour. Automations no longer answer it, in case it is a machine that answers them.", loopMails, first.From)
	}
	return err
}

// began is the chain of what a received mail starts.
func (v *Message) began() []id.ID { return []id.ID{v.ID} }

// autoSubmitted is the header that says that nobody wrote the mail, and
// whether it answers one (RFC 3834 §5).
func (v *Message) autoSubmitted() string {
	if v.InReplyToID != nil {
		return "auto-replied"
	}
	return "auto-generated"
}
