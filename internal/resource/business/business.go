// Package business holds the businesses of an organization. Their row is told
// by account, which makes the first one with the organization; from then on
// they are a resource like others, but for one rule: the last one stays.
//
// Under a business hangs what it tells of itself: profile, offerings, online
// and physical presences, each in a file of its own.
package business

import (
	"context"
	"slices"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Business is what the organization trades as.
type Business = account.Business

var businesses = account.Businesses

// InUse refuses to delete a business that something still acts for.
var InUse = fault.Define("BUSINESS_IN_USE", 409, "The business has API keys or agents. Revoke, delete or move them first.")

// Last refuses to leave an organization without a business.
var Last = fault.Define("BUSINESS_LAST", 409, "The last business of an organization cannot be deleted.")

// Operations lists everything that can be done with businesses and with what
// hangs under them. Accounts are told when a business is gone, and the keys
// that belong to it with it.
func Operations(accounts *account.Accounts) []*op.Op {
	return slices.Concat(businessOperations(accounts), profileOperations(), offeringOperations(), onlinePresenceOperations(), physicalPresenceOperations())
}

const exampleID = `"id": "4b7e1f20-3c5d-4e8a-8f6b-9a0c1d2e3f41"`

func businessOperations(accounts *account.Accounts) []*op.Op {
	const ref = exampleID
	return []*op.Op{
		op.Read(op.Spec{Name: "businesses.list", Route: "GET /v1/businesses", Summary: "List the organization's businesses, newest first.",
			Example: `{"limit": 20}`}, listBusinesses),
		op.Write(op.Spec{Name: "businesses.create", Route: "POST /v1/businesses", Summary: "Create a business.",
			Description: "Keys and agents of the new business work once its agreement is accepted.", Events: []string{"business.created"},
			Example: `{"name": "Analytical Engines", "timezone": "Europe/London", "locale": "en-GB", "currency": "gbp"}`}, createBusiness),
		op.Read(op.Spec{Name: "businesses.get", Route: "GET /v1/businesses/{id}", Summary: "Get a business.",
			Example: `{` + ref + `}`}, getBusiness),
		op.Write(op.Spec{Name: "businesses.update", Route: "PATCH /v1/businesses/{id}", Summary: "Change fields of a business.", Events: []string{"business.updated"},
			Example: `{` + ref + `, "industry": "Computing", "description": null}`}, updateBusiness),
		op.Write(op.Spec{Name: "businesses.delete", Route: "DELETE /v1/businesses/{id}", Summary: "Delete a business.",
			Description: "One that has API keys or agents cannot be deleted, nor the last business of an organization.",
			Errors:      []*fault.Kind{InUse, Last}, Events: []string{"business.deleted"},
			Example: `{` + ref + `}`},
			func(ctx context.Context, c *op.Call, in businessRef) (op.Nothing, error) {
				accounts.Changed(c)
				return deleteBusiness(ctx, c, in)
			}),
	}
}

type businessRef struct {
	ID id.ID `path:"id" doc:"the business"`
}

type businessList struct{ op.Page }

func listBusinesses(ctx context.Context, c *op.Call, in businessList) (*op.List[Business], error) {
	rows, err := businesses.List(ctx, c.Tx, db.In(c.Org), in.DB())
	return op.ListOf(in.Page, rows), err
}

type businessCreate struct {
	Name        string  `json:"name" min:"1"`
	LegalName   *string `json:"legalName"`
	Description *string `json:"description" max:"10000"`
	Industry    *string `json:"industry"`
	Timezone    string  `json:"timezone" default:"UTC" format:"timezone"`
	Locale      string  `json:"locale" default:"en-US" format:"locale"`
	Currency    string  `json:"currency" default:"usd" format:"currency"`
	LogoFileID  *id.ID  `json:"logoFileId" ref:"files"`
}

func createBusiness(ctx context.Context, c *op.Call, in businessCreate) (*Business, error) {
	if err := checkLogo(ctx, c, in.LogoFileID, nil); err != nil {
		return nil, err
	}
	v := &Business{Record: c.NewRecord(), Name: in.Name, LegalName: in.LegalName, Description: in.Description, Industry: in.Industry,
		Timezone: in.Timezone, Locale: in.Locale, Currency: in.Currency, LogoFileID: in.LogoFileID}
	if err := businesses.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("business.created", v.ID, v)
}

// checkLogo refuses a logo that the organization cannot see.
func checkLogo(ctx context.Context, c *op.Call, file, was *id.ID) error {
	return op.References(ctx, c, op.Ref{Field: "logoFileId", Table: "files", ID: file, Was: was})
}

func getBusiness(ctx context.Context, c *op.Call, in businessRef) (*Business, error) {
	return businesses.Get(ctx, c.Tx, c.Org, in.ID)
}

type businessUpdate struct {
	businessRef
	Name        op.Maybe[string] `json:"name" min:"1"`
	LegalName   op.Opt[string]   `json:"legalName"`
	Description op.Opt[string]   `json:"description" max:"10000"`
	Industry    op.Opt[string]   `json:"industry"`
	Timezone    op.Maybe[string] `json:"timezone" format:"timezone"`
	Locale      op.Maybe[string] `json:"locale" format:"locale"`
	Currency    op.Maybe[string] `json:"currency" format:"currency"`
	LogoFileID  op.Opt[id.ID]    `json:"logoFileId" ref:"files"`
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
	if err := checkLogo(ctx, c, v.LogoFileID, logo); err != nil {
		return nil, err
	}
	v.UpdatedAt = c.Now
	if err := businesses.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("business.updated", v.ID, v)
}

func deleteBusiness(ctx context.Context, c *op.Call, in businessRef) (op.Nothing, error) {
	// The organization is the root of the rule: two deletions, each of which
	// leaves the other's business, would together leave none.
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return op.Nothing{}, db.Missing(err, "business")
	}
	v, err := businesses.Remove(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	left, err := businesses.Count(ctx, c.Tx, db.In(c.Org))
	if err != nil {
		return op.Nothing{}, err
	}
	if left == 0 {
		return op.Nothing{}, Last.New()
	}
	used, err := account.UsersOf(ctx, c, v.ID)
	if err != nil {
		return op.Nothing{}, err
	}
	if !used.None() {
		return op.Nothing{}, InUse.With(used)
	}
	return op.Nothing{}, c.Emit("business.deleted", v.ID, v)
}
