package message

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// The roles that an address gives.
const (
	roleFrom = "from"
	roleTo   = "to"
	roleCC   = "cc"
	roleBCC  = "bcc"
)

// MessageContact says what a contact has to do with a message. Links by
// address come about by themselves when a message is written or received.
type MessageContact struct {
	op.Record
	MessageID id.ID  `json:"messageId"`
	ContactID id.ID  `json:"contactId"`
	Role      string `json:"role" enum:"from,to,cc,bcc,mentioned"`

	Linked bool `json:"-" db:"linked"`
}

var contacts = op.Nested[MessageContact]{Rows: db.NewTable[MessageContact]("message_contacts", "contact of the message"), Parent: "messages", Noun: "message", Column: "message_id"}

// ContactExists refuses to link a contact twice in one role.
var ContactExists = fault.Define("MESSAGE_CONTACT_EXISTS", 409, "The contact is linked to the message in this role already.")

func contactOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{Name: "messages.contacts.list", Route: "GET /v1/messages/{id}/contacts", Summary: "List the contacts of a message, newest first.",
			Example: `{` + exampleID + `}`}, listContacts),
		op.Write(op.Spec{Name: "messages.contacts.create", Route: "POST /v1/messages/{id}/contacts", Summary: "Link a contact to a message.",
			Description: "Contacts with an address of the message are linked without being asked.",
			Errors:      []*fault.Kind{ContactExists}, Events: []string{"message.contact.created"},
			Example: `{` + exampleID + `, "contactId": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "role": "mentioned"}`}, addContact),
		op.Write(op.Spec{Name: "messages.contacts.delete", Route: "DELETE /v1/messages/{id}/contacts/{messageContactId}", Summary: "Take a contact from a message.",
			Description: "messageContactId is the id of the link, not of the contact.", Events: []string{"message.contact.deleted"},
			Example: `{` + exampleID + `, "messageContactId": "1d3c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`}, removeContact),
	}
}

type contactList struct {
	op.Page
	messageRef
}

func listContacts(ctx context.Context, c *op.Call, in contactList) (*op.List[MessageContact], error) {
	return contacts.List(ctx, c, in.ID, in.Page)
}

type contactAdd struct {
	messageRef
	ContactID id.ID  `json:"contactId" ref:"contacts"`
	Role      string `json:"role" default:"mentioned" enum:"from,to,cc,bcc,mentioned"`
}

func addContact(ctx context.Context, c *op.Call, in contactAdd) (*MessageContact, error) {
	if err := contacts.Lock(ctx, c, in.ID); err != nil {
		return nil, err
	}
	if err := op.References(ctx, c, op.Ref{Field: "contactId", Table: "contacts", ID: &in.ContactID}); err != nil {
		return nil, err
	}
	v := &MessageContact{Record: c.NewRecord(), MessageID: in.ID, ContactID: in.ContactID, Role: in.Role}
	free, err := contacts.Rows.TryInsert(ctx, c.Tx, v)
	if err != nil {
		return nil, err
	}
	if !free {
		return nil, ContactExists.New()
	}
	return v, c.Emit("message.contact.created", v.ID, v)
}

type contactRef struct {
	messageRef
	MessageContactID id.ID `path:"messageContactId" doc:"the link"`
}

func removeContact(ctx context.Context, c *op.Call, in contactRef) (op.Nothing, error) {
	v, err := contacts.Remove(ctx, c, in.ID, in.MessageContactID)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("message.contact.deleted", v.ID, v)
}

// Link links the contacts that have an address of the message. The message is
// new, or held.
func Link(ctx context.Context, tx *db.Tx, v *Message) error {
	roles := map[string][]string{} // by folded address
	var folded []string
	note := func(role string, list ...string) {
		for _, a := range list {
			for _, f := range op.Spellings(a) {
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
	type row struct {
		ContactID id.ID  `db:"contact_id"`
		Folded    string `db:"email_folded"`
	}
	rows, err := db.All[row](ctx, tx, `SELECT e.contact_id, e.email_folded FROM contact_emails e JOIN contacts c ON c.organization_id = e.organization_id AND c.id = e.contact_id
		WHERE e.organization_id = $1 AND e.email_folded = ANY($2) AND e.deleted_at IS NULL AND c.deleted_at IS NULL ORDER BY e.seq LIMIT 1000`, v.OrganizationID, folded)
	if err != nil {
		return err
	}
	for _, r := range rows {
		for _, role := range roles[r.Folded] {
			link := &MessageContact{Record: op.Record{ID: id.New(), CreatedAt: v.UpdatedAt, UpdatedAt: v.UpdatedAt, OrganizationID: v.OrganizationID},
				MessageID: v.ID, ContactID: r.ContactID, Role: role, Linked: true}
			if _, err := contacts.Rows.TryInsert(ctx, tx, link); err != nil {
				return err
			}
		}
	}
	return nil
}

// relink follows a change of a draft's addresses; what a caller linked stays.
func relink(ctx context.Context, c *op.Call, v *Message) error {
	if _, err := db.Exec(ctx, c.Tx, "DELETE FROM message_contacts WHERE organization_id = $1 AND message_id = $2 AND linked AND deleted_at IS NULL", c.Org, v.ID); err != nil {
		return err
	}
	return Link(ctx, c.Tx, v)
}
