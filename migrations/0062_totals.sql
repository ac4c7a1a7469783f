-- expand
-- What the totals of invoices are made of, so that adding up twenty thousand reads none of their rows. SQLite reads an
-- index alone only if it has every column that is asked about, deleted_at too. It stands behind the currency: otherwise
-- SQLite would take this index for every list.

CREATE INDEX invoices_totals ON invoices (organization_id, currency, deleted_at, status, business_id, due_at,
  customer_id, issued_at, total_amount_cents, amount_paid_cents, amount_credited_cents);
