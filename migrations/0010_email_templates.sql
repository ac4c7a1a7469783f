-- Texts with placeholders, from which mail is written.

-- Who created a template is named, not owned: users stay.
CREATE TABLE email_templates (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  created_by ID,
  created_by_agent BOOL NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  body_format TEXT NOT NULL,
  variables JSON NOT NULL,
  status TEXT NOT NULL,
  template_key TEXT,
  search TEXT NOT NULL
);
CREATE INDEX email_templates_list ON email_templates (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX email_templates_deleted ON email_templates (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX email_templates_key ON email_templates (organization_id, template_key) WHERE status = 'active' AND template_key IS NOT NULL AND deleted_at IS NULL;
-- only sqlite
CREATE VIRTUAL TABLE email_templates_search USING fts5 (search, content = '', contentless_delete = 1, tokenize = 'trigram', detail = full);
-- both
-- only postgres
CREATE INDEX email_templates_search ON email_templates USING gin (organization_id, search gin_trgm_ops) WHERE deleted_at IS NULL;
-- both
