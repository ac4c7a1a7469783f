-- Files of contacts and customers that were handed in, and the rows of them that
-- still have to be worked on.

CREATE TABLE imports (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  object_type TEXT NOT NULL,
  file_name TEXT NOT NULL,
  status TEXT NOT NULL,
  counts JSON NOT NULL,
  errors JSON NOT NULL,
  ignored_columns JSON NOT NULL,
  error_message TEXT,
  completed_at TIME,
  actor_kind TEXT NOT NULL,
  actor_id ID
);
CREATE INDEX imports_list ON imports (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX imports_updated ON imports (organization_id, updated_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX imports_live ON imports (organization_id) WHERE status IN ('receiving', 'queued', 'running');
CREATE INDEX imports_deleted ON imports (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE import_chunks (
  seq SEQ,
  organization_id ID NOT NULL REFERENCES organizations (id),
  import_id ID NOT NULL REFERENCES imports (id),
  rows JSON NOT NULL,
  size_bytes INT NOT NULL
);
CREATE INDEX import_chunks_parent ON import_chunks (import_id, organization_id);
CREATE INDEX import_chunks_organization ON import_chunks (organization_id);

-- The invoices that a message is about, whether it encloses their PDFs when it is
-- sent, and which of them were due when it was written.
ALTER TABLE messages ADD COLUMN invoice_ids JSON NOT NULL DEFAULT '[]';
ALTER TABLE messages ADD COLUMN encloses_invoices BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE messages ADD COLUMN due_invoice_ids JSON NOT NULL DEFAULT '[]';
