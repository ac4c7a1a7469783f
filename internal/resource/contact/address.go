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
	ContactID  id.ID   `json:"contactId"`
	Line1      string  `json:"line1"`
	Line2      *string `json:"line2"`
	City       *string `json:"city"`
	State      *string `json:"state"`
	PostalCode *string `json:"postalCode"`
	Country    *string `json:"country" format:"country" doc:"ISO 3166, two letters"`
	Label      *string `json:"label"`
	IsPrimary  bool    `json:"isPrimary"`
}

var addresses = primaries[Address]{op.NewNested[Address]("contact_addresses", db.Life{
	Noun:      "address",
	Strangers: db.NobodyOutside,
	Parent:    db.To("contact_id", "contacts"),
	Yields: []db.Yield{
		{Only: `EXISTS (SELECT 1 FROM contact_addresses k
			WHERE k.organization_id = $1 AND k.contact_id = $3 AND k.deleted_at IS NULL
				AND k.line1 = contact_addresses.line1 AND k.line2 IS NOT DISTINCT FROM contact_addresses.line2
				AND k.city IS NOT DISTINCT FROM contact_addresses.city
				AND k.state IS NOT DISTINCT FROM contact_addresses.state
				AND k.postal_code IS NOT DISTINCT FROM contact_addresses.postal_code
				AND k.country IS NOT DISTINCT FROM contact_addresses.country)`},
		onePrimaryStays("contact_addresses"),
	},
}),
	"address", func(v *Address) *bool { return &v.IsPrimary }}

func addressOperations() []*op.Op {
	const ref = `"id": ` + exampleID + `, "addressId": "1d3c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`
	return []*op.Op{
		op.Read(op.Spec{
			Name:    "contacts.addresses.list",
			Route:   "GET /v1/contacts/{id}/addresses",
			Summary: "List a contact's addresses, newest first.",
			Example: `{"id": ` + exampleID + `}`,
		}, listAddresses),
		op.Write(op.Spec{
			Name:        "contacts.addresses.create",
			Route:       "POST /v1/contacts/{id}/addresses",
			Summary:     "Add an address to a contact.",
			Description: "The first address is primary. A new primary address replaces the old one.",
			Events:      []string{"contact.address.created"},
			Example: `{"id": ` + exampleID +
				`, "line1": "12 St James's Square", "city": "London", "postalCode": "SW1Y 4LB", "country": "GB"}`,
		}, addAddress),
		op.Read(op.Spec{
			Name:    "contacts.addresses.get",
			Route:   "GET /v1/contacts/{id}/addresses/{addressId}",
			Summary: "Get an address of a contact.",
			Example: `{` + ref + `}`,
		}, getAddress),
		op.Write(op.Spec{
			Name:    "contacts.addresses.update",
			Route:   "PATCH /v1/contacts/{id}/addresses/{addressId}",
			Summary: "Change an address of a contact.",
			Events:  []string{"contact.address.updated"},
			Example: `{` + ref + `, "line2": null}`,
		}, updateAddress),
		op.Write(op.Spec{
			Name:    "contacts.addresses.delete",
			Route:   "DELETE /v1/contacts/{id}/addresses/{addressId}",
			Summary: "Remove an address from a contact.",
			Events:  []string{"contact.address.deleted"},
			Example: `{` + ref + `}`,
		}, removeAddress),
	}
}

type addressFields struct {
	Line1      string  `json:"line1" min:"1"`
	Line2      *string `json:"line2"`
	City       *string `json:"city"`
	State      *string `json:"state"`
	PostalCode *string `json:"postalCode"`
	Country    *string `json:"country" format:"country" doc:"ISO 3166, two letters"`
	Label      *string `json:"label"`
	IsPrimary  *bool   `json:"isPrimary"`
}

func (f addressFields) row(c *op.Call, contact id.ID, isPrimary bool) Address {
	return Address{Record: c.NewRecord(), ContactID: contact, Line1: f.Line1, Line2: f.Line2, City: f.City,
		State:      f.State,
		PostalCode: f.PostalCode, Country: f.Country, Label: f.Label, IsPrimary: isPrimary}
}

type addressList struct {
	op.Page
	ID id.ID `path:"id" doc:"the contact"`
}

func listAddresses(ctx context.Context, c *op.Call, in addressList) (*op.List[Address], error) {
	return addresses.List(ctx, c, in.ID, in.Page)
}

type addressAdd struct {
	ID id.ID `path:"id" doc:"the contact"`
	addressFields
}

func addAddress(ctx context.Context, c *op.Call, in addressAdd) (*Address, error) {
	v := in.row(c, in.ID, false)
	if err := addresses.add(ctx, c, in.ID, &v, in.IsPrimary); err != nil {
		return nil, err
	}
	return &v, c.Emit("contact.address.created", v.ID, &v)
}

type addressRef struct {
	ID        id.ID `path:"id" doc:"the contact"`
	AddressID id.ID `path:"addressId"`
}

func getAddress(ctx context.Context, c *op.Call, in addressRef) (*Address, error) {
	return addresses.Get(ctx, c, in.ID, in.AddressID)
}

type addressUpdate struct {
	addressRef
	Line1      op.Maybe[string] `json:"line1" min:"1"`
	Line2      op.Opt[string]   `json:"line2"`
	City       op.Opt[string]   `json:"city"`
	State      op.Opt[string]   `json:"state"`
	PostalCode op.Opt[string]   `json:"postalCode"`
	Country    op.Opt[string]   `json:"country" format:"country"`
	Label      op.Opt[string]   `json:"label"`
	IsPrimary  op.Maybe[bool]   `json:"isPrimary"`
}

func updateAddress(ctx context.Context, c *op.Call, in addressUpdate) (*Address, error) {
	v, changed, err := addresses.change(ctx, c, in.ID, in.AddressID, &in, in.IsPrimary,
		func(v *Address) { v.UpdatedAt = c.Now })
	if err != nil || !changed {
		return v, err
	}
	return v, c.Emit("contact.address.updated", v.ID, v)
}

func removeAddress(ctx context.Context, c *op.Call, in addressRef) (op.Nothing, error) {
	v, err := addresses.remove(ctx, c, in.ID, in.AddressID)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("contact.address.deleted", v.ID, v)
}
