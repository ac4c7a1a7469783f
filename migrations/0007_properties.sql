-- Properties that an organization defines for its contacts, customers and
-- businesses, and the values they have.

CREATE TABLE property_definitions (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  object_type TEXT NOT NULL,
  key TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  value_type TEXT NOT NULL,
  options JSON,
  is_required BOOL NOT NULL,
  search TEXT NOT NULL
);
CREATE INDEX property_definitions_list ON property_definitions (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX property_definitions_deleted ON property_definitions (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX property_definitions_key ON property_definitions (organization_id, object_type, key) WHERE deleted_at IS NULL;
-- only sqlite
CREATE VIRTUAL TABLE property_definitions_search USING fts5 (search, content = '', contentless_delete = 1, tokenize = 'trigram', detail = full);
-- both
-- only postgres
CREATE INDEX property_definitions_search ON property_definitions USING gin (organization_id, search gin_trgm_ops) WHERE deleted_at IS NULL;
-- both

-- The object is a row of one of three tables, so no foreign key can name it.
-- A version grows with every write to a property of an object; the highest of
-- its rows, deleted ones included, is the property's.
CREATE TABLE property_values (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  definition_id ID NOT NULL,
  value_type TEXT NOT NULL,
  object_type TEXT NOT NULL,
  object_id ID NOT NULL,
  value_text TEXT,
  value_number TEXT,
  value_boolean BOOL,
  value_date TEXT,
  value_text_list JSON,
  status TEXT NOT NULL,
  set_by_kind TEXT NOT NULL,
  set_by_user_id ID,
  set_by_agent_id ID,
  sources JSON NOT NULL,
  version INT NOT NULL
);
CREATE INDEX property_values_list ON property_values (organization_id, object_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX property_values_deleted ON property_values (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX property_values_confirmed ON property_values (organization_id, object_id, definition_id) WHERE status = 'confirmed' AND deleted_at IS NULL;
CREATE INDEX property_values_version ON property_values (organization_id, object_id, definition_id, version);
-- For the purges of definitions and of what hangs under deleted businesses.
CREATE INDEX property_values_definition ON property_values (organization_id, definition_id);
