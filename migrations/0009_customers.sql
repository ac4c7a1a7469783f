-- Whom the organization sells to, or hopes to.

-- A business and a contact are named, not owned: the reference stays when the
-- other is deleted, and the purge of a contact makes it null.
CREATE TABLE customers (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  business_id ID NOT NULL,
  contact_id ID,
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  email TEXT,
  phone TEXT,
  notes TEXT,
  status TEXT NOT NULL,
  customer_since TIME,
  search TEXT NOT NULL
);
CREATE INDEX customers_list ON customers (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX customers_deleted ON customers (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX customers_business ON customers (organization_id, business_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
-- Deleted rows too, for the purge of contacts.
CREATE INDEX customers_contact ON customers (organization_id, contact_id, created_at DESC, seq DESC);
-- A status that few rows have, or none, is found without walking all of them.
CREATE INDEX customers_status ON customers (organization_id, status, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
-- Customers of the type that few have.
CREATE INDEX customers_type ON customers (organization_id, type, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
-- only sqlite
CREATE VIRTUAL TABLE customers_search USING fts5 (search, content = '', contentless_delete = 1, tokenize = 'trigram', detail = full);
-- both
-- only postgres
CREATE INDEX customers_search ON customers USING gin (organization_id, search gin_trgm_ops) WHERE deleted_at IS NULL;
-- both

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
-- A customer's ledger by type, and all that its balance is made of, so that the
-- sum reads no rows of the table.
CREATE INDEX customer_transactions_type ON customer_transactions (organization_id, customer_id, type, created_at DESC, seq DESC, currency, amount_cents) WHERE deleted_at IS NULL;
