-- expand
-- Saved views: a name for the filters, the order and the columns of a list. Then an index for contacts of a company.

CREATE TABLE views (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  external BOOL NOT NULL DEFAULT FALSE,
  created_by ID,
  object_type TEXT NOT NULL,
  name TEXT NOT NULL,
  query JSON NOT NULL,
  columns JSON NOT NULL,
  shared BOOL NOT NULL
);
CREATE INDEX views_list ON views (organization_id, created_at, seq) WHERE deleted_at IS NULL;
CREATE INDEX views_object_type ON views (organization_id, object_type, created_at, seq) WHERE deleted_at IS NULL;
CREATE INDEX views_created_by ON views (organization_id, created_by);
CREATE INDEX views_deleted ON views (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE INDEX contacts_company ON contacts (organization_id, organization_name, created_at, seq) WHERE deleted_at IS NULL;
