package domain

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// OperationType is what was ordered.
type OperationType string

// The types of orders.
const (
	registrationOrder OperationType = "domain_registration"
	renewalOrder      OperationType = "domain_renewal"
)

// OperationStatus is how far along an order is.
type OperationStatus string

// The statuses of orders. No caller sees an order before it is queued.
const (
	orderPaying    OperationStatus = "paying"    // the charge is not settled
	orderRefused   OperationStatus = "refused"   // the card was declined
	orderAbandoned OperationStatus = "abandoned" // the charge never reached the provider
	orderQueued    OperationStatus = "queued"
	orderRunning   OperationStatus = "running"
	orderSucceeded OperationStatus = "succeeded"
	orderFailed    OperationStatus = "failed"
)

// visibleOrders selects the orders that callers see.
const visibleOrders = "status IN ('queued', 'running', 'succeeded', 'failed')"

// orderStep is how far along the work on an order is. registering, renewing and refunding are
// intents: they are saved before the call to the provider, so that whoever takes over asks for
// its outcome. The others name what is done.
type orderStep string

const (
	stepRegistering orderStep = "registering"
	stepRegistered  orderStep = "registered"
	stepZone        orderStep = "zone"
	stepRecords     orderStep = "records"
	stepLocked      orderStep = "locked"
	stepRenewing    orderStep = "renewing"
	stepRenewed     orderStep = "renewed"
	stepRefunding   orderStep = "refunding"
)

// Operation is work that was paid for and continues after the answer.
type Operation struct {
	op.Record
	Type            OperationType   `json:"type" enum:"domain_registration,domain_renewal"`
	Status          OperationStatus `json:"status" enum:"queued,running,succeeded,failed" doc:"poll until it is final"`
	ResourceType    *string         `json:"resourceType" doc:"domain, on success"`
	ResourceID      *id.ID          `json:"resourceId" doc:"the domain, on success"`
	ResourceName    string          `json:"resourceName"`
	WorkflowID      string          `json:"workflowId"`
	PaymentIntentID *string         `json:"paymentIntentId" doc:"the payment provider's id of the charge"`
	ErrorCode       *string         `json:"errorCode"`
	ErrorMessage    *string         `json:"errorMessage" max:"2000" doc:"why it failed, and whether it was refunded"`
	CompletedAt     *clock.Time     `json:"completedAt"`

	DomainID  id.ID      `json:"-" db:"domain_id"`
	Step      orderStep  `json:"-" db:"step"`
	Wanted    Order      `json:"-" db:"wanted"`
	ChargedAt clock.Time `json:"-" db:"charged_at"`
	Automatic bool       `json:"-" db:"automatic"` // an automatic renewal, which no caller ordered
}

// Order is what was ordered and, once there is one, the outcome.
type Order struct {
	Years       int               `json:"years"`
	AmountCents int64             `json:"amountCents"`
	Card        string            `json:"card"`
	Customer    string            `json:"customer"`
	AutoRenew   bool              `json:"autoRenew"`
	ContactID   *id.ID            `json:"contactId"`
	Label       *string           `json:"label"`      // of the contact
	Registrant  *Registrant       `json:"registrant"` // of a registration
	Until       clock.Time        `json:"until"`      // when the registration ends without the renewal
	Held        *HeldRegistration `json:"held"`       // what the registrar answered
	Locked      bool              `json:"locked"`
	Chain       []id.ID           `json:"chain,omitempty"` // what led to it, as in its events
}

var operations = db.NewTable[Operation]("operations", db.Life{
	Noun:         "operation",
	ExternalText: db.NoExternalText,
	Refs: []db.Ref{
		db.RefTo("resource_id", "", db.Keeps),
		db.RefTo("domain_id", "domains", db.Keeps),
	},
})

func operationOperations() []*op.Op {
	return []*op.Op{
		op.ListRows(op.Spec{
			Name:      "operations.list",
			NounWords: "purchase, order, progress",
			Words:     "buy, purchase",
			Summary:   "List registrations and renewals that were paid for, newest first.",
			Resource:  "domains",
			Example:   `{"type": ["domain_registration"], "status": ["running"]}`,
		}, operations, filterOperations),
		op.Read(op.Spec{
			Name:     "operations.get",
			Words:    "gone through, purchase, how far, ready",
			Route:    "GET /v1/operations/{id}",
			Summary:  "Get the progress of a registration or renewal.",
			Resource: "domains",
			Example:  `{"id": ` + exampleID + `}`,
		}, getOperation),
	}
}

type operationList struct {
	op.Browse
	SortBy string            `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt"`
	Type   []OperationType   `query:"type" enum:"domain_registration,domain_renewal"`
	Status []OperationStatus `query:"status" enum:"queued,running,succeeded,failed"`
}

func filterOperations(in *operationList, w *db.Where) {
	w.And(visibleOrders)
	db.FilterOneOf(w, "type", in.Type)
	db.FilterOneOf(w, "status", in.Status)
}

type operationRef struct {
	ID id.ID `path:"id" doc:"the operation"`
}

func getOperation(ctx context.Context, c *op.Call, in operationRef) (*Operation, error) {
	return operations.Find(ctx, c.Tx, db.InOrganization(c.Org).And("id = ?", in.ID).And(visibleOrders))
}

// findOrder reads an order whatever its status, even one that callers do not see.
func findOrder(ctx context.Context, tx *db.Tx, org, ref id.ID) (*Operation, error) {
	return selectOrder(ctx, tx, org, ref, "")
}

// lockOrder is findOrder with the row locked. SQLite has one writer at a time and knows no
// such clause.
func lockOrder(ctx context.Context, tx *db.Tx, org, ref id.ID) (*Operation, error) {
	lock := ""
	if tx.Engine() == db.Postgres {
		lock = " FOR NO KEY UPDATE"
	}
	return selectOrder(ctx, tx, org, ref, lock)
}

func selectOrder(ctx context.Context, tx *db.Tx, org, ref id.ID, lock string) (*Operation, error) {
	o, err := db.QueryOne[Operation](ctx, tx, "SELECT "+operations.Columns()+`
		FROM operations
		WHERE organization_id = $1 AND id = $2`+lock, org, ref)
	return &o, err
}

// checkNoRenewal refuses while a renewal of the domain is being paid for or carried out.
func checkNoRenewal(ctx context.Context, tx *db.Tx, org, domain id.ID) error {
	rows, err := db.QueryAll[id.ID](ctx, tx, `
		SELECT id FROM operations
		WHERE organization_id = $1 AND domain_id = $2
		AND type = 'domain_renewal' AND status IN ('paying', 'queued', 'running')`, org, domain)
	if err == nil && len(rows) > 0 {
		err = RenewalInFlight.New()
	}
	return err
}
