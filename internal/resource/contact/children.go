package contact

import (
	"context"
	"fmt"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// maxChildren bounds each kind of row below a contact. The contact's answer
// carries them all, and every change to one reads them all.
const maxChildren = 100

// checkChildLimit refuses another row below a contact that has reached maxChildren, and
// returns how many there are.
func checkChildLimit[T any](ctx context.Context, c *op.Call, n op.Nested[T], contact id.ID) (there int, err error) {
	there, err = n.Rows.Count(ctx, c.Tx, n.WhereParent(c, contact))
	if err == nil && there >= maxChildren {
		err = fault.AtPath(nil, fmt.Sprintf("The contact already has %d of these, the maximum; remove one first",
			there))
	}
	return there, err
}

// fillChildren fills in the contact's children.
func (v *Contact) fillChildren(ctx context.Context, c *op.Call) error {
	one := []Contact{*v}
	if err := loadChildren(ctx, c, one); err != nil {
		return err
	}
	*v = one[0]
	return nil
}

// loadChildren fills in the children of a page of contacts: one statement per
// table, and none when no contact has children.
func loadChildren(ctx context.Context, c *op.Call, rows []Contact) error {
	at := map[id.ID]*Contact{}
	var parents []id.ID
	for i := range rows {
		v := &rows[i]
		v.Emails, v.PhoneNumbers, v.Addresses = []Email{}, []PhoneNumber{}, []Address{}
		if v.Children > 0 {
			at[v.ID] = v
			parents = append(parents, v.ID)
		}
	}
	if len(parents) == 0 {
		return nil
	}
	es, err := listChildrenOf(ctx, c, emails.Nested, parents)
	if err != nil {
		return err
	}
	for _, e := range es {
		at[e.ContactID].Emails = append(at[e.ContactID].Emails, e)
	}
	ps, err := listChildrenOf(ctx, c, phoneNumbers, parents)
	if err != nil {
		return err
	}
	for _, p := range ps {
		at[p.ContactID].PhoneNumbers = append(at[p.ContactID].PhoneNumbers, p)
	}
	as, err := listChildrenOf(ctx, c, addresses.Nested, parents)
	if err != nil {
		return err
	}
	for _, a := range as {
		at[a.ContactID].Addresses = append(at[a.ContactID].Addresses, a)
	}
	return nil
}

// listChildrenOf lists the rows of one table under several contacts, oldest first.
func listChildrenOf[T any](ctx context.Context, c *op.Call, n op.Nested[T], parents []id.ID) ([]T, error) {
	return db.QueryAll[T](ctx, c.Tx, "SELECT "+n.Rows.Columns()+" FROM "+n.Rows.Name()+
		` WHERE organization_id = $1 AND contact_id = ANY($2) AND deleted_at IS NULL
			ORDER BY created_at, seq`, c.Org, parents)
}

// summarizeChildren refreshes what the contact's row keeps about its children: how many
// there are, and the search text with their emails and numbers.
func (v *Contact) summarizeChildren() {
	v.Children = len(v.Emails) + len(v.PhoneNumbers) + len(v.Addresses)
	words := []*string{v.FirstName, v.MiddleName, v.LastName, v.OrganizationName}
	for i := range v.Emails {
		words = append(words, &v.Emails[i].Email)
	}
	for i := range v.PhoneNumbers {
		words = append(words, &v.PhoneNumbers[i].PhoneNumber)
	}
	v.Search = db.SearchText(words...)
}

// saveAndIndex summarizes the children in the contact, and writes it back.
func (v *Contact) saveAndIndex(ctx context.Context, c *op.Call) error {
	v.summarizeChildren()
	return contacts.Save(ctx, c.Tx, v)
}

// refreshContact brings the contact's row up to date after its children changed. The
// caller has locked the contact.
func refreshContact(ctx context.Context, c *op.Call, contact id.ID) error {
	v, err := contacts.Get(ctx, c.Tx, c.Org, contact)
	if err != nil {
		return err
	}
	return v.reloadAndSave(ctx, c)
}

// reloadAndSave loads the children anew and saves what the contact's row keeps of them.
func (v *Contact) reloadAndSave(ctx context.Context, c *op.Call) error {
	v.UpdatedAt = c.Now
	v.Children = 1 // otherwise they would not be loaded if there were none before
	if err := v.fillChildren(ctx, c); err != nil {
		return err
	}
	return v.saveAndIndex(ctx, c)
}
