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
// wrote says so, and well-behaved machines, ours included, do not answer it
// (RFC 3834 §2). A sender who does not say so gets a limited number of answers.

// Loop refuses a machine's answer to a machine.
var Loop = fault.Define("MESSAGE_LOOP", 409, "An automation does not answer mail that a machine wrote.")

// Automations stop answering a sender of more than loopMails mails in loopTime.
const (
	loopMails = 10
	loopTime  = time.Hour
)

// isAutomatic reports whether the message comes from the service and no person.
func isAutomatic(cause event.Event) bool {
	return cause.ActorKind == string(op.AutomationActor) || cause.ActorKind == string(op.SystemActor)
}

// markAutomatic marks a message by what caused it to be sent, and refuses one
// that would go back to where a machine's mail came from. If a mail started an
// automation, the chain begins with that mail.
func (v *Message) markAutomatic(ctx context.Context, tx *db.Tx, cause event.Event) error {
	v.AutoSubmitted, v.Chain = isAutomatic(cause), cause.Chain
	if len(v.Chain) == 0 {
		return nil
	}
	first, err := messages.Get(ctx, tx, v.OrganizationID, v.Chain[0])
	if fault.Has(err, fault.NotFound) {
		return nil // something else started the chain
	}
	if err != nil {
		return err
	}
	sender := []string{db.Fold(mailhost.ToASCII(first.From))}
	if first.ReplyTo != nil {
		sender = append(sender, db.Fold(mailhost.ToASCII(*first.ReplyTo)))
	}
	toSender := func(a string) bool { return slices.Contains(sender, db.Fold(mailhost.ToASCII(a))) }
	if !slices.ContainsFunc(v.recipients(), toSender) {
		return nil
	}
	if first.AutoSubmitted {
		return Loop.Say("The mail of %s that started this was written by a machine, and automations do not answer "+
			"machines. A condition like !event.data.autoSubmitted leaves such mail out.", first.From)
	}
	n, err := db.One[int](ctx, tx, `
		SELECT count(*) FROM (
		SELECT 1 FROM messages
		WHERE organization_id = $1 AND direction = 'inbound' AND created_at > $2
			AND lower(from_address) = lower($3) AND deleted_at IS NULL
			LIMIT $4) AS latest`,
		v.OrganizationID, cause.At.Add(-loopTime), first.From, loopMails+1)
	if err == nil && n > loopMails {
		return Loop.Say("More than %d mails came from %s within an hour. Automations no longer answer it, in case it "+
			"is a machine that answers them.", loopMails, first.From)
	}
	return err
}

// autoSubmitted is the header that says that nobody wrote the mail, and whether
// it answers one (RFC 3834 §5).
func (v *Message) autoSubmitted() string {
	if v.InReplyToID != nil {
		return "auto-replied"
	}
	return "auto-generated"
}
