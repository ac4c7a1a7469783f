-- expand
-- What people are told, what each of them wants to be told and how, and the browsers that take Web Push.

CREATE TABLE notifications (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  external BOOL NOT NULL DEFAULT FALSE,
  user_id ID NOT NULL,
  kind TEXT NOT NULL,
  permission TEXT NOT NULL,
  resource_type TEXT NOT NULL,
  resource_id ID NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id ID,
  actor_name TEXT,
  subject TEXT NOT NULL,
  text TEXT,
  event_id ID,
  read_at TIME,
  in_desk BOOL NOT NULL,
  mail_due BOOL NOT NULL
);
CREATE INDEX notifications_list ON notifications (organization_id, user_id, created_at, seq) WHERE deleted_at IS NULL;
CREATE INDEX notifications_unread ON notifications (organization_id, user_id, kind) WHERE read_at IS NULL AND in_desk;
CREATE UNIQUE INDEX notifications_once ON notifications (organization_id, event_id, user_id);
CREATE INDEX notifications_age ON notifications (created_at);
CREATE INDEX notifications_deleted ON notifications (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE notification_choices (
  seq SEQ,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  user_id ID NOT NULL,
  kind TEXT NOT NULL,
  channel TEXT NOT NULL,
  wanted BOOL NOT NULL,
  UNIQUE (organization_id, user_id, kind, channel)
);

CREATE TABLE push_subscriptions (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  user_id ID NOT NULL,
  label TEXT NOT NULL,
  endpoint_hash TEXT NOT NULL,
  sealed BYTES NOT NULL,
  UNIQUE (organization_id, user_id, endpoint_hash)
);
CREATE INDEX push_subscriptions_endpoint ON push_subscriptions (endpoint_hash);
