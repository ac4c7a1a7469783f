-- A status that few rows have, or none, is found without walking all of them.
CREATE INDEX customers_status ON customers (organization_id, status, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX email_opt_ins_status ON email_opt_ins (organization_id, status, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
