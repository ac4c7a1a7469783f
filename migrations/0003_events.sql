-- The event log, who listens to it, the answers kept under idempotency keys,
-- and what rows named before the row that they named was deleted.

-- The event log is the audit trail: one row per change, in its transaction.
CREATE TABLE events (
  seq SEQ,
  id ID NOT NULL,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  type TEXT NOT NULL,
  resource_type TEXT NOT NULL,
  resource_id ID NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id ID,
  door TEXT NOT NULL,
  request_id TEXT NOT NULL,
  data JSON,
-- The automations that led to this event, the first cause first.
  chain JSON
);
-- The event log's API. The log is read by time, by what happened, and by what
-- it happened to.
CREATE INDEX events_list ON events (organization_id, created_at DESC, seq DESC);
CREATE UNIQUE INDEX events_id ON events (organization_id, id);
CREATE INDEX events_resource ON events (organization_id, resource_id, created_at DESC, seq DESC);
-- Events by what they happened to, and by what happened: one index for both.
-- A type tells its resource type, so that whoever asks for it knows the other.
CREATE INDEX events_type ON events (organization_id, resource_type, type, created_at DESC, seq DESC);

-- Who wants to hear of what. "*" is every type. The rows belong to the
-- listener, whose own table says what else it is.
CREATE TABLE event_listeners (
  seq SEQ,
  organization_id ID NOT NULL,
  type TEXT NOT NULL,
  listener_kind TEXT NOT NULL,
  listener_id ID NOT NULL
);
CREATE UNIQUE INDEX event_listeners_type ON event_listeners (organization_id, type, listener_kind, listener_id);
CREATE INDEX event_listeners_listener ON event_listeners (organization_id, listener_id);

-- A row without a status is the claim of a running or interrupted flow.
CREATE TABLE idempotency (
  seq SEQ,
  organization_id ID NOT NULL,
  key TEXT NOT NULL,
  operation TEXT NOT NULL,
  fingerprint BYTES NOT NULL,
  status INT,
  body BYTES,
  sealed BOOL NOT NULL,
  created_at TIME NOT NULL,
  attempt_id ID,
  fence INT NOT NULL,
  lease_until TIME,
  step JSON
);
CREATE UNIQUE INDEX idempotency_key ON idempotency (organization_id, key);

-- What rows named until the row that they named was deleted.
CREATE TABLE cleared_references (
  seq SEQ,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  table_name TEXT NOT NULL,
  column_name TEXT NOT NULL,
  row_id ID NOT NULL,
  target_id ID NOT NULL
);
CREATE INDEX cleared_references_target ON cleared_references (organization_id, target_id);
