-- expand
-- Certificates that the service obtained by ACME, with their keys, the account at
-- the authority and the answers to its challenges. Several processes share them.
-- What is stored is sealed. A lock is held while its holder renews it.
CREATE TABLE certificate_store (
  seq SEQ,
  key TEXT NOT NULL UNIQUE,
  value BYTES NOT NULL,
  size INT NOT NULL,
  changed_at TIME NOT NULL
);
CREATE TABLE certificate_locks (
  seq SEQ,
  name TEXT NOT NULL UNIQUE,
  holder TEXT NOT NULL,
  held_until TIME NOT NULL
);
