-- Hosted email: the domains whose mail the service sends and takes.

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
