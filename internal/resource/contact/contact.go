// Package contact holds the people and organizations that a business talks
// to, and how to reach them: emails, phone numbers and addresses, a file each.
package contact

import (
	"context"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Contact is a person, or an organization without a person.
type Contact struct {
	op.Record
	FirstName        *string       `json:"firstName"`
	MiddleName       *string       `json:"middleName"`
	LastName         *string       `json:"lastName"`
	Prefix           *string       `json:"prefix"`
	Suffix           *string       `json:"suffix"`
	OrganizationName *string       `json:"organizationName"`
	JobTitle         *string       `json:"jobTitle"`
	Birthday         *clock.Date   `json:"birthday"`
	Notes            *string       `json:"notes" max:"10000"`
	Emails           []Email       `json:"emails" db:"-"`
	PhoneNumbers     []PhoneNumber `json:"phoneNumbers" db:"-"`
	Addresses        []Address     `json:"addresses" db:"-"`

	Seq      int64  `json:"-" db:"seq"`
	Search   string `json:"-" db:"search"`
	Children int    `json:"-" db:"children"` // how many rows hang below, so that a get skips empty tables
}

var contacts = db.NewTable[Contact]("contacts", "contact")

// Operations lists everything that can be done with contacts.
func Operations() []*op.Op {
	var all []*op.Op
	for _, part := range [][]*op.Op{contactOperations(), emailOperations(), phoneNumberOperations(), addressOperations(), eraseOperations()} {
		all = append(all, part...)
	}
	return all
}

const exampleID = `"6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`

func contactOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{Name: "contacts.list", Route: "GET /v1/contacts", Summary: "List contacts, newest first.",
			Example: `{"query": "lovelace", "limit": 20}`}, listContacts),
		op.Write(op.Spec{Name: "contacts.create", Route: "POST /v1/contacts", Summary: "Create a contact, with its emails, phone numbers and addresses.",
			Description: "At least one of firstName, lastName and organizationName is needed. A contact has at most 100 emails, 100 phone numbers and 100 addresses.", Errors: []*fault.Kind{EmailExists}, Events: []string{"contact.created"},
			Example: `{"firstName": "Ada", "lastName": "Lovelace", "emails": [{"email": "ada@example.com"}], "phoneNumbers": [{"phoneNumber": "+442079460018"}]}`}, createContact),
		op.Read(op.Spec{Name: "contacts.get", Route: "GET /v1/contacts/{id}", Summary: "Get a contact.",
			Example: `{"id": ` + exampleID + `}`}, getContact),
		op.Write(op.Spec{Name: "contacts.update", Route: "PATCH /v1/contacts/{id}", Summary: "Change fields of a contact.", Events: []string{"contact.updated"},
			Example: `{"id": ` + exampleID + `, "jobTitle": "Countess", "notes": null}`}, updateContact),
		op.Write(op.Spec{Name: "contacts.delete", Route: "DELETE /v1/contacts/{id}", Summary: "Delete a contact.", Events: []string{"contact.deleted"},
			Example: `{"id": ` + exampleID + `}`}, deleteContact),
	}
}

type contactRef struct {
	ID id.ID `path:"id" doc:"the contact"`
}

type contactList struct {
	op.Page
	Query *string `query:"query" max:"200" doc:"part of a name, organization, email or phone number; one or two characters match word beginnings"`
	Email *string `query:"email" doc:"an exact email address"`
	Phone *string `query:"phone" doc:"an exact phone number"`
}

func listContacts(ctx context.Context, c *op.Call, in contactList) (*op.List[Contact], error) {
	w := db.In(c.Org)
	if in.Email != nil {
		w.Among(db.Named{Table: emails.Rows.Name(), Column: "contact_id", Where: "email_folded = ? AND deleted_at IS NULL", Args: []any{db.Fold(*in.Email)}})
	}
	if in.Phone != nil {
		w.Among(db.Named{Table: phoneNumbers.Rows.Name(), Column: "contact_id", Where: "phone_number = ? AND deleted_at IS NULL", Args: []any{canonicalPhone(*in.Phone)}})
	}
	rows, err := contacts.Search(ctx, c.Tx, in.Query, w, in.DB())
	if err != nil {
		return nil, err
	}
	if err := loadChildren(ctx, c, rows); err != nil {
		return nil, err
	}
	return op.ListOf(in.Page, rows), nil
}

type contactCreate struct {
	FirstName        *string     `json:"firstName"`
	MiddleName       *string     `json:"middleName"`
	LastName         *string     `json:"lastName"`
	Prefix           *string     `json:"prefix"`
	Suffix           *string     `json:"suffix"`
	OrganizationName *string     `json:"organizationName"`
	JobTitle         *string     `json:"jobTitle"`
	Birthday         *clock.Date `json:"birthday"`
	Notes            *string     `json:"notes" max:"10000"`

	Emails       []emailFields       `json:"emails" optional:"yes"`
	PhoneNumbers []phoneNumberFields `json:"phoneNumbers" optional:"yes"`
	Addresses    []addressFields     `json:"addresses" optional:"yes"`
}

func (in *contactCreate) Prepare(_ context.Context, c *op.Call) error {
	seen := map[string]bool{}
	for _, e := range in.Emails {
		folded := db.Fold(e.Email)
		if seen[folded] {
			return EmailExists.Say("emails has the address %s twice.", e.Email)
		}
		seen[folded] = true
	}
	tree := unborn(nil, in.Birthday, c.Now)
	if !named(in.FirstName, in.LastName, in.OrganizationName) {
		tree = tree.Add(nameless)
	}
	for i := range in.PhoneNumbers {
		tree = in.PhoneNumbers[i].parse(tree, "phoneNumbers", i)
	}
	tree = onePrimary(tree, "emails", in.Emails, func(e emailFields) *bool { return e.IsPrimary })
	tree = onePrimary(tree, "addresses", in.Addresses, func(a addressFields) *bool { return a.IsPrimary })
	return tree.Fault(fault.Invalid)
}

// unborn refuses a birthday that lies ahead, wherever on earth it is today.
func unborn(tree *fault.Tree, birthday *clock.Date, now clock.Time) *fault.Tree {
	if birthday == nil || !birthday.After(now.Add(24*time.Hour)) {
		return tree
	}
	return tree.At([]any{"birthday"}, "Must not lie in the future")
}

const nameless = "At least one of firstName, lastName and organizationName is required"

func named(parts ...*string) bool {
	for _, p := range parts {
		if p != nil && strings.TrimSpace(*p) != "" {
			return true
		}
	}
	return false
}

func createContact(ctx context.Context, c *op.Call, in contactCreate) (*Contact, error) {
	v := &Contact{Record: c.NewRecord(), FirstName: in.FirstName, MiddleName: in.MiddleName, LastName: in.LastName, Prefix: in.Prefix, Suffix: in.Suffix,
		OrganizationName: in.OrganizationName, JobTitle: in.JobTitle, Birthday: in.Birthday, Notes: in.Notes,
		Emails: []Email{}, PhoneNumbers: []PhoneNumber{}, Addresses: []Address{}}
	for i, f := range in.Emails {
		v.Emails = append(v.Emails, f.row(c, v.ID, primary(f.IsPrimary, i, in.Emails, func(e emailFields) *bool { return e.IsPrimary })))
	}
	for _, f := range in.PhoneNumbers {
		v.PhoneNumbers = append(v.PhoneNumbers, f.row(c, v.ID))
	}
	for i, f := range in.Addresses {
		v.Addresses = append(v.Addresses, f.row(c, v.ID, primary(f.IsPrimary, i, in.Addresses, func(a addressFields) *bool { return a.IsPrimary })))
	}
	v.count()
	if err := contacts.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	for i := range v.Emails {
		if err := emails.Rows.Insert(ctx, c.Tx, &v.Emails[i]); err != nil {
			return nil, err
		}
	}
	for i := range v.PhoneNumbers {
		if err := phoneNumbers.Rows.Insert(ctx, c.Tx, &v.PhoneNumbers[i]); err != nil {
			return nil, err
		}
	}
	for i := range v.Addresses {
		if err := addresses.Rows.Insert(ctx, c.Tx, &v.Addresses[i]); err != nil {
			return nil, err
		}
	}
	db.Index(c.Tx, contacts.Name(), v.Seq, v.Search)
	return v, c.Emit("contact.created", v.ID, v)
}

func getContact(ctx context.Context, c *op.Call, in contactRef) (*Contact, error) {
	v, err := contacts.Get(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	return v, v.load(ctx, c)
}

type contactUpdate struct {
	ID               id.ID              `path:"id" doc:"the contact"`
	FirstName        op.Opt[string]     `json:"firstName"`
	MiddleName       op.Opt[string]     `json:"middleName"`
	LastName         op.Opt[string]     `json:"lastName"`
	Prefix           op.Opt[string]     `json:"prefix"`
	Suffix           op.Opt[string]     `json:"suffix"`
	OrganizationName op.Opt[string]     `json:"organizationName"`
	JobTitle         op.Opt[string]     `json:"jobTitle"`
	Birthday         op.Opt[clock.Date] `json:"birthday"`
	Notes            op.Opt[string]     `json:"notes" max:"10000"`
}

func (in *contactUpdate) Prepare(_ context.Context, c *op.Call) error {
	return unborn(nil, in.Birthday.Ptr(), c.Now).Fault(fault.Invalid)
}

func updateContact(ctx context.Context, c *op.Call, in contactUpdate) (*Contact, error) {
	v, err := contacts.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if err := v.load(ctx, c); err != nil {
		return nil, err
	}
	if !op.Apply(v, &in) {
		return v, nil
	}
	if (in.FirstName.Set || in.LastName.Set || in.OrganizationName.Set) && !named(v.FirstName, v.LastName, v.OrganizationName) {
		return nil, fault.At(nil, nameless)
	}
	v.UpdatedAt = c.Now
	if err := v.save(ctx, c); err != nil {
		return nil, err
	}
	return v, c.Emit("contact.updated", v.ID, v)
}

func deleteContact(ctx context.Context, c *op.Call, in contactRef) (op.Nothing, error) {
	v, err := contacts.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return op.Nothing{}, err
	}
	if err := v.load(ctx, c); err != nil {
		return op.Nothing{}, err
	}
	if _, err := contacts.Remove(ctx, c.Tx, c.Org, v.ID, c.Now); err != nil {
		return op.Nothing{}, err
	}
	if v.Children > 0 {
		for _, table := range []string{emails.Rows.Name(), phoneNumbers.Rows.Name(), addresses.Rows.Name()} {
			if _, err := db.Exec(ctx, c.Tx, "UPDATE "+table+" SET deleted_at = $3, updated_at = $3 WHERE organization_id = $1 AND contact_id = $2 AND deleted_at IS NULL",
				c.Org, v.ID, c.Now); err != nil {
				return op.Nothing{}, err
			}
		}
	}
	db.Index(c.Tx, contacts.Name(), v.Seq, "")
	v.DeletedAt, v.UpdatedAt = &c.Now, c.Now
	return op.Nothing{}, c.Emit("contact.deleted", v.ID, v)
}
