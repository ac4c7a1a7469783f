// Package business holds the businesses of an organization: the names it trades
// under, each with its currency, locale and bank details. The package account
// defines their row and creates the first one with the organization. From then on
// they are a resource like any other, except for one rule: the last one cannot be
// deleted.
//
// Below a business is its description: profile, offerings, online and physical
// presences, each in its own file. letterhead.go collects what documents and mail
// show of a business, with its color (color.go) and its name as a sender
// (sender.go).
//
// Start reading at business.go. Other packages use LetterheadOf and SenderName;
// invoices and mail read a deleted business too, because what was sent still names
// it.
package business

import (
	"context"
	"slices"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/property"
)

// Business is a name that the organization trades under.
type Business = account.Business

var businesses = account.Businesses

// InUse refuses to delete a business that still has API keys or agents.
var InUse = fault.DefineKind("BUSINESS_IN_USE", 409,
	"The business has API keys or agents. Revoke, delete or move them first.")

// LastBusiness refuses to leave an organization without a business.
var LastBusiness = fault.DefineKind("BUSINESS_LAST", 409, "The last business of an organization cannot be deleted.")

// Config is what businesses need. All of it is required.
type Config struct {
	Accounts *account.Accounts // told when a business is deleted or restored
}

// Service has the operations on businesses and what belongs to them.
type Service struct{ accounts *account.Accounts }

// New panics when a required field is missing.
func New(c Config) *Service {
	config.RequireFields(c, "Accounts")
	return &Service{accounts: c.Accounts}
}

// InvalidID refuses a business id that is not a UUID.
var InvalidID = fault.DefineKind("INVALID_BUSINESS_ID", 400, "The business id is not a UUID.")

// Operations lists everything that can be done with businesses and with what
// belongs to them.
func (s *Service) Operations() []*op.Op {
	return slices.Concat(s.businessOperations(), profileOperations(), offeringOperations(),
		onlinePresenceOperations(), physicalPresenceOperations())
}

const exampleID = `"id": "4b7e1f20-3c5d-4e8a-8f6b-9a0c1d2e3f41"`

func (s *Service) businessOperations() []*op.Op {
	const ref = exampleID
	return []*op.Op{
		op.Read(op.Spec{
			Name:      "businesses.list",
			NounWords: "company, firm, organization",
			Words:     "our companies",
			Route:     "GET /v1/businesses",
			Summary:   "List the organization's businesses, newest first.",
			Example:   `{"limit": 20}`,
		}, listBusinesses),
		op.Write(op.Spec{
			Name:        "businesses.create",
			Route:       "POST /v1/businesses",
			Summary:     "Create a business.",
			Description: "Keys and agents of the new business work once its agreement is accepted.",
			Events:      []string{"business.created"},
			Example: `{"name": "Analytical Engines", "timezone": "Europe/London", "locale": "en-GB", ` +
				`"currency": "gbp", "accentColor": "#1f4e79", "iban": "GB33 BUKB 2020 1555 5555 55"}`,
		}, createBusiness),
		op.Read(op.Spec{
			Name:    "businesses.get",
			Route:   "GET /v1/businesses/{id}",
			Summary: "Get a business.",
			Example: `{` + ref + `}`,
		}, getBusiness),
		op.Write(op.Spec{
			Name:    "businesses.update",
			Words:   "bank account, iban, logo, accent colour, timezone, currency, letterhead, legal name",
			Route:   "PATCH /v1/businesses/{id}",
			Summary: "Change fields of a business.",
			Events:  []string{"business.updated"},
			Example: `{` + ref + `, "industry": "Computing", "description": null}`,
		}, updateBusiness),
		op.Write(op.Spec{
			Name:    "businesses.delete",
			Route:   "DELETE /v1/businesses/{id}",
			Summary: "Delete a business.",
			Description: "A business that has API keys or agents cannot be deleted, nor can the last one of an " +
				"organization.",
			Errors:  []*fault.Kind{InUse, LastBusiness},
			Events:  []string{"business.deleted"},
			Example: `{` + ref + `}`,
		}, s.deleteBusiness),
		op.RestoreRow("businesses", "businesses", businesses, s.afterRestore),
	}
}

type businessRef struct {
	ID id.ID `path:"id" doc:"the business"`
}

type businessList struct {
	op.Browse
	SortBy string `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt,name"`
	property.Filter
}

func listBusinesses(ctx context.Context, c *op.Call, in businessList) (*op.List[BusinessWithProperties], error) {
	w := db.InOrganization(c.Org)
	if err := in.Filter.AddCondition(ctx, c, "business", w); err != nil {
		return nil, err
	}
	list, err := op.BrowseRows(ctx, c, businesses, op.ListQuery{Browse: in.Browse, SortBy: in.SortBy}, w)
	if err != nil {
		return nil, err
	}
	out := &op.List[BusinessWithProperties]{Pagination: list.Pagination}
	out.Data = make([]BusinessWithProperties, len(list.Data))
	for i, v := range list.Data {
		out.Data[i].Business = v
	}
	return out, property.Fill(ctx, c, in.Include, out.Data, propertiesOf)
}

// BusinessWithProperties is a business with its confirmed properties, if the caller asked for
// them.
type BusinessWithProperties struct {
	Business
	Properties *[]property.Property `json:"properties,omitzero" max:"10000" doc:"with include=properties"`
}

// propertiesOf tells property.Fill where the properties of a business go.
func propertiesOf(v *BusinessWithProperties) (id.ID, **[]property.Property) {
	return v.ID, &v.Properties
}

func createBusiness(ctx context.Context, c *op.Call, in account.BusinessFields) (*Business, error) {
	if err := checkLogo(ctx, c, in.LogoFileID, nil); err != nil {
		return nil, err
	}
	v := &Business{Record: c.NewRecord(), BusinessFields: in}
	v.NormalizeBankDetails()
	if err := businesses.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("business.created", v.ID, v)
}

// checkLogo refuses a logo that is not a file of the organization. was is the present one,
// which is not checked again.
func checkLogo(ctx context.Context, c *op.Call, file, was *id.ID) error {
	return op.LockReferences(ctx, c, op.FieldRef{Field: "logoFileId", Table: "files", ID: file, Stored: was})
}

type businessGet struct {
	businessRef
	property.Include
}

func getBusiness(ctx context.Context, c *op.Call, in businessGet) (*BusinessWithProperties, error) {
	v, err := businesses.Get(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	out := &BusinessWithProperties{Business: *v}
	return out, property.FillOne(ctx, c, in.Include, out, propertiesOf)
}

type businessUpdate struct {
	businessRef
	op.Changes[account.BusinessFields]
}

func updateBusiness(ctx context.Context, c *op.Call, in businessUpdate) (*Business, error) {
	v, err := businesses.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	logo := v.LogoFileID
	if !op.Apply(v, &in) {
		return v, nil
	}
	v.NormalizeBankDetails()
	if err := checkLogo(ctx, c, v.LogoFileID, logo); err != nil {
		return nil, err
	}
	v.UpdatedAt = c.Now
	if err := businesses.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("business.updated", v.ID, v)
}

func (s *Service) deleteBusiness(ctx context.Context, c *op.Call, in businessRef) (op.Nothing, error) {
	s.accounts.ClearCallersOnCommit(c)
	// Without the lock, two deletions that each leave the other's business would
	// together leave none.
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return op.Nothing{}, db.AsNotFound(err, "business")
	}
	v, err := businesses.SoftDelete(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	left, err := businesses.Count(ctx, c.Tx, db.InOrganization(c.Org))
	if err != nil {
		return op.Nothing{}, err
	}
	if left == 0 {
		return op.Nothing{}, LastBusiness.New()
	}
	used, err := account.FindBusinessActors(ctx, c, v.ID)
	if err != nil {
		return op.Nothing{}, err
	}
	if !used.None() {
		return op.Nothing{}, InUse.WithDetails(used)
	}
	return op.Nothing{}, c.Emit("business.deleted", v.ID, v)
}

// afterRestore tells the package account that a business is back.
func (s *Service) afterRestore(_ context.Context, c *op.Call, _ *Business, _ bool) error {
	s.accounts.ClearCallersOnCommit(c)
	return nil
}
