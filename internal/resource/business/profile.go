package business

import (
	"context"
	"reflect"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// BusinessProfile is how a business describes itself. Every business has one. Until
// somebody writes it there is no row, and the empty profile has the id and creation
// time of the business.
type BusinessProfile struct {
	op.Record
	BusinessID id.ID `json:"businessId"`
	profileFields
}

type profileFields struct {
	Tagline     *string     `json:"tagline" max:"10000"`
	About       *string     `json:"about" max:"10000"`
	Mission     *string     `json:"mission" max:"10000"`
	ToneOfVoice *string     `json:"toneOfVoice" max:"10000" doc:"how the business wants to sound"`
	Audience    *string     `json:"audience" max:"10000"`
	FoundedOn   *clock.Date `json:"foundedOn"`
	TaxID       *string     `json:"taxId"`
	Email       *string     `json:"email" format:"email"`
	Phone       *string     `json:"phone"`
	Website     *string     `json:"website" format:"url" max:"2048"`
}

var profiles = db.NewTable[BusinessProfile]("business_profiles", db.Life{
	Noun:         "business profile",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("business_id", "businesses", db.EndsAtPurge),
	Permanent:    true,
})

func profileOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{
			Name: "businesses.profile.get",
			NounWords: "about us, slogan, mission, tagline, tone, vat number, tax number, introduction, " +
				"opening text, found, self-description",
			Route:       "GET /v1/businesses/{id}/profile",
			Summary:     "Get the profile of a business.",
			Description: "Every business has one; its fields are null until they are set.",
			Example:     `{` + exampleID + `}`,
		}, getProfile),
		op.Write(op.Spec{
			Name:    "businesses.profile.replace",
			Route:   "PUT /v1/businesses/{id}/profile",
			Summary: "Replace the profile of a business; omitted fields become null.",
			Events:  []string{"business.profile.updated"},
			Example: `{` + exampleID +
				`, "tagline": "Engines that think", "about": "We build calculating engines.", "foundedOn": ` +
				`"1837-12-01", ` +
				`"website": "https://example.com"}`,
		}, replaceProfile),
		op.Write(op.Spec{
			Name:    "businesses.profile.update",
			Words:   "should say",
			Route:   "PATCH /v1/businesses/{id}/profile",
			Summary: "Change fields of the profile of a business.",
			Events:  []string{"business.profile.updated"},
			Example: `{` + exampleID + `, "toneOfVoice": "Plain and friendly", "email": null}`,
		}, updateProfile),
	}
}

func getProfile(ctx context.Context, c *op.Call, in businessRef) (*BusinessProfile, error) {
	b, err := businesses.Get(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	v, _, err := findProfile(ctx, c, b)
	return v, err
}

// findProfile finds the profile of a business, and reports whether it was ever written.
func findProfile(ctx context.Context, c *op.Call, b *Business) (v *BusinessProfile, written bool, err error) {
	rows, err := profiles.List(ctx, c.Tx, db.InOrganization(c.Org).And("business_id = ?", b.ID), db.Page{Limit: 1})
	if err != nil {
		return nil, false, err
	}
	if len(rows) > 0 {
		return &rows[0], true, nil
	}
	return &BusinessProfile{Record: op.Record{ID: b.ID, CreatedAt: b.CreatedAt, UpdatedAt: b.CreatedAt,
		OrganizationID: c.Org}, BusinessID: b.ID}, false, nil
}

type profileReplace struct {
	businessRef
	profileFields
}

func replaceProfile(ctx context.Context, c *op.Call, in profileReplace) (*BusinessProfile, error) {
	return writeProfile(ctx, c, in.ID, func(v *BusinessProfile) (changed bool) {
		changed = !reflect.DeepEqual(v.profileFields, in.profileFields)
		v.profileFields = in.profileFields
		return changed
	})
}

type profileUpdate struct {
	businessRef
	op.Changes[profileFields]
}

func updateProfile(ctx context.Context, c *op.Call, in profileUpdate) (*BusinessProfile, error) {
	return writeProfile(ctx, c, in.ID, func(v *BusinessProfile) bool { return op.Apply(v, &in) })
}

// writeProfile changes a profile. It locks the business, so that only one of two first writes
// adds the row.
func writeProfile(ctx context.Context, c *op.Call, business id.ID,
	change func(*BusinessProfile) bool) (*BusinessProfile, error) {
	b, err := businesses.Lock(ctx, c.Tx, c.Org, business)
	if err != nil {
		return nil, err
	}
	v, written, err := findProfile(ctx, c, b)
	if err != nil || !change(v) {
		return v, err
	}
	v.UpdatedAt = c.Now
	if written {
		err = profiles.Save(ctx, c.Tx, v)
	} else {
		err = profiles.Insert(ctx, c.Tx, v)
	}
	if err != nil {
		return nil, err
	}
	return v, c.Emit("business.profile.updated", v.ID, v)
}

// ListEmails lists the addresses that the profiles of the organization's businesses name, that of one of them first.
func ListEmails(ctx context.Context, tx *db.Tx, org, first id.ID) ([]string, error) {
	return db.QueryAll[string](ctx, tx, `
		SELECT email FROM business_profiles
		WHERE organization_id = $1 AND email IS NOT NULL AND deleted_at IS NULL
		ORDER BY CASE WHEN business_id = $2 THEN 0 ELSE 1 END, created_at, seq LIMIT 20`, org, first)
}
