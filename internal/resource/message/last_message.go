package message

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/contact"
)

// Contacts know when they last wrote and were last written to. A message counts once it came in, or was queued to be
// sent; a draft, a scheduled or a canceled one does not. Only those who wrote it and those it goes to count, not who is
// mentioned.

// reachesContacts reports whether the message counts for its contacts.
func (v *Message) reachesContacts() bool { return v.Direction == Inbound || v.Status == Queued }

// countsFor reports whether a message of this direction counts for a contact in this role.
func countsFor(direction, role string) bool {
	return direction == Inbound && role == roleFrom ||
		direction == Outbound && (role == roleTo || role == roleCC || role == roleBCC)
}

// lockAddressed locks the contacts that a new message names or goes to.
func (v *Message) lockAddressed(ctx context.Context, tx *db.Tx) error {
	var folded []string
	for _, a := range v.uniqueRecipients() {
		folded = append(folded, op.EmailSpellings(a)...)
	}
	holders, err := contact.HoldersOf(ctx, tx, v.OrganizationID, folded)
	if err != nil {
		return err
	}
	var ids []id.ID
	if v.ContactID != nil {
		ids = append(ids, *v.ContactID)
	}
	for _, h := range holders {
		ids = append(ids, h.ContactID)
	}
	return contact.LockForMessage(ctx, tx, v.OrganizationID, ids)
}

// lockLinkedContacts locks the contacts that a message is for, and returns them. The message itself is locked
// afterwards.
func lockLinkedContacts(ctx context.Context, tx *db.Tx, org, message id.ID) ([]id.ID, error) {
	ids, err := db.QueryAll[id.ID](ctx, tx, `
		SELECT DISTINCT contact_id
		FROM message_contacts
		WHERE organization_id = $1 AND message_id = $2 AND role IN ('to', 'cc', 'bcc') AND deleted_at IS NULL`,
		org, message)
	if err != nil {
		return nil, err
	}
	return ids, contact.LockForMessage(ctx, tx, org, ids)
}

// recountMessages counts anew when contacts last wrote and were last written to.
func recountMessages(ctx context.Context, tx *db.Tx, org id.ID, ids ...id.ID) error {
	for _, ref := range ids {
		last, err := db.QueryOne[struct {
			Inbound  *clock.Time `db:"inbound"`
			Outbound *clock.Time `db:"outbound"`
		}](ctx, tx, `
			SELECT max(CASE WHEN m.direction = 'inbound' AND x.role = 'from' THEN m.created_at END) AS inbound,
				max(CASE WHEN m.direction = 'outbound' AND x.role IN ('to', 'cc', 'bcc')
					AND m.status NOT IN ('draft', 'scheduled', 'canceled')
					THEN coalesce(m.sent_at, m.created_at) END) AS outbound
			FROM message_contacts x
			JOIN messages m ON m.organization_id = x.organization_id AND m.id = x.message_id
			WHERE x.organization_id = $1 AND x.contact_id = $2 AND x.deleted_at IS NULL AND m.deleted_at IS NULL`,
			org, ref)
		if err != nil {
			return err
		}
		if err := contact.SetLastMessages(ctx, tx, org, ref, last.Inbound, last.Outbound); err != nil {
			return err
		}
	}
	return nil
}
