-- Who is who: organizations, users and what acts for them.

-- only postgres
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;
-- both

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
CREATE INDEX businesses_deleted ON businesses (deleted_at) WHERE deleted_at IS NOT NULL;
-- For the purge of files, which takes their name from businesses.
CREATE INDEX businesses_logo ON businesses (organization_id, logo_file_id) WHERE logo_file_id IS NOT NULL;

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
  provider_id TEXT NOT NULL,
-- A saved card may belong to a customer at its provider.
  provider_customer TEXT
);
CREATE INDEX payment_methods_list ON payment_methods (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX payment_methods_deleted ON payment_methods (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX payment_methods_default ON payment_methods (organization_id) WHERE is_default AND deleted_at IS NULL;

-- Whom the provider knows an organization as. A row is written before the
-- provider is asked, because its id is the key of that request; one that the
-- provider no longer knows is deleted, and another takes its place.
CREATE TABLE payment_customers (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  provider TEXT NOT NULL,
  provider_id TEXT
);
CREATE UNIQUE INDEX payment_customers_live ON payment_customers (organization_id, provider) WHERE deleted_at IS NULL;
CREATE INDEX payment_customers_deleted ON payment_customers (deleted_at) WHERE deleted_at IS NOT NULL;

-- A visit to the provider's page, on which somebody may save a card. Only a
-- page that has a row here saves one, and only once.
CREATE TABLE card_setups (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  user_id ID REFERENCES users (id),
  provider TEXT NOT NULL,
  provider_customer TEXT,
  provider_id TEXT,
  payment_method_id ID
);
CREATE UNIQUE INDEX card_setups_page ON card_setups (organization_id, provider_id);

-- Only the hash of a session's token is here. organization_id is the one that
-- the session looks at; a user may belong to several. expires_at moves on with
-- use and never past the absolute end.
CREATE TABLE sessions (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  user_id ID NOT NULL REFERENCES users (id),
  hash BYTES NOT NULL UNIQUE,
  created_at TIME NOT NULL,
  used_at TIME NOT NULL,
  expires_at TIME NOT NULL
);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_expired ON sessions (expires_at);

-- An invitation is a link that is shown once; a row that was taken up or
-- revoked is deleted.
CREATE TABLE invites (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  email TEXT NOT NULL,
  role TEXT NOT NULL,
  hash BYTES NOT NULL UNIQUE,
  invited_by_user_id ID REFERENCES users (id),
  expires_at TIME NOT NULL
);
CREATE INDEX invites_list ON invites (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX invites_deleted ON invites (deleted_at) WHERE deleted_at IS NOT NULL;

-- The link that makes the first organization. There is at most one, and none
-- once it was used.
CREATE TABLE setup_links (
  seq SEQ,
  hash BYTES NOT NULL UNIQUE,
  created_at TIME NOT NULL
);

-- A way back for who forgot their password: a link that an operator passes on.
-- Only the hash of its token is here; a row that was used is deleted.
CREATE TABLE password_links (
  seq SEQ,
  hash BYTES NOT NULL UNIQUE,
  created_at TIME NOT NULL,
  user_id ID NOT NULL REFERENCES users (id),
  expires_at TIME NOT NULL
);
CREATE UNIQUE INDEX password_links_user ON password_links (user_id);

-- The browsers in which a user has signed in. Only the hash of a browser's
-- token is here; a browser that several people use has a row for each.
CREATE TABLE known_browsers (
  seq SEQ,
  hash BYTES NOT NULL,
  user_id ID NOT NULL REFERENCES users (id),
  created_at TIME NOT NULL,
  expires_at TIME NOT NULL
);
CREATE UNIQUE INDEX known_browsers_hash ON known_browsers (hash, user_id);
CREATE INDEX known_browsers_user ON known_browsers (user_id, seq);
CREATE INDEX known_browsers_expired ON known_browsers (expires_at);

-- What proves that a key file belongs to this database: a word sealed with
-- each of its keys.
CREATE TABLE sealing_keys (
  seq SEQ,
  number INT NOT NULL UNIQUE,
  proof BYTES NOT NULL
);
