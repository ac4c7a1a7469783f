-- expand
-- When a contact last wrote, and was last written to. Messages keep these columns true from now on. And for which
-- rights a session of an agent got the list of its tools, so that it can be told when they change.

ALTER TABLE agent_sessions ADD COLUMN listed TEXT;

ALTER TABLE contacts ADD COLUMN last_message_at TIME;
ALTER TABLE contacts ADD COLUMN last_inbound_at TIME;
ALTER TABLE contacts ADD COLUMN last_outbound_at TIME;

UPDATE contacts
SET last_inbound_at = (
    SELECT max(m.created_at)
    FROM message_contacts x
    JOIN messages m ON m.id = x.message_id
    WHERE x.organization_id = contacts.organization_id AND x.contact_id = contacts.id AND x.role = 'from'
      AND x.deleted_at IS NULL AND m.deleted_at IS NULL AND m.direction = 'inbound'),
  last_outbound_at = (
    SELECT max(coalesce(m.sent_at, m.created_at))
    FROM message_contacts x
    JOIN messages m ON m.id = x.message_id
    WHERE x.organization_id = contacts.organization_id AND x.contact_id = contacts.id
      AND x.role IN ('to', 'cc', 'bcc') AND x.deleted_at IS NULL AND m.deleted_at IS NULL
      AND m.direction = 'outbound' AND m.status NOT IN ('draft', 'scheduled', 'canceled'))
WHERE id IN (SELECT contact_id FROM message_contacts);

UPDATE contacts
SET last_message_at = CASE
  WHEN last_inbound_at IS NULL OR last_outbound_at > last_inbound_at THEN last_outbound_at
  ELSE last_inbound_at
END
WHERE last_inbound_at IS NOT NULL OR last_outbound_at IS NOT NULL;

CREATE INDEX contacts_last_message ON contacts (organization_id, last_message_at) WHERE deleted_at IS NULL;
CREATE INDEX contacts_last_inbound ON contacts (organization_id, last_inbound_at) WHERE deleted_at IS NULL;
CREATE INDEX contacts_last_outbound ON contacts (organization_id, last_outbound_at) WHERE deleted_at IS NULL;
