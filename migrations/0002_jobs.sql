-- Background work. Rows are claimed by lane before any caller is known, so the
-- indexes do not lead with the organization.
CREATE TABLE jobs (
-- A number, not a UUID: it orders equal run times and costs no second index.
-- AUTOINCREMENT, because a purged number must not come back as another job.
-- only sqlite
  id INTEGER PRIMARY KEY AUTOINCREMENT,
-- only postgres
  id SEQ,
-- both
  organization_id ID,
  lane TEXT NOT NULL,
  kind TEXT NOT NULL,
  unique_key TEXT,
  args JSON NOT NULL,
-- ready, running (flows only), done, failed or cancelled
  state TEXT NOT NULL,
-- in the service's clock
  run_at TIME NOT NULL,
  attempt INT NOT NULL,
  max_attempts INT NOT NULL,
-- grows with every claim and every outcome; whoever holds an old one changes nothing
  fence INT NOT NULL,
-- in the database's clock
  leased_until TIME,
  last_error TEXT,
  created_at TIME NOT NULL,
  finished_at TIME
);
-- Claims never see a finished row.
CREATE INDEX jobs_ready ON jobs (lane, run_at, id) WHERE state = 'ready';
CREATE INDEX jobs_running ON jobs (leased_until) WHERE state = 'running';
CREATE INDEX jobs_failed ON jobs (finished_at) WHERE state = 'failed';
CREATE INDEX jobs_finished ON jobs (finished_at) WHERE finished_at IS NOT NULL;
CREATE UNIQUE INDEX jobs_live ON jobs (kind, unique_key) WHERE unique_key IS NOT NULL AND state IN ('ready', 'running');
-- Whoever sends in the order of the log asks whether an earlier event is still
-- to be told of.
CREATE INDEX jobs_fan_out ON jobs (organization_id, (CAST(args->>'seq' AS INT))) WHERE kind = 'event.fan_out' AND state = 'ready';
-- only postgres
-- Every job leaves dead entries at the head of jobs_ready. A share of a table
-- that keeps a week of finished rows would be vacuumed far too late.
ALTER TABLE jobs SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
-- both
