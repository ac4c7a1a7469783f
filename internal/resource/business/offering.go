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
	BusinessID id.ID  `json:"businessId"`
	Currency   string `json:"currency" format:"currency"` // whoever creates it may leave it out
	offeringFields

	Words string `json:"-" db:"words"` // the text that a search finds it by
}

// offeringFields are what callers set of an offering, beside its currency.
type offeringFields struct {
	Name        string  `json:"name" min:"1"`
	Kind        *string `json:"kind" enum:"product,service"`
	Description *string `json:"description" max:"10000"`
	PriceCents  *int64  `json:"priceCents" min:"0" doc:"in the smallest unit; null without a fixed price"`
	Unit        *string `json:"unit" doc:"what the price is for, for example hour"`
	IsActive    bool    `json:"isActive" default:"true"`
}

var offerings = op.NewNested[BusinessOffering]("business_offerings", db.Life{
	Noun:         "offering",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("business_id", "businesses"),
	Unexported:   []string{"words"},
})

func offeringOperations() []*op.Op {
	const ref = exampleID + `, "offeringId": "1d3c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`
	return []*op.Op{
		op.ListChildrenWhere(op.Spec{
			Name:    "businesses.offerings.list",
			Example: `{` + exampleID + `, "kind": ["service"], "isActive": true}`,
		}, offerings, filterOfferings),
		op.Write(op.Spec{
			Name:        "businesses.offerings.create",
			Route:       "POST /v1/businesses/{id}/offerings",
			Summary:     "Add an offering to a business.",
			Description: "Without currency, the price is in the business's.",
			Events:      []string{"business.offering.created"},
			Example: `{` + exampleID +
				`, "name": "Maintenance", "kind": "service", "priceCents": 9000, "unit": "hour"}`,
		}, addOffering),
		op.GetChild(op.Spec{Name: "businesses.offerings.get"}, offerings),
		op.Write(op.Spec{
			Name:    "businesses.offerings.update",
			Route:   "PATCH /v1/businesses/{id}/offerings/{offeringId}",
			Summary: "Change an offering of a business.",
			Events:  []string{"business.offering.updated"},
			Example: `{` + ref + `, "priceCents": 9500, "isActive": false}`,
		}, updateOffering),
		op.DeleteChild(op.Spec{Name: "businesses.offerings.delete"}, offerings),
	}
}

type offeringList struct {
	op.ChildPage
	Kind     []string `query:"kind" enum:"product,service"`
	IsActive *bool    `query:"isActive"`
	Query    *string  `query:"query" max:"200" doc:"part of a name; 1-2 letters match word starts"`
}

func filterOfferings(in *offeringList, w *db.Where) {
	db.FilterOneOf(w, "kind", in.Kind)
	db.FilterEqual(w, "is_active", in.IsActive)
	db.FilterByWords(w, "words", in.Query)
}

type offeringAdd struct {
	businessRef
	Currency *string `json:"currency" format:"currency" doc:"by default the business's"`
	offeringFields
}

func addOffering(ctx context.Context, c *op.Call, in offeringAdd) (*BusinessOffering, error) {
	b, err := businesses.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	v := &BusinessOffering{Record: c.NewRecord(), BusinessID: b.ID, Currency: b.Currency,
		offeringFields: in.offeringFields, Words: db.SearchText(&in.Name)}
	if in.Currency != nil {
		v.Currency = *in.Currency
	}
	if err := offerings.Rows.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("business.offering.created", v.ID, v)
}

type offeringUpdate struct {
	businessRef
	OfferingID id.ID               `path:"offeringId"`
	Currency   op.Optional[string] `json:"currency" format:"currency"`
	op.Changes[offeringFields]
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
