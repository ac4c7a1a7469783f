-- Tables that only tests have: a root with children, numbers, a bound and a
-- unique tag; and charges made through a provider.
CREATE TABLE probe_boxes (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  external BOOL NOT NULL DEFAULT FALSE,
  name TEXT NOT NULL,
  capacity INT NOT NULL
);
CREATE TABLE probe_items (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  external BOOL NOT NULL DEFAULT FALSE,
  box_id ID NOT NULL REFERENCES probe_boxes (id),
  number INT NOT NULL,
  amount INT NOT NULL,
  tag TEXT
);
CREATE UNIQUE INDEX probe_items_tag ON probe_items (organization_id, tag) WHERE deleted_at IS NULL;
CREATE TABLE probe_charges (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  external BOOL NOT NULL DEFAULT FALSE,
  attempt ID NOT NULL,
  amount INT NOT NULL
);
