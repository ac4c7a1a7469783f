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

// Status is where an invoice stands.
//
//	draft ──issue──▶ issued ──send──▶ sent ──payment──▶ partially_paid ──▶ paid
//	                   └── dueAt passes ──▶ overdue ──▶ paid
//	                   └── void, while nothing is paid or credited ──▶ void
//
// Paid means that nothing is due: payments, credit notes or both settled it.
// Once issued, the status follows from what happened (currentStatus), so voiding
// or refunding a payment leads back to the status before it.
type Status string

// The statuses of invoices.
const (
	statusDraft         Status = "draft"
	statusIssued        Status = "issued"
	statusSent          Status = "sent"
	statusPartiallyPaid Status = "partially_paid"
	statusPaid          Status = "paid"
	statusOverdue       Status = "overdue"
	statusVoid          Status = "void"
)

// The refusals of moves.
var (
	TransitionInvalid = fault.DefineKind("INVOICE_TRANSITION_INVALID", 409, "The invoice cannot make this move.")
	CustomerDeleted   = fault.DefineKind("INVOICE_CUSTOMER_DELETED", 409,
		"The customer of this invoice was deleted. Give the draft another one first.")
	Empty = fault.DefineKind("INVOICE_EMPTY", 409,
		"An invoice needs a line item to be issued. Add line items to the draft first.")
)

// currentStatus is the status of an issued invoice, derived from what happened
// to it.
func (v *Invoice) currentStatus() Status {
	switch {
	case v.isSettled():
		return statusPaid // also one that was credited
	case v.OverdueAt != nil:
		return statusOverdue // a partial payment does not change that
	case v.AmountPaidCents > 0:
		return statusPartiallyPaid
	case v.SentAt != nil:
		return statusSent
	}
	return statusIssued
}

// moveFault refuses a change of status. why continues the sentence.
func (v *Invoice) moveFault(to Status, why string) error {
	return TransitionInvalid.Say("The invoice cannot go from %s to %s: %s.", v.Status, to, why)
}

func moveOperations() []*op.Op {
	return []*op.Op{
		op.Write(op.Spec{
			Name:        "invoices.issue",
			Words:       "final, finalise, finalize, number, approve, finish, make official",
			Route:       "POST /v1/invoices/{id}/issue",
			Status:      200,
			Summary:     "Issue a draft: it gets its number and can no longer be changed.",
			Description: "The customer's ledger includes it from now on. A total of zero is paid at once.",
			Errors:      []*fault.Kind{TransitionInvalid, Empty, CustomerDeleted},
			Events:      []string{"invoice.issued", "invoice.paid"},
			Example:     `{"id": ` + exampleID + `}`,
		}, issueInvoice),
		op.Write(op.Spec{
			Name:        "invoices.void",
			Words:       "cancel, mistake, not count, annul, invalid, storno",
			Route:       "POST /v1/invoices/{id}/void",
			Status:      200,
			Summary:     "Void an issued invoice that has no payments and no credit notes.",
			Description: "It keeps its number. A credit in the customer's ledger reverses it.",
			Errors:      []*fault.Kind{TransitionInvalid},
			Events:      []string{"invoice.voided"},
			Example:     `{"id": ` + exampleID + `}`,
		}, voidInvoice),
	}
}

// issueInvoice gives a draft its number and enters it in the ledger. A total of zero is paid
// at once.
func issueInvoice(ctx context.Context, c *op.Call, in invoiceRef) (*Invoice, error) {
	v, err := lockInvoice(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Status != statusDraft {
		return nil, v.moveFault(statusIssued, "it was already issued")
	}
	if len(v.LineItems) == 0 {
		return nil, Empty.New()
	}
	if err := v.holdCustomer(ctx, c); err != nil {
		return nil, err
	}
	number, err := invoiceNumbers.takeNextNumber(ctx, c, v.BusinessID)
	if err != nil {
		return nil, err
	}
	v.InvoiceNumber = &number
	v.IssuedAt = &c.Now
	v.Status = v.currentStatus()
	if err := v.saveAndIndex(ctx, c); err != nil {
		return nil, err
	}
	if err := v.enterLedger(ctx, c,
		customer.Transaction{Type: customer.TypeInvoice, AmountCents: v.TotalAmountCents,
			OccurredAt: c.Now}, "Invoice %s"); err != nil {
		return nil, err
	}
	if err := c.Emit("invoice.issued", v.ID, v); err != nil || v.Status != statusPaid {
		return v, err
	}
	return v, c.Emit("invoice.paid", v.ID, v)
}

// holdCustomer locks the customer, so that it cannot be deleted until the invoice is issued.
func (v *Invoice) holdCustomer(ctx context.Context, c *op.Call) error {
	if v.CustomerID == nil {
		return CustomerDeleted.New()
	}
	err := customer.LockCustomer(ctx, c, *v.CustomerID)
	if fault.IsKind(err, fault.NotFound) {
		return CustomerDeleted.New()
	}
	return err
}

func voidInvoice(ctx context.Context, c *op.Call, in invoiceRef) (*Invoice, error) {
	v, err := lockInvoice(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case v.Status == statusVoid:
		return nil, v.moveFault(statusVoid, "it is already void")
	case v.Status == statusDraft:
		return nil, v.moveFault(statusVoid, "delete the draft")
	case v.AmountPaidCents > 0:
		return nil, v.moveFault(statusVoid, "void or refund its payments first")
	case v.AmountCreditedCents > 0:
		return nil, v.moveFault(statusVoid, "it has a credit note; credit the rest")
	}
	v.Status = statusVoid
	if err := v.saveAndIndex(ctx, c); err != nil {
		return nil, err
	}
	if err := v.enterLedger(ctx, c,
		customer.Transaction{Type: customer.TypeCredit, AmountCents: v.TotalAmountCents,
			OccurredAt: c.Now}, "Invoice %s voided"); err != nil {
		return nil, err
	}
	return v, c.Emit("invoice.voided", v.ID, v)
}

// enterLedger writes a transaction of the invoice into the customer's ledger. words is its
// description, with %s for the invoice number. There is nothing to write for a customer that
// was purged, or an amount of zero.
func (v *Invoice) enterLedger(ctx context.Context, c *op.Call, row customer.Transaction, words string) error {
	if v.CustomerID == nil || row.AmountCents == 0 {
		return nil
	}
	text := fmt.Sprintf(words, *v.InvoiceNumber)
	row.CustomerID, row.Currency, row.InvoiceID, row.Description = *v.CustomerID, v.Currency, &v.ID, &text
	return customer.AddTransaction(ctx, c, &row)
}

// markOverdue makes an invoice overdue if its due time has passed and something is due, and
// reports whether it just became so.
func (v *Invoice) markOverdue(now clock.Time) bool {
	if v.OverdueAt != nil || v.DueAt == nil || *v.DueAt > now || v.isSettled() {
		return false
	}
	v.OverdueAt = &now
	return true
}

// MarkDueOverdue marks at most limit invoices overdue whose due time has passed, across all
// organizations, and reports whether there may be more.
func MarkDueOverdue(ctx context.Context, tx *db.Tx, log *event.Log, now clock.Time, limit int) (more bool, err error) {
	// The condition is in the inner query and in the update, because an invoice
	// may be paid after the inner query has read it and before it is locked.
	const waiting = "status IN ('issued', 'sent', 'partially_paid')"
	rows, err := db.QueryAll[Invoice](ctx, tx, `
		UPDATE invoices SET status = 'overdue', overdue_at = $1, updated_at = $1
		WHERE seq IN (SELECT seq FROM invoices WHERE due_at IS NOT NULL AND due_at <= $1 AND `+waiting+
		` ORDER BY due_at LIMIT $2) AND `+waiting+`
		RETURNING `+invoices.Columns(), now, limit)
	if err != nil {
		return false, err
	}
	for i := range rows {
		one := rows[i : i+1]
		if err := loadLineItems(ctx, tx, one[0].OrganizationID, one); err != nil {
			return false, err
		}
		data, err := json.Marshal(&one[0], json.Deterministic(true))
		if err != nil {
			return false, err
		}
		if err := log.Append(ctx, tx,
			event.Event{Organization: one[0].OrganizationID, At: now, Type: "invoice.overdue", ResourceID: one[0].ID,
				Data: data}.BySystem()); err != nil {
			return false, err
		}
	}
	return len(rows) == limit, nil
}
