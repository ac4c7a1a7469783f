package contact

import (
	"context"
	"fmt"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// maxChildren bounds each kind of row below a contact: its answer carries them
// all, and every change of one reads them.
const maxChildren = 100

// room refuses one more row below a contact that has as many as it can.
func room[T any](ctx context.Context, c *op.Call, n op.Nested[T], contact id.ID) (there int, err error) {
	there, err = n.Rows.Count(ctx, c.Tx, n.Under(c, contact))
	if err == nil && there >= maxChildren {
		err = fault.At(nil, fmt.Sprintf("The contact has %d of these, as many as it can have; remove one first", there))
	}
	return there, err
}

// load fills in what hangs below the contact.
func (v *Contact) load(ctx context.Context, c *op.Call) error {
	one := []Contact{*v}
	if err := loadChildren(ctx, c, one); err != nil {
		return err
	}
	*v = one[0]
	return nil
}

// loadChildren fills in what hangs below a page of contacts: one statement per
// table, and none when nothing does.
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
	es, err := below(ctx, c, emails.Nested, parents)
	if err != nil {
		return err
	}
	for _, e := range es {
		at[e.ContactID].Emails = append(at[e.ContactID].Emails, e)
	}
	ps, err := below(ctx, c, phoneNumbers, parents)
	if err != nil {
		return err
	}
	for _, p := range ps {
		at[p.ContactID].PhoneNumbers = append(at[p.ContactID].PhoneNumbers, p)
	}
	as, err := below(ctx, c, addresses.Nested, parents)
	if err != nil {
		return err
	}
	for _, a := range as {
		at[a.ContactID].Addresses = append(at[a.ContactID].Addresses, a)
	}
	return nil
}

// below lists the rows of one table under several contacts, oldest first.
func below[T any](ctx context.Context, c *op.Call, n op.Nested[T], parents []id.ID) ([]T, error) {
	return db.All[T](ctx, c.Tx, "SELECT "+n.Rows.Columns()+" FROM "+n.Rows.Name()+
		" WHERE organization_id = $1 AND contact_id = ANY($2) AND deleted_at IS NULL ORDER BY created_at, seq", c.Org, parents)
}

// count refreshes what the contact knows of its children: how many, and the
// words it is found by.
func (v *Contact) count() {
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

// save writes the contact back and keeps the search index true.
func (v *Contact) save(ctx context.Context, c *op.Call) error {
	before := v.Search
	v.count()
	if v.Search != before {
		db.Index(c.Tx, contacts.Name(), v.Seq, v.Search)
	}
	return contacts.Save(ctx, c.Tx, v)
}

// refresh follows a change of the contact's children. The contact is locked.
func refresh(ctx context.Context, c *op.Call, contact id.ID) error {
	v, err := contacts.Get(ctx, c.Tx, c.Org, contact)
	if err != nil {
		return err
	}
	v.Children = 1 // there may be some now: look
	if err := v.load(ctx, c); err != nil {
		return err
	}
	return v.save(ctx, c)
}
