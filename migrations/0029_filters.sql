-- A rare priority, or tasks due before a time that few are: without these all
-- tasks of the organization were read. The status comes first in tasks_due,
-- because what people look for is open and late; without one, all four are asked.
CREATE INDEX tasks_priority ON tasks (organization_id, priority, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX tasks_due ON tasks (organization_id, status, due_at) WHERE deleted_at IS NULL AND due_at IS NOT NULL;

-- Customers of the type that few have.
CREATE INDEX customers_type ON customers (organization_id, type, created_at DESC, seq DESC) WHERE deleted_at IS NULL;

-- A customer's ledger by type, and all that its balance is made of, so that the
-- sum reads no rows of the table.
CREATE INDEX customer_transactions_type ON customer_transactions (organization_id, customer_id, type, created_at DESC, seq DESC, currency, amount_cents) WHERE deleted_at IS NULL;

-- Events by what they happened to, and by what happened: one index for both.
-- A type tells its resource type, so that whoever asks for it knows the other.
DROP INDEX events_type;
CREATE INDEX events_type ON events (organization_id, resource_type, type, created_at DESC, seq DESC);
