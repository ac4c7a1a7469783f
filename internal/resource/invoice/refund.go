package invoice

import (
	"context"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/customer"
)

// The refusals of refunds.
var (
	ExceedsPayment  = fault.DefineKind("REFUND_EXCEEDS_PAYMENT", 422, "The refund exceeds what is left of the payment.")
	PaymentRefunded = fault.DefineKind("PAYMENT_REFUNDED", 409,
		"Some of the payment was refunded, so it cannot be voided. Refund the rest instead.")
)

func refundOperations() []*op.Op {
	return []*op.Op{
		op.Write(op.Spec{
			Name:    "invoices.payments.refund",
			Words:   "money back, give back, pay back, reimburse, return money",
			Route:   "POST /v1/invoices/{id}/payments/{paymentId}/refund",
			Status:  200,
			Summary: "Record that a payment was given back, all that is left of it or a part.",
			Description: "A charge in the customer's ledger reverses it. It is due again, unless it was credited; " +
				"the invoice's status goes back.",
			Errors: []*fault.Kind{PaymentVoided, ExceedsPayment},
			Events: []string{"invoice.payment.refunded", "invoice.overdue"},
			Example: `{"id": ` + exampleID + `, "paymentId": "7d1b0c52-8a6e-4e5f-9b3d-2c4a6e8f0b13", ` +
				`"amountCents": 1000}`,
		}, refundPayment),
	}
}

type paymentRefund struct {
	ID          id.ID  `path:"id" doc:"the invoice"`
	PaymentID   id.ID  `path:"paymentId"`
	AmountCents *int64 `json:"amountCents" min:"1" max:"99999999999999" doc:"by default all that is left of it"`
}

// refundPayment records that money was given back: a part of a payment, or all that is left of
// it.
func refundPayment(ctx context.Context, c *op.Call, in paymentRefund) (*Payment, error) {
	v, err := lockInvoice(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	p, err := payments.Get(ctx, c, in.ID, in.PaymentID)
	if err != nil {
		return nil, err
	}
	if p.VoidedAt != nil {
		return nil, PaymentVoided.Say("The payment is void, so there is nothing to refund.")
	}
	left := p.AmountCents - p.RefundedCents
	amount := left
	if in.AmountCents != nil {
		amount = *in.AmountCents
	}
	if amount > left || left == 0 {
		f := ExceedsPayment.Say("The refund exceeds the %s that is left of the payment.",
			locale.AmountWithCode(left, v.Currency))
		f.Details = map[string]int64{"refundableCents": left}
		return nil, f
	}
	p.RefundedCents += amount
	p.UpdatedAt = c.Now
	late, err := v.reversePayment(ctx, c, p, amount, "Refund of a payment of invoice %s")
	if err != nil {
		return nil, err
	}
	if err := c.Emit("invoice.payment.refunded", p.ID, p); err != nil || !late {
		return p, err
	}
	return p, c.Emit("invoice.overdue", v.ID, v)
}

// reversePayment takes an amount of a payment off what was paid, and saves both and the ledger. late
// is whether the invoice became overdue because of it.
func (v *Invoice) reversePayment(ctx context.Context, c *op.Call, p *Payment, amount int64, words string) (late bool,
	err error) {
	if err := payments.Rows.Save(ctx, c.Tx, p); err != nil {
		return false, err
	}
	v.AmountPaidCents -= amount
	late = v.markOverdue(c.Now)
	v.Status = v.currentStatus()
	if err := v.saveAndIndex(ctx, c); err != nil {
		return false, err
	}
	return late, v.enterLedger(ctx, c,
		customer.Transaction{Type: customer.TypeCharge, AmountCents: amount, OccurredAt: c.Now,
			PaymentID: &p.ID}, words)
}
