-- Lists in other orders than the newest first.
CREATE INDEX contacts_updated ON contacts (organization_id, updated_at, seq) WHERE deleted_at IS NULL;
CREATE INDEX customers_updated ON customers (organization_id, updated_at, seq) WHERE deleted_at IS NULL;
CREATE INDEX tasks_updated ON tasks (organization_id, updated_at, seq) WHERE deleted_at IS NULL;
CREATE INDEX tasks_due_at ON tasks (organization_id, due_at, seq) WHERE deleted_at IS NULL;
CREATE INDEX invoices_updated ON invoices (organization_id, updated_at, seq) WHERE deleted_at IS NULL;
CREATE INDEX invoices_due_at ON invoices (organization_id, due_at, seq) WHERE deleted_at IS NULL;
CREATE INDEX invoices_total ON invoices (organization_id, total_amount_cents, seq) WHERE deleted_at IS NULL;
CREATE INDEX messages_updated ON messages (organization_id, updated_at, seq) WHERE deleted_at IS NULL;
-- only sqlite
CREATE INDEX contacts_name ON contacts (organization_id, substr(search, 1, 40), seq) WHERE deleted_at IS NULL;
CREATE INDEX customers_name ON customers (organization_id, substr(search, 1, 40), seq) WHERE deleted_at IS NULL;
-- both
-- only postgres
CREATE INDEX contacts_name ON contacts (organization_id, (substr(search, 1, 40) COLLATE "C"), seq) WHERE deleted_at IS NULL;
CREATE INDEX customers_name ON customers (organization_id, (substr(search, 1, 40) COLLATE "C"), seq) WHERE deleted_at IS NULL;
-- both
