package contact

import (
	"context"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// LastMessages is when a contact last wrote, and was last written to. Package message keeps it, with NoteMessage and
// SetLastMessages. It is no change of the contact: neither updatedAt nor an event tells of it.
type LastMessages struct {
	LastMessageAt  *clock.Time `json:"lastMessageAt" doc:"the later of the two"`
	LastInboundAt  *clock.Time `json:"lastInboundAt" doc:"when they last wrote"`
	LastOutboundAt *clock.Time `json:"lastOutboundAt" doc:"when they were last written to"`
}

// laterOf is the later of two times, of which either may be missing.
func laterOf(a, b *clock.Time) *clock.Time {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// join takes over the times of a contact that becomes a part of this one.
func (l *LastMessages) join(other LastMessages) {
	l.LastInboundAt = laterOf(l.LastInboundAt, other.LastInboundAt)
	l.LastOutboundAt = laterOf(l.LastOutboundAt, other.LastOutboundAt)
	l.LastMessageAt = laterOf(l.LastInboundAt, l.LastOutboundAt)
}

// revert takes a merge back: a time that is still as the merge left it becomes what it was before.
func (l *LastMessages) revert(merged, before LastMessages) {
	// The event of the merge has the times as they are shown, in whole milliseconds.
	same := func(a, b *clock.Time) bool {
		return a == nil && b == nil || a != nil && b != nil && a.String() == b.String()
	}
	if same(l.LastInboundAt, merged.LastInboundAt) {
		l.LastInboundAt = before.LastInboundAt
	}
	if same(l.LastOutboundAt, merged.LastOutboundAt) {
		l.LastOutboundAt = before.LastOutboundAt
	}
	l.LastMessageAt = laterOf(l.LastInboundAt, l.LastOutboundAt)
}

// lastMessageFilter are the filters by these times.
type lastMessageFilter struct {
	LastMessageAfter   *string `query:"lastMessageAfter" format:"time-or-never" doc:"a time or never; so all six"`
	LastMessageBefore  *string `query:"lastMessageBefore" format:"time-or-never"`
	LastInboundAfter   *string `query:"lastInboundAfter" format:"time-or-never"`
	LastInboundBefore  *string `query:"lastInboundBefore" format:"time-or-never"`
	LastOutboundAfter  *string `query:"lastOutboundAfter" format:"time-or-never"`
	LastOutboundBefore *string `query:"lastOutboundBefore" format:"time-or-never" doc:"not written to since"`
}

func (f *lastMessageFilter) addConditions(w *db.Where) {
	for _, one := range []struct {
		column        string
		after, before *string
	}{
		{"last_message_at", f.LastMessageAfter, f.LastMessageBefore},
		{"last_inbound_at", f.LastInboundAfter, f.LastInboundBefore},
		{"last_outbound_at", f.LastOutboundAfter, f.LastOutboundBefore},
	} {
		// Times are shown in whole milliseconds: what is shown as the time itself is not after it.
		filterTimeOrNever(w, one.column, " > ?", one.after, time.Millisecond-time.Microsecond)
		filterTimeOrNever(w, one.column, " < ?", one.before, 0)
	}
}

// filterTimeOrNever keeps the contacts whose column compares to a time, or with never those without one.
func filterTimeOrNever(w *db.Where, column, compare string, text *string, more time.Duration) {
	if text == nil {
		return
	}
	found := db.IndexedRows{Where: column + " IS NULL AND deleted_at IS NULL"}
	if at, err := clock.ParseTime(*text); err == nil { // otherwise it is never: the format was checked
		found = db.IndexedRows{Where: column + compare + " AND deleted_at IS NULL", Args: []any{at.Add(more)}}
	}
	w.AmongRows(found)
}

// LockForMessage locks contacts that a message is about to note. Whoever writes a message does so before anything else
// is locked, and all at once: two messages to the same people then wait for each other in one order.
func LockForMessage(ctx context.Context, tx *db.Tx, org id.ID, ids []id.ID) error {
	if len(ids) == 0 {
		return nil
	}
	return db.LockAllEvenIfDeleted(ctx, tx, contacts.Name(), org, ids)
}

// NoteMessage notes that the contacts wrote at this time (inbound), or were written to. They are locked.
func NoteMessage(ctx context.Context, tx *db.Tx, org id.ID, ids []id.ID, inbound bool, at clock.Time) error {
	if len(ids) == 0 {
		return nil
	}
	column := "last_outbound_at"
	if inbound {
		column = "last_inbound_at"
	}
	_, err := db.Exec(ctx, tx, `
		UPDATE contacts
		SET `+column+` = $3, last_message_at = CASE WHEN last_message_at > $3 THEN last_message_at ELSE $3 END
		WHERE organization_id = $1 AND id = ANY($2) AND (`+column+` IS NULL OR `+column+` < $3)`, org, ids, at)
	return err
}

// SetLastMessages replaces the times of a contact, which were counted anew.
func SetLastMessages(ctx context.Context, tx *db.Tx, org, contact id.ID, inbound, outbound *clock.Time) error {
	_, err := db.Exec(ctx, tx, `
		UPDATE contacts
		SET last_inbound_at = $3, last_outbound_at = $4, last_message_at = $5
		WHERE organization_id = $1 AND id = $2`, org, contact, inbound, outbound, laterOf(inbound, outbound))
	return err
}
