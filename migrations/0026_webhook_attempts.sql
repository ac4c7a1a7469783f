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
