-- The event log's API. The log is read by time, by what happened, and by what
-- it happened to.
DROP INDEX events_list;
CREATE INDEX events_list ON events (organization_id, created_at DESC, seq DESC);
CREATE UNIQUE INDEX events_id ON events (organization_id, id);
CREATE INDEX events_type ON events (organization_id, type, created_at DESC, seq DESC);
CREATE INDEX events_resource ON events (organization_id, resource_id, created_at DESC, seq DESC);

-- The automations that led to this event, the first cause first.
ALTER TABLE events ADD COLUMN chain JSON;

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
