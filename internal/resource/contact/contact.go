// Package contact holds the people and organizations that a business talks to,
// and how to reach them.
//
// Start reading at phone.go, the simplest noun and the example in CONTRIBUTING,
// then at Contact in this file. Emails, phone numbers, addresses and notes are
// tables of their own, with a file each; children.go loads the first three into
// the contact and keeps its search text current, and primary.go sees to it that
// one email and one address is primary. put.go creates or updates by email.
// last_message.go has when they last wrote and were written to.
// duplicate.go finds contacts that may be the same, merge.go makes two of them
// one, and unmerge.go takes that back. erase.go removes a person for good.
// find.go and reach.go are for other packages.
//
// Every change below a contact locks the contact first. Nothing here sends or
// knows messages.
package contact

import (
	"context"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/property"
)

// Fields are what callers set of a contact; its emails, numbers and addresses are rows of their own.
type Fields struct {
	FirstName        *string     `json:"firstName"`
	MiddleName       *string     `json:"middleName"`
	LastName         *string     `json:"lastName"`
	Prefix           *string     `json:"prefix" doc:"before the name: Dr."`
	Suffix           *string     `json:"suffix" doc:"after the name: Jr."`
	OrganizationName *string     `json:"organizationName"`
	JobTitle         *string     `json:"jobTitle"`
	Birthday         *clock.Date `json:"birthday"`
	Notes            *string     `json:"notes" max:"10000"`
	ExternalID       *string     `json:"externalId" min:"1" doc:"what another system calls it; unique"`
	Tags             []string    `json:"tags" optional:"yes" max:"50" itemMax:"64" doc:"a change replaces all"`
}

// Contact is a person, or an organization without a person.
type Contact struct {
	op.Record
	Fields
	LastMessages
	Emails       []Email       `json:"emails" db:"-" csv:"email"`
	PhoneNumbers []PhoneNumber `json:"phoneNumbers" db:"-" csv:"phoneNumber"`
	Addresses    []Address     `json:"addresses" db:"-" csv:"line1,line2,postalCode,city,state,country"`

	Properties *[]property.Property `json:"properties,omitzero" db:"-" max:"10000" doc:"with include=properties"`

	Seq      int64  `json:"-" db:"seq"`
	Search   string `json:"-" db:"search"`
	Children int    `json:"-" db:"children"` // emails, numbers and addresses; at 0, a get need not look for any
	// MergedInto is the contact that a deleted one became part of.
	MergedInto *id.ID `json:"-" db:"merged_into_id"`
}

var contacts = db.NewTable[Contact]("contacts", db.Life{
	Noun:         "contact",
	Counterparty: true,
	ExternalText: db.NoExternalText,
	Refs:         []db.Ref{db.RefTo("merged_into_id", "contacts", db.Keeps)},
	Erase:        life.Erase{}.AlsoFind(findMergedContacts),
	Unexported:   []string{"children"},
})

var tags = op.TagTable{
	Table:  db.Declare("contact_tags", db.Life{Parent: db.RefTo("contact_id", "contacts")}),
	Column: "contact_id",
}

// InvalidID refuses a contact id that is none.
var InvalidID = fault.DefineKind("INVALID_CONTACT_ID", 400, "The contact id is not a UUID.")

// Operations lists everything that can be done with contacts.
func Operations() []*op.Op {
	return slices.Concat(op.WithExport(op.WithBatch(contactOperations())), emailOperations(), phoneNumberOperations(),
		addressOperations(), noteOperations(), putOperations(), duplicateOperations(), mergeOperations(),
		unmergeOperations(), eraseOperations())
}

const exampleID = `"6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`

func contactOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{
			Name: "contacts.list",
			NounWords: "person, somebody, someone, man, woman, lady, friend, supplier, lead, address book, he, " +
				"she, his, her, him, named, acquaintance",
			Words:   "anyone, anybody, know, detail, company, who is, anyone called, person called",
			Route:   "GET /v1/contacts",
			Summary: "List contacts, newest first.",
			Example: `{"query": "lovelace", "limit": 20}`,
		}, listContacts),
		op.Write(op.Spec{
			Name:    "contacts.create",
			Words:   "meet, met, business card, introduce, met today",
			Route:   "POST /v1/contacts",
			Summary: "Create a contact, with its emails, phone numbers and addresses.",
			Description: "At least one of firstName, lastName and organizationName is needed. A contact has at most " +
				"100 emails, 100 phone numbers and 100 addresses.",
			Errors: []*fault.Kind{EmailExists, op.ExternalIDTaken},
			Events: []string{"contact.created"},
			Example: `{"firstName": "Ada", "lastName": "Lovelace", "emails": [{"email": "ada@example.com"}], ` +
				`"phoneNumbers": [{"phoneNumber": "+442079460018"}]}`,
			FieldExceptions: []string{"emails", "phoneNumbers", "addresses"}, // nouns of their own afterwards
		}, createContact),
		op.Read(op.Spec{
			Name:    "contacts.get",
			Words:   "know, everything about, all about, details of",
			Route:   "GET /v1/contacts/{id}",
			Summary: "Get a contact.",
			Example: `{"id": ` + exampleID + `}`,
		}, getContact),
		op.Write(op.Spec{
			Name: "contacts.update",
			Words: "surname, married, maiden, birthday, job, promote, position, nickname, spelling, misspelled, " +
				"retired, company changed",
			Route:   "PATCH /v1/contacts/{id}",
			Summary: "Change fields of a contact.",
			Errors:  []*fault.Kind{op.ExternalIDTaken},
			Events:  []string{"contact.updated"},
			Example: `{"id": ` + exampleID + `, "jobTitle": "Countess", "notes": null}`,
		}, updateContact),
		op.Write(op.Spec{
			Name:    "contacts.delete",
			Words:   "take out, forget, get rid, cross out",
			Route:   "DELETE /v1/contacts/{id}",
			Summary: "Delete a contact.",
			Events:  []string{"contact.deleted"},
			Example: `{"id": ` + exampleID + `}`,
		}, deleteContact),
		op.RestoreRow("contacts", "contacts", contacts, completeRestored),
	}
}

type contactRef struct {
	ID id.ID `path:"id" doc:"the contact"`
}

type contactList struct {
	op.Browse
	SortBy string  `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt,name"`
	Query  *string `query:"query" max:"200" doc:"part of name, company, email or phone; 1-2 letters match word starts"`
	Email  *string `query:"email" doc:"an exact email address"`
	Phone  *string `query:"phone" doc:"an exact phone number"`

	ExternalID       *string  `query:"externalId"`
	OrganizationName *string  `query:"organizationName" doc:"the whole name of a company"`
	Tag              []string `query:"tag" max:"50" itemMax:"64" doc:"one of these tags"`
	lastMessageFilter
	property.Filter
}

func listContacts(ctx context.Context, c *op.Call, in contactList) (*op.List[Contact], error) {
	w := db.InOrganization(c.Org)
	db.FilterEqual(w, "external_id", in.ExternalID)
	db.FilterEqual(w, "organization_name", in.OrganizationName)
	tags.Filter(w, in.Tag)
	if in.Email != nil {
		w.AmongRows(db.IndexedRows{Table: emails.Rows.Name(), Column: "contact_id",
			Where: "email_folded = ? AND deleted_at IS NULL",
			Args:  []any{db.FoldText(*in.Email)}})
	}
	if in.Phone != nil {
		w.AmongRows(db.IndexedRows{Table: phoneNumbers.Rows.Name(), Column: "contact_id",
			Where: "phone_number = ? AND deleted_at IS NULL", Args: []any{canonicalPhone(*in.Phone)}})
	}
	in.lastMessageFilter.addConditions(w)
	if err := in.Filter.AddCondition(ctx, c, "contact", w); err != nil {
		return nil, err
	}
	q := op.ListQuery{Browse: in.Browse, SortBy: in.SortBy, Query: in.Query}
	list, err := op.BrowseRows(ctx, c, contacts, q, w)
	if err != nil {
		return nil, err
	}
	if err := loadChildren(ctx, c, list.Data); err != nil {
		return nil, err
	}
	return list, property.Fill(ctx, c, in.Include, list.Data, propertiesOf)
}

func propertiesOf(v *Contact) (id.ID, **[]property.Property) { return v.ID, &v.Properties }

type contactCreate struct {
	Fields
	Emails       []emailFields       `json:"emails" optional:"yes"`
	PhoneNumbers []phoneNumberFields `json:"phoneNumbers" optional:"yes"`
	Addresses    []addressFields     `json:"addresses" optional:"yes"`
}

func (in *contactCreate) Prepare(_ context.Context, c *op.Call) error {
	seen := map[string]bool{}
	for _, e := range in.Emails {
		folded := db.FoldText(e.Email)
		if seen[folded] {
			return EmailExists.Say("emails lists the address %s twice.", e.Email)
		}
		seen[folded] = true
	}
	tree := checkBirthday(nil, in.Birthday, c.Now)
	in.Tags, tree = op.NormalizeTags(tree, in.Tags)
	if !hasAnyName(in.FirstName, in.LastName, in.OrganizationName) {
		tree = tree.Add(nameRequired)
	}
	for i := range in.PhoneNumbers {
		tree = in.PhoneNumbers[i].parse(tree, "phoneNumbers", i)
	}
	tree = checkOnePrimary(tree, "emails", in.Emails, func(e emailFields) *bool { return e.IsPrimary })
	tree = checkOnePrimary(tree, "addresses", in.Addresses, func(a addressFields) *bool { return a.IsPrimary })
	return tree.Fault(fault.Invalid)
}

// checkBirthday refuses a birthday that is in the future everywhere on earth.
func checkBirthday(tree *fault.Tree, birthday *clock.Date, now clock.Time) *fault.Tree {
	if birthday == nil || !birthday.After(now.Add(24*time.Hour)) {
		return tree
	}
	return tree.At([]any{"birthday"}, "Must not be in the future")
}

const nameRequired = "At least one of firstName, lastName and organizationName is required"

func hasAnyName(parts ...*string) bool {
	for _, p := range parts {
		if p != nil && strings.TrimSpace(*p) != "" {
			return true
		}
	}
	return false
}

// createContact writes a contact with its children. Only the externalId needs a lock:
// nobody else knows the id of the new contact yet.
func createContact(ctx context.Context, c *op.Call, in contactCreate) (*Contact, error) {
	v := &Contact{Record: c.NewRecord(), Fields: in.Fields, Emails: []Email{},
		PhoneNumbers: []PhoneNumber{}, Addresses: []Address{}}
	for i, f := range in.Emails {
		v.Emails = append(v.Emails,
			f.newRow(c, v.ID, becomesPrimary(f.IsPrimary, i, in.Emails,
				func(e emailFields) *bool { return e.IsPrimary })))
	}
	for _, f := range in.PhoneNumbers {
		v.PhoneNumbers = append(v.PhoneNumbers, f.newRow(c, v.ID))
	}
	for i, f := range in.Addresses {
		v.Addresses = append(v.Addresses,
			f.newRow(c, v.ID, becomesPrimary(f.IsPrimary, i, in.Addresses,
				func(a addressFields) *bool { return a.IsPrimary })))
	}
	v.summarizeChildren()
	if err := op.ReserveExternalID(ctx, c, contacts.Name(), v.ID, v.ExternalID); err != nil {
		return nil, err
	}
	if err := contacts.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	if err := tags.Write(ctx, c, v.ID, nil, v.Tags); err != nil {
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
	return v, c.Emit("contact.created", v.ID, v)
}

type contactGet struct {
	contactRef
	property.Include
}

func getContact(ctx context.Context, c *op.Call, in contactGet) (*Contact, error) {
	v, err := contacts.Get(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if err := v.fillChildren(ctx, c); err != nil {
		return nil, err
	}
	return v, property.FillOne(ctx, c, in.Include, v, propertiesOf)
}

type contactUpdate struct {
	contactRef
	contactChanges
}

// contactChanges are the fields that can be changed.
type contactChanges struct{ op.Changes[Fields] }

func (in *contactChanges) Prepare(_ context.Context, c *op.Call) error {
	tree := checkBirthday(nil, in.To.Birthday, c.Now)
	in.To.Tags, tree = op.NormalizeTags(tree, in.To.Tags)
	return tree.Fault(fault.Invalid)
}

// updateContact changes a contact. The externalId is claimed before the contact is
// locked, because that locks the organization, which comes first.
func updateContact(ctx context.Context, c *op.Call, in contactUpdate) (*Contact, error) {
	if err := op.ReserveExternalID(ctx, c, contacts.Name(), in.ID, in.To.ExternalID); err != nil {
		return nil, err
	}
	v, err := contacts.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if err := v.fillChildren(ctx, c); err != nil {
		return nil, err
	}
	before := v.Tags
	if !op.Apply(v, &in) {
		return v, nil
	}
	if in.Has("firstName", "lastName", "organizationName") && !hasAnyName(v.FirstName, v.LastName, v.OrganizationName) {
		return nil, fault.AtPath(nil, nameRequired)
	}
	v.UpdatedAt = c.Now
	if err := tags.Write(ctx, c, v.ID, before, v.Tags); err != nil {
		return nil, err
	}
	if err := v.saveAndIndex(ctx, c); err != nil {
		return nil, err
	}
	return v, c.Emit("contact.updated", v.ID, v)
}

func deleteContact(ctx context.Context, c *op.Call, in contactRef) (op.Nothing, error) {
	v, err := contacts.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return op.Nothing{}, err
	}
	if err := v.fillChildren(ctx, c); err != nil {
		return op.Nothing{}, err
	}
	if _, err := contacts.SoftDelete(ctx, c.Tx, c.Org, v.ID, c.Now); err != nil {
		return op.Nothing{}, err
	}
	v.DeletedAt, v.UpdatedAt = &c.Now, c.Now
	return op.Nothing{}, c.Emit("contact.deleted", v.ID, v)
}

// completeRestored completes a restored contact. One that had been merged into
// another is no longer a part of it; the records that moved with the merge stay
// where they are, which contacts.unmerge would bring back.
func completeRestored(ctx context.Context, c *op.Call, v *Contact, was bool) error {
	if was && v.MergedInto != nil {
		v.MergedInto = nil
		if err := tags.Write(ctx, c, v.ID, []string{""}, v.Tags); err != nil {
			return err
		}
		if err := contacts.Save(ctx, c.Tx, v); err != nil {
			return err
		}
	}
	return v.fillChildren(ctx, c)
}
