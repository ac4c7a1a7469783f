-- Files, the folders they lie in, and the links that let others fetch them.
-- The bytes are in a store of their own; a row names them by their key.

CREATE TABLE folders (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  name TEXT NOT NULL,
  parent_folder_id ID
);
CREATE INDEX folders_list ON folders (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX folders_deleted ON folders (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX folders_within ON folders (organization_id, parent_folder_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;

CREATE TABLE files (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  name TEXT NOT NULL,
  content_type TEXT NOT NULL,
  size_bytes INT NOT NULL,
  sha256 TEXT NOT NULL,
  folder_id ID,
  blob_key TEXT NOT NULL UNIQUE,
  search TEXT NOT NULL
);
-- Sums up what an organization stores, deleted rows too.
CREATE INDEX files_bytes ON files (organization_id, size_bytes);
CREATE INDEX files_list ON files (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX files_deleted ON files (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX files_folder ON files (organization_id, folder_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
-- only sqlite
CREATE VIRTUAL TABLE files_search USING fts5 (search, content = '', contentless_delete = 1, tokenize = 'trigram', detail = full);
-- both
-- only postgres
CREATE INDEX files_search ON files USING gin (organization_id, search gin_trgm_ops) WHERE deleted_at IS NULL;
-- both

CREATE TABLE file_access_links (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  file_id ID NOT NULL REFERENCES files (id),
  hash BYTES NOT NULL UNIQUE,
  expires_at TIME,
  max_downloads INT,
  download_count INT NOT NULL DEFAULT 0
);
CREATE INDEX file_access_links_list ON file_access_links (organization_id, file_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX file_access_links_parent ON file_access_links (file_id);
CREATE INDEX file_access_links_deleted ON file_access_links (deleted_at) WHERE deleted_at IS NOT NULL;

-- Keys that no file may have: of an upload under way, which takes its row away
-- in the transaction that makes the file, and of files that were purged. What
-- is still here at remove_at is removed from the store. claimed says that
-- somebody has begun to, so that no upload can end with such a key any more.
CREATE TABLE stray_blobs (
  seq SEQ,
  organization_id ID NOT NULL,
  blob_key TEXT NOT NULL UNIQUE,
  remove_at TIME NOT NULL,
  claimed BOOL NOT NULL
);
CREATE INDEX stray_blobs_due ON stray_blobs (remove_at);
