-- The authorization server of the agent connection: which clients there are,
-- what they ask for, and what was granted to them.

-- A client is nobody's: it registers, or publishes its metadata document,
-- before it knows any user. client_id of a document is its address, and
-- expires_at is when it must be fetched again.
CREATE TABLE oauth_clients (
  seq SEQ,
  client_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  uri TEXT,
  redirect_uris JSON NOT NULL,
  created_at TIME NOT NULL,
  expires_at TIME,
  used_at TIME
);
CREATE INDEX oauth_clients_idle ON oauth_clients (created_at);

-- An authorization request, checked, that waits for somebody to sign in.
CREATE TABLE oauth_requests (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  client_id TEXT NOT NULL,
  client_name TEXT NOT NULL,
  client_uri TEXT,
  redirect_uri TEXT NOT NULL,
  state TEXT,
  challenge TEXT NOT NULL,
  scopes JSON NOT NULL,
  created_at TIME NOT NULL,
  expires_at TIME NOT NULL,
  settled_at TIME
);
CREATE INDEX oauth_requests_expired ON oauth_requests (expires_at);

-- One consent of one user: a client acts as an agent. All its codes and tokens
-- end with it; expires_at is when the last of them does.
CREATE TABLE agent_grants (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  agent_id ID NOT NULL,
  user_id ID NOT NULL,
  client_id TEXT NOT NULL,
  client_name TEXT NOT NULL,
  scopes JSON NOT NULL,
  resource TEXT NOT NULL,
  created_at TIME NOT NULL,
  connected_at TIME,
  last_used_at TIME,
  expires_at TIME NOT NULL,
  ended_at TIME,
  end_reason TEXT
);
CREATE INDEX agent_grants_live ON agent_grants (organization_id, agent_id, seq) WHERE ended_at IS NULL;
CREATE INDEX agent_grants_user ON agent_grants (user_id) WHERE ended_at IS NULL;
CREATE INDEX agent_grants_expired ON agent_grants (expires_at);
CREATE INDEX agent_grants_client ON agent_grants (client_id);

-- Codes stay as long as their grant: a code that comes back ends it.
CREATE TABLE grant_codes (
  seq SEQ,
  organization_id ID NOT NULL,
  grant_id ID NOT NULL REFERENCES agent_grants (id),
  hash BYTES NOT NULL UNIQUE,
  redirect_uri TEXT NOT NULL,
  challenge TEXT NOT NULL,
  created_at TIME NOT NULL,
  expires_at TIME NOT NULL,
  used_at TIME
);
CREATE INDEX grant_codes_parent ON grant_codes (grant_id);

-- Access and refresh tokens. A used refresh token stays until it would have
-- expired, to be recognized when it comes back.
CREATE TABLE grant_tokens (
  seq SEQ,
  organization_id ID NOT NULL,
  grant_id ID NOT NULL REFERENCES agent_grants (id),
  kind TEXT NOT NULL,
  hash BYTES NOT NULL UNIQUE,
  created_at TIME NOT NULL,
  expires_at TIME NOT NULL,
  used_at TIME
);
CREATE INDEX grant_tokens_parent ON grant_tokens (grant_id);
CREATE INDEX grant_tokens_expired ON grant_tokens (expires_at);

-- The sessions that clients opened, so that any process can serve them.
CREATE TABLE agent_sessions (
  seq SEQ,
  organization_id ID NOT NULL,
  grant_id ID NOT NULL REFERENCES agent_grants (id),
  hash BYTES NOT NULL UNIQUE,
  created_at TIME NOT NULL
);
CREATE INDEX agent_sessions_list ON agent_sessions (organization_id, grant_id, seq);
CREATE INDEX agent_sessions_parent ON agent_sessions (grant_id);
CREATE INDEX agent_sessions_idle ON agent_sessions (created_at);
