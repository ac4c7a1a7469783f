package contact

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

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
	es, err := below(ctx, c, emails, parents)
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
	as, err := below(ctx, c, addresses, parents)
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

// onePrimary refuses a creation that names several primaries.
func onePrimary[F any](tree *fault.Tree, name string, fields []F, is func(F) *bool) *fault.Tree {
	seen := false
	for i, f := range fields {
		if p := is(f); p != nil && *p {
			if seen {
				tree = tree.At([]any{name, i, "isPrimary"}, "Only one can be primary")
			}
			seen = true
		}
	}
	return tree
}

// primary decides for one of several new rows: the one that says so, else the first.
func primary[F any](wish *bool, i int, all []F, is func(F) *bool) bool {
	for _, f := range all {
		if p := is(f); p != nil && *p {
			return wish != nil && *wish
		}
	}
	return i == 0
}

// unsetPrimary makes room for another primary row of the contact.
func unsetPrimary[T any](ctx context.Context, c *op.Call, n op.Nested[T], contact id.ID) error {
	_, err := db.Exec(ctx, c.Tx, "UPDATE "+n.Rows.Name()+" SET is_primary = FALSE, updated_at = $3 WHERE organization_id = $1 AND contact_id = $2 AND is_primary AND deleted_at IS NULL",
		c.Org, contact, c.Now)
	return err
}

// promote makes the oldest remaining row primary when the primary one went.
func promote[T any](ctx context.Context, c *op.Call, n op.Nested[T], contact id.ID) error {
	table := n.Rows.Name()
	_, err := db.Exec(ctx, c.Tx, "UPDATE "+table+" SET is_primary = TRUE, updated_at = $3 WHERE organization_id = $1 AND seq = (SELECT min(seq) FROM "+table+
		" WHERE organization_id = $1 AND contact_id = $2 AND deleted_at IS NULL)", c.Org, contact, c.Now)
	return err
}
