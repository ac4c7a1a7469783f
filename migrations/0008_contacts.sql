-- The people and organizations that a business talks to.

CREATE TABLE contacts (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  first_name TEXT,
  middle_name TEXT,
  last_name TEXT,
  prefix TEXT,
  suffix TEXT,
  organization_name TEXT,
  job_title TEXT,
  birthday TEXT,
  notes TEXT,
  search TEXT NOT NULL,
  children INT NOT NULL DEFAULT 0
);
CREATE INDEX contacts_list ON contacts (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX contacts_deleted ON contacts (deleted_at) WHERE deleted_at IS NOT NULL;
-- only sqlite
CREATE VIRTUAL TABLE contacts_search USING fts5 (search, content = '', contentless_delete = 1, tokenize = 'trigram', detail = full);
-- both
-- only postgres
CREATE INDEX contacts_search ON contacts USING gin (organization_id, search gin_trgm_ops) WHERE deleted_at IS NULL;
-- both

-- The plain index on the parent is the foreign key's: without it, purging a
-- contact would read every child there is.
CREATE TABLE contact_emails (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  contact_id ID NOT NULL REFERENCES contacts (id),
  email TEXT NOT NULL,
  email_folded TEXT NOT NULL,
  label TEXT,
  is_primary BOOL NOT NULL
);
CREATE INDEX contact_emails_list ON contact_emails (organization_id, contact_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX contact_emails_parent ON contact_emails (contact_id);
CREATE INDEX contact_emails_deleted ON contact_emails (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX contact_emails_address ON contact_emails (organization_id, email_folded) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX contact_emails_primary ON contact_emails (organization_id, contact_id) WHERE is_primary AND deleted_at IS NULL;

CREATE TABLE contact_phone_numbers (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  contact_id ID NOT NULL REFERENCES contacts (id),
  phone_number TEXT NOT NULL,
  country_code TEXT NOT NULL,
  national_number TEXT NOT NULL,
  label TEXT
);
CREATE INDEX contact_phone_numbers_list ON contact_phone_numbers (organization_id, contact_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX contact_phone_numbers_parent ON contact_phone_numbers (contact_id);
CREATE INDEX contact_phone_numbers_deleted ON contact_phone_numbers (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX contact_phone_numbers_number ON contact_phone_numbers (organization_id, phone_number) WHERE deleted_at IS NULL;

CREATE TABLE contact_addresses (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  contact_id ID NOT NULL REFERENCES contacts (id),
  line1 TEXT NOT NULL,
  line2 TEXT,
  city TEXT,
  state TEXT,
  postal_code TEXT,
  country TEXT,
  label TEXT,
  is_primary BOOL NOT NULL
);
CREATE INDEX contact_addresses_list ON contact_addresses (organization_id, contact_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX contact_addresses_parent ON contact_addresses (contact_id);
CREATE INDEX contact_addresses_deleted ON contact_addresses (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX contact_addresses_primary ON contact_addresses (organization_id, contact_id) WHERE is_primary AND deleted_at IS NULL;
