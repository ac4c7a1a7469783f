package message

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/mailhost"
)

// recordBounce records that a message came back (RFC 3464). Anybody can write a
// report, so only one that came to a bounce address is believed. known reports
// that the message was found: then the report is not stored as a message of its
// own, because automations that answer mail would answer a machine.
func (a *arrival) recordBounce(ctx context.Context) (known bool, err error) {
	if a.bounced == nil {
		return false, nil
	}
	err = a.messages.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err := messages.Lock(ctx, tx, a.organization, *a.answers)
		if known = err == nil; fault.IsKind(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return a.markBounced(ctx, tx, v, a.messages.clock.Now())
	})
	return known, err
}

// markBounced marks the recipients that the report is about as bounced. A
// repeated report changes nothing. Marketing mail is sent to each recipient
// alone, so a report can only be about the one whose bounce address it came to.
func (a *arrival) markBounced(ctx context.Context, tx *db.Tx, v *Message, now clock.Time) error {
	rows, err := listRecipients(ctx, tx, v.OrganizationID, v.ID)
	if err != nil {
		return err
	}
	changed, arrived := false, false
	for i := range rows {
		r := &rows[i]
		about := v.Purpose != Marketing || r.ID == *a.bounced
		alone := len(rows) == 1 || v.Purpose == Marketing
		// For a single recipient, the report may be faster than the mail
		// system's answer.
		left := r.Status == Sent || r.Status == Delivered || r.Status == waiting && alone
		if reason := a.failureReason(r, alone); about && left && reason != "" {
			r.setOutcome(Bounced, reason, now)
			if err := r.saveOutcome(ctx, tx); err != nil {
				return err
			}
			changed = true
		}
		arrived = arrived || r.Status != Bounced && r.Status != Failed
	}
	if !changed {
		return nil
	}
	if !arrived {
		v.Status = Bounced
	}
	why := cut.Bytes(formatReasons(rows), maxReasonBytes)
	v.ErrorMessage, v.UpdatedAt = &why, now
	if err := messages.Save(ctx, tx, v); err != nil {
		return err
	}
	if err := fillMessageFileIDs(ctx, tx, v); err != nil {
		return err
	}
	e := event.Event{Organization: v.OrganizationID, At: now, Chain: v.Chain}.BySystem()
	return a.messages.appendEvent(ctx, tx, e.About("message.bounced", v.ID), v)
}

// failureReason is why, according to the report, a recipient was not reached, or
// empty. A forwarding server may have rewritten the address; if there is only
// one recipient and one failure, they belong together whatever the address.
func (a *arrival) failureReason(r *recipient, only bool) string {
	list := a.letter.Report.Failed
	at := -1
	for i, f := range list {
		if f.Address != "" && db.FoldText(mailhost.ToASCII(f.Address)) == db.FoldText(mailhost.ToASCII(r.Address)) {
			at = i
		}
	}
	if at < 0 && only && len(list) == 1 {
		at = 0
	}
	if at < 0 {
		return ""
	}
	return list[at].Reason
}
