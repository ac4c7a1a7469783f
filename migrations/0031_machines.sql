-- What several processes over one database share: who is there, and allowances
-- that hold for all of them together. A key is a digest, because it may come from
-- an address.
CREATE TABLE processes (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  seen_at TIME NOT NULL,
  settings JSON NOT NULL
);
CREATE TABLE allowances (
  seq SEQ,
  key TEXT NOT NULL UNIQUE,
  spent_until TIME NOT NULL
);
CREATE INDEX allowances_spent_until ON allowances (spent_until);
-- only postgres
ALTER TABLE allowances SET UNLOGGED;
-- both
