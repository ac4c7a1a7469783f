package account

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Organization is the tenant: every other row belongs to one. People call it their
// account.
type Organization struct {
	ID        id.ID      `json:"id"`
	CreatedAt clock.Time `json:"createdAt"`
	UpdatedAt clock.Time `json:"updatedAt"`
	Name      string     `json:"name"`
	Plan      string     `json:"plan" enum:"free,starter,professional,enterprise"`
	Status    Status     `json:"status" enum:"active,disabled"`
	IsDemo    bool       `json:"isDemo"`
}

const organizationColumns = "id, created_at, updated_at, name, plan, status, is_demo"

func (a *Accounts) organizationOperations() []*op.Op {
	return []*op.Op{
		op.Write(op.Spec{
			Name:     "organizations.create",
			Summary:  "Create an organization with its first business.",
			Resource: op.Account,
			Doors:    op.AdminDoor,
			Status:   201,
			Events:   []string{"organization.created", "business.created"},
			Example:  `{"name": "Analytical Engines", "plan": "starter"}`,

			// the name of its first business, and what never changes
			FieldExceptions: []string{"businessName", "isDemo"},
		}, a.createOrganization),
		op.Write(op.Spec{
			Name:     "organizations.update",
			Summary:  "Change an organization's name, plan or status.",
			Resource: op.Account,
			Doors:    op.AdminDoor,
			Events:   []string{"organization.updated"},
			Example:  `{"plan": "professional"}`,

			FieldExceptions: []string{"status"}, // a new one is active
		}, a.updateOrganization),
		op.Read(op.Spec{
			Name:     "organizations.get",
			Summary:  "Show the organization.",
			Resource: op.Account,
			Doors:    Doors,
			Example:  `{}`,
		}, a.getOrganization),
	}
}

type organizationCreate struct {
	Name         string  `json:"name" min:"1"`
	Plan         string  `json:"plan" default:"free" enum:"free,starter,professional,enterprise"`
	BusinessName *string `json:"businessName" min:"1" doc:"by default the organization's name"`
	IsDemo       bool    `json:"isDemo" default:"false"`
}

// Created is a new organization and the id of its first business.
type Created struct {
	Organization
	OrganizationID id.ID `json:"organizationId"`
	BusinessID     id.ID `json:"businessId"`
}

func (a *Accounts) createOrganization(ctx context.Context, c *op.Call, in organizationCreate) (*Created, error) {
	org := &Created{Organization: Organization{ID: id.New(), CreatedAt: c.Now, UpdatedAt: c.Now, Name: in.Name,
		Plan: in.Plan, Status: Active, IsDemo: in.IsDemo}}
	c.Org, org.OrganizationID = org.ID, org.ID
	_, err := db.Exec(ctx, c.Tx, `INSERT INTO organizations (`+organizationColumns+
		`) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		org.ID, org.CreatedAt, org.UpdatedAt, org.Name, org.Plan, org.Status, org.IsDemo)
	if err != nil {
		return nil, err
	}
	name := in.Name
	if in.BusinessName != nil {
		name = *in.BusinessName
	}
	business := Business{Record: c.NewRecord(),
		BusinessFields: BusinessFields{Name: name, Timezone: "UTC", Locale: "en-US", Currency: "usd"}}
	org.BusinessID = business.ID
	if err := Businesses.Insert(ctx, c.Tx, &business); err != nil {
		return nil, err
	}
	if err := c.Emit("organization.created", org.ID, org); err != nil {
		return nil, err
	}
	return org, c.Emit("business.created", business.ID, &business)
}

type organizationUpdate struct {
	Name   op.Optional[string] `json:"name" min:"1"`
	Plan   op.Optional[string] `json:"plan" enum:"free,starter,professional,enterprise"`
	Status op.Optional[Status] `json:"status" enum:"active,disabled"`
}

func (a *Accounts) updateOrganization(ctx context.Context, c *op.Call, in organizationUpdate) (*Organization, error) {
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return nil, db.AsNotFound(err, "organization")
	}
	org, err := a.getOrganization(ctx, c, struct{}{})
	if err != nil || !op.Apply(org, &in) {
		return org, err
	}
	org.UpdatedAt = c.Now
	if _, err := db.Exec(ctx, c.Tx, `
		UPDATE organizations
		SET name = $2, plan = $3, status = $4, updated_at = $5
		WHERE id = $1`,
		c.Org, org.Name, org.Plan, org.Status, c.Now); err != nil {
		return nil, err
	}
	a.ClearCallersOnCommit(c)
	return org, c.Emit("organization.updated", org.ID, org)
}

func (a *Accounts) getOrganization(ctx context.Context, c *op.Call, _ struct{}) (*Organization, error) {
	org, err := LoadOrganization(ctx, c.Tx, c.Org)
	return org, db.AsNotFound(err, "organization")
}

// LoadOrganization reads an organization, or returns db.ErrNoRow.
func LoadOrganization(ctx context.Context, tx *db.Tx, org id.ID) (*Organization, error) {
	v, err := db.QueryOne[Organization](ctx, tx, "SELECT "+organizationColumns+" FROM organizations WHERE id = $1", org)
	return &v, err
}

// ActiveOrganizationSQL returns the SQL condition that the organization whose id
// the column holds is active.
func ActiveOrganizationSQL(column string) string {
	return "EXISTS (SELECT 1 FROM organizations o WHERE o.id = " + column +
		" AND o.status = 'active' AND o.deleted_at IS NULL)"
}

// OwningOrganization returns the organization that a thing belongs to, by the thing's noun and id. It
// serves the operator, whose commands name things and not organizations.
func (a *Accounts) OwningOrganization(ctx context.Context, noun string, ref id.ID) (org id.ID, err error) {
	statement := map[string]string{
		"organization": "SELECT id FROM organizations WHERE id = $1",
		"business":     "SELECT organization_id FROM businesses WHERE id = $1 AND deleted_at IS NULL",
		"API key":      "SELECT organization_id FROM api_keys WHERE id = $1 AND deleted_at IS NULL",
		"agent":        "SELECT organization_id FROM agents WHERE id = $1 AND deleted_at IS NULL",
	}[noun]
	err = a.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if statement != "" {
			org, err = db.QueryOne[id.ID](ctx, tx, statement, ref)
			return err
		}
		// Deleted rows count too, and so do rows known only to the event log: they can be erased.
		if org, err = db.OrganizationOf(ctx, tx, noun, ref); errors.Is(err, db.ErrNoRow) {
			org, err = event.FindOrganization(ctx, tx, noun, ref)
		}
		return err
	})
	return org, db.AsNotFound(err, noun)
}

// IsEmptyOrDemo reports whether there is no organization yet, and whether this is a
// demo database: one whose first organization is the demo.
func (a *Accounts) IsEmptyOrDemo(ctx context.Context) (empty, demo bool, err error) {
	err = a.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		first, err := db.QueryAll[bool](ctx, tx, "SELECT is_demo FROM organizations ORDER BY seq LIMIT 1")
		empty, demo = len(first) == 0, len(first) > 0 && first[0]
		return err
	})
	return empty, demo, err
}
