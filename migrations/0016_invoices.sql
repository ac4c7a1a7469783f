-- What a business asks its customers to pay, and what they paid.

-- A customer is named, not owned: the reference stays when it is deleted, and
-- its purge makes it null. The business stays for good.
CREATE TABLE invoices (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  business_id ID NOT NULL,
  customer_id ID,
  status TEXT NOT NULL,
  invoice_number TEXT,
  bill_to_name TEXT,
  bill_to_email TEXT,
  bill_to_address_line1 TEXT,
  bill_to_address_line2 TEXT,
  bill_to_city TEXT,
  bill_to_state TEXT,
  bill_to_postal_code TEXT,
  bill_to_country TEXT,
  total_amount_cents INT NOT NULL,
  amount_paid_cents INT NOT NULL,
  currency TEXT NOT NULL,
  issued_at TIME,
  sent_at TIME,
  due_at TIME,
  overdue_at TIME,
  notes TEXT,
  terms TEXT,
  data JSON NOT NULL,
  bill_to_sent JSON NOT NULL,
  search TEXT NOT NULL
);
CREATE INDEX invoices_list ON invoices (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX invoices_status ON invoices (organization_id, status, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX invoices_business ON invoices (organization_id, business_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
-- Deleted rows too, for the purge of customers.
CREATE INDEX invoices_customer ON invoices (organization_id, customer_id, created_at DESC, seq DESC);
CREATE INDEX invoices_deleted ON invoices (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX invoices_due ON invoices (due_at) WHERE due_at IS NOT NULL AND status IN ('issued', 'sent', 'partially_paid');
CREATE UNIQUE INDEX invoices_number ON invoices (organization_id, business_id, invoice_number) WHERE invoice_number IS NOT NULL;
-- only sqlite
CREATE VIRTUAL TABLE invoices_search USING fts5 (search, content = '', contentless_delete = 1, tokenize = 'trigram', detail = full);
-- both
-- only postgres
CREATE INDEX invoices_search ON invoices USING gin (organization_id, search gin_trgm_ops) WHERE deleted_at IS NULL;
-- both

CREATE TABLE invoice_line_items (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  invoice_id ID NOT NULL REFERENCES invoices (id),
  description TEXT NOT NULL,
  quantity TEXT NOT NULL,
  unit_amount_cents INT NOT NULL,
  amount_cents INT NOT NULL,
  currency TEXT NOT NULL,
  position INT NOT NULL
);
CREATE INDEX invoice_line_items_list ON invoice_line_items (organization_id, invoice_id, position) WHERE deleted_at IS NULL;
CREATE INDEX invoice_line_items_parent ON invoice_line_items (invoice_id);
CREATE INDEX invoice_line_items_deleted ON invoice_line_items (deleted_at) WHERE deleted_at IS NOT NULL;

-- The key that a payment was recorded under is bound to it for good.
CREATE TABLE invoice_payments (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  invoice_id ID NOT NULL REFERENCES invoices (id),
  amount_cents INT NOT NULL,
  paid_at TIME NOT NULL,
  method TEXT NOT NULL,
  note TEXT,
  voided_at TIME,
  idempotency_key TEXT NOT NULL
);
CREATE INDEX invoice_payments_list ON invoice_payments (organization_id, invoice_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX invoice_payments_parent ON invoice_payments (invoice_id);
CREATE UNIQUE INDEX invoice_payments_key ON invoice_payments (organization_id, idempotency_key);

-- The last number that each business gave. Whoever takes the next one holds
-- the row until its transaction ends, so that no number is lost or given twice.
CREATE TABLE invoice_counters (
  seq SEQ,
  organization_id ID NOT NULL,
  business_id ID NOT NULL,
  last INT NOT NULL
);
CREATE UNIQUE INDEX invoice_counters_business ON invoice_counters (organization_id, business_id);
