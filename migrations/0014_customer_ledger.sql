-- What each customer owes, and why: a row is only ever added.

CREATE TABLE customer_transactions (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  customer_id ID NOT NULL REFERENCES customers (id),
  type TEXT NOT NULL,
  amount_cents INT NOT NULL CHECK (amount_cents > 0),
  currency TEXT NOT NULL,
  occurred_at TIME NOT NULL,
  description TEXT,
  invoice_id ID,
  payment_id ID
);
CREATE INDEX customer_transactions_list ON customer_transactions (organization_id, customer_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX customer_transactions_parent ON customer_transactions (customer_id);
CREATE INDEX customer_transactions_invoice ON customer_transactions (organization_id, customer_id, invoice_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
