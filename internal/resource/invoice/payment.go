package invoice

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/customer"
)

// Payment is money received for an invoice, as somebody recorded it.
type Payment struct {
	op.Record
	InvoiceID   id.ID       `json:"invoiceId"`
	AmountCents int64       `json:"amountCents"`
	PaidAt      clock.Time  `json:"paidAt"`
	Method      string      `json:"method" enum:"cash,check,bank_transfer,card,other"`
	Note        *string     `json:"note" max:"10000"`
	VoidedAt    *clock.Time `json:"voidedAt" doc:"when the payment was voided"`

	RefundedCents int64 `json:"refundedCents" doc:"how much of it was given back"`

	Key string `json:"-" db:"idempotency_key"`
}

var payments = op.NewNested[Payment]("invoice_payments", db.Life{
	Noun:         "payment",
	ExternalText: db.NoExternalText,
	Parent: db.RefTo("invoice_id", "invoices",
		db.EndsAtPurge), // only drafts can be deleted, and they have no payments
	Permanent: true,
})

// The refusals of payments.
var (
	NotPayable     = fault.DefineKind("INVOICE_NOT_PAYABLE", 409, "A draft or void invoice cannot be paid.")
	ExceedsBalance = fault.DefineKind("PAYMENT_EXCEEDS_BALANCE", 422, "The payment exceeds the amount due.")
	PaymentVoided  = fault.DefineKind("PAYMENT_VOIDED", 409, "The payment is already void.")
)

func paymentOperations() []*op.Op {
	const ref = `"id": ` + exampleID + `, "paymentId": "7d1b0c52-8a6e-4e5f-9b3d-2c4a6e8f0b13"`
	return []*op.Op{
		op.ListChildren(op.Spec{Name: "invoices.payments.list",
			NounWords: "pay, money",
			Words:     "was paid, paid so far"}, payments),
		op.Write(op.Spec{
			Name: "invoices.record_payment",
			Words: "pay, transfer, cash, money came, receive, arrive, bank, settle, euro, pound, dollar, card, " +
				"cheque, deposit",
			Route:   "POST /v1/invoices/{id}/payments",
			Summary: "Record a payment of an invoice.",
			Description: "The idempotency key stays bound to the payment for good. Repeating it with the same " +
				"invoice, " +
				"amountCents, paidAt (or none) and note answers with the recorded payment; anything else is refused.",
			KeyRequired: true,
			BindsKey:    keyIsBound,
			Errors:      []*fault.Kind{NotPayable, ExceedsBalance},
			Events:      []string{"invoice.payment.created", "invoice.paid"},
			Example: `{"id": ` + exampleID +
				`, "amountCents": 30000, "method": "bank_transfer", "note": "Ref 4711"}`,
		}, recordPayment),
		op.GetChild(op.Spec{Name: "invoices.payments.get"}, payments),
		op.Write(op.Spec{
			Name:        "invoices.payments.void",
			Words:       "bounce, mistake, never arrived, not arrive, wrong payment, return, charged back",
			Route:       "POST /v1/invoices/{id}/payments/{paymentId}/void",
			Status:      200,
			Summary:     "Void a payment that was recorded by mistake or bounced.",
			Description: "The invoice's status goes back, and a charge in the customer's ledger reverses the payment.",
			Errors:      []*fault.Kind{PaymentVoided, PaymentRefunded},
			Events:      []string{"invoice.payment.voided", "invoice.overdue"},
			Example:     `{` + ref + `}`,
		}, voidPayment),
	}
}

type paymentRecord struct {
	ID          id.ID       `path:"id" doc:"the invoice"`
	AmountCents int64       `json:"amountCents" min:"1" max:"99999999999999" doc:"smallest unit; at most what is due"`
	PaidAt      *clock.Time `json:"paidAt" doc:"by default now"`
	Method      string      `json:"method" default:"other" enum:"cash,check,bank_transfer,card,other"`
	Note        *string     `json:"note" max:"10000"`
}

func (in *paymentRecord) Prepare(_ context.Context, c *op.Call) error {
	if in.PaidAt != nil && *in.PaidAt > c.Now.Add(24*time.Hour) {
		return fault.Field("paidAt", "Must not be in the future")
	}
	return nil
}

// findPaymentByKey finds the payment that an idempotency key is bound to, or nil.
func findPaymentByKey(ctx context.Context, tx *db.Tx, org id.ID, key string) (*Payment, error) {
	v, err := db.QueryOne[Payment](ctx, tx, "SELECT "+payments.Rows.Columns()+` FROM invoice_payments
		WHERE organization_id = $1 AND idempotency_key = $2`, org, key)
	if errors.Is(err, db.ErrNoRow) {
		return nil, nil
	}
	return &v, err
}

// keyIsBound tells the Runner that a key belongs to a payment for good.
func keyIsBound(ctx context.Context, tx *db.Tx, org id.ID, key string) (bool, error) {
	v, err := findPaymentByKey(ctx, tx, org, key)
	return v != nil, err
}

// matchesPayment reports whether a request asks for the recorded payment again. Times are compared as
// callers see them; the method is not compared.
func (in *paymentRecord) matchesPayment(v *Payment) bool {
	return v.InvoiceID == in.ID && v.AmountCents == in.AmountCents &&
		(in.PaidAt == nil || in.PaidAt.String() == v.PaidAt.String()) &&
		(in.Note == nil) == (v.Note == nil) && (in.Note == nil || *in.Note == *v.Note)
}

// recordPayment records money received for an invoice. The idempotency key stays bound to the
// payment, so no retry records it twice, however late.
func recordPayment(ctx context.Context, c *op.Call, in paymentRecord) (*Payment, error) {
	// The key comes before the invoice: a retry is answered with its payment
	// even if the invoice could not be paid any more.
	earlier, err := findPaymentByKey(ctx, c.Tx, c.Org, c.Key)
	if err != nil {
		return nil, err
	}
	if earlier != nil {
		if !in.matchesPayment(earlier) {
			return nil, fault.KeyReused.Say("This key belongs to another payment. Use a new key.")
		}
		c.MarkReplayed()
		return earlier, nil
	}
	v, err := lockInvoice(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Status == statusDraft || v.Status == statusVoid {
		return nil, NotPayable.Say("A %s invoice cannot be paid.", v.Status)
	}
	if in.AmountCents > v.AmountDueCents {
		f := ExceedsBalance.Say("The payment exceeds the %s that is still due.",
			locale.AmountWithCode(v.AmountDueCents, v.Currency))
		f.Details = map[string]int64{"amountDueCents": v.AmountDueCents}
		return nil, f
	}
	p := &Payment{Record: c.NewRecord(), InvoiceID: v.ID, AmountCents: in.AmountCents, PaidAt: c.Now, Method: in.Method,
		Note: in.Note, Key: c.Key}
	if in.PaidAt != nil {
		p.PaidAt = *in.PaidAt
	}
	if err := payments.Rows.Insert(ctx, c.Tx, p); err != nil {
		return nil, err
	}
	v.AmountPaidCents += p.AmountCents
	v.Status = v.currentStatus()
	if err := v.saveAndIndex(ctx, c); err != nil {
		return nil, err
	}
	if err := v.enterLedger(ctx, c,
		customer.Transaction{Type: customer.TypePayment, AmountCents: p.AmountCents, OccurredAt: p.PaidAt,
			PaymentID: &p.ID}, "Payment of invoice %s"); err != nil {
		return nil, err
	}
	if err := c.Emit("invoice.payment.created", p.ID, p); err != nil || v.Status != statusPaid {
		return p, err
	}
	return p, c.Emit("invoice.paid", v.ID, v)
}

type paymentRef struct {
	ID        id.ID `path:"id" doc:"the invoice"`
	PaymentID id.ID `path:"paymentId"`
}

// voidPayment takes a payment back that was recorded by mistake.
func voidPayment(ctx context.Context, c *op.Call, in paymentRef) (*Payment, error) {
	v, err := lockInvoice(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	p, err := payments.Get(ctx, c, in.ID, in.PaymentID)
	if err != nil {
		return nil, err
	}
	if p.VoidedAt != nil {
		return nil, PaymentVoided.New()
	}
	if p.RefundedCents > 0 {
		return nil, PaymentRefunded.New()
	}
	p.VoidedAt, p.UpdatedAt = &c.Now, c.Now
	late, err := v.reversePayment(ctx, c, p, p.AmountCents, "Payment of invoice %s voided")
	if err != nil {
		return nil, err
	}
	if err := c.Emit("invoice.payment.voided", p.ID, p); err != nil || !late {
		return p, err
	}
	return p, c.Emit("invoice.overdue", v.ID, v)
}
