-- Who is who, the event log, and the answers kept under idempotency keys.

CREATE TABLE organizations (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  name TEXT NOT NULL,
  plan TEXT NOT NULL,
  status TEXT NOT NULL,
  is_demo BOOL NOT NULL DEFAULT FALSE
);

-- A user may belong to several organizations, so it belongs to none itself.
CREATE TABLE users (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  email TEXT NOT NULL,
  email_folded TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  password_hash TEXT,
  status TEXT NOT NULL,
-- the one organization of a user whose address nobody has proven; else null
  confined_to ID REFERENCES organizations (id)
);

CREATE TABLE memberships (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  user_id ID NOT NULL REFERENCES users (id),
  role TEXT NOT NULL
);
CREATE UNIQUE INDEX memberships_live ON memberships (organization_id, user_id) WHERE deleted_at IS NULL;
CREATE INDEX memberships_user ON memberships (user_id) WHERE deleted_at IS NULL;

CREATE TABLE businesses (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  name TEXT NOT NULL,
  legal_name TEXT,
  description TEXT,
  industry TEXT,
  timezone TEXT NOT NULL,
  locale TEXT NOT NULL,
  currency TEXT NOT NULL,
  logo_file_id ID
);
CREATE INDEX businesses_list ON businesses (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;

CREATE TABLE agreements (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  business_id ID NOT NULL REFERENCES businesses (id),
  kind TEXT NOT NULL,
  version TEXT NOT NULL,
  user_id ID NOT NULL REFERENCES users (id),
  source TEXT NOT NULL
);
CREATE UNIQUE INDEX agreements_once ON agreements (organization_id, business_id, kind, version) WHERE deleted_at IS NULL;

CREATE TABLE api_keys (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  business_id ID NOT NULL REFERENCES businesses (id),
  name TEXT NOT NULL,
  permissions JSON NOT NULL,
  hint TEXT NOT NULL,
  hash BYTES NOT NULL UNIQUE,
  created_by_user_id ID REFERENCES users (id),
  expires_at TIME,
  last_used_at TIME,
  revoked_at TIME
);
CREATE INDEX api_keys_list ON api_keys (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;

CREATE TABLE agents (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  business_id ID NOT NULL REFERENCES businesses (id),
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  permissions JSON NOT NULL
);
CREATE INDEX agents_list ON agents (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX agents_deleted ON agents (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE payment_methods (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  brand TEXT NOT NULL,
  last4 TEXT NOT NULL,
  exp_month INT NOT NULL,
  exp_year INT NOT NULL,
  is_default BOOL NOT NULL,
  provider TEXT NOT NULL,
  provider_id TEXT NOT NULL
);
CREATE INDEX payment_methods_list ON payment_methods (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX payment_methods_deleted ON payment_methods (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX payment_methods_default ON payment_methods (organization_id) WHERE is_default AND deleted_at IS NULL;

-- The event log is the audit trail: one row per change, in its transaction.
CREATE TABLE events (
  seq SEQ,
  id ID NOT NULL,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  type TEXT NOT NULL,
  resource_type TEXT NOT NULL,
  resource_id ID NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id ID,
  door TEXT NOT NULL,
  request_id TEXT NOT NULL,
  data JSON
);
CREATE INDEX events_list ON events (organization_id, seq);

-- A row without a status is the claim of a running or interrupted flow.
CREATE TABLE idempotency (
  seq SEQ,
  organization_id ID NOT NULL,
  key TEXT NOT NULL,
  operation TEXT NOT NULL,
  fingerprint BYTES NOT NULL,
  status INT,
  body BYTES,
  sealed BOOL NOT NULL,
  created_at TIME NOT NULL,
  attempt_id ID,
  fence INT NOT NULL,
  lease_until TIME,
  step JSON
);
CREATE UNIQUE INDEX idempotency_key ON idempotency (organization_id, key);

-- What proves that a key file belongs to this database: a word sealed with
-- each of its keys.
CREATE TABLE sealing_keys (
  seq SEQ,
  number INT NOT NULL UNIQUE,
  proof BYTES NOT NULL
);
