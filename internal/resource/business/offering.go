package business

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// BusinessOffering is something that a business sells.
type BusinessOffering struct {
	op.Record
	BusinessID  id.ID   `json:"businessId"`
	Name        string  `json:"name"`
	Kind        *string `json:"kind" enum:"product,service"`
	Description *string `json:"description" max:"10000"`
	PriceCents  *int64  `json:"priceCents" min:"0" doc:"in the currency's smallest unit; null without a fixed price"`
	Currency    string  `json:"currency" format:"currency"`
	Unit        *string `json:"unit" doc:"what the price is for, for example hour"`
	IsActive    bool    `json:"isActive" doc:"whether it is currently offered"`

	Words string `json:"-" db:"words"` // the text that a search finds it by
}

var offerings = op.NewNested[BusinessOffering]("business_offerings", db.Life{
	Noun:       "offering",
	Strangers:  db.NobodyOutside,
	Parent:     db.To("business_id", "businesses"),
	Unexported: []string{"words"},
})

func offeringOperations() []*op.Op {
	const ref = exampleID + `, "offeringId": "1d3c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`
	return []*op.Op{
		op.Read(op.Spec{
			Name:    "businesses.offerings.list",
			Route:   "GET /v1/businesses/{id}/offerings",
			Summary: "List a business's offerings, newest first.",
			Example: `{` + exampleID + `, "kind": ["service"], "isActive": true}`,
		}, listOfferings),
		op.Write(op.Spec{
			Name:        "businesses.offerings.create",
			Route:       "POST /v1/businesses/{id}/offerings",
			Summary:     "Add an offering to a business.",
			Description: "Without currency, the price is in the business's.",
			Events:      []string{"business.offering.created"},
			Example: `{` + exampleID +
				`, "name": "Maintenance", "kind": "service", "priceCents": 9000, "unit": "hour"}`,
		}, addOffering),
		op.Read(op.Spec{
			Name:    "businesses.offerings.get",
			Route:   "GET /v1/businesses/{id}/offerings/{offeringId}",
			Summary: "Get an offering of a business.",
			Example: `{` + ref + `}`,
		}, getOffering),
		op.Write(op.Spec{
			Name:    "businesses.offerings.update",
			Route:   "PATCH /v1/businesses/{id}/offerings/{offeringId}",
			Summary: "Change an offering of a business.",
			Events:  []string{"business.offering.updated"},
			Example: `{` + ref + `, "priceCents": 9500, "isActive": false}`,
		}, updateOffering),
		op.Write(op.Spec{
			Name:    "businesses.offerings.delete",
			Route:   "DELETE /v1/businesses/{id}/offerings/{offeringId}",
			Summary: "Remove an offering from a business.",
			Events:  []string{"business.offering.deleted"},
			Example: `{` + ref + `}`,
		}, removeOffering),
	}
}

type offeringList struct {
	op.Page
	businessRef
	Kind     []string `query:"kind" enum:"product,service"`
	IsActive *bool    `query:"isActive"`
	Query    *string  `query:"query" max:"200" doc:"part of a name; 1-2 letters match word starts"`
}

func listOfferings(ctx context.Context, c *op.Call, in offeringList) (*op.List[BusinessOffering], error) {
	w := offerings.Under(c, in.ID)
	db.OneOf(w, "kind", in.Kind)
	db.Equal(w, "is_active", in.IsActive)
	db.Containing(w, "words", in.Query)
	return offerings.ListWhere(ctx, c, in.ID, w, in.Page)
}

type offeringAdd struct {
	businessRef
	Name        string  `json:"name" min:"1"`
	Kind        *string `json:"kind" enum:"product,service"`
	Description *string `json:"description" max:"10000"`
	PriceCents  *int64  `json:"priceCents" min:"0"`
	Currency    *string `json:"currency" format:"currency" doc:"by default the business's"`
	Unit        *string `json:"unit" doc:"what the price is for, for example hour"`
	IsActive    bool    `json:"isActive" default:"true"`
}

func addOffering(ctx context.Context, c *op.Call, in offeringAdd) (*BusinessOffering, error) {
	b, err := businesses.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	v := &BusinessOffering{Record: c.NewRecord(), BusinessID: b.ID, Name: in.Name, Kind: in.Kind,
		Description: in.Description,
		PriceCents:  in.PriceCents, Currency: b.Currency, Unit: in.Unit, IsActive: in.IsActive,
		Words: db.SearchText(&in.Name)}
	if in.Currency != nil {
		v.Currency = *in.Currency
	}
	if err := offerings.Rows.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("business.offering.created", v.ID, v)
}

type offeringRef struct {
	businessRef
	OfferingID id.ID `path:"offeringId"`
}

func getOffering(ctx context.Context, c *op.Call, in offeringRef) (*BusinessOffering, error) {
	return offerings.Get(ctx, c, in.ID, in.OfferingID)
}

type offeringUpdate struct {
	offeringRef
	Name        op.Maybe[string] `json:"name" min:"1"`
	Kind        op.Opt[string]   `json:"kind" enum:"product,service"`
	Description op.Opt[string]   `json:"description" max:"10000"`
	PriceCents  op.Opt[int64]    `json:"priceCents" min:"0"`
	Currency    op.Maybe[string] `json:"currency" format:"currency"`
	Unit        op.Opt[string]   `json:"unit" doc:"what the price is for, for example hour"`
	IsActive    op.Maybe[bool]   `json:"isActive"`
}

func updateOffering(ctx context.Context, c *op.Call, in offeringUpdate) (*BusinessOffering, error) {
	v, changed, err := offerings.Change(ctx, c, in.ID, in.OfferingID, &in, func(v *BusinessOffering) {
		v.UpdatedAt, v.Words = c.Now, db.SearchText(&v.Name)
	})
	if err != nil || !changed {
		return v, err
	}
	return v, c.Emit("business.offering.updated", v.ID, v)
}

func removeOffering(ctx context.Context, c *op.Call, in offeringRef) (op.Nothing, error) {
	v, err := offerings.Remove(ctx, c, in.ID, in.OfferingID)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("business.offering.deleted", v.ID, v)
}
