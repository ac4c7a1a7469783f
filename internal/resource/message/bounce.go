package message

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
)

// bounce notes that a message came back (RFC 3464). A report about one of our
// messages is no message itself: whoever answers what is received would answer
// a machine. It is known when there is such a message.
func (a *arrival) bounce(ctx context.Context) (known bool, err error) {
	err = a.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		known = false
		v, err := a.reported(ctx, tx)
		if fault.Has(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		known = true
		if v, err = messages.Lock(ctx, tx, v.OrganizationID, v.ID); err != nil {
			return err
		}
		return a.comeBack(ctx, tx, v, a.clock.Now())
	})
	return known, err
}

// reported finds the message of ours that the report is about.
func (a *arrival) reported(ctx context.Context, tx *db.Tx) (*Message, error) {
	box, err := answered(ctx, tx, a.letter)
	ref := box.Answers
	if errors.Is(err, ErrNobody) || box.Organization != a.Organization {
		ref, err = a.Answers, nil
	}
	if err != nil {
		return nil, err
	}
	if ref == nil {
		return nil, fault.NotFound.New()
	}
	return messages.Get(ctx, tx, a.Organization, *ref)
}

// comeBack gives the recipients that failed their end. A report that came
// before changes nothing.
func (a *arrival) comeBack(ctx context.Context, tx *db.Tx, v *Message, now clock.Time) error {
	rows, err := db.All[recipient](ctx, tx, "SELECT "+recipientColumns+" FROM message_recipients WHERE organization_id = $1 AND message_id = $2 ORDER BY seq", v.OrganizationID, v.ID)
	if err != nil {
		return err
	}
	changed, arrived := false, false
	for i := range rows {
		r := &rows[i]
		if reason := a.failed(r, len(rows) == 1); reason != "" && (r.Status == Sent || r.Status == Delivered) {
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
