-- What a business tells of itself: its profile, what it offers, and where it
-- is found on the web and in the street.

-- One row per business, under the business's own id, once something was
-- written.
CREATE TABLE business_profiles (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  business_id ID NOT NULL REFERENCES businesses (id),
  tagline TEXT,
  about TEXT,
  mission TEXT,
  tone_of_voice TEXT,
  audience TEXT,
  founded_on TEXT,
  tax_id TEXT,
  email TEXT,
  phone TEXT,
  website TEXT
);
CREATE UNIQUE INDEX business_profiles_business ON business_profiles (organization_id, business_id);

-- The indexes on the parent hold deleted rows too: the purge of what hangs
-- under deleted businesses walks them.
CREATE TABLE business_offerings (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  business_id ID NOT NULL REFERENCES businesses (id),
  name TEXT NOT NULL,
  kind TEXT,
  description TEXT,
  price_cents INT,
  currency TEXT NOT NULL,
  unit TEXT,
  is_active BOOL NOT NULL,
  words TEXT NOT NULL
);
CREATE INDEX business_offerings_list ON business_offerings (organization_id, business_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX business_offerings_parent ON business_offerings (business_id);
CREATE INDEX business_offerings_deleted ON business_offerings (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE business_online_presences (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  business_id ID NOT NULL REFERENCES businesses (id),
  kind TEXT NOT NULL,
  url TEXT NOT NULL,
  handle TEXT,
  description TEXT
);
CREATE INDEX business_online_presences_list ON business_online_presences (organization_id, business_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX business_online_presences_parent ON business_online_presences (business_id);
CREATE INDEX business_online_presences_deleted ON business_online_presences (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE business_physical_presences (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  business_id ID NOT NULL REFERENCES businesses (id),
  name TEXT NOT NULL,
  description TEXT,
  address TEXT
);
CREATE INDEX business_physical_presences_list ON business_physical_presences (organization_id, business_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX business_physical_presences_parent ON business_physical_presences (business_id);
CREATE INDEX business_physical_presences_deleted ON business_physical_presences (deleted_at) WHERE deleted_at IS NOT NULL;
