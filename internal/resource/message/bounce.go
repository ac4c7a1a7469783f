package message

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
)

// bounce notes that a message came back (RFC 3464). A report about one of our
// messages is no message itself: whoever answers what is received would answer
// a machine. Only what comes to a return path is known to be about one: what a
// report says of itself, anybody can write.
func (a *arrival) bounce(ctx context.Context) (known bool, err error) {
	if a.Returned == nil {
		return false, nil
	}
	err = a.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err := messages.Lock(ctx, tx, a.Organization, *a.Answers)
		if known = err == nil; fault.Has(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return a.comeBack(ctx, tx, v, a.clock.Now())
	})
	return known, err
}

// comeBack gives the recipients that failed their end. A report that came
// before changes nothing. Marketing mail went to each alone, so its reports
// are about the one whose return path it is.
func (a *arrival) comeBack(ctx context.Context, tx *db.Tx, v *Message, now clock.Time) error {
	rows, err := db.All[recipient](ctx, tx, "SELECT "+recipientColumns+" FROM message_recipients WHERE organization_id = $1 AND message_id = $2 ORDER BY seq", v.OrganizationID, v.ID)
	if err != nil {
		return err
	}
	changed, arrived := false, false
	for i := range rows {
		r := &rows[i]
		alone := len(rows) == 1 || v.Purpose == Marketing
		// Of one who got it alone, the report may be quicker than the answer of the mail system.
		out := r.Status == Sent || r.Status == Delivered || r.Status == waiting && alone
		if reason := a.failed(r, alone); (v.Purpose != Marketing || r.ID == *a.Returned) && reason != "" && out {
			r.end(Bounced, reason, now)
			if err := r.save(ctx, tx); err != nil {
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
	why := clip(reasons(rows), maxReason)
	v.ErrorMessage, v.UpdatedAt = &why, now
	if err := messages.Save(ctx, tx, v); err != nil {
		return err
	}
	if err := fillFile(ctx, tx, v); err != nil {
		return err
	}
	return a.Tell(ctx, tx, event.Event{Organization: v.OrganizationID, At: now, Chain: v.Chain}.BySystem(), "message.bounced", v)
}

// failed is why the report says that a recipient was not reached, or nothing.
// An address may have been rewritten on the way; the only one is meant anyway.
func (a *arrival) failed(r *recipient, only bool) string {
	list := a.letter.Report.Failed
	at := -1
	for i, f := range list {
		if f.Address != "" && db.Fold(onTheWire(f.Address)) == db.Fold(onTheWire(r.Address)) {
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
