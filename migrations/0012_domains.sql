-- Names that an organization is reached by, who registered them, and the work
-- that registers and renews them.

CREATE TABLE domain_contacts (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  label TEXT,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  organization_name TEXT,
  job_title TEXT,
  address1 TEXT NOT NULL,
  address2 TEXT,
  city TEXT NOT NULL,
  state_province TEXT NOT NULL,
  postal_code TEXT NOT NULL,
  country TEXT NOT NULL,
  email TEXT NOT NULL,
  phone TEXT NOT NULL
);
CREATE INDEX domain_contacts_list ON domain_contacts (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX domain_contacts_deleted ON domain_contacts (deleted_at) WHERE deleted_at IS NOT NULL;

-- What a registration adds is null for external domains and subdomains.
CREATE TABLE domains (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
-- lower-case ASCII
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  parent_domain_id ID REFERENCES domains (id),
  purpose TEXT NOT NULL,
  status TEXT NOT NULL,
  source TEXT NOT NULL,
  verification_value TEXT,
  verified_at TIME,
-- of an external domain: when its TXT record was last looked for, when it was
-- last seen, and since when it is gone
  proof_looked_at TIME,
  proof_seen_at TIME,
  proof_gone_at TIME,
  registrar TEXT,
  registered_at TIME,
  expires_at TIME,
  auto_renew BOOL,
  transfer_lock BOOL,
  contact_id ID,
  contact_verification TEXT,
  transfer_requested_at TIME,
-- when an automatic renewal was last tried in vain
  renewal_failed_at TIME,
-- how many days before the end the owners were last told that it ends
  expiry_told INT
);
CREATE UNIQUE INDEX domains_name ON domains (organization_id, name) WHERE deleted_at IS NULL;
CREATE INDEX domains_list ON domains (organization_id, kind, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX domains_under ON domains (organization_id, parent_domain_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX domains_parent ON domains (parent_domain_id) WHERE parent_domain_id IS NOT NULL;
CREATE INDEX domains_deleted ON domains (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX domains_expiring ON domains (expires_at) WHERE deleted_at IS NULL AND status = 'active' AND expires_at IS NOT NULL;
CREATE INDEX domains_proof ON domains (proof_looked_at) WHERE deleted_at IS NULL AND status = 'active' AND proof_looked_at IS NOT NULL;
CREATE INDEX domains_leaving ON domains (transfer_requested_at) WHERE deleted_at IS NULL AND transfer_requested_at IS NOT NULL;
-- Deleted domains name their contact too, and the purge of contacts looks for
-- them; the index left them out.
CREATE INDEX domains_contact ON domains (organization_id, contact_id) WHERE contact_id IS NOT NULL;

-- Who has a name in the whole service: one row per name that is verified, is a
-- subdomain, or is being registered. It is taken before anything is charged.
CREATE TABLE domain_holds (
  seq SEQ,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  name TEXT NOT NULL,
-- the domain, which a registration has named before there is one
  domain_id ID NOT NULL,
-- whether the zone was emptied for this holder
  zone_ready BOOL NOT NULL
);
CREATE UNIQUE INDEX domain_holds_name ON domain_holds (name);
CREATE INDEX domain_holds_domain ON domain_holds (organization_id, domain_id);

-- Asynchronous work that was paid for. A row is written before the charge, as
-- its intent, and callers see it once it is paid.
CREATE TABLE operations (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  type TEXT NOT NULL,
-- paying, refused and abandoned are not seen; then queued, running, succeeded, failed
  status TEXT NOT NULL,
  resource_type TEXT,
  resource_id ID,
  resource_name TEXT NOT NULL,
  workflow_id TEXT NOT NULL,
  payment_intent_id TEXT,
  error_code TEXT,
  error_message TEXT,
  completed_at TIME,
  domain_id ID NOT NULL,
-- the last step that is done
  step TEXT NOT NULL,
-- what was ordered: period, price, card, contact
  wanted JSON NOT NULL,
-- when the charge was last tried; whoever waits for it longer asks the provider
  charged_at TIME NOT NULL,
  automatic BOOL NOT NULL
);
CREATE INDEX operations_list ON operations (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX operations_deleted ON operations (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX operations_renewal ON operations (organization_id, domain_id) WHERE type = 'domain_renewal' AND status IN ('paying', 'queued', 'running');

-- One row for each apex domain that ever had email; its subdomains follow it
-- and sign with the same keys. A registration writes it before there is a row
-- of domains.
CREATE TABLE domain_email (
  seq SEQ,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  domain_id ID NOT NULL,
-- whether the records are in the zone, and whether they should be
  enabled BOOL NOT NULL,
  wanted BOOL NOT NULL,
-- grows with every change of what the zone should have
  version INT NOT NULL,
-- what signs, sealed, and its public half as DNS publishes it
  rsa_sealed BYTES NOT NULL,
  rsa_record TEXT NOT NULL,
  ed25519_sealed BYTES NOT NULL,
  ed25519_record TEXT NOT NULL
);
CREATE UNIQUE INDEX domain_email_domain ON domain_email (organization_id, domain_id);
