-- expand
-- Tasks of one business, as the desk lists them.
CREATE INDEX tasks_business ON tasks (organization_id, business_id, created_at DESC, seq DESC);
