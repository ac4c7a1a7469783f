package domain

import (
	"context"
	"errors"
	"slices"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/contact"
)

// DomainContact is a registrant that registrations can share.
type DomainContact struct {
	op.Record
	contactFields
}

// contactFields are what callers set of a domain contact.
type contactFields struct {
	Label *string `json:"label" doc:"kept here alone"`
	Registrant
}

var domainContacts = db.NewTable[DomainContact]("domain_contacts", db.Life{
	Noun:      "domain contact",
	Strangers: db.NobodyOutside,
})

// What registrants are refused with.
var (
	ContactInUse         = fault.Define("DOMAIN_CONTACT_IN_USE", 409, "A registered domain uses this contact.")
	OrganizationRequired = fault.Define("CONTACT_ORGANIZATION_REQUIRED", 422,
		"This ending needs the contact's organizationName and jobTitle.")
)

func (d *Domains) contactOperations() []*op.Op {
	const ref = `"id": "c1a9e6d2-5f3b-4e8a-9d7c-6b5a4f3e2d10"`
	changes := []*fault.Kind{OrganizationRequired, TransferInFlight, Unsupported}
	return []*op.Op{
		op.ListRows(op.Spec{
			Name:     "domain_contacts.list",
			Summary:  "List saved registrants, newest first.",
			Resource: "domains",
		}, domainContacts, op.Unfiltered[contactList]),
		op.Write(op.Spec{
			Name:     "domain_contacts.create",
			Route:    "POST /v1/domain-contacts",
			Summary:  "Save a registrant for later registrations.",
			Resource: "domains",
			Events:   []string{"domain_contact.created"},
			Example:  `{"label": "Head office", ` + exampleRegistrant + `}`,
		}, createContact),
		op.GetRow(op.Spec{
			Name:     "domain_contacts.get",
			Summary:  "Get a saved registrant.",
			Resource: "domains",
		}, domainContacts),
		op.Flow(op.Spec{
			Name:      "domain_contacts.update",
			Rehearses: true,
			Route:     "PATCH /v1/domain-contacts/{id}",
			Summary:   "Change a registrant, at the registrar too.",
			Description: "A new name, organization or email makes the registrar verify the registrant of every " +
				"domain that uses the contact again.",
			Resource: "domains",
			Errors:   changes,
			Events:   []string{"domain_contact.updated"},
			Example:  `{` + ref + `, "phone": "+442079460019"}`,
		}, d.updateContact),
		op.Write(op.Spec{
			Name:     "domain_contacts.delete",
			Route:    "DELETE /v1/domain-contacts/{id}",
			Summary:  "Delete a registrant that no domain uses.",
			Resource: "domains",
			Errors:   []*fault.Kind{ContactInUse},
			Events:   []string{"domain_contact.deleted"},
			Example:  `{` + ref + `}`,
		}, deleteContact),
		op.Restore("domain-contacts", "domains", domainContacts, nil),
		op.Read(op.Spec{
			Name:    "domains.registration.contact.get",
			Route:   "GET /v1/domains/{id}/registration/contact",
			Summary: "Get the registrant of a domain.",
			Example: `{"id": ` + exampleID + `}`,
		}, d.getRegistrant),
		op.Flow(op.Spec{
			Name:      "domains.registration.contact.update",
			Rehearses: true,
			Route:     "PATCH /v1/domains/{id}/registration/contact",
			Summary:   "Change the registrant of a domain, at the registrar too.",
			Description: "Domains that share the contact change with it. A new name, organization or email makes the " +
				"registrar verify the registrant again.",
			Errors:  changes,
			Events:  []string{"domain_contact.updated"},
			Example: `{"id": ` + exampleID + `, "phone": "+442079460019"}`,
		}, d.updateRegistrant),
	}
}

// exampleRegistrant are the fields of a registrant in examples.
const exampleRegistrant = `"firstName": "Ada", "lastName": "Lovelace", "address1": "12 St James's Square",
	"city": "London", "stateProvince": "London", "postalCode": "SW1Y 4JH", "country": "GB",
	"email": "ada@example.com", "phone": "+442079460018"`

// registrantInput is a registrant as a caller writes it.
type registrantInput struct{ contactFields }

// needsOrganization are the endings whose registries accept companies only.
var needsOrganization = []string{"ai", "co", "io", "me"}

// organizationRule refuses a registrant without an organization where the registry of the name
// accepts companies only.
func organizationRule(name string, r *Registrant) error {
	if slices.Contains(needsOrganization, ending(name)) && deref(r.OrganizationName) == "" {
		return OrganizationRequired.Say("Names under .%s need the contact's organizationName and jobTitle.",
			ending(name))
	}
	return nil
}

// issues finds what the schema cannot check about a registrant.
func (r *Registrant) issues() *fault.Tree {
	if deref(r.OrganizationName) != "" && deref(r.JobTitle) == "" {
		return (*fault.Tree)(nil).At([]any{"jobTitle"},
			"Required with organizationName: the registry rejects a company contact without it")
	}
	return nil
}

// readPhone writes the registrant's number as E.164, or adds the issue to tree.
func (r *Registrant) readPhone(tree *fault.Tree) *fault.Tree {
	number, ok := contact.E164(r.Phone, r.Country)
	if !ok {
		return tree.At([]any{"phone"}, "Not a phone number; write it like +14155550100")
	}
	r.Phone = number
	return tree
}

type contactList struct {
	op.Browse
	SortBy string `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt"`
}

func (in *registrantInput) Prepare(context.Context, *op.Call) error {
	return in.readPhone(in.issues()).Fault(fault.Invalid)
}

func createContact(ctx context.Context, c *op.Call, in registrantInput) (*DomainContact, error) {
	v := &DomainContact{Record: c.NewRecord(), contactFields: in.contactFields}
	if err := domainContacts.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("domain_contact.created", v.ID, v)
}

type contactRef struct {
	ID id.ID `path:"id" doc:"the domain contact"`
}

func deleteContact(ctx context.Context, c *op.Call, in contactRef) (op.Nothing, error) {
	// A registration that begins to use the contact locks it too, so the check below holds.
	if _, err := domainContacts.Lock(ctx, c.Tx, c.Org, in.ID); err != nil {
		return op.Nothing{}, err
	}
	users, err := usersOf(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return op.Nothing{}, err
	}
	if len(users) > 0 {
		return op.Nothing{}, ContactInUse.With(map[string]id.ID{"domainId": users[0].ID})
	}
	v, err := domainContacts.Remove(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("domain_contact.deleted", v.ID, v)
}

// usersOf are the domains that are registered for a contact.
func usersOf(ctx context.Context, tx *db.Tx, org, contact id.ID) ([]Domain, error) {
	return db.All[Domain](ctx, tx, "SELECT "+domains.Columns()+`
		FROM domains
		WHERE organization_id = $1 AND contact_id = $2 AND status <> 'transferred' AND deleted_at IS NULL
		ORDER BY name LIMIT 1000`, org, contact)
}

type contactUpdate struct {
	contactRef
	op.Changes[contactFields]
}

func (d *Domains) updateContact(ctx context.Context, c *op.Call, in contactUpdate) (*DomainContact, error) {
	return d.changeContact(ctx, c, in.ID, &in.Changes)
}

func (d *Domains) getRegistrant(ctx context.Context, c *op.Call, in domainRef) (*DomainContact, error) {
	ref, err := registrantOf(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	return domainContacts.Get(ctx, c.Tx, c.Org, ref)
}

type registrantUpdate struct {
	domainRef
	op.Changes[contactFields]
}

func (d *Domains) updateRegistrant(ctx context.Context, c *op.Call, in registrantUpdate) (*DomainContact, error) {
	var ref id.ID
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		ref, err = registrantOf(ctx, tx, c.Org, in.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return d.changeContact(ctx, c, ref, &in.Changes)
}

// registrantOf finds the domain contact that a domain is registered for.
func registrantOf(ctx context.Context, tx *db.Tx, org, domain id.ID) (id.ID, error) {
	v, err := domains.Get(ctx, tx, org, domain)
	if err == nil && v.ContactID == nil {
		err = notRegistered(v)
	}
	if err != nil {
		return "", err
	}
	return *v.ContactID, nil
}

// identity is what a registrar verifies a registrant by. When it changes, the registrant must
// confirm again.
func (r *Registrant) identity() [4]string {
	return [4]string{r.FirstName, r.LastName, deref(r.OrganizationName), r.Email}
}

// contactTry is one attempt to change a contact: the row as read, the row as intended, and the
// domains that use it.
type contactTry struct {
	was, v DomainContact
	users  []Domain
}

// changeContact writes a contact at the registrar and then here. If the row changed in between
// it starts over from the new row, so that the registrar and the row end up the same.
func (d *Domains) changeContact(ctx context.Context, c *op.Call, ref id.ID, in *op.Changes[contactFields]) (
	*DomainContact, error) {
	for range 3 {
		var t contactTry
		err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
			v, err := domainContacts.Get(ctx, tx, c.Org, ref)
			if err != nil {
				return err
			}
			t.was, t.v = *v, *v
			t.users, err = usersOf(ctx, tx, c.Org, ref)
			return err
		})
		if err != nil {
			return nil, err
		}
		if !op.Apply(&t.v, in) {
			return &t.v, nil
		}
		if in.Has("phone") {
			if err := t.v.readPhone(nil).Fault(fault.Invalid); err != nil {
				return nil, err
			}
		}
		t.v.UpdatedAt = c.Now
		if err := t.allowed(); err != nil {
			return nil, err
		}
		if err := c.Announce(ctx, "domain_contact.updated", ref); err != nil {
			return nil, err
		}
		if !c.Rehearsing() {
			if err := d.push(ctx, &t); err != nil {
				return nil, err
			}
		}
		v, err := op.Finish(ctx, c, func(ctx context.Context) (*DomainContact, error) { return t.write(ctx, c) })
		if !errors.Is(err, errChanged) {
			return v, err
		}
	}
	return nil, fault.Unavailable.Say("The contact is being changed by others. Retry in a moment.")
}

var errChanged = errors.New("domain: it changed meanwhile")

// remote reports whether the change concerns the registrar. The label is kept here alone.
func (t *contactTry) remote() bool {
	was := t.was
	was.Label, was.UpdatedAt, was.DeletedAt = t.v.Label, t.v.UpdatedAt, t.v.DeletedAt
	return !sameRegistrant(was.Registrant, t.v.Registrant)
}

func sameRegistrant(a, b Registrant) bool {
	texts := func(r Registrant) [12]string {
		return [12]string{
			r.FirstName, r.LastName, deref(r.OrganizationName), deref(r.JobTitle), r.Address1, deref(r.Address2),
			r.City, r.StateProvince, r.PostalCode, r.Country, r.Email, r.Phone,
		}
	}
	return texts(a) == texts(b)
}

// allowed refuses a change that the registrant's domains do not permit: their registry wants
// an organization, or a transfer is under way.
func (t *contactTry) allowed() error {
	if err := t.v.issues().Fault(fault.Invalid); err != nil {
		return err
	}
	if !t.remote() {
		return nil
	}
	for i := range t.users {
		if err := organizationRule(t.users[i].Name, &t.v.Registrant); err != nil {
			return err
		}
		if t.users[i].TransferRequestedAt != nil && t.was.identity() != t.v.identity() {
			return TransferInFlight.Say("A transfer of %s, which uses this contact, is under way.", t.users[i].Name)
		}
	}
	return nil
}

// push writes the registrant of every domain that uses the contact at the registrar. If one is
// refused, those before it get their old registrant back.
func (d *Domains) push(ctx context.Context, t *contactTry) error {
	if !t.remote() {
		return nil
	}
	for i := range t.users {
		if err := d.pushOne(ctx, t.users[i].Name, t.v.Registrant); err != nil {
			d.putBack(ctx, t, i)
			return err
		}
	}
	return nil
}

// pushOne writes the registrant of one domain at the registrar.
func (d *Domains) pushOne(ctx context.Context, name string, r Registrant) error {
	err := d.cfg.Registrar.ChangeContact(ctx, name, r)
	var cannot *UnsupportedError
	var no *Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &cannot):
		f := Unsupported.Say("The registry of %s does not allow a change of the registrant.", name)
		f.Details = map[string]string{"operation": cannot.Operation}
		return f
	case errors.As(err, &no):
		return fault.Invalid.Say("The registrar refused the contact: %s", no.Message)
	}
	return providerFault(err)
}

// putBack writes the old registrant of the first domains again, after a change that is
// abandoned.
func (d *Domains) putBack(ctx context.Context, t *contactTry, pushed int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	for i := range pushed {
		if err := d.cfg.Registrar.ChangeContact(ctx, t.users[i].Name, t.was.Registrant); err != nil {
			d.cfg.Log.ErrorContext(ctx, "the registrar has another registrant than the contact says; "+
				"change the contact again", "name", t.users[i].Name, "contact", t.v.ID, "err", err)
		}
	}
}

// write saves the change, unless the contact or the domains that use it changed since they
// were read.
func (t *contactTry) write(ctx context.Context, c *op.Call) (*DomainContact, error) {
	now, err := domainContacts.Lock(ctx, c.Tx, c.Org, t.v.ID)
	if err != nil {
		return nil, err
	}
	if now.UpdatedAt != t.was.UpdatedAt || !sameRegistrant(now.Registrant, t.was.Registrant) {
		return nil, errChanged
	}
	users, err := usersOf(ctx, c.Tx, c.Org, t.v.ID)
	if err != nil {
		return nil, err
	}
	if t.remote() && slices.ContainsFunc(users, t.unpushed) {
		return nil, errChanged
	}
	if err := domainContacts.Save(ctx, c.Tx, &t.v); err != nil {
		return nil, err
	}
	if t.was.identity() != t.v.identity() {
		if err := unverified(ctx, c.Tx, c.Org, t.v.ID, c.Now); err != nil {
			return nil, err
		}
	}
	return &t.v, c.Emit("domain_contact.updated", t.v.ID, &t.v)
}

// unpushed reports whether a domain began to use the contact after it was read, so that the
// registrar does not know its new registrant.
func (t *contactTry) unpushed(v Domain) bool {
	return !slices.ContainsFunc(t.users, func(u Domain) bool { return u.ID == v.ID })
}

// unverified records that the registrant of these domains must confirm the email address
// again.
func unverified(ctx context.Context, tx *db.Tx, org, contact id.ID, now clock.Time) error {
	_, err := db.Exec(ctx, tx, `
		UPDATE domains SET contact_verification = 'pending', updated_at = $3
		WHERE organization_id = $1 AND contact_id = $2 AND status <> 'transferred' AND deleted_at IS NULL`,
		org, contact, now)
	return err
}
