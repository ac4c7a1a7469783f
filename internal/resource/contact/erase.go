package contact

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Erasing removes a person for good, where deleting only hides one. The rows
// are gone, soft-deleted ones included, and so is every mention of them in the
// event log, in stored answers and in waiting jobs. Each table's Life says what
// erasing does to it.

func eraseOperations() []*op.Op {
	return []*op.Op{
		op.Write(op.Spec{
			Name:    "contacts.erase",
			Summary: "Remove a person from rows, events, stored answers, jobs and search, for good.",
			Description: "Also works on deleted contacts. Opt-ins of the person's addresses are removed too: an " +
				"address without one gets no marketing mail. Customers stay and no longer name the contact. Invoices " +
				"stay and still say whom they billed. Tasks about the contact stay without their title and " +
				"description.",
			Resource: "contacts",
			Doors:    op.AdminDoor,
			Events:   []string{"contact.erased"},
			Example:  `{"id": ` + exampleID + `}`,
		}, eraseContact),
	}
}

// Erased is what an erasure removed or emptied.
type Erased struct {
	ID   id.ID            `json:"id"`
	Rows map[string]int64 `json:"rows" doc:"how many rows of each table were removed or emptied"`
}

type contactErase struct {
	ID id.ID `json:"id" doc:"the contact"`

	erasure life.Erasure
}

// Prepare searches the tables that may be long, outside the transaction.
func (in *contactErase) Prepare(ctx context.Context, c *op.Call) error {
	in.erasure = life.Erasure{Organization: c.Org, Table: contacts.Name(), Person: in.ID}
	return c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := in.findAddresses(ctx, tx, c.Org); err != nil {
			return err
		}
		return in.erasure.Preview(ctx, tx)
	})
}

// findAddresses lists the person's addresses, including deleted ones.
func (in *contactErase) findAddresses(ctx context.Context, tx *db.Tx, org id.ID) (err error) {
	in.erasure.Addresses, err = db.QueryAll[string](ctx, tx, `
		SELECT email_folded FROM contact_emails
		WHERE organization_id = $1 AND contact_id = $2`, org, in.ID)
	return err
}

func eraseContact(ctx context.Context, c *op.Call, in contactErase) (*Erased, error) {
	// The contact is locked, deleted or not: whoever writes below it waits, and then finds nothing. A purged contact
	// has no row to lock, but may have left events.
	if err := db.LockEvenIfDeleted(ctx, c.Tx, contacts.Name(), c.Org, in.ID); err != nil {
		return nil, err
	}
	if err := in.findAddresses(ctx, c.Tx, c.Org); err != nil {
		return nil, err
	}
	rows, err := in.erasure.Run(ctx, c.Tx, c.Now)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fault.NotFound.Say("There is no such contact.")
	}
	out := &Erased{ID: in.ID, Rows: rows}
	return out, c.Emit("contact.erased", in.ID, out)
}

// findMergedContacts adds the contacts that were merged into an erased one: they are the
// same person.
func findMergedContacts(ctx context.Context, tx *db.Tx, e *life.Erasure) error {
	rows, err := db.QueryAll[id.ID](ctx, tx, `
		SELECT id
		FROM contacts
		WHERE organization_id = $1 AND merged_into_id = ANY($2)`, e.Organization, e.RowIDs("contacts"))
	if err != nil {
		return err
	}
	e.AddPersonIDs(rows...)
	return e.AddRowsByID(ctx, tx, "contacts", rows)
}
