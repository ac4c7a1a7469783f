package message

import (
	"context"
	"errors"
	"slices"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/contact"
)

// The roles that follow from an address.
const (
	roleFrom = "from"
	roleTo   = "to"
	roleCC   = "cc"
	roleBCC  = "bcc"
)

// MessageContact is the role of a contact in a message. Links by address are
// created whenever a message is written or received.
type MessageContact struct {
	op.Record
	MessageID id.ID  `json:"messageId"`
	ContactID id.ID  `json:"contactId"`
	Role      string `json:"role" enum:"from,to,cc,bcc,mentioned"`

	Linked bool `json:"-" db:"linked"` // by address, not by a caller; relinkContacts replaces only these
}

var messageContacts = op.NewNested[MessageContact]("message_contacts", db.Life{
	Noun:         "contact of the message",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("message_id", "messages", db.EndsAtPurge),
	Refs:         []db.Ref{db.RefTo("contact_id", "contacts", db.Ends)},
	MergeRules: []db.MergeRule{{Where: `EXISTS (SELECT 1 FROM message_contacts k
		WHERE k.organization_id = $1 AND k.message_id = message_contacts.message_id AND k.contact_id = $3
			AND k.role = message_contacts.role AND k.deleted_at IS NULL)`}},
})

// ContactExists refuses to link a contact twice in the same role.
var ContactExists = fault.DefineKind("MESSAGE_CONTACT_EXISTS", 409,
	"The contact is already linked to the message in this role.")

func messageContactOperations() []*op.Op {
	return []*op.Op{
		op.ListChildren(op.Spec{Name: "messages.contacts.list", NounWords: "belong, recipient"}, messageContacts),
		op.Write(op.Spec{
			Name:        "messages.contacts.create",
			Words:       "connect, link, belong",
			Route:       "POST /v1/messages/{id}/contacts",
			Summary:     "Link a contact to a message.",
			Description: "Contacts with an address of the message are linked automatically.",
			Errors:      []*fault.Kind{ContactExists},
			Events:      []string{"message.contact.created"},
			Example: `{` + exampleID +
				`, "contactId": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "role": "mentioned"}`,
		}, addMessageContact),
		op.DeleteChild(op.Spec{
			Name:        "messages.contacts.delete",
			Route:       "DELETE /v1/messages/{id}/contacts/{messageContactId}",
			Summary:     "Unlink a contact from a message.",
			Description: "messageContactId is the id of the link, not of the contact.",
			Events:      []string{"message.contact.deleted"},
		}, messageContacts, func(ctx context.Context, c *op.Call, v *MessageContact) error {
			return recountMessages(ctx, c.Tx, c.Org, v.ContactID)
		}),
	}
}

type contactAdd struct {
	messageRef
	ContactID id.ID  `json:"contactId" ref:"contacts"`
	Role      string `json:"role" default:"mentioned" enum:"from,to,cc,bcc,mentioned"`
}

func addMessageContact(ctx context.Context, c *op.Call, in contactAdd) (*MessageContact, error) {
	// The contact before the message, and not shared: its times change.
	if err := contact.LockForMessage(ctx, c.Tx, c.Org, []id.ID{in.ContactID}); err != nil {
		return nil, err
	}
	if err := messageContacts.LockParent(ctx, c, in.ID); err != nil {
		return nil, err
	}
	if err := op.LockReferences(ctx, c, op.FieldRef{Field: "contactId", Table: "contacts",
		ID: &in.ContactID}); err != nil {
		return nil, err
	}
	v := &MessageContact{Record: c.NewRecord(), MessageID: in.ID, ContactID: in.ContactID, Role: in.Role}
	free, err := messageContacts.Rows.TryInsert(ctx, c.Tx, v)
	if err != nil {
		return nil, err
	}
	if !free {
		return nil, ContactExists.New()
	}
	if err := recountMessages(ctx, c.Tx, c.Org, in.ContactID); err != nil {
		return nil, err
	}
	return v, c.Emit("message.contact.created", v.ID, v)
}

// linkContacts links the contacts that have an address of the message. It
// returns the contact that an inbound message is from, or that an outbound one
// names first in to; nil if there is none. The message must be new or locked.
func linkContacts(ctx context.Context, tx *db.Tx, v *Message) (with *id.ID, err error) {
	roles := map[string][]string{} // by folded address
	var folded []string
	note := func(role string, list ...string) {
		for _, a := range list {
			for _, f := range op.EmailSpellings(a) {
				if roles[f] == nil {
					folded = append(folded, f)
				}
				roles[f] = append(roles[f], role)
			}
		}
	}
	if v.Direction == Inbound {
		note(roleFrom, v.From)
	}
	note(roleTo, v.To...)
	note(roleCC, v.CC...)
	note(roleBCC, v.BCC...)
	holders, err := contact.HoldersOf(ctx, tx, v.OrganizationID, folded)
	if err != nil {
		return nil, err
	}
	var counted []id.ID // those who wrote it, or whom it goes to
	if v.reachesContacts() {
		for _, h := range holders {
			if slices.ContainsFunc(roles[h.Folded], func(role string) bool { return countsFor(v.Direction, role) }) {
				counted = append(counted, h.ContactID)
			}
		}
		if err := contact.LockForMessage(ctx, tx, v.OrganizationID, counted); err != nil {
			return nil, err
		}
		if err := contact.NoteMessage(ctx, tx, v.OrganizationID, counted, v.Direction == Inbound,
			v.CreatedAt); err != nil {
			return nil, err
		}
	}
	for _, h := range holders {
		for _, role := range roles[h.Folded] {
			link := &MessageContact{Record: v.newChildRecord(), MessageID: v.ID, ContactID: h.ContactID, Role: role,
				Linked: true}
			if _, err := messageContacts.Rows.TryInsert(ctx, tx, link); err != nil {
				return nil, err
			}
		}
	}
	other := v.From
	if v.Direction == Outbound {
		other = v.To[0]
	}
	at := slices.IndexFunc(holders, func(h contact.Holder) bool { return matchesAnyAddress(other, []string{h.Folded}) })
	if at < 0 {
		return nil, nil
	}
	// The thread will name this contact. It is locked, so that a deletion at the same moment waits and then clears
	// the reference.
	err = db.LockShared(ctx, tx, "contacts", v.OrganizationID, holders[at].ContactID)
	if errors.Is(err, db.ErrNoRow) {
		return nil, nil
	}
	return &holders[at].ContactID, err
}

// relinkContacts follows a change of a draft's addresses. Links made by a
// caller stay.
func relinkContacts(ctx context.Context, c *op.Call, v *Message) (with *id.ID, err error) {
	_, err = db.Exec(ctx, c.Tx, `
		DELETE FROM message_contacts
		WHERE organization_id = $1 AND message_id = $2 AND linked AND deleted_at IS NULL`,
		c.Org, v.ID)
	if err != nil {
		return nil, err
	}
	return linkContacts(ctx, c.Tx, v)
}

// LinkedContact is a contact and its role in a message.
type LinkedContact struct {
	Role string `json:"role" enum:"from,to,cc,bcc,mentioned"`
	contact.Contact
}

// fillLinkedContacts puts the linked contacts into a page of messages, by one statement
// for the links and those of contact.LoadShown. Each message shows at most 50, so
// that a mail with very many recipients does not swell the answer.
func fillLinkedContacts(ctx context.Context, c *op.Call, rows []Message) error {
	if err := c.RequirePermission("contacts", op.ActionRead, "include=contacts"); err != nil {
		return err
	}
	at, ids := map[id.ID]*[]LinkedContact{}, []id.ID{}
	for i := range rows {
		rows[i].Contacts = &[]LinkedContact{}
		at[rows[i].ID] = rows[i].Contacts
		ids = append(ids, rows[i].ID)
	}
	type link struct {
		Message id.ID  `db:"message_id"`
		Contact id.ID  `db:"contact_id"`
		Role    string `db:"role"`
	}
	links, err := db.QueryAll[link](ctx, c.Tx, `
		SELECT message_id, contact_id, role
		FROM (SELECT seq, message_id, contact_id, role, row_number() OVER (PARTITION BY message_id ORDER BY seq) AS nth
			FROM message_contacts
			WHERE organization_id = $1 AND message_id = ANY($2) AND deleted_at IS NULL) AS numbered
		WHERE nth <= 50
		ORDER BY seq`, c.Org, ids)
	if err != nil {
		return err
	}
	wanted := make([]id.ID, len(links))
	for i, l := range links {
		wanted[i] = l.Contact
	}
	found, err := contact.LoadShown(ctx, c, wanted)
	if err != nil {
		return err
	}
	for _, l := range links {
		if who, ok := found[l.Contact]; ok {
			*at[l.Message] = append(*at[l.Message], LinkedContact{l.Role, who})
		}
	}
	return nil
}
