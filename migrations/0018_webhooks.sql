-- Webhooks: who wants to be told of events over HTTP, and what became of it.

CREATE TABLE webhooks (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  url TEXT NOT NULL,
  events JSON NOT NULL,
  description TEXT,
  status TEXT NOT NULL,
  disabled_reason TEXT,
-- sealed
  secret BYTES NOT NULL,
-- sealed; signs as well until its time is over
  previous_secret BYTES,
  previous_secret_until TIME,
-- grows when the endpoint is disabled: what is waiting from before is not sent any more
  epoch INT NOT NULL,
-- the last attempt took long, or there was none yet, so the next one waits among its like
  slow BOOL NOT NULL,
-- Whose turn it is to make first attempts, and retries. A job with an older
-- turn ends. The time is when that job is due, 0 while it works, and null
-- when there is none.
  send_turn INT NOT NULL,
  send_at TIME,
  retry_turn INT NOT NULL,
  retry_at TIME,
-- for whom it is told: who last set its URL or enabled it; null when nobody is known
  maker_user_id ID
);
CREATE INDEX webhooks_list ON webhooks (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_deleted ON webhooks (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX webhooks_rotated ON webhooks (previous_secret_until) WHERE previous_secret IS NOT NULL;

-- One event for one webhook. What is sent is not kept: it is made of the event
-- at each attempt, and so an erased event is not sent any more.
CREATE TABLE webhook_deliveries (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  webhook_id ID NOT NULL REFERENCES webhooks (id),
  epoch INT NOT NULL,
-- null for a test, which is in no log
  event_seq INT,
  event_id ID NOT NULL,
  event_type TEXT NOT NULL,
-- pending, retrying, succeeded, failed or canceled
  status TEXT NOT NULL,
  attempts INT NOT NULL,
-- of the attempts that were due by themselves
  failures INT NOT NULL,
  url TEXT,
  attempted_at TIME,
  next_attempt_at TIME,
  completed_at TIME,
  duration_ms INT,
  response_status INT,
  response_body TEXT,
  error_message TEXT
);
CREATE INDEX webhook_deliveries_list ON webhook_deliveries (organization_id, webhook_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX webhook_deliveries_status ON webhook_deliveries (organization_id, webhook_id, status, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX webhook_deliveries_parent ON webhook_deliveries (webhook_id);
-- What is to be sent: first attempts in the order of the log, retries when they are due.
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (organization_id, webhook_id, epoch, event_seq) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_retrying ON webhook_deliveries (organization_id, webhook_id, epoch, next_attempt_at) WHERE status = 'retrying';

-- What came of the attempts of a delivery before its last one, which the
-- delivery itself tells of: most have only one, and no row here. They end with
-- their delivery, whoever ends it.
CREATE TABLE webhook_attempts (
  seq SEQ,
  organization_id ID NOT NULL REFERENCES organizations (id),
  delivery_id ID NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
  attempted_at TIME NOT NULL,
  url TEXT,
  duration_ms INT,
  response_status INT,
  response_body TEXT,
  error_message TEXT
);
CREATE INDEX webhook_attempts_parent ON webhook_attempts (delivery_id);
