-- expand
-- What reports add up: money by the time it was invoiced, paid or credited, with all
-- that the sums are made of.

CREATE INDEX invoices_issued ON invoices (organization_id, issued_at, status, currency, business_id, customer_id,
  total_amount_cents) WHERE issued_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX invoice_payments_paid ON invoice_payments (organization_id, paid_at, voided_at, invoice_id, amount_cents,
  refunded_cents);
CREATE INDEX invoice_credit_notes_written ON invoice_credit_notes (organization_id, created_at, invoice_id, total_cents);
