package contact

import (
	"context"
	"slices"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// EmailShared refuses to choose between contacts that have the same address.
var EmailShared = fault.DefineKind("CONTACT_EMAIL_SHARED", 409,
	"Several contacts have this address. Change the one you mean by its id, or merge them.")

func putOperations() []*op.Op {
	return []*op.Op{
		op.Write(op.Spec{
			Name:    "contacts.put_by_email",
			Words:   "upsert, make or change, create or change, add or update",
			Route:   "PUT /v1/contacts/by-email/{address}",
			Summary: "Create or change the contact with an email address.",
			Description: "Changes the fields that are sent, like PATCH, and keeps the rest. Without a contact that " +
				"has " +
				"the address it creates one, which needs a name, and answers 201. Several at once create one contact.",
			MayCreate: true,
			Errors:    []*fault.Kind{EmailShared, op.ExternalIDTaken},
			Events:    []string{"contact.created", "contact.updated"},
			Example: `{"address": "ada@example.com", "firstName": "Ada", "lastName": "Lovelace", ` +
				`"tags": ["newsletter"]}`,
		}, putByEmail),
	}
}

type contactPut struct {
	Address string `path:"address" format:"email"`
	contactChanges
}

// putByEmail updates the contact that has the address, or creates one. It refuses to
// choose between several.
func putByEmail(ctx context.Context, c *op.Call, in contactPut) (*Contact, error) {
	// Two calls at once with a new address must create one contact, not two: they take turns by this lock.
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return nil, db.AsNotFound(err, "organization")
	}
	for {
		holders, err := HoldersOf(ctx, c.Tx, c.Org, op.EmailSpellings(in.Address))
		if err != nil {
			return nil, err
		}
		var found []id.ID
		for _, h := range holders {
			if !slices.Contains(found, h.ContactID) {
				found = append(found, h.ContactID)
			}
		}
		switch len(found) {
		case 0:
			return in.createFromPut(ctx, c)
		case 1:
			v, err := updateContact(ctx, c, contactUpdate{contactRef{found[0]}, in.contactChanges})
			if fault.IsKind(err, fault.NotFound) {
				continue // it was deleted before it was locked
			}
			return v, err
		}
		refusal := EmailShared.New()
		refusal.Details = map[string][]id.ID{"contactIds": found[:min(len(found), 100)]}
		return nil, refusal
	}
}

func (in *contactPut) createFromPut(ctx context.Context, c *op.Call) (*Contact, error) {
	if !hasAnyName(in.To.FirstName, in.To.LastName, in.To.OrganizationName) {
		return nil, fault.AtPath(nil, nameRequired)
	}
	c.MarkCreated()
	email := emailFields{emailAddress: emailAddress{Email: in.Address}}
	return createContact(ctx, c, contactCreate{Fields: in.WithDefaults(), Emails: []emailFields{email}})
}
