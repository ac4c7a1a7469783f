-- expand
-- What the inbox of the desk needs: lists of threads by their latest message, and
-- who looks at a thread at the moment.
CREATE INDEX threads_status_latest ON threads (organization_id, status, last_message_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX threads_assignee_latest ON threads (organization_id, assignee_id, last_message_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX threads_contact_latest ON threads (organization_id, contact_id, last_message_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX threads_customer_latest ON threads (organization_id, customer_id, last_message_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX threads_unread ON threads (organization_id, created_at DESC, seq DESC) WHERE unread AND deleted_at IS NULL;
CREATE INDEX threads_snoozed ON threads (organization_id, last_message_at DESC, seq DESC) WHERE snoozed_until IS NOT NULL AND deleted_at IS NULL;

CREATE TABLE thread_viewers (
  seq SEQ,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  thread_id ID NOT NULL REFERENCES threads (id),
  user_id ID NOT NULL,
  seen_at TIME NOT NULL,
  UNIQUE (thread_id, user_id)
);
CREATE INDEX thread_viewers_age ON thread_viewers (created_at);

-- Values that wait for a decision, across all objects.
CREATE INDEX property_values_suggested ON property_values (organization_id, created_at DESC, seq DESC) WHERE status = 'suggested' AND deleted_at IS NULL;
