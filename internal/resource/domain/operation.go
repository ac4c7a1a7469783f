package domain

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Operation is work that was paid for and goes on after the answer.
type Operation struct {
	op.Record
	Type            string      `json:"type" enum:"domain_registration,domain_renewal"`
	Status          string      `json:"status" enum:"queued,running,succeeded,failed" doc:"poll until it is succeeded or failed"`
	ResourceType    *string     `json:"resourceType" doc:"domain, on success"`
	ResourceID      *id.ID      `json:"resourceId" doc:"the domain, on success"`
	ResourceName    string      `json:"resourceName"`
	WorkflowID      string      `json:"workflowId"`
	PaymentIntentID *string     `json:"paymentIntentId" doc:"the payment provider's id of the charge"`
	ErrorCode       *string     `json:"errorCode"`
	ErrorMessage    *string     `json:"errorMessage" max:"2000" doc:"why it failed, and whether the charge was refunded"`
	CompletedAt     *clock.Time `json:"completedAt"`

	DomainID  id.ID      `json:"-" db:"domain_id"`
	Step      string     `json:"-" db:"step"`
	Wanted    Order      `json:"-" db:"wanted"`
	ChargedAt clock.Time `json:"-" db:"charged_at"`
	Automatic bool       `json:"-" db:"automatic"`
}

// Order is what was ordered and, once there is something to tell, what came of it.
type Order struct {
	Years       int         `json:"years"`
	AmountCents int64       `json:"amountCents"`
	Card        string      `json:"card"`
	Customer    string      `json:"customer"`
	AutoRenew   bool        `json:"autoRenew"`
	ContactID   *id.ID      `json:"contactId"`
	Label       *string     `json:"label"`      // of the contact
	Registrant  *Registrant `json:"registrant"` // of a registration
	Until       clock.Time  `json:"until"`      // when the registration ended before its renewal
	Held        *Held       `json:"held"`       // what the registrar answered
	Locked      bool        `json:"locked"`
	Chain       []id.ID     `json:"chain,omitempty"` // what led to it, as its events have it
}

const (
	registrationType = "domain_registration"
	renewalType      = "domain_renewal"
)

// The statuses that no caller sees: the charge is not settled, was declined,
// or never arrived.
const (
	paying    = "paying"
	refused   = "refused"
	abandoned = "abandoned"
)

var operations = db.NewTable[Operation]("operations", "operation")

const seen = "status IN ('queued', 'running', 'succeeded', 'failed')"

func operationOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{Name: "operations.list", Route: "GET /v1/operations", Summary: "List registrations and renewals that were paid for, newest first.",
			Resource: "domains", Example: `{"type": "domain_registration", "status": "running"}`}, listOperations),
		op.Read(op.Spec{Name: "operations.get", Route: "GET /v1/operations/{id}", Summary: "Get how far a registration or renewal is.",
			Resource: "domains", Example: `{"id": ` + exampleID + `}`}, getOperation),
	}
}

type operationList struct {
	op.Page
	Type   *string `query:"type" enum:"domain_registration,domain_renewal"`
	Status *string `query:"status" enum:"queued,running,succeeded,failed"`
}

func listOperations(ctx context.Context, c *op.Call, in operationList) (*op.List[Operation], error) {
	w := db.In(c.Org).And(seen)
	db.Equal(w, "type", in.Type)
	db.Equal(w, "status", in.Status)
	rows, err := operations.List(ctx, c.Tx, w, in.DB())
	return op.ListOf(in.Page, rows), err
}

type operationRef struct {
	ID id.ID `path:"id" doc:"the operation"`
}

func getOperation(ctx context.Context, c *op.Call, in operationRef) (*Operation, error) {
	return operations.Find(ctx, c.Tx, db.In(c.Org).And("id = ?", in.ID).And(seen))
}

// findOrder reads an order whatever its status, also one that was refused.
func findOrder(ctx context.Context, tx *db.Tx, org, ref id.ID) (*Operation, error) {
	text := "SELECT " + operations.Columns() + " FROM operations WHERE organization_id = $1 AND id = $2"
	o, err := db.One[Operation](ctx, tx, text, org, ref)
	return &o, err
}

// lockOrder is findOrder for a change.
func lockOrder(ctx context.Context, tx *db.Tx, org, ref id.ID) (*Operation, error) {
	text := "SELECT " + operations.Columns() + " FROM operations WHERE organization_id = $1 AND id = $2"
	if tx.Engine() == db.Postgres {
		text += " FOR NO KEY UPDATE"
	}
	o, err := db.One[Operation](ctx, tx, text, org, ref)
	return &o, err
}

// noRenewal refuses while a renewal of the domain is not over.
func noRenewal(ctx context.Context, tx *db.Tx, org, domain id.ID) error {
	rows, err := db.All[id.ID](ctx, tx, `SELECT id FROM operations WHERE organization_id = $1 AND domain_id = $2
		AND type = 'domain_renewal' AND status IN ('paying', 'queued', 'running')`, org, domain)
	if err == nil && len(rows) > 0 {
		err = RenewalInFlight.New()
	}
	return err
}
