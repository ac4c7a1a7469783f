-- What agents propose and people decide, and what an agent may use up in a day.

CREATE TABLE proposals (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  title TEXT NOT NULL,
  reason TEXT,
  status TEXT NOT NULL,
-- why a person must decide: the permission asks, a limit is reached, or strangers' words were read
  because TEXT,
  because_text TEXT,
  steps JSON NOT NULL,
  effects JSON NOT NULL,
  skipped JSON NOT NULL,
  totals JSON NOT NULL,
  versions JSON NOT NULL,
  difference JSON NOT NULL,
  sha256 TEXT NOT NULL,
  maker_kind TEXT NOT NULL,
  maker_id ID,
  maker_user_id ID,
  agent_id ID,
  business_id ID NOT NULL,
  door TEXT NOT NULL,
-- when it was last rehearsed: times in the effects are compared by their distance from it
  rehearsed_at TIME NOT NULL,
  expires_at TIME NOT NULL,
  decided_by ID,
  decided_at TIME,
  rejection TEXT,
  completed_at TIME,
  replaces_id ID,
-- an agent's call, so that the same call finds its proposal again
  fingerprint BYTES,
  call_key TEXT,
-- the answers of steps that show a secret once
  secrets BYTES
);
CREATE INDEX proposals_list ON proposals (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX proposals_status ON proposals (organization_id, status, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX proposals_agent ON proposals (organization_id, agent_id, created_at DESC, seq DESC) WHERE agent_id IS NOT NULL;
CREATE INDEX proposals_call ON proposals (organization_id, agent_id, fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX proposals_key ON proposals (organization_id, agent_id, call_key) WHERE call_key IS NOT NULL;
CREATE INDEX proposals_replaces ON proposals (organization_id, replaces_id) WHERE replaces_id IS NOT NULL;
CREATE INDEX proposals_open ON proposals (expires_at) WHERE status IN ('planned', 'pending');
CREATE INDEX proposals_age ON proposals (created_at);
CREATE INDEX proposals_deleted ON proposals (deleted_at) WHERE deleted_at IS NOT NULL;

-- The proposal that caused an event, and who decided it.
ALTER TABLE events ADD COLUMN proposal_id ID;
ALTER TABLE events ADD COLUMN approved_by ID;
CREATE INDEX events_proposal ON events (organization_id, proposal_id) WHERE proposal_id IS NOT NULL;

-- How an agent asks, what it may use up in a day, and when it last read what strangers wrote.
ALTER TABLE agents ADD COLUMN ask_mode TEXT NOT NULL DEFAULT 'unavailable';
ALTER TABLE agents ADD COLUMN guard TEXT;
ALTER TABLE agents ADD COLUMN limits JSON NOT NULL DEFAULT '{}';
ALTER TABLE agents ADD COLUMN outside_read_at TIME;

CREATE TABLE agent_use (
  seq SEQ,
  organization_id ID NOT NULL REFERENCES organizations (id),
  agent_id ID NOT NULL,
  day TEXT NOT NULL,
  spend_cents INT NOT NULL DEFAULT 0,
  messages INT NOT NULL DEFAULT 0,
  new_recipients INT NOT NULL DEFAULT 0,
  deletions INT NOT NULL DEFAULT 0,
  dns_changes INT NOT NULL DEFAULT 0,
  created_at TIME NOT NULL
);
CREATE UNIQUE INDEX agent_use_day ON agent_use (organization_id, agent_id, day);
CREATE INDEX agent_use_age ON agent_use (created_at);

-- One switch for all agents, and the members who want mail when something waits.
ALTER TABLE organizations ADD COLUMN agents_paused_at TIME;
ALTER TABLE memberships ADD COLUMN review_mail BOOL NOT NULL DEFAULT FALSE;

-- Whether the client of a session can show a person an address.
ALTER TABLE agent_sessions ADD COLUMN shows_url BOOL NOT NULL DEFAULT FALSE;
