-- Saving a card at the payment provider.

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
