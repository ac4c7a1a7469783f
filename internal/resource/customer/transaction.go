package customer

import (
	"context"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Transaction is one row of a customer's ledger. Invoices and charges increase
// what is owed; payments and credits reduce it. Rows are only ever added: a
// reversal is a row of its own.
type Transaction struct {
	op.Record
	CustomerID  id.ID      `json:"customerId"`
	Type        string     `json:"type" enum:"invoice,payment,credit,charge" doc:"payments and credits reduce the debt"`
	AmountCents int64      `json:"amountCents" min:"1" doc:"always positive, in the currency's smallest unit"`
	Currency    string     `json:"currency"`
	OccurredAt  clock.Time `json:"occurredAt"`
	Description *string    `json:"description" max:"10000"`
	InvoiceID   *id.ID     `json:"invoiceId"`
	PaymentID   *id.ID     `json:"paymentId"`

	CreditNoteID *id.ID `json:"creditNoteId"`
}

// The types of a ledger row.
const (
	TypeInvoice = "invoice"
	TypePayment = "payment"
	TypeCredit  = "credit"
	TypeCharge  = "charge"
)

// RaisesDebt reports whether the customer owes more by it, and not less.
func (v *Transaction) RaisesDebt() bool { return v.Type == TypeInvoice || v.Type == TypeCharge }

// Words say what the row is: its description, or its type.
func (v *Transaction) Words() string {
	if v.Description != nil && strings.TrimSpace(*v.Description) != "" {
		return *v.Description
	}
	return map[string]string{TypeInvoice: "Invoice", TypePayment: "Payment", TypeCredit: "Credit",
		TypeCharge: "Charge"}[v.Type]
}

var transactions = op.NewNested[Transaction]("customer_transactions", db.Life{
	Noun:         "transaction",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("customer_id", "customers", db.EndsAtPurge),
	Refs: []db.Ref{
		db.RefTo("invoice_id", "invoices", db.Keeps),
		db.RefTo("payment_id", "invoice_payments", db.Keeps),
		db.RefTo("credit_note_id", "invoice_credit_notes", db.Keeps),
	},
	Permanent: true,
})

func transactionOperations() []*op.Op {
	const ref = `"id": "8e0d2b51-6a3f-4c0e-9b7a-2f1c5d4e6a90"`
	return []*op.Op{
		op.ListChildrenWhere(op.Spec{
			Name:      "customers.transactions.list",
			NounWords: "ledger, charge, credit, booking, account, movement",
			Words:     "account statement, every charge",
			Example:   `{` + ref + `, "type": ["payment"]}`,
		}, transactions, filterTransactions),
		op.Write(op.Spec{
			Name:        "customers.transactions.create",
			Words:       "goodwill, fee, voucher, without invoice, outside invoice, deposit",
			Route:       "POST /v1/customers/{id}/transactions",
			Summary:     "Credit or charge a customer outside any invoice.",
			Description: "Issued invoices and payments write their own transactions.",
			Events:      []string{"customer.transaction.created"},
			Example: `{` + ref +
				`, "type": "credit", "amountCents": 2500, "currency": "usd", "description": "For the delay"}`,
		}, createTransaction),
		op.GetChild(op.Spec{Name: "customers.transactions.get"}, transactions),
		op.Read(op.Spec{
			Name:        "customers.balance.get",
			NounWords:   "owe, debt, in the red, credit, outstanding, saldo",
			Route:       "GET /v1/customers/{id}/balance",
			Summary:     "Get what a customer owes, by currency.",
			Description: "The sum of the customer's transactions. A negative balance is the customer's credit.",
			Example:     `{` + ref + `}`,
		}, getBalance),
	}
}

type transactionList struct {
	op.ChildPage
	Type      []string `query:"type" enum:"invoice,payment,credit,charge"`
	InvoiceID *id.ID   `query:"invoiceId"`
}

func filterTransactions(in *transactionList, w *db.Where) {
	db.FilterEqual(w, "invoice_id", in.InvoiceID)
	db.FilterOneOf(w, "type", in.Type)
}

type transactionCreate struct {
	ID          id.ID       `path:"id" doc:"the customer"`
	Type        string      `json:"type" enum:"credit,charge"`
	AmountCents int64       `json:"amountCents" min:"1" max:"99999999999999" doc:"in the currency's smallest unit"`
	Currency    *string     `json:"currency" format:"currency" doc:"by default that of the customer's business"`
	OccurredAt  *clock.Time `json:"occurredAt" doc:"by default now"`
	Description *string     `json:"description" max:"10000"`
}

func createTransaction(ctx context.Context, c *op.Call, in transactionCreate) (*Transaction, error) {
	if err := transactions.LockParent(ctx, c, in.ID); err != nil {
		return nil, err
	}
	v := &Transaction{CustomerID: in.ID, Type: in.Type, AmountCents: in.AmountCents, OccurredAt: c.Now,
		Description: in.Description}
	if in.OccurredAt != nil {
		v.OccurredAt = *in.OccurredAt
	}
	if in.Currency != nil {
		v.Currency = *in.Currency
	} else if err := v.fillDefaultCurrency(ctx, c); err != nil {
		return nil, err
	}
	if err := AddTransaction(ctx, c, v); err != nil {
		return nil, err
	}
	return v, c.Emit("customer.transaction.created", v.ID, v)
}

func (v *Transaction) fillDefaultCurrency(ctx context.Context, c *op.Call) error {
	customer, err := customers.Get(ctx, c.Tx, c.Org, v.CustomerID)
	if err != nil {
		return err
	}
	business, err := account.LoadBusinessEvenDeleted(ctx, c.Tx, c.Org, customer.BusinessID)
	v.Currency = business.Currency
	return err
}

// AddTransaction adds a row to a customer's ledger, in the database transaction of the
// change it records. The caller has locked the customer or the invoice.
func AddTransaction(ctx context.Context, c *op.Call, v *Transaction) error {
	v.Record = c.NewRecord()
	return transactions.Rows.Insert(ctx, c.Tx, v)
}

// Balance is what a customer owes.
type Balance struct {
	CustomerID id.ID             `json:"customerId"`
	Balances   []CurrencyBalance `json:"balances" doc:"one for each currency of the customer's transactions"`

	op.NoExternalText
}

// CurrencyBalance is what is owed in one currency.
type CurrencyBalance struct {
	Currency     string `json:"currency"`
	BalanceCents int64  `json:"balanceCents" doc:"in the currency's smallest unit; negative is credit"`
}

// getBalance sums up the ledger of a customer, by currency.
func getBalance(ctx context.Context, c *op.Call, in customerRef) (*Balance, error) {
	if _, err := customers.Get(ctx, c.Tx, c.Org, in.ID); err != nil {
		return nil, err
	}
	rows, err := sumLedger(ctx, c.Tx, c.Org, in.ID, nil)
	if err != nil {
		return nil, err
	}
	return &Balance{CustomerID: in.ID, Balances: rows}, nil
}

// sumLedger adds up a customer's ledger by currency, all of it or what happened before a time.
func sumLedger(ctx context.Context, tx *db.Tx, org, customer id.ID, before *clock.Time) ([]CurrencyBalance, error) {
	// Grouped by type first, so that both engines read the sums from the index
	// customer_transactions_type alone, unless there is a time.
	when, args := "", []any{org, customer}
	if before != nil {
		when, args = " AND occurred_at < $3", append(args, *before)
	}
	return db.QueryAll[CurrencyBalance](ctx, tx, `
		SELECT currency, CAST(sum(CASE WHEN type IN ('invoice',
			'charge') THEN cents ELSE -cents END) AS BIGINT) AS balance_cents
		FROM (
		SELECT type, currency, sum(amount_cents) AS cents
		FROM customer_transactions WHERE organization_id = $1 AND customer_id = $2 AND deleted_at IS NULL`+when+`
		GROUP BY type, currency) AS sums
		GROUP BY currency ORDER BY currency`, args...)
}

// LedgerOf reads a part of a customer's ledger: what was owed before a time, by currency, and what
// happened from then until another, in its order and at most limit rows. A zero begin is that of the ledger.
func LedgerOf(ctx context.Context, tx *db.Tx, org, customer id.ID, begin, end clock.Time, limit int) (
	before []CurrencyBalance, rows []Transaction, err error) {
	if begin != 0 {
		if before, err = sumLedger(ctx, tx, org, customer, &begin); err != nil {
			return nil, nil, err
		}
	}
	rows, err = db.QueryAll[Transaction](ctx, tx, "SELECT "+transactions.Rows.Columns()+` FROM customer_transactions
		WHERE organization_id = $1 AND customer_id = $2 AND deleted_at IS NULL
			AND occurred_at >= $3 AND occurred_at < $4
		ORDER BY occurred_at, seq LIMIT $5`, org, customer, begin, end, limit)
	return before, rows, err
}
