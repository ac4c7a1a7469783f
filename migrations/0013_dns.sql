-- DNS: the ids of records, which stay with them, and the embedded server's zones.

-- The provider holds the records. A row gives one of them its id, says who
-- manages it, and keeps the intent of a write until its outcome is known.
CREATE TABLE dns_records (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
-- a registration writes its email records before there is a row of domains
  domain_id ID NOT NULL,
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  content TEXT NOT NULL,
  ttl INT NOT NULL,
  priority INT,
-- user, email or system
  managed_by TEXT NOT NULL,
-- grows with every change of the row
  version INT NOT NULL,
-- add, replace or remove, while its outcome is not known
  intent TEXT,
-- names the attempt, so that only one outcome of it is written
  intent_id ID,
-- whose it is until then, by the database's clock
  intent_until TIME,
-- what a replacement puts in the record's place
  wanted JSON
);
CREATE INDEX dns_records_list ON dns_records (organization_id, domain_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX dns_records_deleted ON dns_records (deleted_at) WHERE deleted_at IS NOT NULL;
-- Deleted rows too, for the purge of domains.
CREATE INDEX dns_records_domain ON dns_records (organization_id, domain_id);

-- The embedded server's zones. To the server they are nobody's, as they are to
-- any provider: whose a zone is says the domain of its name.
CREATE TABLE dnsserver_zones (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  created_at TIME NOT NULL,
  name TEXT NOT NULL UNIQUE,
-- RFC 1982; grows with every change
  soa_serial INT NOT NULL
);

CREATE TABLE dnsserver_records (
  seq SEQ,
  zone_id ID NOT NULL REFERENCES dnsserver_zones (id),
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  content TEXT NOT NULL,
  ttl INT NOT NULL,
-- -1 for the types that have none, so that the index tells two records apart
  priority INT NOT NULL
);
CREATE UNIQUE INDEX dnsserver_records_record ON dnsserver_records (zone_id, name, type, content, priority);
