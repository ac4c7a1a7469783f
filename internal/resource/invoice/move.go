package invoice

import (
	"context"
	"fmt"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/customer"

	"github.com/go-json-experiment/json"
)

// The statuses of an invoice.
//
//	draft ──issue──▶ issued ──send──▶ sent ──payment──▶ partially_paid ──payment──▶ paid
//	                   └── dueAt passes ──▶ overdue ──payments──▶ paid
//	                   └── void, while nothing is paid ──▶ void
//
// Once issued, the status follows from what happened (standing), so that a
// payment that is voided leads back to where it came from.
const (
	draft         = "draft"
	issued        = "issued"
	sent          = "sent"
	partiallyPaid = "partially_paid"
	paid          = "paid"
	overdue       = "overdue"
	void          = "void"
)

// What the moves refuse with.
var (
	TransitionInvalid = fault.Define("INVOICE_TRANSITION_INVALID", 409, "The invoice cannot make this move.")
	CustomerDeleted   = fault.Define("INVOICE_CUSTOMER_DELETED", 409, "The customer of this invoice was deleted. Give the draft another one first.")
	Empty             = fault.Define("INVOICE_EMPTY", 409, "An invoice needs a line item and a total above zero to be issued. Add line items to the draft first.")
)

// standing is the status of an issued invoice as what happened to it says.
func (v *Invoice) standing() string {
	switch {
	case v.AmountPaidCents == v.TotalAmountCents:
		return paid
	case v.OverdueAt != nil:
		return overdue // a part payment leaves it so
	case v.AmountPaidCents > 0:
		return partiallyPaid
	case v.SentAt != nil:
		return sent
	}
	return issued
}

func (v *Invoice) refuseMove(to, why string) error {
	return TransitionInvalid.Say("The invoice cannot go from %s to %s: %s.", v.Status, to, why)
}

func moveOperations() []*op.Op {
	return []*op.Op{
		op.Write(op.Spec{Name: "invoices.issue", Route: "POST /v1/invoices/{id}/issue", Status: 200, Summary: "Issue a draft: it gets its number and can no longer be changed.",
			Description: "The customer's ledger shows it from now on.", Errors: []*fault.Kind{TransitionInvalid, Empty, CustomerDeleted}, Events: []string{"invoice.issued"},
			Example: `{"id": ` + exampleID + `}`}, issueInvoice),
		op.Write(op.Spec{Name: "invoices.void", Route: "POST /v1/invoices/{id}/void", Status: 200, Summary: "Void an issued invoice of which nothing is paid.",
			Description: "It keeps its number. A credit in the customer's ledger takes it back.", Errors: []*fault.Kind{TransitionInvalid}, Events: []string{"invoice.voided"},
			Example: `{"id": ` + exampleID + `}`}, voidInvoice),
	}
}

func issueInvoice(ctx context.Context, c *op.Call, in invoiceRef) (*Invoice, error) {
	v, err := lock(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Status != draft {
		return nil, v.refuseMove(issued, "it was issued already")
	}
	if len(v.LineItems) == 0 || v.TotalAmountCents == 0 {
		return nil, Empty.New()
	}
	if err := v.holdCustomer(ctx, c); err != nil {
		return nil, err
	}
	if err := v.number(ctx, c); err != nil {
		return nil, err
	}
	v.IssuedAt = &c.Now
	v.Status = v.standing()
	if err := v.save(ctx, c); err != nil {
		return nil, err
	}
	if err := v.enter(ctx, c, customer.Transaction{Type: customer.Invoiced, AmountCents: v.TotalAmountCents, OccurredAt: c.Now}, "Invoice %s"); err != nil {
		return nil, err
	}
	return v, c.Emit("invoice.issued", v.ID, v)
}

// holdCustomer keeps the customer from being deleted until the invoice is issued.
func (v *Invoice) holdCustomer(ctx context.Context, c *op.Call) error {
	if v.CustomerID == nil {
		return CustomerDeleted.New()
	}
	err := customer.Hold(ctx, c, *v.CustomerID)
	if fault.Has(err, fault.NotFound) {
		return CustomerDeleted.New()
	}
	return err
}

func voidInvoice(ctx context.Context, c *op.Call, in invoiceRef) (*Invoice, error) {
	v, err := lock(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case v.Status == void:
		return nil, v.refuseMove(void, "it is void already")
	case v.Status == draft:
		return nil, v.refuseMove(void, "delete the draft")
	case v.AmountPaidCents > 0:
		return nil, v.refuseMove(void, "void its payments first")
	}
	v.Status = void
	if err := v.save(ctx, c); err != nil {
		return nil, err
	}
	if err := v.enter(ctx, c, customer.Transaction{Type: customer.Credit, AmountCents: v.TotalAmountCents, OccurredAt: c.Now}, "Invoice %s voided"); err != nil {
		return nil, err
	}
	return v, c.Emit("invoice.voided", v.ID, v)
}

// enter writes the customer's ledger. A customer that was purged has none.
func (v *Invoice) enter(ctx context.Context, c *op.Call, row customer.Transaction, words string) error {
	if v.CustomerID == nil {
		return nil
	}
	text := fmt.Sprintf(words, *v.InvoiceNumber)
	row.CustomerID, row.Currency, row.InvoiceID, row.Description = *v.CustomerID, v.Currency, &v.ID, &text
	return customer.Enter(ctx, c, &row)
}

// age makes an invoice overdue whose time has passed, and reports whether it
// just became so.
func (v *Invoice) age(now clock.Time) bool {
	if v.OverdueAt != nil || v.DueAt == nil || *v.DueAt > now || v.AmountPaidCents == v.TotalAmountCents {
		return false
	}
	v.OverdueAt = &now
	return true
}

// MakeOverdue moves at most limit invoices whose dueAt has passed, of all
// organizations, and reports whether there may be more.
func MakeOverdue(ctx context.Context, tx *db.Tx, log *event.Log, now clock.Time, limit int) (more bool, err error) {
	// The conditions stand twice, because a payment may come between the look
	// and the lock.
	const open = "status IN ('issued', 'sent', 'partially_paid')"
	rows, err := db.All[Invoice](ctx, tx, `
		UPDATE invoices SET status = 'overdue', overdue_at = $1, updated_at = $1
		WHERE seq IN (SELECT seq FROM invoices WHERE due_at IS NOT NULL AND due_at <= $1 AND `+open+` ORDER BY due_at LIMIT $2) AND `+open+`
		RETURNING `+invoices.Columns(), now, limit)
	if err != nil {
		return false, err
	}
	for i := range rows {
		one := rows[i : i+1]
		if err := load(ctx, tx, one[0].OrganizationID, one); err != nil {
			return false, err
		}
		data, err := json.Marshal(&one[0], json.Deterministic(true))
		if err != nil {
			return false, err
		}
		if err := log.Append(ctx, tx, event.Event{Organization: one[0].OrganizationID, At: now, Type: "invoice.overdue", ResourceID: one[0].ID, Data: data}.BySystem()); err != nil {
			return false, err
		}
	}
	return len(rows) == limit, nil
}
