-- What one person, agent, key or automation did, newest first.

CREATE INDEX events_actor ON events (organization_id, actor_id, created_at DESC, seq DESC);
