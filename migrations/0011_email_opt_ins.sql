-- Who agreed to marketing mail, and who wants none.

-- A contact is named, not owned: the purge of a contact makes it null. The
-- link id is what the unsubscribe links of an address hold; a row that follows
-- a deleted one keeps it, so that old mail still unsubscribes.
CREATE TABLE email_opt_ins (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  email TEXT NOT NULL,
  email_folded TEXT NOT NULL,
  contact_id ID,
  status TEXT NOT NULL,
  source TEXT,
  opted_in_at TIME,
  opted_out_at TIME,
  link_id ID NOT NULL,
  search TEXT NOT NULL
);
CREATE INDEX email_opt_ins_list ON email_opt_ins (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX email_opt_ins_deleted ON email_opt_ins (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX email_opt_ins_address ON email_opt_ins (organization_id, email_folded) WHERE deleted_at IS NULL;
CREATE INDEX email_opt_ins_former ON email_opt_ins (organization_id, email_folded, seq) WHERE deleted_at IS NOT NULL;
CREATE INDEX email_opt_ins_link ON email_opt_ins (organization_id, link_id) WHERE deleted_at IS NULL;
-- Deleted rows too, for the purge of contacts.
CREATE INDEX email_opt_ins_contact ON email_opt_ins (organization_id, contact_id, created_at DESC, seq DESC);
CREATE INDEX email_opt_ins_status ON email_opt_ins (organization_id, status, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
-- only sqlite
CREATE VIRTUAL TABLE email_opt_ins_search USING fts5 (search, content = '', contentless_delete = 1, tokenize = 'trigram', detail = full);
-- both
-- only postgres
CREATE INDEX email_opt_ins_search ON email_opt_ins USING gin (organization_id, search gin_trgm_ops) WHERE deleted_at IS NULL;
-- both

-- What signs links that never expire, sealed.
CREATE TABLE link_signing_keys (
  seq SEQ,
  purpose TEXT NOT NULL UNIQUE,
  sealed BYTES NOT NULL,
  created_at TIME NOT NULL
);
