// Package customer holds the people and companies that a business sells to, or
// hopes to, and the ledger of what each of them owes.
//
// Start reading at Customer in this file, which has list, create, get and update.
// put.go creates or updates by externalId. transaction.go is the ledger: rows are
// only added, by its own operation and by invoices through Enter, and the balance
// is their sum. billing.go and find.go are for other packages: how to bill a
// customer, and which customers an import means.
//
// A customer may name a contact, but has fields of its own: a change of the one
// never changes the other. Nothing here knows invoices.
package customer

import (
	"context"
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/property"
)

// Fields are what callers set of a customer.
type Fields struct {
	ContactID     *id.ID      `json:"contactId" ref:"contacts"`
	Type          string      `json:"type" default:"individual" enum:"individual,business"`
	Name          string      `json:"name" min:"1"`
	Email         *string     `json:"email" format:"email"`
	Phone         *string     `json:"phone"`
	Notes         *string     `json:"notes" max:"10000"`
	Status        Status      `json:"status" default:"prospect" enum:"prospect,active,inactive"`
	CustomerSince *clock.Time `json:"customerSince"`
	Tags          []string    `json:"tags" optional:"yes" max:"50" itemMax:"64" doc:"a change replaces all"`
}

// Customer is a person or a company that a business has a relationship with.
type Customer struct {
	op.Record
	BusinessID id.ID `json:"businessId"`
	Fields
	ExternalID *string `json:"externalId" doc:"what another system calls it"`

	Properties *[]property.Property `json:"properties,omitzero" db:"-" max:"10000" doc:"with include=properties"`

	Seq    int64  `json:"-" db:"seq"`
	Search string `json:"-" db:"search"`
}

var customers = db.NewTable[Customer]("customers", db.Life{
	Noun:         "customer",
	Counterparty: true,
	ExternalText: db.NoExternalText,
	Refs: []db.Ref{
		db.RefTo("business_id", "businesses", db.Keeps),
		db.RefTo("contact_id", "contacts"),
	},
})

var tags = op.TagTable{
	Table:  db.Declare("customer_tags", db.Life{Parent: db.RefTo("customer_id", "customers")}),
	Column: "customer_id",
}

// Status is where the relationship with a customer stands.
type Status string

const statusActive Status = "active" // most customers are, which listCustomers tells the planner

// Operations lists everything that can be done with customers.
func Operations() []*op.Op {
	const ref = `"id": "8e0d2b51-6a3f-4c0e-9b7a-2f1c5d4e6a90"`
	return slices.Concat(op.WithExport(op.WithBatch([]*op.Op{
		op.Read(op.Spec{
			Name:      "customers.list",
			NounWords: "client, buyer, account, patron, guest, patient, company",
			Words:     "regular, best",
			Route:     "GET /v1/customers",
			Summary:   "List customers, newest first.",
			Example:   `{"status": ["active"], "limit": 20}`,
		}, listCustomers),
		op.Write(op.Spec{
			Name:        "customers.create",
			Words:       "sign, won, become, client of ours",
			Route:       "POST /v1/customers",
			Summary:     "Create a customer.",
			Description: "Without businessId, the customer belongs to the caller's business.",
			Errors:      []*fault.Kind{op.ExternalIDTaken},
			Events:      []string{"customer.created"},
			Example: `{"name": "Analytical Engines Ltd", "type": "business", "email": "office@example.com", ` +
				`"customerSince": "2026-01-31T12:00:00Z"}`,
		}, createCustomer),
		op.Read(op.Spec{
			Name:    "customers.get",
			Words:   "everything about, all about",
			Route:   "GET /v1/customers/{id}",
			Summary: "Get a customer.",
			Example: `{` + ref + `}`,
		}, getCustomer),
		op.Write(op.Spec{
			Name:    "customers.update",
			Words:   "inactive, active, no longer work",
			Route:   "PATCH /v1/customers/{id}",
			Summary: "Change fields of a customer.",
			Errors:  []*fault.Kind{op.ExternalIDTaken},
			Events:  []string{"customer.updated"},
			Example: `{` + ref + `, "status": "active", "notes": null}`,
		}, updateCustomer),
		op.DeleteRow(op.Spec{Name: "customers.delete"}, customers),
		op.RestoreRow("customers", "customers", customers, nil),
	})), putOperations(), transactionOperations())
}

type customerRef struct {
	ID id.ID `path:"id" doc:"the customer"`
}

type customerList struct {
	op.Browse
	SortBy     string   `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt,name"`
	Query      *string  `query:"query" max:"200" doc:"part of a name, email or phone; 1-2 letters match word starts"`
	Status     []Status `query:"status" enum:"prospect,active,inactive"`
	Type       []string `query:"type" enum:"individual,business"`
	BusinessID *id.ID   `query:"businessId"`
	ContactID  *id.ID   `query:"contactId"`
	ExternalID *string  `query:"externalId"`
	Tag        []string `query:"tag" max:"50" itemMax:"64" doc:"one of these tags"`
	property.Filter
}

func listCustomers(ctx context.Context, c *op.Call, in customerList) (*op.List[Customer], error) {
	w := db.InOrganization(c.Org)
	db.FilterEqual(w, "external_id", in.ExternalID)
	tags.Filter(w, in.Tag)
	db.FilterEqual(w, "contact_id", in.ContactID)
	db.FilterChoice(w, "status", in.Status, statusActive)
	db.FilterChoice(w, "type", in.Type, "individual")
	db.FilterEqual(w, "business_id", in.BusinessID)
	if err := in.Filter.AddCondition(ctx, c, "customer", w); err != nil {
		return nil, err
	}
	q := op.ListQuery{Browse: in.Browse, SortBy: in.SortBy, Query: in.Query}
	list, err := op.BrowseRows(ctx, c, customers, q, w)
	if err != nil {
		return nil, err
	}
	return list, property.Fill(ctx, c, in.Include, list.Data, propertiesOf)
}

func propertiesOf(v *Customer) (id.ID, **[]property.Property) { return v.ID, &v.Properties }

// LoadShown finds live customers by their ids, as callers see them.
func LoadShown(ctx context.Context, c *op.Call, ids []id.ID) (map[id.ID]Customer, error) {
	rows, err := db.QueryAll[Customer](ctx, c.Tx, "SELECT "+customers.Columns()+` FROM customers
		WHERE organization_id = $1 AND id = ANY($2) AND deleted_at IS NULL`, c.Org, ids)
	out := map[id.ID]Customer{}
	for _, v := range rows {
		out[v.ID] = v
	}
	return out, err
}

// Names are what live customers are called, by id, and whether outsiders wrote any of it.
func Names(ctx context.Context, tx *db.Tx, org id.ID, ids []id.ID) (names map[id.ID]string, external bool, err error) {
	names = map[id.ID]string{}
	for some := range slices.Chunk(ids, 1000) {
		rows, err := db.QueryAll[struct {
			ID       id.ID  `db:"id"`
			Name     string `db:"name"`
			External bool   `db:"external"`
		}](ctx, tx, `
			SELECT id, name, external FROM customers
			WHERE organization_id = $1 AND id = ANY($2) AND deleted_at IS NULL`, org, some)
		if err != nil {
			return nil, false, err
		}
		for _, r := range rows {
			names[r.ID], external = r.Name, external || r.External
		}
	}
	return names, external, nil
}

type customerCreate struct {
	BusinessID *id.ID `json:"businessId" ref:"businesses" doc:"by default the caller's"`
	Fields
	ExternalID *string `json:"externalId" min:"1" doc:"what another system calls it; unique"`
}

func (in *customerCreate) Prepare(context.Context, *op.Call) error {
	var tree *fault.Tree
	in.Tags, tree = op.NormalizeTags(tree, in.Tags)
	return tree.Fault(fault.Invalid)
}

func createCustomer(ctx context.Context, c *op.Call, in customerCreate) (*Customer, error) {
	v := &Customer{Record: c.NewRecord(), BusinessID: c.Caller.Business, Fields: in.Fields, ExternalID: in.ExternalID}
	if in.BusinessID != nil {
		v.BusinessID = *in.BusinessID
	}
	if v.BusinessID == "" {
		return nil, fault.Field("businessId", "Required") // the operator has no business of its own
	}
	if err := op.ReserveExternalID(ctx, c, customers.Name(), v.ID, v.ExternalID); err != nil {
		return nil, err
	}
	if err := op.LockReferences(ctx, c, v.businessRef(), v.contactRef()); err != nil {
		return nil, err
	}
	v.Search = v.searchWords()
	if err := customers.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	if err := tags.Write(ctx, c, v.ID, nil, v.Tags); err != nil {
		return nil, err
	}
	return v, c.Emit("customer.created", v.ID, v)
}

func (v *Customer) businessRef() op.FieldRef {
	return op.FieldRef{Field: "businessId", Table: "businesses", ID: &v.BusinessID}
}

func (v *Customer) contactRef() op.FieldRef {
	return op.FieldRef{Field: "contactId", Table: "contacts", ID: v.ContactID}
}

// searchWords are the text that a search finds a customer by.
func (v *Customer) searchWords() string { return db.SearchText(&v.Name, v.Email, v.Phone) }

type customerGet struct {
	customerRef
	property.Include
}

func getCustomer(ctx context.Context, c *op.Call, in customerGet) (*Customer, error) {
	v, err := customers.Get(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	return v, property.FillOne(ctx, c, in.Include, v, propertiesOf)
}

type customerUpdate struct {
	customerRef
	customerChanges
	ExternalID op.Nullable[string] `json:"externalId" min:"1"`
}

// customerChanges are the fields that can be changed.
type customerChanges struct {
	BusinessID op.Optional[id.ID] `json:"businessId" ref:"businesses"`
	op.Changes[Fields]
}

func (in *customerChanges) Prepare(context.Context, *op.Call) error {
	var tree *fault.Tree
	in.To.Tags, tree = op.NormalizeTags(tree, in.To.Tags)
	return tree.Fault(fault.Invalid)
}

func updateCustomer(ctx context.Context, c *op.Call, in customerUpdate) (*Customer, error) {
	if err := op.ReserveExternalID(ctx, c, customers.Name(), in.ID, in.ExternalID.PtrOrNil()); err != nil {
		return nil, err
	}
	v, err := customers.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	before := *v
	if !op.Apply(v, &in) {
		return v, nil
	}
	business, contact := v.businessRef(), v.contactRef()
	business.Stored, contact.Stored = &before.BusinessID, before.ContactID
	if err := op.LockReferences(ctx, c, business, contact); err != nil {
		return nil, err
	}
	v.UpdatedAt = c.Now
	v.Search = v.searchWords()
	if err := tags.Write(ctx, c, v.ID, before.Tags, v.Tags); err != nil {
		return nil, err
	}
	if err := customers.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("customer.updated", v.ID, v)
}
