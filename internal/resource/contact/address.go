package contact

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Address is one postal address of a contact.
type Address struct {
	op.Record
	ContactID id.ID `json:"contactId"`
	postalAddress
	IsPrimary bool `json:"isPrimary"`
}

// postalAddress is what callers set of an address, beside whether it is primary.
type postalAddress struct {
	Line1      string  `json:"line1" min:"1"`
	Line2      *string `json:"line2"`
	City       *string `json:"city"`
	State      *string `json:"state"`
	PostalCode *string `json:"postalCode"`
	Country    *string `json:"country" format:"country" doc:"ISO 3166, two letters"`
	Label      *string `json:"label"`
}

var addresses = primaries[Address]{op.NewNested[Address]("contact_addresses", db.Life{
	Noun:         "address",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("contact_id", "contacts"),
	MergeRules: []db.MergeRule{
		{Where: `EXISTS (SELECT 1 FROM contact_addresses k
			WHERE k.organization_id = $1 AND k.contact_id = $3 AND k.deleted_at IS NULL
				AND k.line1 = contact_addresses.line1 AND k.line2 IS NOT DISTINCT FROM contact_addresses.line2
				AND k.city IS NOT DISTINCT FROM contact_addresses.city
				AND k.state IS NOT DISTINCT FROM contact_addresses.state
				AND k.postal_code IS NOT DISTINCT FROM contact_addresses.postal_code
				AND k.country IS NOT DISTINCT FROM contact_addresses.country)`},
		onePrimaryStays("contact_addresses"),
	},
}),
	"address", func(v *Address) (id.ID, *bool) { return v.ContactID, &v.IsPrimary }}

func addressOperations() []*op.Op {
	const ref = `"id": ` + exampleID + `, "addressId": "1d3c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`
	return []*op.Op{
		op.ListChildren(op.Spec{Name: "contacts.addresses.list",
			NounWords: "street, city, postcode, town, house, live, home, postal, zip, country, office"},
			addresses.Nested),
		op.Write(op.Spec{
			Name:        "contacts.addresses.create",
			Words:       "move, moved",
			Route:       "POST /v1/contacts/{id}/addresses",
			Summary:     "Add an address to a contact.",
			Description: "The first address is primary. A new primary address replaces the old one.",
			Events:      []string{"contact.address.created"},
			Example: `{"id": ` + exampleID +
				`, "line1": "12 St James's Square", "city": "London", "postalCode": "SW1Y 4LB", "country": "GB"}`,
		}, addAddress),
		op.GetChild(op.Spec{Name: "contacts.addresses.get"}, addresses.Nested),
		op.Write(op.Spec{
			Name:    "contacts.addresses.update",
			Words:   "move, moved",
			Route:   "PATCH /v1/contacts/{id}/addresses/{addressId}",
			Summary: "Change an address of a contact.",
			Events:  []string{"contact.address.updated"},
			Example: `{` + ref + `, "line2": null}`,
		}, updateAddress),
		op.DeleteChild(op.Spec{Name: "contacts.addresses.delete"}, addresses.Nested, addresses.afterRemove),
	}
}

type addressFields struct {
	postalAddress
	IsPrimary *bool `json:"isPrimary"`
}

func (f addressFields) newRow(c *op.Call, contact id.ID, isPrimary bool) Address {
	return Address{Record: c.NewRecord(), ContactID: contact, postalAddress: f.postalAddress, IsPrimary: isPrimary}
}

type addressAdd struct {
	ID id.ID `path:"id" doc:"the contact"`
	addressFields
}

func addAddress(ctx context.Context, c *op.Call, in addressAdd) (*Address, error) {
	v := in.newRow(c, in.ID, false)
	if err := addresses.addRow(ctx, c, in.ID, &v, in.IsPrimary); err != nil {
		return nil, err
	}
	return &v, c.Emit("contact.address.created", v.ID, &v)
}

type addressUpdate struct {
	ID        id.ID `path:"id" doc:"the contact"`
	AddressID id.ID `path:"addressId"`
	op.Changes[postalAddress]
	IsPrimary op.Optional[bool] `json:"isPrimary"`
}

func updateAddress(ctx context.Context, c *op.Call, in addressUpdate) (*Address, error) {
	v, changed, err := addresses.changeRow(ctx, c, in.ID, in.AddressID, &in,
		func(v *Address) { v.UpdatedAt = c.Now })
	if err != nil || !changed {
		return v, err
	}
	return v, c.Emit("contact.address.updated", v.ID, v)
}
