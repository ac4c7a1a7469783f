-- expand
-- The import that a proposal takes back: its page offers that once.

ALTER TABLE proposals ADD COLUMN undoes_import_id ID;
CREATE INDEX proposals_undoes_import ON proposals (organization_id, undoes_import_id)
  WHERE undoes_import_id IS NOT NULL;
