package message

import (
	"context"
	"slices"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/mailhost"
)

// Two machines that answer each other's mail never stop. So mail that no person
// wrote carries a header that says so, and well-behaved machines, this service
// included, do not answer it (RFC 3834 §2). A machine that does not identify
// itself is caught by its number of mails.

// Loop refuses a machine's answer to a machine.
var Loop = fault.DefineKind("MESSAGE_LOOP", 409, "An automation does not answer mail that a machine wrote.")

// Automations stop answering a sender of more than so many mails in this time.
const (
	maxMailsPerWindow = 10
	loopWindow        = time.Hour
)

// isCausedByMachine reports whether an automation or the service, not a person, caused
// the message.
func isCausedByMachine(cause event.Event) bool {
	return cause.ActorKind == string(op.AutomationActor) || cause.ActorKind == string(op.SystemActor)
}

// markAutomatic records whether a machine sends the message, and refuses one
// that would answer a machine. If an incoming mail started the automation, the
// chain of causes begins with that mail; only then is there anything to check.
func (v *Message) markAutomatic(ctx context.Context, tx *db.Tx, cause event.Event) error {
	v.AutoSubmitted, v.Chain = isCausedByMachine(cause), cause.Chain
	if len(v.Chain) == 0 {
		return nil
	}
	first, err := messages.Get(ctx, tx, v.OrganizationID, v.Chain[0])
	if fault.IsKind(err, fault.NotFound) {
		return nil // something else started the chain
	}
	if err != nil {
		return err
	}
	sender := []string{db.FoldText(mailhost.ToASCII(first.From))}
	if first.ReplyTo != nil {
		sender = append(sender, db.FoldText(mailhost.ToASCII(*first.ReplyTo)))
	}
	toSender := func(a string) bool { return slices.Contains(sender, db.FoldText(mailhost.ToASCII(a))) }
	if !slices.ContainsFunc(v.uniqueRecipients(), toSender) {
		return nil
	}
	if first.AutoSubmitted {
		return Loop.Say("The mail of %s that started this was written by a machine, and automations do not answer "+
			"machines. A condition like !event.data.autoSubmitted leaves such mail out.", first.From)
	}
	n, err := db.QueryOne[int](ctx, tx, `
		SELECT count(*) FROM (
		SELECT 1 FROM messages
		WHERE organization_id = $1 AND direction = 'inbound' AND created_at > $2
			AND lower(from_address) = lower($3) AND deleted_at IS NULL
			LIMIT $4) AS latest`,
		v.OrganizationID, cause.At.Add(-loopWindow), first.From, maxMailsPerWindow+1)
	if err == nil && n > maxMailsPerWindow {
		return Loop.Say("More than %d mails came from %s within an hour. Automations no longer answer it, in case it "+
			"is a machine that answers them.", maxMailsPerWindow, first.From)
	}
	return err
}

// autoSubmittedHeader is the value of the Auto-Submitted header, which tells other
// machines not to answer (RFC 3834 §5).
func (v *Message) autoSubmittedHeader() string {
	if v.InReplyToID != nil {
		return "auto-replied"
	}
	return "auto-generated"
}
