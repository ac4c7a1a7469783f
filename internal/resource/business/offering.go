package business

import (
	"context"
	"regexp"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
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
	TaxRate     *string `json:"taxRate" doc:"per cent, 0 to 100, like 20 or 7.5"`
	TaxName     *string `json:"taxName" min:"1" max:"100" doc:"as an invoice shall call the tax: VAT"`
	IsActive    bool    `json:"isActive" default:"true"`
}

// taxRateForm is a percentage as the lines of invoices take it.
var taxRateForm = regexp.MustCompile(`^(100|[0-9]{1,2}(\.[0-9]{1,4})?)$`)

// checkTax refuses a rate that no line of an invoice would take.
func (f *offeringFields) checkTax() error {
	if f.TaxRate != nil && !taxRateForm.MatchString(*f.TaxRate) {
		return fault.Field("taxRate", "Invalid percentage; write a decimal from 0 to 100 like 20 or 7.5, with at "+
			"most 4 digits after the point")
	}
	return nil
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
			Name:      "businesses.offerings.list",
			NounWords: "product, service, price, pricelist, sell, catalog, goods, item, article, menu",
			Words:     "price list, we sell, offer",
			Example:   `{` + exampleID + `, "kind": ["service"], "isActive": true}`,
		}, offerings, filterOfferings),
		op.Write(op.Spec{
			Name:        "businesses.offerings.create",
			Words:       "new product, new service, into price list, to price list, offer",
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
			Words:   "cost, price, dearer, cheaper, from now on",
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

// Prepare checks the tax.
func (in *offeringAdd) Prepare(context.Context, *op.Call) error { return in.checkTax() }

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

// Prepare checks the tax.
func (in *offeringUpdate) Prepare(context.Context, *op.Call) error { return in.To.checkTax() }

func updateOffering(ctx context.Context, c *op.Call, in offeringUpdate) (*BusinessOffering, error) {
	v, changed, err := offerings.Change(ctx, c, in.ID, in.OfferingID, &in, func(v *BusinessOffering) {
		v.UpdatedAt, v.Words = c.Now, db.SearchText(&v.Name)
	})
	if err != nil || !changed {
		return v, err
	}
	return v, c.Emit("business.offering.updated", v.ID, v)
}

// OfferingName is an offering, in short.
type OfferingName struct {
	ID       id.ID  `db:"id"`
	Name     string `db:"name"`
	External bool   `db:"external"`
}

// OfferingNames are the names of all offerings, or of those of one business.
func OfferingNames(ctx context.Context, tx *db.Tx, org id.ID, business *id.ID) ([]OfferingName, error) {
	return db.QueryAll[OfferingName](ctx, tx, `
		SELECT id, name, external FROM business_offerings
		WHERE organization_id = $1 AND deleted_at IS NULL AND business_id = COALESCE($2, business_id)
		ORDER BY created_at, seq`, org, business)
}
