package contact

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Email is one address that a contact can be written to.
type Email struct {
	op.Record
	ContactID id.ID `json:"contactId"`
	emailAddress
	Folded    string `json:"-" db:"email_folded"`
	IsPrimary bool   `json:"isPrimary"`
}

// emailAddress is what callers set of an address, beside whether it is primary.
type emailAddress struct {
	Email string  `json:"email" format:"email"`
	Label *string `json:"label"`
}

var emails = primaries[Email]{op.NewNested[Email]("contact_emails", db.Life{
	Noun:         "email",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("contact_id", "contacts"),
	MergeRules: []db.MergeRule{
		{Where: `EXISTS (SELECT 1 FROM contact_emails k
			WHERE k.organization_id = $1 AND k.contact_id = $3 AND k.email_folded = contact_emails.email_folded
				AND k.deleted_at IS NULL)`},
		onePrimaryStays("contact_emails"),
	},
}),
	"email", func(v *Email) (id.ID, *bool) { return v.ContactID, &v.IsPrimary }}

// EmailExists refuses an address that the contact already has.
var EmailExists = fault.DefineKind("CONTACT_EMAIL_EXISTS", 409, "The contact already has this address.")

func emailOperations() []*op.Op {
	const ref = `"id": ` + exampleID + `, "emailId": "1d3c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`
	return []*op.Op{
		op.ListChildren(op.Spec{
			Name:      "contacts.emails.list",
			NounWords: "mail address, email address, gmail, outlook",
			Summary:   "List a contact's email addresses, newest first.",
		}, emails.Nested),
		op.Write(op.Spec{
			Name:        "contacts.emails.create",
			Words:       "also reads, second address",
			Route:       "POST /v1/contacts/{id}/emails",
			Summary:     "Add an email address to a contact.",
			Description: "The first address is primary. A new primary address replaces the old one.",
			Errors:      []*fault.Kind{EmailExists},
			Events:      []string{"contact.email.created"},
			Example:     `{"id": ` + exampleID + `, "email": "ada@work.example", "label": "work"}`,
		}, addEmail),
		op.GetChild(op.Spec{
			Name:    "contacts.emails.get",
			Summary: "Get an email address of a contact.",
		}, emails.Nested),
		op.Write(op.Spec{
			Name:    "contacts.emails.update",
			Words:   "email changed, new email, new mail address",
			Route:   "PATCH /v1/contacts/{id}/emails/{emailId}",
			Summary: "Change an email address of a contact.",
			Errors:  []*fault.Kind{EmailExists},
			Events:  []string{"contact.email.updated"},
			Example: `{` + ref + `, "isPrimary": true}`,
		}, updateEmail),
		op.DeleteChild(op.Spec{
			Name:    "contacts.emails.delete",
			Words:   "bounce, gone, not exist",
			Summary: "Remove an email address from a contact.",
		}, emails.Nested, emails.afterRemove),
	}
}

type emailFields struct {
	emailAddress
	IsPrimary *bool `json:"isPrimary"`
}

func (f emailFields) newRow(c *op.Call, contact id.ID, isPrimary bool) Email {
	return Email{Record: c.NewRecord(), ContactID: contact, emailAddress: f.emailAddress, Folded: db.FoldText(f.Email),
		IsPrimary: isPrimary}
}

type emailAdd struct {
	ID id.ID `path:"id" doc:"the contact"`
	emailFields
}

func addEmail(ctx context.Context, c *op.Call, in emailAdd) (*Email, error) {
	v := in.newRow(c, in.ID, false)
	if err := emails.addRow(ctx, c, in.ID, &v, in.IsPrimary); err != nil {
		return nil, err
	}
	if err := v.checkUnique(ctx, c); err != nil {
		return nil, err
	}
	return &v, c.Emit("contact.email.created", v.ID, &v)
}

type emailUpdate struct {
	ID      id.ID `path:"id" doc:"the contact"`
	EmailID id.ID `path:"emailId"`
	op.Changes[emailAddress]
	IsPrimary op.Optional[bool] `json:"isPrimary"`
}

func updateEmail(ctx context.Context, c *op.Call, in emailUpdate) (*Email, error) {
	v, changed, err := emails.changeRow(ctx, c, in.ID, in.EmailID, &in,
		func(v *Email) { v.Folded, v.UpdatedAt = db.FoldText(v.Email), c.Now })
	if err != nil || !changed {
		return v, err
	}
	if err := v.checkUnique(ctx, c); err != nil {
		return nil, err
	}
	return v, c.Emit("contact.email.updated", v.ID, v)
}

// checkUnique refuses an address that another row of the contact has. The
// contact is locked, so nobody adds one in the meantime.
func (v *Email) checkUnique(ctx context.Context, c *op.Call) error {
	n, err := emails.Rows.Count(ctx, c.Tx, emails.WhereParent(c, v.ContactID).And("email_folded = ?", v.Folded))
	if err == nil && n > 1 {
		return EmailExists.Say("The contact already has the address %s.", v.Email)
	}
	return err
}

// EmailsOf lists the addresses of a contact. With own, only those that somebody
// of the organization wrote down, not those that outsiders' text brought.
func EmailsOf(ctx context.Context, tx *db.Tx, org, person id.ID, own bool) ([]string, error) {
	return db.QueryAll[string](ctx, tx, `
		SELECT email FROM contact_emails
		WHERE organization_id = $1 AND contact_id = $2 AND NOT (external AND $3) AND deleted_at IS NULL`,
		org, person, own)
}
