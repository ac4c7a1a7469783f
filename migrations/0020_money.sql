-- Taxes, discounts, credit notes, refunds, reminders.

-- What an invoice charges beside its lines. The total stays where it is; the
-- subtotal follows from it, the discount and the taxes.
ALTER TABLE invoices ADD COLUMN discount_percent TEXT;
ALTER TABLE invoices ADD COLUMN prices_include_tax BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE invoices ADD COLUMN discount_cents INT NOT NULL DEFAULT 0;
ALTER TABLE invoices ADD COLUMN taxes JSON NOT NULL DEFAULT '[]';
ALTER TABLE invoices ADD COLUMN amount_credited_cents INT NOT NULL DEFAULT 0;
ALTER TABLE invoice_line_items ADD COLUMN tax_rate TEXT;
ALTER TABLE invoice_line_items ADD COLUMN tax_name TEXT;
ALTER TABLE invoice_line_items ADD COLUMN discount_percent TEXT;
ALTER TABLE invoice_line_items ADD COLUMN discount_cents INT NOT NULL DEFAULT 0;
ALTER TABLE invoice_payments ADD COLUMN refunded_cents INT NOT NULL DEFAULT 0;
ALTER TABLE customer_transactions ADD COLUMN credit_note_id ID;

-- What was taken back of an issued invoice. A credit note never changes, and its
-- lines are part of it.
CREATE TABLE invoice_credit_notes (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  invoice_id ID NOT NULL REFERENCES invoices (id),
  business_id ID NOT NULL,
  credit_note_number TEXT NOT NULL,
  currency TEXT NOT NULL,
  reason TEXT,
  prices_include_tax BOOL NOT NULL,
  subtotal_cents INT NOT NULL,
  discount_cents INT NOT NULL,
  taxes JSON NOT NULL,
  total_cents INT NOT NULL CHECK (total_cents > 0),
  line_items JSON NOT NULL
);
CREATE INDEX invoice_credit_notes_list ON invoice_credit_notes (organization_id, invoice_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX invoice_credit_notes_parent ON invoice_credit_notes (invoice_id);
CREATE UNIQUE INDEX invoice_credit_notes_number ON invoice_credit_notes (organization_id, business_id, credit_note_number);

-- The last number that each business gave to a credit note, as invoice_counters.
CREATE TABLE credit_note_counters (
  seq SEQ,
  organization_id ID NOT NULL,
  business_id ID NOT NULL,
  last INT NOT NULL
);
CREATE UNIQUE INDEX credit_note_counters_business ON credit_note_counters (organization_id, business_id);

-- Invoices of which something is still due.
CREATE INDEX invoices_unpaid ON invoices (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL AND status IN ('issued', 'sent', 'partially_paid', 'overdue');

-- When a business reminds of its invoices: days after they are due, or before.
CREATE TABLE invoice_reminder_rules (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  business_id ID NOT NULL REFERENCES businesses (id),
  days_after_due INT NOT NULL
);
CREATE INDEX invoice_reminder_rules_list ON invoice_reminder_rules (organization_id, business_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX invoice_reminder_rules_parent ON invoice_reminder_rules (business_id);
CREATE INDEX invoice_reminder_rules_deleted ON invoice_reminder_rules (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX invoice_reminder_rules_days ON invoice_reminder_rules (organization_id, business_id, days_after_due) WHERE deleted_at IS NULL;

-- The reminders that were sent: one for each rule and invoice.
CREATE TABLE invoice_reminders (
  seq SEQ,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  invoice_id ID NOT NULL REFERENCES invoices (id),
  rule_id ID NOT NULL
);
CREATE UNIQUE INDEX invoice_reminders_once ON invoice_reminders (organization_id, invoice_id, rule_id);
CREATE INDEX invoice_reminders_parent ON invoice_reminders (invoice_id);
