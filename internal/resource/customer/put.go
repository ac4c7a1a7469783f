package customer

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

func putOperations() []*op.Op {
	return []*op.Op{
		op.Write(op.Spec{
			Name:    "customers.put_by_external_id",
			Words:   "webshop, sync, other system, create or change, add or update",
			Route:   "PUT /v1/customers/by-external-id/{externalId}",
			Summary: "Create or change the customer that another system knows by an id.",
			Description: "Changes the fields that are sent, like PATCH, and keeps the rest. Without a customer that " +
				"has the externalId it creates one, which needs a name, and answers 201. Several at once create one " +
				"customer.",
			MayCreate: true,
			Errors:    []*fault.Kind{op.ExternalIDTaken},
			Events:    []string{"customer.created", "customer.updated"},
			Example:   `{"externalId": "shop-1042", "name": "Analytical Engines Ltd", "type": "business"}`,
		}, putByExternalID),
	}
}

type customerPut struct {
	ExternalID string `path:"externalId" min:"1"`
	customerChanges
}

func putByExternalID(ctx context.Context, c *op.Call, in customerPut) (*Customer, error) {
	// Two calls at once with a new externalId must create one customer, not two: they take turns by this lock.
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return nil, db.AsNotFound(err, "organization")
	}
	for {
		found, err := db.QueryAll[id.ID](ctx, c.Tx, `
			SELECT id
			FROM customers
			WHERE organization_id = $1 AND external_id = $2 AND deleted_at IS NULL`, c.Org, in.ExternalID)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return in.createFromPut(ctx, c)
		}
		v, err := updateCustomer(ctx, c,
			customerUpdate{customerRef: customerRef{found[0]}, customerChanges: in.customerChanges})
		if fault.IsKind(err, fault.NotFound) {
			continue // it was deleted before it was locked
		}
		return v, err
	}
}

func (in *customerPut) createFromPut(ctx context.Context, c *op.Call) (*Customer, error) {
	if !in.Has("name") {
		return nil, fault.Field("name", "Required, because no customer has this externalId yet")
	}
	create := customerCreate{Fields: in.WithDefaults(), ExternalID: &in.ExternalID}
	if in.BusinessID.Set {
		create.BusinessID = &in.BusinessID.Value
	}
	c.MarkCreated()
	return createCustomer(ctx, c, create)
}
