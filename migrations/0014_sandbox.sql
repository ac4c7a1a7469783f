-- The sandbox registrar and the sandbox payment provider. They stand for
-- companies outside, so their books belong to no organization.

CREATE TABLE sandbox_registrations (
  seq SEQ,
  name TEXT NOT NULL UNIQUE,
  provider_key TEXT NOT NULL UNIQUE,
  registered_at TIME NOT NULL,
  expires_at TIME NOT NULL,
  locked BOOL NOT NULL,
  contact JSON NOT NULL,
  transfer_at TIME
);

CREATE TABLE sandbox_renewals (
  seq SEQ,
  name TEXT NOT NULL,
  provider_key TEXT NOT NULL UNIQUE,
  years INT NOT NULL,
  renewed_at TIME NOT NULL
);

CREATE TABLE sandbox_charges (
  seq SEQ,
  reference TEXT NOT NULL UNIQUE,
  provider_key TEXT NOT NULL UNIQUE,
  card TEXT NOT NULL,
  amount_cents INT NOT NULL,
  currency TEXT NOT NULL,
-- why it was declined; null when the money moved
  declined TEXT,
  charged_at TIME NOT NULL
);

CREATE TABLE sandbox_refunds (
  seq SEQ,
  reference TEXT NOT NULL UNIQUE,
  provider_key TEXT NOT NULL UNIQUE,
  charge TEXT NOT NULL UNIQUE,
  amount_cents INT NOT NULL,
  refunded_at TIME NOT NULL
);
