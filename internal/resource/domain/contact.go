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
	Noun:         "domain contact",
	ExternalText: db.NoExternalText,
})

// What registrants are refused with.
var (
	ContactInUse         = fault.DefineKind("DOMAIN_CONTACT_IN_USE", 409, "A registered domain uses this contact.")
	OrganizationRequired = fault.DefineKind("CONTACT_ORGANIZATION_REQUIRED", 422,
		"This ending needs the contact's organizationName and jobTitle.")
)

func (d *Domains) contactOperations() []*op.Op {
	const ref = `"id": "c1a9e6d2-5f3b-4e8a-9d7c-6b5a4f3e2d10"`
	changes := []*fault.Kind{OrganizationRequired, TransferInFlight, Unsupported}
	return []*op.Op{
		op.ListRows(op.Spec{
			Name:      "domain_contacts.list",
			NounWords: "owner, holder",
			Summary:   "List saved registrants, newest first.",
			Resource:  "domains",
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
		op.RestoreRow("domain-contacts", "domains", domainContacts, nil),
		op.Read(op.Spec{
			Name:      "domains.registration.contact.get",
			NounWords: "owner, holder, whois, who owns",
			Route:     "GET /v1/domains/{id}/registration/contact",
			Summary:   "Get the registrant of a domain.",
			Example:   `{"id": ` + exampleID + `}`,
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

// companyOnlyEndings are the endings whose registries accept companies only.
var companyOnlyEndings = []string{"ai", "co", "io", "me"}

// checkOrganization refuses a registrant without an organization where the registry of the name
// accepts companies only.
func checkOrganization(name string, r *Registrant) error {
	if slices.Contains(companyOnlyEndings, parentName(name)) && stringOrEmpty(r.OrganizationName) == "" {
		return OrganizationRequired.Say("Names under .%s need the contact's organizationName and jobTitle.",
			parentName(name))
	}
	return nil
}

// fieldIssues finds what the schema cannot check about a registrant.
func (r *Registrant) fieldIssues() *fault.Tree {
	if stringOrEmpty(r.OrganizationName) != "" && stringOrEmpty(r.JobTitle) == "" {
		return (*fault.Tree)(nil).At([]any{"jobTitle"},
			"Required with organizationName: the registry rejects a company contact without it")
	}
	return nil
}

// normalizePhone writes the registrant's number as E.164, or adds the issue to tree.
func (r *Registrant) normalizePhone(tree *fault.Tree) *fault.Tree {
	number, ok := contact.FormatE164(r.Phone, r.Country)
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
	return in.normalizePhone(in.fieldIssues()).Fault(fault.Invalid)
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
	users, err := domainsUsingContact(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return op.Nothing{}, err
	}
	if len(users) > 0 {
		return op.Nothing{}, ContactInUse.WithDetails(map[string]id.ID{"domainId": users[0].ID})
	}
	v, err := domainContacts.SoftDelete(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("domain_contact.deleted", v.ID, v)
}

// domainsUsingContact are the domains that are registered for a contact.
func domainsUsingContact(ctx context.Context, tx *db.Tx, org, contact id.ID) ([]Domain, error) {
	return db.QueryAll[Domain](ctx, tx, "SELECT "+domains.Columns()+`
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
	ref, err := findRegistrantContact(ctx, c.Tx, c.Org, in.ID)
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
		ref, err = findRegistrantContact(ctx, tx, c.Org, in.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return d.changeContact(ctx, c, ref, &in.Changes)
}

// findRegistrantContact finds the domain contact that a domain is registered for.
func findRegistrantContact(ctx context.Context, tx *db.Tx, org, domain id.ID) (id.ID, error) {
	v, err := domains.Get(ctx, tx, org, domain)
	if err == nil && v.ContactID == nil {
		err = notRegisteredFault(v)
	}
	if err != nil {
		return "", err
	}
	return *v.ContactID, nil
}

// verifiedIdentity is what a registrar verifies a registrant by. When it changes, the registrant must
// confirm again.
func (r *Registrant) verifiedIdentity() [4]string {
	return [4]string{r.FirstName, r.LastName, stringOrEmpty(r.OrganizationName), r.Email}
}

// contactChange is one attempt to change a contact: the row as read, the row as intended, and the
// domains that use it.
type contactChange struct {
	before, after DomainContact
	users         []Domain
}

// changeContact writes a contact at the registrar and then here. If the row changed in between
// it starts over from the new row, so that the registrar and the row end up the same.
func (d *Domains) changeContact(ctx context.Context, c *op.Call, ref id.ID, in *op.Changes[contactFields]) (
	*DomainContact, error) {
	for range 3 {
		var t contactChange
		err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
			v, err := domainContacts.Get(ctx, tx, c.Org, ref)
			if err != nil {
				return err
			}
			t.before, t.after = *v, *v
			t.users, err = domainsUsingContact(ctx, tx, c.Org, ref)
			return err
		})
		if err != nil {
			return nil, err
		}
		if !op.Apply(&t.after, in) {
			return &t.after, nil
		}
		if in.Has("phone") {
			if err := t.after.normalizePhone(nil).Fault(fault.Invalid); err != nil {
				return nil, err
			}
		}
		t.after.UpdatedAt = c.Now
		if err := t.checkAllowed(); err != nil {
			return nil, err
		}
		if err := c.AnnounceEvent(ctx, "domain_contact.updated", ref); err != nil {
			return nil, err
		}
		if !c.Rehearsing() {
			if err := d.pushToRegistrar(ctx, &t); err != nil {
				return nil, err
			}
		}
		v, err := op.Finish(ctx, c, func(ctx context.Context) (*DomainContact, error) { return t.saveContact(ctx, c) })
		if !errors.Is(err, errChangedMeanwhile) {
			return v, err
		}
	}
	return nil, fault.Unavailable.Say("The contact is being changed by others. Retry in a moment.")
}

var errChangedMeanwhile = errors.New("domain: it changed meanwhile")

// concernsRegistrar reports whether the change concerns the registrar. The label is kept here alone.
func (t *contactChange) concernsRegistrar() bool {
	return !sameRegistrant(t.before.Registrant, t.after.Registrant)
}

func sameRegistrant(a, b Registrant) bool {
	texts := func(r Registrant) [12]string {
		return [12]string{
			r.FirstName, r.LastName, stringOrEmpty(r.OrganizationName), stringOrEmpty(r.JobTitle), r.Address1,
			stringOrEmpty(r.Address2),
			r.City, r.StateProvince, r.PostalCode, r.Country, r.Email, r.Phone,
		}
	}
	return texts(a) == texts(b)
}

// checkAllowed refuses a change that the registrant's domains do not permit: their registry wants
// an organization, or a transfer is under way.
func (t *contactChange) checkAllowed() error {
	if err := t.after.fieldIssues().Fault(fault.Invalid); err != nil {
		return err
	}
	if !t.concernsRegistrar() {
		return nil
	}
	for i := range t.users {
		if err := checkOrganization(t.users[i].Name, &t.after.Registrant); err != nil {
			return err
		}
		if t.users[i].TransferRequestedAt != nil && t.before.verifiedIdentity() != t.after.verifiedIdentity() {
			return TransferInFlight.Say("A transfer of %s, which uses this contact, is under way.", t.users[i].Name)
		}
	}
	return nil
}

// pushToRegistrar writes the registrant of every domain that uses the contact at the registrar. If one is
// refused, those before it get their old registrant back.
func (d *Domains) pushToRegistrar(ctx context.Context, t *contactChange) error {
	if !t.concernsRegistrar() {
		return nil
	}
	for i := range t.users {
		if err := d.pushRegistrant(ctx, t.users[i].Name, t.after.Registrant); err != nil {
			d.restoreRegistrants(ctx, t, i)
			return err
		}
	}
	return nil
}

// pushRegistrant writes the registrant of one domain at the registrar.
func (d *Domains) pushRegistrant(ctx context.Context, name string, r Registrant) error {
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

// restoreRegistrants writes the old registrant of the first domains again, after a change that is
// abandoned.
func (d *Domains) restoreRegistrants(ctx context.Context, t *contactChange, pushed int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	for i := range pushed {
		if err := d.cfg.Registrar.ChangeContact(ctx, t.users[i].Name, t.before.Registrant); err != nil {
			d.cfg.Log.ErrorContext(ctx, "the registrar has another registrant than the contact says; "+
				"change the contact again", "name", t.users[i].Name, "contact", t.after.ID, "err", err)
		}
	}
}

// saveContact saves the change, unless the contact or the domains that use it changed since they
// were read.
func (t *contactChange) saveContact(ctx context.Context, c *op.Call) (*DomainContact, error) {
	now, err := domainContacts.Lock(ctx, c.Tx, c.Org, t.after.ID)
	if err != nil {
		return nil, err
	}
	if now.UpdatedAt != t.before.UpdatedAt || !sameRegistrant(now.Registrant, t.before.Registrant) {
		return nil, errChangedMeanwhile
	}
	users, err := domainsUsingContact(ctx, c.Tx, c.Org, t.after.ID)
	if err != nil {
		return nil, err
	}
	if t.concernsRegistrar() && slices.ContainsFunc(users, t.isNewUser) {
		return nil, errChangedMeanwhile
	}
	if err := domainContacts.Save(ctx, c.Tx, &t.after); err != nil {
		return nil, err
	}
	if t.before.verifiedIdentity() != t.after.verifiedIdentity() {
		if err := markUnverified(ctx, c.Tx, c.Org, t.after.ID, c.Now); err != nil {
			return nil, err
		}
	}
	return &t.after, c.Emit("domain_contact.updated", t.after.ID, &t.after)
}

// isNewUser reports whether a domain began to use the contact after it was read, so that the
// registrar does not know its new registrant.
func (t *contactChange) isNewUser(v Domain) bool {
	return !slices.ContainsFunc(t.users, func(u Domain) bool { return u.ID == v.ID })
}

// markUnverified records that the registrant of these domains must confirm the email address
// again.
func markUnverified(ctx context.Context, tx *db.Tx, org, contact id.ID, now clock.Time) error {
	_, err := db.Exec(ctx, tx, `
		UPDATE domains SET contact_verification = 'pending', updated_at = $3
		WHERE organization_id = $1 AND contact_id = $2 AND status <> 'transferred' AND deleted_at IS NULL`,
		org, contact, now)
	return err
}
